package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unsafe"

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

// backlog returns an engine with a number of uncommitted outcomes, one in each batch, and a
// recorder of its requests from then on, the first commits included.
func backlog(jobs int, commit CommitConfig, now Time) (*Engine, *Asked) {
	commit.Batch = 1
	asked := &Asked{}
	e := New(Config{Workers: jobs, Fetch: FetchConfig{Batch: jobs, Poll: time.Second}, Commit: commit, Lease: LeaseConfig{TTL: time.Hour},
		Reaper: ReaperConfig{Off: true}, CallTimeout: time.Second, Kinds: []KindConfig{{Retry: burying{}}}, Policy: oldest{}}, asked, now)
	e.Tick(now)
	r := asked.Take()[0]
	for id := range JobID(jobs) {
		r.Leases = append(r.Leases, Lease{Job: Job{ID: id + 1, Delivery: 1}, Token: 1})
	}
	e.Handle(now, r)
	for _, s := range asked.Starts {
		e.Finish(now, s, NoError, time.Millisecond)
	}
	return e, asked
}

// commits returns the commit calls sent since its last call.
func (a *Asked) commits() []*Call {
	return slices.DeleteFunc(a.Take(), func(c *Call) bool { return c.Op != OpCommit })
}

// lowest computes the result of settled by looking at every batch.
func lowest(c *committer) uint64 {
	n := c.lastSeq + 1
	for _, b := range slices.Concat(c.queue, c.flying) {
		n = min(n, b.seq)
	}
	if c.filling != nil {
		n = min(n, c.filling.seq)
	}
	return n - 1
}

// TestSettled answers, refuses and loses commits in random order, and compares settled with lowest
// after each.
func TestSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, asked := backlog(rapid.IntRange(1, 30).Draw(t, "jobs"), CommitConfig{Calls: rapid.IntRange(1, 4).Draw(t, "calls"), Timeout: time.Second,
			Tries: rapid.IntRange(0, 2).Draw(t, "tries"), Drop: rapid.Bool().Draw(t, "drop")}, 0)
		calls, now := asked.commits(), Time(0)
		for range 200 {
			if len(calls) == 0 || rapid.IntRange(0, 3).Draw(t, "action") == 0 {
				if now = e.Deadline(); now == Never {
					break
				}
				e.Tick(now)
			} else {
				i := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
				r := calls[i]
				r.Results = []Result{{Status: Applied}}
				if rapid.Bool().Draw(t, "refused") {
					r.Err = ErrUnavailable
				}
				calls = slices.Delete(calls, i, i+1)
				e.Handle(now, r)
			}
			for _, c := range asked.commits() {
				if c.Batch.Settled >= c.Batch.ID.Seq {
					t.Fatalf("batch %d says that all up to %d are settled", c.Batch.ID.Seq, c.Batch.Settled)
				}
				calls = append(calls, c)
			}
			if got, want := e.commit.settled(), lowest(&e.commit); got != want {
				t.Fatalf("settled: got %d, want %d", got, want)
			}
		}
	})
}

// TestStartsOverBeforeTheOrigin refuses a commit on a clock that has not come to 0 yet, as it is
// where live.Config.Origin lies in the future: the batch starts over after its pause as ever.
func TestStartsOverBeforeTheOrigin(t *testing.T) {
	now := Time(-time.Hour)
	e, asked := backlog(1, CommitConfig{Calls: 1, Timeout: time.Second, Tries: 1}, now)
	c := asked.commits()[0]
	c.Err = ErrUnavailable
	e.Handle(now, c)
	if at := e.Deadline(); at != now.Add(errorPause) {
		t.Errorf("due %v after the refusal, want %v", at.Sub(now), errorPause)
	}
	e.Tick(now.Add(errorPause))
	if n := len(asked.commits()); n != 1 {
		t.Errorf("%d commits after the pause, want 1", n)
	}
}

// TestEveryTimeout configures more than 256 job kinds, each with a different execution timeout: the
// last kind's jobs time out too.
func TestEveryTimeout(t *testing.T) {
	c := Config{Workers: 1, Fetch: FetchConfig{Batch: 1, Poll: time.Hour}, Commit: CommitConfig{Batch: 1, Calls: 1, Timeout: time.Hour},
		Lease: LeaseConfig{TTL: time.Hour}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Hour, Policy: oldest{}}
	for k := range 300 {
		c.Kinds = append(c.Kinds, KindConfig{Retry: burying{}, Timeout: time.Duration(k+1) * time.Second})
	}
	asked := &Asked{}
	e := New(c, asked, 0)
	e.Tick(0)
	r := asked.Take()[0]
	r.Leases = []Lease{{Job: Job{ID: 1, Delivery: 1, Kind: 299}, Token: 1}}
	e.Handle(0, r)
	if at, want := e.Deadline(), Time(300*time.Second); at != want {
		t.Errorf("due at %v, want %v", time.Duration(at), time.Duration(want))
	}
	e.Tick(Time(300 * time.Second))
	if len(asked.Cancels) != 1 {
		t.Errorf("%d executions told to stop, want 1", len(asked.Cancels))
	}
}

// TestTimeoutsOfOneInstant lets a slot pass to a job of another execution timeout that ends when that of the first job
// would have: it times out once, after its own timeout.
func TestTimeoutsOfOneInstant(t *testing.T) {
	var log timeouts
	c := Config{Workers: 1, Fetch: FetchConfig{Batch: 1, Poll: time.Hour}, Commit: CommitConfig{Batch: 1, Calls: 1, Timeout: time.Hour},
		Lease: LeaseConfig{TTL: time.Hour}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Hour, Policy: oldest{}, Recorder: &log,
		Kinds: []KindConfig{{Retry: burying{}, Timeout: 2 * time.Second}, {Retry: burying{}, Timeout: time.Second}}}
	asked := &Asked{}
	e := New(c, asked, 0)
	e.Tick(0)
	answer := func(now Time, kind Kind) {
		for _, c := range asked.Take() {
			if c.Op == OpClaim {
				c.Leases = []Lease{{Job: Job{ID: JobID(kind + 1), Delivery: 1, Kind: kind}, Token: 1}}
			}
			c.Results = make([]Result, len(c.Batch.Outcomes))
			for i := range c.Results {
				c.Results[i].Status = Applied
			}
			e.Handle(now, c)
		}
	}
	answer(0, 0)
	e.Finish(Time(time.Second), asked.Starts[0], NoError, time.Second)
	answer(Time(time.Second), 1)
	if len(asked.Starts) != 2 || asked.Starts[0] != asked.Starts[1] {
		t.Fatalf("started in slots %v, want one slot twice", asked.Starts)
	}
	e.Tick(Time(2 * time.Second))
	if want := (timeouts{time.Second}); len(asked.Cancels) != 1 || !slices.Equal(log, want) {
		t.Errorf("%d executions told to stop after %v, want one after %v", len(asked.Cancels), log, want)
	}
}

// timeouts is a recorder of the run times at which executions timed out.
type timeouts []time.Duration

// Record implements Recorder.
func (l *timeouts) Record(e *Event) {
	if e.Kind == TimedOut {
		*l = append(*l, e.Ran)
	}
}

// BenchmarkCommitBacklog answers one commit after the other while others wait: the cost of one does
// not depend on the number of waiting ones.
func BenchmarkCommitBacklog(b *testing.B) {
	for _, waiting := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			e, asked := backlog(waiting, CommitConfig{Calls: 4, Timeout: time.Hour, Tries: 1, Backoff: []time.Duration{1}}, 0)
			calls, now := asked.commits(), Time(0)
			b.ReportAllocs()
			for b.Loop() { // refused, so that as many wait afterwards: behind the others
				c := calls[0]
				calls = append(calls[:0], calls[1:]...)
				now += 2
				c.Err = ErrUnavailable
				e.Handle(now, c)
				calls = append(calls, asked.commits()...)
				if len(calls) != 4 {
					b.Fatalf("%d calls under way", len(calls))
				}
			}
		})
	}
}

// TestLeaseQueueForgets holds leases for a moment each: the queue of their heartbeats does not
// grow with how many came and went.
func TestLeaseQueueForgets(t *testing.T) {
	var leases leaseTable
	leases.beats.addQueue()
	brief := func(at Time) {
		s, _ := leases.hold(&Lease{Job: Job{ID: 8}}, at)
		leases.beats.add(0, s, at)
		leases.release(s)
	}
	for now := range Time(100_000) {
		brief(now)
	}
	if s, at := leases.beats.first(0); s != noSlot || at != Never {
		t.Errorf("the first of no lease is in slot %d, at %v", s, at)
	}
	kept, _ := leases.hold(&Lease{Job: Job{ID: 7}}, 0)
	leases.beats.add(0, kept, 100_000)
	for now := range Time(10_000) {
		brief(100_000 + now)
	}
	if s, at := leases.beats.first(0); s != kept || at != 100_000 {
		t.Errorf("the first is in slot %d, at %v, want the lease that is held", s, at)
	}
	if n := cap(leases.beats.entries); n > 16 {
		t.Errorf("room for %d entries, of one lease", n)
	}
	for range 2 { // once more does no harm
		leases.beats.leave(kept)
		if s, _ := leases.beats.first(0); s != noSlot {
			t.Errorf("slot %d is in the queue after the only lease left it", s)
		}
	}
}

// TestLeaseQueueKeepsOrder adds and removes leases at random: those that are held come out in order.
func TestLeaseQueueKeepsOrder(t *testing.T) {
	var leases leaseTable
	leases.beats.addQueue()
	var want []JobID
	for now := range Time(20_000) {
		s, _ := leases.hold(&Lease{Job: Job{ID: JobID(now + 1)}}, now)
		leases.beats.add(0, s, now/3)
		switch {
		case now%3 == 1:
			leases.release(s)
		case now%7 == 2 || len(want) > 300:
			first, _ := leases.beats.first(0)
			if id := leases.get(first).lease.ID; id != want[0] {
				t.Fatalf("job %d is the first, want %d", id, want[0])
			}
			leases.release(first)
			want = append(want[1:], JobID(now+1))
		default:
			want = append(want, JobID(now+1))
		}
	}
	if len(want) < 300 || len(leases.beats.entries) > len(want)+2 {
		t.Errorf("%d entries, of %d leases", len(leases.beats.entries), len(want))
	}
}

// TestLeaseFillsCacheLines keeps a held lease in two cache lines.
func TestLeaseFillsCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(heldLease{}); size != 128 {
		t.Errorf("a held lease takes %d bytes, want 128", size)
	}
}

// TestQueuesOfOneLine lets a slot pass from a lease in one queue of execution timeouts to a lease in another: it is no
// longer in the first.
func TestQueuesOfOneLine(t *testing.T) {
	var timeouts leaseQueues
	short, long := timeouts.addQueue(), timeouts.addQueue()
	timeouts.add(short, 5, 1)
	timeouts.leave(5)
	timeouts.add(long, 5, 2)
	if s, at := timeouts.first(short); s >= 0 || at != Never {
		t.Errorf("slot %d is in both queues", s)
	}
	if s, at := timeouts.first(long); s != 5 || at != 2 {
		t.Errorf("slot %d at %v is the first of its queue, want slot 5 at 2ns", s, at)
	}
}

// TestOneKeyTwice holds two leases with one key, as an answer that comes twice may bring them, before and after the index
// is built: the key is held until both are released.
func TestOneKeyTwice(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		for first := range Slot(2) {
			var leases leaseTable
			twice := Lease{Job: Job{ID: 7}, Token: 3}
			leases.holds(LeaseKey{})
			if !indexed {
				leases.byKey = nil
			}
			leases.hold(&twice, 0)
			leases.hold(&twice, 0)
			for released, s := range []Slot{first, 1 - first} {
				if !leases.holds(twice.Key()) {
					t.Errorf("indexed %t, slot %d first: the key is not held after %d of 2 releases", indexed, first, released)
				}
				leases.release(s)
			}
			if leases.holds(twice.Key()) {
				t.Errorf("indexed %t, slot %d first: the key is held after both were released", indexed, first)
			}
		}
	}
}

// BenchmarkFindLease finds leases by key, as a late claim does, among a growing number of held leases.
func BenchmarkFindLease(b *testing.B) {
	for _, held := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			var t leaseTable
			for id := range held {
				t.hold(&Lease{Job: Job{ID: JobID(id + 1)}, Token: 1}, 0)
			}
			t.holds(LeaseKey{}) // builds the index
			for n := 0; b.Loop(); n++ {
				if !t.holds(LeaseKey{Job: JobID(n%held + 1), Token: 1}) {
					b.Fatal("not found")
				}
			}
		})
	}
}
