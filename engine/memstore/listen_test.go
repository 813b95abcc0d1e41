package memstore_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
)

var (
	_ live.Announcer = (*memstore.Store)(nil)
	_ live.Registry  = (*memstore.Store)(nil)
)

// ear counts the wakes of a listener.
type ear struct {
	mu   sync.Mutex
	told int
}

func (e *ear) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told++
}

// heard reports whether there was a wake since its last call.
func (e *ear) heard() bool {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	told := e.told
	e.told = 0
	return told > 0
}

func wallClock() func() engine.Time {
	begin := time.Now()
	return func() engine.Time { return engine.Time(time.Since(begin)) }
}

// TestListen takes a store through all changes that make jobs claimable, and through others that do
// not.
func TestListen(t *testing.T) {
	any := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}
	type store struct {
		*memstore.Store
		t   *testing.T
		key engine.LeaseKey
		seq uint64
	}
	enqueue := func(jobs ...engine.NewJob) func(*store) {
		return func(s *store) {
			if err := s.Enqueue(context.Background(), jobs); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	claim := func(s *store) {
		leases, _, err := s.Claim(context.Background(), 1, any, time.Minute, nil)
		if err != nil || len(leases) != 1 {
			s.t.Fatalf("claimed %d: %v", len(leases), err)
		}
		s.key = leases[0].Key()
	}
	commit := func(v engine.Verb, delay time.Duration) func(*store) {
		return func(s *store) {
			s.seq++
			results, err := s.Commit(context.Background(), engine.Batch{ID: engine.BatchID{Engine: 1, Seq: s.seq},
				Outcomes: []engine.Outcome{{LeaseKey: s.key, Verb: v, Delay: delay}}}, nil)
			if err != nil || results[0].Status != engine.Applied {
				s.t.Fatalf("%v: %v, %v", v, results, err)
			}
		}
	}
	wait := func(d time.Duration) func(*store) { return func(*store) { time.Sleep(d) } }
	type step struct {
		name  string
		do    func(*store)
		heard bool
	}
	for _, tt := range []struct {
		name    string
		options engine.StoreOptions
		steps   []step
	}{
		{"a life", engine.StoreOptions{}, []step{
			{"an enqueue", enqueue(engine.NewJob{ID: 1}), true},
			{"a claim", claim, false},
			{"a return", commit(engine.Return, 0), true},
			{"a claim", claim, false},
			{"a nack", commit(engine.Nack, time.Second), false},
			{"less than its delay", wait(999 * time.Millisecond), false},
			{"the rest of it", wait(time.Millisecond), true},
			{"a claim", claim, false},
			{"a redo", commit(engine.Redo, 0), true},
			{"a claim", claim, false},
			{"an ack", commit(engine.Ack, 0), false},
		}},
		{"what waits", engine.StoreOptions{}, []step{
			{"a late one", enqueue(engine.NewJob{ID: 1, Delay: time.Hour}), false},
			{"an earlier one", enqueue(engine.NewJob{ID: 2, Delay: time.Minute}), false},
			{"its time", wait(time.Minute), true},
			{"nothing", wait(58 * time.Minute), false},
			{"the other's time", wait(time.Minute), true},
			{"nothing", wait(time.Hour), false},
		}},
		{"a promoter", engine.StoreOptions{Promoted: true}, []step{
			{"one that waits", enqueue(engine.NewJob{ID: 1, Delay: time.Second}), false},
			{"its time", wait(time.Second), false},
			{"a promotion", func(s *store) { s.Promote(context.Background(), 1, engine.OldestReady, nil) }, true},
		}},
		{"room", engine.StoreOptions{MaxInFlight: 1}, []step{
			{"two jobs", enqueue(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}), true},
			{"a claim", claim, false},
			{"an ack", commit(engine.Ack, 0), true},
		}},
		{"room of a kind", engine.StoreOptions{MaxRunning: []int{1}}, []step{
			{"two jobs", enqueue(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}), true},
			{"a claim", claim, false},
			{"a nack", commit(engine.Nack, time.Minute), true},
		}},
		{"a serial key", engine.StoreOptions{}, []step{
			{"two jobs", enqueue(engine.NewJob{ID: 1, Serial: 1}, engine.NewJob{ID: 2, Serial: 1}), true},
			{"a claim", claim, false},
			{"an ack", commit(engine.Ack, 0), true},
		}},
		{"two outcomes at once", engine.StoreOptions{}, []step{
			{"two jobs", enqueue(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}), true},
			{"a claim of both, one of which goes back before the other is done", func(s *store) {
				leases, _, err := s.Claim(context.Background(), 1, engine.Plan{Limit: 2, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 2}}}, time.Minute, nil)
				if err != nil || len(leases) != 2 {
					s.t.Fatalf("claimed %d: %v", len(leases), err)
				}
				b := engine.Batch{ID: engine.BatchID{Engine: 1, Seq: 1}, Outcomes: []engine.Outcome{
					{LeaseKey: leases[0].Key(), Verb: engine.Return}, {LeaseKey: leases[1].Key(), Verb: engine.Ack}}}
				if _, err := s.Commit(context.Background(), b, nil); err != nil {
					s.t.Fatal(err)
				}
			}, true},
		}},
		{"the dead", engine.StoreOptions{KeepDead: true}, []step{
			{"a job", enqueue(engine.NewJob{ID: 1}), true},
			{"a claim", claim, false},
			{"its burial", commit(engine.Bury, 0), false},
			{"another chance", func(s *store) { s.Redrive(func(engine.JobID) bool { return true }, true, nil) }, true},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.options.LapseAfter = -1
				s := &store{Store: memstore.New(wallClock(), tt.options), t: t}
				var one, two ear
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error)
				for _, e := range []*ear{&one, &two} {
					go func() { done <- s.Listen(ctx, e.wake) }()
				}
				synctest.Wait()
				for _, step := range tt.steps {
					step.do(s)
					if a, b := one.heard(), two.heard(); a != step.heard || b != step.heard {
						t.Errorf("after %s: told %v and %v, want %v", step.name, a, b, step.heard)
					}
				}
				stop()
				for range 2 {
					if err := <-done; err != context.Canceled {
						t.Errorf("stopped listening with %v", err)
					}
				}
				enqueue(engine.NewJob{ID: 99})(s)
				if one.heard() {
					t.Error("told after it had stopped listening")
				}
			})
		})
	}
}

func TestListenToSingle(t *testing.T) {
	s := memstore.NewSingle(wallClock(), engine.StoreOptions{LapseAfter: -1})
	if err := s.Listen(t.Context(), func() {}); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("got %v, want %v", err, engine.ErrUnsupported)
	}
}

func TestNextLife(t *testing.T) {
	s := memstore.New(wallClock(), engine.StoreOptions{LapseAfter: -1})
	for i, node := range []int32{3, 3, 0, 3} {
		got, err := s.NextLife(t.Context(), node)
		if want := []uint32{0, 1, 0, 2}[i]; err != nil || got != want {
			t.Errorf("life %d of node %d: got %d (%v), want %d", i, node, got, err, want)
		}
	}
	if _, err := s.NextLife(t.Context(), -1); err == nil {
		t.Error("node -1 has lives")
	}
}
