package pgstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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

// line is the definition of an index of ready jobs: of one class or of both, grouped by kind, by tenant or not at all,
// in some order. Only the plainest exists from the beginning. The others are built when a plan first needs them, so
// that other stores do not pay for them with every job.
type line struct {
	class engine.Class
	by    grouping
	order lineOrder
}

// grouping is the column by which a line, an index of ready jobs, is grouped.
type grouping uint8

const (
	byNothing grouping = iota
	byKind
	byTenant
)

func (g grouping) String() string { return [...]string{"", "kind", "tenant"}[g] }

// lineOrder is the order of jobs within a line, an index of ready jobs, or within its groups.
type lineOrder uint8

const (
	oldest    lineOrder = iota // order by priority, smallest ready key first
	newest                     // order by priority, largest ready key first
	whatever                   // smallest ready key first, whatever the priority
	longReady                  // longest ready first, whatever the priority
)

func (o lineOrder) String() string {
	return [...]string{"oldest", "newest", "whatever", "longest"}[o]
}

// columns returns, as SQL text, the columns by which jobs are sorted in an order, each with a prefix such as "j.".
func (o lineOrder) columns(prefix string) string {
	text := [...]string{"@priority, @ready_key, @id", "@priority, @ready_key desc, @id desc", "@ready_key, @id",
		"@due_at, @id"}[o]
	return strings.ReplaceAll(text, "@", prefix)
}

// ofClass returns the SQL condition for a ready row of a priority class (fresh or retry).
func ofClass(c engine.Class, prefix string) string {
	text := prefix + "state = 1"
	switch c {
	case engine.Fresh:
		text += " and " + prefix + "delivery = 0"
	case engine.Retry:
		text += " and " + prefix + "delivery > 0"
	}
	return text
}

// name returns the name in the database of an index of ready jobs.
func (l line) name() string {
	words := []string{"ready"}
	if l.class != engine.AnyClass {
		words = append(words, l.class.String())
	}
	if l.by != byNothing {
		words = append(words, l.by.String())
	}
	return strings.Join(append(words, l.order.String()), "_")
}

// definition returns the SQL statement that builds an index of ready jobs.
func (l line) definition() string {
	columns := l.order.columns("")
	if l.by != byNothing {
		columns = l.by.String() + ", " + columns
	}
	return fmt.Sprintf("create index if not exists %s on jobs (%s) where %s", l.name(), columns, ofClass(l.class, ""))
}

// buildWithin is the longest time for which a build of an index waits for earlier transactions, and others for it.
const buildWithin = 5 * time.Second

// build waits until the given indexes exist and has missing ones built. While one is, nothing can be enqueued or
// committed: until all transactions that have written to the store end, for at most buildWithin, and then for about a
// second for each million ready jobs. A build that has begun goes on when ctx is done, and is ended by no
// statement_timeout of the server, since otherwise one that takes longer than calls would never end.
func (s *Store) build(ctx context.Context, want []line) error {
	for _, l := range want {
		if l == (line{class: engine.AnyClass}) {
			continue
		}
		found, ok := s.lines.Load(l)
		if !ok {
			b := &building{done: make(chan struct{})}
			if found, ok = s.lines.LoadOrStore(l, b); !ok {
				go func() { // Close waits for its connection
					defer close(b.done)
					if b.err = s.buildLine(s.running, l); b.err != nil {
						s.lines.Delete(l)
					}
				}()
			}
		}
		b := found.(*building)
		select {
		case <-b.done:
		case <-ctx.Done():
			return wrap("build index "+l.name(), fmt.Errorf("it goes on: %w", ctx.Err()))
		}
		if b.err != nil {
			return s.wrap("build index "+l.name(), b.err)
		}
	}
	return nil
}

// building is the state of an index of ready jobs: built, or being built.
type building struct {
	done chan struct{} // closed once it is built, or could not be
	err  error
}

// buildLine creates an index unless it exists. It looks first, since CREATE INDEX takes a lock that waits for every
// transaction that has written and makes later ones wait, and is a right of the table's owner, even if there is nothing
// to create.
func (s *Store) buildLine(ctx context.Context, l line) error {
	var valid *bool
	err := s.pool.QueryRow(ctx, "select (select i.indisvalid from pg_index i where i.indexrelid = to_regclass($1))",
		quoted(s.schema)+"."+l.name()).Scan(&valid)
	switch {
	case err != nil:
		return err
	case valid == nil:
		b := &pgx.Batch{}
		b.Queue("select pg_advisory_xact_lock($1), set_config('statement_timeout', '0', true), "+
			"set_config('lock_timeout', $2, true)", lockKey(s.schema), fmt.Sprint(buildWithin.Milliseconds()))
		b.Queue(l.definition())
		return s.pool.SendBatch(ctx, b).Close()
	case !*valid:
		return told("%w: index %s is not valid: it is being built, or a build of it has failed: then drop it",
			engine.ErrUnavailable, l.name())
	}
	return nil
}
