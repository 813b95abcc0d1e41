package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// extendSQL returns the SQL statement that restarts leases: $1 jobs, $2 tokens, $3 TTL. It changes no indexed column,
// and passes over rows that another transaction has locked.
func extendSQL(r *rules) string {
	fence := inFlight + r.notLapsed()
	if r.options.Fence == engine.FenceToken {
		fence += " and j.token = o.token"
	}
	held := `
	from unnest($1::bigint[], $2::bigint[]) as o(job, token), t n, jobs j
	where ` + sameJob("o.job") + ` and ` + fence
	return now + `,
l as materialized (
	select j.id` + held + `
	for no key update of j skip locked),
u as (update jobs j set expires_at = n.now + $3 from l, t n where ` + sameJob("l.id") + ` returning j.id, j.token)
select id, token, 1 from u union all
select j.id, j.token, 0` + held + ` and (select count(*) from u) < cardinality($1)`
}

// ExtendLease restarts the TTL of leases, see engine.Store. The status of a job that another transaction has locked is
// Unapplied: it is not waited for, since all other leases would expire meanwhile, and nobody can recover it either.
func (s *Store) ExtendLease(ctx context.Context, keys []engine.LeaseKey, ttl time.Duration,
	dst []engine.Status) ([]engine.Status, error) {
	if len(keys) == 0 {
		return dst, nil
	}
	jobs, tokens := make([]int64, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		jobs[i], tokens[i] = int64(k.Job), int64(k.Token)
	}
	// By job: the token of its lease, and the status of the extension.
	held, statuses := make(map[int64]int64, len(keys)), make(map[int64]engine.Status, len(keys))
	rows, _ := s.beats.Query(ctx, s.text.extend, jobs, tokens, nanoseconds(ttl))
	var job, token int64
	var status engine.Status
	if _, err := pgx.ForEachRow(rows, []any{&job, &token, &status}, func() error {
		held[job], statuses[job] = token, max(statuses[job], status)
		return nil
	}); err != nil {
		return dst, s.wrap("extend leases", err)
	}
	for _, k := range keys {
		status, fenced := engine.Stale, s.rules.options.Fence == engine.FenceToken
		if token, ok := held[int64(k.Job)]; ok && (!fenced || token == int64(k.Token)) {
			status = statuses[int64(k.Job)]
		}
		dst = append(dst, status)
	}
	return dst, nil
}

// extendNodeSQL returns the SQL statement that restarts the TTL, as $2, of all leases whose holder meets a given
// condition, such as to be engine $1. It passes over rows that another transaction has locked.
func extendNodeSQL(r *rules, whose string) string {
	return now + `,
l as materialized (
	select j.id from t n, jobs j where j.state = 3 and not j.reaped and ` + whose + r.notLapsed() + `
	for no key update of j skip locked)
update jobs j set expires_at = n.now + $2 from l, t n where ` + sameJob("l.id")
}

// ExtendNode restarts the TTL of all leases of a holder, see engine.Store, but of jobs that another transaction has
// locked. It reads every job in flight.
func (s *Store) ExtendNode(ctx context.Context, holder engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	done, err := s.beats.Exec(ctx, s.text.extendNode[kept], int64(holder), nanoseconds(ttl))
	return int(done.RowsAffected()), s.wrap("extend leases of a node", err)
}

// recoverSQL returns two SQL statements: the first moves up to $4 jobs, whose leases expired at least $3 ago, to holder
// $1 with a lease of $2; the second returns the time until another lease can be recovered after the grace period $1.
func recoverSQL(r *rules) (take, next string) {
	take = now + fmt.Sprintf(`,
e as materialized (
	select j.id, j.holder as was, j.expires_at as expired from jobs j where j.state = 3 and %s <= (select now from t)
	order by j.expires_at, j.id limit $4 for update of j skip locked)
update jobs j set holder = $1, token = j.token + %s, expires_at = n.now + $2, reaped = true, %s
from e, t n where %s
returning e.was, e.expired, %s`, r.expiry("$3::bigint"), r.lapses(), r.recovered(), sameJob("e.id"), r.leaseColumns())
	next = now + " select min(" + r.expiry("$1::bigint") + ") - (select now from t) from jobs j where j.state = 3"
	return take, next
}

// Recover takes expired leases, see engine.Store, in the order of expiry. A lease is a part of its job's row, so that
// there are no orphans (jobs without one). While recoveries are slow because of dead rows, most calls return nothing at
// once.
func (s *Store) Recover(ctx context.Context, holder engine.EngineID, most int, grace, ttl time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	if wait := s.fronts.restOfReaper(time.Now()); wait > 0 {
		return dst, wait, nil
	}
	began, next := time.Now(), engine.Forever
	got := placed{leases: dst[len(dst):]} // by expiry
	b := &pgx.Batch{}
	take := b.Queue(s.text.recover, int64(holder), nanoseconds(ttl), nanoseconds(grace), limit(most))
	take.Query(func(rows pgx.Rows) error {
		for rows.Next() {
			r := row{values: rows.RawValues()}
			was, expired := engine.EngineID(r.int64()), r.int64()
			l := r.lease()
			l.Holder = was
			got.add(expired, l)
		}
		return rows.Err()
	})
	b.Queue(s.text.nextExpiry, nanoseconds(grace)).QueryRow(func(row pgx.Row) error {
		var in *int64
		err := row.Scan(&in)
		if in != nil {
			next = nonNegative(*in)
		}
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return dst, engine.Forever, s.wrap("recover", err)
	}
	took := time.Since(began)
	s.fronts.reaped(took, got.Len() < most && s.isDear(ctx, took)) // all the rest at once
	if next == 0 && got.Len() < most {
		next = lockedPause
	}
	return append(dst, got.sorted()...), next, nil
}

// nonNegative returns a time that has passed or is left by the server's clock, in nanoseconds, as a duration: 0 if it
// is negative, as after the clock was set back.
func nonNegative(d int64) time.Duration { return time.Duration(max(d, 0)) }

const leadSQL = now + `
insert into leaders as l (role, engine, until) select $1::smallint, $2::bigint, t.now + $3::bigint from t
on conflict (role) do update set engine = excluded.engine, until = excluded.until
where l.engine = excluded.engine or l.until <= excluded.until - $3::bigint`

// Lead makes an engine the leader for a role, such as recovery, unless another leads, and reports whether it leads.
func (s *Store) Lead(ctx context.Context, role engine.Op, e engine.EngineID, ttl time.Duration) (bool, error) {
	done, err := s.pool.Exec(ctx, leadSQL, int16(role), int64(e), nanoseconds(ttl))
	return done.RowsAffected() == 1, s.wrap("lead", err)
}

const nextLifeSQL = `insert into lives as l (node, generation) values ($1, 0)
on conflict (node) do update set generation = l.generation + 1 returning generation`

// NextLife counts one more start of a node's engine and returns the number of earlier ones, as live.Registry requires.
func (s *Store) NextLife(ctx context.Context, node int32) (uint32, error) {
	var generation int64
	err := s.pool.QueryRow(ctx, nextLifeSQL, node).Scan(&generation)
	return uint32(generation), s.wrap("count the lives of an engine", err)
}
