package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"qsim/engine"
)

// forgetEvery is the number of commits of an engine between two clean-ups, which delete old records of batches and add
// up the counts of buried jobs.
const forgetEvery = 16

// Commit applies a batch of outcomes, see engine.Store. It fails with engine.ErrUnsupported for outcomes of a reaper
// that reads expired leases first and takes them later (Outcome.Guard), since this store takes those that it lists, and
// for outcomes that a simulated store is to leave unapplied (Refused), since it applies all of a batch or nothing.
func (s *Store) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	if len(b.Outcomes) == 0 {
		return dst, nil
	}
	for i := range b.Outcomes {
		o := &b.Outcomes[i]
		switch {
		case o.Guard != engine.FenceDefault:
			return dst, fmt.Errorf("commit job %d: a guard: %w", o.Job, engine.ErrUnsupported)
		case o.Refused:
			return dst, fmt.Errorf("commit job %d: a part of a batch: %w", o.Job, engine.ErrUnsupported)
		case o.Verb < engine.Ack || o.Verb > engine.Snooze:
			return dst, fmt.Errorf("commit job %d: verb %d: %w", o.Job, o.Verb, engine.ErrUnsupported)
		}
	}
	from, began := len(dst), time.Now()
	parts := split(b.Outcomes)
	for again := false; ; again = true {
		dst = append(dst[:from], make([]engine.Result, len(b.Outcomes))...)
		freed, err := s.commitOnce(ctx, &b, parts, dst[from:])
		if err == nil {
			s.wakeAfter(b.Outcomes, dst[from:], freed, time.Since(began))
			return dst, nil
		}
		// A copy of the batch committed meanwhile: its answer can be found now.
		if !isCopy(err) || again {
			return dst[:from], s.wrap("commit", err)
		}
	}
}

// wakeAfter wakes listening engines for the jobs that a commit has made ready, at once or when they are due, and for so
// many more. took is the duration of the commit.
func (s *Store) wakeAfter(outcomes []engine.Outcome, results []engine.Result, ready int, took time.Duration) {
	soonest := engine.Forever
	for i := range outcomes {
		if results[i].Status != engine.Applied {
			continue
		}
		if in := s.rules.readyIn(&outcomes[i], took); in > 0 {
			soonest = min(soonest, in)
		} else {
			ready++
		}
	}
	s.wakeIn(ready, soonest)
}

func isCopy(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505" && e.ConstraintName == "batches_pkey"
}

// split divides outcomes, given by their indexes, into parts in which no job occurs twice. Each part is in order of job
// IDs, so that concurrent commits lock rows in the same order and do not deadlock.
func split(outcomes []engine.Outcome) [][]int32 {
	order := make([]int32, len(outcomes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(outcomes[a].Job, outcomes[b].Job), cmp.Compare(a, b))
	})
	parts := [][]int32{make([]int32, 0, len(order))} // engines send no job twice
	nth := 0
	for i, at := range order {
		if nth++; i == 0 || outcomes[at].Job != outcomes[order[i-1]].Job {
			nth = 0
		}
		if nth == len(parts) {
			parts = append(parts, nil)
		}
		parts[nth] = append(parts[nth], at)
	}
	return parts
}

// commitOnce applies the parts of a batch (see split) in one transaction: a single part in one round trip. It returns
// how many jobs with a serial key ended: the next one of each key may be claimed.
func (s *Store) commitOnce(ctx context.Context, b *engine.Batch, parts [][]int32,
	results []engine.Result) (freed int, err error) {
	if len(parts) == 1 {
		pipeline := &pgx.Batch{}
		a := s.queuePart(pipeline, b, parts[0], 0, results)
		forgets := b.Settled > 0 && b.ID.Seq%forgetEvery == 0
		if forgets {
			generation, first, from := int64(b.ID.Engine.Generation()), int64(0), int64(0)
			if before, ok := s.forgotten.Load(b.ID.Engine); ok {
				first, from = generation, int64(before.(uint64))
			}
			pipeline.Queue(forgetSQL, b.ID.Engine.Node(), generation, int64(b.Settled), first, from)
			if !s.rules.options.KeepDead {
				pipeline.Queue(sumSQL)
			}
		}
		if err = s.pool.SendBatch(ctx, pipeline).Close(); err == nil && forgets {
			s.forgotten.Store(b.ID.Engine, b.Settled)
		}
		return a.freed, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var stale []int32
		for i, part := range parts {
			shape := commitShape(0)
			if i > 0 {
				shape = withoutMemory
			}
			pipeline := &pgx.Batch{}
			a := s.queuePart(pipeline, b, part, shape, results)
			if err := tx.SendBatch(ctx, pipeline).Close(); err != nil {
				return err
			}
			freed += a.freed
			if a.repeated {
				// The first part knows what became of all.
				for at := range results {
					if results[at].Status != engine.Stale.Again() {
						results[at] = engine.Result{Status: engine.Applied.Again()}
					}
				}
				return nil
			}
			for _, at := range part {
				if i > 0 && results[at].Status == engine.Stale {
					stale = append(stale, at)
				}
			}
		}
		_, err := tx.Exec(ctx, "update batches set stale = coalesce(stale, '{}') || $4::integer[] "+
			"where node = $1 and generation = $2 and seq = $3",
			b.ID.Engine.Node(), int64(b.ID.Engine.Generation()), int64(b.ID.Seq), stale)
		return err
	})
	return freed, err
}

// queuePart queues the SQL statement for a part of a batch. Its answer is stored, once it comes, in results and in the
// answer returned.
func (s *Store) queuePart(pipeline *pgx.Batch, b *engine.Batch, part []int32, shape commitShape,
	results []engine.Result) *answer {
	var ends, moves outcomeArrays
	for _, at := range part {
		o := &b.Outcomes[at]
		if s.rules.ends(o.Verb) {
			ends.add(o, at)
			if o.Verb == engine.Bury {
				shape |= withBurial
			}
		} else {
			moves.add(o, at)
		}
	}
	arguments := []any{b.ID.Engine.Node(), int64(b.ID.Engine.Generation()), int64(b.ID.Seq), int64(b.Settled),
		int64(len(part))}
	if len(ends.jobs) > 0 {
		shape |= withEnds
		arguments = append(arguments, ends.jobs, ends.tokens, ends.at)
		if shape&withBurial != 0 {
			arguments = append(arguments, ends.verbs)
		}
	}
	if len(moves.jobs) > 0 {
		shape |= withMoves
		arguments = append(arguments, moves.jobs, moves.tokens, moves.at, moves.verbs, moves.delays, moves.drawn,
			moves.stands)
	}
	a := new(answer)
	pipeline.Queue(s.text.commit[shape], arguments...).Query(func(rows pgx.Rows) error {
		return readResults(rows, part, results, a)
	})
	return a
}

// answer holds the results of a batch as a whole; those of its single outcomes are kept elsewhere.
type answer struct {
	repeated bool // an earlier copy of the batch had taken effect
	freed    int  // number of jobs with a serial key that ended: the next one of each key may be claimed
}

// outcomeArrays holds outcomes of a batch in columns: one array for each array parameter of the SQL statement.
type outcomeArrays struct {
	jobs, tokens, delays, drawn []int64
	at                          []int32
	verbs, stands               []int16
}

func (a *outcomeArrays) add(o *engine.Outcome, at int32) {
	a.jobs, a.tokens, a.at = append(a.jobs, int64(o.Job)), append(a.tokens, int64(o.Token)), append(a.at, at)
	a.verbs, a.stands = append(a.verbs, int16(o.Verb)), append(a.stands, int16(o.Stand))
	a.delays, a.drawn = append(a.delays, nanoseconds(o.Delay)), append(a.drawn, nanoseconds(o.Delay+o.Passed))
}

// readResults reads the result rows of a part of a batch into results, by index in the batch, and the answer a.
func readResults(rows pgx.Rows, part []int32, results []engine.Result, a *answer) error {
	for _, at := range part {
		results[at] = engine.Result{Status: engine.Stale}
	}
	var stale []int32
	for rows.Next() {
		r := row{values: rows.RawValues()}
		what, at := r.int32(), r.int32()
		switch what {
		case rowStale:
			stale = append(stale, at)
		case rowRepeated:
			a.repeated = true
		default:
			a.freed += int(what & rowFreed / rowFreed)
			was := engine.State(what &^ rowFreed)
			class := classBefore(was, r.int32())
			results[at] = engine.Result{Status: engine.Applied, From: was, Class: class,
				Age: nonNegative(r.int64())}
		}
	}
	if a.repeated {
		for _, at := range part {
			results[at] = engine.Result{Status: engine.Applied.Again()}
		}
		for _, at := range stale {
			results[at] = engine.Result{Status: engine.Stale.Again()}
		}
	}
	return rows.Err()
}

// classBefore returns the priority class (fresh or retry) that a job had in a state, from its number of deliveries.
func classBefore(was engine.State, delivered int32) engine.Class {
	if delivered == 0 || delivered == 1 && was == engine.InFlight {
		return engine.Fresh
	}
	return engine.Retry
}
