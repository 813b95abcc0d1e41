package spec

import (
	"qsim/engine/fault"
	"qsim/scenarios/reference"
)

// StoreStorm disturbs the store: exactly one of its keys is set.
type StoreStorm struct {
	Stall bool    `yaml:"stall,omitempty"` // true: calls wait for the end of the window
	Slow  *Factor `yaml:"slow,omitempty"`  // factor on the cost of every call
	Error *Share  `yaml:"error,omitempty"` // share of calls that are refused
	// so many calls are served at once, the rest wait their turn; at least 1
	Parallel *Count `yaml:"parallel,omitempty"`
	// share of the outcomes of every commit that are refused, while the others take effect
	Partial *Share `yaml:"partial,omitempty"`
}

func (t *StoreStorm) check(c *stormChecker, at keyPath) {
	node := c.Node(at...)
	switch {
	case !c.Sound(at...):
	case len(node.Content) == 0:
		c.Errorf(node, "the store is not disturbed").Help = "write {stall: true}, {slow: 10}, {error: 5%}, {partial: 25%} or {parallel: 2}"
	case len(node.Content) > 2:
		c.Errorf(c.Given(at), "the storm disturbs the store in two ways").Help = "make them two storms with windows of their own"
	case t.Error != nil:
		c.checkRefused(*t.Error, at.key("error")...)
	case t.Partial != nil:
		c.checkRefused(*t.Partial, at.key("partial")...)
	case t.Parallel != nil:
		c.Count(*t.Parallel, 1, reference.MostBatch, "", at.key("parallel")...)
	case t.Slow == nil && !t.Stall:
		c.Errorf(c.Near(at.key("stall")...), "the storm stalls nothing").Help = "write stall: true"
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

func (c *stormChecker) checkRefused(share Share, path ...any) {
	if share.Num == 0 {
		c.Warnf(c.Near(path...), "the storm refuses nothing")
	}
}
