package policies_test

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/policies"
)

// Polite is a user's own policy: it claims no retries for Pause after one has failed, so that a
// dependency that is down gets few calls.
type Polite struct {
	Pause time.Duration
	until engine.Time
}

func (p *Polite) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now < p.until {
		return append(dst, engine.Term{Class: engine.Fresh, Limit: v.Idle})
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (p *Polite) Observe(o *engine.Observation) {
	if o.Failed() && o.Class == engine.Retry {
		p.until = o.Now.Add(p.Pause)
	}
}

func Example() {
	var policy engine.Policy = &Polite{Pause: 10 * time.Second}
	at := func(now time.Duration) {
		view := engine.View{Now: engine.Time(now), Workers: 8, Idle: 3}
		for _, term := range policy.Plan(&view, nil) {
			fmt.Println(now, term.Class, term.Limit)
		}
	}
	at(1 * time.Second)
	policy.Observe(&engine.Observation{Now: engine.Time(2 * time.Second), Ended: true, Class: engine.Retry, Error: engine.Timeout})
	at(3 * time.Second)
	at(12 * time.Second)
	// Output:
	// 1s any 3
	// 3s fresh 3
	// 12s any 3
}

func ExampleNew() {
	share, err := policies.ParseValue(policies.TypeShare, "75%")
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := policies.New("weighted", map[string]policies.Value{"fresh": share}, 100, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	view := engine.View{Workers: 100, Idle: 10}
	for _, term := range policy.Plan(&view, nil) {
		fmt.Println(term.Class, term.Limit)
	}
	// Output:
	// fresh 8
	// retry 2
	// any 10
}

func ExampleBackoff() {
	backoff := policies.Backoff{
		Kind: policies.Exponential, First: 500 * time.Millisecond, Factor: 2, Max: 30 * time.Second,
		Jitter: policies.Jitter{Kind: policies.Full}, MaxAttempts: 4,
	}
	for failures := range int32(4) {
		job := engine.Job{Delivery: failures + 1, Charged: failures + 1, Failures: failures}
		fmt.Println(backoff.Next(&job, engine.Timeout, 0.5))
	}
	// Output:
	// nack 250ms
	// nack 500ms
	// nack 1s
	// bury 0s
}
