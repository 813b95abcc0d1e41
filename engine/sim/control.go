package sim

import (
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
)

// controls holds the injected faults (Config.Controls), to which events refer by index, and the ends of those begun.
type controls struct {
	all      []fault.Control
	came     []int // number of times that each control has begun
	awaits   []int // by control, the number of events that it still waits for; 0: it waits for none
	awaited  int   // number of controls that wait for an event
	ends     slab[ending]
	redrives int // number of redrives at known times still to come
}

// ending is a scheduled event that ends an injected fault (control): such as the resumption of a paused process.
type ending struct {
	kind   fault.ControlKind
	node   int32
	life   uint32        // life of the process that is paused or stopped
	limit  int           // of LimitStore
	offset time.Duration // of ShiftClock
}

// endBit, set in a pending event's ref, makes it the end of a control (an injected fault), not its beginning.
const endBit = 1 << 31

func (s *Sim) initControls(all []fault.Control) {
	c := &s.controls
	c.all, c.came = append(c.all, all...), make([]int, len(all))
	c.awaits = make([]int, len(all))
	for i := range c.all {
		if c.all[i].On != 0 {
			c.awaits[i] = max(1, c.all[i].Nth)
			c.awaited++
			continue
		}
		s.queue.push(c.all[i].At, control, uint32(i))
		if c.all[i].Kind == fault.Redrive {
			c.redrives += max(1, c.all[i].Times)
		}
	}
}

// await counts event e for the controls (injected faults) that wait for such, and schedules those that it completes.
func (s *Sim) await(e *engine.Event) {
	for i, left := range s.controls.awaits {
		c := &s.controls.all[i]
		if left == 0 || e.Kind != c.On || c.Node >= 0 && e.Node != c.Node || c.Op != 0 && e.Op != c.Op || e.Node < 0 {
			continue
		}
		if s.controls.awaits[i]--; left > 1 {
			continue
		}
		s.controls.awaited--
		if c.Before > 0 && s.now >= c.Before {
			continue
		}
		if c.Node < 0 {
			c.Node = e.Node
		}
		if c.Kind == fault.Redrive {
			s.controls.redrives += max(1, c.Times)
		}
		s.queue.push(s.now.Add(c.At.Sub(0)), control, uint32(i))
	}
}

// control handles the pending event with index ref: a control (injected fault) begins, ends or is repeated.
func (s *Sim) control(ref uint32) {
	if ref&endBit != 0 {
		e := *s.controls.ends.at(ref &^ endBit)
		s.controls.ends.release(ref &^ endBit)
		s.end(&e)
		return
	}
	c := &s.controls.all[ref]
	came := s.controls.came[ref]
	s.controls.came[ref]++
	if node := c.Node; s.begin(c, came) && s.cfg.Befell != nil {
		s.cfg.Befell(int(ref), node, s.now)
	}
	if came+1 < c.Times {
		if c.Rolls {
			c.Node = (c.Node + 1) % int32(len(s.nodes))
		}
		s.queue.push(s.now.Add(c.Every), control, ref)
	}
}

// begin begins a control (an injected fault), and reports whether it had any effect.
func (s *Sim) begin(c *fault.Control, came int) bool {
	met := true
	end := ending{kind: c.Kind, node: c.Node, offset: c.Offset, limit: c.Limit}
	switch c.Kind {
	case fault.Crash:
		if met = s.nodes[c.Node].engine != nil; met {
			s.crash(c.Node)
		}
		s.nodes[c.Node].down++
	case fault.Pause:
		n := &s.nodes[c.Node]
		if n.engine == nil {
			return false
		}
		if n.frozen++; n.frozen == 1 {
			s.unaware.put(c.Node, s.hears(n))
			s.record(engine.Event{Kind: engine.NodePause, Node: c.Node})
		}
		end.life = n.lives
		s.queue.timers.set(c.Node, engine.Never)
		n.awake = false
		s.awake.put(c.Node, false)
	case fault.StallReaper:
		s.stall(engine.OpRecover, 1)
	case fault.StallPromoter:
		s.stall(engine.OpPromote, 1)
	case fault.StallStore:
		s.admission.stalls++
	case fault.ShiftClock:
		s.shiftClock(c.Node, c.Offset)
		if met = c.Offset != 0; c.For == 0 {
			return met
		}
	case fault.LoseLeases:
		return s.loseLeases(c, came) > 0
	case fault.Redrive:
		return s.redrive(c, came) > 0
	case fault.StopNode:
		n := &s.nodes[c.Node]
		if n.engine == nil || n.frozen > 0 {
			return false
		}
		end.life = n.lives
		n.engine.Stop(s.now)
		n.stopped = true
		s.stepped(n)
	case fault.LimitStore:
		s.admission.limit(c.Limit)
	}
	s.endLater(end, c.For)
	return met
}

func (s *Sim) endLater(e ending, after time.Duration) {
	ref, end := s.controls.ends.take()
	*end = e
	s.queue.push(s.now.Add(after), control, ref|endBit)
}

func (s *Sim) end(e *ending) {
	switch e.kind {
	case fault.Crash:
		n := &s.nodes[e.node]
		if n.down--; n.down == 0 {
			s.boot(e.node)
		}
	case fault.Pause:
		if n := &s.nodes[e.node]; n.engine != nil && n.lives == e.life {
			s.thaw(e.node)
		}
	case fault.StallReaper:
		s.stall(engine.OpRecover, -1)
	case fault.StallPromoter:
		s.stall(engine.OpPromote, -1)
	case fault.StallStore:
		if s.admission.stalls--; s.admission.stalls == 0 {
			s.serveNext()
		}
	case fault.ShiftClock:
		s.shiftClock(e.node, -e.offset)
	case fault.StopNode:
		if n := &s.nodes[e.node]; n.engine != nil && n.lives == e.life {
			s.crash(e.node)
			s.boot(e.node)
		}
	case fault.LimitStore:
		s.admission.unlimit(e.limit)
		s.serveNext()
	}
}

// stall adds by (1 or -1) to the number of active faults that stop all reapers or all promoters (role), and does so.
func (s *Sim) stall(role engine.Op, by int) {
	s.stalled[role] += by
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.engine == nil {
			continue
		}
		n.engine.Stall(s.now, role, s.stalled[role] > 0)
		if n.frozen == 0 {
			s.stepped(n)
		}
	}
}

func (s *Sim) shiftClock(node int32, by time.Duration) {
	n := &s.nodes[node]
	n.ahead += by
	if n.engine == nil {
		return
	}
	n.engine.SetWallClock(s.now, n.ahead)
	if n.frozen == 0 {
		s.stepped(n)
	}
}

// happens draws whether a control (an injected fault) that hits a share of all jobs hits this one, the came-th time.
func (s *Sim) happens(c *fault.Control, job engine.JobID, came int) bool {
	return s.cfg.Rand.Uniform(keyed.ForStore, uint64(job), c.Draw, uint16(came)) < c.Share
}

// loseLeases deletes the lease records that a control (an injected fault) hits, records that, and returns their number.
func (s *Sim) loseLeases(c *fault.Control, came int) int {
	s.promoteFirst()
	lost := s.store.LoseLeases(func(job engine.JobID) bool { return s.happens(c, job, came) }, nil)
	for _, l := range lost {
		s.record(engine.Event{Kind: engine.LeaseForgotten, Class: l.Class(), JobKind: l.Kind, Tenant: l.Tenant, Job: l.ID,
			Token: l.Token, Delivery: l.Delivery, Holder: l.Holder, Age: l.Age, Node: -1})
	}
	return len(lost)
}

// redrive makes the dead jobs hit by a control (an injected fault) ready again and returns their number.
func (s *Sim) redrive(c *fault.Control, came int) int {
	s.promoteFirst()
	s.controls.redrives--
	s.promoted = s.store.Redrive(func(job engine.JobID) bool { return s.happens(c, job, came) }, c.Reset, s.promoted[:0])
	for i := range s.promoted {
		p := &s.promoted[i]
		s.record(engine.Event{Kind: engine.Redriven, Class: p.Class, JobKind: p.Kind, Tenant: p.Tenant, Job: p.Job, Node: -1})
	}
	s.rests = engine.Never
	s.wakeFor(len(s.promoted))
	return len(s.promoted)
}

// promoteFirst makes due jobs ready, and records that, before another call of the store does so without a record.
func (s *Sim) promoteFirst() {
	if s.queue.due <= s.now {
		s.becomeDue()
	}
}
