package measure

import "qsim/engine"

// workersOf returns the workers, 1 or 0, freed by an execution's end: 0 if a timeout had freed its worker.
func (c *Collector) workersOf(l *engine.Lease) int64 {
	if len(c.freed) == 0 || !c.freed[engine.LeaseKey{Job: l.ID, Token: l.Token}] {
		return 1
	}
	delete(c.freed, engine.LeaseKey{Job: l.ID, Token: l.Token})
	return 0
}

// onFreed counts the worker of an execution as free after a timeout, while the handler goes on.
func (c *Collector) onFreed(e *engine.Event) {
	if c.freed == nil {
		c.freed = make(map[engine.LeaseKey]bool)
	}
	c.freed[engine.LeaseKey{Job: e.Job, Token: e.Token}] = true
	for i, v := range c.views {
		if i > 0 {
			v.advance(e.At)
		}
		if v.has(e.JobKind, e.Tenant) {
			v.busy--
		} else {
			v.others--
		}
	}
}
