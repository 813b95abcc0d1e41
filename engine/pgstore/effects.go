package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// Effect is the result of Effects.Apply for a job's side effect: applied, applied before, or refused.
type Effect uint8

const (
	EffectStale   Effect = iota // the job is somebody else's by now, or has ended: nothing was applied
	EffectKnown                 // an earlier delivery had applied it: nothing was applied, and the work is done
	EffectApplied               // this delivery has applied the effect
)

// Effects is a table in which handlers record their side effects, each at most once: a job's effect is applied only by
// the delivery that holds the job. It shows how to fence side effects in the same database, and tests of several
// processes read it.
type Effects struct{ store *Store }

// Effects returns the table of effects, and creates it if it does not exist.
func (s *Store) Effects(ctx context.Context) (*Effects, error) {
	var found bool
	err := s.pool.QueryRow(ctx, "select to_regclass($1) is not null", quoted(s.schema)+".effects").Scan(&found)
	if err != nil {
		return nil, s.wrap("look for table effects", err)
	}
	if found {
		return &Effects{s}, nil
	}
	// One at a time, like install: two concurrent creations may both find no table.
	b := &pgx.Batch{}
	b.Queue("select pg_advisory_xact_lock($1)", lockKey(s.schema))
	b.Queue(`create table if not exists effects (job bigint primary key, delivery integer not null, node integer not null,
		applied_at bigint not null default batch_ns())`)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, s.wrap("create table effects", err)
	}
	return &Effects{s}, nil
}

// applySQL is the SQL statement that records the effect of a job once, if the given delivery still holds the job: it
// locks the job's row, so that nobody can recover it meanwhile.
const applySQL = `
with held as materialized (
	select 1 from jobs where id = $1 and delivery = $2 and state + 0 = 3 and not reaped for share),
applied as (
	insert into effects (job, delivery, node) select $1, $2, $3 from held on conflict (job) do nothing returning 1)
select (select count(*) from held), (select count(*) from applied)`

// Apply records the side effect of job j, executed on a node, unless it was applied before or the job's lease is lost.
func (e *Effects) Apply(ctx context.Context, j *engine.Job, node int32) (Effect, error) {
	id, err := number("job", j.ID)
	if err != nil {
		return EffectStale, err
	}
	var held, applied int
	if err := e.store.pool.QueryRow(ctx, applySQL, id, j.Delivery, node).Scan(&held, &applied); err != nil {
		return EffectStale, e.store.wrap(fmt.Sprintf("apply the effect of job %d", id), err)
	}
	switch {
	case applied > 0:
		return EffectApplied, nil
	case held > 0:
		return EffectKnown, nil
	}
	return EffectStale, nil
}
