package measure

import "qsim/engine"

var _ engine.JobRecorder = (*Collector)(nil)

// Record counts an event of any kind, for engine.Recorder: stored events, and rare kinds that JobRecorder has no method
// for.
func (c *Collector) Record(e *engine.Event) {
	switch e.Kind {
	case engine.Called:
		c.Called(e.At, e.Node, e.Op, e.Count)
	case engine.Enqueued:
		c.Enqueued(e.At, &engine.NewJob{ID: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Delay: e.Delay})
	case engine.Promoted:
		c.Promoted(e.At, e.Node, &engine.Promotion{Job: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Class: e.Class})
	case engine.Leased:
		c.leased(e.At, leaseOf(e), e.Class)
	case engine.Started:
		c.Started(e.At, e.Node, e.Slot, leaseOf(e), e.Waited)
	case engine.Finished, engine.Aborted:
		c.onEnded(e.At, leaseOf(e), e.Kind == engine.Finished, e.Error, e.Ran)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		o := engine.Outcome{Error: e.Error, Kind: e.JobKind, Tenant: e.Tenant, Delivery: e.Delivery, Delay: e.Delay, Reaped: e.Reaped}
		o.Job, o.Token = e.Job, e.Token
		c.committed(e.At, e.Kind, &o, &engine.Result{From: e.From, Class: e.Class, Age: e.Age}, e.Waited)
	default:
		c.recordOther(e)
	}
}

// leaseOf returns the lease of an event, restricted to the fields that an engine.Event holds.
func leaseOf(e *engine.Event) *engine.Lease {
	l := &engine.Lease{Token: e.Token}
	l.ID, l.Kind, l.Tenant, l.Delivery, l.Waited, l.Age = e.Job, e.JobKind, e.Tenant, e.Delivery, e.Waited, e.Age
	return l
}

// recordOther counts an event of a kind that JobRecorder has no method for.
func (c *Collector) recordOther(e *engine.Event) {
	switch e.Kind {
	case engine.Extended, engine.LeaseLost: // these events lack the class and tenant
		c.pass(e.At)
	case engine.NodeUp, engine.NodeDown:
		c.passAll(e.At)
	default:
		if c.passOf(e.At, e.JobKind, e.Tenant); e.Freed {
			c.onFreed(e)
		}
	}
	switch e.Kind {
	case engine.Redriven:
		c.onRedriven(e)
	case engine.LeaseTaken:
		c.onLeaseTaken(e)
	case engine.Extended:
		c.onExtended(e)
	case engine.LeaseLost:
		c.onLeaseLost(e)
	case engine.Fenced:
		c.onFenced(e)
	case engine.NodeUp, engine.NodeDown:
		c.machines.turn(int(e.Node), e.Kind == engine.NodeDown)
		for _, v := range c.views {
			v.countIdle()
		}
	}
}

// pass counts an event and advances the view of all jobs to its time.
func (c *Collector) pass(at engine.Time) {
	if c.events++; at > c.whole.now {
		c.whole.advance(at)
	}
}

// passOf counts an event of one job and advances to its time the views that the job belongs to.
func (c *Collector) passOf(at engine.Time, kind engine.Kind, tenant engine.TenantID) {
	c.pass(at)
	if len(c.views) > 1 {
		for _, v := range c.views[1:] {
			if v.has(kind, tenant) {
				v.advance(at)
			}
		}
	}
}

// passAll counts an event that concerns every view, and advances them all: an event of workers, which all jobs share,
// or a claim, which may pass over a job of another view.
func (c *Collector) passAll(at engine.Time) {
	c.pass(at)
	if len(c.views) > 1 {
		for _, v := range c.views[1:] {
			v.advance(at)
		}
	}
}
