package sim

import (
	"time"

	"qsim/engine/fault"
)

// Window and the aliases below are the types of the faults that a simulation injects.
type (
	Window      = fault.Window      // window of time of a fault
	Fault       = fault.Fault       // fault of calls
	Slow        = fault.Slow        // slowdown of the store
	Control     = fault.Control     // fault of a process or the store
	ControlKind = fault.ControlKind // kind of a Control
)

// Crash and the constants below are the kinds of Control: injected faults of processes and of the store.
const (
	Crash         = fault.Crash
	Pause         = fault.Pause
	StallReaper   = fault.StallReaper
	StallPromoter = fault.StallPromoter
	StallStore    = fault.StallStore
	ShiftClock    = fault.ShiftClock
	LoseLeases    = fault.LoseLeases
	Redrive       = fault.Redrive
	StopNode      = fault.StopNode
	LimitStore    = fault.LimitStore
)

// RowCosts holds the added duration of a store call for each job in the store, by state.
type RowCosts struct{ Ready, Ahead, Waiting, InFlight, Ended time.Duration }

// of returns the time in nanoseconds that the jobs in the store, counted by r, add to the duration of a call.
func (c *RowCosts) of(r *Rows) float64 {
	return float64(c.Ready)*float64(r.Ready) + float64(c.Ahead)*float64(r.Ahead) + float64(c.Waiting)*float64(r.Waiting) +
		float64(c.InFlight)*float64(r.InFlight) + float64(c.Ended)*float64(r.Ended)
}
