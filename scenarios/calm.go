package scenarios

import (
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
)

// calmRules adds to r what holds of a run of w from when its last storm is over.
func (w *world) calmRules(r *check.Rules) {
	sc, e := w.sc, &w.node
	r.Calm = sc.lastStorm()
	r.Settled = max(1, r.Calm)
	if sc.isQuick(&sc.Engine.Store.Extend) {
		r.Heard = r.Settled
	}
	r.Trip = 3 * e.CallTimeout
	if r.Conserving {
		r.Idle = max(e.Fetch.Poll, e.Fetch.ErrorPause) + r.Trip
		claims := 1 + (e.Workers+e.Fetch.Batch-1)/e.Fetch.Batch
		s := &sc.Engine.Store
		r.Between = time.Duration(claims) * (16*s.Claim.average().Std() + 8*s.PerJob.average().Std()*time.Duration(e.Fetch.Batch))
		if e.Commit.Backpressure > 0 { // until what is not yet committed is
			settles := 2 * (e.Commit.Linger + 16*s.Commit.average().Std() + 8*s.PerJob.average().Std()*time.Duration(e.Commit.Batch))
			r.Idle += 4*e.Commit.Timeout + settles*time.Duration(1+e.Commit.Backpressure)
			r.Between += settles
		}
	}
	if !e.Reaper.Off {
		held := r.Nodes * (e.Workers + e.Fetch.Prefetch)
		r.Recover = e.Reaper.Grace + (e.Reaper.Every+r.Trip)*time.Duration(2+held/e.Reaper.Batch) + e.Leader.TTL + e.Leader.Renew + e.Reaper.Gap
	}
}

// lastStorm is when the last storm is over, with what it leaves behind on its way; Never if
// one is never over.
func (sc *Scenario) lastStorm() (end engine.Time) {
	for i := range sc.Storms {
		s := &sc.Storms[i]
		if s.Clock != nil && sc.Engine.Lease.Check != "local" {
			continue // nobody looks at a clock
		}
		if s.Clock != nil && s.Clock.Jump != nil {
			return engine.Never
		}
		end = max(end, engine.Time(s.end()).Add(sc.Engine.CallTimeout.Std()).Add(sc.leaves(s)))
	}
	return end
}

// leaves is how long what a storm has begun may last beyond its window.
func (sc *Scenario) leaves(s *Storm) time.Duration {
	e := &sc.Engine.Store
	switch {
	case s.Calls != nil && s.Calls.Delay != nil:
		return longestDraw(s.Calls.Delay)
	case s.Store != nil && s.Store.Slow != nil:
		slowest := time.Duration(0)
		for _, d := range []*Distribution{&e.Claim, &e.Commit, &e.Extend, &e.Recover, &e.Promote} {
			slowest = max(slowest, longestDraw(d))
		}
		return scaled(slowest, float64(*s.Store.Slow))
	case s.Clock != nil: // leases were granted and prolonged by wrong clocks
		return sc.Engine.Lease.TTL.Std() + max(s.Clock.Skew.Std(), -s.Clock.Skew.Std())
	}
	return 0
}

// longestDraw is the longest that a draw from d can be.
func longestDraw(d *Distribution) time.Duration { return d.Dist().Duration(math.Nextafter(1, 0)) }

// isCalm reports whether nothing goes wrong with nodes, calls and the store but by storms,
// and calls are answered well before they time out.
func (sc *Scenario) isCalm() bool {
	s := &sc.Engine.Store
	return s.Parallel == 0 && s.Scan == (Scan{}) &&
		sc.isQuick(&s.Claim) && sc.isQuick(&s.Commit) && sc.isQuick(&s.Recover) && sc.isQuick(&s.PerJob) && sc.Engine.CallTimeout > 0 &&
		!slices.ContainsFunc(sc.Jobs, func(j JobClass) bool { return j.Kills.Float() > 0 || j.Silences.Float() > 0 })
}

// isQuick reports whether a call that takes so long is well within its timeout.
func (sc *Scenario) isQuick(d *Distribution) bool {
	return d.average().Std() < sc.Engine.CallTimeout.Std()/100
}
