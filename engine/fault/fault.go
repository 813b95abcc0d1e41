// Package fault describes the faults of a simulation as plain values: faults of calls, of the store and of processes,
// each with its time. It injects none itself: package sim does.
package fault

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
)

// Window is the span of time in which an injected fault acts; it may repeat at an interval.
type Window struct {
	From  engine.Time
	For   time.Duration // above 0
	Times int           // number of windows; 0 is 1
	Every time.Duration // time from one start to the next: above For if Times is above 1
}

// Has reports whether a time is in the window or one of its repetitions, start included and end excluded.
func (w *Window) Has(now engine.Time) bool {
	passed := now.Sub(w.From)
	if passed < w.For {
		return passed >= 0
	}
	if w.Times <= 1 {
		return false
	}
	came := min(passed/w.Every, time.Duration(w.Times-1))
	return passed-came*w.Every < w.For
}

// Fault is a disturbance of calls that are made within a window. Probabilities are in [0, 1].
type Fault struct {
	Window Window
	Ops    [engine.NumOps]bool
	Nodes  []int32 // ascending; nil: every node

	LoseRequest float64
	LoseReply   float64
	Duplicate   float64
	Echo        float64    // answered twice at once
	Error       float64    // refused without effect, with engine.ErrUnavailable
	Partial     float64    // share of a commit's outcomes that are refused, while the others take effect
	Delay       *dist.Dist // seconds, added to the way to the store; nil: none
}

// Hits reports whether a store call that is made now is subject to the fault, by window, operation and node.
func (f *Fault) Hits(now engine.Time, c *engine.Call) bool {
	if !f.Ops[c.Op] || !f.Window.Has(now) {
		return false
	}
	if f.Nodes == nil {
		return true
	}
	_, found := slices.BinarySearch(f.Nodes, c.Engine.Node())
	return found
}

// Slow is a window in which all durations of the store are multiplied by a factor.
type Slow struct {
	Window Window
	Factor float64 // factor on delays, at least 0
}

// ControlKind is the kind of an injected fault of a process or the store (Control): a crash, a freeze or a stall.
type ControlKind uint8

const (
	Crash         ControlKind = iota // the process of Node dies and loses its memory; For later it starts again
	Pause                            // the process of Node freezes; For later it goes on without knowing
	StallReaper                      // no node looks for expired leases, for For
	StallPromoter                    // no node promotes, for For
	StallStore                       // calls that reach the store wait until For is over
	ShiftClock                       // the wall clock of Node goes ahead by Offset, for For; 0: for ever
	LoseLeases                       // the store loses the lease records of Share of the jobs in flight
	Redrive                          // Share of the dead jobs become ready again
	StopNode                         // Node is told to stop; For later its process ends, whatever it runs; another starts
	LimitStore                       // the store serves at most Limit calls at once, for For
)

// Control is an injected fault of nodes or of the store, at a known time or after a known event.
type Control struct {
	Kind ControlKind
	Node int32
	At   engine.Time
	// On delays the control until At after the Nth event of that kind on Node (0 is the first), of a
	// call of kind Op if Op is not 0; with Node -1 the event may be on any node, which the control
	// then hits. 0: At counts from the start of the run.
	On     engine.EventKind
	Nth    int
	Op     engine.Op
	Before engine.Time // with On: an event at this time or later has no effect; 0: no limit
	For    time.Duration
	Offset time.Duration // ShiftClock: negative: the clock falls behind
	Share  float64       // LoseLeases, Redrive: share of the jobs hit, in [0, 1]
	Reset  bool          // Redrive: see sim.Store
	Limit  int           // LimitStore: at least 1
	// Draw keys the draws of LoseLeases and Redrive, with the job and how often the
	// control came before.
	Draw uint64 // below 2^40

	// Times is how often it comes, each time Every after the last; 0 is 1.
	Times int
	Every time.Duration // above 0 if Times is above 1
	// Rolls makes it hit the next node each time, the first after the last.
	Rolls bool
}
