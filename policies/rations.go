package policies

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
	"qsim/engine/quantity"
)

var retryBudgetKind = Kind{
	Name: "retry-budget", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 1, Param: "min-rate", Values: []string{"1/s", "10/s"}},
	Doc: "As fifo, with retries paid from a budget in each node: every first claim deposits a fraction of a " +
		"retry, every retry spends one, both are forgotten after the window (Finagle). Workers idle rather than " +
		"overspend.",
	Params: []Param{
		{Name: "ratio", Type: TypeShare, Default: "20%", Doc: "retries that a first claim pays for"},
		{Name: "min-rate", Type: TypeRate, Default: "10/s",
			Doc: "retries allowed besides, whatever the first claims; with 0/s, retries left when fresh jobs stop " +
				"never run"},
		{Name: "window", Type: TypeDuration, Default: "10s", Doc: "how long deposits and spending are remembered"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		window := a.Duration("window")
		if window == 0 {
			return nil, errors.New("window: 0s is not positive")
		}
		rate := a.Value("min-rate").(quantity.Rate)
		if rate.Den > finest {
			return nil, fmt.Errorf("min-rate: %v has too many digits (at most 6 after the point)", rate)
		}
		return &RetryBudget{Ratio: a.Value("ratio").(quantity.Share), MinRate: rate, Window: window}, nil
	},
}

// budgetSlices is the number of slices of a RetryBudget's window: old claims are forgotten a slice at a time.
const budgetSlices = 10

// RetryBudget is the policy retry-budget: Finagle's retry budget with exact fractions in place of a scale factor of
// 1000. Over a window retries are at most Ratio of the first claims plus MinRate, however many jobs fail. Each engine
// has a budget of its own: Ratio holds for a fleet as it is; divide a MinRate for a fleet by the number of engines.
type RetryBudget struct {
	Ratio   quantity.Share
	MinRate quantity.Rate
	Window  time.Duration // length of the window: above 0

	// slices are deposits less withdrawals, by tenths of the window, in units of 1/denominator of Ratio. sum is their sum.
	slices  [budgetSlices]int64
	sum     int64
	current int
	ends    engine.Time // end of the current slice
	started bool
}

// Plan appends terms that claim any job, but at most as many retries as the budget pays for.
func (p *RetryBudget) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.advance(v.Now)
	_, cost := p.Ratio.Fraction()
	reserve := eventsIn(p.MinRate, p.Window) * cost
	return capped(dst, v.Idle, int(max(0, min(int64(v.Idle), (p.sum+reserve)/cost))))
}

// Observe adds first claims to the budget and deducts retries.
func (p *RetryBudget) Observe(o *engine.Observation) {
	if o.Ended {
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

// advance drops the slices that ended more than a window before now. A clock that was set back stays in the current
// slice.
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

// Guarantees returns the guarantee that retries keep to the budget: within nine tenths of a window, the least that the
// policy remembers, there are at most as many as MinRate and the first claims of a whole window pay for, and retries
// are not held back while the budget pays. Only plans show the latter.
func (p *RetryBudget) Guarantees() Promise {
	type claims struct {
		at             engine.Time
		fresh, retries int64
	}
	num, den := p.Ratio.Fraction()
	reserve, surely := eventsIn(p.MinRate, p.Window)*den, p.Window/10*9
	paid := bound.Ration{Burst: reserve, Cost: den, Claimed: num, Window: surely, Earlier: p.Window}
	return Promise{Starves: p.MinRate.Num == 0, Ration: paid, Law: func() Law {
		var of []claims // the latest window
		return ration{func(v *engine.View) (least, most int64) {
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
			switch {
			case o.Ended || o.Count == 0:
			case o.Class == engine.Fresh:
				of = append(of, claims{o.Now, int64(o.Count), 0})
			default:
				of = append(of, claims{o.Now, 0, int64(o.Count)})
			}
		}}
	}}
}

// maxEvents is the highest number of retries that a rate allows within a window, and finest the highest denominator of
// such a rate: products of the two fit in 64 bits.
const (
	maxEvents = 1_000_000_000
	finest    = 1_000_000
)

// eventsIn returns the whole number of events of rate r in d, at most maxEvents. d is at least 0.
func eventsIn(r quantity.Rate, d time.Duration) int64 {
	if r.Num == 0 {
		return 0
	}
	return min(maxEvents, quantity.Scale(int64(d), r.Num, r.Den*int64(r.Per)))
}

var tokenBucketKind = Kind{
	Name: "token-bucket", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 1, Param: "capacity", Values: []string{"10", "25", "60"}},
	Doc: "As fifo, with retries paid from a bucket of tokens in each node that starts full: a retry takes its " +
		"cost and gives it back if it succeeds; first attempts that succeed refill it (AWS SDKs). Blips are " +
		"free, outages stop retries. If no fresh job succeeds any more, an empty bucket stays empty.",
	Params: []Param{
		{Name: "capacity", Type: TypeNumber, Default: "500", Doc: "tokens in a full bucket", Amount: true},
		{Name: "cost", Type: TypeNumber, Default: "5", Doc: "tokens that a retry takes"},
		{Name: "timeout-cost", Type: TypeNumber, Default: "10",
			Doc: "tokens that a retry has cost if it fails by timeout"},
		{Name: "refill", Type: TypeNumber, Default: "1", Doc: "tokens that a first attempt adds if it succeeds"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		p := &TokenBucket{Capacity: a.Number("capacity"), Cost: a.Number("cost"),
			TimeoutCost: a.Number("timeout-cost"), Refill: a.Number("refill")}
		switch {
		case p.Cost == 0:
			return nil, errors.New("cost: 0 is not positive")
		case p.TimeoutCost < p.Cost:
			return nil, fmt.Errorf("timeout-cost: %d is less than the cost of %d", p.TimeoutCost, p.Cost)
		case p.Capacity < p.TimeoutCost:
			return nil, fmt.Errorf("capacity: %d is less than the timeout-cost of %d", p.Capacity, p.TimeoutCost)
		}
		return p, nil
	},
}

// TokenBucket is the policy token-bucket: the AWS SDKs' standard retry quota. A retry that ends in a timeout costs
// TimeoutCost in all, since the work behind a timeout may still go on. In an outage retries stop after Capacity ÷ Cost
// failures and come back only as fast as fresh jobs succeed. Each engine has a bucket of its own, so more engines hold
// more tokens: for a fleet divide Capacity by the number of engines. The SDKs charge a retry by the error that caused
// it; here another engine may have seen that one, so a retry is charged by its own error.
type TokenBucket struct {
	Capacity    int64 // most tokens in the bucket: at least Cost and TimeoutCost
	Cost        int64 // tokens for a retry: at least 1
	TimeoutCost int64 // tokens for a retry that ends in a timeout: at least Cost
	Refill      int64 // tokens returned for each success: at least 0

	spent int64 // Capacity minus the tokens in the bucket
}

// Plan appends terms that claim any job, but at most as many retries as the tokens pay for.
func (p *TokenBucket) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return capped(dst, v.Idle, int(min(int64(v.Idle), (p.Capacity-p.spent)/p.Cost)))
}

// Observe takes tokens for retries and returns tokens for successes.
func (p *TokenBucket) Observe(o *engine.Observation) {
	switch {
	case !o.Ended && o.Class == engine.Retry:
		p.spent += int64(o.Count) * p.Cost
	case o.Succeeded() && o.Class == engine.Retry:
		p.spent -= p.Cost
	case o.Succeeded():
		p.spent -= p.Refill
	case o.Failed() && o.Class == engine.Retry && o.Error == engine.Timeout:
		p.spent += p.TimeoutCost - p.Cost
	}
	p.spent = max(0, min(p.spent, p.Capacity))
}

// Guarantees returns the guarantee that every retry is paid for by a token in the bucket, and let through if it is; a
// retry may wait for ever. Only plans show the latter, and what a timeout costs.
func (p *TokenBucket) Guarantees() Promise {
	paid := bound.Ration{Burst: p.Capacity, Cost: p.Cost}
	paid.Succeeded = [engine.NumClasses]int64{engine.Fresh: p.Refill, engine.Retry: p.Cost}
	return Promise{Starves: true, Ration: paid, Law: func() Law {
		tokens := p.Capacity
		return ration{func(*engine.View) (least, most int64) {
			return tokens / p.Cost, tokens / p.Cost
		}, func(o *engine.Observation) {
			switch retry := o.Class == engine.Retry; {
			case retry && !o.Ended:
				tokens -= p.Cost * int64(o.Count)
			case retry && o.Error == engine.NoError:
				tokens += p.Cost
			case retry && o.Error == engine.Timeout:
				tokens -= p.TimeoutCost - p.Cost
			case o.Succeeded():
				tokens += p.Refill
			}
			tokens = min(max(0, tokens), p.Capacity)
		}}
	}}
}
