package policies

import (
	"time"

	"qsim/engine"
)

// Ordered claims whatever comes first in one order, fresh or retry, with one term for
// everything. The functions below make the orders that only some stores offer; what they
// promise is said there. All are work-conserving. The policy keeps no state: what an order
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

// Aging lets a job gain one step of priority for every time that it has waited, at most
// limit steps (0: no bound), and among equals serves the one that has waited longest. It
// promises that nothing waits for ever: a job that is n steps less urgent than the others
// waits as one of theirs once it has waited n times every. A limit takes that promise
// away from jobs that are further behind. every must be above 0.
func Aging(every time.Duration, limit int64) Ordered {
	return Ordered{Order: engine.Aging, Rule: &engine.Rule{Every: every, Cap: limit}}
}

// Deadline serves the job whose deadline comes first: the time of its enqueuing and the
// budget of its kind (kinds past the end have the last). A retry keeps its deadline, so it
// stays as urgent as it was. It promises the least lateness of the latest job (Jackson's
// rule, but for what is running already); under overload it meets few deadlines, since it
// serves those first that are past. Priorities do not matter, and nothing is given up.
func Deadline(budgets ...time.Duration) Ordered {
	return Ordered{Order: engine.Deadline, Rule: &engine.Rule{Budgets: budgets}}
}

// TenantRoundRobin serves one job of each tenant in turn, whatever it costs: equal numbers
// of claims, within one, for all who have jobs ready. A tenant with few jobs waits for one
// job of every other, however many those have.
func TenantRoundRobin() Ordered { return Ordered{Order: engine.TenantRoundRobin} }

// TenantDeficit is deficit round robin: at its turn a tenant may spend quantum of service
// time, and what it cannot use is kept for its next turn while it has jobs ready (Shreedhar
// and Varghese). A job costs the declared mean service time of its kind, so tenants get
// equal time, within a quantum and the longest job, if what is declared is true. quantum
// must be above 0; one of the order of a job's cost costs a store the fewest turns.
func TenantDeficit(quantum time.Duration) Ordered {
	return Ordered{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: int64(quantum)}}
}

// TenantDeficitJobs is TenantDeficit with a quantum of so many jobs, at least 1: turns of
// quantum jobs each.
func TenantDeficitJobs(quantum int64) Ordered {
	return Ordered{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: quantum, PerJob: true}}
}

// TenantFair serves quiet tenants first, oldest job first, and then the noisy one with
// the fewest jobs in flight. Noisy is who holds more than share of the jobs in flight of
// all nodes, and at least atLeast of them, or has used more than a tenth of the processing
// time of the last minutes (SQS fair queues). It promises quiet tenants the waits that
// they would have without the noisy ones, but for jobs that are running; noisy ones share
// what is left.
func TenantFair(share Share, atLeast int) Ordered {
	num, den := share.Fraction()
	return Ordered{Order: engine.TenantFair, Rule: &engine.Rule{ShareNum: num, ShareDen: den, AtLeast: atLeast}}
}
