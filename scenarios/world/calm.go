package world

import (
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/scenarios"
)

// calmRules adds to r what holds of a run of w from when its last storm is over.
func (w *world) calmRules(r *check.Rules) {
	sc, e := w.sc, &w.node
	r.Calm = lastStorm(sc)
	r.Settled = max(1, r.Calm)
	if isQuick(sc, &sc.Engine.Store.Extend) {
		r.Heard = r.Settled
	}
	r.Trip = 3 * e.CallTimeout
	if r.Conserving && (e.Commit.Backpressure == 0 || len(e.Commit.Backoff) == 0) { // or claims may stop for as long as commits pause
		r.Idle = max(e.Fetch.Poll, e.Fetch.ErrorPause) + r.Trip
		claims := 1 + (e.Workers+e.Fetch.Batch-1)/e.Fetch.Batch
		s := &sc.Engine.Store
		r.Between = time.Duration(claims) * roundTrip(sc, &s.Claim, e.Fetch.Batch)
		if e.Commit.Backpressure > 0 { // until what is not yet committed is, of the workers' jobs too
			settles := 2 * (e.Commit.Linger + roundTrip(sc, &s.Commit, e.Commit.Batch))
			r.Idle += 4*e.Commit.Timeout + scaled(settles, float64(1+e.Commit.Backpressure+e.Workers+e.Fetch.Prefetch))
			r.Between += settles
		}
	}
	// A reaper that pauses between its read and its write tells the store by the committer, behind all else;
	// jobs that are held while they wait keep their leases for as long as they like.
	led := !e.Reaper.LeaderOnly || isQuick(sc, &sc.Engine.Store.Extend)
	if !e.Reaper.Off && e.Reaper.Gap == 0 && !r.Store.Held && led {
		r.RecoverEach = e.Reaper.Every + r.Trip
		r.Recover = e.Reaper.Grace + 2*r.RecoverEach + e.Leader.TTL + e.Leader.Renew
	}
}

// roundTrip is more than a call about so many jobs takes there and back, and what it waits for.
func roundTrip(sc *scenarios.Scenario, call *scenarios.Distribution, batch int) time.Duration {
	each := &sc.Engine.Store.PerJob
	return max(16*call.Average().Std(), 4*longestDraw(call)) + max(8*each.Average().Std(), 4*longestDraw(each))*time.Duration(batch)
}

// lastStorm is when the last storm is over, with what storms leave behind on its way; Never
// if one is never over. Storms may coincide: a call that one delays another makes slower.
func lastStorm(sc *scenarios.Scenario) (end engine.Time) {
	slower, late := 1.0, time.Duration(0)
	for i := range sc.Storms {
		if t := sc.Storms[i].Store; t != nil && t.Slow != nil {
			slower *= max(1, float64(*t.Slow))
		}
	}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		if c := s.Clock; c != nil && !sc.Engine.Lease.Check.Value() {
			continue // nobody looks at a clock
		} else if c != nil && c.Jump != nil || s.On != "" && s.Before == 0 {
			return engine.Never
		}
		end = max(end, engine.Time(s.Before).Add(s.End()+sc.Engine.CallTimeout.Std()))
		late = min(late+scaled(leaves(sc, s), slower), longestRun)
	}
	return end.Add(late)
}

// longestRun is more than any run takes.
const longestRun = time.Duration(math.MaxInt64 / 4)

// leaves is how long what a storm has begun may last beyond its window, were the store not slower.
func leaves(sc *scenarios.Scenario, s *scenarios.Storm) time.Duration {
	e := &sc.Engine.Store
	trouble, _ := s.Trouble()
	switch x := trouble.(type) {
	case *scenarios.CallStorm:
		if x.Delay != nil {
			return longestDraw(x.Delay)
		}
	case *scenarios.StoreStorm:
		slowest := time.Duration(0)
		for _, d := range []*scenarios.Distribution{&e.Claim, &e.Commit, &e.Extend, &e.Recover, &e.Promote} {
			slowest = max(slowest, longestDraw(d))
		}
		if x.Slow != nil {
			return slowest
		}
	case *scenarios.ClockStorm: // leases were granted and prolonged by wrong clocks
		return sc.Engine.Lease.TTL.Std() + max(x.Skew.Std(), -x.Skew.Std())
	case *scenarios.HangStorm:
		return x.Extra.Std()
	case *scenarios.KillStorm: // the last of the attempts that kill begins at its end
		longest := time.Duration(0)
		for i := range sc.Jobs {
			longest = max(longest, longestAttempt(sc, &sc.Jobs[i]))
		}
		return longest + sc.Engine.Restart.Std()
	}
	return 0
}

// longestAttempt is more than any attempt of a class runs, whatever storms and the dependency that it calls do to it, but
// for those that hang.
func longestAttempt(sc *scenarios.Scenario, job *scenarios.JobClass) time.Duration {
	takes, more, slower := longestDraw(&job.Service), time.Duration(0), 1.0
	may := func(d *scenarios.Distribution) {
		if d != nil {
			takes = max(takes, longestDraw(d))
		}
	}
	may(job.Fails.Takes)
	for i := range sc.Storms {
		trouble, _ := sc.Storms[i].Trouble()
		switch x := trouble.(type) {
		case *scenarios.FailStorm:
			may(x.Takes)
		case *scenarios.OutageStorm:
			may(x.Takes)
		case *scenarios.SlowStorm:
			slower *= max(1, float64(x.Factor))
		}
	}
	for i := range sc.Dependencies {
		d := &sc.Dependencies[i]
		if d.Name != job.Calls {
			continue
		}
		may(d.Over.RejectsIn)
		if d.Over.Slow != nil {
			slower *= max(1, float64(*d.Over.Slow))
		}
		slower *= 1 + d.Slows.Float()*float64(sc.Engine.Nodes*sc.Engine.Workers) // a call a worker at the most
		if d.Conflict != nil {
			more = 4 * min(longestDraw(&d.Conflict.Network), longestRun/4)
		}
	}
	return scaled(takes, slower) + more
}

// longestDraw is the longest that a draw from d can be.
func longestDraw(d *scenarios.Distribution) time.Duration {
	return d.Dist().Duration(math.Nextafter(1, 0))
}

// longestOf is longestDraw of a distribution that may not be there.
func longestOf(d *scenarios.Distribution) time.Duration {
	if d == nil {
		return 0
	}
	return longestDraw(d)
}

// isCalm reports whether nothing goes wrong with nodes, calls and the store but by storms,
// and calls are answered well before they time out.
func isCalm(sc *scenarios.Scenario) bool {
	e, s := &sc.Engine, &sc.Engine.Store
	most := max(e.Fetch.Batch, e.Commit.Batch, e.Reaper.Batch, e.Promoter.Batch)
	return s.Parallel == 0 && s.Scan == (scenarios.Scan{}) &&
		isQuick(sc, &s.Claim) && isQuick(sc, &s.Commit) && isQuick(sc, &s.Recover) &&
		longestDraw(&s.PerJob) < answered(sc)/8/time.Duration(max(1, most)) && e.CallTimeout > 0 &&
		!slices.ContainsFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.Kills.Float() > 0 || j.Silences.Float() > 0 })
}

// isQuick reports whether a call that takes so long one way is well within its timeout, however
// long a draw is.
func isQuick(sc *scenarios.Scenario, d *scenarios.Distribution) bool {
	return d.Average().Std() < answered(sc)/100 && longestDraw(d) < answered(sc)/8
}

// answered is how long an answer to any call is waited for at the least.
func answered(sc *scenarios.Scenario) time.Duration {
	return min(sc.Engine.CallTimeout, sc.Engine.Commit.Timeout).Std()
}
