package engine

// promoter makes waiting jobs that are due ready, a batch at each tick.
type promoter struct {
	nextAt Time
	id     CallID
	lostAt Time
}

func (p *promoter) init(cfg *Config, now Time) {
	p.nextAt, p.lostAt = Never, Never
	if cfg.Promoter.Every > 0 {
		p.nextAt = now.Add(cfg.Promoter.Every)
	}
}

func (p *promoter) deadline() Time {
	if p.id != 0 {
		return min(p.lostAt, p.nextAt)
	}
	return p.nextAt
}

func (p *promoter) tick(e *Engine) {
	if p.id != 0 && e.now >= p.lostAt {
		e.event = Event{Kind: CallTimedOut, Op: OpPromote}
		e.record(noSlot, nil)
		p.id, p.lostAt = 0, Never
	}
	if e.now < p.nextAt {
		return
	}
	p.nextAt = e.now.Add(e.cfg.Promoter.Every)
	if p.id != 0 || e.stopping || e.cfg.Promoter.Owner == LeaderOnly && !e.electors[PromoterRole].leading(e.now) {
		return
	}
	c := e.call(OpPromote)
	c.Limit, c.Order = e.cfg.Promoter.Batch, e.cfg.Promoter.Order
	p.id, p.lostAt = c.ID, e.now.Add(e.cfg.CallTimeout)
}

// onPromoted claims, if something became ready.
func (p *promoter) onPromoted(e *Engine, r *Reply) {
	if r.ID != p.id {
		return
	}
	p.id, p.lostAt = 0, Never
	if len(r.Promoted) > 0 {
		e.fetch.onWoken(e)
	}
}

// elector tries to lead, and renews, for a role that only a leader fills.
type elector struct {
	role   Role
	nextAt Time
	id     CallID
	sentAt Time
	until  Time // leads until then, by this engine's clock
}

func (l *elector) init(role Role, on bool, now Time) {
	*l = elector{role: role, nextAt: Never, until: -Never}
	if on {
		l.nextAt = now
	}
}

func (l *elector) deadline() Time { return l.nextAt }

// leading reports whether this engine may act now. What it knows is as old as its
// latest question, so a frozen process finds itself deposed.
func (l *elector) leading(now Time) bool { return now < l.until }

func (l *elector) tick(e *Engine) {
	if e.now < l.nextAt || e.stopping {
		if e.stopping {
			l.nextAt = Never
		}
		return
	}
	l.nextAt = e.now.Add(e.cfg.Leader.Renew)
	c := e.call(OpLead)
	c.Role, c.TTL = l.role, e.cfg.Leader.TTL
	l.id, l.sentAt = c.ID, e.now
}

func (l *elector) onLead(e *Engine, r *Reply) {
	if r.ID != l.id || r.Err != nil {
		return
	}
	l.id = 0
	if !r.Leading {
		l.until = -Never
		return
	}
	wasLeading := l.leading(e.now)
	l.until = l.sentAt.Add(e.cfg.Leader.TTL)
	if wasLeading {
		return
	}
	switch l.role { // a new leader starts at once
	case ReaperRole:
		if e.reap.id == 0 {
			e.reap.nextAt = e.now
			e.reap.tick(e)
		}
	case PromoterRole:
		e.promote.nextAt = e.now
		e.promote.tick(e)
	}
}
