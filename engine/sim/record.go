package sim

import (
	"time"

	"qsim/engine"
)

// witness is the recorder of engines and calls in a simulation: it sets each event's time to the simulation's, whatever
// the node's clock, adds it to the digest and passes it on.
type witness struct{ *Sim }

// awaiter is a recorder of events that schedules the injected faults (controls) for which an event is the trigger.
type awaiter struct{ sim *Sim }

// Record schedules the controls (injected faults) that the event triggers.
func (a awaiter) Record(e *engine.Event) {
	if a.sim.controls.awaited > 0 {
		a.sim.await(e)
	}
}

// record records a rare event: one for which JobRecorder has no method.
func (s *Sim) record(e engine.Event) {
	s.event = e
	witness{s}.Record(&s.event)
}

// lives maps each event kind to the change that it makes in the number of jobs that are neither done nor dead.
var lives = [256]int64{engine.Enqueued: 1, engine.Redriven: 1, engine.Acked: -1, engine.Buried: -1}

// Record adds an event to the digest, a hash of all events of the run, and passes it to the recorder of the simulation.
func (s witness) Record(e *engine.Event) {
	e.At = s.now
	s.digest.Add(e)
	s.live += lives[e.Kind]
	s.listening.Record(e)
}

// Called adds the event of an executed store call to the digest and passes it on.
func (s witness) Called(_ engine.Time, node int32, op engine.Op, rows int32) {
	s.digest.AddCalled(s.now, node, op, rows)
	s.listening.Called(s.now, node, op, rows)
}

// Enqueued adds the event of a new job to the digest and passes it on.
func (s witness) Enqueued(_ engine.Time, j *engine.NewJob) {
	s.digest.AddEnqueued(s.now, j)
	s.live++
	s.tally.moves++
	s.listening.Enqueued(s.now, j)
}

// Promoted adds the event of a job that became ready to the digest and passes it on.
func (s witness) Promoted(_ engine.Time, node int32, p *engine.Promotion) {
	s.digest.AddPromoted(s.now, node, p)
	s.listening.Promoted(s.now, node, p)
}

// Leased adds the event of a claimed job to the digest and passes it on.
func (s witness) Leased(_ engine.Time, node int32, l *engine.Lease) {
	s.digest.AddLeased(s.now, node, l)
	s.tally.moves++
	s.listening.Leased(s.now, node, l)
}

// Started adds the event of an execution's start to the digest and passes it on.
func (s witness) Started(_ engine.Time, node int32, slot engine.Slot, l *engine.Lease, waited time.Duration) {
	s.digest.AddStarted(s.now, node, slot, l, waited)
	s.listening.Started(s.now, node, slot, l, waited)
}

// Finished adds the event of an execution's end to the digest and passes it on.
func (s witness) Finished(
	_ engine.Time, node int32, slot engine.Slot, l *engine.Lease, err engine.ErrorKind, ran time.Duration,
) {
	s.digest.AddFinished(s.now, node, slot, l, err, ran)
	s.listening.Finished(s.now, node, slot, l, err, ran)
}

// Committed adds the event of a committed outcome to the digest and passes it on.
func (s witness) Committed(_ engine.Time, node int32, kind engine.EventKind, o *engine.Outcome, r *engine.Result) {
	s.digest.AddCommitted(s.now, node, kind, o, r)
	s.live += lives[kind]
	s.listening.Committed(s.now, node, kind, o, r)
}
