package policies

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 90, Name: "retry-budget", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 1, Params: []string{"min-rate: 1/s", "min-rate: 10/s", "min-rate: 1/s, window: 2s"}},
	Doc: "As fifo, with retries paid from a budget in each node: every first claim deposits a fraction of a " +
		"retry, every retry spends one, both are forgotten after the window (Finagle). Workers idle rather than " +
		"overspend.",
	Params: []Param{
		{Name: "ratio", Type: TypeShare, Default: "20%", Doc: "retries that a first claim pays for"},
		{Name: "min-rate", Type: TypeRate, Default: "10/s",
			Doc: "retries allowed besides, whatever the first claims; with 0/s, retries left when fresh jobs stop " +
				"never run"},
		{Name: "window", Type: TypeDuration, Default: "10s", Positive: true,
			Doc: "how long deposits and spending are remembered"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		rate := a.Value("min-rate").(quantity.Rate)
		if rate.Den > finest {
			return nil, fmt.Errorf("min-rate: %v has too many digits (at most 6 after the point)", rate)
		}
		return &RetryBudget{Ratio: a.Value("ratio").(quantity.Share), MinRate: rate, Window: a.Duration("window")}, nil
	},
})

// budgetSlices is the number of parts of a RetryBudget's window: deposits and claims are forgotten a part at a time.
const budgetSlices = 10

// RetryBudget is the policy retry-budget: Finagle's retry budget with exact fractions in place of a scale factor of
// 1000. Within a Window retries are at most Ratio of the claims of fresh jobs plus MinRate, however many jobs fail.
// Each engine has its own budget: Ratio holds for a fleet as it is; divide MinRate by the number of engines.
type RetryBudget struct {
	Ratio   quantity.Share
	MinRate quantity.Rate
	Window  time.Duration // length of the window: above 0

	// slices holds, by tenth of the window, Ratio for each first claim less 1 for each retry, times Ratio's denominator.
	slices  [budgetSlices]int64
	sum     int64       // sum of slices
	current int         // index of the slice that is being filled
	ends    engine.Time // end of the current slice
	started bool
}

// Plan appends terms (parts of a claim) for any ready jobs, but at most as many retries as the budget pays for.
func (p *RetryBudget) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.advance(v.Now)
	_, cost := p.Ratio.Fraction()
	reserve := eventsIn(p.MinRate, p.Window) * cost
	return capped(dst, v.Idle, int(max(0, min(int64(v.Idle), (p.sum+reserve)/cost))))
}

// Observe adds Ratio to the retry budget for each claim of a fresh job, and takes 1 for each claim of a retry.
func (p *RetryBudget) Observe(o *engine.Observation) {
	if o.Ended {
		return
	}
	p.advance(o.Now)
	deposit, cost := p.Ratio.Fraction()
	amount := int64(o.Claimed[engine.Fresh])*deposit - int64(o.Claimed[engine.Retry])*cost
	p.slices[p.current] += amount
	p.sum += amount
}

// advance drops the slices of the window that ended over a window before now; none if the clock was set back.
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

// Guarantees declares for the invariant checker: within nine tenths of a window, the least that the policy remembers,
// there are at most as many retries as MinRate and the first claims of a whole window pay for. Nor are they held back
// while the budget pays for them, which a Law (plan checker) verifies.
func (p *RetryBudget) Guarantees() Promise {
	type claims struct {
		at             engine.Time
		fresh, retries int64
	}
	num, den := p.Ratio.Fraction()
	reserve, surely := eventsIn(p.MinRate, p.Window)*den, p.Window/10*9
	paid := bound.Ration{Burst: reserve, Cost: den, Claimed: num, Window: surely, Earlier: p.Window}
	hesitates := func(fails, jobs int) time.Duration { // every attempt may wait for MinRate, and first claims add nothing
		waits := 2*p.Window.Seconds() + float64(max(1, fails+jobs))/p.MinRate.PerSecond()
		return max(3*time.Minute, time.Duration(min(waits, Century.Seconds())*float64(time.Second)))
	}
	return Promise{Starves: p.MinRate.Num == 0, Ration: paid, Hesitates: hesitates, Law: func() Law {
		var of []claims // the latest window
		return ration(func(v *engine.View) (least, most int64) {
			least, most = reserve, reserve
			for len(of) > 0 && v.Now.Sub(of[0].at) >= p.Window {
				of = of[1:]
			}
			for _, c := range of {
				deposit, spent := c.fresh*num, c.retries*den
				least, most = least-spent, most+deposit
				if v.Now.Sub(c.at) <= surely {
					least, most = least+deposit, most-spent
				}
			}
			return least / den, most / den
		}, func(o *engine.Observation) {
			if totalClaimed(o) > 0 {
				of = append(of, claims{o.Now, int64(o.Claimed[engine.Fresh]), int64(o.Claimed[engine.Retry])})
			}
		})
	}}
}

// maxEvents is the highest number of retries that MinRate allows within a window, and finest the highest denominator of
// MinRate: products of the two fit in 64 bits.
const (
	maxEvents = 1_000_000_000
	finest    = 1_000_000
)

// eventsIn returns the whole number of events that come at rate r within a duration d of at least 0, at most maxEvents.
func eventsIn(r quantity.Rate, d time.Duration) int64 {
	if r.Num == 0 {
		return 0
	}
	return min(maxEvents, quantity.Scale(int64(d), r.Num, r.Den*int64(r.Per)))
}
