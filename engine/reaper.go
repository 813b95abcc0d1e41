package engine

import "time"

// reaper recovers jobs with expired leases: it takes the leases and commits an outcome for each job, as for any failed
// attempt. If it dies in between, its own leases expire.
type reaper struct {
	nextAt   Time
	pulse    pulse
	leader   elector
	id       uint64  // recovery call under way; 0: none
	lostAt   Time    // time at which it counts as lost
	starting bool    // recovering without pause until no expired lease is found
	read     []Lease // expired leases found by the first of two steps
	writeAt  Time    // time of the second step
}

func (r *reaper) init(cfg *Config, now Time) {
	r.nextAt, r.lostAt, r.writeAt, r.pulse.timer = now, Never, Never, recovers
	r.starting = cfg.Reaper.OnStart
	r.leader.init(OpRecover, cfg.Reaper.LeaderOnly && !cfg.Reaper.Off, now)
	switch {
	case cfg.Reaper.Off:
		r.nextAt, r.starting = Never, false
	case !r.starting && cfg.Reaper.Every > 0:
		r.nextAt = now.Add(r.pulse.pause(cfg, cfg.Reaper.Every, nil))
	}
}

func (r *reaper) deadline(e *Engine) Time {
	switch {
	case e.stalled[OpRecover]:
		return Never
	case r.writeAt != Never:
		return r.writeAt
	case r.id != 0:
		return r.lostAt
	case e.commit.guarded > 0:
		return Never
	}
	return r.nextAt
}

func (r *reaper) tick(e *Engine) {
	if e.stalled[OpRecover] {
		return
	}
	if r.id != 0 && e.now >= r.lostAt {
		e.record(Event{Kind: CallTimedOut, Op: OpRecover}, noSlot, nil)
		r.id, r.lostAt = 0, Never
	}
	if e.now >= r.writeAt {
		r.write(e)
	}
	if e.now < r.nextAt || r.id != 0 || r.writeAt != Never || e.commit.guarded > 0 {
		return // what it wrote must have arrived before it reads again, else it finds the same
	}
	if e.stopping {
		r.nextAt = Never
		return
	}
	if !r.leader.leads(e.now) {
		r.nextAt = e.now.Add(r.pause(e))
		return
	}
	r.recover(e)
}

func (r *reaper) recover(e *Engine) {
	if r.starting {
		r.pulse.begun = false // what follows the start is a part of the period, and that alone
	}
	r.nextAt = e.now.Add(r.pause(e))
	c := e.call(OpRecover)
	c.Limit, c.Grace, c.TTL = e.cfg.Reaper.Batch, r.grace(e), e.cfg.Lease.TTL
	if e.cfg.Reaper.Guard != FenceDefault {
		c.Step = 1
	}
	r.id, r.lostAt = c.ID, e.now.Add(e.cfg.CallTimeout)
	e.driver.Send(c)
}

func (r *reaper) onRecovered(e *Engine, reply *Call) {
	if reply.ID != r.id {
		return // a late answer's leases expire again
	}
	if e.now >= r.lostAt {
		reply.Next = 0 // the process was frozen meanwhile, and that lease may have expired
	}
	r.id, r.lostAt = 0, Never
	if reply.Err != nil {
		return
	}
	if e.cfg.Reaper.Guard != FenceDefault {
		r.onRead(e, reply)
		return
	}
	r.conclude(e, reply.Leases, e.now)
	if r.starting && len(reply.Leases) > 0 && r.leader.leads(e.now) && r.grace(e) >= 0 { // else it finds its own leases
		r.recover(e)
		return
	}
	r.starting = false
	if e.cfg.Reaper.Every == 0 {
		// No lease that is granted from now on expires before ttl is over.
		r.nextAt = e.now.Add(min(reply.Next, r.pause(e)))
	}
}

// onRead stores the expired leases that the first step of a two-step recovery has found. The second step, write, comes
// after ReaperConfig.Gap, even if none was found, and then does nothing.
func (r *reaper) onRead(e *Engine, reply *Call) {
	r.starting = r.starting && len(reply.Leases) > 0 && r.grace(e) >= 0
	r.read, r.writeAt = append(r.read[:0], reply.Leases...), e.now.Add(e.cfg.Reaper.Gap)
	if e.cfg.Reaper.Every == 0 {
		r.nextAt = r.writeAt.Add(max(min(reply.Next, r.pause(e)), e.cfg.Commit.Linger+errorPause))
	}
	if e.cfg.Reaper.Gap == 0 {
		r.write(e)
	}
}

// write is the second step of a recovery: it commits the outcomes of the jobs whose leases had expired when they were
// read.
func (r *reaper) write(e *Engine) {
	readAt := r.writeAt.Add(-e.cfg.Reaper.Gap)
	r.writeAt = Never
	r.conclude(e, r.read, readAt)
	if r.starting {
		r.nextAt = e.now
	}
}

// conclude commits the outcomes of the jobs whose leases were found expired at foundAt.
func (r *reaper) conclude(e *Engine, leases []Lease, foundAt Time) {
	for i := range leases {
		e.commit.add(e, noSlot, &leases[i], LeaseExpired, foundAt)
	}
}

// outcome changes the outcome of a job whose lease has expired, as the retry policy decides it, to that of a recovery.
func (r *reaper) outcome(e *Engine, o *Outcome, l *Lease) {
	c := &e.cfg.Reaper
	o.Guard = c.Guard
	switch {
	case c.BuryAt > 0 && l.Recoveries >= c.BuryAt, c.After == Bury:
		o.Verb, o.Delay, o.due, o.Reaped = Bury, 0, 0, true
	case c.Nothing, c.After == Redo && o.Verb == Snooze:
		o.Verb, o.Delay, o.due = Return, 0, 0
	case c.After == Redo && o.Verb == Nack:
		o.Verb, o.Delay, o.due = Redo, 0, 0
	}
	if o.Verb != Bury {
		o.Stand = c.Stand
	}
}

// grace returns the time from a lease's expiry to its recovery. With LeaseConfig.Local a reaper that comes at intervals
// compares expiries with its own clock: one that is fast takes leases that have not expired.
func (r *reaper) grace(e *Engine) time.Duration {
	if e.cfg.Lease.Local && e.cfg.Reaper.Every > 0 {
		return e.cfg.Reaper.Grace - e.ahead
	}
	return e.cfg.Reaper.Grace
}

// pause returns the time until the next recovery of expired leases, at the latest.
func (r *reaper) pause(e *Engine) time.Duration {
	if e.cfg.Reaper.Every == 0 {
		return e.cfg.Lease.TTL + e.cfg.Reaper.Grace
	}
	return r.pulse.pause(&e.cfg, e.cfg.Reaper.Every, nil)
}
