package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// TestServerRestarts restarts and crashes the server while jobs are enqueued, claimed and
// committed. Calls fail with ErrUnavailable and are repeated; at the end every job was acked
// exactly once, without opening the store again.
func TestServerRestarts(t *testing.T) {
	needServer(t)
	const workers, jobs = 4, 3000
	// What is committed must survive a crash of the server, though not of the machine.
	own, err := pgserver.Start(t.Context(), pgserver.Options{Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	}()
	s, err := Open(t.Context(), own.DSN(), Options{Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var done, failed, woken atomic.Int64
	listening, stopListening := context.WithCancel(ctx)
	var listener sync.WaitGroup
	listener.Go(func() {
		for listening.Err() == nil { // again when it has lost its connection
			_ = s.Listen(listening, func() { woken.Add(1) })
			pause(listening, 5*time.Millisecond)
		}
	})
	var all sync.WaitGroup
	var unsure sync.RWMutex
	all.Go(func() { enqueueAll(t, ctx, s, jobs, &failed, &unsure) })
	acks := make([]atomic.Int32, jobs+1)
	for i := range workers {
		all.Go(func() {
			for seq := uint64(1); done.Load() < jobs && ctx.Err() == nil && !t.Failed(); seq++ {
				if err := workOnce(ctx, s, engine.NewEngineID(int32(i+1), 0), seq, &done, &failed, acks, &unsure); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i, crash := range []bool{false, true, true} {
		await(t, ctx, func() bool { return done.Load() >= int64((i+1)*jobs/5) })
		before := failed.Load()
		own.Halt(crash)
		await(t, ctx, func() bool { return failed.Load() > before })
		if err := own.Resume(ctx); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	for id := 1; id <= jobs; id++ {
		if n := acks[id].Load(); n != 1 {
			t.Errorf("job %d was acked %d times", id, n)
		}
	}
	heard := woken.Load()
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: jobs + 1}}); err != nil {
		t.Error(err)
	}
	await(t, ctx, func() bool { return woken.Load() > heard })
	stopListening()
	listener.Wait()
	t.Logf("%d calls failed meanwhile, listened %d times", failed.Load(), heard)
}

// TestServerBecomesReadOnly names two servers in the DSN, the first of which is made read-only: one call fails, those
// after it go to the second, and so do connections made later, unless the DSN or the environment says that any server
// will do.
func TestServerBecomesReadOnly(t *testing.T) {
	needServer(t)
	ctx := bounded(t)
	first, err := pgserver.Start(ctx, pgserver.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := first.Stop(); err != nil {
			t.Error(err)
		}
	})
	second := open(t, kept)
	host := func(s *pgserver.Server) string { return strings.Fields(s.DSN())[0] }
	both := strings.Replace(first.DSN(), host(first), host(first)+","+strings.TrimPrefix(host(server), "host="), 1)
	opened := func(more string) *Store {
		s, err := Open(ctx, both+more, Options{Schema: second.schema, Store: kept})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s := opened("")
	woken := listen(t, ctx, s)
	if err := s.Enqueue(ctx, jobsFrom(1, 1)); err != nil {
		t.Fatal(err)
	}
	<-woken
	for _, text := range []string{"alter system set default_transaction_read_only = on", "select pg_reload_conf()"} {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	const isReadOnly = "select (current_setting('transaction_read_only') = 'on')::int"
	await(t, ctx, func() bool { return count(t, s, isReadOnly) == 1 })
	wantError(t, s.Enqueue(ctx, jobsFrom(2, 1)), engine.ErrUnavailable, "SQLSTATE 25006")
	for _, s := range []*Store{s, opened("")} {
		if err := s.Enqueue(ctx, jobsFrom(engine.JobID(count(t, second, "select 10 + count(*) from jobs")), 1)); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-woken:
	case <-time.After(5 * time.Second):
		t.Error("nobody was woken for the jobs on the second server")
	}
	if n := count(t, second, "select count(*) from jobs"); n != 2 {
		t.Errorf("%d jobs came to the second server, want 2", n)
	}
	anyServer := opened(" target_session_attrs=any")
	t.Setenv("PGTARGETSESSIONATTRS", "any")
	for _, s := range []*Store{anyServer, opened("")} {
		if count(t, s, isReadOnly) != 1 {
			t.Error("any server will do, and it is not the first")
		}
	}
}

// listen has a store listen until the test ends, and returns a channel that receives its wakes, without the mostReady
// that come as it begins.
func listen(t *testing.T, ctx context.Context, s *Store) <-chan struct{} {
	t.Helper()
	woken := make(chan struct{}, 2*mostReady)
	listening, deafen := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		for listening.Err() == nil { // again when it has lost its connection
			_ = s.Listen(listening, func() { woken <- struct{}{} })
			pause(listening, 5*time.Millisecond)
		}
		close(done)
	}()
	t.Cleanup(func() { deafen(); <-done })
	await(t, ctx, func() bool { return len(woken) >= mostReady })
	for range mostReady {
		<-woken
	}
	return woken
}

// await waits until the function holds returns true; the test fails if ctx is done before.
func await(t *testing.T, ctx context.Context, holds func() bool) {
	t.Helper()
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come about in time")
		case <-every.C:
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

// again makes a call, and repeats it while it fails with engine.ErrUnavailable, which it counts in failed.
func again(ctx context.Context, failed *atomic.Int64, call func() error) error {
	for {
		err := call()
		if !errors.Is(err, engine.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		failed.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// enqueueAll enqueues jobs, ten by ten. Under the lock unsure, nobody acks until a call's result is known: a done job
// is forgotten, so that repeating the call would make another.
func enqueueAll(t *testing.T, ctx context.Context, s *Store, jobs int, failed *atomic.Int64, unsure *sync.RWMutex) {
	for at := 0; at < jobs; at += 10 {
		var some []engine.NewJob
		for i := range 10 {
			some = append(some, engine.NewJob{ID: engine.JobID(at + i + 1)})
		}
		unsure.Lock()
		err := again(ctx, failed, func() error { return s.Enqueue(ctx, some) })
		unsure.Unlock()
		if err != nil && !errors.Is(err, engine.ErrDuplicate) { // the one that failed had taken effect
			t.Errorf("enqueue: %v", err)
			return
		}
	}
}

// workOnce recovers or claims jobs, as engine e, and acks them. Leases granted by a call whose answer was lost expire
// soon, and are recovered.
func workOnce(ctx context.Context, s *Store, e engine.EngineID, seq uint64, done, failed *atomic.Int64, acks []atomic.Int32, unsure *sync.RWMutex) error {
	var leases []engine.Lease
	err := again(ctx, failed, func() (err error) {
		if leases, _, err = s.Recover(ctx, e, 20, 0, 2*time.Second, nil); err != nil || len(leases) > 0 {
			return err
		}
		leases, _, err = s.Claim(ctx, e, engine.Plan{Limit: 20, Terms: []engine.Term{anyTerm(20)}}, 2*time.Second, nil)
		return err
	})
	if err != nil || len(leases) == 0 {
		return err
	}
	b := engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: seq - 1}
	for i := range leases {
		b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Ack})
	}
	unsure.RLock()
	defer unsure.RUnlock()
	var results []engine.Result
	if err := again(ctx, failed, func() (err error) {
		results, err = s.Commit(ctx, b, nil)
		return err
	}); err != nil {
		return err
	}
	for i, r := range results {
		switch r.Status {
		case engine.Applied, engine.Applied.Again():
			acks[leases[i].ID].Add(1)
			done.Add(1)
		case engine.Stale, engine.Stale.Again(): // it took more than a lease
		default:
			return fmt.Errorf("job %d: %+v", leases[i].ID, r)
		}
	}
	return nil
}
