package world

import (
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/policies"
)

// Watch wraps the policies of nodes so that a checker verifies their plans against right, a reference instance of each
// policy, and against the policy's guarantees.
func Watch(policy func(node int32) engine.Policy, right func() engine.Policy, c *check.Checker) func(node int32) engine.Policy {
	law := policies.Guarantees(right()).Law
	return func(node int32) engine.Policy {
		p := &told{Policy: policy(node), checker: c, node: node}
		if law != nil {
			p.law = law()
		}
		if r, ok := p.Policy.(engine.StatsReader); ok {
			return struct {
				*told
				stats
			}{p, stats{r}}
		}
		return p
	}
}

// stats adds engine.StatsReader to the wrapper of a policy that reads statistics of the store.
type stats struct{ reader engine.StatsReader }

// StatsEvery implements engine.StatsReader.
func (s stats) StatsEvery() time.Duration { return s.reader.StatsEvery() }

// told is a fetch policy wrapped for a checker, which verifies its plans, and its observations against the plans.
type told struct {
	engine.Policy
	law     policies.Law // law of the policy's plans; nil: none
	checker *check.Checker
	node    int32
	most    [engine.NumClasses]int // most jobs of each class that the latest plan may claim
}

// Plan implements engine.Policy.
func (t *told) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	from := len(dst)
	dst = t.Policy.Plan(v, dst)
	for class := range t.most {
		t.most[class] = policies.Asked(v, dst[from:], engine.Class(class))
	}
	if t.law != nil {
		if wrong := t.law.Plan(v, dst[from:]); wrong != "" {
			t.checker.Complain(check.Shares, 0, "node %d: %s", t.node, wrong)
		}
	}
	return dst
}

// Observe implements engine.Policy.
func (t *told) Observe(o *engine.Observation) {
	if o.Ended {
		t.checker.Told(t.node)
	} else if o.Count > t.most[o.Class] {
		t.checker.Complain(check.Shares, 0, "node %d claimed %d %v jobs, and had planned %d at the most",
			t.node, o.Count, o.Class, t.most[o.Class])
	}
	t.Policy.Observe(o)
	if t.law != nil {
		t.law.Observe(o)
	}
}
