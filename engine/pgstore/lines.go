package pgstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

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

// build creates those of the given indexes that are missing. While it does, nothing can be enqueued or committed: until
// all transactions that have written to the store end, and then for about a second for each million ready jobs.
func (s *Store) build(ctx context.Context, want []line) error {
	for _, l := range want {
		if _, built := s.lines.Load(l); built || l == (line{class: engine.AnyClass}) {
			continue
		}
		if err := s.buildLine(ctx, l); err != nil {
			return s.wrap("build index "+l.name(), err)
		}
		s.lines.Store(l, true)
	}
	return nil
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
		b.Queue("select pg_advisory_xact_lock($1)", lockKey(s.schema))
		b.Queue(l.definition())
		return s.pool.SendBatch(ctx, b).Close()
	case !*valid:
		return told("%w: index %s is not valid: it is being built, or a build of it has failed: then drop it",
			engine.ErrUnavailable, l.name())
	}
	return nil
}
