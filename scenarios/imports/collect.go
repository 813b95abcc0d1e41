package imports

import (
	"maps"
	"slices"
	"time"

	"qsim/results"
)

const (
	servicesKept = 20_000
	gapsKept     = 2000
	gapNumbers   = 12 // pauses are looked at after so many failures
	mostClasses  = 24 // that are told apart; the others are one class
)

// What a pause runs from and to, where that is not the end of an attempt and the due time of
// the next one: the run time or the wait is in it.
const (
	fromStart = 1 << iota
	toStart
	gapEnds // combinations of them
)

// collected is what jobs of one class have in common.
type collected struct {
	jobs                 int64
	done, dead, open     int64
	ended, failed        int64 // attempts
	timesKnown           int64 // of successes: run times
	waitsKnown           int64
	first, firstFailed   int64 // first attempts that ended
	second, secondFailed int64 // second attempts that ended
	secondMissing        int64 // jobs whose first attempt failed and whose second one has not ended
	kinds                map[uint16]*kindCount
	service, takes       *sample // s
	wait, sojourn        *results.Histogram
	retryWait            *results.Histogram
	gaps                 [gapNumbers][gapEnds]*sample // s, after that many failures and one, by what they run from and to
	deadAfter            map[int32]int64              // attempts
	most                 map[int32]int64              // as declared
	highest              int32
	tenants              map[uint32]bool
}

// kindCount counts the failures of one kind.
type kindCount struct {
	count int64
	final int64 // after which a dead job had no further attempt
	last  map[int32]int64
	again int64 // after which there was another attempt
}

func newCollected() *collected {
	c := &collected{kinds: map[uint16]*kindCount{}, service: newSample(servicesKept), takes: newSample(servicesKept), wait: new(results.Histogram), retryWait: new(results.Histogram),
		sojourn: new(results.Histogram), deadAfter: map[int32]int64{}, most: map[int32]int64{}, tenants: map[uint32]bool{}}
	for i := range c.gaps {
		for ends := range c.gaps[i] {
			c.gaps[i][ends] = newSample(gapsKept)
		}
	}
	return c
}

// add takes in a job.
func (c *collected) add(j *job) {
	c.jobs++
	c.most[j.most]++
	switch {
	case j.done:
		c.done++
	case j.dead:
		c.dead++
	default:
		c.open++
	}
	if j.tenant > 0 {
		c.tenants[j.tenant] = true
	}
	c.highest = max(c.highest, j.unseen)
	if j.unseen > 0 {
		c.ended += int64(j.unseen)
		c.failed += int64(j.unseen)
		k := c.kind(max(1, j.unseenFor))
		k.count += int64(j.unseen)
		k.again += int64(j.unseen)
		if j.open && len(j.tries) == 0 && !j.dead {
			k.again-- // whether the last one is followed by another is not known
		}
		if j.dead && len(j.tries) == 0 {
			k.again--
			k.final++
			c.deadAfter[j.unseen]++
			k.last[j.unseen]++
		}
	}
	for i := range j.tries {
		c.try(j, i)
	}
	if n := len(j.tries); n > 0 && j.dead && j.tries[n-1].failure != 0 {
		c.deadAfter[j.tries[n-1].number]++
	}
	c.sequence(j)
	if n := len(j.tries); j.done && n > 0 && j.tries[n-1].finished.known() && j.ready.known() {
		c.sojourn.Record(j.tries[n-1].finished.since(j.ready))
	}
}

func (c *collected) kind(number uint16) *kindCount {
	k := c.kinds[number]
	if k == nil {
		k = &kindCount{last: map[int32]int64{}}
		c.kinds[number] = k
	}
	return k
}

// try takes in one attempt.
func (c *collected) try(j *job, i int) {
	t := &j.tries[i]
	last := i == len(j.tries)-1
	c.highest = max(c.highest, t.number)
	if t.ended {
		c.ended++
	}
	if t.failure != 0 {
		c.failed++
		k := c.kind(t.failure)
		k.count++
		if !last {
			k.again++
		} else if j.dead {
			k.final++
			k.last[t.number]++
		}
	}
	hash := j.key.hash(uint64(t.number))
	if t.started.known() && t.finished.known() && t.ended {
		run := t.finished.since(t.started).Seconds()
		if t.failure == 0 {
			c.timesKnown++
			c.service.add(hash, run)
		} else {
			c.takes.add(hash, run)
		}
	}
	switch {
	case !t.started.known():
	case t.number == 1 && j.ready.known() && j.unseen == 0:
		c.waitsKnown++
		c.wait.Record(max(0, t.started.since(j.ready)))
	case t.number > 1 && t.due.known():
		c.retryWait.Record(max(0, t.started.since(t.due)))
	}
	if i > 0 {
		c.gap(&j.tries[i-1], t, hash)
	}
}

// gap takes in the pause between two attempts.
func (c *collected) gap(before, after *try, hash uint64) {
	if after.number != before.number+1 || int(before.number) > gapNumbers || before.failure == 0 {
		return
	}
	from, to := before.finished, after.due
	ends := 0
	if !from.known() {
		from, ends = before.started, fromStart
	}
	if !to.known() {
		to, ends = after.started, ends|toStart
	}
	if !from.known() || !to.known() || to < from {
		return
	}
	c.gaps[before.number-1][ends].add(hash, to.since(from).Seconds())
}

// sequence counts how often second attempts fail beside how often first ones do.
func (c *collected) sequence(j *job) {
	if j.unseen > 0 || len(j.tries) == 0 || j.tries[0].number != 1 || !j.tries[0].ended {
		return
	}
	c.first++
	if j.tries[0].failure == 0 {
		return
	}
	c.firstFailed++
	if len(j.tries) == 1 || !j.tries[1].ended {
		c.secondMissing++
		return
	}
	if c.second++; j.tries[1].failure != 0 {
		c.secondFailed++
	}
}

// level is the time during which so many attempts, or more, were under way.
type levels struct {
	now    int
	at     moment
	spent  []time.Duration // by level
	began  moment
	events int64
}

// change is the start or the end of an attempt.
type change struct {
	at   moment
	step int8 // 1 or -1
}

func (l *levels) add(c *change) {
	if l.events == 0 {
		l.began = c.at
	} else {
		for len(l.spent) <= l.now {
			l.spent = append(l.spent, 0)
		}
		l.spent[l.now] += c.at.since(l.at)
	}
	l.events++
	l.at, l.now = c.at, l.now+int(c.step)
}

// order are the bins in order of time.
func (t *timeline) order() []int64 { return slices.Sorted(maps.Keys(t.bins)) }
