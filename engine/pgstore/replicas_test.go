package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// TestReplicasThatDoNotAnswer runs a server that answers no commit without a replica, and there is none. Calls are given
// up while they wait, which makes their commits visible, and repeated: as long as no replica has what they did, which
// would be lost with the server, none of them is told that it is done. Once the server waits no more, they are.
func TestReplicasThatDoNotAnswer(t *testing.T) {
	needServer(t)
	ctx := bounded(t)
	own, err := pgserver.Start(ctx, pgserver.Options{Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(ctx, own.DSN(), Options{Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	waitFor := func(replica string) {
		t.Helper()
		for _, text := range []string{"alter system set synchronous_standby_names = '" + replica + "'", "select pg_reload_conf()"} {
			if _, err := s.pool.Exec(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		s.pool.Reset() // a connection reads the settings when it begins, or some time after they are read again
		await(t, ctx, func() bool {
			return count(t, s, "select (current_setting('synchronous_standby_names') = '"+replica+"')::int") == 1
		})
		await(t, ctx, func() bool { // the process of the server that tells commits to wait may read them still later
			limited, cancel := context.WithCancel(ctx)
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = s.pool.Exec(limited, "select pg_logical_emit_message(true, 'qsim', '')")
			}()
			waits := false
			await(t, ctx, func() bool {
				waits = count(t, s, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'") > 0
				select {
				case <-done:
					return true
				default:
					return waits
				}
			})
			return waits == (replica != "")
		})
	}
	if err := s.Enqueue(ctx, jobsFrom(1, 2)); err != nil {
		t.Fatal(err)
	}
	leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 2, Terms: []engine.Term{anyTerm(2)}}, time.Minute, nil)
	if err != nil || len(leases) != 2 {
		t.Fatal(leases, err)
	}
	once := engine.Batch{ID: engine.BatchID{Engine: peer, Seq: 1}, Outcomes: []engine.Outcome{{LeaseKey: leases[0].Key(), Verb: engine.Ack}}}
	twice := engine.Batch{ID: engine.BatchID{Engine: peer, Seq: 2}, Outcomes: []engine.Outcome{ // of one job: two statements
		{LeaseKey: leases[1].Key(), Verb: engine.Ack}, {LeaseKey: leases[1].Key(), Verb: engine.Ack}}}
	for _, call := range []struct {
		name string
		do   func(ctx context.Context) error
		want error // once it need not wait
	}{
		{"enqueue", func(ctx context.Context) error { return s.Enqueue(ctx, jobsFrom(10, 2)) }, engine.ErrDuplicate},
		{"enqueue many", func(ctx context.Context) error { return s.Enqueue(ctx, jobsFrom(100, copyFrom)) }, engine.ErrDuplicate},
		{"commit", func(ctx context.Context) error { _, err := s.Commit(ctx, once, nil); return err }, nil},
		{"commit twice", func(ctx context.Context) error { _, err := s.Commit(ctx, twice, nil); return err }, nil},
	} {
		t.Run(call.name, func(t *testing.T) {
			waitFor("nobody")
			jobs := count(t, s, "select count(*) from jobs")
			for again := range 3 {
				limited, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
				wantError(t, call.do(limited), engine.ErrUnavailable, "deadline")
				cancel()
				if again == 0 { // the server ends the wait soon after the caller is gone
					await(t, ctx, func() bool { return count(t, s, "select count(*) from jobs") != jobs })
				}
			}
			waitFor("")
			if err := call.do(ctx); !errors.Is(err, call.want) {
				t.Errorf("got %v, want %v", err, call.want)
			}
		})
	}
}
