package policies

import (
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
)

// lawful is a policy checked against its own law, or that of another.
type lawful struct {
	engine.Policy
	law    Law
	breach string // the first
}

func (p *lawful) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	dst = p.Policy.Plan(v, dst)
	if wrong := p.law.Plan(v, dst); wrong != "" && p.breach == "" {
		p.breach = fmt.Sprintf("at %v: %s", time.Duration(v.Now), wrong)
	}
	return dst
}

func (p *lawful) Observe(o *engine.Observation) {
	p.Policy.Observe(o)
	if p.law.Observe != nil {
		p.law.Observe(o)
	}
}

// breach runs a policy through a random life and returns how it first breaks a law.
func breach(policy engine.Policy, law Law) string {
	p := &lawful{Policy: policy, law: law}
	w := newWorker(p, testWorkers)
	for n := range uint64(testSteps) {
		w.step(keyed.Rand{Seed: 3}, n)
	}
	return p.breach
}

// TestLaws holds every policy that has a law to it.
func TestLaws(t *testing.T) {
	held := 0
	for _, variant := range variants() {
		law := Guarantees(newPolicy(t, variant.kind, variant.values, testWorkers)).Law
		if law == nil {
			continue
		}
		held++
		if wrong := breach(newPolicy(t, variant.kind, variant.values, testWorkers), law()); wrong != "" {
			t.Errorf("%s %v %s", variant.kind, variant.values, wrong)
		}
	}
	if held < 15 {
		t.Errorf("%d variants have a law", held)
	}
}

// TestBrokenLaws has policies take the place of others, each a little wrong: the law finds it.
func TestBrokenLaws(t *testing.T) {
	budget := RetryBudget{Ratio: quantity.Percent(20), MinRate: quantity.Rate{Num: 1, Den: 1, Per: 1e9}, Window: 5e9}
	bucket := TokenBucket{Capacity: 50, Cost: 5, TimeoutCost: 10, Refill: 1}
	breaker := Breaker{Failures: 4, ProbeAfter: time.Second, Kinds: []engine.Kinds{3}, Others: 4}
	codel := CoDel{Target: time.Second, Interval: 5 * time.Second}
	for name, tt := range map[string]struct {
		right Guarantor
		wrong engine.Policy
	}{
		"budget, ratio":     {&budget, &RetryBudget{Ratio: quantity.Percent(21), MinRate: budget.MinRate, Window: budget.Window}},
		"budget, less":      {&budget, &RetryBudget{Ratio: quantity.Percent(10), MinRate: budget.MinRate, Window: budget.Window}},
		"budget, rate":      {&budget, &RetryBudget{Ratio: budget.Ratio, MinRate: quantity.Rate{Num: 2, Den: 1, Per: 1e9}, Window: budget.Window}},
		"budget, window":    {&budget, &RetryBudget{Ratio: budget.Ratio, MinRate: quantity.Rate{Num: 5, Den: 4, Per: 1e9}, Window: 4e9}},
		"bucket, capacity":  {&bucket, &TokenBucket{Capacity: 55, Cost: 5, TimeoutCost: 10, Refill: 1}},
		"bucket, timeout":   {&bucket, &TokenBucket{Capacity: 50, Cost: 5, TimeoutCost: 5, Refill: 1}},
		"bucket, refill":    {&bucket, &TokenBucket{Capacity: 50, Cost: 5, TimeoutCost: 10, Refill: 2}},
		"cap, one less":     {InFlightCap{Retries: 5}, InFlightCap{Retries: 4}},
		"cap, one more":     {InFlightCap{Retries: 5}, InFlightCap{Retries: 6}},
		"aimd, minimum":     {&AIMD{Min: 2, Max: 20}, &AIMD{Min: 6, Max: 20}},
		"aimd, fixed":       {&AIMD{Min: 2, Max: 20}, InFlightCap{Retries: 20}},
		"breaker, failures": {&breaker, &Breaker{Failures: 5, ProbeAfter: time.Second, Kinds: breaker.Kinds, Others: 4}},
		"breaker, early":    {&breaker, &Breaker{Failures: 4, ProbeAfter: time.Second * 9 / 10, Kinds: breaker.Kinds, Others: 4}},
		"breaker, late":     {&breaker, &Breaker{Failures: 4, ProbeAfter: 2 * time.Second, Kinds: breaker.Kinds, Others: 4}},
		"breaker, all":      {&breaker, &Breaker{Failures: 4, ProbeAfter: time.Second, Kinds: []engine.Kinds{7}}},
		"codel, exchanged":  {&codel, &CoDel{Target: codel.Interval, Interval: codel.Target}},
		"codel, last":       {&codel, &CoDel{Target: codel.Target, Interval: codel.Interval, Last: true}},
		"codel, no burst":   {&codel, &CoDel{Target: codel.Target, Interval: codel.Target}},
		"adaptive-lifo":     {AdaptiveLIFO{OlderThan: 5 * time.Second}, AdaptiveLIFO{OlderThan: 6 * time.Second}},
		"split":             {&Split{Priority: quantity.Percent(80)}, &Split{Priority: quantity.Percent(75)}},
		"queues, weights":   {NewQueues([]int64{5, 1, 2}), NewQueues([]int64{1, 1, 1})},
		"queues, a class":   {NewQueues([]int64{5, 1, 2}), NewQueues([]int64{5, 1})},
		"bernoulli":         {Bernoulli{Fresh: quantity.Percent(80)}, Bernoulli{Fresh: quantity.Percent(70)}},
		"separate, workers": {&Separate{RetryWorkers: 4}, &Separate{RetryWorkers: 5}},
		"separate, polls":   {&Separate{RetryWorkers: 4}, &Separate{RetryWorkers: 4, RetryPoll: time.Second}},
	} {
		if wrong := breach(tt.wrong, tt.right.Guarantees().Law()); wrong == "" {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
