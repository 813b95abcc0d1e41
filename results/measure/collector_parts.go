package measure

import (
	"iter"
	"qsim/engine"
)

// What is measured by the clock of one class or tenant is measured by a collector of its own,
// a part, that is told of the events of those jobs only, and of what others do to the workers.
// So each metric means of them what it means of all: the jobs ready are theirs, fresh jobs starve
// while none of theirs is claimed, and calm is how it was for them. Workers serve all: they are
// idle when nobody's job runs, the busy share is of all workers' time, and starved.claims counts
// retries that are claimed before a fresh job of theirs, whosever they are, up to the next claim
// of any fresh job.

// part is whom the jobs of a part belong to.
type part struct {
	kind   int32 // −1: any
	tenant engine.TenantID
	others int64 // executions of other jobs, under way
}

// has reports whether a job of that class and tenant is in the part.
func (p *part) has(kind engine.Kind, tenant engine.TenantID) bool {
	return (p.kind < 0 || p.kind == int32(kind)) && (p.tenant == 0 || p.tenant == tenant)
}

// partOf returns the part that q is about, which is narrowed by class or tenant.
func (c *Collector) partOf(q Query) *Collector {
	kind, tenant := c.whose(q)
	for _, p := range c.parts {
		if p.of.kind == kind && p.of.tenant == tenant {
			return p
		}
	}
	s := *c.settings
	s.Bucket = 0
	if kind >= 0 && int(kind) < len(s.Loads) {
		s.Rate, s.Service = s.Loads[kind].Rate, s.Loads[kind].Service
	}
	p := newCollector(&s, c.policy)
	p.entitled = 0 // a share is promised to all fresh jobs together
	p.of = &part{kind: kind, tenant: tenant}
	p.sets = []jobSet{newJobSet(0, 0)} // metrics of jobs are for the whole to measure
	c.parts = append(c.parts, p)
	return p
}

// overhear takes note of an event of any job.
func (c *Collector) overhear(e *engine.Event) {
	switch e.Kind {
	case engine.NodeUp, engine.NodeDown:
		c.Record(e)
		return
	case engine.Called, engine.Extended, engine.LeaseLost: // these do not say whose
		return
	}
	if c.of.has(e.JobKind, e.Tenant) {
		c.Record(e)
		return
	}
	switch e.Kind {
	case engine.Started:
		c.reach(e.At)
		c.of.others++
	case engine.Finished, engine.Aborted:
		c.reach(e.At)
		c.of.others--
	case engine.Leased:
		c.reach(e.At)
		if e.Class == engine.Retry && c.ready[engine.Fresh] > 0 {
			c.passOver()
		} else {
			c.endStreak()
		}
	}
}

// idle is how many workers have nothing to do.
func (c *Collector) idle() int64 {
	free := c.capacity - c.busy
	if c.of != nil {
		free -= c.of.others
	}
	return max(free, 0)
}

// leaveAll counts the jobs that are left over, in the whole and in its parts.
func (c *Collector) leaveAll(unresolved iter.Seq[Unresolved]) {
	for u := range unresolved {
		c.leave(&u)
		for _, p := range c.parts {
			if p.of.has(u.Kind, u.Tenant) {
				p.leave(&u)
			}
		}
	}
}
