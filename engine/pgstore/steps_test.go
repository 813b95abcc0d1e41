package pgstore

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// TestStepsOfCalls counts the round trips of calls: one each, and before the first claim of a plan, and the first
// statistics, two for each index that is not known to be there. The plainest plan has its index from the beginning.
func TestStepsOfCalls(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	var f fault // which never comes: it counts
	own := mute(t, s, func(c *pgxpool.Config) { c.ConnConfig.Tracer = &f })
	claim := func(terms ...engine.Term) func() error {
		return func() error {
			_, _, err := own.Claim(ctx, peer, engine.Plan{Limit: 9, Terms: terms}, time.Minute, nil)
			return err
		}
	}
	stats := func() error { _, err := own.Stats(ctx, 9); return err }
	fresh, retry := engine.Term{Class: engine.Fresh, Limit: 9}, engine.Term{Class: engine.Retry, Limit: 9}
	for _, tt := range []struct {
		name string
		call func() error
		want int32
	}{
		{"the plainest plan", claim(anyTerm(9)), 1},
		{"nothing is asked for", claim(engine.Term{Class: engine.Fresh}, anyTerm(9)), 1},
		{"a first plan", claim(fresh), 3},
		{"the same", claim(fresh), 1},
		{"another, with the same index and one more", claim(fresh, retry), 3},
		{"indexes that are there", claim(retry, fresh), 1},
		{"first statistics", stats, 5},
		{"more statistics", stats, 1},
		{"nothing to enqueue", func() error { return own.Enqueue(ctx, nil) }, 0},
		{"a few to enqueue", func() error { return own.Enqueue(ctx, jobsFrom(1, 3)) }, 1},
		{"many to enqueue, by COPY, which is not counted", func() error { return own.Enqueue(ctx, jobsFrom(10, copyFrom)) }, 0},
		{"nothing to commit", func() error { _, err := own.Commit(ctx, engine.Batch{}, nil); return err }, 0},
		{"no lease to extend", func() error {
			_, err := own.ExtendLease(ctx, nil, time.Minute, nil)
			return err
		}, 0},
		{"nothing to promote", func() error { _, err := own.Promote(ctx, 9, engine.OldestReady, nil); return err }, 0},
	} {
		f.after.Store(math.MaxInt32)
		if err := tt.call(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if n := math.MaxInt32 - f.after.Load(); n != tt.want {
			t.Errorf("%s: %d round trips, want %d", tt.name, n, tt.want)
		}
	}
	const indexes = "select count(*) from pg_indexes where schemaname = current_schema and indexname like 'ready%'"
	if n := count(t, s, indexes); n != 5 {
		t.Errorf("%d indexes of ready jobs", n)
	}
}

// jobsFrom returns n jobs from an ID on.
func jobsFrom(first engine.JobID, n int) (jobs []engine.NewJob) {
	for i := range n {
		jobs = append(jobs, engine.NewJob{ID: first + engine.JobID(i)})
	}
	return jobs
}

// TestConnectionsAreKept has calls that end with errors, none of them by the loss of a connection: no connection is made
// but the one that there is.
func TestConnectionsAreKept(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	own := mute(t, s, func(c *pgxpool.Config) { c.MaxConns = 1 })
	for range 5 {
		if err := own.Enqueue(ctx, []engine.NewJob{{ID: 1}}); err != nil && !errors.Is(err, engine.ErrDuplicate) {
			t.Fatal(err)
		}
		if _, err := own.Lead(ctx, engine.OpRecover, peer, time.Minute); err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(ctx)
		end()
		if err := own.Enqueue(ended, []engine.NewJob{{ID: 2}}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for at := range 2 {
		if err := own.Enqueue(ctx, jobsFrom(engine.JobID(100*(at+1)), copyFrom)); err != nil {
			t.Error(err)
		}
	}
	if n := own.pool.Stat().NewConnsCount(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
	own.pool.Close()
	err := own.Enqueue(ctx, jobsFrom(1000, copyFrom))
	wantError(t, err, engine.ErrUnavailable, "closed pool")
}

// TestConnectionsToAReadOnlyServer makes calls that a server refuses because it is read-only: all connections are
// replaced at the first one, since a proxy or a name may lead to another server by now, and then once a second at most.
func TestConnectionsToAReadOnlyServer(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	own := mute(t, s, func(c *pgxpool.Config) {
		c.MaxConns, c.ConnConfig.RuntimeParams["default_transaction_read_only"] = 1, "on"
	})
	began := time.Now()
	made := func() int64 { return own.pool.Stat().NewConnsCount() }
	for made() < 3 && !t.Failed() {
		before := made()
		for range 20 {
			wantError(t, own.Enqueue(ctx, jobsFrom(1, 1)), engine.ErrUnavailable, "SQLSTATE 25006")
		}
		if n, most := made(), 2+int64(time.Since(began).Seconds()); n > most {
			t.Fatalf("%d connections were made, want at most %d", n, most)
		}
		if before == 0 && made() < 2 {
			t.Fatal("the connection was kept")
		}
	}
}

// TestConnectionsAreClosed opens and closes a store: no connection stays.
func TestConnectionsAreClosed(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	own, err := Open(ctx, server.DSN()+" application_name='once "+s.schema+"'", Options{Schema: s.schema, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Enqueue(ctx, jobsFrom(1, 1)); err != nil {
		t.Error(err)
	}
	own.Close()
	await(t, ctx, func() bool { // each ends some time after its last message
		return count(t, s, "select count(*) from pg_stat_activity where application_name = 'once "+s.schema+"'") == 0
	})
}
