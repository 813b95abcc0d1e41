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

// flow is the input of backlog: jobs that arrive evenly between two times, in seconds from the start of a run, or at
// once; or, for that time, workers that a storm takes away.
type flow struct {
	from, to float64
	jobs     float64
	each     float64 // mean time in seconds that one of them takes of a worker, its retries included
	away     float64 // number of workers that do none of this, because of a storm
}

// arriving returns the arrivals of the class with that index as flows, each of whose jobs takes each seconds of a
// worker: all of them evenly and, for those in phases, waves or batches, what the first has above the mean.
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

// inWindows returns one flow for each window of a storm, all with the given jobs, seconds a job, and workers away.
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

// harder returns flows for the windows of a storm in which each job of a class takes so many more seconds of a worker:
// the workers that are busy with that count as away.
func harder(sc *spec.Scenario, s *spec.Storm, class int, more float64) []flow {
	job := &sc.Jobs[class]
	return inWindows(s, 0, 0, job.Arrivals.MeanRate()*copies(job)*min(more, longest))
}

// away estimates how many workers do not work because of a storm with the effect x: those of nodes that are down,
// frozen or refused all claims, or all while the store does not answer.
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

// backlog returns the highest number of jobs queued at any time if they arrive as in flows and so many workers, but for
// those away, always work. All jobs take their mean time, so that a queue grows only under overload.
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
