package measure

import "qsim/engine"

// workersOf returns how many workers an execution has that ends: one, or none that has gone on without it.
func (c *Collector) workersOf(l *engine.Lease) int64 {
	if len(c.freed) == 0 || !c.freed[engine.LeaseKey{Job: l.ID, Token: l.Token}] {
		return 1
	}
	delete(c.freed, engine.LeaseKey{Job: l.ID, Token: l.Token})
	return 0
}

// onFreed takes note that a worker goes on although its execution does, too.
func (c *Collector) onFreed(e *engine.Event) {
	if c.freed == nil {
		c.freed = make(map[engine.LeaseKey]bool)
	}
	c.freed[engine.LeaseKey{Job: e.Job, Token: e.Token}] = true
	for i, v := range c.views {
		if i > 0 {
			v.advanceTo(e.At)
		}
		if v.has(e.JobKind, e.Tenant) {
			v.busy--
		} else {
			v.others--
		}
	}
}
