// Package queue has a policy for qsim and qbench, as a module of its own: TestOwnPolicy builds both commands with it.
package queue

import (
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
)

// Polite is the kind of policy that scenarios name polite.
var Polite = policies.Kind{
	Name: "polite", Cost: policies.CostNothing, State: policies.StateNode, Drawn: policies.Drawn{Weight: 1},
	Doc: "As fifo, but once a retry has failed a node claims no retries for a while: it asks a dependency that is down " +
		"only now and then.",
	Params: []policies.Param{{Name: "pause", Type: policies.TypeDuration, Default: "10s",
		Doc: "how long no retries are claimed after one has failed"}},
	New: func(a policies.Arguments) (engine.Policy, error) {
		return &polite{pause: a.Value("pause").(quantity.Duration).Std()}, nil
	},
}

type polite struct {
	pause time.Duration
	until engine.Time // no retries are claimed before
}

// Plan claims all ready jobs, but no retries during a pause.
func (p *polite) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now < p.until {
		return append(dst, engine.Term{Class: engine.Fresh, Limit: v.Idle})
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Observe begins a pause when a retry has failed.
func (p *polite) Observe(o *engine.Observation) {
	if o.Failed() && o.Class == engine.Retry {
		p.until = o.Now.Add(p.pause)
	}
}
