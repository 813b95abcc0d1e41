package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// begun is a driver that checks that jobs, which are numbered in the order of their claims, start in that order.
type begun struct {
	Asked
	t    *testing.T
	last JobID
}

// Start implements Driver.
func (b *begun) Start(s Slot, l *Lease) {
	if b.last++; l.ID != b.last {
		b.t.Fatalf("job %d starts, want job %d", l.ID, b.last)
	}
	b.Starts = append(b.Starts, s)
}

// TestBufferedInOrder lets jobs be claimed, run and committed within few instants, so that slots are used again while the
// entries of their last leases have the same time: buffered jobs start in the order in which they were claimed.
func TestBufferedInOrder(t *testing.T) {
	c := Config{Workers: 2, Fetch: FetchConfig{Batch: 5, Prefetch: 4, Poll: time.Second}, CallTimeout: time.Hour,
		Commit: CommitConfig{Batch: 1, Calls: 3, Timeout: time.Hour}, Lease: LeaseConfig{TTL: time.Hour},
		Reaper: ReaperConfig{Off: true}, Policy: oldest{}, Kinds: []KindConfig{{Retry: burying{}}}}
	draw := rand.New(rand.NewPCG(7, 7))
	b := &begun{t: t}
	e := New(c, b, 0)
	now, job := Time(0), JobID(0)
	for range 20_000 {
		if draw.IntN(20) == 0 {
			now++
			e.Tick(now)
		}
		at := draw.IntN(len(b.Starts) + len(b.Calls) + 1)
		switch {
		case at < len(b.Starts):
			s := b.Starts[at]
			b.Starts[at] = b.Starts[len(b.Starts)-1]
			b.Starts = b.Starts[:len(b.Starts)-1]
			e.Finish(now, s, NoError, 0)
		case at < len(b.Starts)+len(b.Calls):
			at -= len(b.Starts)
			c := b.Calls[at]
			b.Calls[at] = b.Calls[len(b.Calls)-1]
			b.Calls = b.Calls[:len(b.Calls)-1]
			for n := draw.IntN(5); c.Op == OpClaim && len(c.Leases) < min(n, c.Limit); {
				job++
				c.Leases = append(c.Leases, Lease{Job: Job{ID: job, Delivery: 1}, Token: 1})
			}
			c.Results = make([]Result, len(c.Batch.Outcomes))
			for i := range c.Results {
				c.Results[i].Status = Applied
			}
			e.Handle(now, c)
		default:
			e.Wake(now)
		}
	}
	if b.last < 1000 {
		t.Errorf("%d jobs started", b.last)
	}
}

// TestDueOnce holds and releases leases at random, several of them in one slot within an instant, and takes what is due
// from two queues of timeouts and one of heartbeats: each lease that is still held then comes once, at its own time.
func TestDueOnce(t *testing.T) {
	type lease struct {
		slot Slot
		due  [3]Time // by queue
	}
	var leases leaseTable
	var timeouts leaseQueues
	type queue struct {
		of     *leaseQueues
		number int
		after  Time
	}
	queues := []queue{{&timeouts, timeouts.addQueue(), 5}, {&timeouts, timeouts.addQueue(), 3}, {&leases.beats, leases.beats.addQueue(), 4}}
	const beats = 2
	held := map[JobID]*lease{}
	draw := rand.New(rand.NewPCG(5, 5))
	job, came := JobID(0), 0
	add := func(id JobID, i int, now Time) {
		q, l := queues[i], held[id]
		l.due[i] = now + q.after
		q.of.add(q.number, l.slot, l.due[i])
	}
	for now := range Time(1000) {
		for i, q := range queues {
			for s, at := q.of.first(q.number); at <= now; s, at = q.of.first(q.number) {
				id := leases.get(s).lease.ID
				if l := held[id]; l.slot != s || at != now || l.due[i] != now {
					t.Fatalf("%d: job %d in slot %d is due at %v, want slot %d at %d", now, id, s, at, l.slot, l.due[i])
				}
				came++
				q.of.leave(s)
				if held[id].due[i] = Never; i == beats {
					add(id, i, now)
				}
			}
		}
		for id, l := range held {
			if slices.Min(l.due[:]) <= now {
				t.Fatalf("%d: job %d was due at %v", now, id, l.due)
			}
		}
		for range draw.IntN(12) {
			id := job - JobID(draw.IntN(9))
			if l := held[id]; l != nil && draw.IntN(2) == 0 {
				timeouts.leave(l.slot)
				leases.release(l.slot)
				delete(held, id)
				continue
			}
			job++
			s, _ := leases.hold(&Lease{Job: Job{ID: job}}, now)
			held[job] = &lease{s, [3]Time{Never, Never, Never}}
			add(job, draw.IntN(2), now)
			add(job, beats, now)
		}
	}
	if came < 1000 {
		t.Errorf("%d leases came", came)
	}
}
