package imports

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"qsim/results/measure"
	"qsim/results/plain"
)

const (
	servicesKept = 20_000 // most run times of a class that are kept, as a random sample
	pausesKept   = 2000   // most pauses of a class and a number of failures that are kept
	pauseNumbers = 12     // highest number of failures after which pauses are analysed
)

// fromStart and the constants below flag a recorded pause between attempts that includes the run time, since only the
// start of the failed attempt is known, or the wait, since only the start of the next one is.
const (
	fromStart = 1 << iota
	toStart
	pauseEnds // combinations of them
)

// collected holds the counts and samples (run times, pauses) of the recorded jobs of one class, or of all classes.
type collected struct {
	class          Class          // its name, counts and waits
	group          labelGroup     // of its labels
	ends           map[int32]ends // jobs by their number of failed attempts
	kinds          map[uint16]*kindCount
	service, takes sample // run times in seconds, of successes and of failures
	// pauses holds samples in seconds, by the number of failures less one, and by the flags of their ends.
	pauses    [pauseNumbers][pauseEnds]sample
	deadAfter map[int32]int64 // counts of dead jobs, by the number of their attempts
	most      map[int32]int64 // counts of declared limits on attempts
	highest   int32
	tenants   map[uint32]bool
}

// kindCount counts the failures with one error kind.
type kindCount struct {
	count int64
	again int64           // failures followed by another attempt
	last  map[int32]int64 // counts of the last attempts of dead jobs, by the number of the attempt
}

func newCollected(class Class) *collected {
	class.Wait, class.RetryWait, class.Sojourn = new(measure.Histogram), new(measure.Histogram), new(measure.Histogram)
	c := &collected{class: class, ends: map[int32]ends{}, kinds: map[uint16]*kindCount{},
		service: sample{most: servicesKept}, takes: sample{most: servicesKept},
		deadAfter: map[int32]int64{}, most: map[int32]int64{}, tenants: map[uint32]bool{}}
	for i := range c.pauses {
		for ends := range c.pauses[i] {
			c.pauses[i][ends].most = pausesKept
		}
	}
	return c
}

func (c *collected) add(j *job) {
	c.class.Jobs++
	c.most[j.most]++
	switch {
	case j.done:
		c.class.Done++
	case j.dead:
		c.class.Dead++
	}
	c.tenants[j.tenant] = true
	c.addUnseen(j)
	failures, done := max(0, j.unseen), 0.0
	for i := range j.tries {
		c.try(j, i)
		if t := &j.tries[i]; t.failure != 0 {
			failures++
		} else if t.ended {
			done = 1
		}
	}
	c.ends[failures] = ends{c.ends[failures].done + done, c.ends[failures].rest + 1 - done}
	if len(j.tries) == 0 {
		return
	}
	last := &j.tries[len(j.tries)-1]
	if j.dead && last.failure != 0 {
		c.deadAfter[last.number]++
	}
	if j.done && last.finished.known() && j.ready.known() {
		c.class.Sojourn.Record(last.finished.since(j.ready))
	}
}

// addUnseen counts failed attempts of a job that have no row of their own.
func (c *collected) addUnseen(j *job) {
	if j.unseen <= 0 {
		return
	}
	c.highest = max(c.highest, j.unseen)
	c.class.Attempts += int64(j.unseen)
	c.class.Failed += int64(j.unseen)
	k := c.kind(max(1, j.unseenFor))
	k.count += int64(j.unseen)
	k.again += int64(j.unseen)
	if len(j.tries) > 0 {
		return
	}
	if k.again--; j.dead { // else whether another one followed is not known
		k.last[j.unseen]++
		c.deadAfter[j.unseen]++
	}
}

func (c *collected) kind(number uint16) *kindCount {
	if c.kinds[number] == nil {
		c.kinds[number] = &kindCount{last: map[int32]int64{}}
	}
	return c.kinds[number]
}

func (c *collected) try(j *job, i int) {
	t := &j.tries[i]
	c.highest = max(c.highest, t.number)
	if t.ended {
		c.class.Attempts++
	}
	if t.failure != 0 {
		c.class.Failed++
		k := c.kind(t.failure)
		k.count++
		if i < len(j.tries)-1 {
			k.again++
		} else if j.dead {
			k.last[t.number]++
		}
	}
	hash := j.key.hash(uint64(t.number))
	if t.started.known() && t.finished.known() && t.ended {
		plain.Either(t.failure == 0, &c.service, &c.takes).add(hash, t.finished.since(t.started).Seconds())
	}
	switch {
	case !t.started.known():
	case t.number == 1 && j.ready.known() && j.unseen == 0:
		c.class.Wait.Record(max(0, t.started.since(j.ready)))
	case t.number > 1 && t.due.known():
		c.class.RetryWait.Record(max(0, t.started.since(t.due)))
	}
	if i > 0 {
		c.pause(&j.tries[i-1], t, hash)
	}
}

func (c *collected) pause(before, after *try, hash uint64) {
	if after.number != before.number+1 || int(before.number) > pauseNumbers || before.failure == 0 {
		return
	}
	from, to, ends := before.finished, after.due, 0
	if !from.known() {
		from, ends = before.started, fromStart
	}
	if !to.known() {
		to, ends = after.started, ends|toStart
	}
	if from.known() && to.known() && to >= from {
		c.pauses[before.number-1][ends].add(hash, to.since(from).Seconds())
	}
}

// sample is a random sample of a stream of values: those with the smallest hashes, whatever the order of the stream.
type sample struct {
	most  int       // size of the sample
	seen  int64     // values of the stream so far
	items []sampled // chosen values, and up to as many more that are dropped later
}

type sampled struct {
	hash  uint64
	value float64
}

func (s *sample) add(hash uint64, value float64) {
	s.seen++
	if s.items = append(s.items, sampled{hash, value}); len(s.items) >= 2*s.most {
		s.trim()
	}
}

// trim drops the values with the largest hashes, which are beyond the size of the sample.
func (s *sample) trim() {
	slices.SortFunc(s.items, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.value, b.value))
	})
	s.items = s.items[:min(len(s.items), s.most)]
}

func (s *sample) values() []float64 {
	s.trim()
	values := plain.Map(s.items, func(one sampled) float64 { return one.value })
	slices.Sort(values)
	return values
}

// quantile returns the q-quantile of sorted values: the smallest that at least the share q do not exceed; 0 for none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return stat.Quantile(q, stat.Empirical, sorted, nil)
}

// timeline counts attempts and failures in bins of time.
type timeline struct {
	first, last timestamp // attempts
	width       timestamp // of a bin: a second, doubled until the bins are few
	bins        map[int64]bin
}

type bin struct{ attempts, failed int64 }

func (b bin) plus(c bin) bin { return bin{b.attempts + c.attempts, b.failed + c.failed} }

func (t *timeline) add(at timestamp, failed bool) {
	t.first, t.last = earlier(t.first, at), max(t.last, at)
	for ; t.last/t.width-t.first/t.width > mostBins; t.width *= 2 {
		wide := map[int64]bin{}
		for _, index := range slices.Sorted(maps.Keys(t.bins)) {
			wide[index/2] = wide[index/2].plus(t.bins[index])
		}
		t.bins = wide
	}
	index := int64(at / t.width)
	t.bins[index] = t.bins[index].plus(bin{attempts: 1, failed: plain.Either[int64](failed, 1, 0)})
}

// leastInBin and the constants below define an incident, a time in which attempts fail unusually often.
const (
	leastInBin  = 20   // attempts
	timesUsual  = 5    // its share of failures ÷ that of all time
	leastShare  = 0.25 // least share of failures in an incident
	mostBins    = 200
	leastTrying = 400 // attempts in all
)

// incident returns the time range of the incident with the most failures, and its share of failing attempts, 0 if none.
func (t *timeline) incident() (from, to timestamp, share float64) {
	var all, worst, stretch bin
	order := slices.Sorted(maps.Keys(t.bins))
	for _, i := range order {
		all = all.plus(t.bins[i])
	}
	if all.attempts < leastTrying {
		return 0, 0, 0
	}
	usual := func(without bin) float64 {
		return float64(all.failed-without.failed) / float64(max(1, all.attempts-without.attempts))
	}
	var begun, end int64 // of the stretch, in bins
	for _, i := range order {
		b := t.bins[i]
		attempts, failed := float64(b.attempts), float64(b.failed)
		if b.attempts < leastInBin || failed < leastShare*attempts || failed < timesUsual/2*usual(b)*attempts {
			continue
		}
		if i != end {
			stretch, begun = bin{}, i
		}
		stretch, end = stretch.plus(b), i+1
		if stretch.failed > worst.failed && float64(stretch.failed) >= timesUsual*usual(stretch)*float64(stretch.attempts) {
			worst, from, to = stretch, timestamp(begun)*t.width, timestamp(end)*t.width
		}
	}
	return from, to, float64(worst.failed) / float64(max(1, worst.attempts))
}

const (
	poisonSign = 4.0   // standard errors by which jobs must show poison
	mostRounds = 1000  // of the estimation, which ends once a round changes nothing
	nearly     = 1e-12 // least change, and distance of the estimates from 0 and 1, whose logarithms are infinite
)

// ends counts jobs with the same number of failed attempts by whether one succeeded then.
type ends struct{ done, rest float64 }

// rates returns the share of failing attempts, and the share of poisoned jobs, whose every attempt fails: the f and p
// under which the records are most likely, by expectation maximization (Dempster, Laird and Rubin, 1977). A job that
// succeeded after k failures has the likelihood (1-p) f^k (1-f), another one p + (1-p) f^k. Poison is 0 unless the
// ratio of the likelihoods with and without it shows it (Wilks, 1938).
func (c *collected) rates() (rate, poison float64) {
	if c.class.Attempts == 0 {
		return 0, 0
	}
	order, alike := slices.Sorted(maps.Keys(c.ends)), 0.0
	round := func(f, p float64) (better, share, likelihood float64) {
		var jobs, poisoned, failed, done float64
		f, p = min(max(f, nearly), 1-nearly), min(p, 1-nearly)
		for _, failures := range order {
			n, k := c.ends[failures], float64(failures)
			either := max(p+(1-p)*math.Pow(f, k), math.SmallestNonzeroFloat64) // its logarithm is finite
			ill := n.rest * p / either
			jobs, poisoned, done = jobs+n.rest+n.done, poisoned+ill, done+n.done
			failed += (n.rest - ill + n.done) * k
			likelihood += n.done*(math.Log1p(-p)+k*math.Log(f)+math.Log1p(-f)) + n.rest*math.Log(either)
		}
		return failed / max(failed+done, nearly), poisoned / jobs, likelihood
	}
	rate = float64(c.class.Failed) / float64(c.class.Attempts)
	f, _, _ := round(rate, 0)
	_, _, without := round(f, 0)
	p := f
	for n, last := 0, -1.0; n < mostRounds && math.Abs(p-last) > nearly; n++ {
		last = p
		f, p, alike = round(f, p)
	}
	if 2*(alike-without) < poisonSign*poisonSign {
		return rate, 0
	}
	const digits = 1e6
	return math.Round(f*digits) / digits, math.Round(p*digits) / digits
}
