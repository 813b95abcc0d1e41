package pgstore

import (
	"context"
	"fmt"

	"qsim/engine"
)

// statsSQL returns the SQL statement that counts up to $1 jobs of each state, or all jobs if $1 is null.
func statsSQL(r *rules) string {
	due := "false"
	if r.promotesItself() {
		due = "j.due_at <= (select now from t)"
	}
	oldest := func(class engine.Class, delivery string) string {
		return fmt.Sprintf("greatest(0, n.now - (select j.due_at from jobs j where %s order by j.due_at, j.id limit 1), "+
			"(select max(n.now - due_at) from w where due and delivery %s))", ofClass(class, "j."), delivery)
	}
	return now + `,
r as materialized (select j.delivery from jobs j where j.state = 1 order by j.priority, j.ready_key, j.id limit $1),
w as materialized (
	select j.delivery, j.due_at, ` + due + ` as due from jobs j where j.state = 2 order by j.due_at, j.id limit $1),
f as materialized (select j.delivery from jobs j where j.state = 3 order by j.id limit $1),
d as materialized (select from jobs j where j.state = 5 order by j.ready_key, j.id limit $1)
select (select count(*) from r where delivery = 0) + (select count(*) from w where delivery = 0 and due),
	(select count(*) from r where delivery > 0) + (select count(*) from w where delivery > 0 and due),
	(select count(*) from w where delivery = 0 and not due), (select count(*) from w where delivery > 0 and not due),
	(select count(*) from f where delivery <= 1), (select count(*) from f where delivery > 1),
	` + oldest(engine.Fresh, "= 0") + ", " + oldest(engine.Retry, "> 0") + `,
	(select count(*) from d) + (select coalesce(sum(jobs), 0)::bigint from buried)
from t n`
}

// Stats counts jobs by state and class, see engine.Store; with most above 0 it counts up to about that many of each
// state. The age of the oldest ready job counts from when it became ready.
func (s *Store) Stats(ctx context.Context, most int) (engine.Stats, error) {
	byAge := []line{{engine.Fresh, byNothing, longReady}, {engine.Retry, byNothing, longReady}}
	if err := s.build(ctx, byAge); err != nil {
		return engine.Stats{}, fmt.Errorf("stats: %w", err)
	}
	var bound *int64
	if most > 0 {
		bound = new(limit(most))
	}
	var st engine.Stats
	err := s.pool.QueryRow(ctx, s.text.stats, bound).Scan(&st.Ready[0], &st.Ready[1], &st.Waiting[0], &st.Waiting[1],
		&st.InFlight[0], &st.InFlight[1], (*int64)(&st.OldestReady[0]), (*int64)(&st.OldestReady[1]), &st.Dead)
	return st, s.wrap("stats", err)
}
