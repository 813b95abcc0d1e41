package world

import (
	"math"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/heap"
	"qsim/engine/keyed"
	"qsim/scenarios"
)

// dependency is an external service that the handlers of all nodes call: calls over its limit fail or are slow. An
// attempt's run is one call, from beginning to end.
//
// A limit on the rate is a bucket of tokens, full at first: it holds the tokens of one second, at least one, and each
// call within the limit takes one. Calls over a limit that are served all the same take no token, but count as in
// progress.
type dependency struct {
	rate        float64  // limit on calls per nanosecond; 0: none
	concurrency float64  // limit on calls in progress; 0: none
	limits      levels   // factor on the limit, over time
	limiting    []strike // storms that change the limit
	fails       float64  // share of the calls over the limit that fail
	rejectsIn   dist.Dist
	overSlow    float64 // factor on the run time of the other calls over the limit
	slows       float64
	outages     []strike // storms in which every call fails
	row         *row     // row updated with optimistic locking; nil: none

	tokens   float64
	filledAt float64          // time of the latest fill, in nanoseconds
	calls    int              // number of calls in progress
	calling  map[delivery]int // the same by attempt; nil: they are not counted
}

// newDependency returns the state of a dependency at time 0, under one seed.
func newDependency(sc *scenarios.Scenario, d *scenarios.Dependency, rand keyed.Rand) *dependency {
	dep := &dependency{overSlow: 1, slows: d.Slows.Float()}
	if l := d.Limit; l != nil && l.Rate != nil {
		dep.rate = l.Rate.PerSecond() / 1e9
	} else if l != nil {
		dep.concurrency, dep.calling = float64(*l.Concurrency), make(map[delivery]int)
	}
	if o := &d.Over; o.Slow != nil {
		dep.overSlow = float64(*o.Slow)
	} else { // Load has set the defaults of the others
		dep.fails, dep.rejectsIn = o.Fail.Float(), o.RejectsIn.Dist()
	}
	if d.Conflict != nil {
		dep.row = &row{network: d.Conflict.Network.Dist(), rand: rand, attempts: map[delivery]*attempt{}}
	}
	for i := range sc.Storms {
		switch s, x := strikeOf(sc, i); {
		case x.Dependency != d.Name:
		case x.Error != "":
			dep.outages = append(dep.outages, s)
		default:
			dep.limiting = append(dep.limiting, s)
		}
	}
	dep.limits = levelsOf(dep.limiting, engine.Time(sc.Longest()))
	dep.tokens = dep.holds(1)
	return dep
}

// over reports whether a call that begins now exceeds the dependency's limit; a call within a rate limit takes a token.
func (d *dependency) over(now engine.Time) bool {
	switch {
	case d.rate > 0:
		d.fill(float64(now))
		if d.tokens < 1 {
			return true
		}
		d.tokens--
	case d.concurrency > 0:
		factor, _ := d.limits.now(float64(now))
		return float64(d.calls) >= math.Ceil(float64(d.concurrency*factor))
	}
	return false
}

// hangUp ends an attempt's call to the dependency, if the attempt has one.
func (d *dependency) hangUp(now engine.Time, who delivery) {
	if n := d.calling[who]; n > 0 {
		if d.calling[who]--; n == 1 {
			delete(d.calling, who)
		}
		d.calls--
	}
	if d.row != nil {
		d.row.end(now, who)
	}
}

// fill adds the tokens that accrued in a dependency's bucket since the latest call.
func (d *dependency) fill(now float64) {
	for d.filledAt < now {
		factor, until := d.limits.now(d.filledAt)
		until = min(until, now)
		d.tokens = min(d.tokens+float64(d.rate*factor*(until-d.filledAt)), d.holds(factor))
		d.filledAt = until
	}
	factor, _ := d.limits.now(now)
	d.tokens = min(d.tokens, d.holds(factor))
}

// holds returns the size of the dependency's token bucket while storms multiply its rate limit by factor.
func (d *dependency) holds(factor float64) float64 {
	return max(1, float64(d.rate*factor)*1e9)
}

// slowdown returns the factor by which a call to the dependency that begins now takes longer: it grows with the calls
// in progress and includes, if over is set, the slowdown of calls beyond the rate limit.
func (d *dependency) slowdown(now engine.Time, over bool) float64 {
	factor := 1.0
	if d.slows > 0 && d.concurrency > 0 {
		limit, _ := d.limits.now(float64(now))
		factor += d.slows * float64(d.calls) / math.Ceil(float64(d.concurrency*limit))
	}
	if over {
		factor *= d.overSlow
	}
	return factor
}

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

// delivery identifies one attempt of a job by the job and the number of its claim.
type delivery struct {
	job    engine.JobID
	number int32
}

// attempt is the state of one attempt's update of the row: the version that it read, and what became of its write.
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

// way draws the one-way network delay of a message between an attempt and the database row that it updates: n is 0 for
// the request of its read, 1 for the answer, 2 and 3 for those of its write.
func (r *row) way(who delivery, n uint16) time.Duration {
	if r.network.IsConstant() {
		return r.network.Duration(0.5)
	}
	return r.network.Duration(r.rand.Uniform(keyed.ForRunTime, uint64(who.job), uint64(who.number), drawNetwork+n))
}

// begin records an attempt that reads the database row, works for its run time, and writes the row back; it returns how
// long all of that takes. An attempt that will fail (writes is false) only reads.
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

// won reports whether the write of an attempt that ends now took effect: no other attempt changed the row in between.
func (r *row) won(now engine.Time, who delivery) bool {
	r.catchUp(now)
	a := r.attempts[who]
	return a != nil && a.won
}

// end drops the state of an ended attempt to update the row: now, or when its write arrives if that is under way.
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

// catchUp applies to the row, in order, the attempts' reads and writes that have reached it by now.
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

// Before reports whether one read or write takes effect before another: by time, then in the order of creation.
func (s step) Before(t step) bool { return s.at < t.at || s.at == t.at && s.order < t.order }
