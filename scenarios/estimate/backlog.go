package estimate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/results/plain"
	"qsim/scenarios/spec"
)

// flow is a number of jobs that arrive evenly over a time, in seconds from the start of a run, or all at once.
type flow struct {
	from, to float64
	jobs     float64
	each     float64 // mean time in seconds that one of them takes of a worker, its retries included
	away     float64 // number of workers that do none of this, because of a storm
}

// arriving returns the jobs of a class as flows: all of them evenly and, where they come in phases, waves or batches,
// those of the first that are above the mean.
func arriving(sc *spec.Scenario, class int, each float64) []flow {
	job := &sc.Jobs[class]
	a, end := &job.Arrivals, job.Arrivals.End(sc.Duration).Std().Seconds()
	start, mean := a.Start.Std().Seconds(), a.MeanRate()*copies(job)
	flows := []flow{{start, end, JobsOf(job, sc.Duration), each, 0}}
	above := func(from, length, jobs float64) {
		if length = min(length, end-from); jobs > 0 && length >= 0 {
			flows = append(flows, flow{from, from + length, jobs, each, 0})
		}
	}
	switch length := end - start; {
	case a.Process == "batch" && a.Size != nil:
		above(start, 0, float64(*a.Size)*copies(job))
	case a.Process == "on-off" && a.On != nil:
		on := min(a.On.Dist().Mean(), length)
		above(start, on, (a.Rate.PerSecond()*copies(job)-mean)*on)
	case a.Process == "ramp" && a.From != nil && a.To != nil: // a quarter of the difference, in the half above the mean
		above(start, length/2, copies(job)*(a.From.PerSecond()-a.To.PerSecond())*length/8)
		above(start+length/2, length/2, copies(job)*(a.To.PerSecond()-a.From.PerSecond())*length/8)
	case a.Process == "diurnal" && a.Swing != nil && a.Period != nil: // the integral of a sine over half of its period
		half := min(a.Period.Std().Seconds()/2, length)
		above(start, half, mean*a.Swing.Float()*half*2/math.Pi)
	}
	return flows
}

// inWindows returns a flow for each window of a storm, with what comes in each.
func inWindows(s *spec.Storm, jobs, each, away float64) []flow {
	x := s.Effect()
	lasts := cmp.Or(x.Lasts, s.For.Std())
	if x.Instant {
		lasts = cmp.Or(x.Control, &fault.Control{}).For // whatever the length of the window
	}
	return plain.Map(s.Starts(), func(at time.Duration) flow {
		return flow{at.Seconds(), (at + lasts).Seconds(), jobs, each, away}
	})
}

// harder returns how many workers are busy with what a storm adds to the attempts of a class, as flows: more seconds a
// job.
func harder(sc *spec.Scenario, s *spec.Storm, class int, more float64) []flow {
	job := &sc.Jobs[class]
	return inWindows(s, 0, 0, job.Arrivals.MeanRate()*copies(job)*min(more, longest))
}

// away estimates how many workers a storm keeps from their work: those of processes that are down, frozen or refused
// all claims, and all of them while the store does not answer.
func away(sc *spec.Scenario, x *spec.Effect) float64 {
	nodes := float64(sc.Engine.Nodes)
	if x.Nodes != nil {
		nodes = float64(plain.Either(x.Nodes.List != nil, len(x.Nodes.List), x.Nodes.Of(int(nodes))))
	}
	away := x.Fault != nil && x.Fault.Ops[engine.OpClaim] && x.Fault.Error == 1
	if c := x.Control; c != nil {
		away = c.Kind == fault.Crash || c.Kind == fault.Pause || c.Kind == fault.StopNode || c.Kind == fault.StallStore
		if c.Rolls {
			nodes = min(nodes, c.For.Seconds()/c.Every.Seconds())
		}
	}
	return plain.Either(away, nodes*float64(sc.Engine.Workers), 0)
}

// backlog returns the most jobs that are queued at any time, if they arrive as the flows say and the given number of
// workers work all the time. Jobs take their mean time, so that there is no queue without an overload.
func backlog(flows []flow, workers float64) (most float64) {
	// Jobs and their work at once, more of them a second, and workers that are away.
	type change struct{ at, jobs, work, rate, load, away float64 }
	var changes []change
	for _, f := range flows {
		switch length, work := f.to-f.from, f.jobs*f.each; {
		case f.jobs == 0 && f.away == 0:
		case length <= 0:
			changes = append(changes, change{at: f.from, jobs: f.jobs, work: work})
		default:
			changes = append(changes, change{at: f.from, rate: f.jobs / length, load: work / length, away: f.away},
				change{at: f.to, rate: -f.jobs / length, load: -work / length, away: -f.away})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var now change
	for _, c := range changes {
		if time := c.at - now.at; time > 0 {
			jobs, work := now.jobs+now.rate*time, now.work+now.load*time
			now.jobs, now.work = 0, max(0, work-max(0, workers-now.away)*time)
			if now.work > 0 {
				now.jobs = jobs * min(1, now.work/work)
			}
		}
		now = change{c.at, now.jobs + c.jobs, now.work + c.work, now.rate + c.rate, now.load + c.load, now.away + c.away}
		most = max(most, now.jobs)
	}
	return most
}
