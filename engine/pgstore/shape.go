package pgstore

import (
	"fmt"

	"qsim/engine"
)

// shape is the set of those properties of a claim plan's term (which selects ready jobs) on which its SQL text depends.
type shape struct {
	class     engine.Class
	order     lineOrder
	kinds     byte // number of kinds selected: 0 (all), 1, or 2 for several
	tenant    bool // only jobs of one tenant
	perTenant bool
	wait      wait
	shed      int32 // with waitShed: most jobs to bury
}

// wait is how a term of a claim's plan treats ready jobs that have waited longer than its MaxWait.
type wait uint8

const (
	waitAny   wait = iota
	waitLeave      // such jobs are passed over and stay ready
	waitShed       // such jobs are buried
)

// shapeOf checks a term of a claim and returns its shape, the properties on which its SQL text depends.
func shapeOf(t *engine.Term) (shape, error) {
	s := shape{class: t.Class, tenant: t.Tenant != 0, perTenant: t.PerTenant > 0}
	if t.Order > engine.OldestOfAny && t.Order <= engine.TenantFair {
		return s, fmt.Errorf("order %v: %w", t.Order, engine.ErrUnsupported)
	}
	if err := t.Validate(); err != nil {
		return s, err
	}
	s.order = [...]lineOrder{oldest, newest, whatever}[t.Order]
	switch {
	case t.Kinds == 0:
	case t.Kinds&(t.Kinds-1) == 0:
		s.kinds = 1
	default:
		s.kinds = 2
	}
	switch {
	case t.MaxWait > 0 && t.Shed > 0:
		s.wait, s.shed = waitShed, t.Shed
	case t.MaxWait > 0:
		s.wait = waitLeave
	}
	return s, nil
}

// grouped returns the column by which the index of ready jobs that a term reads is grouped, and whether the term claims
// from all groups rather than from one.
func (s shape) grouped() (by grouping, all bool) {
	switch {
	case s.tenant:
		return byTenant, false
	case s.perTenant:
		return byTenant, true
	case s.kinds > 0:
		return byKind, s.kinds > 1
	}
	return byNothing, false
}

// plain reports whether a term reads its index of ready jobs from the oldest on, without groups by kind or tenant.
func (s shape) plain() bool {
	by, _ := s.grouped()
	return by == byNothing && s.order == oldest
}

// lines returns descriptions of the indexes that find ready jobs for one part (term) of a claim of the given shape.
func (s shape) lines() []line {
	by, all := s.grouped()
	want := []line{{s.class, by, s.order}}
	if s.wait == waitShed {
		if all {
			by = byNothing
		}
		want = append(want, line{s.class, by, longReady})
	}
	return want
}

// overlaps reports whether claim plan terms of two shapes may select the same job.
func (s shape) overlaps(o shape) bool {
	return s.class == o.class || s.class == engine.AnyClass || o.class == engine.AnyClass
}

// plan holds the SQL statement for claims whose terms differ only in its parameters, and the indexes that it needs.
type plan struct {
	sql   string
	lines []line
}

// planOf returns the SQL statement, with its indexes, for claims whose terms have the given shapes, cached or new.
func (s *Store) planOf(shapes []shape) *plan {
	k := fmt.Sprint(shapes)
	found, ok := s.plans.Load(k)
	if !ok {
		made := &plan{sql: planSQL(shapes, &s.rules)}
		for _, sh := range shapes {
			made.lines = append(made.lines, sh.lines()...)
		}
		found, _ = s.plans.LoadOrStore(k, made)
	}
	return found.(*plan)
}
