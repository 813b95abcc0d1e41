package world

import (
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/policies"
)

// Watch wraps the policies of nodes so that a checker verifies their plans (which jobs to claim) and their claims.
// right makes the policy that the nodes should follow, whose guarantees their plans must keep. sent reports whether the
// caller calls Checker.Claims for claims that set out and asks Checker.HasPlanned; else a plan may be under way as one.
func Watch(policy func(node int32) engine.Policy, right func() engine.Policy, c *check.Checker,
	sent bool) func(node int32) engine.Policy {
	law := policies.Guarantees(right()).Law
	return func(node int32) engine.Policy {
		p := &told{Policy: policy(node), checker: c, node: node, sent: sent}
		if law != nil {
			p.law = law()
		}
		return readsLike(p, p.Policy, Speed{1, 1})
	}
}

// reader makes a wrapped policy an engine.StatsReader, which reads statistics of the store at an interval.
type reader struct {
	engine.Policy
	every time.Duration
}

// StatsEvery returns the interval at which the policy reads statistics of the store.
func (r reader) StatsEvery() time.Duration { return r.every }

// readsLike returns wrapper, the wrapper of a policy. If the policy reads statistics of the store, so does the result,
// at the same interval, converted to a clock of the given speed.
func readsLike(wrapper, policy engine.Policy, speed Speed) engine.Policy {
	if r, ok := policy.(engine.StatsReader); ok {
		return reader{wrapper, speed.Real(r.StatsEvery())}
	}
	return wrapper
}

// told is a fetch policy wrapped for a checker, which verifies its plans (what to claim), and claims against plans.
type told struct {
	engine.Policy
	law     policies.Law // rules that the policy's plans must keep; without Plan: none
	checker *check.Checker
	node    int32
	sent    bool                   // see Watch
	most    [engine.NumClasses]int // most jobs of each class that the latest plan may claim
	got     [engine.NumClasses]int // jobs of each class that the latest claim has returned
	kinds   engine.Kinds           // kinds of jobs that the latest plan may claim
	idle    int                    // idle workers at the latest plan
	whole   bool                   // the terms of the latest plan are for all jobs of a class
	// allows holds, by class, how many jobs the latest plan may claim by terms that take any ready job of the class.
	allows [engine.NumClasses + 1]int
	left   bool // the latest claim may have left ready jobs of a class
	goesOn bool // workers are idle and jobs may be left: the engine must plan again at once
}

func (t *told) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	from := len(dst)
	dst = t.Policy.Plan(v, dst)
	terms, kinds, whole := dst[from:], engine.Kinds(0), true
	t.allows = [engine.NumClasses + 1]int{}
	for i := range terms {
		term := &terms[i]
		if kinds |= term.Kinds; term.Kinds == 0 {
			kinds = ^engine.Kinds(0)
		}
		if term.Kinds != 0 || term.Tenant != 0 || term.PerTenant != 0 {
			whole = false
			continue
		}
		if term.MaxWait == 0 || term.Shed > 0 {
			t.allows[term.Class] += min(term.Limit, v.Idle)
		}
		if term.Class == engine.AnyClass || term.Rule != nil || term.MaxWait != 0 || term.Shed != 0 {
			whole = false
		}
	}
	if t.sent {
		t.checker.Planned(t.node, v.Now)
	} else if len(terms) > 0 {
		t.checker.Claims(t.node, true)
	}
	t.kinds, t.idle, t.whole, t.goesOn = kinds, v.Idle, whole, false
	t.most[engine.Fresh], t.most[engine.Retry] = policies.Asked(v, terms)
	if t.law.Plan != nil {
		if wrong := t.law.Plan(v, terms); wrong != "" {
			t.checker.Complain(check.Shares, 0, "node %d: %s", t.node, wrong)
		}
	}
	return dst
}

func (t *told) Observe(o *engine.Observation) {
	if t.goesOn {
		t.checker.Complain(check.Idleness, 0,
			"node %d has room, claimed %v of %d jobs (fresh, retry), planned %v, and plans no more",
			t.node, t.got, t.idle, t.most)
	}
	if o.Ended {
		t.checker.Told(t.node)
		t.goesOn = t.left && o.Error != engine.Timeout && t.checker.MayClaim(t.node) // a worker is free
	} else {
		t.note(o)
	}
	t.Policy.Observe(o)
	if t.law.Observe != nil {
		t.law.Observe(o)
	}
}

// note verifies and records how many jobs the latest claim returned. If fewer than it might return, it left none that
// was ready. If as many as planned, and workers are still idle, more jobs may be ready, and the checker expects the
// node to plan another claim at once.
func (t *told) note(o *engine.Observation) {
	t.got = o.Claimed
	for class, n := range t.got[:] {
		if n > t.most[class] {
			t.checker.Complain(check.Shares, 0, "node %d claimed %d %v jobs, and had planned %d at the most",
				t.node, n, engine.Class(class), t.most[class])
		}
	}
	if others := o.Kinds &^ t.kinds; others != 0 {
		t.checker.Complain(check.Shares, 0, "node %d claimed jobs of kinds %b, and had planned %b",
			t.node, others, t.kinds)
	}
	t.checker.Claims(t.node, false)
	total := t.got[engine.Fresh] + t.got[engine.Retry]
	more := t.got[engine.Fresh] >= t.allows[engine.Fresh] || t.got[engine.Retry] >= t.allows[engine.Retry]
	t.left = total >= t.idle || more && total >= t.allows[engine.AnyClass]
	if t.whole && 0 < total && total < t.idle {
		for class, n := range t.got[:] {
			t.goesOn = t.goesOn || n > 0 && n == t.most[class] && t.checker.MayClaim(t.node)
		}
	}
}
