package policies

import "qsim/engine"

// Weighted gives fresh jobs the share Fresh of all claims while both classes are
// ready, exactly: what a plan of k claims cannot take of a fraction is carried to the
// next, so that over any number of claims fresh jobs are never behind their share and
// less than one claim ahead, at every batch size. It is work-conserving: what a class
// leaves of its share is lent to the other, and lent claims are not paid back. Under
// NoLending they stay unclaimed until the next plan, and it is not work-conserving.
// The carry lives in the engine; the share needs no coordination, since each of
// several engines keeps it.
type Weighted struct {
	Fresh     Share // of the claims
	NoLending bool  // leave unclaimed what a class cannot take of its share

	// carry is what fresh jobs are owed, in claims times the denominator of Fresh. It
	// is in (-1, 0] claims: the round-up in Plan serves fresh jobs first.
	carry int64
	// The latest plan, until it is answered: its size (0: none) and its fresh part.
	limit, fresh int
	claimed      [engine.NumClasses]int
	answered     [engine.NumClasses]bool
}

// Plan appends ⌈carry + share·idle⌉ fresh jobs, the rest as retries, and the lending
// term.
func (p *Weighted) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	num, den := p.Fresh.Fraction()
	p.limit = v.Idle
	// carry is above -den, so the dividend is not negative: the quotient rounds down,
	// which den-1 turns into up.
	p.fresh = int((p.carry + int64(v.Idle)*num + den - 1) / den)
	p.answered = [engine.NumClasses]bool{}
	return shares(dst, v.Idle, p.fresh, !p.NoLending)
}

// shares appends the terms that claim fresh jobs before retries up to what each is
// due, and lend what is left. It leaves out terms that claim nothing: a store pays
// for each.
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

// Observe settles the carry once the claim is answered for both classes. A class that
// brought less than its part was found empty: then nothing is owed any more, since
// what could not be used must not be hoarded.
func (p *Weighted) Observe(o *engine.Observation) {
	if o.Kind != engine.Claimed || p.limit == 0 {
		return
	}
	p.claimed[o.Class], p.answered[o.Class] = o.Count, true
	if !p.answered[engine.Fresh] || !p.answered[engine.Retry] {
		return
	}
	num, den := p.Fresh.Fraction()
	if p.claimed[engine.Fresh] == p.fresh && p.claimed[engine.Retry] == p.limit-p.fresh {
		p.carry += int64(p.limit)*num - int64(p.fresh)*den
	} else {
		p.carry = 0
	}
	p.limit = 0
}
