package scenarios

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/policies"
)

// PromiseOfRetry is what a checker may hold a retry policy to.
func PromiseOfRetry(b *policies.Backoff) check.Retry {
	return check.Retry{MaxAttempts: int32(min(b.MaxAttempts, 1<<30)), ByFailure: b.Count == policies.CountFailure, Never: b.Never, Free: b.Free, FreeMax: int32(min(b.FreeMax, 1<<30)),
		Aged: b.Deadline > 0, Delay: delayBounds(b)}
}

// PromiseOfPolicy adds to r what a checker may hold a policy to, of nodes that are
// configured as r says. It returns whether the policy leaves no worker idle while a job
// is ready.
func PromiseOfPolicy(r *check.Rules, p engine.Policy) (workConserving bool) {
	// Leases that come late, or that were held, run whatever the policy says.
	asPlanned := r.Node.Lease.LateClaim != engine.RunLate && !r.Store.Held
	switch p := p.(type) {
	case policies.InFlightCap:
		r.Capped, r.RetryCap = asPlanned, p.Retries
		return false
	case *policies.Weighted:
		r.ShareNum, r.ShareDen = p.Fresh.Fraction()
		return !p.NoLending
	case policies.Bernoulli:
		return !p.NoLending
	case *policies.CoDel:
		r.Sheds = !p.Last
		return true
	case policies.FIFO, policies.LIFO, policies.FreshFirst, policies.RetryFirst, policies.AdaptiveLIFO, policies.Ordered, *policies.Queues, *policies.Split:
		return true
	}
	return false
}

// rules are what a run of w promises.
func (w *world) rules(rand engine.Rand) check.Rules {
	sc := w.sc
	r := check.Rules{Store: w.store, Node: w.node, Nodes: int(sc.Engine.Nodes), Calm: engine.Never,
		LostWaiting: sc.Engine.Promoter.Gap > 0, LostInFlight: sc.Engine.Ack == "early" || w.node.Lease.OfNode}
	for i := range sc.Jobs {
		r.Retries = append(r.Retries, PromiseOfRetry(w.node.Kinds[i].Retry.(*policies.Backoff)))
		if sc.Jobs[i].Serial != nil && !sc.redrives() { // one that comes back comes out of its order
			r.Serial = sc.serialKeys(rand)
		}
	}
	workConserving := PromiseOfPolicy(&r, w.policy())
	for i := range sc.Storms {
		s := &sc.Storms[i]
		r.Resets = r.Resets || s.Redrive != nil && s.Redrive.Reset
		if s.Calls != nil && s.Calls.Duplicate.Float() > 0 && (len(s.Calls.Ops) == 0 || slices.Contains(s.Calls.Ops, "claim")) {
			r.ShareDen = 0 // a claim that is executed twice brings what its node did not count
		}
	}
	if sc.isCalm() {
		r.Calm = sc.lastStorm()
		trip := 3 * w.node.CallTimeout
		e := &w.node
		if workConserving && e.Promoter.Every == 0 && e.Commit.Backpressure == 0 {
			r.Idle = max(e.Fetch.Poll, e.Fetch.ErrorPause) + trip
		}
		if !e.Reaper.Off {
			held := r.Nodes * (e.Workers + e.Fetch.Prefetch)
			r.Recover = e.Reaper.Grace + (e.Reaper.Every+trip)*time.Duration(2+held/e.Reaper.Batch) + e.Leader.TTL + e.Leader.Renew + e.Reaper.Gap
		}
	}
	return r
}

// lastStorm is when the last storm is over, with what it leaves behind on its way.
func (sc *Scenario) lastStorm() (end engine.Time) {
	for i := range sc.Storms {
		s := &sc.Storms[i]
		end = max(end, engine.Time(s.end()+sc.Engine.CallTimeout.Std()))
	}
	return end
}

// isCalm reports whether nothing goes wrong with nodes, calls and the store but by storms,
// and calls are answered well before they time out.
func (sc *Scenario) isCalm() bool {
	quick := func(d Distribution) bool { return d.average().Std() < sc.Engine.CallTimeout.Std()/100 }
	s := &sc.Engine.Store
	return !slices.ContainsFunc(sc.Storms, func(s Storm) bool { return s.stays() }) && s.Parallel == 0 && s.Scan == (Scan{}) &&
		quick(s.Claim) && quick(s.Commit) && quick(s.Recover) && quick(s.PerJob) && sc.Engine.CallTimeout > 0 &&
		!slices.ContainsFunc(sc.Jobs, func(j JobClass) bool { return j.Kills.Float() > 0 || j.Silences.Float() > 0 })
}

// stays reports whether a storm leaves behind what does not pass: clocks that are wrong,
// leases that are lost, and calls that come late by a distribution that no average bounds.
func (s *Storm) stays() bool {
	return s.Clock != nil || s.Leases != nil || s.Calls != nil && s.Calls.Delay != nil
}

// serialKeys returns the serial key of every job, 0 if it has none.
func (sc *Scenario) serialKeys(rand engine.Rand) func(engine.JobID) uint32 {
	type keys struct {
		n     uint64
		first uint32
	}
	var classes []keys
	next := uint32(1)
	for i := range sc.Jobs {
		k := keys{}
		if s := sc.Jobs[i].Serial; s != nil {
			k = keys{uint64(s.Keys), next}
			next += uint32(s.Keys)
		}
		classes = append(classes, k)
	}
	return func(id engine.JobID) uint32 {
		k := classes[int(id>>(indexBits+copyBits))-1]
		if k.n == 0 {
			return 0
		}
		return k.first + uint32(float64(k.n)*rand.Uniform(engine.ForTenant, uint64(id&^copyMask), 0, drawSerial))
	}
}
