package check

import (
	"time"

	"qsim/engine"
)

// node is what is known of one process.
type node struct {
	life        uint32
	up, frozen  bool
	returnsLate bool        // it answered late claims in this life: it may say twice what became of a lease
	lateAt      engine.Time // when it last answered one
	slots       []execution // by slot
	busy        int
	retries     int         // executions of retries
	woke        engine.Time // when it last went on after it was frozen
	stopped     engine.Time // when it was told to stop; Never: it was not
	unheard     bool        // a claim or a commit went unanswered in this life
	idleSince   engine.Time // since when it has idle workers and has claimed nothing; Never: it has none
}

// execution is what runs in a slot.
type execution struct {
	job      engine.JobID // 0: nothing
	delivery int32
	class    engine.Class
	started  engine.Time
	over     bool // it has timed out, or its lease is lost
}

// onMachine follows processes.
func (c *Checker) onMachine(e *engine.Event) {
	if e.Node < 0 {
		return
	}
	n := &c.nodes[e.Node]
	c.reaps.forget(e.Kind)
	switch e.Kind {
	case engine.NodeUp:
		n.life++
		n.up, n.frozen, n.returnsLate, n.idleSince = true, false, false, c.now
		n.stopped, n.unheard = engine.Never, false
	case engine.NodeDown:
		if n.busy != 0 {
			c.complain(Effects, e, "%d executions go on without it", n.busy)
		}
		c.handedBack(e, n)
		n.up, n.idleSince = false, engine.Never
		c.claim.onUnheard(e.Node, c.now)
	case engine.NodePause:
		n.frozen, n.idleSince, n.stopped = true, engine.Never, engine.Never
	case engine.NodeWake:
		n.frozen, n.woke = false, c.now
		n.rest(c)
	case engine.RefusedLate:
		n.returnsLate, n.lateAt = true, c.now
		c.claim.onUnheard(e.Node, c.now)
	case engine.CallTimedOut:
		n.unheard = n.unheard || e.Op == engine.OpClaim || e.Op == engine.OpCommit
		if e.Op == engine.OpClaim {
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
	if e.Kind == engine.TimedOut {
		x.over = true
		return
	}
	if x.class == engine.Retry {
		n.retries--
	}
	*x = execution{}
	if n.busy--; n.busy == c.rules.Node.Workers-1 {
		n.rest(c)
	}
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
		case e.Token > j.token || e.Delivery > j.delivery:
			c.complain(Leases, e, "its latest token is %d, its latest delivery %d", j.token, j.delivery)
		case e.Delivery > j.delivery-64 && j.begun&bit(e.Delivery) != 0:
			c.complain(Deliveries, e, "delivery %d has begun before", e.Delivery)
		}
		j.begun |= bit(e.Delivery)
		if e.Token == j.token && n.lateAt != c.now {
			c.claim.onHeard(e.Node, j.claimed)
		}
	}
	*x = execution{e.Job, e.Delivery, e.Class, e.At, false}
	if n.busy++; n.busy >= c.rules.Node.Workers {
		n.idleSince = engine.Never
	}
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
		if j.untimed || j.forgotten || c.now <= at {
			return
		}
		c.checks[Recovery]++
		if c.now.Sub(at) > c.d.lastTaken {
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
	if c.rules.Wait == 0 || c.now < c.rules.Calm {
		return
	}
	c.checks[Starvation]++
	if waited := c.now.Sub(max(j.ready, c.rules.Calm)); waited > c.rules.Wait {
		c.complain(Starvation, e, "it waited for %v", waited)
	}
}
