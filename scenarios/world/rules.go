package world

import (
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// rules returns the invariants that a checker verifies in a run: those of every run and, where store calls are quick,
// those that hold after the last storm. Bounds.Rules adds those that depend on the jobs that arrive.
func (w *world) rules(seed uint64) check.Rules {
	r := w.promises(keyed.Rand{Seed: seed})
	if b := w.setup(seed, nil).ofCalls(); isCalm(w.sc) && b.Heal < ForEver {
		for op, most := range b.most { // no answer is awaited for longer than the call timeout
			b.most[op] = min(most, b.Node.CallTimeout/2)
		}
		b.calm(&r)
		if c := &w.node.Commit; c.Backpressure == 0 {
			r.HandBack = 0 // what is handed back may come behind any number of outcomes
		} else if r.HandBack > 0 {
			r.HandBack += r.CommitEach * time.Duration(c.Backpressure+w.node.Workers+w.node.Fetch.Prefetch)
		}
		leads := isQuick(w.sc, &w.sc.Engine.Store.Extend)
		if !leads {
			r.Heard, r.Recover = 0, plain.Either(w.node.Reaper.LeaderOnly, 0, r.Recover)
		}
		if !isQuick(w.sc, &w.sc.Engine.Store.Promote) || w.node.Promoter.LeaderOnly && !leads {
			r.Promote = 0
		}
	}
	return r
}

// promises returns the invariants that a checker verifies throughout a run, even during storms.
func (w *world) promises(rand keyed.Rand) check.Rules {
	sc := w.sc
	r := check.Rules{Store: w.store, Node: w.node, Nodes: int(sc.Engine.Nodes), Calm: engine.Never,
		LostInFlight: sc.Engine.Ack.Value() || w.node.Lease.OfNode, Promise: policies.Guarantees(w.policy())}
	if sc.Engine.Promoter.Gap > 0 {
		r.LostWaiting = func(engine.JobID) bool { return true }
	}
	for i := range sc.Jobs {
		r.Retries = append(r.Retries, retryRules(w.node.Kinds[i].Retry.(*policies.Backoff)))
		r.Priorities = append(r.Priorities, int16(sc.Jobs[i].Priority))
		r.Keyed = r.Keyed || sc.Jobs[i].Serial != nil
	}
	if keys := serialsOf(sc); r.Keyed && !sc.Does(fault.Redrive) { // a job made ready again is out of its key's order
		r.Serial = func(id engine.JobID) uint32 {
			class, _ := spec.Arrival(id)
			return keys[class].of(id, rand)
		}
	}
	t := troublesOf(sc, rand)
	r.Stalls = sc.Does(fault.StallReaper)
	r.Heeds = !slices.ContainsFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.IgnoresCancel }) &&
		!slices.ContainsFunc(sc.Storms, func(s scenarios.Storm) bool { return s.Effect().Extra > 0 })
	for _, c := range t.controls {
		d := &r.Redrive
		d.Resets, d.Keeps = d.Resets || c.Reset, d.Keeps || c.Kind == fault.Redrive && !c.Reset
	}
	for i := range t.faults {
		if f := &t.faults[i]; f.Duplicate > 0 && f.Ops[engine.OpClaim] {
			r.Exact = false // a claim executed twice may claim jobs that its node did not count
		}
	}
	return r
}

// retryRules returns the bounds on backoff delays and attempts that a checker applies to a retry policy.
func retryRules(b *policies.Backoff) check.Retry {
	return check.Retry{MaxAttempts: int32(min(b.MaxAttempts, 1<<30)), ByFailure: b.Count == policies.CountFailure,
		Never: b.Never, Free: b.Free, FreeMax: int32(min(b.FreeMax, 1<<30)), Delay: delayBounds(b)}
}

// lastStorm returns the end of the last storm, including calls that it delayed; Never if a storm has no end. Storms may
// coincide: one may slow down calls that another delays.
func lastStorm(sc *scenarios.Scenario) (end engine.Time) {
	slower, late := 1.0, time.Duration(0)
	for i := range sc.Storms {
		slower *= max(1, sc.Storms[i].Effect().Store)
	}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		x := s.Effect()
		if c := x.Control; c != nil && c.Kind == fault.ShiftClock && !sc.Engine.Lease.Check.Value() {
			continue // no holder checks its clock
		} else if c != nil && c.Kind == fault.ShiftClock && x.Instant || s.On != "" && s.Before == 0 {
			return engine.Never
		}
		end = max(end, engine.Time(s.Before).Add(s.End()+sc.Engine.CallTimeout.Std()))
		late = min(late+scaled(outlasts(sc, &x), slower), longestRun)
	}
	return end.Add(late)
}

// longestRun is an upper bound on the virtual time of any run, low enough for sums of a few not to overflow.
const longestRun = time.Duration(math.MaxInt64 / 4)

// outlasts returns how long the effect of a storm, such as a delayed call, may last after the storm's window, with the
// store at its usual speed.
func outlasts(sc *scenarios.Scenario, x *spec.Effect) (longest time.Duration) {
	e := &sc.Engine.Store
	switch {
	case x.Fault != nil && x.Fault.Delay != nil:
		return longestOf(x.Fault.Delay)
	case x.Store > 0:
		for _, d := range []*scenarios.Distribution{&e.Claim, &e.Commit, &e.Extend, &e.Recover, &e.Promote} {
			longest = max(longest, longestDraw(d))
		}
	case x.Control != nil && x.Control.Kind == fault.ShiftClock: // leases were granted and prolonged by wrong clocks
		return sc.Engine.Lease.Lasts().Std() + max(x.Control.Offset, -x.Control.Offset)
	case x.Kills > 0: // the last of the attempts that kill begins at the end of the window
		for i := range sc.Jobs {
			longest = max(longest, longestAttempt(sc, &sc.Jobs[i]))
		}
		longest += sc.Engine.Restart.Std()
	}
	return longest + x.Extra
}

// longestAttempt returns an upper bound on the run time of an attempt of a class, slowed by storms and by its
// dependency, except attempts that hang.
func longestAttempt(sc *scenarios.Scenario, job *scenarios.JobClass) time.Duration {
	takes, more, slower := longestDraw(&job.Service), time.Duration(0), 1.0
	may := func(d *scenarios.Distribution) { takes = max(takes, longestDraw(d)) }
	may(job.Fails.Takes)
	for i := range sc.Storms {
		x := sc.Storms[i].Effect()
		may(x.Takes)
		slower *= max(1, x.Slower)
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
		slower *= 1 + d.Slows.Float()*float64(sc.Engine.Nodes*sc.Engine.Workers) // at most one call per worker
		if d.Conflict != nil {
			more = 4 * min(longestDraw(&d.Conflict.Network), longestRun/4)
		}
	}
	return scaled(takes, slower) + more
}

// longestDraw returns the longest possible draw from a distribution; 0 for nil.
func longestDraw(d *scenarios.Distribution) time.Duration { return longestOf(d.Drawn()) }

func longestOf(d *dist.Dist) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration(math.Nextafter(1, 0))
}

// isCalm reports whether nodes, calls and the store have no faults outside storms, and replies arrive well before the
// call timeout.
func isCalm(sc *scenarios.Scenario) bool {
	e, s := &sc.Engine, &sc.Engine.Store
	most := max(e.Fetch.Batch, e.Commit.Batch, e.Reaper.Batch, e.Promoter.Batch)
	disturbs := func(j scenarios.JobClass) bool { return j.Kills.Float() > 0 || j.Silences.Float() > 0 }
	return s.Parallel == 0 && s.Scan == (spec.Scan{}) &&
		isQuick(sc, &s.Claim) && isQuick(sc, &s.Commit) && isQuick(sc, &s.Recover) &&
		longestDraw(&s.PerJob) < shortestTimeout(sc)/8/time.Duration(max(1, most)) && e.CallTimeout > 0 &&
		!slices.ContainsFunc(sc.Jobs, disturbs)
}

// isQuick reports whether store calls whose one-way delays have the distribution d end well within their timeout.
func isQuick(sc *scenarios.Scenario, d *scenarios.Distribution) bool {
	return d.Average().Std() < shortestTimeout(sc)/100 && longestDraw(d) < shortestTimeout(sc)/8
}

// shortestTimeout returns the shortest timeout of any store call.
func shortestTimeout(sc *scenarios.Scenario) time.Duration {
	return min(sc.Engine.CallTimeout, sc.Engine.Commit.Timeout).Std()
}
