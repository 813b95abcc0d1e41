package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
)

// workersOf returns the number of workers that policy i has on all nodes.
func workersOf(s *measure.Settings, i int) float64 {
	p := &s.Policies[i]
	return float64(cmp.Or(p.Nodes, s.Nodes)) * float64(cmp.Or(p.Workers, s.Workers))
}

// offered returns the offered load without storms ÷ the capacity of that many workers.
func offered(s *measure.Settings, workers float64) float64 {
	if workers <= 0 {
		return 0
	}
	return s.Rate * s.Service.Seconds() / workers
}

// warmUpMultiple is the least length of a warm-up, in relaxation times 1 ÷ (cμ(1 − √ρ)²) of a queue with c workers: the
// effect of the empty start is then below e⁻⁵. Cohen: The Single Server Queue (1982), for one server; c of them are
// taken for one that is c times as fast.
const warmUpMultiple = 5

// settles returns the warm-up time that a queue with that many workers needs at that load, which must be below 1.
func settles(service time.Duration, workers, load float64) time.Duration {
	gap := 1 - math.Sqrt(load)
	return time.Duration(min(warmUpMultiple*float64(service)/(workers*gap*gap), math.MaxInt64/2))
}

// warnOfWarmUp warns of policies whose warm-up ends before the queue has settled: at the offered load, or at the load
// measured before the first storm if that is higher, because retries are work too. Policies with the same number of
// workers get one warning between them, for the highest load. grid holds the runs by policy.
func (s *Summary) warnOfWarmUp(grid [][]*measure.Run, add func(string, ...any)) {
	set := s.Settings
	var said []float64 // numbers of workers
	for i := range s.Policies {
		workers := workersOf(set, i)
		if slices.Contains(said, workers) {
			continue
		}
		said = append(said, workers)
		load, kind := offered(set, workers), "load"
		for j := i; j < len(s.Policies); j++ {
			if seen := utilizationSeen(set, grid[j]); workersOf(set, j) == workers && seen > load && seen < busyWhenOverloaded {
				load, kind = seen, "load, retries and all,"
			}
		}
		if load <= 0 || load >= 1 {
			continue // nothing comes by itself, or it never settles
		}
		if needed := settles(set.Service, workers, load); set.Warmup < needed {
			add("the warm-up of %s is too short: at a %s of %s%% on %s the queue takes about %s to settle",
				plain.Setting(set.Warmup), kind, plain.Digits(100*load, 2), plain.Plural(int(workers), "worker"), plain.Duration(needed.Seconds()))
		}
	}
}

// utilizationSeen returns the measured utilization of the workers from the warm-up to the first storm, a mean over
// runs; 0 if no time lies between.
func utilizationSeen(s *measure.Settings, runs []*measure.Run) float64 {
	from, to := calmBuckets(s)
	sum, n := 0.0, 0
	for _, run := range runs {
		for i := from; i < min(to, len(run.Series.Utilization)); i++ {
			sum += run.Series.Utilization[i]
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// calmBuckets returns the range [from, to) of time series buckets between the warm-up and the first storm.
func calmBuckets(s *measure.Settings) (from, to int) {
	if s.Bucket <= 0 {
		return 0, 0
	}
	return int((s.Warmup + s.Bucket - 1) / s.Bucket), int(calmEnd(s) / s.Bucket)
}

// busyWhenOverloaded is the least utilization of overloaded workers: below 1, since workers wait for the store
// between two jobs.
const busyWhenOverloaded = 0.97

// warnOfOverload warns if policy i cannot keep up even without a storm: by the offered load, or, because retries are
// work too, by the measured load.
func (s *Summary) warnOfOverload(i int, runs []*measure.Run, add func(string, ...any)) {
	if load := offered(s.Settings, workersOf(s.Settings, i)); load >= 1 {
		add("%s: overload without a storm: jobs bring %s%% of the work that the workers can do", s.Policies[i].Label, plain.Digits(100*load, 3))
		return
	}
	seen := 0
	for _, run := range runs {
		if overloaded(&run.Series, s.Settings, workersOf(s.Settings, i)) {
			seen++
		}
	}
	if 2*seen > len(runs) {
		add("%s: overload without a storm: the workers were busy all the time and the backlog grew, in %d of %s", s.Policies[i].Label, seen, plain.Plural(len(runs), "seed"))
	}
}

// calmEnd returns the begin of the first storm, or the end of arrivals if there is no storm.
func calmEnd(s *measure.Settings) time.Duration {
	end := s.Duration
	for i := range s.Storms {
		end = min(end, s.Storms[i].From)
	}
	return end
}

// fewestCalmBuckets is the least number of time series buckets before the first storm that allows a test for a trend.
const fewestCalmBuckets = 8

// overloaded reports whether, between the warm-up and the first storm, the backlog grew and the workers were busy on
// average over the later half.
func overloaded(s *measure.Series, settings *measure.Settings, workers float64) bool {
	from, to := calmBuckets(settings)
	if to = min(to, len(s.FreshReady)); to-from < fewestCalmBuckets {
		return false
	}
	busy, middle := 0.0, (from+to)/2 // after it the empty start is forgotten
	for i := middle; i < to; i++ {
		busy += s.Utilization[i] / float64(to-middle)
	}
	return busy >= busyWhenOverloaded && rises(s, settings, from, to, workers)
}

// warnOfError warns if the seeds ran out before all relative errors were at most g; 0: no limit.
func (s *Summary) warnOfError(g float64) {
	if g == 0 {
		return
	}
	if text := s.Widest(g); text != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s are not enough for intervals of ±%s%%: %s",
			plain.Plural(len(s.Seeds), "seed"), plain.Digits(100*g, 2), text))
	}
}
