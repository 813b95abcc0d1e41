package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

var kept = engine.StoreOptions{LapseAfter: -1, KeepDead: true}

// bounded returns a context that ends with the test, or after five minutes, so that nothing hangs.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// holding begins a transaction on a connection of its own and executes an SQL statement in it. It returns a function
// that rolls it back.
func holding(t testing.TB, s *Store, sql string) (rollback func()) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), s.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
	t.Cleanup(end)
	for _, text := range []string{"begin", sql} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return end
}

// awaitWaiting returns once that many sessions of the server wait for locks.
func awaitWaiting(t *testing.T, s *Store, ctx context.Context, sessions int) {
	t.Helper()
	await(t, ctx, func() bool {
		var n int
		if err := s.pool.QueryRow(ctx, "select count(distinct pid) from pg_locks where not granted").Scan(&n); err != nil {
			t.Error(err)
		}
		return n >= sessions
	})
}

// TestLockedRowsAreLeftAlone has a transaction lock a waiting job that is due, or a lease that has expired: who asks for
// such is to come again a little later, not at once, and then gets it.
func TestLockedRowsAreLeftAlone(t *testing.T) {
	plan := engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}
	for _, tt := range []struct {
		name string
		call func(s *Store, ctx context.Context) ([]engine.Lease, time.Duration, error)
		made string // SQL that makes a job which call takes
	}{
		{"due", func(s *Store, ctx context.Context) ([]engine.Lease, time.Duration, error) {
			return s.Claim(ctx, peer, plan, time.Minute, nil)
		}, "state = 2, due_at = now_ns() - 1000"},
		{"expired", func(s *Store, ctx context.Context) ([]engine.Lease, time.Duration, error) {
			return s.Recover(ctx, peer, 9, 0, time.Minute, nil)
		}, "state = 3, token = 1, delivery = 1, holder = 1, expires_at = now_ns() - 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
			if err := s.Enqueue(ctx, jobsFrom(1, 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.pool.Exec(ctx, "update jobs set "+tt.made); err != nil {
				t.Fatal(err)
			}
			free := holding(t, s, "select from jobs for update")
			if l, next, err := tt.call(s, ctx); err != nil || len(l) != 0 || next != lockedPause {
				t.Errorf("locked: %d leases, the next after %v, %v", len(l), next, err)
			}
			free()
			await(t, ctx, func() bool {
				l, _, err := tt.call(s, ctx)
				return err == nil && len(l) == 1
			})
		})
	}
}

// TestRedriveLocksSerialKeys has a transaction hold the lock of one serial key, the first of all or the last: who
// redrives dead jobs, which are numbered in their keys again, waits for it.
func TestRedriveLocksSerialKeys(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	for _, stripe := range []int{0, stripes - 1} {
		free := holding(t, s, fmt.Sprintf("select pg_advisory_xact_lock(%d, %d)", s.serialLock(), stripe))
		done := make(chan error, 1)
		go func() {
			_, err := s.Redrive(ctx, nil, 9, false, nil)
			done <- err
		}()
		await(t, ctx, func() (waits bool) {
			err := s.pool.QueryRow(ctx, "select exists (select from pg_locks where not granted)").Scan(&waits)
			if err != nil || len(done) > 0 {
				t.Errorf("%d: %v; it does not wait: %v", stripe, err, len(done) > 0)
			}
			return waits
		})
		free()
		if err := <-done; err != nil {
			t.Errorf("redrive: %v", err)
		}
	}
}

// TestCancelDuringCommit makes a cancellation wait for a row among those that a commit of acks and nacks is about to
// change: one runs after the other, without a deadlock.
func TestCancelDuringCommit(t *testing.T) {
	const jobs = 100
	s, ctx := open(t, kept), bounded(t)
	if err := s.Enqueue(ctx, jobsFrom(1, jobs)); err != nil {
		t.Fatal(err)
	}
	leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: jobs, Terms: []engine.Term{anyTerm(jobs)}}, time.Minute, nil)
	if err != nil || len(leases) != jobs {
		t.Fatalf("%d leases, %v", len(leases), err)
	}
	b, all := acks(peer, 1, leases), sync.WaitGroup{}
	var ids []engine.JobID
	for i := range leases {
		if ids = append(ids, leases[i].ID); leases[i].ID <= jobs/2 {
			b.Outcomes[i].Verb, b.Outcomes[i].Delay = engine.Nack, time.Hour
		}
	}
	release := holding(t, s, "select from jobs where id = 50 for update")
	all.Go(func() {
		if _, err := s.Cancel(ctx, ids, nil); err != nil {
			t.Errorf("cancel: %v", err)
		}
	})
	awaitWaiting(t, s, ctx, 1)
	all.Go(func() {
		if _, err := s.Commit(ctx, b, nil); err != nil {
			t.Errorf("commit: %v", err)
		}
	})
	awaitWaiting(t, s, ctx, 2)
	release()
	all.Wait()
}

// TestHeartbeatsGoOn has a transaction lock the rows of jobs, so that commits of these wait for it on all connections
// of the pool: heartbeats, of jobs and of a node, extend all other leases, and the locked ones count as held, but not as extended.
func TestHeartbeatsGoOn(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	own, err := Open(ctx, server.DSN(), Options{Schema: s.schema, Store: kept, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Close)
	if err := own.Enqueue(ctx, jobsFrom(1, 4)); err != nil {
		t.Fatal(err)
	}
	leases, _, err := own.Claim(ctx, peer, engine.Plan{Limit: 4, Terms: []engine.Term{anyTerm(4)}}, time.Minute, nil)
	if err != nil || len(leases) != 4 {
		t.Fatalf("%d leases, %v", len(leases), err)
	}
	holding(t, s, "select from jobs where id > 2 for key share") // as for a foreign key: it stops no heartbeat
	release := holding(t, s, "select from jobs where id <= 2 for update")
	var commits sync.WaitGroup
	for i := range 2 {
		commits.Go(func() {
			if _, err := own.Commit(ctx, acks(peer, uint64(i+1), leases[i:i+1]), nil); err != nil {
				t.Error(err)
			}
		})
	}
	awaitWaiting(t, s, ctx, 2)
	beating, end := context.WithTimeout(ctx, 2*time.Second)
	defer end()
	var keys []engine.LeaseKey
	for i := range leases {
		keys = append(keys, leases[i].Key())
	}
	keys[3].Token++
	held, err := own.ExtendLease(beating, keys, time.Hour, nil)
	want := []engine.Status{engine.Unapplied, engine.Unapplied, engine.Applied, engine.Stale}
	if err != nil || !slices.Equal(held, want) {
		t.Errorf("heartbeat of jobs: %v, %v, want %v", held, err, want)
	}
	const extended = "select coalesce(sum(1 << id::integer), 0) from jobs where expires_at > now_ns() + 1800 * 1000000000::bigint"
	if n := count(t, s, extended); n != 1<<3 {
		t.Errorf("heartbeat of jobs: extended are %b", n)
	}
	if n, err := own.ExtendNode(beating, peer, false, time.Hour); n != 2 || err != nil {
		t.Errorf("heartbeat of a node: extended %d, %v", n, err)
	}
	if n := count(t, s, extended); n != 1<<3|1<<4 {
		t.Errorf("heartbeat of a node: extended are %b", n)
	}
	release()
	commits.Wait()
}

// TestIndexesThatAreThere opens a store with built indexes in another process, while a transaction
// that has written to it is open: it neither waits for that nor makes others wait.
func TestIndexesThatAreThere(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Fresh, Limit: 1}}}
	use := func(s *Store) error {
		_, err := s.Stats(ctx, 0)
		_, _, err2 := s.Claim(ctx, 1, plan, time.Minute, nil)
		return errors.Join(err, err2)
	}
	if err := use(s); err != nil {
		t.Fatal(err)
	}
	holding(t, s, "insert into jobs (id, kind, tenant, priority) values (9, 0, 0, 0)")
	second, err := Open(ctx, server.DSN(), Options{Schema: s.schema, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := use(second); err != nil {
		t.Error(err)
	}
}

// unfinished begins a transaction that has written, for which the build of an index waits until it ends.
func unfinished(t *testing.T, ctx context.Context, s *Store) pgx.Tx {
	t.Helper()
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(ctx)) })
	if _, err := tx.Exec(ctx, "insert into jobs (id, kind, tenant, priority) values (9, 0, 0, 0)"); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestBuildOutlivesCalls has a claim begin to build an index that takes longer than the claim may, and than the server
// lets statements take, here since a transaction that has written is open: the claim ends in time, and the index is there
// later without another.
func TestBuildOutlivesCalls(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	hurried, err := Open(ctx, server.DSN(), Options{Schema: s.schema, Store: kept, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer hurried.Close()
	if _, err := hurried.pool.Exec(ctx, "set statement_timeout = '1s'"); err != nil {
		t.Fatal(err)
	}
	tx := unfinished(t, ctx, s)
	claim := func(ctx context.Context) error {
		_, _, err := hurried.Claim(ctx, 1, engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Fresh, Limit: 1}}}, time.Minute, nil)
		return err
	}
	for range 20 { // more than there are connections
		hasty, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		wantError(t, claim(hasty), engine.ErrUnavailable, "build index ready_fresh_oldest: engine: store unavailable: it goes on: ")
		cancel()
	}
	time.Sleep(1500 * time.Millisecond) // longer than the statement_timeout
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, func() bool {
		return count(t, s, "select count(*) from pg_class where oid = to_regclass('ready_fresh_oldest')") == 1
	})
	if err := claim(ctx); err != nil {
		t.Error(err)
	}
}

// TestBuildLetsOthersThrough has a claim begin to build an index while a transaction that has written stays open: jobs
// can be enqueued again before that ends, and the index is built once it has ended.
func TestBuildLetsOthersThrough(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	tx := unfinished(t, ctx, s)
	claim := func() error {
		_, _, err := s.Claim(ctx, 1, engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Fresh, Limit: 1}}}, time.Minute, nil)
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- claim() }()
	await(t, ctx, func() bool {
		return count(t, s, "select count(*) from pg_locks where relation = 'jobs'::regclass and not granted") == 1
	})
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, 3*buildWithin)
	defer cancel()
	if err := s.Enqueue(limited, jobsFrom(1, 1)); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	select {
	case err := <-failed:
		wantError(t, err, ErrStatementTimeout, "lock timeout (SQLSTATE 55P03)")
	case <-limited.Done():
		t.Fatal("the claim waits for as long as the transaction is open")
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := claim(); err != nil {
		t.Error(err)
	}
}

// TestRoleThatOwnsNothing works on a store made by another role, with rights to its rows only; it
// reports an index that it may not build.
func TestRoleThatOwnsNothing(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	if _, err := s.Stats(ctx, 0); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"create role clerk login", "grant usage on schema " + s.schema + " to clerk",
		"grant select, insert, update, delete on all tables in schema " + s.schema + " to clerk", "grant usage on all sequences in schema " + s.schema + " to clerk"} {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, text := range []string{"drop owned by clerk", "drop role clerk"} {
			if _, err := s.pool.Exec(ctx, text); err != nil {
				t.Error(err)
			}
		}
	}()
	clerk, err := Open(ctx, server.DSN()+" user=clerk", Options{Schema: s.schema, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer clerk.Close()
	if err := clerk.Enqueue(ctx, []engine.NewJob{{ID: 1}}); err != nil {
		t.Error(err)
	}
	if _, err := clerk.Stats(ctx, 0); err != nil {
		t.Error(err)
	}
	if l, _, err := clerk.Claim(ctx, 1, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Minute, nil); err != nil || len(l) != 1 {
		t.Errorf("%v, %v", l, err)
	}
	_, _, err = clerk.Claim(ctx, 1, engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Fresh, Limit: 1}}}, time.Minute, nil)
	wantError(t, err, ErrDenied, "build index ready_fresh_oldest")
}

// TestIndexThatIsNotValid reports an index whose build was never finished: no plan would use it.
func TestIndexThatIsNotValid(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	for _, text := range []string{"create index ready_fresh_oldest on jobs (id) where state = 1 and delivery = 0",
		"update pg_index set indisvalid = false where indexrelid = 'ready_fresh_oldest'::regclass"} {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := s.Claim(ctx, 1, engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Fresh, Limit: 1}}}, time.Minute, nil)
	wantError(t, err, engine.ErrUnavailable, "ready_fresh_oldest is not valid")
}

// TestIsolation runs conflicting claims and commits on connections whose role or database sets a
// higher isolation level than they can use: none fails.
func TestIsolation(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	for i, level := range []string{"repeatable read", "serializable"} {
		strict, err := Open(ctx, server.DSN()+" default_transaction_isolation='"+level+"'", Options{Schema: s.schema, Store: kept})
		if err != nil {
			t.Fatal(err)
		}
		defer strict.Close()
		const jobs, engines = 600, 6
		var some []engine.NewJob
		for n := range jobs {
			some = append(some, engine.NewJob{ID: engine.JobID(i*jobs + n + 1)})
		}
		if err := strict.Enqueue(ctx, some); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range engines {
			all.Go(func() {
				e := engine.NewEngineID(int32(i*engines+n), 0)
				for seq := range uint64(jobs / engines / 10) {
					l, _, err := strict.Claim(ctx, e, engine.Plan{Limit: 10, Terms: []engine.Term{anyTerm(10)}}, time.Minute, nil)
					if err == nil {
						_, err = strict.Commit(ctx, acks(e, seq+1, l), nil)
					}
					if err != nil {
						t.Errorf("%s: %v", level, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// TestExecModes opens a store with every way that pgx has to send statements: it works, or
// is refused.
func TestExecModes(t *testing.T) {
	needServer(t)
	for mode, works := range map[string]bool{"cache_statement": true, "cache_describe": true, "describe_exec": true, "exec": false, "simple_protocol": false} {
		t.Run(mode, func(t *testing.T) {
			ctx := bounded(t)
			s, err := Open(ctx, server.DSN()+" default_query_exec_mode="+mode, Options{Schema: newSchema(), Store: kept})
			if !works {
				if err == nil {
					s.Close()
				}
				wantError(t, err, engine.ErrUnsupported, "default_query_exec_mode="+mode)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			defer func() {
				if err := s.Drop(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			}()
			if err := s.Enqueue(ctx, []engine.NewJob{{ID: 12345678, Payload: []byte("x")}, {ID: 7, Serial: 1}}); err != nil {
				t.Fatal(err)
			}
			l, _, err := s.Claim(ctx, 1, engine.Plan{Limit: 5, Terms: []engine.Term{anyTerm(5)}}, time.Minute, nil)
			if err != nil || len(l) != 2 || l[1].ID != 12345678 || string(l[1].Payload) != "x" {
				t.Fatalf("%v, %v", l, err)
			}
			if r, err := s.Commit(ctx, acks(1, 1, l), nil); err != nil || r[0].Status != engine.Applied || r[1].Status != engine.Applied {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}
