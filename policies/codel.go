package policies

import (
	"time"

	"qsim/engine"
)

// CoDel bounds how long jobs may wait while the queue never empties. While the queue has
// been found empty within the last Interval, a job may wait for Interval: that is a burst,
// and it will be worked off. Otherwise there is a standing queue, and a job may wait for
// Target only. What has waited longer is buried, or with Last served after everything else
// (controlled delay as in Maurer, Fail at Scale, ACM Queue 13, 2015, after Nichols and
// Jacobson). It promises that under overload what is served was served soon. It is
// work-conserving: what is late is served last or given up, never left for want of a
// worker. It goes by time in the queue, not by the cost of jobs. When the queue was last
// found empty is what its own claims have shown: state of the engine's own, which engines
// of one queue come to agree on.
type CoDel struct {
	Target   time.Duration // above 0
	Interval time.Duration // at least Target
	Last     bool          // serve late jobs last instead of burying them

	begun   bool
	emptyAt engine.Time // when a claim last left nothing, or the first plan was made
	// The latest plan, until it is answered: its size; 0: none.
	limit    int
	claimed  [engine.NumClasses]int
	answered [engine.NumClasses]bool
}

// Plan appends a term for everything that buries what is late; or one for what is not
// late, and one for the rest.
func (p *CoDel) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if !p.begun {
		p.begun, p.emptyAt = true, v.Now
	}
	p.limit, p.answered = v.Idle, [engine.NumClasses]bool{}
	term := engine.Term{Class: engine.AnyClass, MaxWait: p.Target, Limit: v.Idle}
	if v.Now.Sub(p.emptyAt) <= p.Interval {
		term.MaxWait = p.Interval
	}
	if !p.Last {
		term.Late = engine.ShedLate
		return append(dst, term)
	}
	return append(dst, term, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Observe notes when a plan brought less than it asked for: then nothing was left.
func (p *CoDel) Observe(o *engine.Observation) {
	if o.Kind != engine.Claimed || p.limit == 0 {
		return
	}
	p.claimed[o.Class], p.answered[o.Class] = o.Count, true
	if !p.answered[engine.Fresh] || !p.answered[engine.Retry] {
		return
	}
	if p.claimed[engine.Fresh]+p.claimed[engine.Retry] < p.limit {
		p.emptyAt = o.Now
	}
	p.limit = 0
}
