package bench

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"qsim/engine"
	"qsim/results/plain"
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

// visibility holds the time, after the end of an enqueue call, from which on claims find its jobs, if a claim takes
// effect halfway through its call, and the share of the enqueue call that the store counts as the jobs' wait. A store
// may read its clock and look for jobs at any time of a call.
type visibility struct {
	after   time.Duration // time from the end of an enqueue call until claims find its jobs; negative: before that end
	counted float64       // wait that the store counts up to the end of the enqueue call, as a share of it, in [0, 1]
}

// taking holds when a job that was ready at once was claimed: times since the end of its enqueue call.
type taking struct {
	before, at   time.Duration // middle of the last claim that did not take the job, and of the one that did
	waited, call time.Duration // wait by the store's clock, and duration of the enqueue call
}

// claimed holds when a claim began and when it took effect, taken to be halfway through the call.
type claimed struct{ began, middle time.Duration }

// takings returns, for each job that was ready as soon as it was enqueued, the claim that took it. It leaves out a job
// that some claim did not take which began after the job's enqueue call: that claim could see it, and had another
// reason. stalls are those of the store, and perJob is the duration that each further job adds to a claim.
func (r *recording) takings(jobs []fed, stalls []world.Span, perJob time.Duration) (all []taking) {
	enqueued := make(map[engine.JobID]fed, len(jobs))
	for _, j := range jobs {
		enqueued[j.job] = j
	}
	of := func(s callSample) claimed { return claimed{s.began(), s.began() + s.net(stalls, perJob)/2} }
	byMiddle := func(a, b claimed) int { return cmp.Compare(a.middle, b.middle) }
	var claims []claimed
	for _, p := range r.probes {
		claims = append(claims, plain.Map(p.samples[engine.OpClaim], of)...)
	}
	slices.SortFunc(claims, byMiddle)
	for _, p := range r.probes {
		for sample, e := range p.leased {
			claim := of(sample)
			n, _ := slices.BinarySearchFunc(claims, claim, byMiddle)
			j, known := enqueued[e.Job]
			if end := j.at + j.late; known && e.Waited == e.Age && n > 0 && claims[n-1].began <= end {
				all = append(all, taking{claims[n-1].middle - end, claim.middle - end, e.Waited, j.call})
			}
		}
	}
	return all
}

// leased yields the event of each claimed job, with the claim that took it.
func (p *probe) leased(yield func(claim callSample, e *engine.Event) bool) {
	claims := 0
	for _, events := range p.chunks {
		for i := range events {
			switch e := &events[i]; {
			case e.Kind == engine.Called && e.Op == engine.OpClaim:
				claims++
			case e.Kind == engine.Leased && !yield(p.samples[engine.OpClaim][claims-1], e):
				return
			}
		}
	}
}

// visibilityOf estimates from when on claims find enqueued jobs: the time that contradicts the fewest claims, those
// that took a job before and those that did not after; of several that nearest to the end of the enqueue call. The
// share that counts as wait is a median.
func visibilityOf(all []taking) (v visibility) {
	if len(all) == 0 {
		return v
	}
	before := plain.Map(all, func(t taking) time.Duration { return t.before })
	taken := plain.Map(all, func(t taking) time.Duration { return t.at })
	shares := plain.Map(all, func(t taking) float64 { return float64(t.waited-t.at) / float64(max(1, t.call)) })
	slices.Sort(before)
	slices.Sort(taken)
	slices.Sort(shares)
	v.counted = min(1, max(0, shares[len(shares)/2]))
	least := len(all) + 1
	for _, after := range slices.Concat([]time.Duration{0}, taken, before) {
		early, _ := slices.BinarySearch(taken, after)
		fine, _ := slices.BinarySearch(before, after+1)
		if wrong := early + len(all) - fine; wrong < least || wrong == least && after.Abs() < v.after.Abs() {
			least, v.after = wrong, after
		}
	}
	return v
}
