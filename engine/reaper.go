package engine

import "time"

// reaper takes expired leases from their holders and decides what becomes of the
// jobs as for any failed attempt. If it dies between the two, its own leases
// expire.
type reaper struct {
	nextAt   Time
	id       CallID
	lostAt   Time
	starting bool // recovering until nothing comes back
}

func (r *reaper) init(cfg *Config, now Time) {
	r.nextAt, r.lostAt = now, Never
	r.starting = cfg.Reaper.OnStart
	switch {
	case cfg.Reaper.Off:
		r.nextAt, r.starting = Never, false
	case !r.starting && cfg.Reaper.Every > 0:
		r.nextAt = now.Add(cfg.Reaper.Every)
	}
}

func (r *reaper) deadline() Time {
	if r.id != 0 {
		return r.lostAt
	}
	return r.nextAt
}

func (r *reaper) tick(e *Engine) {
	if r.id != 0 && e.now >= r.lostAt {
		e.event = Event{Kind: CallTimedOut, Op: OpRecover}
		e.record(noSlot, nil)
		r.id, r.lostAt = 0, Never
	}
	if e.now < r.nextAt || r.id != 0 {
		return
	}
	if e.stopping {
		r.nextAt = Never
		return
	}
	if e.cfg.Reaper.Owner == LeaderOnly && !e.electors[ReaperRole].leading(e.now) {
		r.nextAt = e.now.Add(r.pause(e))
		return
	}
	r.recover(e)
}

func (r *reaper) recover(e *Engine) {
	r.nextAt = e.now.Add(r.pause(e))
	c := e.call(OpRecover)
	c.Limit, c.Grace, c.TTL = e.cfg.Reaper.Batch, e.cfg.Reaper.Grace, e.cfg.Lease.TTL
	r.id, r.lostAt = c.ID, e.now.Add(e.cfg.CallTimeout)
}

func (r *reaper) onRecovered(e *Engine, reply *Reply) {
	if reply.ID != r.id {
		return // a late answer's leases expire again
	}
	r.id, r.lostAt = 0, Never
	if reply.Err != nil {
		return
	}
	for i := range reply.Leases {
		l := &reply.Leases[i]
		o := e.outcome(l, LeaseExpired)
		if e.cfg.Reaper.Nothing {
			o.Verb, o.Delay = Return, 0
		}
		e.commit.add(e, noSlot, o)
	}
	if r.starting && len(reply.Leases) > 0 {
		r.recover(e)
		return
	}
	r.starting = false
	if e.cfg.Reaper.Every == 0 {
		// No lease that is granted from now on expires before ttl is over.
		r.nextAt = e.now.Add(min(reply.Next, r.pause(e)))
	}
}

// pause is the time between two recoveries, at the most.
func (r *reaper) pause(e *Engine) (d time.Duration) {
	if d = e.cfg.Reaper.Every; d == 0 {
		d = e.cfg.Lease.TTL + e.cfg.Reaper.Grace
	}
	return d
}
