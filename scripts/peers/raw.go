package main

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// raw is a minimal queue on PostgreSQL, the baseline: four goroutines claim up to a hundred jobs at a time, with a
// lease and a token, by FOR UPDATE SKIP LOCKED, and delete them with a fenced ack.
type raw struct{ pool *pgxpool.Pool }

const (
	rawClaimers = 4
	rawBatch    = 100
	rawPoll     = time.Millisecond // pause after finding the table empty
)

const rawTable = `create table raw (id bigint primary key, state smallint not null default 1,
	ready_at timestamptz not null default now(), token bigint not null default 0, expires_at timestamptz, payload bytea)
	with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0)`

const rawClaim = `with taken as materialized (
	select id from raw where state = 1 order by ready_at, id limit $1 for update skip locked)
update raw j set state = 3, token = j.token + 1, expires_at = clock_timestamp() + interval '30 s' from taken
where j.id = taken.id returning j.id, j.token, j.payload`

const rawAck = `delete from raw j using unnest($1::bigint[], $2::bigint[]) as o(id, token)
where j.id = o.id and j.state + 0 = 3 and j.token = o.token returning j.id`

func openRaw(ctx context.Context, s *servers) (queue, error) {
	pool, err := s.pool(ctx, s.schema("raw"))
	if err != nil {
		return nil, err
	}
	for _, text := range []string{rawTable, "create index on raw (ready_at, id) where state = 1"} {
		if _, err := pool.Exec(ctx, text); err != nil {
			return nil, err
		}
	}
	return &raw{pool}, nil
}

func (q *raw) enqueue(ctx context.Context, from, to int64) error {
	_, err := q.pool.Exec(ctx, "insert into raw (id) select generate_series($1::bigint, $2::bigint - 1)", from, to)
	return err
}

func (q *raw) work(ctx context.Context, done func(job int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for range rawClaimers {
		group.Go(func() {
			if err := q.loop(ctx, done); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != context.Canceled {
		return err
	}
	return nil
}

func (q *raw) loop(ctx context.Context, done func(job int64)) error {
	// A claim that is cut off may go on at the server, and take jobs that come later.
	calls := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		var ids, tokens []int64
		var id, token int64
		var payload []byte
		rows, err := q.pool.Query(calls, rawClaim, rawBatch)
		if err != nil {
			return err
		}
		if _, err := pgx.ForEachRow(rows, []any{&id, &token, &payload}, func() error {
			ids, tokens = append(ids, id), append(tokens, token)
			return nil
		}); err != nil {
			return err
		}
		if len(ids) == 0 {
			time.Sleep(rawPoll)
			continue
		}
		if rows, err = q.pool.Query(calls, rawAck, ids, tokens); err != nil {
			return err
		}
		if _, err := pgx.ForEachRow(rows, []any{&id}, func() error { done(id); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (q *raw) close() error { q.pool.Close(); return nil }
