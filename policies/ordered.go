package policies

import "qsim/engine"

// Ordered claims whatever comes first in one order, fresh or retry, with one term for
// everything. Its orders are those that only some stores offer. It is work-conserving. The policy keeps no state: what an order
// needs to remember, the store remembers for all engines, so that a fleet needs nothing
// divided.
type Ordered struct {
	stateless
	Order engine.Order
	Rule  *engine.Rule // shared by all plans; nil for an order without parameters
}

// Plan appends one term for everything.
func (p Ordered) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: p.Order, Rule: p.Rule, Limit: v.Idle})
}

// Guarantees implements Guarantor.
func (Ordered) Guarantees() Promise { return Promise{Conserving: true} }
