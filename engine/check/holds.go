package check

import (
	"qsim/engine"
	"qsim/engine/bound"
)

// spent is the state of one process's retry budget (bound.Ration): what retries have cost, and other jobs earned.
type spent struct {
	level         int64         // without a window: cost of retries begun less what was earned since, at least 0
	begun, earned []engine.Time // with a window: times of retries begun and of fresh jobs claimed
}

// braking is the state of a bound.Brake (circuit breaker) in one process: its failures in a row, and since when it
// limits which jobs begin.
type braking struct {
	failed int         // failed executions in a row
	at     engine.Time // time at which it held; 0: it does not hold
	begun  bool        // a job claimed since then has begun
	last   engine.Time // claim of the latest job begun that was surely claimed before it held, or while it does
}

// paysForRetries checks that a process begins no more retries than its policy's retry budget (bound.Ration) pays for.
func (c *Checker) paysForRetries(s *subject) bool {
	r, of, n := &c.rules.Ration, &s.n.plans.spent, s.n
	retry, early := s.Class == engine.Retry, r.Window+r.Earlier+c.rules.Node.CallTimeout
	switch {
	case s.Kind == engine.Leased && !retry && r.Window > 0:
		of.earned = append(since(of.earned, c.now.Add(-early)), c.now)
	case s.Kind == engine.Finished && s.Error == engine.NoError:
		of.level = max(0, of.level-r.Succeeded[s.Class])
	}
	if s.Kind != engine.Started || !retry {
		return false
	}
	most, cost := r.Burst+r.Cost*int64(c.rules.Node.Fetch.Prefetch), int64(0)
	if r.Window == 0 {
		of.level += r.Cost
		cost = of.level
	} else {
		of.begun = append(since(of.begun, c.now.Add(-r.Window)), c.now)
		of.earned = since(of.earned, c.now.Add(-early))
		if n.woke > 0 && c.now.Sub(n.woke) < early {
			return false // an answer may have come after the pause, and been heeded
		}
		most, cost = most+r.Claimed*int64(len(of.earned)), r.Cost*int64(len(of.begun))
	}
	return cost <= most || c.complain(Shares, "it begins retries for %d, and has %d to spend", cost, most)
}

// since returns those of an ascending list of times that are later than from.
func since(times []engine.Time, from engine.Time) []engine.Time {
	for len(times) > 0 && times[0] <= from {
		times = times[1:]
	}
	return times
}

// brakes follows the circuit breakers (bound.Brake) of a process, and checks that a job which begins obeys them.
func (c *Checker) brakes(s *subject) (held bool) {
	n := s.n
	if n.plans.brakes == nil {
		n.plans.brakes = make([]braking, len(c.rules.Brakes))
	}
	for i := range n.plans.brakes {
		b, of := &c.rules.Brakes[i], &n.plans.brakes[i]
		switch {
		case b.Class != engine.AnyClass && b.Class != s.Class, !b.Kinds.Has(s.JobKind): // it is for others
		case s.Kind == engine.Started:
			held = c.keepsBack(s, b, of) || held
		case s.x.over || s.Kind == engine.Aborted || s.WaitsOut: // it counts already, or never will
		case s.Error == engine.NoError:
			// One that began before it held ends nothing: none of the jobs claimed since can have.
			if of.at == 0 || of.begun || c.now >= of.last.Add(b.Every) {
				of.failed, of.at = 0, 0
			}
		case s.Error != engine.Canceled && s.Error != engine.LeaseExpired:
			if of.failed++; of.failed == b.Failures {
				of.at, of.begun = c.now, false
			}
		}
	}
	return held
}

// keepsBack checks that a job which begins is not one that an open circuit breaker (bound.Brake) holds back.
func (c *Checker) keepsBack(s *subject, b *bound.Brake, of *braking) bool {
	n, j := s.n, s.j
	switch {
	case j == nil || j.token != s.Token: // its claim is not known any more
		return false
	case of.at == 0:
		of.last = max(of.last, j.claimed)
		return false
	case j.claimed <= of.at.Add(c.rules.Node.CallTimeout), n.woke >= of.at: // it may have been planned before
		return false
	case b.Every > 0 && j.claimed < of.last.Add(b.Every):
		c.complain(Shares, "it was claimed %v after another, %d failures in a row are to keep them %v apart",
			j.claimed.Sub(of.last), of.failed, b.Every)
	case b.Every == 0 && n.retries >= b.AtOnce:
		c.complain(Shares, "%d retries run there, and %d may after %d failures in a row", n.retries+1, b.AtOnce, of.failed)
	}
	of.begun, of.last = true, j.claimed
	return true
}

// buriesLate checks Promise.Interval, the longest time ready of a claimed job: a claim takes an older one only after
// burying Buries others, and buries no younger one if the queue was empty within the last Interval.
func (c *Checker) buriesLate(s *subject) bool {
	waited, n, most := c.now.Sub(s.j.ready), s.n, c.rules.Interval
	if s.Kind == engine.Leased {
		return waited <= most || n.plans.buried >= c.rules.Buries ||
			c.complain(Shares, "it has been ready for %v, and is to be buried after %v", waited, most)
	}
	if s.Error == engine.NoError {
		n.plans.buried++
	}
	empty := max(n.plans.emptied, n.began)
	if s.Error != engine.NoError || waited > most || !c.undisturbed(n) || c.now.Sub(empty) > most {
		return false
	}
	c.complain(Shares, "it is buried after %v, and the queue was empty at %v", waited, empty)
	return true
}
