package sim

import (
	"context"

	"qsim/engine"
)

// message is a call on its way to the store and its answer on the way back.
type message struct {
	call     engine.Call
	answer   engine.Reply
	fate     Fate
	terms    []engine.Term
	outcomes []engine.Outcome
	leases   []engine.LeaseKey
	jobs     []engine.JobID
}

// send gives a call to the network. The engine's slices are copied.
func (s *Sim) send(c *engine.Call) {
	fate := s.cfg.Network.Request(s.now, c)
	if fate.LoseRequest {
		return
	}
	copies := 1
	if fate.Duplicate {
		copies = 2
	}
	for range copies {
		ref := s.messages.alloc()
		m := s.messages.at(ref)
		m.call, m.fate = *c, fate
		switch c.Op { // of the slices, each op has its own
		case engine.OpClaim:
			m.terms = append(m.terms[:0], c.Plan.Terms...)
			m.call.Plan.Terms = m.terms
		case engine.OpCommit:
			m.outcomes = append(m.outcomes[:0], c.Batch.Outcomes...)
			m.call.Batch.Outcomes = m.outcomes
		case engine.OpExtend:
			m.leases = append(m.leases[:0], c.Leases...)
			m.call.Leases = m.leases
		}
		if c.Jobs != nil {
			m.jobs = append(m.jobs[:0], c.Jobs...)
			m.call.Jobs = m.jobs
		}
		s.queue.pushNext(s.now.Add(fate.Delay), request, ref)
	}
}

// deliver executes a call at the store and sends the answer back.
func (s *Sim) deliver(ref uint32) {
	m := s.messages.at(ref)
	if m.fate.Partial > 0 {
		s.refuseSome(m)
	}
	var rows *Rows
	if s.cfg.CountRows {
		s.countRows()
		rows = &s.rows
	}
	m.call.Execute(context.Background(), s.store, &m.answer, m.fate.Refuse)
	if rows != nil && m.call.Op == engine.OpClaim && m.answer.Err == nil {
		s.countAhead()
	}
	m.call.Record(s.now, &m.answer, s, &s.event)
	switch m.call.Op {
	case engine.OpCommit:
		s.nextDue = s.store.NextDue()
		for n := s.madeReady(m); n > 0; n-- {
			s.wake()
			m = s.messages.at(ref)
		}
	case engine.OpPromote:
		if len(m.answer.Promoted) > 0 && m.call.Step != engine.StepTake {
			s.wakeFor(len(m.answer.Promoted))
			m = s.messages.at(ref)
		}
	}
	s.gate.serving++
	if m.fate.LoseReply && s.gate.parallel == 0 {
		s.gate.serving--
		s.messages.release(ref)
		return
	}
	s.queue.pushNext(s.now.Add(s.cfg.Network.Reply(s.now, &m.call, &m.answer, rows)), reply, ref)
}

// madeReady is how many jobs may be claimed now by what a commit did.
func (s *Sim) madeReady(m *message) int {
	n := 0
	for i := range m.answer.Results {
		if r := &m.answer.Results[i]; r.Status == engine.Applied && m.makesReady(i, s.cfg.Held, s.cfg.MakesRoom) {
			n++
		}
	}
	return n
}

// makesReady reports whether the i-th outcome of m made a job ready at once, or made
// room for one.
func (m *message) makesReady(i int, held, makesRoom bool) bool {
	switch m.outcomes[i].Verb {
	case engine.Return, engine.Redo:
		return true
	case engine.Nack, engine.Snooze:
		return held || makesRoom
	}
	return makesRoom
}

// refuseSome draws which outcomes of a commit the store refuses.
func (s *Sim) refuseSome(m *message) {
	for i := range m.outcomes {
		o := &m.outcomes[i]
		o.Refused = s.cfg.Rand.Uniform(engine.ForStore, uint64(o.Job), uint64(m.call.ID), uint16(m.call.Engine.Node())) < m.fate.Partial
	}
}

// answer is a reply that arrives, or is lost on its last step: who waits at the store may
// be served.
func (s *Sim) answer(ref uint32) {
	s.gate.serving--
	if s.messages.at(ref).fate.LoseReply {
		s.messages.release(ref)
	} else {
		s.hand(ref)
	}
	s.serveNext()
}

// hand gives a reply to the engine that asked, if it still lives.
func (s *Sim) hand(ref uint32) {
	m := s.messages.at(ref)
	i := m.call.Engine.Node()
	n := &s.nodes[i]
	if n.engine != nil && n.id == m.call.Engine {
		if n.frozen > 0 {
			n.missed = append(n.missed, deferred{rank: reply, ref: ref})
			return
		}
		n.engine.Handle(s.now, &m.answer)
		s.apply(i)
	}
	s.messages.release(ref)
}

// slab keeps values that events refer to by index, and reuses freed ones. A
// pointer into it is good until the next alloc.
type slab[T any] struct {
	items []T
	free  []uint32
	used  int
}

func (s *slab[T]) at(ref uint32) *T { return &s.items[ref] }

func (s *slab[T]) alloc() uint32 {
	s.used++
	if n := len(s.free); n > 0 {
		ref := s.free[n-1]
		s.free = s.free[:n-1]
		return ref
	}
	var zero T
	s.items = append(s.items, zero)
	return uint32(len(s.items) - 1)
}

func (s *slab[T]) release(ref uint32) {
	s.used--
	s.free = append(s.free, ref)
}
