package sim

import (
	"time"

	"qsim/engine"
)

// witness records what happens in a simulation, under its time, whatever the clock of the node that it
// happened on: it folds everything into the fingerprint and passes it on. It is the recorder of the
// engines and of the calls.
type witness struct{ *Sim }

// awaiter has the controls come that wait for events.
type awaiter struct{ sim *Sim }

// Record implements engine.Recorder.
func (a awaiter) Record(e *engine.Event) {
	if a.sim.controls.awaited > 0 {
		a.sim.await(e)
	}
}

// lives is by how much the number of jobs that are neither done nor dead changes, by event.
var lives = [256]int64{engine.Enqueued: 1, engine.Redriven: 1, engine.Acked: -1, engine.Buried: -1}

// Record implements engine.Recorder.
func (s witness) Record(e *engine.Event) {
	e.At = s.now
	s.digest.Add(e)
	s.live += lives[e.Kind]
	if s.listening != nil {
		s.listening.Record(e)
	}
}

// Called implements engine.JobRecorder.
func (s witness) Called(_ engine.Time, node int32, op engine.Op, rows int32) {
	s.digest.AddCalled(s.now, node, op, rows)
	if s.listening != nil {
		s.listening.Called(s.now, node, op, rows)
	}
}

// Enqueued implements engine.JobRecorder.
func (s witness) Enqueued(_ engine.Time, j *engine.NewJob) {
	s.digest.AddEnqueued(s.now, j)
	s.live++
	if s.listening != nil {
		s.listening.Enqueued(s.now, j)
	}
}

// Promoted implements engine.JobRecorder.
func (s witness) Promoted(_ engine.Time, node int32, p *engine.Promotion) {
	s.digest.AddPromoted(s.now, node, p)
	if s.listening != nil {
		s.listening.Promoted(s.now, node, p)
	}
}

// Leased implements engine.JobRecorder.
func (s witness) Leased(_ engine.Time, node int32, l *engine.Lease) {
	s.digest.AddLeased(s.now, node, l)
	if s.listening != nil {
		s.listening.Leased(s.now, node, l)
	}
}

// Started implements engine.JobRecorder.
func (s witness) Started(_ engine.Time, node int32, slot engine.Slot, l *engine.Lease, waited time.Duration) {
	s.digest.AddStarted(s.now, node, slot, l, waited)
	if s.listening != nil {
		s.listening.Started(s.now, node, slot, l, waited)
	}
}

// Finished implements engine.JobRecorder.
func (s witness) Finished(_ engine.Time, node int32, slot engine.Slot, l *engine.Lease, err engine.ErrorKind, ran time.Duration) {
	s.digest.AddFinished(s.now, node, slot, l, err, ran)
	if s.listening != nil {
		s.listening.Finished(s.now, node, slot, l, err, ran)
	}
}

// Committed implements engine.JobRecorder.
func (s witness) Committed(_ engine.Time, node int32, kind engine.EventKind, o *engine.Outcome, r *engine.Result) {
	s.digest.AddCommitted(s.now, node, kind, o, r)
	s.live += lives[kind]
	if s.listening != nil {
		s.listening.Committed(s.now, node, kind, o, r)
	}
}
