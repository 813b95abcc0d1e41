package engine

import "time"

// Start asks the driver to run a job and to report it with Finish.
type Start struct {
	Slot Slot
	Job  Job
}

// Cancel asks the driver to stop a running job, because of Timeout or
// LeaseExpired. The job still reports with Finish.
type Cancel struct {
	Slot  Slot
	Error ErrorKind
}

// Effects is what an engine wants done. It is valid until the engine is next
// called. A driver may make several calls before it takes the effects of all.
type Effects struct {
	Calls   []Call
	Starts  []Start
	Cancels []Cancel
}

// Engine is the state machine. It is not safe for concurrent use.
type Engine struct {
	cfg      Config
	now      Time
	lastID   CallID
	effects  Effects
	taken    bool // effects were handed out: the next input starts afresh
	stopping bool
	event    Event         // what is being recorded
	ahead    time.Duration // of the wall clock, see SetWallClock

	leases    leaseTable
	fetch     fetcher
	run       runner
	commit    committer
	heartbeat heartbeater
	reap      reaper
	promote   promoter
	expire    expirer
	electors  [NumRoles]elector
}

// New returns an engine whose first Deadline is now. It panics if cfg is not
// valid: see Config.Validate.
func New(cfg Config, now Time) *Engine {
	if err := cfg.Validate(); err != nil {
		panic("engine: " + err.Error())
	}
	e := &Engine{cfg: cfg, now: now}
	e.leases.init(cfg.Workers)
	e.fetch.init(&e.cfg, now)
	e.run.init(&e.cfg)
	e.commit.init(&e.cfg)
	e.heartbeat.init(&e.cfg, now)
	e.reap.init(&e.cfg, now)
	e.promote.init(&e.cfg, now)
	e.expire.init()
	e.electors[ReaperRole].init(ReaperRole, cfg.Reaper.Owner == LeaderOnly && !cfg.Reaper.Off, now)
	e.electors[PromoterRole].init(PromoterRole, cfg.Promoter.Owner == LeaderOnly && cfg.Promoter.Every > 0, now)
	return e
}

// Deadline is when Tick is due; it changes with every call.
func (e *Engine) Deadline() Time {
	d := min(e.fetch.deadline(), e.run.deadline(&e.leases), e.commit.deadline(), e.heartbeat.deadline(&e.leases), e.reap.deadline(e), e.promote.deadline())
	if e.cfg.Lease.Local {
		d = min(d, e.expire.deadline(e))
	}
	for r := range e.electors {
		d = min(d, e.electors[r].deadline())
	}
	return d
}

// Tick tells the engine that its Deadline has come. Ticks that come early or late
// are harmless.
func (e *Engine) Tick(now Time) {
	e.begin(now)
	e.expireFirst()
	e.run.tick(e)
	e.commit.tick(e)
	e.heartbeat.tick(e)
	for r := range e.electors {
		e.electors[r].tick(e)
	}
	e.reap.tick(e)
	e.promote.tick(e)
	e.fetch.tick(e)
}

// expireFirst gives up what has expired by the node's own clock before anything else is
// done: a process that was frozen hears of what it missed before its Tick.
func (e *Engine) expireFirst() {
	if e.cfg.Lease.Local {
		e.expire.tick(e)
	}
}

// Handle tells the engine that the store answered. Answers that come late or twice
// are recognised by their ID.
func (e *Engine) Handle(now Time, r *Reply) {
	e.begin(now)
	e.expireFirst()
	switch r.Op {
	case OpClaim:
		e.fetch.onClaimed(e, r)
	case OpStats:
		e.fetch.onStats(e, r)
	case OpCommit:
		e.commit.onCommitted(e, r)
	case OpExtend:
		e.heartbeat.onExtended(e, r)
	case OpRecover:
		e.reap.onRecovered(e, r)
	case OpPromote:
		e.promote.onPromoted(e, r)
	case OpLead:
		for role := range e.electors {
			e.electors[role].onLead(e, r)
		}
	}
}

// Finish tells the engine that the handler in slot s returned after ran, with err
// or NoError. It panics if no handler runs there.
func (e *Engine) Finish(now Time, s Slot, err ErrorKind, ran time.Duration) {
	e.begin(now)
	e.expireFirst()
	e.run.onFinished(e, s, err, ran)
}

// Wake tells the engine that there is new ready work.
func (e *Engine) Wake(now Time) {
	e.begin(now)
	e.fetch.onWoken(e)
}

// Stop makes the engine claim no more and hand back what it has not started. It
// is drained once Held is 0.
func (e *Engine) Stop(now Time) {
	e.begin(now)
	e.stopping = true
	e.run.returnBuffered(e)
	e.commit.flush(e)
}

// SetWallClock tells the engine that its wall clock is ahead of what it was started
// with by so much; negative: behind. Only LeaseConfig.Local looks at that clock: all
// else goes by now, which never jumps.
func (e *Engine) SetWallClock(now Time, ahead time.Duration) {
	e.begin(now)
	e.ahead = ahead
}

// Stall makes the reaper or the promoter ask for nothing until it is told otherwise.
// An answer that is under way is taken all the same, and an engine that leads for the
// role goes on leading.
func (e *Engine) Stall(now Time, role Role, stalled bool) {
	e.begin(now)
	switch role {
	case ReaperRole:
		e.reap.stalled = stalled
	case PromoterRole:
		e.promote.stalled = stalled
	}
}

// ttl is the TTL to ask for: with LeaseConfig.Local the store gets what is left until
// the wall clock reads the expiry, as if it were on time.
func (e *Engine) ttl() time.Duration {
	if e.cfg.Lease.Local {
		return e.cfg.Lease.TTL + e.ahead
	}
	return e.cfg.Lease.TTL
}

// Held counts leases not yet committed or lost, outcomes not yet committed, and jobs
// taken by a promoter and not yet made ready.
func (e *Engine) Held() int { return e.leases.held + e.commit.pending + len(e.promote.taken) }

// Idle counts the workers that run nothing.
func (e *Engine) Idle() int { return e.leases.idle }

// Effects returns what the inputs since the last Effects ask for.
func (e *Engine) Effects() *Effects { e.taken = true; return &e.effects }

func (e *Engine) begin(now Time) {
	e.now = now
	if e.taken {
		e.taken = false
		e.run.acked = e.run.acked[:0]
		e.effects.Calls, e.effects.Starts, e.effects.Cancels = e.effects.Calls[:0], e.effects.Starts[:0], e.effects.Cancels[:0]
	}
}

// call emits a call of op and returns it to be filled in before the next one.
func (e *Engine) call(op Op) *Call {
	e.lastID++
	n := len(e.effects.Calls)
	if n == cap(e.effects.Calls) {
		e.effects.Calls = append(e.effects.Calls, Call{})
	}
	e.effects.Calls = e.effects.Calls[:n+1]
	c := &e.effects.Calls[n]
	*c = Call{}
	c.ID, c.Op, c.Engine = e.lastID, op, e.cfg.Engine
	return c
}

// record reports e.event, completed with what is known of h, which may be nil.
func (e *Engine) record(s Slot, h *heldLease) {
	if e.cfg.Recorder == nil {
		return
	}
	e.event.At, e.event.Node = e.now, e.cfg.Engine.Node()
	if h != nil {
		l := &h.lease
		e.event.Slot, e.event.Job, e.event.JobKind, e.event.Tenant, e.event.Token = s, l.ID, l.Kind, l.Tenant, l.Token
		e.event.Delivery, e.event.Class = l.Delivery, l.Class()
	}
	e.cfg.Recorder.Record(&e.event)
}

// outcome asks the retry policy what becomes of a job, whose lease was learned of
// at heldAt.
func (e *Engine) outcome(l *Lease, err ErrorKind, heldAt Time) Outcome {
	o := Outcome{LeaseKey: l.Key(), Verb: Ack, Error: err, Kind: l.Kind, Tenant: l.Tenant, Delivery: l.Delivery}
	switch err {
	case NoError:
	case Canceled:
		o.Verb = Return
	default:
		u := e.cfg.Rand.Uniform(ForJitter, uint64(l.ID), uint64(l.Delivery), 0)
		atClaim := l.Age
		l.Age += e.now.Sub(heldAt)
		o.Verb, o.Delay = e.cfg.kind(l.Kind).Retry.Next(&l.Job, err, u)
		l.Age = atClaim
	}
	return o
}
