package sim

import (
	"math/bits"
	"time"

	"qsim/engine"
)

// Witness is the recorder of engines and calls in a simulation: it adds each event to a digest, counts the jobs that
// are left, and passes the event on to Next. Digests by its methods equal those by Digest.Add.
type Witness struct {
	Next   engine.JobRecorder // recorder that gets the events too
	Digest Digest             // fingerprint of all events so far
	live   int64              // number of jobs enqueued, neither done nor dead
	moves  int64              // number of jobs enqueued and leases granted at the present instant
}

// lives maps each event kind to the change that it makes in the number of jobs that are neither done nor dead.
var lives = [256]int64{engine.Enqueued: 1, engine.Redriven: 1, engine.Acked: -1, engine.Buried: -1}

// Record digests and passes on a rare event: one for which JobRecorder has no method.
func (w *Witness) Record(e *engine.Event) {
	w.Digest.Add(e)
	w.live += lives[e.Kind]
	w.Next.Record(e)
}

// Called digests and passes on the event of an executed store call.
func (w *Witness) Called(at engine.Time, node int32, op engine.Op, rows int32) {
	kinds := uint64(engine.Called) | uint64(op)<<24
	w.Digest.fold(uint64(at), secondWord(0, 0, 0, uint64(uint32(rows))<<32), thirdWord(kinds, 0, 0, whose(0, node)))
	w.Next.Called(at, node, op, rows)
}

// Enqueued digests and passes on the event of a new job, and counts the job.
func (w *Witness) Enqueued(at engine.Time, j *engine.NewJob) {
	kinds := uint64(engine.Enqueued) | uint64(j.Kind)<<48
	w.Digest.fold(firstWord(at, 0, 0, j.Tenant), secondWord(j.ID, j.Delay, 0, 0), thirdWord(kinds, 0, 0, whose(0, -1)))
	w.live++
	w.moves++
	w.Next.Enqueued(at, j)
}

// Promoted digests and passes on the event of a job that became ready.
func (w *Witness) Promoted(at engine.Time, node int32, p *engine.Promotion) {
	kinds := uint64(engine.Promoted) | uint64(p.Class)<<8 | uint64(p.Kind)<<48
	w.Digest.fold(firstWord(at, 0, 0, p.Tenant), uint64(p.Job), thirdWord(kinds, 0, 0, whose(0, node)))
	w.Next.Promoted(at, node, p)
}

// Leased digests and passes on the event of a claimed job.
func (w *Witness) Leased(at engine.Time, node int32, l *engine.Lease) {
	kinds := kindsOf(l, engine.Leased)
	w.Digest.fold(firstWord(at, max(0, l.Waited), l.Age, l.Tenant), uint64(l.ID),
		thirdWord(kinds, l.Token, l.Holder, whose(l.Delivery, node)))
	w.moves++
	w.Next.Leased(at, node, l)
}

// Started digests and passes on the event of an execution's start.
func (w *Witness) Started(at engine.Time, node int32, slot engine.Slot, l *engine.Lease, waited time.Duration) {
	kinds := kindsOf(l, engine.Started)
	w.Digest.fold(firstWord(at, waited, 0, l.Tenant), secondWord(l.ID, 0, 0, uint64(uint32(slot))),
		thirdWord(kinds, l.Token, 0, whose(l.Delivery, node)))
	w.Next.Started(at, node, slot, l, waited)
}

// Finished digests and passes on the event of an execution's end.
func (w *Witness) Finished(
	at engine.Time, node int32, slot engine.Slot, l *engine.Lease, err engine.ErrorKind, ran time.Duration,
) {
	kinds := kindsOf(l, engine.Finished) | uint64(err)<<32
	w.Digest.fold(firstWord(at, 0, 0, l.Tenant), secondWord(l.ID, 0, ran, uint64(uint32(slot))),
		thirdWord(kinds, l.Token, 0, whose(l.Delivery, node)))
	w.Next.Finished(at, node, slot, l, err, ran)
}

// Committed digests and passes on the event of an applied outcome, which may end its job.
func (w *Witness) Committed(at engine.Time, node int32, kind engine.EventKind, o *engine.Outcome, r *engine.Result) {
	kinds := uint64(kind) | bits.RotateLeft64(uint64(r.Class), 8) | bits.RotateLeft64(uint64(r.From), 16) |
		bits.RotateLeft64(uint64(o.Error), 32) | bits.RotateLeft64(uint64(o.Kind), 48)
	w.Digest.fold(firstWord(at, 0, r.Age, o.Tenant), secondWord(o.Job, o.Delay, 0, 0),
		thirdWord(kinds, o.Token, 0, whose(o.Delivery, node)))
	w.live += lives[kind]
	w.Next.Committed(at, node, kind, o, r)
}

// record completes a rare event of the simulation itself, such as a crash, with the time and records it.
func (s *Sim) record(e engine.Event) {
	s.event = e
	s.event.At = s.now
	s.witness.Record(&s.event)
}

// awaiter is a recorder of events that triggers the injected faults (controls) that wait for an event.
type awaiter struct{ sim *Sim }

// Record triggers the injected faults (controls) that wait for the event e.
func (a awaiter) Record(e *engine.Event) { a.sim.await(e) }
