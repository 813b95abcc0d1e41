package sim

import "qsim/engine"

// boot starts a process on node i: a new life, with a new engine and policy.
func (s *Sim) boot(i int32) {
	n := &s.nodes[i]
	cfg := s.cfg.Nodes[i]
	n.id = engine.NewEngineID(i, n.lives)
	n.lives++
	n.stopped = false
	cfg.Engine, cfg.Policy, cfg.Recorder = n.id, s.cfg.Policy(i), &s.witness
	n.engine = engine.New(cfg, n, s.now)
	if n.ahead != 0 {
		n.engine.SetWallClock(s.now, n.ahead)
	}
	for role, stalls := range s.stalled {
		n.engine.Stall(s.now, engine.Op(role), stalls > 0)
	}
	s.record(engine.Event{Kind: engine.NodeUp, Node: i})
	s.stepped(n)
}

// crash kills the process of node i: its executions are aborted, its engine is gone, and its leases are left to expire.
func (s *Sim) crash(i int32) {
	n := &s.nodes[i]
	s.unaware.put(i, false)
	n.engine, n.frozen, n.told = nil, 0, false
	n.act(engine.Never)
	n.awake = false
	s.awake.put(i, false)
	for _, at := range n.runs {
		if at == 0 {
			continue
		}
		r := s.runs.at(at - 1)
		s.record(engine.Event{Kind: engine.Aborted, Node: i, Slot: r.slot, Job: r.job.ID, JobKind: r.job.Kind,
			Tenant: r.job.Tenant, Class: r.job.Class(), Delivery: r.job.Delivery, Ran: s.now.Sub(r.started)})
		s.cfg.Handlers.End(s.now, i, r.job, engine.Canceled, true)
		s.endRun(at-1, r)
	}
	s.passMissed(n) // to nobody
	s.record(engine.Event{Kind: engine.NodeDown, Node: i})
}

// passMissed passes on the inputs that arrived while the process of a node was frozen; they are void if it has died.
func (s *Sim) passMissed(n *node) {
	missed := n.missed
	n.missed = nil
	for _, m := range missed {
		if m.answer != nil {
			s.deliverReply(m.answer)
		} else {
			s.finish(m.key)
		}
	}
}

// thaw ends a pause of node i. After the last one the process gets all inputs that it missed, in order, then a wake.
func (s *Sim) thaw(i int32) {
	n := &s.nodes[i]
	if n.frozen--; n.frozen > 0 {
		return
	}
	s.unaware.put(i, false)
	s.record(engine.Event{Kind: engine.NodeWake, Node: i})
	s.passMissed(n)
	told, hears := n.told, n.engine != nil && s.hears(n)
	if n.told = false; told && hears {
		n.engine.Wake(s.now)
	}
	if n.engine != nil {
		s.stepped(n)
	}
	if told && !hears && s.cfg.Wake == WakeOne {
		s.announce(1) // another node may use the wake
	}
}

// tellFrozen makes frozen nodes with idle workers remember a wake for when they go on: all of them or, with WakeOne,
// the first that has none to remember.
func (s *Sim) tellFrozen() {
	for i := s.unaware.from(0); i >= 0; i = s.unaware.from(i + 1) {
		s.nodes[i].told = true
		s.unaware.put(int32(i), false)
		if s.cfg.Wake == WakeOne {
			return
		}
	}
}

// stepped must follow every input to an engine: it sets the timer of the node, and whether the node can be woken.
func (s *Sim) stepped(n *node) {
	if s.plain {
		s.queue.timers.first = max(s.now, n.engine.Due())
	} else {
		n.update()
	}
}

// update does what stepped does, in runs with several nodes or with late deadlines.
func (n *node) update() {
	s, due := n.sim, n.engine.Due()
	if s.cfg.Late != nil {
		due = s.notices(n, due)
	}
	if due = max(s.now, due); due != n.due { // it was due long ago in a frozen process
		n.act(due)
	}
	if s.single {
		return
	}
	if hears := s.hears(n); hears != n.awake {
		n.awake = hears
		s.awake.put(n.index, hears)
	}
}

// act sets the time at which a node has to act.
func (n *node) act(due engine.Time) {
	n.due = due
	n.sim.queue.timers.set(n.index, due)
}

// hears reports whether a running node is to be woken for new ready jobs: it has idle workers, or debounces wakes.
func (s *Sim) hears(n *node) bool {
	return !n.stopped && (n.engine.Idle() > 0 || s.cfg.Wake == WakeAll && s.cfg.Nodes[n.index].Fetch.Debounce)
}

// Start begins the execution of a leased job in a slot: Handlers decides how long it runs; for engine.Driver.
func (n *node) Start(slot engine.Slot, l *engine.Lease) {
	s := n.sim
	ref, r := s.runs.take()
	r.plan = s.cfg.Handlers.Begin(s.now, n.index, &l.Job)
	r.job, r.node, r.slot, r.started = &l.Job, n, slot, s.now
	r.key = s.queue.pushFinish(s.now.Add(r.plan.Runs), ref)
	for len(n.runs) <= int(slot) {
		n.runs = append(n.runs, 0)
	}
	n.runs[slot] = ref + 1
}

// Cancel ends an execution now with error why, unless its handler ignores cancellation; for engine.Driver.
func (n *node) Cancel(slot engine.Slot, why engine.ErrorKind) {
	at := n.runs[slot]
	if at == 0 {
		return
	}
	if r := n.sim.runs.at(at - 1); !r.plan.IgnoresCancel {
		r.plan.Error, r.plan.Kills, r.plan.Undecided = why, false, false
		r.key = n.sim.queue.pushFinish(n.sim.now, at-1) // the earlier event is void
	}
}

// finish handles the event with that key, the end of an execution, unless it is void: the execution was cancelled or
// died. The engine learns of the end, or the process dies if that is the execution's effect.
func (s *Sim) finish(key uint64) {
	ref := runOf(key)
	r := s.runs.at(ref)
	if r.key != key {
		return // the execution was cancelled or died, and the slot may have another
	}
	n := r.node
	if n.frozen > 0 {
		n.missed = append(n.missed, deferred{key: key})
		return
	}
	if r.plan.Kills {
		s.crash(n.index)
		s.keepDown(n, s.cfg.Restart)
		return
	}
	if r.plan.Undecided {
		r.plan.Error = s.cfg.Handlers.(Judge).Decide(s.now, n.index, r.job)
	}
	slot, err, ran := r.slot, r.plan.Error, s.now.Sub(r.started)
	s.cfg.Handlers.End(s.now, n.index, r.job, err, false)
	s.endRun(ref, r)
	n.engine.Finish(s.now, slot, err, ran)
	s.stepped(n)
	if f := &s.queue.finishes; s.runs.used > 1000 && f.First != engine.Never {
		// So many do not stay in the processor's cache: the next is fetched while other events are handled.
		_ = *s.runs.at(runOf(f.Next())).job
	}
}

// endRun removes an execution that has ended from its node, and frees its record r, which has the number ref.
func (s *Sim) endRun(ref uint32, r *run) {
	r.key = 0
	r.node.runs[r.slot] = 0
	s.runs.release(ref)
}
