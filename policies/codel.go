package policies

import (
	"fmt"
	"time"

	"qsim/engine"
)

var _ = builtIn(Kind{
	rank: 140, Name: "codel", Cost: CostNothing, State: StateNode,
	Drawn: Drawn{Weight: 1, Params: []string{"target: 500ms", "target: 2s", "target: 4s, interval: 5s"}},
	Doc: "As fifo, with a bound on the wait while the queue never empties: jobs may wait for interval if the " +
		"queue of the node was found empty within the last interval (a burst), else for target only (a standing " +
		"queue). What has waited longer is buried, at a claim and without an attempt, or served after everything " +
		"else. Under overload what is served was served soon. No worker idles for it.",
	Params: []Param{
		{Name: "target", Type: TypeDuration, Default: "5s", Positive: true,
			Doc: "longest wait while there is a standing queue"},
		{Name: "interval", Type: TypeDuration, Default: "1m",
			Doc: "longest wait otherwise, and how long an empty queue is remembered; at least target"},
		{Name: "then", Type: TypeChoice, Default: "bury", Choices: []string{"bury", "last"},
			Doc: "what becomes of jobs that have waited longer: bury gives them up, last serves them after all " +
				"others"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		p := &CoDel{Target: a.Duration("target"), Interval: a.Duration("interval"), Last: a.Value("then") == "last"}
		if p.Interval < p.Target {
			return nil, fmt.Errorf("interval: %v is less than the target of %v", p.Interval, p.Target)
		}
		return p, nil
	},
})

// CoDel is the policy codel, controlled delay as in Maurer, Fail at Scale, ACM Queue 13, 2015, after Nichols and
// Jacobson: jobs that have waited too long are buried, or with Last claimed last. Too long is Interval, but Target once
// the queue has not been empty for an Interval. It depends on time in the queue, not on the cost of jobs. Each engine
// notes from its own claims when the queue was last empty; engines of one queue come to agree on it.
type CoDel struct {
	Target   time.Duration // longest wait in a standing queue: above 0
	Interval time.Duration // time without an empty queue after which Target applies: at least Target
	Last     bool          // claim late jobs last instead of burying them

	begun   bool
	emptyAt engine.Time // time at which a claim last emptied the queue, or of the first plan
	limit   int         // most claims of the latest plan; 0: it is answered
}

// shedAtOnce is the most late jobs that one claim of codel buries; it claims further ones like any other job.
const shedAtOnce = 1000

// Plan appends a term (part of a claim) for any jobs, which buries late ones, or with Last claims them last.
func (p *CoDel) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if !p.begun {
		p.begun, p.emptyAt = true, v.Now
	}
	p.limit = v.Idle
	term := engine.Term{Class: engine.AnyClass, MaxWait: p.Target, Limit: v.Idle}
	if v.Now.Sub(p.emptyAt) <= p.Interval {
		term.MaxWait = p.Interval
	}
	if !p.Last {
		term.Shed = shedAtOnce
		return append(dst, term)
	}
	return append(dst, term, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Observe records when the queue was empty: at the answer to a plan that claimed fewer jobs than its limit.
func (p *CoDel) Observe(o *engine.Observation) {
	if o.Ended {
		return
	}
	if totalClaimed(o) < p.limit {
		p.emptyAt = o.Now
	}
	p.limit = 0
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, and claims apply the bound on
// waits. Without Last, jobs that have waited for longer than Target may be buried (moved to the dead-letter set), all
// that have waited for longer than Interval are, up to shedAtOnce a claim, and no others within Interval after the
// queue was empty. The rest, and with Last the whole bound, is verified by a Law (plan checker).
func (p *CoDel) Guarantees() Promise {
	g := Promise{Conserving: true, Law: func() Law {
		emptyAt, limit := engine.Never, 0
		return Law{Plan: func(v *engine.View, terms []engine.Term) string {
			if emptyAt == engine.Never {
				emptyAt = v.Now
			}
			limit = v.Idle
			want, rest := p.Target, 0
			if v.Now <= emptyAt.Add(p.Interval) {
				want = p.Interval
			}
			if p.Last {
				rest = 1
			}
			switch {
			case len(terms) != 1+rest || terms[0].MaxWait != want || terms[0].Shed > 0 == p.Last || terms[0].Limit < v.Idle:
			case p.Last && (terms[1].MaxWait > 0 || terms[1].Limit < v.Idle):
			default:
				return ""
			}
			return fmt.Sprintf("the queue was empty %v ago, and a plan for %d jobs is %+v", v.Now.Sub(emptyAt), v.Idle, terms)
		}, Observe: func(o *engine.Observation) {
			if !o.Ended && totalClaimed(o) < limit {
				emptyAt = o.Now
			}
		}}
	}}
	if !p.Last {
		g.Sheds, g.Interval, g.Buries = p.Target, p.Interval, shedAtOnce
	}
	return g
}
