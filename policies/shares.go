package policies

import (
	"fmt"
	"math"

	"qsim/engine"
	"qsim/engine/quantity"
)

var weightedKind = Kind{
	Name: "weighted", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 2, Param: "fresh", Values: []string{"20%", "50%", "67%", "80%", "90%"}},
	Doc: "A fixed share of all claims for fresh jobs while both classes are ready, exact over any number of " +
		"claims because fractions are carried to the next; what a class leaves is lent to the other.",
	Params: []Param{freshShare, lend},
	New: func(a Arguments) (engine.Policy, error) {
		return &Weighted{Fresh: a.Value("fresh").(quantity.Share), NoLending: !a.Value("lend").(bool)}, nil
	},
}

var (
	freshShare = Param{Name: "fresh", Type: TypeShare, Default: "80%",
		Doc: "share of the claims that go to fresh jobs, the rest to retries, while both are ready"}
	lend = Param{Name: "lend", Type: TypeBool, Default: "true",
		Doc: "lend what a class leaves of its share to the other; false leaves it unclaimed until the next fetch"}
)

// Weighted is the policy weighted, with fixed shares of the claims for fresh jobs and retries. The fraction of a claim
// left over in a plan is carried to the next, so that over any number of claims fresh jobs are never behind their share
// and less than one claim ahead, at every batch size. Lent claims are not paid back. Each engine keeps its carry; the
// share needs no coordination.
type Weighted struct {
	Fresh     quantity.Share // share of the claims that goes to fresh jobs
	NoLending bool           // leave the claims that a class cannot use unused

	carry carry // of the claims of fresh jobs
}

// Guarantees returns the guarantee of an exact share of claims to fresh jobs and, with lending, of no idle worker while
// a job is ready.
func (p *Weighted) Guarantees() Promise {
	num, den := p.Fresh.Fraction()
	return Promise{Ranked: true, Conserving: !p.NoLending, Exact: true, Share: quantity.Share{Num: num, Den: den}}
}

// Plan appends a term for ⌈carry + share·idle⌉ fresh jobs, one for retries with the rest, and a term that lends the
// unused claims of a class.
func (p *Weighted) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return shares(dst, v.Idle, p.carry.divide(v.Idle, p.Fresh), !p.NoLending)
}

// shares appends the terms that claim fresh jobs before retries, each up to its number, and with lend a term that gives
// the unused claims of one class to the other. It omits terms that claim nothing, since each costs the store work.
func shares(dst []engine.Term, idle, fresh int, lend bool) []engine.Term {
	if fresh > 0 {
		dst = append(dst, engine.Term{Class: engine.Fresh, Limit: fresh})
	}
	if fresh < idle {
		dst = append(dst, engine.Term{Class: engine.Retry, Limit: idle - fresh})
	}
	if lend {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: idle})
	}
	return dst
}

// ByClass marks the policy as one by priority class, see engine.Policy.
func (*Weighted) ByClass() {}

// Observe updates the carry once both classes of a plan are answered. It is 0 if either class had fewer jobs than its
// limit: unused claims are not hoarded.
func (p *Weighted) Observe(o *engine.Observation) {
	if c := &p.carry; c.plan.answers(o) {
		c.settle(p.Fresh, c.plan.claimed[engine.Fresh] == c.first && c.plan.claimed[engine.Retry] == c.plan.limit-c.first)
	}
}

// carry divides the claims of plans by a share that is exact over any number of claims: what is left over of a claim in
// one plan is carried to the next.
type carry struct {
	// owed is the claims owed to the part with the share, in claims times the denominator of the share, in (-1, 0] claims:
	// the round-up in divide serves that part first.
	owed  int64
	plan  pending
	first int // number of claims of that part in the latest plan
}

// divide begins a plan for so many jobs, and returns how many of its claims are the share's.
func (c *carry) divide(idle int, share quantity.Share) int {
	num, den := share.Fraction()
	c.plan = pending{limit: idle}
	// owed is above -den, so the dividend is not negative: the quotient rounds down, which den-1 turns into up.
	c.first = int((c.owed + int64(idle)*num + den - 1) / den)
	return c.first
}

// settle ends a plan whose claims are answered. Unless it was used in full nothing is owed.
func (c *carry) settle(share quantity.Share, full bool) {
	num, den := share.Fraction()
	if c.owed += int64(c.plan.limit)*num - int64(c.first)*den; !full {
		c.owed = 0
	}
	c.plan.limit = 0
}

// pending is a plan whose claims of both classes are not all answered.
type pending struct {
	limit    int // most claims of the plan; 0: no plan is pending
	claimed  [engine.NumClasses]int
	answered [engine.NumClasses]bool
}

// answers adds the answer to one of the plan's claims, and reports whether it was the last.
func (p *pending) answers(o *engine.Observation) bool {
	if o.Ended || p.limit == 0 {
		return false
	}
	p.claimed[o.Class], p.answered[o.Class] = o.Count, true
	return p.answered[engine.Fresh] && p.answered[engine.Retry]
}

// total returns the number of jobs, fresh and retries, that a policy's latest plan has claimed.
func (p *pending) total() int { return p.claimed[engine.Fresh] + p.claimed[engine.Retry] }

var bernoulliKind = Kind{
	Name: "bernoulli", Needs: NeedsRetries, Cost: CostJobs, State: StateNone,
	Drawn:  Drawn{Weight: 1, Param: "fresh", Values: []string{"20%", "50%", "80%"}},
	Doc:    "As weighted, with a coin tossed for every claim: the share is right in the mean, with runs of bad luck.",
	Params: []Param{freshShare, lend},
	New: func(a Arguments) (engine.Policy, error) {
		return Bernoulli{Fresh: a.Value("fresh").(quantity.Share), NoLending: !a.Value("lend").(bool)}, nil
	},
}

// Bernoulli is the policy bernoulli, a coin toss for each claim: over n claims the share s is off by about √(s(1−s)/n).
// It keeps no state; its coins depend on the seed, the engine and the number of the plan alone.
type Bernoulli struct {
	stateless
	Fresh     quantity.Share // probability that a claim goes to fresh jobs
	NoLending bool           // leave the claims that a class cannot use unused
}

// Plan appends a term for fresh jobs, as many as the coin tosses give them, one for retries with the rest, and a term
// that lends the unused claims of a class. A plan tosses at most 65,536 coins: further claims are left to the lending
// term, or to the next plan.
func (p Bernoulli) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	chance, fresh := p.Fresh.Float(), 0
	coins := min(v.Idle, math.MaxUint16+1)
	for n := range coins {
		if v.Draw(uint16(n)) < chance {
			fresh++
		}
	}
	dst = shares(dst, coins, fresh, false)
	if !p.NoLending {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
	}
	return dst
}

// Guarantees returns the guarantee of a share of claims to fresh jobs and, with lending, of no idle worker while a job
// is ready. Only plans show the share: what is lent is an event like any other.
func (p Bernoulli) Guarantees() Promise {
	return Promise{Conserving: !p.NoLending, Share: p.Fresh, Law: func() Law { return &coinsLaw{chance: p.Fresh.Float()} }}
}

// coinsLaw is the Law (plan checker) of Bernoulli.
type coinsLaw struct {
	stateless
	chance        float64
	tossed, fresh int
}

func (l *coinsLaw) Plan(v *engine.View, terms []engine.Term) string {
	l.tossed += min(v.Idle, math.MaxUint16+1)
	for i := range terms {
		if terms[i].Class == engine.Fresh {
			l.fresh += terms[i].Limit
		}
	}
	if isUnlikely(l.fresh, l.tossed, l.chance) {
		return fmt.Sprintf("%d of %d coins fell for fresh jobs, at a chance of %v", l.fresh, l.tossed, l.chance)
	}
	return ""
}

// isUnlikely reports whether n fair coins would practically never, by eight standard deviations, show this number on
// one side.
func isUnlikely(fell, n int, chance float64) bool {
	mean := float64(n) * chance
	return math.Abs(float64(fell)-mean) > 2+8*math.Sqrt(mean*(1-chance))
}

var splitKind = Kind{
	Name: "split", Needs: NeedsPriorities, Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1},
	Doc: "A share of all claims for the most urgent jobs, the rest for those that have been ready longest, " +
		"whatever their priority; exact over any number of claims because fractions are carried to the next. " +
		"Urgent jobs keep most of the workers, and no job of low priority starves.",
	Params: []Param{
		{Name: "priority", Type: TypeShare, Default: "80%", Doc: "share of the claims that go by priority"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		return &Split{Priority: a.Value("priority").(quantity.Share)}, nil
	},
}

// Split is the policy split, which gives a share s of the claims to jobs by priority and the rest to the oldest: a job
// of any priority is reached at the latest after 1/(1-s) times as many claims as jobs became ready before it. Each
// engine keeps its carry; the share needs no coordination.
type Split struct {
	Priority quantity.Share // share of the claims that goes by priority

	carry carry // of the claims by priority
}

// Plan appends a term for ⌈carry + share·idle⌉ jobs by priority, and one for the rest oldest first.
func (p *Split) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	urgent := p.carry.divide(v.Idle, p.Priority)
	if urgent > 0 {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: urgent})
	}
	if urgent < v.Idle {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: v.Idle - urgent})
	}
	return dst
}

// Observe updates the carry once the claims of both terms are answered. A plan that claimed fewer jobs than its
// limit has emptied the queue: the carry is then 0.
func (p *Split) Observe(o *engine.Observation) {
	if c := &p.carry; c.plan.answers(o) {
		c.settle(p.Priority, c.plan.total() == c.plan.limit)
	}
}

// Guarantees returns the guarantee that no worker idles while a job is ready, and that the share of claims by priority
// is exact to less than one job, counted since a plan last emptied the queue. No event shows which share a job was of.
func (p *Split) Guarantees() Promise {
	return Promise{Conserving: true, Law: func() Law { return &splitLaw{share: p.Priority} }}
}

// splitLaw is the Law (plan checker) of Split.
type splitLaw struct {
	share  quantity.Share
	owed   int64 // claims owed to priority, in jobs times the denominator of share
	urgent int   // number of claims by priority in the latest plan
	plan   pending
}

func (l *splitLaw) Plan(v *engine.View, terms []engine.Term) string {
	l.urgent, l.plan = 0, pending{limit: v.Idle}
	oldest := 0
	for i := range terms {
		if terms[i].Order == engine.OldestOfAny {
			oldest += terms[i].Limit
		} else {
			l.urgent += terms[i].Limit
		}
	}
	num, den := l.share.Fraction()
	if owed := l.owed + int64(v.Idle)*num - int64(l.urgent)*den; l.urgent+oldest != v.Idle || owed <= -den || owed >= den {
		return fmt.Sprintf("a plan asks for %d jobs by priority and %d of the oldest, and owes priority %d/%d of a job",
			l.urgent, oldest, owed, den)
	}
	return ""
}

func (l *splitLaw) Observe(o *engine.Observation) {
	if !l.plan.answers(o) {
		return
	}
	num, den := l.share.Fraction()
	if l.owed += int64(l.plan.limit)*num - int64(l.urgent)*den; l.plan.total() < l.plan.limit {
		l.owed = 0
	}
	l.plan.limit = 0
}
