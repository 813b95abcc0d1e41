package scenarios

import "qsim/engine/fault"

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

func (t *StoreStorm) check(c *checker, s *Storm, at keyPath) {
	node := c.node(at...)
	switch {
	case !c.sound(at...):
	case len(node.Content) == 0:
		c.errorf(node, "the store is not disturbed").Help = "write {stall: true}, {slow: 10}, {error: 5%}, {partial: 25%} or {parallel: 2}"
	case len(node.Content) > 2:
		c.errorf(c.given(at), "the storm disturbs the store in two ways").Help = "make them two storms with windows of their own"
	case t.Error != nil:
		c.checkRefused(*t.Error, at.key("error")...)
	case t.Partial != nil:
		c.checkRefused(*t.Partial, at.key("partial")...)
	case t.Parallel != nil:
		c.count(*t.Parallel, 1, mostBatch, "", at.key("parallel")...)
	case t.Slow == nil && !t.Stall:
		c.errorf(c.near(at.key("stall")...), "the storm stalls nothing").Help = "write stall: true"
	}
}

func (t *StoreStorm) effect(s *Storm) Effect {
	x := Effect{Simulated: ofStore, Follows: t.Stall || t.Parallel != nil}
	switch {
	case t.Stall:
		x.Control = &fault.Control{Kind: fault.StallStore, For: s.For.Std()}
	case t.Parallel != nil:
		x.Control = &fault.Control{Kind: fault.LimitStore, For: s.For.Std(), Limit: int(*t.Parallel)}
	case t.Slow != nil:
		x.Store = float64(*t.Slow)
	case t.Error != nil:
		x.Fault = &fault.Fault{Ops: callsNamed(nil), Error: t.Error.Float()}
	case t.Partial != nil:
		x.Fault = &fault.Fault{Ops: callsNamed([]string{"commit"}), Partial: t.Partial.Float()}
	}
	return x
}

func (c *checker) checkRefused(share Share, path ...any) {
	if share.Num == 0 {
		c.warnf(c.near(path...), "the storm refuses nothing")
	}
}
