package pgstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

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
