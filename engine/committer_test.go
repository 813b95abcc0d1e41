package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oldest claims as much as it may.
type oldest struct{}

func (oldest) Plan(v *View, dst []Term) []Term {
	return append(dst, Term{Class: AnyClass, Limit: v.Idle})
}
func (oldest) Observe(*Observation) {}

type burying struct{}

func (burying) Next(*Job, ErrorKind, float64) (Verb, time.Duration) { return Bury, 0 }

// backlog returns an engine that has as many outcomes as jobs, one in each batch, and the
// commits that it has asked for.
func backlog(jobs int, commit CommitConfig) (*Engine, []Call) {
	commit.Batch = 1
	e := New(Config{Workers: jobs, Fetch: FetchConfig{Batch: jobs, Poll: time.Second}, Commit: commit, Lease: LeaseConfig{TTL: time.Hour},
		Reaper: ReaperConfig{Off: true}, CallTimeout: time.Second, Kinds: []KindConfig{{Retry: burying{}}}, Policy: oldest{}}, 0)
	e.Tick(0)
	var r Reply
	for _, c := range e.Effects().Calls {
		if c.Op == OpClaim {
			r.ID, r.Op = c.ID, OpClaim
		}
	}
	for id := range JobID(jobs) {
		r.Leases = append(r.Leases, Lease{Job: Job{ID: id + 1, Delivery: 1}, Token: 1})
	}
	e.Handle(0, &r)
	var calls []Call
	for _, start := range slices.Clone(e.Effects().Starts) {
		e.Finish(0, start.Slot, NoError, time.Millisecond)
		calls = appendCommits(calls, e)
	}
	return e, calls
}

func appendCommits(dst []Call, e *Engine) []Call {
	for _, c := range e.Effects().Calls {
		if c.Op == OpCommit {
			dst = append(dst, c)
		}
	}
	return dst
}

// lowest is what settled says, by looking at every batch.
func lowest(c *committer) uint64 {
	n := c.lastSeq + 1
	for _, b := range slices.Concat(c.queue.all(), c.flying) {
		n = min(n, b.seq)
	}
	if c.filling != nil {
		n = min(n, c.filling.seq)
	}
	return n - 1
}

// TestSettled answers, refuses and loses commits in any order, and looks after each at
// what a commit would say is settled.
func TestSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, calls := backlog(rapid.IntRange(1, 30).Draw(t, "jobs"), CommitConfig{Calls: rapid.IntRange(1, 4).Draw(t, "calls"), Timeout: time.Second,
			Tries: rapid.IntRange(0, 2).Draw(t, "tries"), GiveUp: GiveUp(rapid.IntRange(0, 1).Draw(t, "give up"))})
		now := Time(0)
		for range 200 {
			if len(calls) == 0 || rapid.IntRange(0, 3).Draw(t, "action") == 0 {
				if now = e.Deadline(); now == Never {
					break
				}
				e.Tick(now)
			} else {
				i := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
				r := Reply{ID: calls[i].ID, Op: OpCommit, Results: []Result{{Status: Applied}}}
				if rapid.Bool().Draw(t, "refused") {
					r.Err = ErrUnavailable
				}
				calls = slices.Delete(calls, i, i+1)
				e.Handle(now, &r)
			}
			for _, c := range e.Effects().Calls {
				if c.Op == OpCommit && (c.Batch.Settled >= c.Batch.ID.Seq) {
					t.Fatalf("batch %d says that all up to %d are settled", c.Batch.ID.Seq, c.Batch.Settled)
				}
			}
			calls = appendCommits(calls, e)
			if got, want := e.commit.settled(), lowest(&e.commit); got != want {
				t.Fatalf("settled: got %d, want %d", got, want)
			}
		}
	})
}

// BenchmarkCommitBacklog answers one commit after the other while others wait: what one
// costs does not depend on how many those are.
func BenchmarkCommitBacklog(b *testing.B) {
	for _, waiting := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			e, calls := backlog(waiting, CommitConfig{Calls: 4, Timeout: time.Hour, GiveUp: Requeue, Tries: 1, Backoff: []time.Duration{1}})
			b.ReportAllocs()
			now := Time(0)
			for b.Loop() { // refused, so that as many wait afterwards: behind the others
				c := calls[0]
				calls = append(calls[:0], calls[1:]...)
				now += 2
				e.Handle(now, &Reply{ID: c.ID, Op: OpCommit, Err: ErrUnavailable})
				calls = appendCommits(calls, e)
				if len(calls) != 4 {
					b.Fatalf("%d calls under way", len(calls))
				}
			}
		})
	}
}

// TestLine holds a line against a slice, and wants no memory for what comes and goes.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line[int]
		var want []int
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if n := rapid.IntRange(0, 9).Draw(t, "action"); len(want) == 0 || n < 5 {
				l.push(n)
				want = append(want, n)
			} else {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "at")
				l.remove(i)
				want = slices.Delete(want, i, i+1)
			}
			if !slices.Equal(l.all(), want) {
				t.Fatalf("got %v, want %v", l.all(), want)
			}
			if len(l.elements) > 4*len(want)+400 {
				t.Fatalf("%d elements are kept for %d", len(l.elements), len(want))
			}
		}
	})
	var l line[int]
	for range 10 {
		l.push(1)
	}
	if n := testing.AllocsPerRun(1000, func() { l.push(1); l.remove(1) }); n != 0 || cap(l.elements) > 64 {
		t.Errorf("%v allocations for each that comes and goes, room for %d", n, cap(l.elements))
	}
}
