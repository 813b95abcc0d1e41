package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// workersOf is how many workers policy i has on all nodes.
func (s *Settings) workersOf(i int) float64 {
	p := &s.Policies[i]
	return float64(cmp.Or(p.Nodes, s.Nodes)) * float64(cmp.Or(p.Workers, s.Workers))
}

// offered is the work that comes at rest ÷ what that many workers can do.
func (s *Settings) offered(workers float64) float64 {
	if workers <= 0 {
		return 0
	}
	return s.Rate * s.Service.Seconds() / workers
}

// warmUpMultiple of the relaxation time 1 ÷ (cμ(1 − √ρ)²) of a queue with c workers is what a
// warm-up should last: what the empty start still changes is then below e⁻⁵. Cohen: The Single
// Server Queue (1982), for one server; c of them are taken for one that is c times as fast.
const warmUpMultiple = 5

// settles returns how long a warm-up should be for that load of so many workers, which must be
// below 1.
func settles(service time.Duration, workers, load float64) time.Duration {
	gap := 1 - math.Sqrt(load)
	return time.Duration(min(warmUpMultiple*float64(service)/(workers*gap*gap), math.MaxInt64/2))
}

// warnOfWarmUp says for which policies the warm-up ends before the queue has settled.
func (s *Summary) warnOfWarmUp(add func(string, ...any)) {
	set := s.Settings
	var said []string
	for i := range s.Policies {
		workers := set.workersOf(i)
		load := set.offered(workers)
		if load <= 0 || load >= 1 {
			continue // nothing comes by itself, or it never settles
		}
		needed := settles(set.Service, workers, load)
		if set.Warmup >= needed {
			continue
		}
		text := fmt.Sprintf("the warm-up of %s is too short: at a load of %s%% on %s the queue takes about %s to settle",
			roundDuration(set.Warmup), digits(100*load, 2), plural(int(workers), "worker"), FormatDuration(needed.Seconds()))
		if !slices.Contains(said, text) {
			said = append(said, text)
			add("%s", text)
		}
	}
}

// busyWhenOverloaded is the share of the workers' time that is busy at least when they
// cannot keep up: between two jobs they wait for the store.
const busyWhenOverloaded = 0.97

// warnOfOverload says where policy i cannot keep up though there is no storm: by what comes in,
// or, because retries are work too, by what was seen.
func (s *Summary) warnOfOverload(i int, runs []*Run, add func(string, ...any)) {
	if load := s.Settings.offered(s.Settings.workersOf(i)); load >= 1 {
		add("%s: overload without a storm: jobs bring %s%% of the work that the workers can do", s.Policies[i].Label, digits(100*load, 3))
		return
	}
	seen := 0
	for _, run := range runs {
		if run.Series.overloaded(s.Settings, s.Settings.workersOf(i)) {
			seen++
		}
	}
	if 2*seen > len(runs) {
		add("%s: overload without a storm: the workers were busy all the time and the backlog grew, in %d of %s", s.Policies[i].Label, seen, plural(len(runs), "seed"))
	}
}

// calmEnd is when the first storm begins, or arrivals end.
func (s *Settings) calmEnd() time.Duration {
	end := s.Duration
	for i := range s.Storms {
		end = min(end, s.Storms[i].From)
	}
	return end
}

// fewestCalmBuckets are what a trend may be told from.
const fewestCalmBuckets = 8

// overloaded reports whether, from the warm-up to the first storm, the workers were busy and the
// jobs ready were half as many again, and at least one per worker more, in its second half as
// in its first.
func (s *Series) overloaded(settings *Settings, workers float64) bool {
	if settings.Bucket <= 0 {
		return false
	}
	from := int((settings.Warmup + settings.Bucket - 1) / settings.Bucket)
	to := min(int(settings.calmEnd()/settings.Bucket), len(s.FreshReady))
	if to-from < fewestCalmBuckets {
		return false
	}
	middle := (from + to) / 2
	before, after, busy := 0.0, 0.0, 0.0
	for i := from; i < middle; i++ {
		before += s.FreshReady[i] + s.RetryReady[i]
	}
	for i := middle; i < to; i++ {
		after += s.FreshReady[i] + s.RetryReady[i]
		busy += s.Utilization[i]
	}
	before, after, busy = before/float64(middle-from), after/float64(to-middle), busy/float64(to-middle)
	return busy >= busyWhenOverloaded && after > 1.5*before && after-before > max(1, workers)
}

// warnOfError says that the seeds ran out before the intervals were as narrow as wished: a
// relative error of at most g, if that is not 0.
func (s *Summary) warnOfError(g float64) {
	if g == 0 {
		return
	}
	if text := s.imprecise(g); text != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s are not enough for intervals of ±%s%%: %s",
			plural(len(s.Seeds), "seed"), digits(100*g, 2), text))
	}
}
