package engine

import "time"

// JobRecorder is a Recorder with separate methods for the frequent events of jobs, each called in place of Record,
// since building an Event costs more than handling it. The pointers are valid during the call only. A type that embeds
// one and defines Record must define these too.
type JobRecorder interface {
	Recorder
	// Called replaces Record for an Event of kind Called, as each of the methods below does for its kind.
	Called(at Time, node int32, op Op, rows int32)
	Enqueued(at Time, j *NewJob)
	// Promoted replaces Record for an Event of kind Promoted: by a call of a node, or with node -1 as the job was due.
	Promoted(at Time, node int32, p *Promotion)
	Leased(at Time, node int32, l *Lease)
	Started(at Time, node int32, s Slot, l *Lease, waited time.Duration)
	Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration)
	// Committed replaces Record for an Event of kind Acked, Nacked, Buried or Returned of an outcome without a Guard.
	Committed(at Time, node int32, kind EventKind, o *Outcome, r *Result)
}

// RecordJobs combines recorders into one JobRecorder, which passes events to each of them that is not nil, in order.
// The first receives them by the methods of a JobRecorder, if it is one, the others as Event values. Without any,
// events are ignored.
func RecordJobs(all ...Recorder) JobRecorder {
	var to JobRecorder = nobody{}
	for _, rec := range all {
		if j, ok := rec.(JobRecorder); ok && to == (nobody{}) {
			to = j
		} else if rec != nil {
			b := &eventBuilder{first: to, second: rec, events: make([]Event, 1)}
			b.take = func(events []Event) { rec.Record(&events[0]) }
			if k, ok := rec.(keeper); ok {
				b.events, b.take = make([]Event, 512), k.Take
				k.Await(b.pass)
			}
			to = b
		}
	}
	return to
}

// nobody is a JobRecorder that ignores all events.
type nobody struct{}

func (nobody) Record(*Event)                                                {}
func (nobody) Called(Time, int32, Op, int32)                                {}
func (nobody) Enqueued(Time, *NewJob)                                       {}
func (nobody) Promoted(Time, int32, *Promotion)                             {}
func (nobody) Leased(Time, int32, *Lease)                                   {}
func (nobody) Started(Time, int32, Slot, *Lease, time.Duration)             {}
func (nobody) Finished(Time, int32, Slot, *Lease, ErrorKind, time.Duration) {}
func (nobody) Committed(Time, int32, EventKind, *Outcome, *Result)          {}

// keeper is a Recorder that takes events in batches, which is faster than one by one: its code then stays in the cache.
type keeper interface {
	// Take is given several events in order, in place of a call of Record for each.
	Take(events []Event)
	// Await gives the keeper the function that passes events held back, for it to call before it reports on them.
	Await(pass func())
}

// eventBuilder is a JobRecorder that passes events to two recorders, to the second as Event values.
type eventBuilder struct {
	first  JobRecorder
	second Recorder
	take   func(events []Event) // passes events on to the second
	events []Event              // events not passed to the second yet; they are passed on once it is full
	built  int                  // number of events in it
}

// add returns the memory in which the next event for the second recorder is built.
func (b *eventBuilder) add() *Event {
	b.built++
	return &b.events[b.built-1]
}

// added passes the built events on to the second recorder once there are enough of them.
func (b *eventBuilder) added() {
	if b.built == len(b.events) {
		b.pass()
	}
}

// pass passes the built events on to the second recorder. It is not inlined so that added is.
//
//go:noinline
func (b *eventBuilder) pass() {
	events := b.events[:b.built]
	b.built = 0
	b.take(events)
}

// Record passes an event at once to both recorders of the eventBuilder.
func (b *eventBuilder) Record(e *Event) {
	b.first.Record(e)
	b.second.Record(e)
}

func (b *eventBuilder) Called(at Time, node int32, op Op, rows int32) {
	e := b.add()
	*e = Event{At: at, Kind: Called}
	e.Node, e.Op, e.Count = node, op, rows
	b.first.Called(at, node, op, rows)
	b.added()
}

func (b *eventBuilder) Enqueued(at Time, j *NewJob) {
	e := b.add()
	*e = Event{At: at, Kind: Enqueued, Node: -1}
	e.JobKind, e.Tenant, e.Job, e.Delay = j.Kind, j.Tenant, j.ID, j.Delay
	b.first.Enqueued(at, j)
	b.added()
}

func (b *eventBuilder) Promoted(at Time, node int32, p *Promotion) {
	e := b.add()
	*e = Event{At: at, Kind: Promoted, Node: node, Class: p.Class, JobKind: p.Kind, Tenant: p.Tenant, Job: p.Job}
	b.first.Promoted(at, node, p)
	b.added()
}

func (b *eventBuilder) Leased(at Time, node int32, l *Lease) {
	e := b.add()
	e.fill(at, Leased, node, l)
	b.first.Leased(at, node, l)
	b.added()
}

func (b *eventBuilder) Started(at Time, node int32, s Slot, l *Lease, waited time.Duration) {
	e := b.add()
	*e = Event{At: at, Kind: Started, Waited: waited}
	e.runs(node, s, l)
	b.first.Started(at, node, s, l, waited)
	b.added()
}

func (b *eventBuilder) Finished(at Time, node int32, s Slot, l *Lease, err ErrorKind, ran time.Duration) {
	e := b.add()
	*e = Event{At: at, Kind: Finished, Error: err, Ran: ran}
	e.runs(node, s, l)
	b.first.Finished(at, node, s, l, err, ran)
	b.added()
}

func (b *eventBuilder) Committed(at Time, node int32, kind EventKind, o *Outcome, r *Result) {
	e := b.add()
	e.judge(at, kind, node, o, r)
	b.first.Committed(at, node, kind, o, r)
	b.added()
}

// runs sets the fields of an event about a running job: its node and slot, and those that its lease determines.
func (e *Event) runs(node int32, s Slot, l *Lease) {
	e.Node, e.Slot, e.Job, e.JobKind, e.Tenant, e.Token = node, s, l.ID, l.Kind, l.Tenant, l.Token
	e.Delivery, e.Class = l.Delivery, l.Class()
}
