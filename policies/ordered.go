package policies

import "qsim/engine"

// Ordered is a policy that claims all jobs, fresh or retry, in one Order, such as oldest first; orders other than
// OldestReady and NewestReady only some stores support. It is work-conserving and stateless: the store keeps the
// order's state, such as whose turn it is, for all engines, so parameters hold for the fleet.
type Ordered struct {
	classwise
	Order engine.Order
	Rule  *engine.Rule // parameters of the order, shared by all plans; nil: none
}

// Plan appends one term (part of a claim) for any ready jobs, in the policy's order.
func (p Ordered) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	dst = append(dst, engine.Term{})
	t := &dst[len(dst)-1] // set in place, see term
	t.Class, t.Order, t.Rule, t.Limit = engine.AnyClass, p.Order, p.Rule, v.Idle
	return dst
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, and jobs are claimed in the
// policy's Order, for OldestReady and NewestReady among jobs of equal priority.
func (p Ordered) Guarantees() Promise {
	return Promise{Conserving: true, Ranked: p.Order <= engine.NewestReady, Ordered: true, Order: p.Order, Rule: p.Rule}
}
