package engine

import "time"

// JobRecorder is a Recorder that takes what most jobs go through by methods of their own, each in place of
// Record with an Event of that kind, which costs more to build than to look at. What the pointers lead to is
// good for the time of the call. A type that embeds one and has a Record of its own must have these too.
type JobRecorder interface {
	Recorder
	// Called is an Event of that kind, like all that follow.
	Called(at Time, node int32, op Op, rows int32)
	Enqueued(at Time, j *NewJob)
	// Promoted by the call of a node, or by itself: node is -1.
	Promoted(at Time, node int32, p *Promotion)
	Leased(at Time, node int32, l *Lease)
	Started(at Time, node int32, s Slot, l *Lease, waited time.Duration)
	Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration)
	// Committed is Acked, Nacked, Buried or Returned, whatever kind says, by an outcome without a Guard.
	Committed(at Time, node int32, kind EventKind, o *Outcome, r *Result)
}

// RecordJobs returns a JobRecorder that hands everything to each of all: by its methods to a JobRecorder, as events,
// built once, to the others. nil stands for nobody, and for nobody at all RecordJobs returns nil.
func RecordJobs(all ...Recorder) JobRecorder {
	to := new(recorders)
	for _, rec := range all {
		if j, ok := rec.(JobRecorder); ok {
			to.jobs = append(to.jobs, j)
		} else if rec != nil {
			to.events = append(to.events, rec)
		}
	}
	switch {
	case len(to.events) > 0 || len(to.jobs) > 1:
		return to
	case len(to.jobs) == 1:
		return to.jobs[0]
	}
	return nil
}

// recorders are those that a JobRecorder hands everything to.
type recorders struct {
	jobs   []JobRecorder
	events []Recorder
	event  Event
}

// Record implements Recorder.
func (r *recorders) Record(e *Event) {
	for _, j := range r.jobs {
		j.Record(e)
	}
	r.emit(e)
}

// blank returns the event to fill in and emit. Fields are set one by one: a composite literal would be built
// elsewhere and copied.
func (r *recorders) blank(at Time, kind EventKind, node int32) *Event {
	r.event = Event{}
	r.event.At, r.event.Kind, r.event.Node = at, kind, node
	return &r.event
}

func (r *recorders) emit(e *Event) {
	for _, rec := range r.events {
		rec.Record(e)
	}
}

func (r *recorders) Called(at Time, node int32, op Op, rows int32) {
	for _, j := range r.jobs {
		j.Called(at, node, op, rows)
	}
	e := r.blank(at, Called, node)
	e.Op, e.Count = op, rows
	r.emit(e)
}

func (r *recorders) Enqueued(at Time, n *NewJob) {
	for _, j := range r.jobs {
		j.Enqueued(at, n)
	}
	e := r.blank(at, Enqueued, -1)
	e.JobKind, e.Tenant, e.Job, e.Delay = n.Kind, n.Tenant, n.ID, n.Delay
	r.emit(e)
}

func (r *recorders) Promoted(at Time, node int32, p *Promotion) {
	for _, j := range r.jobs {
		j.Promoted(at, node, p)
	}
	e := r.blank(at, Promoted, node)
	e.Class, e.JobKind, e.Tenant, e.Job = p.Class, p.Kind, p.Tenant, p.Job
	r.emit(e)
}

func (r *recorders) Leased(at Time, node int32, l *Lease) {
	for _, j := range r.jobs {
		j.Leased(at, node, l)
	}
	r.event.fill(at, Leased, node, l)
	r.emit(&r.event)
}

func (r *recorders) Started(at Time, node int32, s Slot, l *Lease, waited time.Duration) {
	for _, j := range r.jobs {
		j.Started(at, node, s, l, waited)
	}
	e := r.blank(at, Started, node)
	e.Waited = waited
	e.runs(node, s, l)
	r.emit(e)
}

func (r *recorders) Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration) {
	for _, j := range r.jobs {
		j.Finished(at, node, s, l, err, ran)
	}
	e := r.blank(at, Finished, node)
	e.Error, e.Ran = err, ran
	e.runs(node, s, l)
	r.emit(e)
}

func (r *recorders) Committed(at Time, node int32, kind EventKind, o *Outcome, result *Result) {
	for _, j := range r.jobs {
		j.Committed(at, node, kind, o, result)
	}
	r.event.judge(at, kind, node, o, result)
	r.emit(&r.event)
}

// runs completes e with the lease that a slot holds.
func (e *Event) runs(node int32, s Slot, l *Lease) {
	e.Node, e.Slot, e.Job, e.JobKind, e.Tenant, e.Token, e.Ref = node, s, l.ID, l.Kind, l.Tenant, l.Token, l.Ref
	e.Delivery, e.Class = l.Delivery, l.Class()
}
