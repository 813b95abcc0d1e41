package sim

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
)

// controls holds the injected faults (Config.Controls), and what is to be done at their beginnings and ends.
type controls struct {
	all      []fault.Control // those that wait for an event count its occurrences down, in Nth
	awaiting []int           // indexes of the controls that wait for an event
	planned  slab[func()]    // beginnings and ends to come
	redrives int             // number of redrives among them
}

func (s *Sim) initControls(all []fault.Control) {
	s.controls.all = slices.Clone(all)
	for i := range all {
		if all[i].On != 0 {
			s.controls.awaiting = append(s.controls.awaiting, i)
		} else {
			s.schedule(i, 0, all[i].At)
		}
	}
}

// plan schedules do, the beginning or the end of an injected fault, for the time at.
func (s *Sim) plan(at engine.Time, do func()) {
	ref, planned := s.controls.planned.take()
	*planned = do
	s.queue.push(at, control, ref)
}

// after schedules end, which ends the injected fault that begins now, for when it has lasted that time.
func (s *Sim) after(lasts time.Duration, end func()) { s.plan(s.now.Add(lasts), end) }

// schedule lets a control (an injected fault), given by its index, begin at the time at, after it has come came times.
func (s *Sim) schedule(i, came int, at engine.Time) {
	c := &s.controls.all[i]
	if c.Kind == fault.Redrive {
		s.controls.redrives++
	}
	s.plan(at, func() {
		if node := c.Node; s.begin(c, came) && s.cfg.Befell != nil {
			s.cfg.Befell(i, node, s.now)
		}
		if came+1 < c.Times {
			if c.Rolls {
				c.Node = (c.Node + 1) % int32(len(s.nodes))
			}
			s.schedule(i, came+1, s.now.Add(c.Every))
		}
	})
}

// await counts event e for the controls (injected faults) that wait for such, and schedules those that it completes.
func (s *Sim) await(e *engine.Event) {
	s.controls.awaiting = slices.DeleteFunc(s.controls.awaiting, func(i int) (completed bool) {
		c := &s.controls.all[i]
		if e.Kind != c.On || c.Node >= 0 && e.Node != c.Node || c.Op != 0 && e.Op != c.Op || e.Node < 0 {
			return false
		}
		if c.Nth--; c.Nth > 0 {
			return false
		}
		if c.Before == 0 || s.now < c.Before {
			c.Node = e.Node
			s.schedule(i, 0, s.now.Add(c.At.Sub(0)))
		}
		return true
	})
}

// begin begins a control (an injected fault), schedules its end, and reports whether it had any effect.
func (s *Sim) begin(c *fault.Control, came int) bool {
	switch c.Kind {
	case fault.StallReaper:
		s.stall(engine.OpRecover, c.For)
	case fault.StallPromoter:
		s.stall(engine.OpPromote, c.For)
	case fault.StallStore:
		s.limit(0, c.For)
	case fault.LimitStore:
		s.limit(c.Limit, c.For)
	case fault.LoseLeases:
		return s.loseLeases(c, came) > 0
	case fault.Redrive:
		return s.redrive(c, came) > 0
	default:
		return s.strike(&s.nodes[c.Node], c)
	}
	return true
}

// strike begins a control (an injected fault) of a node, schedules its end, and reports whether it had any effect.
func (s *Sim) strike(n *node, c *fault.Control) bool {
	up, life := n.engine != nil, n.lives
	switch c.Kind {
	case fault.Crash:
		if up {
			s.crash(n.index)
		}
		s.keepDown(n, c.For)
	case fault.Pause:
		if up {
			s.pause(n)
			s.after(c.For, func() {
				if n.engine != nil && n.lives == life {
					s.thaw(n.index)
				}
			})
		}
	case fault.StopNode:
		if up = up && n.frozen == 0; up {
			n.engine.Stop(s.now)
			n.stopped = true
			s.stepped(n)
			s.after(c.For, func() {
				if n.engine != nil && n.lives == life {
					s.crash(n.index)
					s.boot(n.index)
				}
			})
		}
	case fault.ShiftClock:
		s.shiftClock(n, c.Offset)
		if c.For > 0 {
			s.after(c.For, func() { s.shiftClock(n, -c.Offset) })
		}
		return c.Offset != 0
	}
	return up
}

// keepDown keeps a node whose process has died from starting another until that time has passed.
func (s *Sim) keepDown(n *node, lasts time.Duration) {
	n.down++
	s.after(lasts, func() {
		if n.down--; n.down == 0 {
			s.boot(n.index)
		}
	})
}

// pause freezes the process of a node once more: it goes on when all pauses have ended.
func (s *Sim) pause(n *node) {
	if n.frozen++; n.frozen == 1 {
		s.unaware.put(n.index, s.hears(n))
		s.record(engine.Event{Kind: engine.NodePause, Node: n.index})
	}
	n.act(engine.Never)
	n.awake = false
	s.awake.put(n.index, false)
}

// stall stops all reapers or all promoters (role) until that time has passed and no other such fault is active.
func (s *Sim) stall(role engine.Op, lasts time.Duration) {
	count := func(by int) {
		s.stalled[role] += by
		for i := range s.nodes {
			s.adjust(&s.nodes[i], func(e *engine.Engine) { e.Stall(s.now, role, s.stalled[role] > 0) })
		}
	}
	count(1)
	s.after(lasts, func() { count(-1) })
}

func (s *Sim) shiftClock(n *node, by time.Duration) {
	n.ahead += by
	s.adjust(n, func(e *engine.Engine) { e.SetWallClock(s.now, n.ahead) })
}

// adjust changes the engine of a node, if that is up, even while its process is frozen.
func (s *Sim) adjust(n *node, change func(e *engine.Engine)) {
	if n.engine == nil {
		return
	}
	if change(n.engine); n.frozen == 0 {
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
	s.wake(len(s.promoted))
	return len(s.promoted)
}

// promoteFirst makes due jobs ready, and records that, before another call of the store does so without a record.
func (s *Sim) promoteFirst() {
	if s.queue.due <= s.now {
		s.becomeDue()
	}
}
