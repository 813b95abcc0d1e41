package world

import (
	"time"

	"qsim/engine"
)

// fastRetry is a retry policy of a scenario in an engine that runs speed times as fast: it converts times to the
// scenario's before each decision, and the decided delay back.
type fastRetry struct {
	engine.RetryPolicy
	speed Speed
}

// Next returns the retry policy's decision after a failure, with its delay on the wall clock.
func (r fastRetry) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	slow := *j
	slow.Age, slow.Waited, slow.LastDelay = r.speed.Virtual(j.Age), r.speed.Virtual(j.Waited), r.speed.Virtual(j.LastDelay)
	verb, delay := r.RetryPolicy.Next(&slow, e, u)
	return verb, r.speed.Real(delay)
}

// fastPolicy is a policy of a scenario in an engine that runs speed times as fast: the policy sees times of the
// scenario, and times in its plans are converted to those of the engine.
type fastPolicy struct {
	engine.Policy
	speed Speed
	view  engine.View
	seen  engine.Observation
	rules map[*engine.Rule]*engine.Rule // converted rules, kept since a rule must not change once a plan has used it
}

func newFastPolicy(p engine.Policy, speed Speed) engine.Policy {
	fast := &fastPolicy{Policy: p, speed: speed, rules: map[*engine.Rule]*engine.Rule{}}
	return readsLike(fast, p, speed)
}

func (p *fastPolicy) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.view = *v
	p.view.Now = p.speed.At(v.Now)
	for class, oldest := range v.Store.OldestReady {
		p.view.Store.OldestReady[class] = p.speed.Virtual(oldest)
	}
	if v.StatsAge > 0 {
		p.view.StatsAge = p.speed.Virtual(v.StatsAge)
	}
	first := len(dst)
	dst = p.Policy.Plan(&p.view, dst)
	for i := first; i < len(dst); i++ {
		t := &dst[i]
		t.MaxWait = p.speed.Real(t.MaxWait)
		if t.Rule != nil {
			t.Rule = p.rule(t.Rule)
		}
	}
	return dst
}

// rule returns the parameters of a claim order with its times converted to the wall clock.
func (p *fastPolicy) rule(r *engine.Rule) *engine.Rule {
	fast := p.rules[r]
	if fast == nil {
		own := onWall(p.speed, *r)
		if !r.PerJob {
			own.Quantum = int64(p.speed.Real(time.Duration(r.Quantum)))
		}
		fast = &own
		p.rules[r] = fast
	}
	return fast
}

func (p *fastPolicy) Observe(o *engine.Observation) {
	p.seen = *o
	p.seen.Now = p.speed.At(o.Now)
	p.Policy.Observe(&p.seen)
}
