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

// Weighted is the policy weighted: a share Fresh of the claims goes to fresh jobs, the rest to retries. The fraction of
// a claim left over in a plan is carried to the next, so that over any number of claims fresh jobs are never behind
// their share and less than one claim ahead, at every batch size. Claims that a class leaves to the other are not made
// up for later. Each engine carries its own fraction; the share needs no coordination.
type Weighted struct {
	byClass
	Fresh     quantity.Share // share of the claims that goes to fresh jobs
	NoLending bool           // leave claims unused for which their class has no ready job

	carry carry // fraction of a claim of fresh jobs left over from earlier plans
}

// Guarantees declares for the invariant checker: an exact share of claims for fresh jobs and, unless NoLending, no idle
// worker while a job is ready; else retries may wait for ever once no fresh job comes.
func (p *Weighted) Guarantees() Promise {
	return Promise{Ranked: true, Conserving: !p.NoLending, Starves: p.NoLending, Exact: true, Share: p.Fresh}
}

// Plan appends a term (part of a claim) for ⌈carry + share·idle⌉ fresh jobs, where carry is the fraction left over from
// earlier plans, and one for as many retries as workers are left; unless NoLending, a third for what either leaves.
func (p *Weighted) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return shares(dst, v.Idle, p.carry.divide(v.Idle, p.Fresh), !p.NoLending)
}

// term appends a term (part of a claim) for up to limit jobs of a class (fresh, retry), but none if limit is 0, since
// each costs the store work. Its fields are set in place: a composite literal would be built elsewhere and copied.
func term(dst []engine.Term, class engine.Class, limit int) []engine.Term {
	if limit > 0 {
		dst = append(dst, engine.Term{})
		t := &dst[len(dst)-1]
		t.Class, t.Limit = class, limit
	}
	return dst
}

// shares appends a term (part of a claim) for fresh jobs, then one for retries for the rest of the idle workers; with
// lend, a third gives the unused claims of one class to the other.
func shares(dst []engine.Term, idle, fresh int, lend bool) []engine.Term {
	dst = term(term(dst, engine.Fresh, fresh), engine.Retry, idle-fresh)
	if lend {
		dst = term(dst, engine.AnyClass, idle)
	}
	return dst
}

// Observe updates the carry, the fraction of a claim left for the next plan, once a plan's claim is answered. It is 0
// if either class had fewer jobs than its term allowed: unused claims are not hoarded.
func (p *Weighted) Observe(o *engine.Observation) {
	c := &p.carry
	c.settle(o, p.Fresh, o.Claimed == [...]int{engine.Fresh: c.first, engine.Retry: c.limit - c.first})
}

// carry divides the claims of each plan between two groups of jobs (by class, or by order) by a fixed share, which is
// exact over any number of claims: the fraction of a claim left over in one plan is carried to the next.
type carry struct {
	// owed is the rounding error that earlier plans carry over, in claims times the denominator of the share. It lies in
	// (-1, 0] claims: divide rounds up, so that the group with the share is served first and owes the difference.
	owed  int64
	limit int // most claims of the latest plan; 0: it is answered
	first int // claims of the group with the share in it
}

// divide begins a plan of one claim for each idle worker, and returns how many go to the group (class or order) that
// has the share.
func (c *carry) divide(idle int, share quantity.Share) int {
	num, den := share.Fraction()
	c.limit = idle
	// owed is above -den, so the dividend is not negative: the quotient rounds down, which den-1 turns into up.
	c.first = int((c.owed + int64(idle)*num + den - 1) / den)
	return c.first
}

// settle ends the latest plan if o is the answer to its claim. The carry is reset to 0 if some of its claims went
// unused (not full).
func (c *carry) settle(o *engine.Observation, share quantity.Share, full bool) {
	if o.Ended || c.limit == 0 {
		return
	}
	num, den := share.Fraction()
	if c.owed += int64(c.limit)*num - int64(c.first)*den; !full {
		c.owed = 0
	}
	c.limit = 0
}

// totalClaimed returns the number of jobs that the claim reported by o returned.
func totalClaimed(o *engine.Observation) int {
	return o.Claimed[engine.Fresh] + o.Claimed[engine.Retry]
}
