package world

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// troubles holds the effects of a scenario's storms (fault windows) on nodes, calls and the store under one seed.
// Effects on attempts are in handlers, and bursts in the arrivals.
type troubles struct {
	controls []fault.Control
	faults   []fault.Fault
	slows    []fault.Slow

	// Indexes in Scenario.Storms: those of the storms behind each control, fault and slowdown.
	ofControl, ofFault, ofSlow []int
}

// equip adds the storms (injected faults) of a scenario, and its store options, to the configuration of a simulation.
func equip(sc *scenarios.Scenario, cfg *sim.Config, links *sim.Links, rand keyed.Rand) *troubles {
	t := troublesOf(sc, rand)
	cfg.Rand, cfg.Controls, cfg.Parallel = rand, t.controls, int(sc.Engine.Store.Parallel)
	cfg.Held, cfg.MakesRoom = sc.Engine.Waiting.Value(), makesRoom(sc)
	cfg.CountRows = links.Scan != [engine.NumOps]sim.RowCosts{}
	links.Rand, links.Faults, links.Slows = rand, t.faults, t.slows
	return t
}

// troublesOf returns the effects of a scenario's storms. The nodes that they hit are drawn by the seed.
func troublesOf(sc *scenarios.Scenario, rand keyed.Rand) *troubles {
	t := &troubles{}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		x := s.Effect()
		var nodes []int32 // nodes hit; nil: all of them, or the store
		if x.Nodes != nil && !x.Nodes.That {
			nodes = append([]int32{}, pickNodes(*x.Nodes, int(sc.Engine.Nodes), rand, i)...)
		}
		if x.Control != nil {
			t.addControls(s, i, *x.Control, nodes)
		}
		if x.Fault != nil {
			f := *x.Fault
			f.Window, f.Nodes = windowOf(s), nodes
			t.faults, t.ofFault = append(t.faults, f), append(t.ofFault, i)
		}
		if x.Store > 0 {
			t.slows, t.ofSlow = append(t.slows, fault.Slow{Window: windowOf(s), Factor: x.Store}), append(t.ofSlow, i)
		}
	}
	return t
}

// addControls adds the injected faults of storm i: one for each node, or for each window if it goes from node to node.
func (t *troubles) addControls(s *scenarios.Storm, i int, c fault.Control, nodes []int32) {
	add := func() { t.controls, t.ofControl = append(t.controls, c), append(t.ofControl, i) }
	if c.Rolls { // node after node, from the first on in each window
		c.Times = int((s.For.Std()-1)/c.Every) + 1
		for _, start := range s.Starts() {
			c.At = engine.Time(start)
			add()
		}
		return
	}
	c = triggered(s, c)
	c.Draw = uint64(i)
	switch {
	case nodes == nil && s.On != "":
		nodes = []int32{-1} // the node of the event
	case nodes == nil:
		nodes = []int32{0}
	}
	for _, c.Node = range nodes {
		add()
	}
}

// triggered returns the injected fault c with its trigger: the time or the event at which the storm begins.
func triggered(s *scenarios.Storm, c fault.Control) fault.Control {
	w := windowOf(s)
	c.At, c.Times, c.Every = w.From, w.Times, w.Every
	for k := engine.EventKind(1); k < engine.NumEventKinds; k++ {
		if k.String() == s.On {
			c.On, c.Nth, c.Before = k, int(s.Nth), engine.Time(s.Before)
		}
	}
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		if op.String() == s.Op {
			c.Op = op
		}
	}
	return c
}

// strike is the effect of a storm on attempts, on the limit of a dependency or on the arrival rate of a class. All
// kinds of storm share one field for a share and one for a factor, as a storm has only one of these effects.
type strike struct {
	fault.Window
	storm  int              // index in Scenario.Storms
	rate   float64          // share of the attempts that fail, hang or kill their process
	kind   engine.ErrorKind // error of those that fail
	takes  *dist.Dist       // run time of those that fail; nil: the service time
	extra  time.Duration    // time added to the run time of those that hang, which ignore cancellation
	factor float64          // factor on run times, the limit or the rate of arrivals
}

// strikeOf returns the strike of storm i, and all that its keys mean, which may be an effect on something else, such as
// processes.
func strikeOf(sc *scenarios.Scenario, i int) (strike, spec.Effect) {
	x := sc.Storms[i].Effect()
	s := strike{Window: windowOf(&sc.Storms[i]), storm: i, rate: cmp.Or(x.Fails, x.Hangs, x.Kills),
		kind: sc.ErrorKind(x.Error), takes: x.Takes.Drawn(), extra: x.Extra, factor: cmp.Or(x.Slower, x.Limit)}
	if x.Rate != nil {
		s.factor = float64(*x.Rate)
	}
	return s, x
}

func windowOf(s *scenarios.Storm) fault.Window {
	w := fault.Window{From: engine.Time(s.At), For: s.For.Std()}
	if s.Repeat != nil {
		w.Times, w.Every = int(s.Repeat.Times), s.Repeat.Every.Std()
	}
	return w
}

// skew returns the largest error of any clock in the simulation, as if all storms that shift clocks coincided.
func (s *Setup) skew() (d time.Duration) {
	for i := range s.troubles.controls {
		if c := &s.troubles.controls[i]; c.Kind == fault.ShiftClock {
			d += max(c.Offset, -c.Offset) * time.Duration(max(1, c.Times))
		}
	}
	return d
}

// level is one step of a piecewise constant factor, which holds from a time until the next level begins.
type level struct {
	from   float64 // start of the level in nanoseconds
	factor float64
}

// levels is a piecewise constant function of time, from 0 on: the product of the factors of all storms that are active.
// The times given to now must ascend.
type levels struct {
	all []level
	at  int // index of the present level
}

// levelsOf returns the product of the storms' factors as a function of time, valid up to the time until.
func levelsOf(storms []strike, until engine.Time) levels {
	var edges []engine.Time // starts and ends of windows
	for i := range storms {
		s := &storms[i]
		for k := range max(s.Times, 1) {
			from := s.From.Add(time.Duration(k) * s.Every)
			if from >= until {
				break
			}
			edges = append(edges, from, from.Add(s.For))
		}
	}
	slices.Sort(edges)
	l := levels{all: []level{{0, 1}}}
	for _, at := range slices.Compact(edges) {
		product := 1.0
		for i := range storms {
			if storms[i].Has(at) {
				product = float64(product * storms[i].factor)
			}
		}
		if last := &l.all[len(l.all)-1]; last.from == float64(at) {
			last.factor = product
		} else if last.factor != product {
			l.all = append(l.all, level{float64(at), product})
		}
	}
	return l
}

// now returns the factor at a time, which must not be before that of an earlier call, and the time until which the
// factor stays the same, Never for no end.
func (l *levels) now(at float64) (factor, until float64) {
	for l.at+1 < len(l.all) && l.all[l.at+1].from <= at {
		l.at++
	}
	if l.at+1 < len(l.all) {
		return l.all[l.at].factor, l.all[l.at+1].from
	}
	return l.all[l.at].factor, float64(engine.Never)
}
