package world

import (
	"math"

	"qsim/engine"
	"qsim/engine/dist"
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
	dep.limits = levelsOf(dep.limiting, engine.Time(sc.Duration).Add(sc.Drain.Std()))
	dep.tokens = dep.holds(1)
	return dep
}

// over reports whether a call that begins now exceeds the limit. If it is not, it takes a token.
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

// hangUp ends an attempt's call, if any.
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

// holds returns the capacity of the token bucket while the limit is multiplied by factor.
func (d *dependency) holds(factor float64) float64 {
	return max(1, float64(d.rate*factor)*1e9)
}

// slowdown returns the factor on the run time of a call that begins now, which depends on the calls in progress and, if
// over is set, on the limit.
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
