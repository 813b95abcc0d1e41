package policies

import (
	"fmt"

	"qsim/engine"
	"qsim/engine/bound"
)

var _ = builtIn(Kind{
	rank: 100, Name: "token-bucket", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 1, Params: []string{"capacity: 10", "capacity: 25", "capacity: 60"}},
	Doc: "As fifo, with retries paid from a bucket of tokens in each node that starts full: a retry takes its " +
		"cost and gives it back if it succeeds; first attempts that succeed refill it (AWS SDKs). Blips are " +
		"free, outages stop retries. If no fresh job succeeds any more, an empty bucket stays empty.",
	Params: []Param{
		{Name: "capacity", Type: TypeNumber, Default: "500", Doc: "tokens in a full bucket", Amount: true},
		{Name: "cost", Type: TypeNumber, Default: "5", Positive: true, Doc: "tokens that a retry takes"},
		{Name: "timeout-cost", Type: TypeNumber, Default: "10",
			Doc: "tokens that a retry has cost if it fails by timeout"},
		{Name: "refill", Type: TypeNumber, Default: "1", Doc: "tokens that a first attempt adds if it succeeds"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		p := &TokenBucket{Capacity: a.Number("capacity"), Cost: a.Number("cost"),
			TimeoutCost: a.Number("timeout-cost"), Refill: a.Number("refill")}
		switch {
		case p.TimeoutCost < p.Cost:
			return nil, fmt.Errorf("timeout-cost: %d is less than the cost of %d", p.TimeoutCost, p.Cost)
		case p.Capacity < p.TimeoutCost:
			return nil, fmt.Errorf("capacity: %d is less than the timeout-cost of %d", p.Capacity, p.TimeoutCost)
		}
		return p, nil
	},
})

// TokenBucket is the policy token-bucket, the AWS SDKs' standard retry quota: a retry takes Cost tokens from a bucket
// that starts full, successes refill it. A timeout costs TimeoutCost in all, since the work behind it may still go on.
// In an outage retries stop after Capacity ÷ Cost failures and come back only as fast as fresh jobs succeed. Each
// engine has a bucket of its own: for a fleet divide Capacity by the number of engines. The SDKs charge a retry by the
// error that caused it; here another engine may have seen that one, so a retry is charged by its own error.
type TokenBucket struct {
	Capacity    int64 // most tokens in the bucket: at least Cost and TimeoutCost
	Cost        int64 // tokens for a retry: at least 1
	TimeoutCost int64 // tokens for a retry that ends in a timeout: at least Cost
	Refill      int64 // tokens added for each fresh job that succeeds: at least 0

	spent int64 // Capacity minus the tokens in the bucket
}

// Plan appends terms (parts of a claim) for any jobs, but for at most as many retries as the tokens pay for.
func (p *TokenBucket) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return capped(dst, v.Idle, int(min(int64(v.Idle), (p.Capacity-p.spent)/p.Cost)))
}

// Observe takes tokens for retries claimed, more if they time out, and returns tokens for executions that succeed.
func (p *TokenBucket) Observe(o *engine.Observation) {
	switch {
	case !o.Ended:
		p.spent += int64(o.Claimed[engine.Retry]) * p.Cost
	case o.Succeeded() && o.Class == engine.Retry:
		p.spent -= p.Cost
	case o.Succeeded():
		p.spent -= p.Refill
	case o.Failed() && o.Class == engine.Retry && o.Error == engine.Timeout:
		p.spent += p.TimeoutCost - p.Cost
	}
	p.spent = max(0, min(p.spent, p.Capacity))
}

// Guarantees declares for the invariant checker: every retry is paid for by tokens in the bucket, and claimed if it can
// be; a retry may wait for ever. That it is claimed, and the cost of a timeout, is verified by a Law (plan checker).
func (p *TokenBucket) Guarantees() Promise {
	paid := bound.Ration{Burst: p.Capacity, Cost: p.Cost}
	paid.Succeeded = [engine.NumClasses]int64{engine.Fresh: p.Refill, engine.Retry: p.Cost}
	return Promise{Starves: true, Ration: paid, Law: func() Law {
		tokens := p.Capacity
		return ration(func(*engine.View) (least, most int64) {
			return tokens / p.Cost, tokens / p.Cost
		}, func(o *engine.Observation) {
			switch retry := o.Class == engine.Retry; {
			case !o.Ended:
				tokens -= p.Cost * int64(o.Claimed[engine.Retry])
			case retry && o.Error == engine.NoError:
				tokens += p.Cost
			case retry && o.Error == engine.Timeout:
				tokens -= p.TimeoutCost - p.Cost
			case o.Error == engine.NoError:
				tokens += p.Refill
			}
			tokens = min(max(0, tokens), p.Capacity)
		})
	}}
}
