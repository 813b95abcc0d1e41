package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"qsim/engine"
)

// fewestPromoted and mostPromoted bound the number of waiting jobs, those due first, that a claim makes ready: twice
// its limit, within these bounds, so that no claim takes long when very many jobs are due at once. If any are left, the
// claim returns 0 as nextDue, so that the engine claims again at once.
const (
	fewestPromoted = 100
	mostPromoted   = 1000
)

// lockedPause is the time after which an engine asks again for due jobs, or expired leases, that another transaction
// has locked, such as the claim of another engine: until that commits, each call would find them locked.
const lockedPause = 2 * time.Millisecond

// Claim leases ready jobs, see engine.Store. Terms in the orders Aging or Deadline, or by tenant, fail with
// engine.ErrUnsupported. A term of several kinds, or with PerTenant, locks up to its limit of every kind or tenant:
// concurrent claims skip those jobs. If a burial frees the next job of a serial key, the next claim finds it.
func (s *Store) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	var room [8]shape
	began := time.Now()
	from, back, whole := s.fronts.begin(began)
	shapes, arguments := room[:0], s.rules.claimArguments(holder, ttl, back)
	for i := range p.Terms {
		t := &p.Terms[i]
		sh, err := shapeOf(t)
		if err != nil {
			return dst, engine.Forever, fmt.Errorf("claim: term %d: %w", i, err)
		}
		if min(t.Limit, p.Limit) > 0 || sh.wait == waitShed {
			shapes = append(shapes, sh)
			arguments = planArguments(arguments, t, sh, from[t.Class], p.Limit)
		}
	}
	switch len(shapes) {
	case 0:
		arguments = nil
	case 1:
	default:
		arguments = append(arguments, limit(p.Limit))
	}
	plan := s.planOf(shapes)
	if err := s.build(ctx, plan.lines); err != nil {
		return dst, engine.Forever, fmt.Errorf("claim: %w", err)
	}
	b := &pgx.Batch{}
	promoted, most := int64(0), min(max(2*limit(min(p.Limit, mostPromoted)), fewestPromoted), mostPromoted)
	if s.rules.promotesItself() {
		b.Queue(s.text.promoteDue, most, int64(back)).Exec(func(done pgconn.CommandTag) error {
			promoted = done.RowsAffected()
			return nil
		})
	}
	c := claimed{got: placed{leases: dst[len(dst):]}, next: engine.Forever, terms: shapes, held: s.rules.options.Held,
		ended: from}
	b.Queue(plan.sql, arguments...).Query(c.read)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return dst, engine.Forever, s.wrap("claim", err)
	}
	s.wakeIn(c.freed, engine.Forever)
	s.fronts.end(c.ended, began, whole, c.next, !whole || s.isDear(ctx, time.Since(began)))
	if c.next == 0 && promoted < most {
		c.next = lockedPause
	}
	return append(dst, c.got.sorted()...), c.next, nil
}

// claimArguments returns the first parameters of a claim's SQL statement: $1 holder, $2 TTL and, where due jobs become
// ready by themselves, $3: the search for the next waiting job skips jobs that have been due for longer than that.
func (r *rules) claimArguments(holder engine.EngineID, ttl, back time.Duration) []any {
	arguments := append(make([]any, 0, 16), int64(holder), nanoseconds(ttl))
	if r.promotesItself() {
		arguments = append(arguments, int64(back))
	}
	return arguments
}

// planArguments appends the SQL parameters of one term of a claim plan: its limit, first index position, and filters.
func planArguments(arguments []any, t *engine.Term, s shape, from place, most int) []any {
	arguments = append(arguments, limit(min(t.Limit, most)))
	if s.plain() {
		arguments = append(arguments, from.priority, from.key)
	}
	if s.tenant {
		arguments = append(arguments, int32(t.Tenant))
	}
	if s.kinds > 0 {
		var kinds []int32
		for k := range engine.Kind(64) {
			if t.Kinds.Has(k) {
				kinds = append(kinds, int32(k))
			}
		}
		if s.kinds == 1 {
			arguments = append(arguments, kinds[0])
		} else {
			arguments = append(arguments, kinds)
		}
	}
	if s.perTenant {
		arguments = append(arguments, limit(t.PerTenant))
	}
	if s.wait != waitAny {
		arguments = append(arguments, nanoseconds(t.MaxWait))
	}
	return arguments
}

// claimed collects the leases, and the end positions, from the result rows of a claim's SQL statement.
type claimed struct {
	got   placed // leases with their positions in the plan's order, see answerPart
	next  time.Duration
	terms []shape                    // terms of the plan
	held  bool                       // jobs are claimed before they are due, see engine.StoreOptions
	ended [engine.AnyClass + 1]place // index positions of the last jobs claimed, by the class of the term
	freed int                        // number of buried jobs with a serial key: the next of each key may be claimed
}

func (c *claimed) read(rows pgx.Rows) error {
	for rows.Next() {
		r := row{values: rows.RawValues()}
		waits := r.values[0] != nil
		if next := r.int64(); waits {
			c.next = nonNegative(next)
		}
		if len(c.terms) == 0 || r.values[0] == nil {
			continue
		}
		at, key := r.int64(), r.int64()
		l := r.lease()
		if !c.held { // less than 0 after the server's clock was set back, and engines would hold the job
			l.Waited = max(l.Waited, 0)
		}
		if term := c.terms[at/answerPart/2]; at/answerPart%2 == 0 {
			l.Shed, l.Token, c.freed = true, 0, c.freed+int(key)
			l.Delivery++ // it tells its class
		} else if term.plain() && term.wait != waitLeave { // others leave out jobs before the last one that they take
			c.ends(term.class, place{l.Priority, key})
		}
		c.got.add(at, l)
	}
	return rows.Err()
}

// ends notes the index position of a claimed job as the end of the claim, if it is the furthest so far of its class.
func (c *claimed) ends(class engine.Class, at place) {
	if last := c.ended[class]; at.priority > last.priority || at.priority == last.priority && at.key > last.key {
		c.ended[class] = at
	}
}

// placed holds leases and, in another slice, the positions by which the answer to a call is sorted.
type placed struct {
	leases []engine.Lease
	at     []int64
}

func (p *placed) add(at int64, l engine.Lease) {
	p.at, p.leases = append(p.at, at), append(p.leases, l)
}

// sorted returns the leases in the order of their positions, and then of job IDs.
func (p *placed) sorted() []engine.Lease {
	sort.Sort(p) // not slices.SortFunc, which copies whole leases to compare them
	return p.leases
}

func (p *placed) Len() int { return len(p.at) }

func (p *placed) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p.at[i], p.at[j]), cmp.Compare(p.leases[i].ID, p.leases[j].ID)) < 0
}

func (p *placed) Swap(i, j int) {
	p.at[i], p.at[j] = p.at[j], p.at[i]
	p.leases[i], p.leases[j] = p.leases[j], p.leases[i]
}
