package memstore

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"qsim/engine"
)

// TestClaimersCountEachAttemptOnce: claimers that run at once on one store, while a sweeper
// turns their failures back, never count one attempt twice, nor lose one. Each job has
// exactly the attempts that its limit allows, numbered without a gap.
func TestClaimersCountEachAttemptOnce(t *testing.T) {
	const (
		jobs, attempts = 4000 / slowdown, 3
		claimers       = 4
	)
	ctx := context.Background()
	var clock sync.Mutex
	now := engine.Time(0)
	store := New(func() engine.Time {
		clock.Lock()
		defer clock.Unlock()
		now++
		return now
	}, engine.StoreOptions{Promoted: true, Place: engine.PlaceCreated, LapseAfter: -1})
	var enqueued []engine.NewJob
	for id := range engine.JobID(jobs) {
		enqueued = append(enqueued, engine.NewJob{ID: id + 1})
	}
	if err := store.Enqueue(ctx, enqueued); err != nil {
		t.Fatal(err)
	}

	var (
		group, sweeper sync.WaitGroup
		stop           = make(chan struct{})
		claimed        [claimers][]engine.Lease
		first          sync.WaitGroup // claims: nobody goes on before everybody has one
	)
	first.Add(claimers)
	sweeper.Add(1)
	go func() {
		defer sweeper.Done()
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := store.Promote(ctx, 50, engine.OldestReady, nil); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	for i := range claimers {
		group.Add(1)
		go func() {
			defer group.Done()
			claimed[i] = claimUntilDead(t, store, engine.NewEngineID(int32(i), 0), attempts, &first)
		}()
	}
	group.Wait()
	close(stop)
	sweeper.Wait()

	charges := make([][]int32, jobs+1)
	for i := range claimed {
		for _, l := range claimed[i] {
			if l.Charged != l.Delivery || l.Failures != l.Charged-1 {
				t.Fatalf("job %d: claim %d is charged as %d after %d failures", l.ID, l.Delivery, l.Charged, l.Failures)
			}
			charges[l.ID] = append(charges[l.ID], l.Charged)
		}
	}
	for id := 1; id <= jobs; id++ {
		slices.Sort(charges[id])
		if !slices.Equal(charges[id], []int32{1, 2, 3}) {
			t.Fatalf("job %d was claimed as attempts %v, want 1, 2 and 3", id, charges[id])
		}
	}
	for i := range claimed {
		if len(claimed[i]) == jobs*attempts {
			t.Errorf("claimer %d had all the jobs: nothing raced", i)
		}
	}
}

// claimUntilDead claims and fails every job without a delay, burying it after its last attempt,
// until no job is left. It returns the leases.
func claimUntilDead(t *testing.T, store *Store, holder engine.EngineID, attempts int32, first *sync.WaitGroup) []engine.Lease {
	ctx := context.Background()
	plan := engine.Plan{Limit: 7, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 7}}}
	var all []engine.Lease
	for seq := uint64(1); store.Live() > 0; {
		leases, _, err := store.Claim(ctx, holder, plan, time.Hour, nil)
		if err != nil {
			t.Error(err)
			return all
		}
		if all == nil && len(leases) > 0 {
			first.Done()
			first.Wait()
		}
		var outcomes []engine.Outcome
		for _, l := range leases {
			verb := engine.Nack
			if l.Charged >= attempts {
				verb = engine.Bury
			}
			outcomes = append(outcomes, engine.Outcome{LeaseKey: l.Key(), Verb: verb})
		}
		all = append(all, leases...)
		if len(outcomes) == 0 {
			continue
		}
		answers, err := store.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: holder, Seq: seq}, Settled: seq - 1, Outcomes: outcomes}, nil)
		if err != nil {
			t.Error(err)
			return all
		}
		for i := range answers {
			if answers[i].Status != engine.Applied {
				t.Errorf("job %d: its failure was not applied: %v", outcomes[i].Job, answers[i].Status)
			}
		}
		seq++
	}
	return all
}
