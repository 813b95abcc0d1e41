package policies

import "qsim/engine"

// Ordered is a policy that claims all jobs, fresh or retry, in one order; orders other than OldestReady and NewestReady
// only some stores support. It is work-conserving and stateless: the store keeps the order's state for all engines, so
// parameters hold for the fleet.
type Ordered struct {
	classwise
	Order engine.Order
	Rule  *engine.Rule // parameters of the order, shared by all plans; nil: none
}

// Plan lets the next claim take any ready jobs, in the policy's order.
func (p Ordered) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: p.Order, Rule: p.Rule, Limit: v.Idle})
}

// Guarantees returns the guarantee that no worker idles while a job is ready, and that they are claimed in its order,
// within a priority if that is one by readiness.
func (p Ordered) Guarantees() Promise {
	return Promise{Conserving: true, Ranked: p.Order <= engine.NewestReady, Ordered: true, Order: p.Order, Rule: p.Rule}
}
