package bench

import (
	"slices"
	"sync"
	"time"

	"qsim/engine"
	"qsim/scenarios/world"
)

// recording stores the events of a run for analysis afterwards, since analysis during the run would slow it down.
type recording struct {
	probes []*probe // recorders of the engines, by node
	mutex  sync.Mutex
	feed   track // events of feeders and of repeated answers; guarded by mutex
}

// record makes a rig record the events of its engines, and returns the recording. The rig must not run yet.
func record(r *rig) *recording {
	rec := new(recording)
	for range r.meters {
		rec.probes = append(rec.probes, new(probe))
	}
	c := &r.engines
	c.Recorder = func(node int32) engine.Recorder { return rec.probes[node] }
	c.OnTick = func(node int32, due, at engine.Time) {
		p := rec.probes[node]
		p.late = append(p.late, world.Span{From: time.Duration(due), For: at.Sub(due)})
	}
	c.OnWake = func(node int32, at engine.Time, missed bool) {
		p := rec.probes[node]
		p.wakes = append(p.wakes, wake{time.Duration(at), node, missed})
	}
	c.OnCall = func(node int32, call *engine.Call, reply *engine.Reply, asked, began, ended engine.Time) {
		rec.probes[node].tell(call, asked, began, ended)
		r.onCall(node, call, reply, asked, began, ended)
	}
	r.onEnd = rec.repeated
	return rec
}

// track stores the events recorded by one goroutine, in blocks of chunk events.
type track struct{ chunks [][]engine.Event }

// chunk is the number of events stored in one block: growing a slice would copy them all.
const chunk = 4096

// Record stores an event, for engine.Recorder, except kinds that no metric uses.
func (t *track) Record(e *engine.Event) {
	if e.Kind == engine.Extended || e.Kind == engine.ExtendRefused {
		return
	}
	n := len(t.chunks)
	if n == 0 || len(t.chunks[n-1]) == chunk {
		t.chunks = append(t.chunks, make([]engine.Event, 0, chunk))
		n++
	}
	t.chunks[n-1] = append(t.chunks[n-1], *e)
}

// executions yields the start time and the final event of each execution that has ended.
func (t *track) executions(yield func(began engine.Time, end *engine.Event) bool) {
	started := map[attempt]engine.Time{}
	for _, events := range t.chunks {
		for i := range events {
			e := &events[i]
			who := attempt{e.Job, e.Delivery}
			switch e.Kind {
			case engine.Started:
				started[who] = e.At
			case engine.Finished:
				if !yield(started[who], e) {
					return
				}
				delete(started, who)
			}
		}
	}
}

var verbEvents = map[engine.Verb]engine.EventKind{engine.Ack: engine.Acked, engine.Bury: engine.Buried}

// repeated records the end of a job that the store confirmed only when a commit was repeated: the first answer was
// lost, and the engine recorded no event.
func (r *recording) repeated(o *engine.Outcome, result *engine.Result, at engine.Time) {
	if result.Status != engine.Applied.Again() {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.feed.Record(&engine.Event{At: at, Kind: verbEvents[o.Verb], From: engine.InFlight, Error: o.Error, JobKind: o.Kind,
		Tenant: o.Tenant, Reaped: o.Reaped, Aged: o.Aged, Delivery: o.Delivery, Job: o.Job, Token: o.Token,
		Age: result.Age})
}

// enqueued records that a job was enqueued, halfway through the store call that began and ended at the times given.
func (r *recording) enqueued(j *engine.NewJob, began, ended engine.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.feed.Record(&engine.Event{At: began + (ended-began)/2, Kind: engine.Enqueued, JobKind: j.Kind, Tenant: j.Tenant,
		Job: j.ID, Delay: j.Delay, Node: -1})
}

// events returns all recorded events and ends the recording. Nothing may be recorded any more.
func (r *recording) events() []engine.Event {
	chunks := r.feed.chunks
	for _, p := range r.probes {
		chunks = append(chunks, p.chunks...)
		p.chunks = nil
	}
	r.feed.chunks = nil
	return slices.Concat(chunks...)
}
