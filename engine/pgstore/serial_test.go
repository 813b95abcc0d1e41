package pgstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"qsim/engine"
)

// TestSerialNumbers has a job of a key enqueued while the transaction of an earlier one is
// still open. It must not be numbered and seen before: both would be in flight.
func TestSerialNumbers(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	ctx := bounded(t)
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	const key = 7
	if _, err := s.EnqueueTx(ctx, tx, []engine.NewJob{{ID: 1, Serial: key}}); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- s.Enqueue(ctx, []engine.NewJob{{ID: 2, Serial: key}, {ID: 3, Serial: 8}}) }()
	await(t, ctx, func() bool {
		select {
		case err := <-second:
			t.Fatalf("the second job did not wait for the first: %v", err)
		default:
		}
		var waiting int
		if err := s.pool.QueryRow(ctx, "select count(*) from pg_locks where locktype = 'advisory' and not granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	l, _, err := s.Claim(ctx, 1, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
	if err != nil || len(l) != 2 || l[0].ID != 1 || l[1].ID != 3 {
		t.Errorf("claimed %+v, %v; want jobs 1 and 3", l, err)
	}
}

// TestBuriedAreSummed buries many jobs one by one, in a schema whose tables are published: their count is stored without
// a row for each, and the records of settled batches are deleted.
func TestBuriedAreSummed(t *testing.T) {
	const engines, each = 3, 100
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	t.Cleanup(func() { _, _ = s.pool.Exec(context.Background(), "drop publication "+s.schema) })
	if _, err := s.pool.Exec(ctx, "create publication "+s.schema+" for table version, jobs, buried, batches"); err != nil {
		t.Fatal(err)
	}
	var some []engine.NewJob
	for id := range engine.JobID(engines * each) {
		some = append(some, engine.NewJob{ID: id + 1})
	}
	if err := s.Enqueue(ctx, some); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range engines {
		all.Go(func() {
			e := engine.NewEngineID(int32(n), 0)
			for seq := range uint64(each) {
				l, _, err := s.Claim(ctx, e, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Minute, nil)
				if err != nil || len(l) != 1 {
					t.Errorf("%v, %v", l, err)
					return
				}
				b := acks(e, seq+1, l)
				b.Outcomes[0].Verb = engine.Bury
				if _, err := s.Commit(ctx, b, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var rows int
	if err := s.pool.QueryRow(ctx, "select count(*) from buried").Scan(&rows); err != nil || rows > 16+engines*forgetEvery {
		t.Errorf("%d rows for %d burials, %v", rows, engines*each, err)
	}
	if n := count(t, s, "select count(*) from batches"); n > engines*(forgetEvery+2) {
		t.Errorf("%d batches are remembered of %d that were settled", n, engines*each)
	}
	if st, err := s.Stats(ctx, 0); err != nil || st.Dead != engines*each {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestLapsedNeedsNoGrace recovers a lease that lapses at its expiry without waiting for grace: it has no holder any
// more.
func TestLapsedNeedsNoGrace(t *testing.T) {
	for _, tt := range []struct {
		lapse time.Duration
		want  int
	}{{0, 1}, {time.Minute, 0}, {-1, 0}} {
		s := open(t, engine.StoreOptions{LapseAfter: tt.lapse})
		move := stopClock(t, s)
		if err := s.Enqueue(t.Context(), []engine.NewJob{{ID: 1}}); err != nil {
			t.Fatal(err)
		}
		plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}
		if l, _, err := s.Claim(t.Context(), 1, plan, time.Second, nil); err != nil || len(l) != 1 {
			t.Fatalf("claimed %v, %v", l, err)
		}
		move(time.Second)
		if l, _, err := s.Recover(t.Context(), 2, 9, time.Hour, time.Second, nil); err != nil || len(l) != tt.want {
			t.Errorf("lapses after %v: %d leases are recovered, want %d: %v", tt.lapse, len(l), tt.want, err)
		}
	}
}

// TestFreedKeysAreCounted announces a job for each serial key that a commit frees, not for other jobs that end.
func TestFreedKeysAreCounted(t *testing.T) {
	again := engine.Outcome{LeaseKey: engine.LeaseKey{Job: 1, Token: 1}, Verb: engine.Ack}
	for _, tt := range []struct {
		name string
		keep bool
		verb engine.Verb
		more []engine.Outcome
	}{
		{"acks", false, engine.Ack, nil},
		{"burials", false, engine.Bury, nil},
		{"burials that are kept", true, engine.Bury, nil},
		{"two outcomes of one job", false, engine.Ack, []engine.Outcome{again}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: tt.keep}), bounded(t)
			own := mute(t, s, nil)
			if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1, Serial: 7}, {ID: 2, Serial: 8}, {ID: 3}}); err != nil {
				t.Fatal(err)
			}
			leases, _, err := own.Claim(ctx, peer, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := acks(peer, 1, leases)
			for i := range b.Outcomes {
				b.Outcomes[i].Verb = tt.verb
			}
			b.Outcomes = append(b.Outcomes, tt.more...)
			_, err = own.Commit(ctx, b, nil)
			if ready, _ := own.news.take(); err != nil || ready != 2 {
				t.Errorf("%d jobs are announced, want 2: %v", ready, err)
			}
		})
	}
}
