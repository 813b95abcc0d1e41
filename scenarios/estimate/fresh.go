package estimate

import (
	"cmp"
	"math"
	"slices"

	"qsim/results/plain"
	"qsim/scenarios/spec"
)

// FreshLoad estimates the load of the workers by fresh jobs alone in the first window of the storm with that index,
// with and without the storm itself: how long the first attempts of the jobs that come in it keep workers busy ÷ the
// time of the workers that storms leave. It is rather too small than too large: only arrivals at a steady rate count,
// without copies by impatient callers, and where a dependency may refuse a call, only as much as it takes then. Both
// are 0 if an event triggers the storm, if it leaves no worker, if attempts kill their process, and others with it, or
// if the mean of some run time is infinite.
func FreshLoad(sc *spec.Scenario, storm int) (with, without float64) {
	s := &sc.Storms[storm]
	during := inWindows(s, 0, 0, 0)[0]
	during.to = min(during.to, sc.Duration.Std().Seconds())
	if s.On != "" || during.to <= during.from {
		return 0, 0
	}
	effects := []spec.Effect{s.Effect()} // of this storm and of those that last as long
	covers := func(f flow) bool { return f.from <= during.from && during.to <= f.to }
	for i := range sc.Storms {
		if o := &sc.Storms[i]; i != storm && o.On == "" && slices.ContainsFunc(inWindows(o, 0, 0, 0), covers) {
			effects = append(effects, o.Effect())
		}
	}
	load := func(effects []spec.Effect) (load float64) {
		gone := 0.0 // workers, perhaps the same ones by several storms
		for i := range effects {
			gone = max(gone, away(sc, &effects[i]))
		}
		for i := range sc.Jobs {
			load += freshLoad(sc, i, during, effects)
		}
		kills := slices.ContainsFunc(effects, func(x spec.Effect) bool { return x.Kills > 0 }) ||
			slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Kills.Num > 0 })
		left := min(float64(sc.Engine.Nodes)*float64(sc.Engine.Workers)-gone, Limit(sc.Engine.MaxInFlight))
		return plain.Either(left < 1 || kills || !(load < longest), 0, load/left)
	}
	return load(effects), load(effects[1:])
}

// freshLoad estimates how many workers the first attempts of a class's jobs keep busy in a window of time, under the
// effects of storms.
func freshLoad(sc *spec.Scenario, class int, during flow, effects []spec.Effect) float64 {
	job := &sc.Jobs[class]
	delay := job.Delay.Std().Seconds()
	from, to := job.Arrivals.Start.Std().Seconds()+delay, job.Arrivals.End(sc.Duration).Std().Seconds()+delay
	part := (min(during.to, to) - max(during.from, from)) / (during.to - during.from)
	if part <= 0 || !slices.Contains([]string{"poisson", "constant", "gamma"}, job.Arrivals.Process) {
		return 0
	}
	rate, slower := job.Arrivals.MeanRate()*part, 1.0
	var outages, hits []*spec.Effect // of what the class calls, and of its attempts
	for i := range effects {
		x := &effects[i]
		hit := x.Dependency == "" && slices.Contains(sc.ClassesHit(x.Hits), class)
		switch {
		case x.Rate != nil && x.Class == job.Class && delay == 0:
			rate *= float64(*x.Rate)
		case hit:
			slower, hits = slower*cmp.Or(x.Slower, 1), append(hits, x)
		case x.Dependency == job.Calls && x.Error != "":
			outages = append(outages, x)
		}
	}
	limit := FreedAt(sc, class)
	mean := func(d *spec.Distribution) float64 { return slower * upTo(cmp.Or(d, &job.Service).Dist(), limit/slower) }
	busy, left := 0.0, 1.0 // seconds of an attempt, and the share of the attempts that no cause has ended
	end := func(share float64, takes *spec.Distribution) {
		busy, left = busy+left*share*mean(takes), left*(1-share)
	}
	for _, x := range outages {
		end(x.Fails, x.Takes)
	}
	ended, calls := busy, left
	for _, x := range hits {
		end(x.Fails, x.Takes)
	}
	end(job.Poison.Float(), job.Fails.Takes)
	end(job.Fails.Rate.Float(), job.Fails.Takes)
	end(1, nil)
	for _, d := range sc.Dependencies {
		if d.Name == job.Calls && d.Limit != nil && d.Over.Slow == nil {
			fails := d.Over.Fail.Float()
			busy = min(busy, ended+calls*fails*d.Over.RejectsIn.Dist().Mean()+(1-fails)*(busy-ended))
		}
	}
	for _, x := range hits {
		if x.Hangs > 0 && !sc.Engine.OnTimeout.Value().Free {
			busy += x.Hangs * x.Extra.Seconds()
		}
	}
	most := min(Limit(job.MaxRunning), Limit(cmp.Or(job.Serial, &spec.Serial{}).Keys))
	return min(rate*busy, most)
}

// Limit returns a limit on a number of jobs as a float64: +Inf for 0, which means no limit.
func Limit(jobs spec.Count) float64 { return plain.Either(jobs == 0, math.Inf(1), float64(jobs)) }
