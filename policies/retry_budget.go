package policies

import (
	"time"

	"qsim/engine"
)

// budgetSlices is how finely a RetryBudget forgets: in tenths of its window.
const budgetSlices = 10

// RetryBudget is FIFO with retries paid from a budget: every first claim deposits
// Ratio of a retry, every retry claimed spends one, and both are forgotten after
// Window. MinRate × Window retries are there besides, for a queue with few fresh jobs.
// So over a window retries are at most Ratio of the first claims plus MinRate, however
// many jobs fail. It is not work-conserving: without budget, workers idle rather than run a
// retry; with a MinRate of 0, retries that are left when fresh jobs stop never run.
// The budget is the engine's own: Ratio holds for a fleet as it is, a MinRate for a
// fleet is to be divided by the engines. (Finagle's RetryBudget, with exact fractions
// in place of its scale factor of 1000.)
type RetryBudget struct {
	Ratio   Share
	MinRate Rate
	Window  time.Duration // above 0

	// slices are deposits less withdrawals, by tenths of the window, in the smallest
	// coin: 1/denominator of Ratio. sum is their sum.
	slices  [budgetSlices]int64
	sum     int64
	current int
	ends    engine.Time // of the current slice
	started bool
}

// Plan appends the terms of capped, with as much room as the balance pays.
func (p *RetryBudget) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.advance(v.Now)
	return capped(dst, v.Idle, p.balance(v.Idle))
}

// balance returns how many retries the budget pays, at most limit.
func (p *RetryBudget) balance(limit int) int {
	_, cost := p.Ratio.Fraction()
	reserve := p.MinRate.In(p.Window) * cost
	return int(max(0, min(int64(limit), (p.sum+reserve)/cost)))
}

// Observe deposits first claims and withdraws retries.
func (p *RetryBudget) Observe(o *engine.Observation) {
	if o.Kind != engine.Claimed {
		return
	}
	p.advance(o.Now)
	deposit, cost := p.Ratio.Fraction()
	amount := int64(o.Count) * deposit
	if o.Class == engine.Retry {
		amount = -int64(o.Count) * cost
	}
	p.slices[p.current] += amount
	p.sum += amount
}

// advance forgets the slices that ended more than a window before now. A clock that
// was set back stays in the current slice.
func (p *RetryBudget) advance(now engine.Time) {
	slice := max(1, p.Window/budgetSlices)
	if !p.started {
		p.started, p.ends = true, now.Add(slice)
	}
	if now < p.ends {
		return
	}
	steps := int64(now.Sub(p.ends)/slice) + 1
	p.ends = p.ends.Add(time.Duration(steps) * slice)
	for range min(steps, budgetSlices) {
		p.current = (p.current + 1) % budgetSlices
		p.sum -= p.slices[p.current]
		p.slices[p.current] = 0
	}
}
