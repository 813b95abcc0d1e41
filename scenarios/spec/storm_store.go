package spec

import (
	"qsim/engine/fault"
	"qsim/scenarios/reference"
)

// StoreStorm stalls the store, slows it down, or makes it refuse calls: exactly one of its keys is set.
type StoreStorm struct {
	Stall bool    `yaml:"stall,omitempty"` // true: calls wait for the end of the window
	Slow  *Factor `yaml:"slow,omitempty"`  // factor on the cost of every call
	Error *Share  `yaml:"error,omitempty"` // share of calls that are refused
	// so many calls are served at once, the rest wait their turn; at least 1
	Parallel *Count `yaml:"parallel,omitempty"`
	// share of the outcomes of every commit that are refused, while the others take effect
	Partial *Share `yaml:"partial,omitempty"`
}

func (t *StoreStorm) check(c *stormChecker) {
	if !c.Sound() {
		return
	}
	keys := len(c.Node("").Content) / 2
	c.Fault(keys == 0, "", "the store is not disturbed").Help =
		"write {stall: true}, {slow: 10}, {error: 5%}, {partial: 25%} or {parallel: 2}"
	c.Fault(keys > 1, "", "the storm disturbs the store in two ways").Help =
		"make them two storms with windows of their own"
	if keys != 1 {
		return
	}
	const nothing = "the storm refuses nothing"
	c.Warn(t.Error != nil && t.Error.Num == 0, "error", nothing)
	c.Warn(t.Partial != nil && t.Partial.Num == 0, "partial", nothing)
	c.Fault(c.Has("stall") && !t.Stall, "stall", "the storm stalls nothing").Help = "write stall: true"
	if t.Parallel != nil {
		c.whole.Count(*t.Parallel, 1, reference.MostBatch, "", c.To("parallel")...)
	}
}

func (t *StoreStorm) effect(lasts Duration) Effect {
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
}
