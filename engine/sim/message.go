package sim

import (
	"context"
	"slices"

	"qsim/engine"
	"qsim/engine/keyed"
)

// message is a call on its way to the store, or its answer on the way back. A freed message is reused as it is: its
// fields keep their values until they are set again.
type message struct {
	engine.Call                 // Err is at first the error with which the store answers without executing it; nil: none
	from            *node       // node whose call it is
	at              engine.Time // time at which it arrives
	seq             uint64      // sequence number of that event
	next            *message    // next one on its way
	loseReply, echo bool        // see Fate
	ref             uint32      // index in Sim.messages
}

// message returns a free message for a call of the node, to be released after its answer.
func (n *node) message() *message {
	ref, m := n.sim.messages.take()
	m.ref, m.from = ref, n
	return m
}

// Call returns a record for the engine's next call, for engine.Driver.
func (n *node) Call() *engine.Call {
	n.calling = n.message()
	return &n.calling.Call
}

// Send sends an engine's call to the store over the network, which may delay, lose or double it; for engine.Driver.
func (n *node) Send(c *engine.Call) {
	s, m := n.sim, n.calling
	if d := s.oneWay[c.Op]; d >= 0 {
		m.Err = nil
		s.queue.pushNext(&s.queue.requests, s.now+engine.Time(d), request, m)
		return
	}
	fate := s.cfg.Network.Request(s.now, c)
	if fate.LoseRequest {
		s.messages.release(m.ref)
		return
	}
	if fate.Partial > 0 {
		s.refuseSome(c, fate.Partial)
	}
	m.Err, m.loseReply, m.echo = fate.Refuse, fate.LoseReply, fate.Echo
	at := s.now.Add(fate.Delay)
	s.queue.pushNext(&s.queue.requests, at, request, m)
	if fate.Duplicate {
		twin := n.message()
		twin.CopyFrom(c)
		twin.Err, twin.loseReply, twin.echo = m.Err, m.loseReply, m.echo
		s.queue.pushNext(&s.queue.requests, at, request, twin)
	}
}

// execute executes a call at the store, records its effects, wakes nodes for jobs made ready and sends the answer back.
func (s *Sim) execute(m *message) {
	var rows *Rows
	if s.cfg.CountRows {
		s.countRows()
		rows = &s.rows
	}
	m.Execute(context.Background(), s.serves, m.Err)
	if rows != nil && m.Op == engine.OpClaim && m.Err == nil {
		s.rows.Ahead = s.store.Passed()
	}
	if s.cfg.Claimed != nil && m.Op == engine.OpClaim {
		s.cfg.Claimed(&m.Call)
	}
	m.Record(s.now, &s.witness, &s.event)
	switch m.Op {
	case engine.OpCommit:
		s.queue.due = s.store.NextDue()
		for range s.madeReady(m) {
			s.wake(1)
		}
	case engine.OpPromote:
		if len(m.Promoted) > 0 && m.Step != 1 && !s.cfg.SilentDue {
			s.wake(len(m.Promoted))
		}
	}
	if m.loseReply && len(s.admission.limits) == 0 {
		s.messages.release(m.ref)
		return
	}
	s.admission.serving++
	d := s.oneWay[m.Op]
	if d < 0 {
		d = s.cfg.Network.Reply(s.now, &m.Call, &m.Reply, rows)
	}
	s.queue.pushNext(&s.queue.replies, s.now.Add(d), reply, m)
}

// madeReady returns how many jobs a commit made claimable at once, so that nodes are woken for them.
func (s *Sim) madeReady(m *message) (n int) {
	for i := range m.Results {
		ready := s.cfg.MakesRoom
		switch m.Batch.Outcomes[i].Verb {
		case engine.Return, engine.Redo:
			ready = true
		case engine.Nack, engine.Snooze:
			ready = ready || s.cfg.Held
		}
		if ready && m.Results[i].Status == engine.Applied {
			n++
		}
	}
	return n
}

// refuseSome draws which outcomes of a commit the store leaves unapplied, under a fault that refuses a share.
func (s *Sim) refuseSome(c *engine.Call, share float64) {
	c.Batch.Outcomes = slices.Clone(c.Batch.Outcomes) // the engine may send them again
	for i := range c.Batch.Outcomes {
		o := &c.Batch.Outcomes[i]
		o.Refused = s.cfg.Rand.Uniform(keyed.ForStore, uint64(o.Job), uint64(c.ID), uint16(c.Engine.Node())) < share
	}
}

// answer handles the arrival or loss of an answer: the engine gets it, and the store may serve a call that waits.
func (s *Sim) answer(m *message) {
	s.admission.serving--
	if m.loseReply {
		s.messages.release(m.ref)
	} else {
		s.deliverReply(m)
	}
	if s.admission.line.Size() > 0 {
		s.serveNext()
	}
}

// deliverReply passes the answer to a call to the engine that made it, later if that is frozen, unless it has died.
func (s *Sim) deliverReply(m *message) {
	n := m.from
	if n.engine != nil && n.id == m.Engine {
		if n.frozen > 0 {
			n.missed = append(n.missed, deferred{answer: m})
			return
		}
		n.engine.Handle(s.now, &m.Call)
		if m.echo {
			n.engine.Handle(s.now, &m.Call)
		}
		s.stepped(n)
	}
	s.messages.release(m.ref)
}

// slab is a pool of values, to which events refer by index. It reuses freed values, and never moves a value.
type slab[T any] struct {
	items []*T
	order []uint32 // from used on, the free indexes, next first; the entries before are meaningless
	used  int      // number of indexes in use
}

func (s *slab[T]) at(ref uint32) *T { return s.items[ref] }

// take takes a free value from the pool and returns its index and the value, which holds what its last user left.
func (s *slab[T]) take() (uint32, *T) {
	if s.used == len(s.order) {
		s.grow()
	}
	ref := s.order[s.used]
	s.used++
	return ref, s.items[ref]
}

func (s *slab[T]) release(ref uint32) {
	s.used--
	s.order[s.used] = ref
}

func (s *slab[T]) grow() {
	made := make([]T, max(16, len(s.items)))
	if len(s.items)+len(made) > 1<<refBits {
		panic("sim: too many calls, executions or late jobs at once")
	}
	for i := range made {
		s.order = append(s.order, uint32(len(s.items)))
		s.items = append(s.items, &made[i])
	}
}
