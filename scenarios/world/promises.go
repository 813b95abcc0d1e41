package world

import (
	"slices"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/policies"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// retryRules returns the bounds on delays and attempts that a checker applies to a retry policy.
func retryRules(b *policies.Backoff) check.Retry {
	return check.Retry{MaxAttempts: int32(min(b.MaxAttempts, 1<<30)), ByFailure: b.Count == policies.CountFailure,
		Never: b.Never, Free: b.Free, FreeMax: int32(min(b.FreeMax, 1<<30)), Aged: b.Deadline > 0, Delay: delayBounds(b)}
}

// policyRules adds to r the guarantees of a policy, for nodes configured as in r. It returns whether the policy leaves
// no worker idle while a job is ready.
func policyRules(r *check.Rules, p engine.Policy) (workConserving bool) {
	g := policies.Guarantees(p)
	r.Ranked, r.Ordered, r.Order, r.Rule, r.Sheds, r.Starves = g.Ranked, g.Ordered, g.Order, g.Rule, g.Sheds, g.Starves
	// Leases that come late, or were held, run regardless of the policy.
	asPlanned := !r.Node.Lease.RunLate && !r.Store.Held
	if g.Capped && asPlanned {
		r.Holds.Caps[engine.Retry] = g.Cap + 1
	}
	if g.Lanes && asPlanned {
		r.Holds.Caps[engine.Fresh] = r.Node.Workers - g.Cap + 1
	}
	if asPlanned {
		r.Holds.Ration, r.Holds.Brakes = g.Ration, g.Brakes
	}
	r.Holds.Interval, r.Holds.Buries = g.Interval, g.Buries
	if num, den := g.Share.Fraction(); g.Exact {
		r.Fresh = check.Share{Num: num, Den: den}
	}
	return g.Conserving
}

// rules returns the invariants of a run that do not depend on its jobs: those of every run and, where calls are quick,
// those that hold after the last storm. Bounds gives closer ones.
func (w *world) rules(rand keyed.Rand) check.Rules {
	r := w.promises(rand)
	if isCalm(w.sc) {
		w.calmRules(&r)
	}
	return r
}

// promises returns the invariants that hold throughout a run, even during storms.
func (w *world) promises(rand keyed.Rand) check.Rules {
	sc := w.sc
	r := check.Rules{Store: w.store, Node: w.node, Nodes: int(sc.Engine.Nodes), Calm: engine.Never,
		LostInFlight: sc.Engine.Ack.Value() || w.node.Lease.OfNode}
	if sc.Engine.Promoter.Gap > 0 {
		r.LostWaiting = func(engine.JobID) bool { return true }
	}
	for i := range sc.Jobs {
		r.Retries = append(r.Retries, retryRules(w.node.Kinds[i].Retry.(*policies.Backoff)))
		r.Keyed = r.Keyed || sc.Jobs[i].Serial != nil
	}
	if keys := serialsOf(sc); r.Keyed && !sc.Does(fault.Redrive) { // a job made ready again is out of its key's order
		r.Serial = func(id engine.JobID) uint32 {
			class, _ := spec.Arrival(id)
			return keys[class].of(id, rand)
		}
	}
	r.Priority = func(k engine.Kind) int16 { return int16(sc.Jobs[k].Priority) }
	t := troublesOf(sc, rand)
	r.Stalls = sc.Does(fault.StallReaper)
	r.Heeds = !slices.ContainsFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.IgnoresCancel }) &&
		!slices.ContainsFunc(sc.Storms, func(s scenarios.Storm) bool { return s.Effect().Extra > 0 })
	r.Conserving = policyRules(&r, w.policy())
	r.Resets = slices.ContainsFunc(t.controls, func(c fault.Control) bool { return c.Reset })
	for i := range t.faults {
		if f := &t.faults[i]; f.Duplicate > 0 && f.Ops[engine.OpClaim] {
			r.Fresh.Den = 0 // a claim executed twice may claim jobs that its node did not count
		}
	}
	return r
}
