package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// TestEnqueueTx enqueues in transactions on a connection of the caller's, with other tables: jobs
// exist if the transaction commits and not before, the caller's search path is restored, and engines
// are woken by announce.
func TestEnqueueTx(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	conn, err := pgx.Connect(ctx, server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, "create temporary table jobs (orders text)"); err != nil { // not the store's
		t.Fatal(err)
	}
	woken := listen(t, ctx, s)
	ready := func() int {
		t.Helper()
		stats, err := s.Stats(ctx, 100)
		if err != nil {
			t.Fatal(err)
		}
		return stats.Ready[engine.Fresh]
	}
	enqueue := func(finish func(tx pgx.Tx) error, jobs ...engine.NewJob) (announce func()) {
		t.Helper()
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		before := ready()
		if announce, err = s.EnqueueTx(ctx, tx, jobs); err != nil {
			t.Fatal(err)
		}
		if got := ready(); got != before {
			t.Errorf("%d jobs are ready before the commit, %d before they were enqueued", got, before)
		}
		if _, err := tx.Exec(ctx, "insert into jobs (orders) values ('mine')"); err != nil {
			t.Errorf("a table of the caller's: %v", err)
		}
		if err := finish(tx); err != nil {
			t.Fatal(err)
		}
		return announce
	}
	commit, rollBack := func(tx pgx.Tx) error { return tx.Commit(ctx) }, func(tx pgx.Tx) error { return tx.Rollback(ctx) }
	enqueue(rollBack, engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
	if n := ready(); n != 0 {
		t.Errorf("%d jobs of a transaction that was rolled back are ready", n)
	}
	announce := enqueue(commit, engine.NewJob{ID: 1, Payload: []byte("pay")}, engine.NewJob{ID: 2, Serial: 7})
	if n := ready(); n != 2 {
		t.Errorf("%d jobs are ready after the commit, want 2", n)
	}
	announce()
	select {
	case <-woken:
	case <-time.After(5 * time.Minute):
		t.Error("nobody is told")
	}
	plan := engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}
	l, _, err := s.Claim(ctx, engine.NewEngineID(1, 0), plan, time.Minute, nil)
	if err != nil || len(l) != 2 || string(l[0].Payload) != "pay" {
		t.Errorf("claimed %v, %v", l, err)
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.EnqueueTx(ctx, tx, []engine.NewJob{{ID: 2}}); !errors.Is(err, engine.ErrDuplicate) {
		t.Errorf("an ID that is live: %v", err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EnqueueTx(ctx, nil, []engine.NewJob{{ID: 0}}); err == nil {
		t.Error("a job without an ID")
	}
	if announce, err := s.EnqueueTx(ctx, nil, nil); err != nil || announce == nil {
		t.Errorf("no jobs: %v", err)
	}
	var path string
	if err := conn.QueryRow(ctx, "show search_path").Scan(&path); err != nil || path == quoted(s.schema) {
		t.Errorf("the search path is %s, %v", path, err)
	}
	var orders int
	if err := conn.QueryRow(ctx, "select count(*) from jobs").Scan(&orders); err != nil || orders != 1 {
		t.Errorf("%d orders, want that of the transaction that committed, %v", orders, err)
	}
}
