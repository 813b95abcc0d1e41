package engine

import (
	"slices"
	"testing"
	"time"
)

// TestWoken makes an engine claim or commit by each kind of input, and checks which calls are
// marked as caused by a wake.
func TestWoken(t *testing.T) {
	asked := &Asked{}
	e := New(Config{Workers: 2, Fetch: FetchConfig{Batch: 2, Poll: time.Second}, Commit: CommitConfig{Batch: 10, Calls: 1, Timeout: time.Minute},
		Lease: LeaseConfig{TTL: time.Hour}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Minute, Kinds: []KindConfig{{Retry: burying{}}},
		Policy: oldest{}}, asked, 0)
	next := JobID(0)
	leased := func(c *Call, n int) *Call {
		for c.Leases = c.Leases[:0]; n > 0; n-- {
			next++
			c.Leases = append(c.Leases, Lease{Job: Job{ID: next, Delivery: 1}, Token: 1})
		}
		return c
	}
	expect := func(what string, ops []Op, woken []bool) []*Call {
		t.Helper()
		calls := asked.Take()
		var gotOps []Op
		var got []bool
		for _, c := range calls {
			gotOps, got = append(gotOps, c.Op), append(got, c.Woken)
		}
		if !slices.Equal(gotOps, ops) || !slices.Equal(got, woken) {
			t.Fatalf("%s: calls %v woken %v, want %v woken %v", what, gotOps, got, ops, woken)
		}
		return calls
	}
	e.Tick(0)
	claim := expect("poll", []Op{OpClaim}, []bool{false})[0]
	e.Handle(1, leased(claim, 0))
	e.Wake(2)
	claim = expect("wake", []Op{OpClaim}, []bool{true})[0]
	e.Wake(3) // while a claim is under way: its answer claims again
	e.Handle(4, leased(claim, 1))
	claim = expect("woken while claiming", []Op{OpClaim}, []bool{false})[0]
	e.Handle(5, leased(claim, 1))
	expect("no room", nil, nil)
	e.Finish(6, asked.Starts[0], NoError, 1)
	both := expect("end", []Op{OpCommit, OpClaim}, []bool{false, false})
	e.Finish(7, asked.Starts[1], NoError, 1)
	expect("end while both calls are busy", nil, nil)
	both[0].Results = []Result{{Status: Applied}}
	e.Handle(8, both[0])
	expect("answer to a commit", []Op{OpCommit}, []bool{false})
	e.Handle(9, leased(both[1], 1))
	expect("a claim's answer with room left", []Op{OpClaim}, []bool{false})
	e.Stop(10)
	expect("stop", nil, nil)
}
