package world

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/scenarios"
)

// troubles are what the storms of a scenario do to nodes, calls and the store under one seed. What they do to attempts is
// with the handlers, and what they bring with the arrivals.
type troubles struct {
	controls []sim.Control
	faults   []sim.Fault
	slows    []sim.Slow

	// The storm that each of them comes of, as an index of Scenario.Storms.
	ofControl, ofFault, ofSlow []int
}

// equip gives a simulation what the engine and the storms of a scenario say of the store and of the nodes.
func equip(sc *scenarios.Scenario, cfg *sim.Config, links *sim.Links, rand keyed.Rand) *troubles {
	t := troublesOf(sc, rand)
	cfg.Rand, cfg.Controls, cfg.Parallel, cfg.Held, cfg.MakesRoom = rand, t.controls, int(sc.Engine.Store.Parallel), sc.Engine.Waiting.Value(), makesRoom(sc)
	cfg.CountRows = links.Scan != [engine.NumOps]sim.RowCosts{}
	links.Rand, links.Faults, links.Slows = rand, t.faults, t.slows
	return t
}

func troublesOf(sc *scenarios.Scenario, rand keyed.Rand) *troubles {
	t := &troubles{}
	for i := range sc.Storms {
		t.add(sc, i, rand)
	}
	return t
}

// add adds what storm i does. Which nodes it hits is drawn by the seed.
func (t *troubles) add(sc *scenarios.Scenario, i int, rand keyed.Rand) {
	s := &sc.Storms[i]
	nodes := func(which *scenarios.Nodes) []int32 {
		if which == nil {
			return nil
		}
		return append([]int32{}, pickNodes(*which, int(sc.Engine.Nodes), rand, i)...) // not nil: that is all
	}
	control := func(c sim.Control, which *scenarios.Nodes) {
		all := []int32{c.Node}
		switch {
		case s.On != "" && (which == nil || which.That):
			all[0] = -1
		case which != nil:
			all = nodes(which)
		}
		c = triggered(s, c)
		c.Draw = uint64(i)
		for _, c.Node = range all {
			t.controls, t.ofControl = append(t.controls, c), append(t.ofControl, i)
		}
	}
	lasts := s.For.Std()
	trouble, _ := s.Trouble()
	switch x := trouble.(type) {
	case *scenarios.CrashStorm:
		control(sim.Control{Kind: sim.Crash, For: x.RestartAfter.Std()}, &x.Nodes)
	case *scenarios.StopStorm:
		control(sim.Control{Kind: sim.StopNode, For: x.Grace.Std()}, &x.Nodes)
	case *scenarios.RollingStorm:
		every := x.Every.Std()
		for _, start := range s.Starts() { // from the first node on in each window
			t.controls = append(t.controls, sim.Control{Kind: sim.Crash, At: engine.Time(start), For: x.RestartAfter.Std(),
				Times: int((lasts-1)/every) + 1, Every: every, Rolls: true})
			t.ofControl = append(t.ofControl, i)
		}
	case *scenarios.PauseStorm:
		control(sim.Control{Kind: sim.Pause, For: lasts}, &x.Nodes)
	case *scenarios.ClockStorm:
		if x.Skew != nil {
			control(sim.Control{Kind: sim.ShiftClock, For: lasts, Offset: x.Skew.Std()}, &x.Nodes)
		} else {
			control(sim.Control{Kind: sim.ShiftClock, Offset: x.Jump.Std()}, &x.Nodes)
		}
	case *scenarios.ReaperStorm:
		control(sim.Control{Kind: sim.StallReaper, For: lasts}, nil)
	case *scenarios.PromoterStorm:
		control(sim.Control{Kind: sim.StallPromoter, For: lasts}, nil)
	case *scenarios.LeaseStorm:
		control(sim.Control{Kind: sim.LoseLeases, For: lasts, Share: x.Lose.Float()}, nil)
	case *scenarios.RedriveStorm:
		control(sim.Control{Kind: sim.Redrive, For: lasts, Share: x.Share.Float(), Reset: x.Reset}, nil)
	case *scenarios.StoreStorm:
		switch {
		case x.Stall:
			control(sim.Control{Kind: sim.StallStore, For: lasts}, nil)
		case x.Parallel != nil:
			control(sim.Control{Kind: sim.LimitStore, For: lasts, Limit: int(*x.Parallel)}, nil)
		}
	}
	t.addCalls(s, i, trouble, nodes)
}

// addCalls adds what storm i does to calls.
func (t *troubles) addCalls(s *scenarios.Storm, i int, trouble scenarios.Trouble, nodes func(*scenarios.Nodes) []int32) {
	fault := func(f sim.Fault, ops ...engine.Op) {
		f.Window = windowOf(s)
		for _, op := range ops {
			f.Ops[op] = true
		}
		t.faults, t.ofFault = append(t.faults, f), append(t.ofFault, i)
	}
	switch x := trouble.(type) {
	case *scenarios.HeartbeatStorm:
		fault(sim.Fault{LoseRequest: x.Lose.Float(), Nodes: nodes(x.Nodes)}, engine.OpExtend)
	case *scenarios.CallStorm:
		fault(sim.Fault{LoseRequest: x.LoseRequest.Float(), LoseReply: x.LoseReply.Float(), Duplicate: x.Duplicate.Float(), Error: x.Error.Float(),
			Delay: distOf(x.Delay), Nodes: nodes(x.Nodes)}, opsOf(x.Ops)...)
	case *scenarios.StoreStorm:
		switch {
		case x.Slow != nil:
			t.slows, t.ofSlow = append(t.slows, sim.Slow{Window: windowOf(s), Factor: float64(*x.Slow)}), append(t.ofSlow, i)
		case x.Error != nil:
			fault(sim.Fault{Error: x.Error.Float()}, opsOf(nil)...)
		case x.Partial != nil:
			fault(sim.Fault{Partial: x.Partial.Float()}, engine.OpCommit)
		}
	}
}

// triggered is c when s is.
func triggered(s *scenarios.Storm, c sim.Control) sim.Control {
	w := windowOf(s)
	c.At, c.Times, c.Every = w.From, w.Times, w.Every
	for k := engine.EventKind(1); k < engine.NumEventKinds; k++ {
		if k.String() == s.On {
			c.On, c.Nth, c.Before = k, int(s.Nth), engine.Time(s.Before)
		}
	}
	if s.Op != "" {
		c.Op = opsOf([]string{s.Op})[0]
	}
	return c
}

// windowOf is when s is.
func windowOf(s *scenarios.Storm) sim.Window {
	w := sim.Window{From: engine.Time(s.At), For: s.For.Std()}
	if s.Repeat != nil {
		w.Times, w.Every = int(s.Repeat.Times), s.Repeat.Every.Std()
	}
	return w
}

// opsOf are the calls of those names; none: all calls.
func opsOf(names []string) (ops []engine.Op) {
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		if len(names) == 0 || slices.Contains(names, op.String()) {
			ops = append(ops, op)
		}
	}
	return ops
}

// has reports whether one of the controls is of that kind.
func (t *troubles) has(kind sim.ControlKind) bool {
	for i := range t.controls {
		if t.controls[i].Kind == kind {
			return true
		}
	}
	return false
}

// skew is how far wall clocks are off at the most, with what storms add up to.
func (t *troubles) skew() (d time.Duration) {
	for i := range t.controls {
		if c := &t.controls[i]; c.Kind == sim.ShiftClock {
			d += max(c.Offset, -c.Offset) * time.Duration(max(1, c.Times))
		}
	}
	return d
}
