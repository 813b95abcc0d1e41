package check

import (
	"qsim/engine"
)

// node is the checker's state of one process.
type node struct {
	life            uint32
	up, frozen      bool
	returnsLate     bool        // it answered late claims in this life: it may say twice what became of a lease
	lateAt          engine.Time // when it last answered one
	slots           []execution // by slot
	busy            int
	retries         int         // executions of retries
	woke            engine.Time // when it last went on after it was frozen
	stopped         engine.Time // when it was told to stop; Never: it was not
	unheard         bool        // a claim or a commit went unanswered in this life
	began           engine.Time // this life
	asked           engine.Time // when it last asked for longer leases
	missed          engine.Time // when it may last have made a claim without the answer to the one before; 0: never
	busiest         int         // the most that ran since its latest claim was executed
	idles           int         // as counted in load
	reapBy          engine.Time // by when it must have looked for expired leases; Never: it need not
	late, back      int32       // jobs that came late in this life, and jobs that it handed back
	wasStopped      bool        // it was told to stop in this life
	owing           owing
	untold          int         // executions that ended, of which its policy has not been told
	starts, extends int         // in this life: executions that began, and calls for longer leases
	claims          pace        // ahead of Fetch.Cooldown
	inVain          pace        // its recoveries that bring nothing, ahead of what they may be
	movedAt         int64       // what had happened to leases by then
	holding         bool        // it held what it had not begun when it was told to stop
	idleSince       engine.Time // since when it has idle workers and has claimed nothing; Never: it has none
}

// execution is the checker's state of the execution in one slot.
type execution struct {
	job      engine.JobID // 0: nothing
	delivery int32
	class    engine.Class
	started  engine.Time
	over     bool        // it has timed out, or its lease is lost
	freed    bool        // its worker has gone on without it
	told     engine.Time // when it was told to stop; 0: it was not
}

// owing counts a node's outcomes that are not committed yet, separately for executions that ended after its latest
// claim: a lower bound on their number at its next claim.
type owing struct {
	turn       uint32 // how many claims there were
	since, all int    // of those that ended since the latest, and before
}

// owes counts an outcome of a node as not yet committed.
func (n *node) owes(j *job, token engine.Token, at engine.Time) {
	if j != nil && j.token == token && j.owed == 0 && j.state == engine.InFlight {
		n.owing.since++
		j.finished = at
		j.owed, j.turn = n.life, n.owing.turn
	}
}

// toldOf counts an outcome of the node as committed, or as never to be committed.
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

// followMachine updates the state of a process after an event of the node.
func (c *Checker) followMachine(s *subject) {
	n := s.n
	if n == nil {
		return
	}
	switch s.Kind {
	case engine.NodeUp:
		*n = node{life: n.life + 1, up: true, slots: n.slots, woke: n.woke, lateAt: n.lateAt, busy: n.busy, retries: n.retries, asked: n.asked, idles: n.idles,
			claims: pace{at: n.claims.at}, inVain: pace{at: n.inVain.at}, movedAt: n.movedAt, holding: n.holding,
			stopped: engine.Never, began: c.now, missed: c.now, idleSince: c.now, reapBy: engine.Never}
		r := &c.rules.Node.Reaper
		if r.OnStart && !r.Off && !r.LeaderOnly && c.heard(c.now) && (!c.rules.Stalls || c.now >= c.rules.Calm) {
			n.reapBy = c.now.Add(c.rules.Trip)
		}
	case engine.NodeDown:
		n.up, n.idleSince = false, engine.Never
		c.claim.onUnheard(s.Node, c.now)
	case engine.NodePause:
		n.reapBy = engine.Never
		n.frozen, n.idleSince, n.stopped = true, engine.Never, engine.Never
	case engine.NodeWake:
		n.frozen, n.woke, n.missed = false, c.now, c.now
		c.rests(n)
	case engine.RefusedLate:
		n.returnsLate, n.lateAt, n.missed = true, c.now, c.now
		n.late += s.Count
		c.claim.onUnheard(s.Node, c.now)
	case engine.CallTimedOut:
		n.unheard = n.unheard || s.Op == engine.OpClaim || s.Op == engine.OpCommit
		if s.Op == engine.OpRecover {
			n.reapBy = engine.Never // it goes on when the next look is due
		}
		if s.Op == engine.OpClaim {
			n.missed = c.now
			c.claim.onUnheard(s.Node, c.now)
		}
	}
	if s.Kind >= engine.NodeUp && s.Kind <= engine.NodeWake {
		c.wakes.at = engine.Never // the process that was woken may be another now
		c.reaps = reaps{}         // who leads may have changed
	}
	c.idles(n)
}

// rests records that a node has idle workers from now on, if it has any.
func (c *Checker) rests(n *node) {
	n.idleSince = engine.Never
	if n.up && !n.frozen && n.busy < c.rules.Node.Workers {
		n.idleSince = c.now
	}
}

func (c *Checker) followStarted(s *subject) {
	n, j := s.n, s.j
	if j != nil {
		j.begun |= bit(s.Delivery)
		if s.Token == j.token {
			j.started = c.now
			if n.lateAt != c.now {
				c.claim.onHeard(s.Node, j.claimed)
			}
		}
	}
	*s.x = execution{job: s.Job, delivery: s.Delivery, class: s.Class, started: s.At}
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

// followEnded updates the state of an execution that ends, or goes on although it has timed out.
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
	if s.Kind == engine.TimedOut {
		x.over, x.told = true, c.now
		if x.freed = s.Freed; x.freed {
			c.followFreed(n)
		}
		return
	}
	if x.class == engine.Retry {
		n.retries--
	}
	freed := x.freed
	if *x = (execution{}); !freed {
		c.followFreed(n)
	}
}

// followFreed follows a worker that becomes free.
func (c *Checker) followFreed(n *node) {
	if n.busy--; n.busy == c.rules.Node.Workers-1 {
		c.rests(n)
	}
	c.idles(n)
}

// load sums the idle time of workers and the executions begun, to judge whether they explain a job's wait.
type load struct {
	idle   int     // workers that run nothing, of processes that run and were not told to stop
	idled  float64 // nanoseconds, of all of them, up to at
	at     engine.Time
	begun  int64   // executions
	calm   float64 // idled at Rules.Calm
	before int64   // begun then
}

// spend adds the idle time of workers up to now.
func (l *load) spend(now engine.Time) {
	l.idled += float64(now-l.at) * float64(l.idle)
	l.at = now
}

// idles recomputes the idle workers of a node after an event.
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

// Stopped records a stop signal to a process: it must return the jobs that it holds and does not run.
func (c *Checker) Stopped(node int32, at engine.Time) {
	n := &c.nodes[node]
	n.stopped, n.holding, n.wasStopped = at, false, true
	c.idles(n)
	for i := range c.jobs.rows {
		n.holding = n.holding || c.ahead(&c.jobs.rows[i], node, n, at)
	}
}

// Froze reports whether a node is frozen, or has been since a time.
func (c *Checker) Froze(node int32, since engine.Time) bool {
	return c.nodes[node].frozen || c.nodes[node].woke >= since
}

// ahead reports whether a node has prefetched a job: claimed it, received the answer by a time, and not begun it.
func (c *Checker) ahead(j *job, node int32, n *node, heard engine.Time) bool {
	return j.state == engine.InFlight && j.node == node && j.life == n.life && !j.reaped && !j.forgotten &&
		j.begun&bit(j.delivery) == 0 && j.claimed.Add(c.rules.Node.CallTimeout) <= heard
}
