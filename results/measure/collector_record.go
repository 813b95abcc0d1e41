package measure

import "qsim/engine"

var _ engine.JobRecorder = (*Collector)(nil)

// Record counts an event of any kind, for engine.Recorder. In a simulation it receives only the rare kinds that
// engine.JobRecorder has no method for; callers that have whole events pass all kinds.
func (c *Collector) Record(e *engine.Event) {
	switch e.Kind {
	case engine.Called:
		c.Called(e.At, e.Node, e.Op, e.Count)
	case engine.Enqueued:
		c.Enqueued(e.At, &engine.NewJob{ID: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Delay: e.Delay})
	case engine.Promoted:
		c.Promoted(e.At, e.Node, &engine.Promotion{Job: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Class: e.Class})
	case engine.Leased:
		c.Leased(e.At, e.Node, leaseOf(e))
	case engine.Started:
		c.Started(e.At, e.Node, e.Slot, leaseOf(e), e.Waited)
	case engine.Finished:
		c.Finished(e.At, e.Node, e.Slot, leaseOf(e), e.Error, e.Ran)
	case engine.Aborted:
		c.Finished(e.At, e.Node, e.Slot, leaseOf(e), died, e.Ran)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		o := engine.Outcome{LeaseKey: engine.LeaseKey{Job: e.Job, Token: e.Token}, Error: e.Error, Kind: e.JobKind,
			Tenant: e.Tenant, Delivery: e.Delivery, Delay: e.Delay, Reaped: e.Reaped, Aged: e.Aged}
		c.Committed(e.At, e.Node, e.Kind, &o, &engine.Result{From: e.From, Class: e.Class, Age: e.Age})
		if e.From == engine.Ready && e.Class == engine.Fresh {
			c.onLeft(e)
		}
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
	c.pass(e.At)
	switch {
	case e.Kind == engine.Extended, e.Kind == engine.LeaseLost:
		c.onHolder(e)
	case e.Kind == engine.NodeUp, e.Kind == engine.NodeDown:
		c.machines.turn(c.now, int(e.Node), e.Kind == engine.NodeDown)
	case e.Freed:
		c.onFreed(e)
	case e.Kind == engine.Redriven:
		c.onRedriven(e)
	case e.Kind == engine.LeaseTaken:
		c.onLeaseTaken(e)
	case e.Kind == engine.Fenced:
		c.onFenced(e)
	}
}
