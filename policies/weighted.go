package policies

import (
	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 50, Name: "weighted", Needs: NeedsRetries, Cost: CostJobs, State: StateNode,
	Drawn: Drawn{Weight: 2, Params: []string{"fresh: 20%", "fresh: 50%", "fresh: 67%", "fresh: 80%", "fresh: 90%"}},
	Doc: "A fixed share of all claims for fresh jobs while both classes are ready, exact over any number of " +
		"claims because fractions are carried to the next; what a class leaves is lent to the other. Without " +
		"lending, retries whose part of a claim rounds to none (one idle worker, or up to 4 at 80%) wait while no " +
		"fresh job is ready.",
	Params: []Param{freshShare, lend},
	New: func(a Arguments) (engine.Policy, error) {
		return &Weighted{Fresh: a.Value("fresh").(quantity.Share), NoLending: !a.Value("lend").(bool)}, nil
	},
})

var (
	freshShare = Param{Name: "fresh", Type: TypeShare, Default: "80%",
		Doc: "share of the claims that go to fresh jobs, the rest to retries, while both are ready"}
	lend = Param{Name: "lend", Type: TypeBool, Default: "true",
		Doc: "lend what a class leaves of its share to the other; false leaves it unclaimed until the next fetch"}
)

// Weighted is the policy weighted, with fixed shares of the claims for fresh jobs and retries. The fraction of a claim
// left over in a plan is carried to the next, so that over any number of claims fresh jobs are never behind their share
// and less than one claim ahead, at every batch size. Claims that a class leaves to the other are not made up for
// later. Each engine carries its own fraction; the share needs no coordination.
type Weighted struct {
	byClass
	Fresh     quantity.Share // share of the claims that goes to fresh jobs
	NoLending bool           // leave the claims that a class cannot use unused

	carry carry // of the claims of fresh jobs
}

// Guarantees returns the guarantee of an exact share of claims to fresh jobs and, if a class may use what the other
// leaves, of no idle worker while a job is ready; else retries may wait for ever once no fresh job comes.
func (p *Weighted) Guarantees() Promise {
	return Promise{Ranked: true, Conserving: !p.NoLending, Starves: p.NoLending, Exact: true, Share: p.Fresh}
}

// Plan lets the next claim take ⌈carry + share·idle⌉ fresh jobs and retries for the rest of the idle workers; unless
// NoLending, jobs of either class use what the other leaves.
func (p *Weighted) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return shares(dst, v.Idle, p.carry.divide(v.Idle, p.Fresh), !p.NoLending)
}

// term appends a term (part of a claim) for up to limit jobs of a class, unless it would claim nothing: each costs the
// store work. Its fields are set in place: a composite literal would be built elsewhere and copied.
func term(dst []engine.Term, class engine.Class, limit int) []engine.Term {
	if limit > 0 {
		dst = append(dst, engine.Term{})
		t := &dst[len(dst)-1]
		t.Class, t.Limit = class, limit
	}
	return dst
}

// shares appends the terms (parts of a claim) for fresh jobs, then retries, each up to its number; with lend, another
// term gives the unused claims of one class to the other.
func shares(dst []engine.Term, idle, fresh int, lend bool) []engine.Term {
	dst = term(term(dst, engine.Fresh, fresh), engine.Retry, idle-fresh)
	if lend {
		dst = term(dst, engine.AnyClass, idle)
	}
	return dst
}

// Observe updates the carry, the fraction of a claim left for the next plan, once the claims of both classes are
// answered. It is 0 if either class had fewer jobs than its limit: unused claims are not hoarded.
func (p *Weighted) Observe(o *engine.Observation) {
	if c := &p.carry; c.plan.answers(o) {
		c.settle(p.Fresh, c.plan.claimed[engine.Fresh] == c.first && c.plan.claimed[engine.Retry] == c.plan.limit-c.first)
	}
}

// carry divides the claims of each plan between two groups of jobs by a fixed share, which is exact over any number of
// claims: the fraction of a claim left over in one plan is carried to the next.
type carry struct {
	// owed is the claims owed to the part with the share, in claims times the denominator of the share, in (-1, 0] claims:
	// the round-up in divide serves that part first.
	owed  int64
	plan  pending
	first int // number of claims of that part in the latest plan
}

// divide begins a plan of one claim for each idle worker, and returns how many go to the group (class or order) that
// has the share.
func (c *carry) divide(idle int, share quantity.Share) int {
	num, den := share.Fraction()
	c.plan = pending{limit: idle}
	// owed is above -den, so the dividend is not negative: the quotient rounds down, which den-1 turns into up.
	c.first = int((c.owed + int64(idle)*num + den - 1) / den)
	return c.first
}

// settle ends a plan once its claims are answered; if some of them went unused, nothing is carried to the next plan.
func (c *carry) settle(share quantity.Share, full bool) {
	num, den := share.Fraction()
	if c.owed += int64(c.plan.limit)*num - int64(c.first)*den; !full {
		c.owed = 0
	}
	c.plan.limit = 0
}

// pending is a policy's latest plan, until it is known how many fresh jobs and retries have been claimed by it.
type pending struct {
	limit    int // most claims of the plan; 0: no plan is pending
	claimed  [engine.NumClasses]int
	answered [engine.NumClasses]bool
}

// answers records how many fresh jobs or retries a plan has claimed, and reports whether both numbers are known now.
func (p *pending) answers(o *engine.Observation) bool {
	if o.Ended || p.limit == 0 {
		return false
	}
	p.claimed[o.Class], p.answered[o.Class] = o.Count, true
	return p.answered[engine.Fresh] && p.answered[engine.Retry]
}

// total returns the number of jobs, fresh and retries, that a policy's latest plan has claimed.
func (p *pending) total() int { return p.claimed[engine.Fresh] + p.claimed[engine.Retry] }
