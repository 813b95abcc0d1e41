package imports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/policies"
	"qsim/scenarios"
)

// Retry is what the records say of how failed jobs were tried again.
type Retry struct {
	Keys   []string // of `retry`, as a scenario has them: "max-attempts: 5"
	Never  []string // error kinds after which there was never another attempt
	Limit  int32    // attempts in all; 0: not known
	Source string   // how the limit was found
	Exact  bool     // Pauses follow the keys
	Pauses []Pause
	Notes  []string
	jobs   int64
	paced  bool // the pauses or their formula are known
}

// Pause is that after the N-th failure, in seconds: the 5th, 50th and 95th percentiles.
type Pause struct {
	N        int
	Seen     int64
	Recorded [3]float64
	Said     [3]float64 // by the keys
}

const (
	leastGaps     = 10   // pauses after one failure, below which they say nothing
	leastDead     = 3    // jobs that died after so many attempts, for that to be the limit
	leastFinal    = 5    // failures of a kind, none of them followed by another attempt
	promoterDelay = 15   // s, of the systems with a preset
	closeEnough   = 0.06 // relative difference of a base delay from the formula
)

// unlimited is the limit where none is known.
const unlimited = "max-attempts: unlimited"

// presets are the retry presets of the systems that are imported.
var presets = map[string]string{"river": "river", "asynq": "asynq", "sidekiq": "sidekiq"}

// retries recognises the settings: those of most jobs, and those of classes that differ.
func (g *gathering) retries() {
	f := g.found
	all := newCollected()
	var found []*Retry
	for i, c := range g.classes {
		if g.index[i] < 0 {
			continue
		}
		all.merge(c)
		found = append(found, g.recognise(c))
	}
	f.Retry = *g.recognise(all)
	if len(found) < 2 {
		return
	}
	// What most jobs have that say anything is for all; classes that say otherwise have their own.
	jobs, paced := map[string]int64{}, slices.ContainsFunc(found, func(r *Retry) bool { return r.paced })
	for i, r := range found {
		if len(r.Keys) > 0 && (r.paced || !paced) {
			jobs[strings.Join(r.Keys, ", ")] += f.Classes[i].Jobs
		}
	}
	best := ""
	for _, keys := range slices.Sorted(maps.Keys(jobs)) {
		if best == "" || jobs[keys] > jobs[best] {
			best = keys
		}
	}
	for i, r := range found {
		if keys := strings.Join(r.Keys, ", "); keys == best && best != "" {
			if f.Retry.jobs == 0 || strings.Join(f.Retry.Keys, ", ") != best {
				f.Retry = *r
			}
			f.Retry.jobs = jobs[best]
		} else if keys != "" && len(r.Pauses) > 0 && !f.Retry.covers(r) {
			f.Classes[i].Retry = r
		}
	}
}

// covers reports whether what is recorded of a class agrees with the settings of the others.
func (r *Retry) covers(class *Retry) bool {
	if class.Limit > 0 && class.Limit != r.Limit || len(class.Never) > 0 && !slices.Equal(class.Never, r.Never) {
		return false
	}
	b, err := backoffOf(r.Keys)
	return err == nil && (&Retry{}).follows(class.Pauses, b, 0, 0)
}

// merge adds the pauses and limits of another class.
func (c *collected) merge(other *collected) {
	for i := range other.gaps {
		for ends, s := range other.gaps[i] {
			c.gaps[i][ends].seen += s.seen - int64(len(s.items))
			for _, item := range s.items {
				c.gaps[i][ends].add(item.hash, item.value)
			}
		}
	}
	c.highest = max(c.highest, other.highest)
	c.wait.Merge(other.wait)
	for _, n := range slices.Sorted(maps.Keys(other.deadAfter)) {
		c.deadAfter[n] += other.deadAfter[n]
	}
	for _, n := range slices.Sorted(maps.Keys(other.most)) {
		c.most[n] += other.most[n]
	}
	for _, number := range slices.Sorted(maps.Keys(other.kinds)) {
		from, to := other.kinds[number], c.kind(number)
		to.count, to.final, to.again = to.count+from.count, to.final+from.final, to.again+from.again
		for _, n := range slices.Sorted(maps.Keys(from.last)) {
			to.last[n] += from.last[n]
		}
	}
	for _, item := range other.service.items {
		c.service.add(item.hash, item.value)
	}
}

// recognise finds the settings that jobs were tried again by.
func (g *gathering) recognise(c *collected) *Retry {
	r := &Retry{}
	r.findLimit(c)
	r.findNever(g, c)
	if r.Limit > 0 {
		r.Keys = append(r.Keys, fmt.Sprintf("max-attempts: %d", r.Limit))
	}
	pauses, blur := c.pauses()
	if r.Limit == 0 && len(pauses) > 0 && presets[g.options.From] == "" {
		r.Keys = append(r.Keys, unlimited)
		r.Notes = append(r.Notes, "no job is recorded that had all its attempts: their limit is not known")
	}
	if preset := presets[g.options.From]; preset != "" && (len(pauses) == 0 || r.follows(pauses, presetBackoff(preset), blur, promoterDelay)) {
		r.Keys = append([]string{"preset: " + preset}, r.Keys...)
		r.Exact = len(pauses) > 0
		if !r.Exact {
			r.Notes = append(r.Notes, "no pause before a retry is recorded: the formula is that of "+preset)
		}
	} else if len(pauses) > 0 {
		r.shape(pauses, blur)
	} else if c.highest > 1 {
		if r.Limit < c.highest {
			r.Keys = []string{unlimited} // more than Limit are on record
		}
		r.Notes = append(r.Notes, fmt.Sprintf("jobs had up to %d attempts, but the pauses between them are not known, as where only the last attempt is recorded: those of the usual backoff stand in", c.highest))
		return r.withNever()
	}
	r.paced = len(r.Keys) > 0
	return r.withNever()
}

// withNever adds the error kinds after which there is no other attempt.
func (r *Retry) withNever() *Retry {
	if len(r.Never) > 0 && len(r.Keys) > 0 {
		r.Keys = append(r.Keys, "never: ["+strings.Join(r.Never, ", ")+"]")
	}
	return r
}

// findLimit finds how many attempts there may be: as declared, or as many as jobs had that
// died of it.
func (r *Retry) findLimit(c *collected) {
	most, jobs := int32(0), int64(0)
	for _, n := range slices.Sorted(maps.Keys(c.most)) {
		if n > 0 && c.most[n] > jobs {
			most, jobs = n, c.most[n]
		}
	}
	if most > 0 {
		r.Limit, r.Source = most, "as the records declare"
		return
	}
	// The last attempt of a job that is not followed by another says so if none ever is.
	last := int32(0)
	for _, n := range slices.Sorted(maps.Keys(c.deadAfter)) {
		if c.deadAfter[n] >= leastDead {
			last = n
		}
	}
	if last > 0 && last >= c.highest {
		r.Limit, r.Source = last, fmt.Sprintf("%d jobs ended so, none had more", c.deadAfter[last])
	}
}

// findNever finds error kinds that end a job at once.
func (r *Retry) findNever(g *gathering, c *collected) {
	for _, number := range slices.Sorted(maps.Keys(c.kinds)) {
		k := c.kinds[number]
		early := int64(0)
		for _, n := range slices.Sorted(maps.Keys(k.last)) {
			if n < r.Limit || r.Limit == 0 {
				early += k.last[n]
			}
		}
		if k.again == 0 && early >= leastFinal && r.Limit != 1 {
			r.Never = append(r.Never, g.kinds.all[number])
		}
	}
	slices.Sort(r.Never)
}

// pauses are what is recorded between attempts. blur is how much longer they may be than the
// delay itself: they run from the start of an attempt, or to the start of one. Of those after
// one failure only the least blurred count, if there are enough of them.
func (c *collected) pauses() (pauses []Pause, blur float64) {
	var less, more [gapEnds]float64
	run, wait := c.service.values(), c.wait
	for ends := range less {
		if ends&fromStart != 0 {
			less[ends] = quantile(run, 0.5)
			more[ends] = quantile(run, 0.9)
		}
		if ends&toStart != 0 {
			less[ends] += wait.Quantile(0.5).Seconds()
			more[ends] += wait.Quantile(0.9).Seconds()
		}
	}
	clearest := []int{0, 1, 2, 3}
	slices.SortStableFunc(clearest, func(a, b int) int { return cmp.Compare(more[a], more[b]) })
	for i := range c.gaps {
		p := Pause{N: i + 1}
		var values []float64
		widest := 0.0
		for _, ends := range clearest {
			s := c.gaps[i][ends]
			for _, v := range s.values() {
				values = append(values, max(0, v-less[ends]))
			}
			if p.Seen += s.seen; s.seen > 0 {
				widest = max(widest, more[ends])
			}
			if p.Seen >= leastGaps {
				break
			}
		}
		if p.Seen < leastGaps {
			continue
		}
		slices.Sort(values)
		for k, q := range []float64{0.05, 0.5, 0.95} {
			p.Recorded[k] = quantile(values, q)
		}
		pauses, blur = append(pauses, p), max(blur, widest)
	}
	return pauses, blur
}

// follows compares pauses with a formula, and keeps both if they agree. promoter is how long
// a due retry may lie until somebody looks, s.
func (r *Retry) follows(pauses []Pause, b *policies.Backoff, blur, promoter float64) bool {
	kept := slices.Clone(pauses)
	for i := range kept {
		p := &kept[i]
		p.Said = said(b, p.N)
		for k, recorded := range p.Recorded {
			spread := max(p.Said[2]-p.Said[0], 0.1*p.Said[1])
			noise := 0.5 * spread * math.Sqrt(20/float64(max(20, p.Seen)))
			if k == 1 {
				noise = 2 * spread / math.Sqrt(float64(p.Seen))
			}
			noise += grain(b, p.N)
			if recorded < p.Said[k]-noise-blur-promoter/30-0.01 || recorded > p.Said[k]+noise+blur+promoter+0.01 {
				return false
			}
		}
	}
	r.Pauses = kept
	return true
}

// spell writes seconds as a scenario does, with three significant digits or fewer.
func spell(seconds float64) string {
	if seconds <= 0 {
		return "0s"
	}
	unit := math.Pow(10, math.Floor(math.Log10(seconds))-2)
	rounded := math.Round(seconds/unit) * unit
	return scenarios.Duration(time.Duration(math.Round(rounded * 1e9))).String()
}
