package pgstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

const promotionColumns = " returning j.id, j.kind, j.tenant, j.delivery"

// promoteSQL returns the SQL statement that makes up to $1 due jobs ready that meet a further condition. made is the
// SQL expression for the time from which they count as ready: for jobs that become ready by themselves their due time,
// even if the store notices later.
func promoteSQL(r *rules, further, order, made, returning string) string {
	return now + `,
d as materialized (
	select j.id from jobs j where j.state = 2 and j.due_at <= (select now from t)` + further + `
	order by ` + order + ` limit $1 for update of j skip locked)
update jobs j set state = 1, ready_key = ` + r.readyKey("j.due_at", made, "j.stand") + `, ` +
		`stood_at = case j.stand when 0 then null else coalesce(j.stood_at, j.due_at) end
from d, t n where ` + sameJob("d.id") + returning
}

// Promote makes due jobs ready, see engine.Store. Without StoreOptions.Promoted they become ready
// by themselves and it returns none.
func (s *Store) Promote(ctx context.Context, most int, order engine.Order,
	dst []engine.Promotion) ([]engine.Promotion, error) {
	if order > engine.NewestReady {
		return dst, fmt.Errorf("promote: order %d: %w", order, engine.ErrUnsupported)
	}
	if !s.rules.options.Promoted || most <= 0 {
		return dst, nil
	}
	rows, _ := s.pool.Query(ctx, s.text.promote[order], limit(most)) // its error is that of the rows
	out, err := pgx.AppendRows(dst, rows, promotion)
	if err != nil {
		return dst, s.wrap("promote", err)
	}
	if !s.rules.options.SilentDue {
		s.wakeIn(len(out)-len(dst), engine.Forever)
	}
	return out, nil
}

// promotion reads a job that was made ready (promoted) from a result row with the columns promotionColumns.
func promotion(columns pgx.CollectableRow) (engine.Promotion, error) {
	r := row{values: columns.RawValues()}
	return engine.Promotion{Job: engine.JobID(r.int64()), Kind: engine.Kind(r.int32()),
		Tenant: engine.TenantID(r.int32()), Class: classBefore(engine.Ready, r.int32())}, nil
}

// redriveSQL returns the SQL statement that makes up to $2 dead jobs ready and due now, the first to die first: those
// listed in $1, or any if it is null. further is SQL text that sets more columns.
func redriveSQL(r *rules, further string) string {
	return now + `,
d as materialized (
	select j.id from jobs j where j.state = 5 and ($1::bigint[] is null or j.id = any($1))
	order by j.ready_key, j.id limit $2 for update of j skip locked)
update jobs j set state = 1, due_at = n.now, stood_at = null, ready_key = ` + r.readyKey("n.now", "n.now", "0") + `, ` +
		`joined = case when j.serial is not null then nextval('joined') end, unique_key = null` + further + `
from d, t n where ` + sameJob("d.id") + promotionColumns
}

// Redrive makes up to most dead jobs ready again, the first to die first; if jobs is not nil, only those among jobs.
// With reset they start over: Charged, Failures, Recoveries, Snoozes and LastDelay are 0; Delivery, Token and Age go on
// in any case. It appends them to dst, in no particular order. Jobs with a serial key go behind the others of that key;
// a unique key is lost, since another job may have it by now. Only a store with StoreOptions.KeepDead has dead jobs.
func (s *Store) Redrive(ctx context.Context, jobs []engine.JobID, most int, reset bool,
	dst []engine.Promotion) ([]engine.Promotion, error) {
	out, b := dst, &pgx.Batch{}
	b.Queue(lockAllSerials, s.serialLock(), stripes)
	b.Queue(s.text.redrive[reset], signed(jobs), limit(most)).Query(func(rows pgx.Rows) (err error) {
		out, err = pgx.AppendRows(dst, rows, promotion)
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return dst, s.wrap("redrive", err)
	}
	s.wakeIn(len(out)-len(dst), engine.Forever)
	return out, nil
}

// Dead appends up to most dead jobs to dst, in the order in which they died. Their Waited counts from their death.
func (s *Store) Dead(ctx context.Context, most int, dst []engine.Job) ([]engine.Job, error) {
	rows, _ := s.pool.Query(ctx, now+" select "+s.rules.leaseColumns()+", n.now - j.ready_key from jobs j, t n "+
		"where j.state = 5 order by j.ready_key, j.id limit $1", limit(most))
	defer rows.Close()
	for rows.Next() {
		r := row{values: rows.RawValues()}
		j := r.lease().Job
		j.Waited = nonNegative(r.int64())
		dst = append(dst, j)
	}
	return dst, s.wrap("list the dead", rows.Err())
}

// cancelSQL returns the SQL statement that buries live jobs: $1 lists their IDs. It locks them in order of their IDs,
// as commits do.
func cancelSQL(r *rules) string {
	lock := now + `,
h as materialized (
	select j.id from jobs j where j.id = any($1::bigint[]) and j.state < 5 order by j.id for update of j)`
	if r.options.KeepDead {
		return lock + `
update jobs j set state = 5, ready_key = n.now, reaped = false from h, t n where ` + sameJob("h.id") + `
returning j.id, j.serial is not null`
	}
	return lock + `,
x as (delete from jobs j using h where ` + sameJob("h.id") + ` returning j.id, j.serial is not null as freed),
y as (insert into buried select count(*) from x having count(*) > 0)
select id, freed from x`
}

// Cancel buries jobs in any state, as if they had failed for good: with StoreOptions.KeepDead they stay as dead jobs,
// else they are deleted. It appends to dst those that were live. A job in flight loses its lease: its engine learns
// that by its next heartbeat and cancels the handler's context (live.ErrLeaseLost), and the handler's result has no
// effect.
func (s *Store) Cancel(ctx context.Context, jobs []engine.JobID, dst []engine.JobID) ([]engine.JobID, error) {
	rows, _ := s.pool.Query(ctx, s.text.cancel, signed(jobs)) // its error is that of the rows
	from, freed := len(dst), 0
	var id int64
	var serial bool
	if _, err := pgx.ForEachRow(rows, []any{&id, &serial}, func() error {
		if dst = append(dst, engine.JobID(id)); serial {
			freed++
		}
		return nil
	}); err != nil {
		return dst[:from], s.wrap("cancel", err)
	}
	s.wakeIn(freed, engine.Forever)
	slices.Sort(dst[from:])
	return dst, nil
}
