package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qsim/results/plain"
)

// Retry holds the retry settings inferred from records of failed jobs.
type Retry struct {
	Keys   []string // of `retry`, as a scenario has them: "max-attempts: 5"
	Never  []string // error kinds after which there was never another attempt
	Limit  int32    // attempts in all; 0: not known
	Source string   // source of the limit, in words
	Exact  bool     // Pauses follow the keys
	Pauses []Pause
	Notes  []string
	paced  bool // the pauses or their formula are known
	family bool // the keys are a formula, not a table of recorded delays
}

// Pause holds the 5th, 50th and 95th percentiles of the time from a job's N-th failure to its retry, in seconds.
type Pause struct {
	N        int
	Seen     int64
	Recorded [3]float64
	Said     [3]float64 // percentiles that the backoff of Retry.Keys predicts
}

const (
	leastPauses   = 10 // pauses after one failure, below which they show nothing
	leastDead     = 3  // fewest dead jobs with equal attempts that show a limit
	leastFinal    = 5  // fewest failures of a kind, none of them retried, that show a final error
	promoterDelay = 15 // s, of the systems with a preset
)

// unlimited is the retry setting for an unknown limit of attempts.
const unlimited = "max-attempts: unlimited"

// hasPreset reports whether a format belongs to a system with a retry preset, which has the same name.
func hasPreset(format string) bool { return format != "csv" }

// retries infers the retry settings from the records: those of most jobs, and separate ones of classes that differ.
func (g *gathering) retries() {
	f := g.found
	f.Retry = *g.recognise(g.all)
	if len(f.Classes) < 2 {
		return
	}
	found := plain.Map(g.classes.all, g.recognise)
	// The keys of most jobs that show any are for all; classes with others have their own.
	jobs, paced := map[string]int64{}, slices.ContainsFunc(found, func(r *Retry) bool { return r.paced })
	for i, r := range found {
		if len(r.Keys) > 0 && (r.paced || !paced) {
			jobs[r.text()] += f.Classes[i].Jobs
		}
	}
	best := ""
	for _, keys := range slices.Sorted(maps.Keys(jobs)) {
		if best == "" || jobs[keys] > jobs[best] {
			best = keys
		}
	}
	if best != "" {
		f.Retry = *found[slices.IndexFunc(found, func(r *Retry) bool { return r.text() == best })]
	}
	for i, r := range found {
		if keys := r.text(); keys != best && keys != "" && len(r.Pauses) > 0 && !f.Retry.covers(r) {
			f.Classes[i].Retry = r
		}
	}
}

func (r *Retry) text() string { return strings.Join(r.Keys, ", ") }

// covers reports whether the records of a class agree with the common retry settings.
func (r *Retry) covers(class *Retry) bool {
	if class.Limit > 0 && class.Limit != r.Limit || len(class.Never) > 0 && !slices.Equal(class.Never, r.Never) {
		return false
	}
	b, err := backoffOf(r.Keys)
	if err != nil {
		return false
	}
	_, ok := follow(class.Pauses, b, 0, 0)
	return ok
}

// recognise infers the retry settings of a class from its recorded attempts.
func (g *gathering) recognise(c *collected) *Retry {
	r := &Retry{}
	r.findLimit(c)
	r.findNever(g, c)
	if r.Limit > 0 {
		r.Keys = append(r.Keys, fmt.Sprintf("max-attempts: %d", r.Limit))
	}
	pauses, blur := c.clearPauses()
	system := g.options.From
	if r.Limit == 0 && len(pauses) > 0 && !hasPreset(system) {
		r.Keys = append(r.Keys, unlimited)
		r.note("no job is recorded that had all its attempts: their limit is not known")
	}
	if hasPreset(system) {
		r.Pauses, r.Exact = follow(pauses, presetBackoff(system), blur, promoterDelay)
	}
	switch {
	case r.Exact || hasPreset(system) && len(pauses) == 0:
		r.Keys = append([]string{"preset: " + system}, r.Keys...)
		if r.Exact = len(pauses) > 0; !r.Exact {
			r.note("no pause before a retry is recorded: the formula is that of %s", system)
		}
	case len(pauses) > 0:
		r = r.fitPauses(pauses, blur)
	case c.highest > 1:
		if r.Limit < c.highest {
			r.Keys = []string{unlimited} // more than Limit are on record
		}
		r.note("jobs had up to %d attempts, but the pauses between them are not known, as where only the last attempt is "+
			"recorded: those of the usual backoff stand in", c.highest)
	}
	r.paced = len(r.Keys) > 0 && (len(pauses) > 0 || hasPreset(system) || c.highest <= 1)
	if len(r.Never) > 0 && len(r.Keys) > 0 {
		r.Keys = append(r.Keys, "never: ["+strings.Join(r.Never, ", ")+"]")
	}
	return r
}

func (r *Retry) note(format string, arguments ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, arguments...))
}

// findLimit finds the limit on attempts of a job: the declared one, or the number of attempts after which jobs died.
func (r *Retry) findLimit(c *collected) {
	jobs := int64(0)
	for _, n := range slices.Sorted(maps.Keys(c.most)) {
		if n > 0 && c.most[n] > jobs {
			r.Limit, r.Source, jobs = n, "as the records declare", c.most[n]
		}
	}
	if r.Limit > 0 {
		return
	}
	// The last attempt of a job that is not followed by another shows the limit if none ever is.
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

func (r *Retry) findNever(g *gathering, c *collected) {
	for _, number := range slices.Sorted(maps.Keys(c.kinds)) {
		k, early := c.kinds[number], int64(0)
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

// clearPauses returns the recorded pauses between attempts, by number of failures. blur is by how much, in s, they may
// exceed the retry delay: pauses from the start of an attempt include its run time, pauses to a start the wait. Of the
// pauses after each number of failures only the least blurred count, if there are enough of them.
func (c *collected) clearPauses() (pauses []Pause, blur float64) {
	var less, more [pauseEnds]float64
	run, wait := c.service.values(), c.class.Wait
	for ends := range less {
		if ends&fromStart != 0 {
			less[ends], more[ends] = quantile(run, 0.5), quantile(run, 0.9)
		}
		if ends&toStart != 0 {
			less[ends] += wait.Quantile(0.5).Seconds()
			more[ends] += wait.Quantile(0.9).Seconds()
		}
	}
	clearest := []int{0, 1, 2, 3}
	slices.SortStableFunc(clearest, func(a, b int) int { return cmp.Compare(more[a], more[b]) })
	for i := range c.pauses {
		p := Pause{N: i + 1}
		var values []float64
		widest := 0.0
		for _, ends := range clearest {
			s := &c.pauses[i][ends]
			for _, v := range s.values() {
				values = append(values, max(0, v-less[ends]))
			}
			if p.Seen += s.seen; s.seen > 0 {
				widest = max(widest, more[ends])
			}
			if p.Seen >= leastPauses {
				break
			}
		}
		if p.Seen < leastPauses {
			continue
		}
		slices.Sort(values)
		for k, q := range percentiles {
			p.Recorded[k] = quantile(values, q)
		}
		pauses, blur = append(pauses, p), max(blur, widest)
	}
	return pauses, blur
}
