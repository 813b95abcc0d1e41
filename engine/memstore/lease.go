package memstore

import (
	"cmp"
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

// find returns the stored answer to the commit batch with sequence number seq, a status for each outcome; nil: none.
func (a *answered) find(seq uint64) []engine.Status {
	for i := range a.batches {
		if a.batches[i].seq == seq {
			return a.batches[i].statuses
		}
	}
	return nil
}

// remember stores the answer to a commit batch, in a free entry if there is one.
func (a *answered) remember(seq uint64, results []engine.Result) {
	at := 0
	for at < len(a.batches) && a.batches[at].seq > a.settled {
		at++
	}
	if at == len(a.batches) {
		a.batches = append(a.batches, answeredBatch{})
	}
	b := &a.batches[at]
	b.seq, b.statuses = seq, b.statuses[:0]
	for i := range results {
		b.statuses = append(b.statuses, results[i].Status)
	}
}

// memoryOf returns the stored answers to an engine's commits, or nil if the engine's node has restarted and committed
// since: a commit of an earlier life is accepted or refused by its fencing tokens alone.
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
		return nil
	}
	return a
}

// Commit applies the outcomes of a batch to their jobs, once even if the batch is sent again, see engine.Store.
func (s *Store) Commit(_ context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	s.mu.lock()
	now := s.now()
	memory := s.memoryOf(b.ID.Engine)
	if memory != nil {
		memory.settled = max(memory.settled, b.Settled)
		if b.ID.Seq <= memory.settled {
			for range b.Outcomes {
				dst = append(dst, engine.Result{Status: engine.Applied.Again()})
			}
			s.mu.unlock()
			return dst, nil
		}
		if earlier := memory.find(b.ID.Seq); earlier != nil {
			for i := range earlier {
				dst = append(dst, engine.Result{Status: earlier[i].Again()})
				if r := &dst[len(dst)-1]; earlier[i] == engine.Unapplied {
					r.Status = engine.Unapplied
					s.apply(now, &b.Outcomes[i], r)
					earlier[i] = r.Status
				}
			}
			s.mu.unlock()
			return dst, nil
		}
	}
	n := len(b.Outcomes)
	dst = slices.Grow(dst, n)[:len(dst)+n]
	results := dst[len(dst)-n:]
	for i := range results {
		results[i] = engine.Result{}
		s.apply(now, &b.Outcomes[i], &results[i])
	}
	if memory != nil && n > 0 {
		memory.remember(b.ID.Seq, results)
	}
	s.mu.unlock()
	return dst, nil
}

// refund takes back the charge for an attempt of a job that was in flight before the outcome (its state was from). In
// other states it does nothing: without a fence an attempt may have two outcomes, and must not be refunded twice.
func (r *row) refund(from engine.State) {
	if from == engine.InFlight {
		r.charged--
	}
}

// apply applies one outcome of a commit to its job, if the fence allows, and fills in result, which must be empty.
func (s *Store) apply(now engine.Time, o *engine.Outcome, result *engine.Result) {
	if o.Refused {
		return
	}
	ref, r := s.match(&o.LeaseKey, cmp.Or(o.Guard, s.options.Fence))
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
		r.refund(result.From)
		h.lastDelay = o.Delay + o.Passed
		s.toWaiting(ref, r, now.Add(max(0, o.Delay)), now, o.Stand)
	case engine.Redo:
		r.failures++
		s.toReady(ref, r, s.dueNow(r, now), now, o.Stand)
	case engine.Return:
		r.refund(result.From)
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
	ref := key.Ref
	if ref >= s.rows.size || s.rows.at(ref).id != key.Job {
		if ref = s.index.find(&s.rows, key.Job); ref == 0 {
			return 0, nil
		}
	}
	r := s.rows.at(ref)
	matches := r.state == engine.InFlight && (f == engine.FenceState || engine.Token(r.token) == key.Token)
	if f == engine.FenceNone {
		matches = r.state != engine.Dead
	}
	if !matches {
		return 0, nil
	}
	return ref, r
}
