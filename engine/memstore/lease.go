package memstore

import (
	"context"
	"slices"

	"qsim/engine"
)

// answered stores the answers to the commits of one life of a node, for batches that come again, until its engine has
// confirmed that it received them.
type answered struct {
	life    uint32
	settled uint64          // sequence number up to which the engine has received all answers
	batches []answeredBatch // the answers; entries up to settled are free
}

type answeredBatch struct {
	seq      uint64
	statuses []engine.Status // status of each outcome: the answer to another copy of the batch
}

// to returns the stored answer to the commit batch with sequence number seq, the statuses of its first n outcomes or
// more, for changes. That to a new batch, in a free entry if there is one, is Unapplied for each.
func (a *answered) to(seq uint64, n int) []engine.Status {
	at := len(a.batches)
	for i := range a.batches {
		b := &a.batches[i]
		if b.seq == seq {
			at = i
			break
		}
		if b.seq <= a.settled {
			at = i
		}
	}
	if at == len(a.batches) {
		a.batches = append(a.batches, answeredBatch{})
	}
	b := &a.batches[at]
	if b.seq != seq {
		b.seq, b.statuses = seq, b.statuses[:0]
	}
	for len(b.statuses) < n {
		b.statuses = append(b.statuses, engine.Unapplied)
	}
	return b.statuses
}

// memoryOf returns the stored answers to an engine's commits: none, and no later call finds what is added, if the
// engine's node has restarted and committed since. A commit of an earlier life is judged by its fencing tokens alone.
func (s *Store) memoryOf(e engine.EngineID) *answered {
	node := int(e.Node())
	for len(s.batches) <= node {
		s.batches = append(s.batches, answered{})
	}
	a := &s.batches[node]
	switch life := e.Generation(); {
	case a.life < life:
		*a = answered{life: life}
	case a.life > life:
		return &answered{}
	}
	return a
}

// Commit applies the outcomes of a batch to their jobs, once even if the batch is sent again, see engine.Store.
func (s *Store) Commit(_ context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	s.mu.lock()
	now := s.now()
	n := len(b.Outcomes)
	dst = slices.Grow(dst, n)[:len(dst)+n]
	results := dst[len(dst)-n:]
	memory, statuses := s.memoryOf(b.ID.Engine), []engine.Status(nil)
	memory.settled = max(memory.settled, b.Settled)
	settled := b.ID.Seq <= memory.settled
	if !settled {
		statuses = memory.to(b.ID.Seq, n)
	}
	if s.rows.size > resident {
		for i := range b.Outcomes {
			s.rows.fetch(b.Outcomes[i].Ref)
		}
	}
	for i := range results {
		r := &results[i]
		switch *r = (engine.Result{}); {
		case settled:
			r.Status = engine.Applied.Again()
		case statuses[i] != engine.Unapplied:
			r.Status = statuses[i].Again()
		default:
			s.apply(now, &b.Outcomes[i], r)
			statuses[i] = r.Status
		}
	}
	s.mu.unlock()
	return dst, nil
}

// refund takes back the charge for an attempt of a job that was in flight before the outcome (its state was from). In
// other states it does nothing: without a fence an attempt may have two outcomes, and must not be refunded twice.
func (h *history) refund(from engine.State) {
	if from == engine.InFlight {
		h.refunds++
	}
}

// apply applies one outcome of a commit to its job, if the fence allows, and fills in result, which must be empty.
func (s *Store) apply(now engine.Time, o *engine.Outcome, result *engine.Result) {
	if o.Refused {
		return
	}
	fence := o.Guard
	if fence == engine.FenceDefault {
		fence = s.options.Fence
	}
	ref, r := s.match(&o.LeaseKey, fence)
	if r == nil {
		result.Status = engine.Stale
		return
	}
	result.Status, result.From, result.Class, result.Age = engine.Applied, r.state, r.class(), now.Sub(r.enqueuedAt)
	if o.Guard != engine.FenceDefault {
		r.token++
		result.Delivery, result.Token = r.delivery, engine.Token(r.token)
		if r.delivery > 0 {
			result.Holder = r.holder
		}
		s.countRecovery(s.historyOf(ref, r), now)
	}
	if o.Stand != engine.PlaceDefault {
		s.historyOf(ref, r) // keeps the time when it was last due
	}
	s.unplace(ref, r)
	switch o.Verb {
	case engine.Ack:
		s.forget(ref, r)
	case engine.Bury:
		r.failures++
		s.bury(ref, r)
	case engine.Nack:
		r.failures++
		s.historyOf(ref, r).lastDelay = o.Delay + o.Passed
		s.toWaiting(ref, r, now.Add(max(0, o.Delay)), now, o.Stand)
	case engine.Snooze:
		h := s.historyOf(ref, r)
		h.snoozes++
		h.refund(result.From)
		h.lastDelay = o.Delay + o.Passed
		s.toWaiting(ref, r, now.Add(max(0, o.Delay)), now, o.Stand)
	case engine.Redo:
		r.failures++
		s.toReady(ref, r, s.dueNow(r, now), now, o.Stand)
	case engine.Return:
		s.historyOf(ref, r).refund(result.From)
		s.toReady(ref, r, s.dueNow(r, now), now, o.Stand)
	}
}

// dueNow returns the due time of a job that becomes ready at once: now or, with StoreOptions.Held, its own due time if
// that is later.
func (s *Store) dueNow(r *row, now engine.Time) engine.Time {
	if s.options.Held {
		return max(now, r.dueAt)
	}
	return now
}

// countRecovery counts one more recovery of a job's lease in its history, for Job.Recoveries.
func (s *Store) countRecovery(h *history, now engine.Time) {
	if h.recoveries = s.recoveriesOf(h, now); h.recoveries == 0 {
		h.recoveredAt = now
	}
	h.recoveries++
}

// recoveriesOf returns a job's count of recoveries: 0 once the first is longer ago than StoreOptions.RecoveriesWithin.
func (s *Store) recoveriesOf(h *history, now engine.Time) int32 {
	if within := s.options.RecoveriesWithin; within > 0 && now.Sub(h.recoveredAt) > within {
		return 0
	}
	return h.recoveries
}

// match returns the row of the job that a lease key names, or nil if fence f forbids calls under that key to change it.
func (s *Store) match(key *engine.LeaseKey, f engine.Fence) (uint32, *row) {
	ref, r := key.Ref, (*row)(nil)
	if ref < s.rows.size {
		r = s.rows.at(ref)
	}
	if r == nil || r.id != key.Job {
		if ref != 0 && s.index.slots == nil {
			return 0, nil // without an index no ID has come twice: a job that has left its row has ended
		}
		if ref = s.index.find(&s.rows, key.Job); ref == 0 {
			return 0, nil
		}
		r = s.rows.at(ref)
	}
	matches := r.state == engine.InFlight && (f == engine.FenceState || engine.Token(r.token) == key.Token)
	if f == engine.FenceNone {
		matches = r.id != 0 && r.state != engine.Dead // a free row has no ID
	}
	if !matches {
		return 0, nil
	}
	return ref, r
}
