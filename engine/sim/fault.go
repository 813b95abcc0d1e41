package sim

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
)

// Window is a stretch of time that may come again.
type Window struct {
	From  engine.Time
	For   time.Duration // above 0
	Times int           // in all; 0 is 1
	Every time.Duration // from one start to the next: above For if Times is above 1
}

// Has reports whether now is in the window: its start is, its end is not.
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

// Fault is trouble of calls that are made within a window. Probabilities are in [0, 1].
type Fault struct {
	Window Window
	Ops    [engine.NumOps]bool
	Nodes  []int32 // ascending; nil: every node

	LoseRequest float64
	LoseReply   float64
	Duplicate   float64
	Error       float64    // refused without effect, with engine.ErrUnavailable
	Partial     float64    // of the outcomes of a commit: refused, while the others take effect
	Delay       *dist.Dist // seconds, added to the way to the store; nil: none
}

func (f *Fault) hits(now engine.Time, c *engine.Call) bool {
	if !f.Ops[c.Op] || !f.Window.Has(now) {
		return false
	}
	if f.Nodes == nil {
		return true
	}
	_, found := slices.BinarySearch(f.Nodes, c.Engine.Node())
	return found
}

// Slow is a window in which all that a store costs is multiplied.
type Slow struct {
	Window Window
	Factor float64 // at least 0
}

// RowCosts holds the added duration of a call for each row in a state.
type RowCosts struct{ Ready, Ahead, Waiting, InFlight, Ended time.Duration }

// of is what a call pays that found those rows, in nanoseconds.
func (c *RowCosts) of(r *Rows) float64 {
	return float64(c.Ready)*float64(r.Ready) + float64(c.Ahead)*float64(r.Ahead) + float64(c.Waiting)*float64(r.Waiting) +
		float64(c.InFlight)*float64(r.InFlight) + float64(c.Ended)*float64(r.Ended)
}
