package sim

import "qsim/engine"

// boot starts a process: a new life with an empty memory.
func (s *Sim) boot(i int32) {
	n := &s.nodes[i]
	cfg := s.cfg.Nodes[i]
	n.id = engine.NewEngineID(i, n.lives)
	n.lives++
	cfg.Engine, cfg.Policy, cfg.Recorder = n.id, s.cfg.Policy(i), s
	n.engine = engine.New(cfg, s.now)
	if n.ahead != 0 {
		n.engine.SetWallClock(s.now, n.ahead)
	}
	for role, stalls := range s.stalled {
		n.engine.Stall(s.now, engine.Role(role), stalls > 0)
	}
	s.report(engine.NodeUp, i)
	s.apply(i)
}

// crash ends a process with all it holds.
func (s *Sim) crash(i int32) {
	n := &s.nodes[i]
	n.engine, n.frozen = nil, 0
	for _, m := range n.missed {
		if m.rank == reply {
			s.messages.release(m.ref)
		}
	}
	n.missed = n.missed[:0]
	s.timers.set(i, engine.Never)
	for _, at := range n.runs {
		if at == 0 {
			continue
		}
		r := s.runs.at(at - 1)
		s.event = engine.Event{Kind: engine.Aborted, Node: i, Slot: r.slot, Job: r.job.ID, JobKind: r.job.Kind, Tenant: r.job.Tenant,
			Class: r.job.Class(), Delivery: r.job.Delivery, Ran: s.now.Sub(r.started)}
		s.Record(&s.event)
		s.cfg.Handlers.End(s.now, i, &r.job, engine.Canceled, true)
		s.endRun(at - 1)
	}
	s.report(engine.NodeDown, i)
}

// thaw lets a frozen process go on: what it missed reaches it now, in order.
func (s *Sim) thaw(i int32) {
	n := &s.nodes[i]
	if n.frozen--; n.frozen > 0 {
		return
	}
	s.report(engine.NodeWake, i)
	missed := n.missed
	n.missed = nil
	for _, m := range missed {
		if m.rank == reply {
			s.hand(m.ref)
		} else {
			s.finish(m.ref, m.order)
		}
	}
	if n.engine != nil {
		s.setTimer(i)
	}
}

// setTimer takes over the deadline of an engine that nothing was asked of.
func (s *Sim) setTimer(i int32) {
	if n := &s.nodes[i]; n.frozen == 0 {
		s.timers.set(i, max(s.now, n.engine.Deadline()))
	}
}

func (s *Sim) report(k engine.EventKind, node int32) {
	s.event = engine.Event{Kind: k, Node: node}
	s.Record(&s.event)
}

// apply carries out the effects of node i's last step.
func (s *Sim) apply(i int32) {
	n := &s.nodes[i]
	effects := n.engine.Effects()
	for k := range effects.Calls {
		s.send(&effects.Calls[k])
	}
	for k := range effects.Starts {
		s.start(i, &effects.Starts[k])
	}
	for _, c := range effects.Cancels {
		s.cancel(i, c)
	}
	s.timers.set(i, max(s.now, n.engine.Deadline())) // long past in a process that was frozen
}

func (s *Sim) start(i int32, st *engine.Start) {
	plan := s.cfg.Handlers.Begin(s.now, i, &st.Job)
	ref := s.runs.alloc()
	r := s.runs.at(ref)
	r.job, r.node, r.slot, r.started, r.plan = st.Job, i, st.Slot, s.now, plan
	r.order = s.queue.push(s.now.Add(plan.Runs), finish, ref)
	s.running++
	n := &s.nodes[i]
	for len(n.runs) <= int(st.Slot) {
		n.runs = append(n.runs, 0)
	}
	n.runs[st.Slot] = ref + 1
}

// cancel ends a run now, unless its handler does not listen.
func (s *Sim) cancel(i int32, c engine.Cancel) {
	at := s.nodes[i].runs[c.Slot]
	if at == 0 {
		return
	}
	if r := s.runs.at(at - 1); !r.plan.IgnoresCancel {
		r.plan.Error, r.plan.Kills, r.plan.Undecided = c.Error, false, false
		r.order = s.queue.push(s.now, finish, at-1) // the earlier event is void
	}
}

// finish ends the run that an event of that order was for, if it is still going.
func (s *Sim) finish(ref uint32, order uint64) {
	r := s.runs.at(ref)
	if r.order != order {
		return // it was canceled or has died, and the slot may be another's
	}
	n := &s.nodes[r.node]
	if n.frozen > 0 {
		n.missed = append(n.missed, deferred{finish, ref, order})
		return
	}
	if r.plan.Kills {
		node := r.node
		s.crash(node)
		n.down++
		s.endLater(ending{kind: Crash, node: node}, s.cfg.Restart)
		return
	}
	if r.plan.Undecided {
		r.plan.Error = s.cfg.Handlers.(Judge).Decide(s.now, r.node, &r.job)
	}
	node, slot, err, ran := r.node, r.slot, r.plan.Error, s.now.Sub(r.started)
	s.cfg.Handlers.End(s.now, node, &r.job, err, false)
	s.endRun(ref)
	n.engine.Finish(s.now, slot, err, ran)
	s.apply(node)
}

func (s *Sim) endRun(ref uint32) {
	r := s.runs.at(ref)
	r.order = 0
	s.nodes[r.node].runs[r.slot] = 0
	s.runs.release(ref)
	s.running--
}
