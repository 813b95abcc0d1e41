package check

import (
	"qsim/engine"
)

// node is the checker's record of one node: its present process, and what outlives that.
type node struct {
	process
	life    uint32      // number of starts of its processes
	lateAt  engine.Time // time of the latest late answer
	slots   []execution // executions, by slot
	busy    int         // executions that occupy a worker
	retries int         // number of executions of retries
	woke    engine.Time // time at which it last resumed after a pause
	asked   engine.Time // time of its latest request to extend leases
	idles   int         // idle workers, as counted in load
	claims  pace        // number of claims beyond the pace of Fetch.Cooldown
	inVain  pace        // number of recoveries without a job beyond the allowed pace
	movedAt int64       // value of the counter of lease changes at that recovery
	holding bool        // it held jobs not started at the stop signal
	owed    owed        // deficit of its fresh claims
}

// process is the checker's record of one process of a node, from its start to its death.
type process struct {
	up, frozen      bool
	returnsLate     bool        // it answered late claims, and may commit two outcomes of one lease
	stopped         engine.Time // time of the stop signal; Never: none
	unheard         bool        // a claim or a commit has no answer
	began           engine.Time // start of the life
	missed          engine.Time // latest possible claim without the answer to the previous one; 0: never
	busiest         int         // most executions since its latest claim was executed
	reapBy          engine.Time // time by which it must recover expired leases; Never: it need not
	late, back      int32       // jobs that came late, and jobs handed back
	wasStopped      bool        // it has received a stop signal
	plans           plans
	owing           owing
	untold          int         // executions that ended but were not yet reported to its policy
	starts, extends int         // executions begun, and calls to extend leases that have set out
	idleSince       engine.Time // time since which it has idle workers and has not claimed; Never: none are idle
}

// plans is the state of a process's claims: the time of the latest claim plan, whether a claim is in flight, and the
// state of the limits by which its policy holds retries back.
type plans struct {
	at      engine.Time
	under   bool // the answer to a claim of this life is under way, or lost, or an error
	spent   spent
	brakes  []braking   // by index of Promise.Brakes; nil: none has counted in this life
	buried  int         // jobs that its latest claim has buried, where Promise.Interval is set
	emptied engine.Time // time of the latest claim in this life that found the queue empty; 0: none did
}

// execution is the checker's record of one worker slot of a node: the job that runs in it, if any does.
type execution struct {
	job      engine.JobID // job that runs; 0: none
	delivery int32
	started  engine.Time
	told     engine.Time // time of its cancellation; 0: none
	class    engine.Class
	over     bool // the execution has timed out, or its lease is lost
	freed    bool // its worker runs another job
	lost     bool // its lease is lost
}

// owing counts a node's outcomes that are not committed yet, separately for executions that ended after its latest
// claim. The others are a lower bound on what it had to commit when it made its next claim (for backpressure).
type owing struct {
	turn       uint32 // number of claims
	since, all int    // outcomes of executions that ended since the latest claim, and before it
}

// owes records that an execution on the node has ended, and that the store has not committed its outcome yet.
func (n *node) owes(j *job, token engine.Token, at engine.Time) {
	if j != nil && j.token == token && j.owed == 0 && j.state == engine.InFlight {
		n.owing.since++
		j.finished = at
		j.owed, j.turn = n.life, n.owing.turn
	}
}

// toldOf takes a job off its node's count of uncommitted outcomes: its outcome is committed, or never will be.
func (n *node) toldOf(j *job) {
	if j.owed == n.life && j.owed != 0 {
		if j.turn == n.owing.turn {
			n.owing.since--
		} else {
			n.owing.all--
		}
	}
	j.owed = 0
}

// followMachine updates the record of a process after an event of its node, such as a crash, a pause or a lost call.
func (c *Checker) followMachine(s *subject) {
	n := s.n
	if n == nil {
		return
	}
	switch s.Kind {
	case engine.NodeUp:
		n.life++
		n.claims.ahead, n.inVain.ahead = 0, 0
		n.process = process{up: true, stopped: engine.Never, began: c.now, missed: c.now, idleSince: c.now,
			reapBy: engine.Never}
		r := &c.rules.Node.Reaper
		if r.OnStart && !r.Off && !r.LeaderOnly && c.heard(c.now) && (!c.rules.Stalls || c.now >= c.rules.Calm) {
			n.reapBy = c.now.Add(c.rules.Trip)
		}
	case engine.NodeDown:
		n.up, n.idleSince = false, engine.Never
		n.onUnheard(c.now)
	case engine.NodePause:
		n.reapBy = engine.Never
		n.frozen, n.idleSince, n.stopped = true, engine.Never, engine.Never
	case engine.NodeWake:
		n.frozen, n.woke, n.missed = false, c.now, c.now
		c.rests(n)
	case engine.RefusedLate:
		n.returnsLate, n.lateAt, n.missed = true, c.now, c.now
		n.late += s.Count
		n.onUnheard(c.now)
	case engine.CallTimedOut:
		n.unheard = n.unheard || s.Op == engine.OpClaim || s.Op == engine.OpCommit
		if s.Op == engine.OpRecover {
			n.reapBy = engine.Never // resumed when the next recovery is due
		}
		if s.Op == engine.OpClaim {
			n.missed = c.now
			n.onUnheard(c.now)
		}
	}
	if s.Kind >= engine.NodeUp && s.Kind <= engine.NodeWake {
		c.woken = engine.Never // the woken process may now be a different one
		c.reaps = reaps{}      // the leader may have changed
	}
	c.idles(n)
}

// rests sets the time since which a node has had idle workers: now, or Never if none is idle, or it is down or frozen.
func (c *Checker) rests(n *node) {
	n.idleSince = engine.Never
	if n.up && !n.frozen && n.busy < c.rules.Node.Workers {
		n.idleSince = c.now
	}
}

func (c *Checker) followStarted(s *subject) {
	n, j := s.n, s.j
	if j != nil {
		if s.Delivery > j.delivery-64 {
			j.begun |= bit(s.Delivery)
		}
		if s.Token == j.token {
			j.started = c.now
			if n.lateAt != c.now {
				n.onHeard(j.claimed)
			}
		}
	}
	x := s.x
	*x = execution{}
	x.job, x.delivery, x.class, x.started = s.Job, s.Delivery, s.Class, s.At
	if n.busy++; n.busy >= c.rules.Node.Workers {
		n.idleSince = engine.Never
	}
	n.busiest = max(n.busiest, n.busy)
	n.starts++
	if s.Class == engine.Retry {
		n.retries++
	}
	c.load.begun++
	c.idles(n)
}

// followEnded updates the records after an execution has ended, or timed out and perhaps goes on.
func (c *Checker) followEnded(s *subject) {
	n, x, j := s.n, s.x, s.j
	if s.WaitsOut {
		x.told = c.now
		return
	}
	if j != nil && s.Delivery > j.delivery-64 {
		switch {
		case s.Kind == engine.Finished && s.Error == engine.NoError:
			j.succeeded |= bit(s.Delivery)
		case s.Kind != engine.Aborted:
			j.failed |= bit(s.Delivery)
		}
	}
	if !x.over && s.Kind != engine.Aborted {
		n.owes(j, s.Token, c.now)
		n.untold++
	}
	frees := !x.freed
	if s.Kind == engine.TimedOut {
		frees = s.Freed
		x.over, x.told, x.freed = true, c.now, s.Freed
	} else {
		if x.class == engine.Retry {
			n.retries--
		}
		*x = execution{}
	}
	if frees {
		if n.busy--; n.busy == c.rules.Node.Workers-1 {
			c.rests(n)
		}
		c.idles(n)
	}
}

// load holds the sums of workers' idle time and of executions begun, by which loadExplains judges a job's wait.
type load struct {
	idle   int   // idle workers of processes that run and have no stop signal
	idled  int64 // idle time of all workers up to at, in nanoseconds
	at     engine.Time
	begun  uint32 // number of executions begun
	calm   int64  // value of idled at Rules.Calm
	before uint32 // value of begun at Rules.Calm
}

// spend adds the idle time of all workers since it was last called to their sum.
func (l *load) spend(now engine.Time) {
	l.idled += int64(now-l.at) * int64(l.idle)
	l.at = now
}

// idles recomputes the number of idle workers of a node after an event.
func (c *Checker) idles(n *node) {
	if !c.d.explained {
		return
	}
	idle := 0
	if n.up && !n.frozen && n.stopped == engine.Never {
		idle = max(0, c.rules.Node.Workers-n.busy)
	}
	if idle != n.idles {
		c.load.spend(c.now)
		c.load.idle += idle - n.idles
		n.idles = idle
	}
}

// Stopped records the first stop signal to a process, which must return the jobs that it holds and does not run.
func (c *Checker) Stopped(node int32, at engine.Time) {
	n := &c.caughtUp().nodes[node]
	if n.stopped != engine.Never {
		return
	}
	n.stopped, n.holding, n.wasStopped = at, false, true
	c.idles(n)
	for r := range c.jobs.size {
		n.holding = n.holding || c.ahead(c.jobs.at(r), node, n, at)
	}
}

// HasPlanned reports whether a node's fetch policy was asked for a claim plan at the given time or later.
func (c *Checker) HasPlanned(node int32, since engine.Time) bool {
	return c.nodes[node].plans.at >= since
}

// MayClaim reports whether nothing but its fetch policy can keep a node that has idle workers from claiming.
func (c *Checker) MayClaim(node int32) bool {
	cfg, n := &c.rules.Node, &c.nodes[node]
	return cfg.Commit.Backpressure == 0 && !cfg.Lease.RunLate && !c.rules.Store.Held && !n.wasStopped && !n.plans.under
}

// Claims records that a claim of a node is on its way (under) or, if under is false, that its answer has arrived.
func (c *Checker) Claims(node int32, under bool) { c.nodes[node].plans.under = under }

// Extends records that a call of a node to extend leases is on its way to the store; Released counts them.
func (c *Checker) Extends(node int32) { c.nodes[node].extends++ }

// Planned records the latest time at which the fetch policy of a node planned a claim.
func (c *Checker) Planned(node int32, at engine.Time) { c.nodes[node].plans.at = at }

// Idles reports whether a node runs, was not told to stop, and since then has had idle workers and got no job.
func (c *Checker) Idles(node int32, since engine.Time) bool {
	n := &c.caughtUp().nodes[node]
	return n.up && !n.frozen && !n.wasStopped && n.idleSince <= since
}

// Stops reports whether a node's present process has received a stop signal.
func (c *Checker) Stops(node int32) bool { return c.nodes[node].wasStopped }

// Froze reports whether a node is frozen now, or was at any moment since the given time.
func (c *Checker) Froze(node int32, since engine.Time) bool {
	return c.nodes[node].frozen || c.nodes[node].woke >= since
}

// ahead reports whether a node has prefetched a job: claimed it, received the answer by the time heard, and neither
// started it nor tried to hand it back. A claim executed soon after a restart does not count: it may be one of the
// previous process.
func (c *Checker) ahead(j *job, node int32, n *node, heard engine.Time) bool {
	return j.state == engine.InFlight && j.node == node && j.life == n.life && !j.reaped && !j.forgotten &&
		j.dropped != j.token && j.begun&bit(j.delivery) == 0 && j.claimed.Add(c.rules.Node.CallTimeout) <= heard &&
		(n.life == 0 || j.claimed.Sub(n.began) > c.rules.Trip)
}
