package engine

import "time"

// JobRecorder is a Recorder with separate methods for the frequent events of jobs, each called in place of Record,
// since building an Event costs more than handling it. The pointers are valid during the call only. A type that embeds
// one and defines Record must define these too.
type JobRecorder interface {
	Recorder
	// Called replaces an Event of kind Called, as each of the methods below does for its kind.
	Called(at Time, node int32, op Op, rows int32)
	Enqueued(at Time, j *NewJob)
	// Promoted replaces an Event of kind Promoted: by a call of a node, or by itself, with node -1.
	Promoted(at Time, node int32, p *Promotion)
	Leased(at Time, node int32, l *Lease)
	Started(at Time, node int32, s Slot, l *Lease, waited time.Duration)
	Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration)
	// Committed replaces an Event of kind Acked, Nacked, Buried or Returned for an outcome without a Guard.
	Committed(at Time, node int32, kind EventKind, o *Outcome, r *Result)
}

// RecordJobs returns a JobRecorder that passes events to all recorders in all that are not nil: by the methods of a
// JobRecorder if it is the only one, else as Event values. It returns nil if there is none.
func RecordJobs(all ...Recorder) JobRecorder {
	to := new(eventBuilder)
	for _, rec := range all {
		if rec != nil {
			to.recorders = append(to.recorders, rec)
		}
	}
	if len(to.recorders) == 0 {
		return nil
	}
	if j, ok := to.recorders[0].(JobRecorder); ok && len(to.recorders) == 1 {
		return j
	}
	return to
}

// eventBuilder is a JobRecorder that passes each event as an Event to recorders.
type eventBuilder struct {
	recorders []Recorder
	event     Event
}

// Record passes an event to all recorders.
func (b *eventBuilder) Record(e *Event) {
	for _, rec := range b.recorders {
		rec.Record(e)
	}
}

func (b *eventBuilder) Called(at Time, node int32, op Op, rows int32) {
	b.event = Event{At: at, Kind: Called, Node: node, Op: op, Count: rows}
	b.Record(&b.event)
}

func (b *eventBuilder) Enqueued(at Time, j *NewJob) {
	b.event = Event{At: at, Kind: Enqueued, JobKind: j.Kind, Tenant: j.Tenant, Job: j.ID, Delay: j.Delay, Node: -1}
	b.Record(&b.event)
}

func (b *eventBuilder) Promoted(at Time, node int32, p *Promotion) {
	b.event = Event{At: at, Kind: Promoted, Node: node, Class: p.Class, JobKind: p.Kind, Tenant: p.Tenant, Job: p.Job}
	b.Record(&b.event)
}

func (b *eventBuilder) Leased(at Time, node int32, l *Lease) {
	b.event.fill(at, Leased, node, l)
	b.Record(&b.event)
}

func (b *eventBuilder) Started(at Time, node int32, s Slot, l *Lease, waited time.Duration) {
	b.event = Event{At: at, Kind: Started, Waited: waited}
	b.event.runs(node, s, l)
	b.Record(&b.event)
}

func (b *eventBuilder) Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration) {
	b.event = Event{At: at, Kind: Finished, Error: err, Ran: ran}
	b.event.runs(node, s, l)
	b.Record(&b.event)
}

func (b *eventBuilder) Committed(at Time, node int32, kind EventKind, o *Outcome, r *Result) {
	b.event.judge(at, kind, node, o, r)
	b.Record(&b.event)
}

// runs sets the lease and slot fields of an event about a running job.
func (e *Event) runs(node int32, s Slot, l *Lease) {
	e.Node, e.Slot, e.Job, e.JobKind, e.Tenant, e.Token = node, s, l.ID, l.Kind, l.Tenant, l.Token
	e.Delivery, e.Class = l.Delivery, l.Class()
}
