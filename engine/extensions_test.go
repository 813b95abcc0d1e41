package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
)

// offering is a scripted store with optional extensions.
type offering struct{ scripted }

func (s *offering) Expired(_ context.Context, limit int, grace time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.note("expired %d %v", limit, grace)
	return append(dst, leaseOfSeven), 5, s.err
}

func (s *offering) ExtendNode(_ context.Context, e engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	s.note("extend node %d %v %v", e, kept, ttl)
	return 3, s.err
}

func (s *offering) TakeDue(_ context.Context, limit int, o engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	s.note("take %d %v", limit, o)
	return append(dst, engine.Promotion{Job: 7}), s.err
}

func (s *offering) Insert(_ context.Context, jobs []engine.JobID, dst []engine.Promotion) ([]engine.Promotion, error) {
	s.note("insert %v", jobs)
	return append(dst, engine.Promotion{Job: 7, Kind: 2, Tenant: 3, Class: engine.Retry}), s.err
}

// TestCallsBeyondTheContract carries out the calls that only some stores can answer,
// on one that can and on one that cannot.
func TestCallsBeyondTheContract(t *testing.T) {
	tests := []struct {
		name  string
		call  engine.Call
		asked string
		came  int
		want  events
	}{
		{"read", engine.Call{Op: engine.OpRecover, Step: 1, Limit: 3, Grace: 4}, "expired 3 4ns", 1, nil},
		{"node", engine.Call{Op: engine.OpExtend, OfNode: true, TTL: 5}, "extend node 21474836480 false 5ns", 3, nil},
		{"kept node", engine.Call{Op: engine.OpExtend, OfNode: true, Kept: true, TTL: 5}, "extend node 21474836480 true 5ns", 3, nil},
		{"take", engine.Call{Op: engine.OpPromote, Step: 1, Limit: 4, Order: engine.NewestReady}, "take 4 newest", 1, nil},
		{"insert", engine.Call{Op: engine.OpPromote, Step: 2, Jobs: []engine.JobID{7, 8}}, "insert [7 8]", 1,
			events{{At: 99, Node: 5, Kind: engine.Promoted, Job: 7, JobKind: 2, Tenant: 3, Class: engine.Retry}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.call
			c.Engine = engine.NewEngineID(5, 0)
			store := &offering{}
			for range 2 {
				c.Execute(context.Background(), store, nil)
			}
			if store.asked != tt.asked || c.Err != nil || c.Rows() != tt.came {
				t.Errorf("asked %q, want %q; error %v; %d rows came, want %d", store.asked, tt.asked, c.Err, c.Rows(), tt.came)
			}
			var got events
			c.Record(99, engine.RecordJobs(&got), new(engine.Event))
			if d := cmp.Diff(tt.want, got[1:], cmp.Transformer("slice", func(v events) []engine.Event { return append([]engine.Event{}, v...) })); d != "" {
				t.Errorf("recorded (-want +got):\n%s", d)
			}
			c.Execute(context.Background(), &scripted{}, nil)
			if !errors.Is(c.Err, engine.ErrUnsupported) || c.Rows() != 0 {
				t.Errorf("a store that cannot answers %v and %d rows", c.Err, c.Rows())
			}
		})
	}
}

// TestRecordGuardedOutcomes checks that an outcome that took a lease is recorded as two events
// under the job's new token. Without a lease to take it is one, and a late outcome takes none.
func TestRecordGuardedOutcomes(t *testing.T) {
	tests := []struct {
		name     string
		status   engine.Status
		from     engine.State
		delivery int32
		want     []engine.EventKind
		class    engine.Class
		token    engine.Token
	}{
		{"first delivery", engine.Applied, engine.InFlight, 1, []engine.EventKind{engine.LeaseTaken, engine.Nacked}, engine.Fresh, 12},
		{"later delivery", engine.Applied, engine.InFlight, 4, []engine.EventKind{engine.LeaseTaken, engine.Nacked}, engine.Retry, 12},
		{"nobody's", engine.Applied, engine.Waiting, 4, []engine.EventKind{engine.Nacked}, engine.Retry, 12},
		{"too late", engine.Stale, engine.NoState, 0, []engine.EventKind{engine.Fenced}, engine.Retry, 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.Call{Op: engine.OpCommit, Batch: engine.Batch{Outcomes: []engine.Outcome{
				{LeaseKey: engine.LeaseKey{Job: 7, Token: 9}, Verb: engine.Nack, Guard: engine.FenceState, Delivery: 2}}}}
			c.Reply = engine.Reply{Results: []engine.Result{{Status: tt.status, From: tt.from, Class: engine.Retry, Delivery: tt.delivery, Holder: 6, Token: 12}}}
			var got events
			c.Record(99, engine.RecordJobs(&got), new(engine.Event))
			var kinds []engine.EventKind
			for _, e := range got[1:] {
				kinds = append(kinds, e.Kind)
				if e.Token != tt.token {
					t.Errorf("%v under token %d, want %d", e.Kind, e.Token, tt.token)
				}
			}
			if d := cmp.Diff(tt.want, kinds); d != "" {
				t.Fatalf("(-want +got):\n%s", d)
			}
			if taken := got[1]; taken.Kind == engine.LeaseTaken && (taken.Class != tt.class || taken.Delivery != tt.delivery || taken.Holder != 6) {
				t.Errorf("taken: %+v", taken)
			}
		})
	}
}
