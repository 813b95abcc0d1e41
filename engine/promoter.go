package engine

// promoter makes due waiting jobs ready, a batch of them by one store call at each tick of its timer.
type promoter struct {
	nextAt Time
	id     uint64
	lostAt Time
	pulse  pulse
	leader elector

	taken    []JobID // jobs taken by the first of two steps
	insertAt Time    // time of the second step; Never: it is under way, or nothing was taken
}

func (p *promoter) init(cfg *Config, now Time) {
	p.nextAt, p.lostAt, p.insertAt, p.pulse.timer = Never, Never, Never, promotes
	p.leader.init(OpPromote, cfg.Promoter.LeaderOnly && cfg.Promoter.Every > 0, now)
	c, draw := &cfg.Promoter, cfg.Promoter.Tick
	if c.First != nil {
		draw, p.pulse.begun = c.First, true
	}
	if c.Every > 0 {
		p.nextAt = now.Add(p.pulse.pause(cfg, c.Every, draw))
	}
}

func (p *promoter) deadline(e *Engine) Time {
	if e.stalled[OpPromote] {
		return Never
	}
	return min(p.lostAt, p.nextAt, p.insertAt)
}

func (p *promoter) tick(e *Engine) {
	if e.stalled[OpPromote] {
		return
	}
	if p.id != 0 && e.now >= p.lostAt {
		e.record(Event{Kind: CallTimedOut, Op: OpPromote}, noSlot, nil)
		p.id, p.lostAt = 0, Never
		if len(p.taken) > 0 {
			p.insertAt = e.now
		}
	}
	if e.now >= p.insertAt {
		p.insert(e)
	}
	if e.now < p.nextAt {
		return
	}
	p.nextAt = e.now.Add(p.pulse.pause(&e.cfg, e.cfg.Promoter.Every, e.cfg.Promoter.Tick))
	if p.id != 0 || len(p.taken) > 0 || e.stopping || !p.leader.leads(e.now) {
		return
	}
	c := e.call(OpPromote)
	c.Limit, c.Order = e.cfg.Promoter.Batch, e.cfg.Promoter.Order
	if e.cfg.Promoter.Gap > 0 {
		c.Step = 1
	}
	p.id, p.lostAt = c.ID, e.now.Add(e.cfg.CallTimeout)
	e.driver.Send(c)
}

// insert is the second step of a promotion: it makes the jobs ready that the first step took, and repeats until the
// store has answered.
func (p *promoter) insert(e *Engine) {
	p.insertAt = Never
	c := e.call(OpPromote)
	c.Step, c.Jobs = 2, append(c.Jobs[:0], p.taken...)
	p.id, p.lostAt = c.ID, e.now.Add(e.cfg.CallTimeout)
	e.driver.Send(c)
}

// onPromoted handles the answer to a promotion, and claims if jobs became ready, unless FetchConfig.IgnoreDue.
func (p *promoter) onPromoted(e *Engine, r *Call) {
	if r.ID != p.id {
		return
	}
	p.id, p.lostAt = 0, Never
	switch {
	case e.cfg.Promoter.Gap > 0 && len(p.taken) == 0: // the first step, or an answer without any
		for i := range r.Promoted {
			p.taken = append(p.taken, r.Promoted[i].Job)
		}
		if len(p.taken) > 0 {
			p.insertAt = e.now.Add(e.cfg.Promoter.Gap)
		}
		return
	case e.cfg.Promoter.Gap > 0 && r.Err != nil:
		p.insertAt = e.now.Add(errorPause)
		return
	}
	p.taken = p.taken[:0]
	if len(r.Promoted) > 0 && !e.cfg.Fetch.IgnoreDue {
		e.fetch.onWoken(e)
	}
}

// elector requests and renews an engine's leadership for a role that only a leader fills: recovery or promotion.
type elector struct {
	role   Op
	nextAt Time
	pulse  pulse
	asked  uint64 // latest call
	heard  uint64 // latest call whose answer counted
	until  Time   // end of this engine's leadership, by its own clock; Never: every engine fills the role
}

func (l *elector) init(role Op, on bool, now Time) {
	*l = elector{role: role, nextAt: Never, pulse: pulse{timer: elects + uint16(role)}, until: Never}
	if on {
		l.nextAt, l.until = now, -Never
	}
}

// leads reports whether this engine may fill its role now. Leadership lasts for Leader.TTL from the request that won
// it, so that a process that was frozen for longer finds itself deposed.
func (l *elector) leads(now Time) bool { return now < l.until }

func (l *elector) tick(e *Engine) {
	if e.now < l.nextAt || e.stopping {
		if e.stopping {
			l.nextAt = Never
		}
		return
	}
	l.nextAt = e.now.Add(l.pulse.pause(&e.cfg, e.cfg.Leader.Renew, nil))
	c := e.call(OpLead)
	c.Role, c.TTL = l.role, e.cfg.Leader.TTL
	l.asked = c.ID
	e.driver.Send(c)
}

// onLead handles the answer to a request for leadership, which may have taken longer than Leader.Renew: the answer to
// the latest request counts, or to an earlier one that is not yet lost, unless a later one has come. It reports whether
// this engine has become the leader.
func (l *elector) onLead(e *Engine, r *Call) (won bool) {
	lost := r.ID != l.asked && e.now >= r.sentAt.Add(e.cfg.CallTimeout)
	if r.Role != l.role || r.Err != nil || r.ID <= l.heard || lost {
		return false
	}
	l.heard = r.ID
	if !r.Leading {
		l.until = -Never
		return false
	}
	won = !l.leads(e.now)
	l.until = r.sentAt.Add(e.cfg.Leader.TTL)
	return won
}
