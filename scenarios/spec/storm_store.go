package spec

import (
	"qsim/engine/fault"
	"qsim/scenarios/reference"
)

// StoreStorm stalls the store, slows it down, or makes it refuse calls: exactly one of its keys is set.
type StoreStorm struct {
	Stall bool    `yaml:"stall,omitempty" rule:"either"` // true: calls wait for the end of the window
	Slow  *Factor `yaml:"slow,omitempty" rule:"either"`  // factor on the cost of every call
	Error *Share  `yaml:"error,omitempty" rule:"either"` // share of calls that are refused
	// so many calls are served at once, the rest wait their turn; at least 1
	Parallel *Count `yaml:"parallel,omitempty" rule:"either"`
	// share of the outcomes of every commit that are refused, while the others take effect
	Partial *Share `yaml:"partial,omitempty" rule:"either"`
}

func (t *StoreStorm) check(c *stormChecker) {
	if !c.Sound() {
		return
	}
	c.Fault(c.either == 0, "", "the store is not disturbed").Help =
		"write {stall: true}, {slow: 10}, {error: 5%}, {partial: 25%} or {parallel: 2}"
	c.Fault(c.either > 1, "", "the storm disturbs the store in two ways").Help =
		"make them two storms with windows of their own"
	if c.either != 1 {
		return
	}
	const nothing = "the storm refuses nothing"
	c.Warn(t.Error != nil && t.Error.Num == 0, "error", nothing)
	c.Warn(t.Partial != nil && t.Partial.Num == 0, "partial", nothing)
	c.Fault(c.Has("stall") && !t.Stall, "stall", "the storm stalls nothing").Help = "write stall: true"
	if t.Parallel != nil {
		c.Count(*t.Parallel, 1, reference.MostOf("engine.store.parallel"), "", "parallel")
	}
}

var _ = builtInStorm(140, "store", func(t *StoreStorm, lasts Duration) Effect {
	x := Effect{Simulated: ofStore, Follows: t.Stall || t.Parallel != nil}
	switch {
	case t.Stall:
		x.Control = &fault.Control{Kind: fault.StallStore, For: lasts.Std()}
	case t.Parallel != nil:
		x.Control = &fault.Control{Kind: fault.LimitStore, For: lasts.Std(), Limit: int(*t.Parallel)}
	case t.Slow != nil:
		x.Store = float64(*t.Slow)
	case t.Error != nil:
		x.Fault = &fault.Fault{Ops: callsNamed(nil), Error: t.Error.Float()}
	case t.Partial != nil:
		x.Fault = &fault.Fault{Ops: callsNamed([]string{"commit"}), Partial: t.Partial.Float()}
	}
	return x
})
