package chaos

import (
	"slices"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
)

// instead returns a plant, see bug, that replaces the fetch policy of worlds whose policy has type P.
func instead[P engine.Policy](wrong func(right P) engine.Policy) func(*setup) {
	return policy(func(_ *setup, right P) engine.Policy { return wrong(right) })
}

// misread returns a plant, see bug, by which engine and checker take the scenario's policy, if of type P, for another:
// only what the scenario's own policy promises of events can show it.
func misread[P engine.Policy](wrong func(right P) engine.Policy) func(*setup) {
	return func(s *setup) {
		asked := s.Policy
		s.Policy = func() engine.Policy {
			if right, ok := asked().(P); ok {
				return wrong(right)
			}
			return asked()
		}
		s.config.Policy = func(int32) engine.Policy { return s.Policy() }
	}
}

// ordered returns a plant, see bug, that replaces the fetch policy of worlds whose policy claims in the given order.
func ordered(order engine.Order, wrong engine.Policy) func(*setup) {
	return instead(func(right policies.Ordered) engine.Policy {
		if right.Order == order {
			return wrong
		}
		return right
	})
}

// inLine is a policy that asks for jobs of one job class after another, always in the same order.
type inLine struct {
	policies.FIFO
	kinds int
}

func (p inLine) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	for k := range p.kinds {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Kinds: engine.Kinds(0).With(engine.Kind(k)), Limit: v.Idle})
	}
	return dst
}

// freshLane is the policy separate, with workers for fresh jobs and for retries, but fills those for fresh jobs first.
type freshLane struct {
	policies.FIFO
	retries int
}

func (p freshLane) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	for class, n := range [engine.NumClasses]int{v.Workers - p.retries, p.retries} {
		if room := min(v.Idle, n-v.InFlight[class]); room > 0 {
			dst = append(dst, engine.Term{Class: engine.Class(class), Limit: room})
		}
	}
	return dst
}

// policyBugs lists fetch policies that break their guarantees, to be planted by TestPlantedBugs.
var policyBugs = []bug{
	{name: "a retry budget pays for one retry more", plant: instead(func(right *policies.RetryBudget) engine.Policy {
		return &policies.RetryBudget{Ratio: right.Ratio, MinRate: quantity.Rate{Num: right.MinRate.Num + 1, Den: right.MinRate.Den, Per: right.MinRate.Per}, Window: right.Window}
	})},
	{name: "a retry budget forgets too late", plant: instead(func(right *policies.RetryBudget) engine.Policy {
		return &policies.RetryBudget{Ratio: right.Ratio, MinRate: quantity.Rate{Num: right.MinRate.Num, Den: 2 * right.MinRate.Den, Per: right.MinRate.Per}, Window: 2 * right.Window}
	})},
	{name: "a retry budget has another ratio", plant: instead(func(right *policies.RetryBudget) engine.Policy {
		return &policies.RetryBudget{Ratio: quantity.Percent(10), MinRate: right.MinRate, Window: right.Window}
	})},
	{name: "a retry budget is that of another queue", plant: misread(func(right *policies.RetryBudget) engine.Policy {
		rate := quantity.Rate{Num: 10 * right.MinRate.Num, Den: right.MinRate.Den, Per: right.MinRate.Per}
		return &policies.RetryBudget{Ratio: quantity.Percent(100), MinRate: rate, Window: right.Window}
	})},
	{name: "a bucket is that of ten processes", plant: misread(func(right *policies.TokenBucket) engine.Policy {
		return &policies.TokenBucket{Capacity: 10 * right.Capacity, Cost: right.Cost, TimeoutCost: right.TimeoutCost, Refill: right.Refill}
	})},
	{name: "a breaker is read as one that hardly ever opens", plant: misread(func(right *policies.Breaker) engine.Policy {
		return &policies.Breaker{Failures: 100, ProbeAfter: right.ProbeAfter, Kinds: right.Kinds, Others: right.Others}
	})},
	{name: "a breaker is read as one that tries twice as often", plant: misread(func(right *policies.Breaker) engine.Policy {
		return &policies.Breaker{Failures: right.Failures, ProbeAfter: right.ProbeAfter / 2, Kinds: right.Kinds, Others: right.Others}
	})},
	{name: "codel takes a burst for a standing queue", plant: misread(func(right *policies.CoDel) engine.Policy {
		return &policies.CoDel{Target: right.Target, Interval: right.Target}
	})},
	{name: "codel is read as one that buries nothing", plant: misread(func(right *policies.CoDel) engine.Policy {
		return &policies.CoDel{Target: right.Target, Interval: right.Interval, Last: true}
	})},
	{name: "the lanes of workers are read as a cap on retries", plant: misread(func(right *policies.Separate) engine.Policy {
		return policies.InFlightCap{Retries: right.RetryWorkers}
	})},
	{name: "a claim brings jobs that the plan is not for", plant: store(func(_ *setup, t *tampered) {
		t.limit = func(_ engine.EngineID, plan engine.Plan) engine.Plan {
			plan.Terms = slices.Clone(plan.Terms)
			for i := range plan.Terms {
				plan.Terms[i].Kinds = 0
			}
			return plan
		}
	})},
	{name: "a bucket holds twice its tokens", plant: instead(func(right *policies.TokenBucket) engine.Policy {
		return &policies.TokenBucket{Capacity: 2 * right.Capacity, Cost: right.Cost, TimeoutCost: right.TimeoutCost, Refill: right.Refill}
	})},
	{name: "a timeout costs no more tokens than another failure", plant: instead(func(right *policies.TokenBucket) engine.Policy {
		return &policies.TokenBucket{Capacity: right.Capacity, Cost: right.Cost, TimeoutCost: right.Cost, Refill: right.Refill}
	})},
	{name: "a cap that failures lower stays where it is", plant: instead(func(right *policies.AIMD) engine.Policy {
		return policies.InFlightCap{Retries: right.Max}
	})},
	{name: "a cap is not used to the full", plant: instead(func(right policies.InFlightCap) engine.Policy {
		return policies.InFlightCap{Retries: right.Retries - 1}
	})},
	{name: "a breaker opens one failure late", plant: instead(func(right *policies.Breaker) engine.Policy {
		return &policies.Breaker{Failures: right.Failures + 1, ProbeAfter: right.ProbeAfter, Kinds: right.Kinds, Others: right.Others}
	})},
	{name: "a breaker tries too early", plant: instead(func(right *policies.Breaker) engine.Policy {
		return &policies.Breaker{Failures: right.Failures, ProbeAfter: right.ProbeAfter * 9 / 10, Kinds: right.Kinds, Others: right.Others}
	})},
	{name: "one breaker for all dependencies", plant: instead(func(right *policies.Breaker) engine.Policy {
		all := right.Others
		for _, kinds := range right.Kinds {
			all |= kinds
		}
		return &policies.Breaker{Failures: right.Failures, ProbeAfter: right.ProbeAfter, Kinds: []engine.Kinds{all}}
	})},
	{name: "the bounds of codel change places", plant: instead(func(right *policies.CoDel) engine.Policy {
		return &policies.CoDel{Target: right.Interval, Interval: right.Target, Last: right.Last}
	})},
	{name: "codel forgets that the queue was empty", plant: instead(func(right *policies.CoDel) engine.Policy {
		return &policies.CoDel{Target: right.Target, Interval: right.Target, Last: right.Last}
	})},
	{name: "what is late is served last, not buried", plant: instead(func(right *policies.CoDel) engine.Policy {
		return &policies.CoDel{Target: right.Target, Interval: right.Interval, Last: true}
	})},
	{name: "the newest job comes first however short the waits", plant: instead(func(policies.AdaptiveLIFO) engine.Policy { return policies.Ordered{Order: engine.NewestReady} })},
	{name: "a split of claims is not carried", plant: instead(func(right *policies.Split) engine.Policy {
		return uncarried{share: right.Priority}
	})},
	{name: "classes are tried in one order", plant: instead(func(right *policies.Queues) engine.Policy { return inLine{kinds: len(right.Weights)} })},
	{name: "a lane has another's worker", plant: instead(func(right *policies.Separate) engine.Policy {
		return &policies.Separate{RetryWorkers: right.RetryWorkers + 1, RetryPoll: right.RetryPoll}
	})},
	{name: "lanes take no turns", plant: instead(func(right *policies.Separate) engine.Policy { return freshLane{retries: right.RetryWorkers} })},
	{name: "fresh jobs do not come first", plant: instead(func(policies.FreshFirst) engine.Policy { return policies.FIFO{} })},
	{name: "retries do not come first", plant: instead(func(policies.RetryFirst) engine.Policy { return policies.FIFO{} })},
	{name: "a coin is tossed the wrong way", plant: instead(func(right policies.Bernoulli) engine.Policy {
		num, den := right.Fresh.Fraction()
		return policies.Bernoulli{Fresh: quantity.Fraction(den-num, den)}
	})},
	{name: "deadlines are not looked at", plant: ordered(engine.Deadline, policies.Ordered{Order: engine.NewestReady})},
	{name: "nobody gains by waiting", plant: ordered(engine.Aging, policies.FIFO{})},
	{name: "tenants take no turns", plant: ordered(engine.TenantRoundRobin, policies.FIFO{})},
	{name: "tenants get service as they ask for it", plant: ordered(engine.TenantDeficit, policies.FIFO{})},
	{name: "a noisy tenant is served as any other", plant: ordered(engine.TenantFair, policies.FIFO{})},
}

// uncarried is the policy split without its carry: fractions of a worker are lost instead of kept for the next claim.
type uncarried struct {
	policies.FIFO
	share quantity.Share
}

func (p uncarried) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return (&policies.Split{Priority: p.share}).Plan(v, dst)
}

func init() { bugs = append(bugs, policyBugs...) }

// TestCapStaysLow checks that the policy aimd, whose cap on retries failures lower, breaks nothing in drawn worlds, and
// that a cap which stays in its place is found in at least one of twenty.
func TestCapStaysLow(t *testing.T) {
	kept := misread(func(right *policies.AIMD) engine.Policy { return policies.InFlightCap{Retries: right.Max} })
	found := 0
	for seed := uint64(1); seed <= 100; seed++ {
		w := Draw(seed)
		at := strings.Index(w.Text, "policies:")
		w, err := Parse("world", w.Text[:at]+"policies: [{kind: aimd}]\n")
		if err != nil {
			t.Fatal(err)
		}
		if report := w.Run(0, false); report.Failed() {
			t.Errorf("seed %d: %s", seed, report.String())
		}
		r := runner{plant: kept}
		if report := r.run(w, false); report.Failed() {
			if found++; !strings.Contains(report.String(), "failures in a row") {
				t.Errorf("seed %d: %s", seed, report.String())
			}
		}
	}
	if found < 5 {
		t.Errorf("it is found in %d worlds of 100", found)
	}
}
