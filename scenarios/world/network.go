package world

import (
	"slices"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"
)

// equip gives a simulation what the engine and the storms of a scenario say of the
// store and of the nodes. Which nodes a storm hits is drawn by the seed.
func equip(sc *scenarios.Scenario, cfg *sim.Config, links *sim.Links, rand engine.Rand) {
	cfg.Rand, links.Rand = rand, rand
	cfg.Parallel, cfg.Held, cfg.MakesRoom = int(sc.Engine.Store.Parallel), sc.Engine.Waiting == "held", makesRoom(sc)
	cfg.CountRows = links.Scan != [engine.NumOps]sim.RowCosts{}
	links.Faults, links.Slows, cfg.Controls = nil, nil, nil
	for i := range sc.Storms {
		s := &sc.Storms[i]
		cfg.Controls = append(cfg.Controls, controlsOf(sc, s, i, rand)...)
		if f, ok := faultOf(sc, s, i, rand); ok {
			links.Faults = append(links.Faults, f)
		}
		if s.Store != nil && s.Store.Slow != nil {
			links.Slows = append(links.Slows, sim.Slow{Window: windowOf(s), Factor: float64(*s.Store.Slow)})
		}
	}
}

// windowOf is when s is.
func windowOf(s *scenarios.Storm) sim.Window {
	w := sim.Window{From: engine.Time(s.At), For: s.For.Std()}
	if s.Repeat != nil {
		w.Times, w.Every = int(s.Repeat.Times), s.Repeat.Every.Std()
	}
	return w
}

// faultOf is what storm i does to calls; ok is false if that is nothing.
func faultOf(sc *scenarios.Scenario, s *scenarios.Storm, i int, rand engine.Rand) (f sim.Fault, ok bool) {
	f.Window = windowOf(s)
	nodes := func(which *scenarios.Nodes) []int32 {
		if which == nil {
			return nil
		}
		return append([]int32{}, pickNodes(*which, int(sc.Engine.Nodes), rand, i)...) // not nil: that is all
	}
	every := func(ops ...engine.Op) {
		for _, op := range ops {
			f.Ops[op] = true
		}
	}
	switch {
	case s.Heartbeats != nil:
		every(engine.OpExtend)
		f.LoseRequest, f.Nodes = s.Heartbeats.Lose.Float(), nodes(s.Heartbeats.Nodes)
	case s.Calls != nil:
		every(opsOf(s.Calls)...)
		f.LoseRequest, f.LoseReply, f.Duplicate, f.Error = s.Calls.LoseRequest.Float(), s.Calls.LoseReply.Float(), s.Calls.Duplicate.Float(), s.Calls.Error.Float()
		f.Delay, f.Nodes = distOf(s.Calls.Delay), nodes(s.Calls.Nodes)
	case s.Store != nil && s.Store.Error != nil:
		every(allCalls()...)
		f.Error = s.Store.Error.Float()
	case s.Store != nil && s.Store.Partial != nil:
		every(engine.OpCommit)
		f.Partial = s.Store.Partial.Float()
	default:
		return sim.Fault{}, false
	}
	return f, true
}

// opsOf are the calls that a storm disturbs.
func opsOf(s *scenarios.CallStorm) []engine.Op {
	if len(s.Ops) == 0 {
		return allCalls()
	}
	var ops []engine.Op
	for _, op := range allCalls() {
		if slices.Contains(s.Ops, op.String()) {
			ops = append(ops, op)
		}
	}
	return ops
}

func allCalls() []engine.Op {
	var ops []engine.Op
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		ops = append(ops, op)
	}
	return ops
}

// controlsOf are what storm i does to nodes and to the store.
func controlsOf(sc *scenarios.Scenario, s *scenarios.Storm, i int, rand engine.Rand) []sim.Control {
	w := windowOf(s)
	c := sim.Control{At: w.From, For: w.For, Times: w.Times, Every: w.Every, Draw: uint64(i)}
	var which scenarios.Nodes
	switch {
	case s.Crash != nil:
		c.Kind, c.For, which = sim.Crash, s.Crash.RestartAfter.Std(), s.Crash.Nodes
	case s.Rolling != nil:
		return rolling(s)
	case s.Pause != nil:
		c.Kind, which = sim.Pause, s.Pause.Nodes
	case s.Clock != nil:
		c.Kind, which = sim.ShiftClock, s.Clock.Nodes
		if s.Clock.Skew != nil {
			c.Offset = s.Clock.Skew.Std()
		} else {
			c.Offset, c.For = s.Clock.Jump.Std(), 0
		}
	case s.Store != nil && s.Store.Stall:
		c.Kind = sim.StallStore
		return []sim.Control{c}
	case s.Reaper != nil:
		c.Kind = sim.StallReaper
		return []sim.Control{c}
	case s.Promoter != nil:
		c.Kind = sim.StallPromoter
		return []sim.Control{c}
	case s.Leases != nil:
		c.Kind, c.Share = sim.LoseLeases, s.Leases.Lose.Float()
		return []sim.Control{c}
	case s.Redrive != nil:
		c.Kind, c.Share, c.Reset = sim.Redrive, s.Redrive.Share.Float(), s.Redrive.Reset
		return []sim.Control{c}
	default:
		return nil
	}
	var all []sim.Control
	for _, node := range pickNodes(which, int(sc.Engine.Nodes), rand, i) {
		c.Node = node
		all = append(all, c)
	}
	return all
}

// rolling kills one node after the other in each window of s, from the first node on.
func rolling(s *scenarios.Storm) []sim.Control {
	every := s.Rolling.Every.Std()
	kills := int((s.For.Std()-1)/every) + 1
	var all []sim.Control
	for _, start := range s.Starts() {
		all = append(all, sim.Control{Kind: sim.Crash, At: engine.Time(start), For: s.Rolling.RestartAfter.Std(), Times: kills, Every: every, Rolls: true})
	}
	return all
}
