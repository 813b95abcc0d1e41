package world

import (
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/heap"
	"qsim/engine/keyed"
)

// row is the database row that all calls of a dependency update with optimistic locking: a write succeeds only after a
// read of the latest version. A write that was sent takes effect even if its sender is stopped or dies.
type row struct {
	network dist.Dist // distribution of the one-way delay
	rand    keyed.Rand

	version  int64
	attempts map[delivery]*attempt
	steps    heap.Heap[step] // reads and writes on their way to the row
	order    uint64
}

// delivery identifies one attempt of a job.
type delivery struct {
	job    engine.JobID
	number int32
}

// attempt is the state of an attempt to update the row.
type attempt struct {
	version int64       // version of the row that the attempt read
	sent    engine.Time // time at which its write is sent
	written bool        // its write has reached the row
	won     bool        // the write took effect
	gone    bool        // the attempt has ended: its result is not needed
}

// step is a read or a write, under way, of the row that a dependency's calls update.
type step struct {
	at    engine.Time
	order uint64 // tie-breaker at one instant: the order of creation
	who   delivery
	write bool
}

// way draws one of an attempt's four network delays: to the row and back of the read 0 and 1, of the write 2 and 3.
func (r *row) way(who delivery, n uint16) time.Duration {
	if r.network.IsConstant() {
		return r.network.Duration(0.5)
	}
	return r.network.Duration(r.rand.Uniform(keyed.ForRunTime, uint64(who.job), uint64(who.number), drawNetwork+n))
}

// begin records an attempt that reads the database row, works for the duration runs, and writes the row back, and
// returns its total run time. If writes is false the attempt will fail, and reads only.
func (r *row) begin(now engine.Time, who delivery, runs time.Duration, writes bool) time.Duration {
	asks, worked := r.way(who, 0), runs
	worked += asks + r.way(who, 1)
	if !writes {
		return min(worked, dist.LongestDraw)
	}
	sends, answers := r.way(who, 2), r.way(who, 3)
	r.attempts[who] = &attempt{sent: now.Add(worked)}
	r.steps.Push(step{now.Add(asks), r.order, who, false})
	r.steps.Push(step{now.Add(worked + sends), r.order + 1, who, true})
	r.order += 2
	return min(worked+sends+answers, dist.LongestDraw)
}

// won reports whether an attempt that ends now has updated the row.
func (r *row) won(now engine.Time, who delivery) bool {
	r.catchUp(now)
	a := r.attempts[who]
	return a != nil && a.won
}

// end removes an attempt that ended or was stopped from the attempts at updating the row.
func (r *row) end(now engine.Time, who delivery) {
	r.catchUp(now)
	switch a := r.attempts[who]; {
	case a == nil:
	case !a.written && now >= a.sent:
		a.gone = true // its write is under way
	default:
		delete(r.attempts, who)
	}
}

// catchUp applies the attempts' reads and writes that reach the row by now.
func (r *row) catchUp(now engine.Time) {
	for len(r.steps) > 0 && r.steps[0].at <= now {
		s := r.steps.Pop()
		a := r.attempts[s.who]
		switch {
		case a == nil: // the attempt was stopped before
		case !s.write:
			a.version = r.version
		default:
			if a.written, a.won = true, a.version == r.version; a.won {
				r.version++
			}
			if a.gone {
				delete(r.attempts, s.who)
			}
		}
	}
}

// Before reports whether step s comes before t: by time, then in the order of their creation.
func (s step) Before(t step) bool { return s.at < t.at || s.at == t.at && s.order < t.order }
