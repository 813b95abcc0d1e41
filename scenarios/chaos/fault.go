package chaos

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/sim"
)

// FaultKind is a kind of trouble.
type FaultKind uint8

// The kinds of trouble.
const (
	Crash         FaultKind = iota + 1 // the process of Node dies; For later it starts again
	Stop                               // the process of Node is told to stop; For later it is gone
	Pause                              // the process of Node freezes
	Skew                               // the wall clock of Node is ahead by Offset, for For; 0: for good
	StallStore                         // calls wait at the store
	StallReaper                        // nobody looks for expired leases
	StallPromoter                      // nobody promotes
	Pool                               // the store serves at most Limit calls at once
	LoseLeases                         // the store loses lease records of a Share of the jobs in flight
	Redrive                            // a Share of the dead jobs is made ready again
	Calls                              // calls are lost, doubled, refused, late
	SlowStore                          // all that the store costs is multiplied by Factor
	Fail                               // a Share of the attempts fails
	Slow                               // run times are multiplied by Factor
	Hang                               // a Share of the attempts takes Extra longer, and does not listen
	Overload                           // a Share of the attempts fails that begin when over Limit run
	Kill                               // a Share of the jobs kills its process at every attempt
	Burst                              // Count jobs come at once, delayed by Extra
	numFaultKinds
)

var faultNames = [numFaultKinds]string{"?", "crash", "stop", "pause", "skew", "stall-store", "stall-reaper", "stall-promoter", "pool", "lose-leases", "redrive",
	"calls", "slow-store", "fail", "slow", "hang", "overload", "kill", "burst"}

// String returns the kind as texts spell it.
func (k FaultKind) String() string { return faultNames[k] }

// Nodes that a fault may name instead of one.
const (
	EveryNode int32 = -1
	ThatNode  int32 = -2 // the one where the event of On happened
)

// Fault is one trouble. Fields that its kind does not speak of are zero.
type Fault struct {
	Kind  FaultKind
	At    time.Duration // its beginning; with On: so long after that event
	For   time.Duration
	Times int // how often it comes; 0: once
	Every time.Duration
	// On makes a trouble of nodes, or of the store as a whole, begin with the Nth event
	// of that kind (0: the first), of calls of kind Op if that is not 0.
	On  engine.EventKind
	Nth int
	Op  engine.Op

	Node   int32 // or EveryNode or ThatNode; Calls: or EveryNode
	Rolls  bool  // Crash: the next node each time
	Offset time.Duration
	Share  float64
	Reset  bool // Redrive: they start over
	Factor float64
	Limit  int
	Extra  time.Duration

	Ops                                          [engine.NumOps]bool
	LoseRequest, LoseReply, Duplicate, Err, Part float64
	Delay                                        time.Duration // mean; exponential

	Count  int             // Burst
	ID     engine.JobID    // Burst: of its first job
	Tenant engine.TenantID // Burst: of all its jobs; 0: as the others
}

func (f *Fault) window() sim.Window {
	return sim.Window{From: engine.Time(f.At), For: f.For, Times: f.Times, Every: f.Every}
}

// last is when f is over, if it waits for no event.
func (f *Fault) last() time.Duration {
	return f.At + f.For + f.Every*time.Duration(max(0, f.Times-1))
}

// ofNode reports whether f befalls one process.
func (k FaultKind) ofNode() bool { return k >= Crash && k <= Skew }

// isControl reports whether the simulation brings f about as a sim.Control.
func (k FaultKind) isControl() bool { return k >= Crash && k <= Redrive }

// ofCalls reports whether a trouble of that kind befalls calls.
func (k FaultKind) ofCalls() bool {
	return k == Calls || k == StallStore || k == Pool || k == SlowStore
}

// holdsUp reports whether f loses, doubles or refuses calls, or makes them late.
func (f *Fault) holdsUp() bool {
	return f.Kind.ofCalls() && (f.Kind != Calls || f.LoseRequest+f.LoseReply+f.Duplicate+f.Err > 0 || f.Delay > 0)
}

// longest bounds the times of a fault.
const longest = 1000 * time.Hour

func (f *Fault) validate(w *World) error {
	var errs []error
	need := func(ok bool, format string, arguments ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%v: %s", f.Kind, fmt.Sprintf(format, arguments...)))
		}
	}
	for _, d := range []time.Duration{f.At, f.For, f.Every, f.Extra, f.Delay} {
		need(d >= 0 && d <= longest, "%v is not in [0, %v]", d, longest)
	}
	need(f.Offset >= -longest && f.Offset <= longest, "offset %v is over %v", f.Offset, longest)
	need(f.Times >= 0 && f.Times <= 1_000_000, "times %d is not in [0, 1000000]", f.Times)
	need(f.Times <= 1 || f.Every > f.For, "every %v is not above for %v", f.Every, f.For)
	need(f.For > 0 || !f.Kind.windowed(), "for is missing")
	need(f.On == 0 || f.Kind.isControl(), "it follows no event")
	need(f.Nth >= 0, "nth %d is negative", f.Nth)
	need(f.Node < int32(w.Nodes), "there is no node %d", f.Node)
	need(f.Node != ThatNode || f.On != 0 && f.Kind.ofNode(), "node=that wants on")
	need(!f.Rolls || f.On == 0, "it rolls at known times only")
	for _, share := range []float64{f.Share, f.LoseRequest, f.LoseReply, f.Duplicate, f.Err, f.Part} {
		need(share >= 0 && share <= 1, "a share of %v is not in [0, 1]", share)
	}
	need(f.Factor >= 0 && f.Factor <= 1e6, "factor %v is not in [0, 1000000]", f.Factor)
	need(f.Kind != Pool || f.Limit >= 1, "limit %d is not positive", f.Limit)
	need(f.Limit >= 0, "limit %d is negative", f.Limit)
	need(f.Kind != Redrive || w.Store.KeepDead, "the store keeps no dead jobs")
	need(f.Count >= 0 && f.Count <= mostJobs, "count %d is not in [0, %d]", f.Count, mostJobs)
	need(f.Kind != Burst || f.ID > engine.JobID(mostJobs) && f.ID < 1<<40, "id %d is not in (%d, 2^40)", f.ID, mostJobs)
	return errors.Join(errs...)
}

// windowed reports whether a trouble of that kind lasts.
func (k FaultKind) windowed() bool {
	switch k {
	case Calls, SlowStore, Fail, Slow, Hang, Overload, Kill, StallStore, StallReaper, StallPromoter, Pool:
		return true
	}
	return false
}

var controlKinds = map[FaultKind]sim.ControlKind{Crash: sim.Crash, Stop: sim.StopNode, Pause: sim.Pause, Skew: sim.ShiftClock, StallStore: sim.StallStore,
	StallReaper: sim.StallReaper, StallPromoter: sim.StallPromoter, Pool: sim.LimitStore, LoseLeases: sim.LoseLeases, Redrive: sim.Redrive}

// controls are what f does to nodes and to the store. draw tells its draws from those of
// other faults.
func (f *Fault) controls(nodes int, draw uint64, heal time.Duration) []sim.Control {
	kind, ok := controlKinds[f.Kind]
	if !ok {
		return nil
	}
	c := sim.Control{Kind: kind, At: engine.Time(f.At), For: f.For, Times: f.Times, Every: f.Every, On: f.On, Nth: f.Nth, Op: f.Op, Node: f.Node,
		Rolls: f.Rolls, Offset: f.Offset, Share: f.Share, Reset: f.Reset, Limit: f.Limit, Draw: draw}
	if f.On != 0 {
		c.Before = engine.Time(max(1, heal-f.last()))
	}
	switch {
	case f.Node == ThatNode, !f.Kind.ofNode():
		c.Node = -1
		if !f.Kind.ofNode() && f.On == 0 {
			c.Node = 0
		}
	case f.Node == EveryNode:
		var all []sim.Control
		for node := range int32(nodes) {
			c.Node = node
			all = append(all, c)
		}
		return all
	}
	return []sim.Control{c}
}

// call is what f does to calls.
func (f *Fault) call() (sim.Fault, error) {
	c := sim.Fault{Window: f.window(), Ops: f.Ops, LoseRequest: f.LoseRequest, LoseReply: f.LoseReply, Duplicate: f.Duplicate, Error: f.Err, Partial: f.Part}
	if f.Node >= 0 {
		c.Nodes = []int32{f.Node}
	}
	if f.Delay > 0 {
		d, err := dist.Exponential(f.Delay.Seconds())
		if err != nil {
			return c, fmt.Errorf("calls: delay %v: %w", f.Delay, err)
		}
		c.Delay = &d
	}
	return c, nil
}

// has reports whether a world has a trouble of that kind.
func (w *World) has(k FaultKind) bool {
	return slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.Kind == k })
}
