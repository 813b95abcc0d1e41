package engine

import (
	"time"

	"qsim/engine/keyed"
)

// Engine is the state machine of one process of a queue: it claims jobs, runs them, commits outcomes and keeps leases.
// It is not safe for concurrent use.
type Engine struct {
	cfg      Config
	driver   Driver
	now      Time
	due      Time          // lower bound of all deadlines except flushAt, see Due
	seldom   Time          // earliest deadline of the reaper, the promoter and their elections, unless stale
	stale    bool          // seldom must be computed anew
	lastID   uint64        // ID of the latest call
	woken    bool          // the current input is a wake
	stopping bool          // Stop was called
	stalled  [NumOps]bool  // by role, whether it makes no calls, see Stall
	recorder JobRecorder   // receiver of events
	event    Event         // scratch memory of the event being recorded
	ahead    time.Duration // offset of the node's wall clock from the true time, see SetWallClock

	leases    leaseTable
	fetch     fetcher
	run       runner
	commit    committer
	heartbeat heartbeater
	reap      reaper
	promote   promoter
	expire    expirer
}

// New returns an engine that sends its requests to driver and whose first Deadline is now. It panics if cfg is not
// valid: see Config.Validate.
func New(cfg Config, driver Driver, now Time) *Engine {
	if err := cfg.Validate(); err != nil {
		panic("engine: " + err.Error())
	}
	e := &Engine{cfg: cfg, driver: driver, recorder: RecordJobs(cfg.Recorder), now: now, due: now, stale: true}
	e.leases.idle = cfg.Workers
	e.leases.beats.addQueue()
	e.fetch.init(&e.cfg, now)
	e.run.init(&e.cfg)
	e.commit.init(&e.cfg)
	e.heartbeat.init(&e.cfg, now)
	e.reap.init(&e.cfg, now)
	e.promote.init(&e.cfg, now)
	return e
}

// Deadline returns the time at which the driver must call Tick; it may change with every input.
func (e *Engine) Deadline() Time {
	d := min(e.fetch.deadline(), e.run.deadline(e), e.commit.deadline(), e.heartbeat.deadline(e), e.maintenance())
	if e.cfg.Lease.Local {
		d = min(d, e.expire.deadline(e))
	}
	e.due = d
	return e.Due()
}

// maintenance returns the earliest time at which the reaper, the promoter or a leader election must act.
func (e *Engine) maintenance() Time {
	if e.stale {
		e.seldom = min(e.reap.deadline(e), e.promote.deadline(e), e.reap.leader.nextAt, e.promote.leader.nextAt)
		e.stale = false
	}
	return e.seldom
}

// unsettle makes the engine compute all its deadlines anew, since any of them may have become earlier.
func (e *Engine) unsettle() { e.due, e.stale = e.now, true }

// Due returns a lower bound of the Deadline (when Tick must be called), if that lies ahead, without computing it. A
// driver of many engines waits until then, and then calls IsDue.
func (e *Engine) Due() Time { return min(e.due, e.commit.flushAt) }

// IsDue reports whether the Deadline (when Tick must be called) has come by now. If not, Due is then exact.
func (e *Engine) IsDue(now Time) bool { return e.commit.flushAt <= now || e.Deadline() <= now }

// arm makes the engine due at time t at the latest: its driver must then call Tick, since it must act.
func (e *Engine) arm(t Time) {
	if t < e.due {
		e.due = t
	}
}

// Tick reports to the engine that its Deadline has come. Ticks that come early or late are harmless.
func (e *Engine) Tick(now Time) {
	e.begin(now, false)
	if now < e.due { // the usual case: a batch has waited long enough for others to join it
		e.commit.linger(e)
		return
	}
	e.due = now
	e.run.tick(e)
	e.commit.tick(e)
	e.heartbeat.tick(e)
	if e.stopping || now >= e.maintenance() {
		e.stale = true
		e.reap.leader.tick(e)
		e.promote.leader.tick(e)
		e.reap.tick(e)
		e.promote.tick(e)
	}
	e.fetch.tick(e)
}

// Handle passes the store's answer to a call to the engine. Answers that come late or twice are recognised by their ID.
// When it returns, c belongs to the driver again.
func (e *Engine) Handle(now Time, c *Call) {
	if e.begin(now, false); c.Op > OpCommit {
		e.unsettle()
	}
	switch c.Op {
	case OpClaim:
		e.fetch.onClaimed(e, c)
	case OpStats:
		e.fetch.onStats(e, c)
	case OpCommit:
		e.commit.onCommitted(e, c)
	case OpExtend:
		e.heartbeat.onExtended(e, c)
	case OpRecover:
		e.reap.onRecovered(e, c)
	case OpPromote:
		e.promote.onPromoted(e, c)
	case OpLead: // a new leader starts at once
		if e.reap.leader.onLead(e, c) && e.reap.id == 0 {
			e.reap.nextAt, e.reap.pulse.begun = now, false
			e.reap.tick(e)
		}
		if e.promote.leader.onLead(e, c) {
			e.promote.nextAt, e.promote.pulse.begun = now, false
			e.promote.tick(e)
		}
	}
}

// Finish reports to the engine that the handler in slot s (of the lease table) has returned, after a run time of ran,
// with the error err or NoError. It panics if no handler runs there.
func (e *Engine) Finish(now Time, s Slot, err ErrorKind, ran time.Duration) {
	e.begin(now, false)
	e.run.onFinished(e, s, err, ran)
}

// Wake reports to the engine that jobs have become ready: it claims without waiting for its poll.
func (e *Engine) Wake(now Time) {
	e.begin(now, true)
	e.fetch.onWoken(e)
}

// Stop makes the engine claim no more and return the jobs that it has not started. It is drained once Held is 0.
func (e *Engine) Stop(now Time) {
	e.begin(now, false)
	e.unsettle()
	e.stopping = true
	e.run.returnBuffered(e)
	e.commit.lingered(e)
}

// SetWallClock sets how far the node's wall clock is ahead of the true time; a negative offset means behind. Only
// LeaseConfig.Local reads that clock: everything else uses now, which never jumps.
func (e *Engine) SetWallClock(now Time, ahead time.Duration) {
	e.now, e.ahead = now, ahead
	e.unsettle()
}

// Stall stops the reaper (role OpRecover) or the promoter (OpPromote) from making calls while stalled is set. Answers
// under way are still handled, and an engine that leads for the role goes on leading.
func (e *Engine) Stall(now Time, role Op, stalled bool) {
	e.now = now
	e.unsettle()
	e.stalled[role] = stalled
}

// ttl returns the TTL to request for a lease. With LeaseConfig.Local the expiry is written as a wall-clock time, so for
// the store a lease lasts longer by as much as the node's clock is ahead.
func (e *Engine) ttl() time.Duration {
	if e.cfg.Lease.Local {
		return e.cfg.Lease.TTL + e.ahead
	}
	return e.cfg.Lease.TTL
}

// Held returns the work that a stopped engine has yet to finish: the number of leases not yet committed or lost,
// outcomes not yet committed, and jobs taken by a promoter but not yet made ready.
func (e *Engine) Held() int { return e.leases.held() + e.commit.pending + len(e.promote.taken) }

// Idle returns the number of workers that run no job.
func (e *Engine) Idle() int { return e.leases.idle }

// begin starts the handling of an input at the time now; woken: the input is a wake. First it gives up the leases that
// have expired by the node's own clock: a process that was frozen may get other inputs before its Tick.
func (e *Engine) begin(now Time, woken bool) {
	if e.now, e.woken = now, woken; e.cfg.Lease.Local {
		e.expire.tick(e)
	}
}

// call returns a new record for a store call of op, to be filled in and sent.
func (e *Engine) call(op Op) *Call {
	e.lastID++
	c := e.driver.Call()
	c.ID, c.Op, c.Woken, c.Step, c.OfNode, c.Engine, c.sentAt = e.lastID, op, e.woken, 0, false, e.cfg.Engine, e.now
	c.Batch.Outcomes = nil // the engine's own, of which a record keeps no more than it carries
	return c
}

// record passes an event to the recorder, completed with the time, the node, the slot s and its lease h (nil: none).
func (e *Engine) record(event Event, s Slot, h *heldLease) {
	e.event = event
	e.event.At, e.event.Node = e.now, e.cfg.Engine.Node()
	if h != nil {
		e.event.runs(e.event.Node, s, &h.lease)
	}
	e.recorder.Record(&e.event)
}

// outcome fills in the empty outcome of an attempt that ended with err: ack for NoError, return for Canceled, else what
// the retry policy or the reaper decides. heldAt is the time at which its lease began.
func (e *Engine) outcome(o *Outcome, l *Lease, err ErrorKind, heldAt Time) {
	o.Job, o.Token, o.Ref, o.Verb, o.Error = l.ID, l.Token, l.Ref, Ack, err
	o.Kind, o.Tenant, o.Delivery = l.Kind, l.Tenant, l.Delivery
	switch err {
	case NoError:
	case Canceled:
		o.Verb = Return
	default:
		u := e.cfg.Rand.Uniform(keyed.ForJitter, uint64(l.ID), uint64(l.Delivery), 0)
		atClaim := l.Age
		l.Age += e.now.Sub(heldAt)
		age, k := l.Age, e.cfg.kind(l.Kind)
		o.Verb, o.Delay = k.Retry.Next(&l.Job, err, u)
		l.Age = atClaim
		left := o.Delay
		switch k.From {
		case Finished:
			o.due = e.now.Add(o.Delay)
		case Leased:
			o.due = heldAt.Add(o.Delay)
			left = max(0, o.due.Sub(e.now))
		}
		if err == LeaseExpired && e.cfg.Reaper.After == Redo {
			left = 0 // see reaper.outcome
		}
		if k.Deadline > 0 && o.Verb != Bury && age >= k.Deadline-left {
			o.Verb, o.Delay, o.due, o.Aged = Bury, 0, 0, true
		}
		if err == LeaseExpired && o.slot == noSlot {
			e.reap.outcome(e, o, l)
		}
	}
}
