package check

import (
	"time"

	"qsim/engine"
)

// node is what is known of one process.
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
	starts, extends int           // in this life: executions that began, and calls for longer leases
	debt            time.Duration // how far its claims are ahead of Fetch.Cooldown
	claimedAt       engine.Time   // its latest claim
	inVain          time.Duration // how far its recoveries that bring nothing are ahead of what they may be
	inVainAt        engine.Time   // the latest of those
	movedAt         int64         // what had happened to leases by then
	holding         bool          // it held what it had not begun when it was told to stop
	idleSince       engine.Time   // since when it has idle workers and has claimed nothing; Never: it has none
}

// execution is what runs in a slot.
type execution struct {
	job      engine.JobID // 0: nothing
	delivery int32
	class    engine.Class
	started  engine.Time
	over     bool        // it has timed out, or its lease is lost
	told     engine.Time // when it was told to stop; 0: it was not
}

// onMachine follows processes.
func (c *Checker) onMachine(e *engine.Event) {
	if e.Node < 0 {
		return
	}
	n := &c.nodes[e.Node]
	c.reaps.forget(e.Kind)
	defer c.idles(n)
	switch e.Kind {
	case engine.NodeUp:
		n.life++
		n.up, n.frozen, n.returnsLate, n.idleSince = true, false, false, c.now
		n.stopped, n.unheard, n.began, n.missed, n.busiest = engine.Never, false, c.now, c.now, 0
		n.late, n.back, n.wasStopped, n.owing = 0, 0, false, owing{}
		n.starts, n.extends, n.debt, n.inVain = 0, 0, 0, 0
		c.startsUp(n)
	case engine.NodeDown:
		if n.busy != 0 {
			c.complain(Effects, e, "%d executions go on without it", n.busy)
		}
		c.handedBack(e, n)
		n.up, n.idleSince = false, engine.Never
		c.claim.onUnheard(e.Node, c.now)
	case engine.NodePause:
		n.reapBy = engine.Never
		n.frozen, n.idleSince, n.stopped = true, engine.Never, engine.Never
	case engine.NodeWake:
		n.frozen, n.woke, n.missed = false, c.now, c.now
		n.rest(c)
	case engine.RefusedLate:
		n.returnsLate, n.lateAt, n.missed = true, c.now, c.now
		n.late += e.Count
		c.claim.onUnheard(e.Node, c.now)
	case engine.CallTimedOut:
		n.unheard = n.unheard || e.Op == engine.OpClaim || e.Op == engine.OpCommit
		if e.Op == engine.OpClaim {
			n.missed = c.now
			c.claim.onUnheard(e.Node, c.now)
		}
	}
}

// rest notes that the node has been idle since now, if it is.
func (n *node) rest(c *Checker) {
	n.idleSince = engine.Never
	if n.up && !n.frozen && n.busy < c.rules.Node.Workers {
		n.idleSince = c.now
	}
}

func (c *Checker) onExecution(e *engine.Event, r ref) {
	c.checks[Effects]++
	if r == noRef {
		c.complain(NoLoss, e, "no such job was enqueued")
		return
	}
	n := &c.nodes[e.Node]
	for len(n.slots) <= int(e.Slot) {
		n.slots = append(n.slots, execution{})
	}
	x := &n.slots[e.Slot]
	var j *job
	if r != isDone {
		j = c.jobs.at(r)
	}
	if e.Kind == engine.Started {
		c.onStarted(e, n, x, j)
		return
	}
	if x.job != e.Job || x.delivery != e.Delivery {
		c.complain(Effects, e, "job %d runs in slot %d, in delivery %d", x.job, e.Slot, x.delivery)
		return
	}
	if j != nil && e.Delivery > j.delivery-64 {
		switch {
		case e.Kind == engine.Finished && e.Error == engine.NoError:
			j.succeeded |= bit(e.Delivery)
		case e.Kind != engine.Aborted:
			j.failed |= bit(e.Delivery)
		}
	}
	c.onTime(e, n, x)
	if !x.over {
		c.beats(n, j, e.Token, x.started)
		if e.Kind != engine.Aborted {
			n.onEnded(j, e.Token, c.now)
		}
	}
	if e.Kind == engine.TimedOut {
		x.over, x.told = true, c.now
		return
	}
	c.obeys(e, n, x)
	if x.class == engine.Retry {
		n.retries--
	}
	*x = execution{}
	if n.busy--; n.busy == c.rules.Node.Workers-1 {
		n.rest(c)
	}
	c.idles(n)
}

func (c *Checker) onStarted(e *engine.Event, n *node, x *execution, j *job) {
	switch {
	case x.job != 0:
		c.complain(Effects, e, "job %d runs in slot %d", x.job, e.Slot)
	case n.busy == c.rules.Node.Workers:
		c.complain(Effects, e, "all %d workers are busy", n.busy)
	case !n.up || n.frozen:
		c.complain(Effects, e, "the process does not run")
	}
	if j != nil {
		c.checks[Deliveries]++
		switch {
		case e.Token == j.token && j.state == engine.InFlight && c.rules.Store.Held && c.now < j.ready:
			c.complain(Due, e, "it is due at %v", time.Duration(j.ready))
		case e.Token > j.token || e.Delivery > j.delivery:
			c.complain(Leases, e, "its latest token is %d, its latest delivery %d", j.token, j.delivery)
		case e.Delivery > j.delivery-64 && j.begun&bit(e.Delivery) != 0:
			c.complain(Deliveries, e, "delivery %d has begun before", e.Delivery)
		}
		j.begun |= bit(e.Delivery)
		if e.Token == j.token {
			j.started = c.now
		}
		if !n.returnsLate {
			c.beats(n, j, e.Token, j.claimed.Add(c.rules.Trip))
		}
		if e.Token == j.token && n.lateAt != c.now {
			c.claim.onHeard(e.Node, j.claimed)
		}
	}
	*x = execution{e.Job, e.Delivery, e.Class, e.At, false, 0}
	if n.busy++; n.busy >= c.rules.Node.Workers {
		n.idleSince = engine.Never
	}
	n.busiest = max(n.busiest, n.busy)
	n.starts++
	c.load.begun++
	c.idles(n)
	if e.Class != engine.Retry {
		return
	}
	n.retries++
	if c.rules.Capped {
		c.checks[Shares]++
		if n.retries > c.rules.RetryCap {
			c.complain(Shares, e, "%d retries run there, and %d may", n.retries, c.rules.RetryCap)
		}
	}
}

// calm checks what holds once nothing goes wrong any more.
func (c *Checker) calm(e *engine.Event) {
	if c.now < c.rules.Calm {
		return
	}
	if c.d.idle && c.ready != engine.Never {
		from := max(c.ready, c.rules.Calm)
		for i := range c.nodes {
			since := c.nodes[i].idleSince
			if since == engine.Never {
				continue
			}
			c.checks[Idleness]++
			if c.now.Sub(max(since, from)) > c.rules.Idle {
				c.Complain(Idleness, 0, "node %d has had idle workers and claimed nothing since %v, and jobs were ready", i, time.Duration(max(since, from)))
			}
		}
	}
	if head := c.jobs.head; head != noRef && c.d.lastTaken > 0 {
		j := c.jobs.at(head)
		at := max(j.ended(&c.d), c.rules.Calm)
		if j.untimed || c.now <= at {
			return
		}
		c.checks[Recovery]++
		if c.now.Sub(at) > c.d.lastTaken+c.rules.RecoverEach*time.Duration(c.mostInFlight/max(1, c.rules.Node.Reaper.Batch)) {
			c.Complain(Recovery, j.id, "its lease ended at %v, and nobody takes it", time.Duration(j.ended(&c.d)))
		}
	}
}

// Waits tightens, or promises, the longest that a job may be ready for before it is claimed.
func (c *Checker) Waits(d time.Duration) {
	if c.rules.Wait > 0 {
		c.rules.Wait = d
	}
}

// late checks that a job did not wait for too long.
func (c *Checker) late(e *engine.Event, j *job) {
	c.explained(j)
	if c.rules.Wait == 0 || c.now < c.rules.Calm {
		return
	}
	c.checks[Starvation]++
	if waited := c.now.Sub(max(j.ready, c.rules.Calm)); waited > c.rules.Wait {
		c.complain(Starvation, e, "it waited for %v", waited)
	}
}
