package check

import (
	"cmp"

	"qsim/engine"
)

// The rules that rest on no bound: what a job may never do, whatever goes wrong.

// goesOn checks that the job of an event exists and has not ended, unless it is dead and redriven (made ready again).
func (c *Checker) goesOn(s *subject) {
	switch {
	case s.r == noRef:
		c.astray(NoLoss, "no such job was enqueued")
		return
	case s.j != nil && s.j.state != engine.Dead:
		c.astray(Final, "it is %v", s.j.state)
		return
	}
	c.checks[Final]++
	switch {
	case s.Kind == engine.Fenced, s.Kind == engine.ExtendRefused:
		c.handsOneBack(s)
		s.lost = true // no rule applies
	case s.j == nil:
		c.astray(Final, "it is %v", engine.Done)
	case s.Kind != engine.Redriven:
		c.astray(Final, "it is %v", engine.Dead)
	}
}

// handsOneBack counts a job that a process has handed back, for Checker.Released. It complains of nothing.
func (c *Checker) handsOneBack(s *subject) bool {
	if s.Error == engine.Canceled {
		s.n.back++
	}
	return false
}

func (c *Checker) isDue(s *subject) bool {
	j := s.j
	switch {
	case j.state != engine.Waiting:
		c.astray(NoLoss, "it is %v", j.state)
	case s.At < j.ready, !c.rules.Store.Promoted && s.At != j.ready:
		c.complain(Due, "it is due at %v", j.ready)
	case s.Class != j.class:
		c.complain(Conservation, "it is %v, not %v", j.class, s.Class)
	}
	return true
}

// isGranted checks that a claimed job was ready, and that its claim is its next delivery, with its class and wait.
func (c *Checker) isGranted(s *subject) bool {
	j := s.j
	if j.state == engine.InFlight {
		return c.astray(Leases, "node %d has it under token %d since %v", j.node, j.token, j.renewed)
	} else if j.state != engine.Ready {
		return c.astray(Due, "it is %v until %v", j.state, j.ready)
	}
	c.checks[Deliveries]++
	c.checks[Recount]++
	c.checks[Leases]++
	waited, age := max(0, s.At.Sub(j.ready)), s.At.Sub(j.enqueued)
	switch {
	case s.Delivery != j.delivery+1:
		c.complain(Deliveries, "delivery %d comes after %d", s.Delivery, j.delivery)
	case s.Class != j.class:
		c.complain(Conservation, "it is %v, not %v", j.class, s.Class)
	}
	if s.Waited != waited || s.Age != age {
		c.complain(Recount, "it waited %v of %v, and says %v of %v", waited, age, s.Waited, s.Age)
	}
	return c.raisesToken(s)
}

func (c *Checker) isFirstOfKey(s *subject) bool {
	earlier := c.earlier[s.r]
	_, j := c.jobs.find(earlier)
	return earlier == 0 || j == nil || j.state == engine.Dead ||
		c.complain(Due, "job %d of the same serial key comes first", earlier)
}

// raisesToken checks that the fencing token of a new lease is above those of all earlier leases of the job.
func (c *Checker) raisesToken(s *subject) bool {
	return s.Token > s.j.token || c.complain(Leases, "token %d comes after %d", s.Token, s.j.token)
}

// keepsToLimits checks that no more jobs are in flight, in all and of each kind, than the store's options allow.
func (c *Checker) keepsToLimits(s *subject) bool {
	n, kind := sum(&c.counts.InFlight)+1, int(s.j.kind)
	if c.rules.Store.CountUnacked {
		if n += c.counts.Ready[engine.Retry] + c.counts.Waiting[engine.Retry]; s.Class == engine.Retry {
			n = 0 // the job is already counted
		}
	}
	if most := c.rules.Store.MaxInFlight; most > 0 && n > most {
		c.complain(Due, "%d jobs are in flight, and %d may be", n, most)
	}
	if kind < len(c.running) {
		if most := c.rules.Store.MaxRunning[kind]; most > 0 && c.running[kind] >= most {
			c.complain(Due, "%d jobs of its class are in flight, and %d may be", c.running[kind]+1, most)
		}
	}
	return true
}

func (c *Checker) isTakeable(s *subject) bool {
	j := s.j
	switch {
	case j.state != engine.InFlight:
		c.astray(Leases, "it is %v", j.state)
	case s.Delivery != j.delivery:
		c.complain(Deliveries, "it is of delivery %d, not %d", j.delivery, s.Delivery)
	case j.forgotten && !c.rules.Store.Orphans && !c.d.guarded: // otherwise the lease may have been read before
		c.complain(Leases, "the record of its lease is lost")
	case s.At < c.takeable(j):
		c.complain(Leases, "its lease ends at %v", c.takeable(j))
	}
	return true
}

// takeable returns the earliest time at which a job's lease may be recovered; 0 if that is not known.
func (c *Checker) takeable(j *job) engine.Time {
	reaper := &c.rules.Node.Reaper
	switch {
	case !c.d.timed, j.untimed, j.forgotten:
	case !c.d.guarded:
		return j.ended(&c.d).Add(reaper.Grace)
	case reaper.Guard == engine.FenceToken:
		// It had ended when it was read, and has been extended since, or not; but it is
		// the same lease.
		return j.claimed.Add(c.d.ttl).Add(reaper.Grace)
	}
	return 0
}

func (c *Checker) hadRecord(s *subject) bool {
	j := s.j
	return j.state == engine.InFlight && !j.forgotten && s.Delivery == j.delivery ||
		c.astray(Leases, "it is %v in delivery %d, not %d", j.state, j.delivery, s.Delivery)
}

// extendsCurrent checks that a lease is extended while its holder still has it, and refused otherwise.
func (c *Checker) extendsCurrent(s *subject) bool {
	j, fence := s.j, c.rules.Store.Fence
	current := j.state == engine.InFlight && !j.forgotten && (fence != engine.FenceToken || s.Token == j.token)
	if s.Kind == engine.ExtendRefused {
		return !current || j.mayLapse(&c.d, s.At) || fence == engine.FenceNone || c.complain(Fencing, "the lease is current")
	}
	return current && !c.hasLapsed(j) ||
		c.astray(Fencing, "it is %v under token %d, the lease was to end at %v", j.state, j.token, j.ended(&c.d))
}

// hasLapsed reports whether a job's lease has surely lapsed by now.
func (c *Checker) hasLapsed(j *job) bool { return c.d.timed && !j.untimed && j.lapsed(&c.d, c.now) }

// hasLost checks that a process counts no lease as lost that is still current, and none twice.
func (c *Checker) hasLost(s *subject) bool {
	j := s.j
	if j != nil && c.isCurrent(j) && j.token == s.Token && !j.forgotten {
		c.complain(Fencing, "the lease under token %d is current", s.Token)
	}
	if s.runs() && s.x.lost {
		c.complain(Fencing, "the lease under token %d was lost before", s.Token)
	}
	return true
}

// answersOwn checks that a process whose claims were all answered in time receives no late answer, such as one to a
// claim of an earlier process of its node.
func (c *Checker) answersOwn(s *subject) bool {
	return !s.n.unheard && s.n.woke < s.n.began && c.heard(s.n.began) &&
		c.complain(Leases, "%d jobs come too late to a process whose claims were all answered in time", s.Count)
}

// takesEffect checks that an outcome which took effect met the fence, the condition on its token and the job's state,
// and agrees with how its execution ended.
func (c *Checker) takesEffect(s *subject) bool {
	j, fence := s.j, c.rules.Store.Fence
	if s.Error == engine.LeaseExpired { // the outcome may be a reaper's, under its own guard
		fence = max(fence, cmp.Or(c.rules.Node.Reaper.Guard, fence))
	}
	if c.rules.Sheds > 0 && s.Kind == engine.Buried && s.From == engine.Ready {
		fence = engine.FenceNone
	}
	switch {
	case s.From != j.state:
		return c.astray(Conservation, "it was %v, not %v", j.state, s.From)
	case fence != engine.FenceNone && j.state != engine.InFlight,
		fence == engine.FenceToken && s.Token != j.token:
		c.complain(Fencing, "it is %v under token %d, the outcome has %d", j.state, j.token, s.Token)
	case fence == engine.FenceToken && !j.forgotten && !j.reaped && c.hasLapsed(j):
		c.complain(Fencing, "its lease lapsed at %v", j.ended(&c.d).Add(c.d.lapse))
	}
	c.checks[Effects]++
	switch { // a job is acked only after a success, for example
	case s.Delivery <= j.delivery-64: // too long ago: not recorded any more
	case s.Kind == engine.Acked:
		if j.succeeded&bit(s.Delivery) == 0 {
			c.complain(Effects, "delivery %d did not succeed", s.Delivery)
		}
	case s.Error == engine.LeaseExpired:
		if c.d.fenced && !j.reaped {
			c.complain(Effects, "no reaper has it")
		}
	case s.Error != engine.Canceled && s.From != engine.Ready:
		if j.failed&bit(s.Delivery) == 0 {
			c.complain(Effects, "delivery %d did not fail", s.Delivery)
		}
	}
	return true
}

// wasNotCurrent checks that an outcome which the store refused did not meet the fence (condition on token and state).
func (c *Checker) wasNotCurrent(s *subject) bool {
	j, fence := s.j, c.rules.Store.Fence
	if c.d.asRead(s.Event) {
		fence = engine.FenceToken // the strictest possible fence
	}
	return !c.isCurrent(j) || s.Token != j.token && fence != engine.FenceState ||
		c.complain(Fencing, "the lease under token %d is current", j.token)
}

// isCurrent reports whether a job is surely in flight under a lease that has not lapsed.
func (c *Checker) isCurrent(j *job) bool {
	return j.state == engine.InFlight && !j.mayLapse(&c.d, c.now)
}

// wasNotDone checks that an outcome refused by the store had not taken effect: a copy of one that has is no refusal.
func (c *Checker) wasNotDone(s *subject) bool {
	j := s.j
	twice := !c.isCurrent(j) && c.d.fenced && !c.d.asRead(s.Event) &&
		s.Token == j.committed && j.wrote == engine.NewEngineID(s.Node, s.n.life) && !s.n.returnsLate
	return !twice || c.complain(Atomicity, "the outcome under token %d took effect already", s.Token)
}

// mayGiveUp checks that a process drops outcomes only where its tries are limited, and none whose commit was answered.
func (c *Checker) mayGiveUp(s *subject) bool {
	if commit := &c.rules.Node.Commit; commit.Tries == 0 || !commit.Drop {
		c.complain(Atomicity, "it was to be tried for ever")
	} else if s.j != nil && c.heard(c.now) && !s.n.unheard && c.tookEffect(s) {
		c.complain(Atomicity, "it took effect, and the answer has said so")
	}
	return true
}

// tookEffect reports whether the outcome that an event is about is its job's latest to take effect. A reaper that reads
// leases first commits under the token after that of the lease it read, under which the holder may have committed.
func (c *Checker) tookEffect(s *subject) bool {
	if !c.d.asRead(s.Event) {
		return s.j.committed == s.Token
	}
	r := c.jobs.recoveries[s.r]
	return s.j.committed == s.Token+1 && r.wrote == s.Token+1 && r.reaper == engine.NewEngineID(s.Node, s.n.life)
}

// wroteOnce checks that a two-step reaper (it reads leases before it takes them) does not take a lease twice.
func (c *Checker) wroteOnce(s *subject) bool {
	if s.Error != engine.LeaseExpired || s.j == nil || !c.heard(c.now) || s.n.unheard {
		return false
	}
	return !c.tookEffect(s) || c.complain(Atomicity, "it took the lease under token %d already", s.Token)
}

// runsKnown checks that an event of an execution is about a known job that runs in its slot, and that an execution
// begins in a slot of a running process, under a lease that was granted, and only once.
func (c *Checker) runsKnown(s *subject) bool {
	switch x, n := s.x, s.n; {
	case s.r == noRef:
		c.astray(NoLoss, "no such job was enqueued")
	case s.Kind != engine.Started:
		if !s.runs() {
			c.astray(Effects, "job %d runs in slot %d, in delivery %d", x.job, s.Slot, x.delivery)
		}
	case x.job != 0:
		c.complain(Effects, "job %d runs in slot %d", x.job, s.Slot)
	case n.busy == c.rules.Node.Workers:
		c.complain(Effects, "all %d workers are busy", n.busy)
	case !n.up || n.frozen:
		c.complain(Effects, "the process does not run")
	case n.wasStopped:
		c.complain(Recovery, "it begins, and the process was told to stop")
	}
	j := s.j
	if s.Kind != engine.Started || j == nil {
		return true
	}
	c.checks[Deliveries]++
	switch {
	case s.Token == j.token && j.state == engine.InFlight && c.rules.Store.Held && c.now < j.ready:
		c.complain(Due, "it is due at %v", j.ready)
	case s.Token > j.token || s.Delivery > j.delivery:
		c.complain(Leases, "its latest token is %d, its latest delivery %d", j.token, j.delivery)
	case s.Token == j.token && j.node == s.Node && !j.reaped && j.life != s.n.life:
		c.complain(Leases, "an earlier life of the process claimed it")
	case s.Delivery > j.delivery-64 && j.begun&bit(s.Delivery) != 0:
		c.complain(Deliveries, "delivery %d has begun before", s.Delivery)
	}
	return true
}

// endsInTime checks that an execution does not time out before its timeout, nor end later without timing out; and that
// one which is cancelled ends at the time of its cancellation, if it can.
func (c *Checker) endsInTime(s *subject) bool {
	x, n, timeout := s.x, s.n, c.rules.kind(s.JobKind).Timeout
	ran := s.At.Sub(x.started)
	switch {
	case s.Kind == engine.TimedOut:
		return timeout > 0 && ran >= timeout || c.complain(Effects, "it has run for %v, its timeout is %v", ran, timeout)
	case x.told == 0:
		paused := n.frozen || n.woke != 0 && n.woke >= x.started
		return timeout == 0 || ran <= timeout || x.over || paused ||
			c.complain(Effects, "it ran for %v and did not time out after %v", ran, timeout)
	case c.rules.Heeds && !n.frozen && n.woke < x.told:
		if c.hold(Effects, Obedience); s.At > x.told {
			c.complain(Effects, "it was to be told to stop at %v", x.told)
		}
	}
	return true
}

// ofKind returns the entry for a job kind in a list with an entry by kind; kinds past its end have the last entry.
func ofKind[T any](list []T, k engine.Kind) *T { return &list[min(int(k), len(list)-1)] }
