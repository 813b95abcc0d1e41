package check

import (
	"time"

	"qsim/engine"
)

// The rules that rest on a bound or on what a policy promises.

// heard reports whether, by the Rules of the run, every call executed since the given time was answered in time.
func (c *Checker) heard(since engine.Time) bool {
	return since >= c.d.heard
}

// claimsWhileReady checks, after the faults, that no process with idle workers stops claiming while jobs are ready.
func (c *Checker) claimsWhileReady() {
	soonest := c.rules.Idle
	if c.rules.Soon.AllClaim {
		soonest = min(soonest, c.rules.Soon.Claim)
	}
	c.keptUntil(c.now.Add(soonest)) // of what begins now
	for i := range c.nodes {
		since, most := max(c.nodes[i].idleSince, c.ready, c.rules.Calm), c.rules.Idle
		if since == engine.Never {
			continue
		}
		c.checks[Idleness]++
		if c.rules.Soon.AllClaim && since >= c.rules.Calm.Add(most) {
			most = c.rules.Soon.Claim
		}
		if c.now.Sub(since) > most {
			c.Complain(Idleness, 0, "node %d has had idle workers and claimed nothing since %v, and jobs were ready",
				i, since)
		}
		c.keptUntil(since.Add(most))
	}
}

// keptUntil records that no rule for the time after the storms (faults) can be broken up to time t: the checker applies
// these rules again only at the first event after the earliest such t.
func (c *Checker) keptUntil(t engine.Time) { c.kept = min(c.kept, t) }

// wake records that a job has become ready while no other was: if workers are idle, a claim is due.
func (c *Checker) wake() {
	c.woken = engine.Never
	soon := c.rules.Soon.Claim
	if soon == 0 || c.now < c.rules.Soon.From || c.now.Sub(c.brought) < soon {
		return
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.idleSince != engine.Never && !n.wasStopped {
			c.woken = c.now
		}
	}
}

// claimsWhenWoken checks that a process claims soon after a job became ready while none was and workers were idle.
func (c *Checker) claimsWhenWoken(*subject) bool {
	if c.woken == engine.Never || c.ready == engine.Never {
		return false
	}
	return c.now.Sub(c.woken) <= c.rules.Soon.Claim || c.Complain(Idleness, 0,
		"a job became ready at %v, workers were idle, and no process has claimed since", c.woken)
}

// takesEndedLeases checks, after the storms (faults), that expired leases are recovered within Rules.Recover.
func (c *Checker) takesEndedLeases() {
	soonest := c.rules.Recover
	if c.rules.Soon.Recover > 0 {
		soonest = min(soonest, c.rules.Soon.Recover)
	}
	head := c.jobs.at(noRef).next
	if head == noRef {
		c.keptUntil(c.now.Add(soonest))
		return
	}
	j := c.jobs.at(head)
	at := max(j.ended(&c.d), c.rules.Calm)
	c.keptUntil(at.Add(soonest)) // the leases behind it end later
	if c.now <= at {
		return
	}
	most := c.rules.Recover + c.rules.RecoverEach*time.Duration(c.mostInFlight/max(1, c.rules.Node.Reaper.Batch))
	if c.rules.Soon.Recover > 0 && at >= c.rules.Calm.Add(c.rules.Soon.Looked) {
		most = c.rules.Soon.Recover
	}
	if c.checks[Recovery]++; c.now.Sub(at) > most {
		c.Complain(Recovery, j.id, "its lease ended at %v, and nobody takes it", j.ended(&c.d))
	}
}

// leaderReaps checks that only the leader recovers leases, where that is configured: two nodes do not take turns faster
// than leadership can pass from one to the other.
func (c *Checker) leaderReaps(s *subject) bool {
	r, by := &c.reaps, s.Node+1
	if c.now < c.rules.Calm || by == r.node || by != r.other {
		return false
	}
	return c.now.Sub(r.otherAt) >= c.d.led || c.Complain(Recovery, 0,
		"nodes %d and %d look for expired leases in turn, at %v, %v and now, and only the leader may",
		by-1, r.node-1, r.otherAt, r.at)
}

// shortestRest is the shortest mean interval between a reaper's recoveries that find nothing, if it recovers as leases
// end rather than at intervals; short leases and heartbeats allow less.
const shortestRest = 20 * time.Millisecond

// rest returns the shortest mean interval allowed between recoveries of a process that find no expired lease.
func (c *Checker) rest() time.Duration {
	if every := c.rules.Node.Reaper.Every; every > 0 {
		return every / 2
	}
	l := &c.rules.Node.Lease
	least := min(shortestRest, l.TTL/8)
	if l.Heartbeat > 0 {
		least = min(least, l.Heartbeat/8)
	}
	return least
}

// reapsSeldomInVain checks that a process does not look for expired leases too often (see rest) without finding any.
func (c *Checker) reapsSeldomInVain(s *subject) bool {
	if s.Count > 0 || !c.heard(c.now) {
		return false
	}
	n, least := s.n, c.rest()
	moved, moves := int64(0), leased|taken|committed|of(engine.Extended) // leases granted, extended or ended
	for k, number := range c.events {
		if moves>>k&1 != 0 {
			moved += number
		}
	}
	if c.rules.Node.Reaper.Every == 0 && moved != n.movedAt {
		// It came when a lease was to end, and another process took that, or its holder was
		// done or asked for more time just before.
		n.movedAt, n.inVain.ahead = moved, 0
	}
	ahead := n.inVain.step(c.now, least)
	return ahead <= 4*least+c.rules.Trip || c.complain(Shares,
		"it looks for expired leases again and again, and finds none: %v ahead of one every %v", ahead, least)
}

// pace measures by how much time a series of events, such as claims, is ahead of one event per interval.
type pace struct {
	ahead time.Duration
	at    engine.Time // time of the latest call
}

func (p *pace) step(now engine.Time, each time.Duration) time.Duration {
	p.ahead, p.at = max(0, p.ahead-now.Sub(p.at))+each, now
	return p.ahead
}

// keepsToCooldown checks that a node's claims are a cooldown apart on average (they do not reach the store evenly).
func (c *Checker) keepsToCooldown(s *subject) bool {
	least := c.rules.Node.Fetch.Cooldown
	if !c.heard(c.now) {
		return false
	}
	ahead := s.n.claims.step(c.now, least)
	return ahead <= 2*least+c.rules.Trip ||
		c.complain(Shares, "its claims are to be %v apart, and are %v ahead of that", least, ahead)
}

// keepsToBatch checks that a call to the store has no more jobs than the batch size of its operation.
func (c *Checker) keepsToBatch(s *subject) bool {
	most := c.d.batches[s.Op]
	return most == 0 || int(s.Count) <= most ||
		c.complain(Shares, "a %v is about %d jobs, and %d may be in a batch", s.Op, s.Count, most)
}

func (c *Checker) stopsClaiming(s *subject) bool {
	n := s.n
	late := n.stopped != engine.Never && n.up && c.heard(n.stopped) && c.now.Sub(n.stopped) > c.rules.Trip
	return !late || c.complain(Recovery, "it was told to stop at %v, and claims", n.stopped)
}

// looksAtStart checks that a process recovers expired leases soon after its start, where ReaperConfig.OnStart is set.
func (c *Checker) looksAtStart(s *subject) bool {
	n := s.n
	if n.reapBy == engine.Never || n.life == 0 {
		return false
	}
	if s.Op != engine.OpRecover && c.now > n.reapBy && n.up && !n.frozen {
		c.complain(Recovery, "it started at %v, and has not looked for expired leases until there were none", n.began)
	}
	return s.Op == engine.OpRecover
}

// undisturbed reports whether a process runs, and has received the answers to all its latest claims in time.
func (c *Checker) undisturbed(n *node) bool {
	return c.heard(c.now) && n.up && !n.frozen && (n.missed == 0 || c.now.Sub(n.missed) > c.rules.Trip)
}

// keepsToPressure checks that a node claims nothing while it has too many outcomes to commit (backpressure). Executions
// that ended after its previous claim do not count: they may have ended after it made this one.
func (c *Checker) keepsToPressure(s *subject) bool {
	most := c.rules.Node.Commit.Backpressure
	if !c.undisturbed(s.n) {
		return false
	}
	return s.n.owing.all < most ||
		c.complain(Shares, "it has %d outcomes to commit, and claims nothing with %d", s.n.owing.all, most)
}

// handsBack checks, as a process with time to stop (Rules.HandBack) ends, that it has returned all prefetched jobs.
func (c *Checker) handsBack(s *subject) bool {
	n := s.n
	if n.unheard || n.returnsLate || n.stopped == engine.Never || c.now.Sub(n.stopped) < c.rules.HandBack {
		return false
	}
	for r := range c.jobs.size {
		if j := c.jobs.at(r); c.ahead(j, s.Node, n, c.now.Add(-c.rules.HandBack)) {
			c.Complain(Recovery, j.id, "node %d claimed it at %v and was told to stop at %v: "+
				"it has neither begun it nor handed it back", s.Node, j.claimed, n.stopped)
			break
		}
	}
	return n.holding
}

func (c *Checker) keepsToCap(s *subject) bool {
	most, running := c.d.caps[s.Class]-1, s.n.retries
	if s.Class == engine.Fresh {
		running = s.n.busy - s.n.retries
	}
	return most < 0 || running < most ||
		c.complain(Shares, "%d %v jobs run there, and %d may", running+1, s.Class, most)
}

// beats checks that a process has sent heartbeats for a lease at the configured interval in all the time for which it
// has surely had the lease, if one is due by now: d.beat is over.
func (c *Checker) beats(n *node, j *job, token engine.Token, had time.Duration) bool {
	l, least := &c.rules.Node.Lease, c.d.beat
	if n.frozen || j == nil || j.reaped || token != j.token || j.dropped == token {
		return false
	}
	if l.Max > 0 && c.now.Sub(j.claimed)+c.d.ttl+l.Heartbeat > l.Max {
		return false // the lease must lapse
	}
	last := j.asked
	if l.OfNode {
		last = n.asked
	}
	from := max(c.now.Add(-had), last, n.woke, n.began, c.rules.Heard)
	return c.now.Sub(from) <= least || c.Complain(Leases, j.id,
		"node %d holds its lease and has not asked for longer since %v: a heartbeat is due every %v",
		j.node, from, l.Heartbeat)
}

// heldFor returns for how long the holder of a lease has surely had it.
func (c *Checker) heldFor(j *job) time.Duration { return c.now.Sub(j.claimed) - c.rules.Trip }

// beatsTillTaken checks, as a lease is recovered, that its holder sent heartbeats for it if it ran the job.
func (c *Checker) beatsTillTaken(s *subject) bool {
	j := s.j
	n := &c.nodes[j.node]
	if c.rules.Node.Lease.Local && j.finished != 0 {
		return false // no event tells that the lease of an outcome on its way has ended by the holder's clock
	}
	had := c.heldFor(j)
	return n.up && j.life == n.life && j.begun&bit(j.delivery) != 0 && had > c.d.beat && c.beats(n, j, j.token, had)
}

// isNotProlonged checks that a lease is not extended beyond Lease.Max, its longest duration from the claim on.
func (c *Checker) isNotProlonged(s *subject) bool {
	j, longest := s.j, c.rules.Node.Lease.Max
	n := &c.nodes[j.node]
	if s.Token != j.token || n.returnsLate || n.woke > 0 && n.woke >= j.claimed || !c.heard(s.At) {
		return false
	}
	// The node knows the lease from the answer on, and requests an extension when it sends its call.
	had := s.At.Sub(j.claimed) + c.d.ttl - 2*c.rules.Way
	return had <= longest || c.complain(Leases,
		"the lease of %v is prolonged %v after its claim, and may last for %v", c.d.ttl, s.At.Sub(j.claimed), longest)
}

// holderSpeaks reports whether the holder of a lease that is recovered ran the job, and may still commit its outcome.
func (c *Checker) holderSpeaks(j *job) bool {
	n := &c.nodes[j.node]
	return !j.reaped && n.up && !n.frozen && j.life == n.life && j.dropped != j.token && j.started != 0
}

func (c *Checker) asksForEver(s *subject) bool {
	j := s.j
	silent := c.holderSpeaks(j) && c.heard(j.started) && j.asked < j.started &&
		c.now.Sub(max(j.started, c.nodes[j.node].woke)) > c.rules.Trip
	return !silent || c.complain(Leases, "it began at %v, and its lease was to last for ever from then on", j.started)
}

// tellsInTime checks, as a lease is recovered, that its holder had no time to commit the outcome of an ended execution.
func (c *Checker) tellsInTime(s *subject) bool {
	j, n := s.j, &c.nodes[s.j.node]
	if !c.holderSpeaks(j) || j.finished == 0 || !c.heard(c.now) {
		return false
	}
	from := max(j.finished, n.woke, c.rules.Heard, c.rules.Calm)
	most := c.rules.Commits + c.rules.CommitEach*time.Duration(n.owing.all+n.owing.since)
	return c.now.Sub(from) <= most ||
		c.complain(Atomicity, "its execution ended at %v, and the store has not been told of it", j.finished)
}

func (c *Checker) isPromotedInTime(s *subject) bool {
	from := max(s.j.ready, c.rules.Calm)
	if c.now < from {
		return false
	}
	late, node := c.now.Sub(from), &c.rules.Node
	most := c.rules.Promote*time.Duration(2+c.mostWaiting/node.Promoter.Batch) + node.Leader.TTL + node.Leader.Renew
	return late <= most || c.complain(Due, "it was due at %v, %v ago", s.j.ready, late)
}

// loadExplains checks that a job's wait is explained by the load: the workers were busy all that time, but for the time
// that they take to find their next job.
func (c *Checker) loadExplains(s *subject) bool {
	if c.now < c.rules.Calm {
		return false
	}
	j, l := s.j, &c.load
	l.spend(c.now)
	idled, begun := l.idled-j.idled, l.begun-j.others
	if j.since < c.rules.Calm {
		idled, begun = l.idled-l.calm, l.begun-l.before
	}
	explains := func(each time.Duration) bool { return float64(idled) <= c.d.spare+float64(each)*float64(begun) }
	return explains(c.rules.Between) || c.mayHavePaused() && explains(c.rules.Between+c.rules.Awaits) || c.Complain(
		Starvation, j.id, "it has waited for %v, in which %d executions began and workers were idle for %v in all",
		c.now.Sub(max(j.since, c.rules.Calm)), begun, time.Duration(idled))
}

// mayHavePaused reports whether claims may have stopped since too many outcomes were pending (backpressure). These are
// of jobs in flight, or of leases that were taken or forgotten, or the answer to their commit is under way.
func (c *Checker) mayHavePaused() bool {
	commit, stale := &c.rules.Node.Commit, c.events[engine.LeaseTaken]+c.events[engine.LeaseForgotten]
	return commit.Backpressure <= c.mostInFlight+int(stale)+commit.Batch*commit.Calls
}

func (c *Checker) waitedBriefly(s *subject) bool {
	if c.now < c.rules.Calm {
		return false
	}
	waited := c.now.Sub(max(s.j.ready, c.rules.Calm))
	return waited <= c.rules.Wait || c.complain(Starvation, "it waited for %v", waited)
}

// Waits replaces Rules.Wait, the longest time for which a job may be ready unclaimed, by d, unless it is 0 (no bound).
func (c *Checker) Waits(d time.Duration) {
	if c.caughtUp().rules.Wait > 0 {
		c.rules.Wait = d
	}
}
