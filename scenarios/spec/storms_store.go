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

// CallStorm disturbs calls between nodes and store. Each share is drawn for itself.
type CallStorm struct {
	// names of the calls: claim, commit, extend, recover, promote, lead, stats; none: all of them
	Ops         []string `yaml:"ops,flow"`
	LoseRequest Share    `yaml:"lose-request"` // share of requests that get lost: the call is not executed
	// share of replies that get lost: the call is executed, and the caller does not know
	LoseReply Share         `yaml:"lose-reply"`
	Duplicate Share         `yaml:"duplicate"`       // share of requests that arrive twice
	Echo      Share         `yaml:"duplicate-reply"` // share of replies that arrive twice
	Error     Share         `yaml:"error"`           // share of requests that the store refuses
	Delay     *Distribution `yaml:"delay,omitempty"` // delay added to every request; left out: none
	Nodes     *Nodes        `yaml:"nodes,omitempty"` // nodes whose calls are disturbed; left out: all nodes
}

func (t *CallStorm) check(c *stormChecker) {
	if node := c.Node("ops"); node != nil && len(node.Content) == len(t.Ops) {
		for k, op := range t.Ops {
			CheckCall(c.whole, node.Content[k], op)
		}
	}
	shares := t.LoseRequest.Num + t.LoseReply.Num + t.Duplicate.Num + t.Echo.Num + t.Error.Num
	c.Fault(shares == 0 && (t.Delay == nil || t.Delay.IsNone()) && c.Sound(), "", "the calls are not disturbed").Help =
		"write lose-request, lose-reply, duplicate, duplicate-reply or error with a share, or delay with a time"
}

func (t *CallStorm) effect(Duration) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes, Fault: &fault.Fault{Ops: callsNamed(t.Ops),
		LoseRequest: t.LoseRequest.Float(), LoseReply: t.LoseReply.Float(), Duplicate: t.Duplicate.Float(),
		Echo: t.Echo.Float(), Error: t.Error.Float(), Delay: t.Delay.Drawn()}}
}

// HeartbeatStorm loses heartbeats on their way to the store.
type HeartbeatStorm struct {
	Lose  Share  `yaml:"lose" rule:"loses"` // share of heartbeats that get lost
	Nodes *Nodes `yaml:"nodes,omitempty"`   // nodes whose heartbeats are lost; left out: all nodes
}

func (t *HeartbeatStorm) check(c *stormChecker) {
	c.Warn(c.engine.Lease.Heartbeat == 0 && c.whole.Sound("engine", "lease", "heartbeat"), ":",
		"there are no heartbeats to lose: engine.lease.heartbeat is 0s")
}

func (t *HeartbeatStorm) effect(Duration) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes,
		Fault: &fault.Fault{Ops: callsNamed([]string{"extend"}), LoseRequest: t.Lose.Float()}}
}

// LeaseStorm loses the lease records of in-flight jobs at its start, whatever its length.
type LeaseStorm struct {
	Lose Share `yaml:"lose" rule:"loses"` // share of the jobs in flight
}

func (t *LeaseStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.LoseLeases, For: lasts.Std(), Share: t.Lose.Float()}}
}

// RedriveStorm makes dead jobs ready again at its start, whatever its length.
type RedriveStorm struct {
	Share Share `yaml:"share" rule:"redrives"` // share of the dead jobs
	Reset bool  `yaml:"reset"`                 // forget their attempts; otherwise the next failure is their last
}

func (t *RedriveStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.Redrive, For: lasts.Std(), Share: t.Share.Float(), Reset: t.Reset}}
}

// ReaperStorm stops the reaper, which recovers expired leases.
type ReaperStorm struct {
	Stall bool `yaml:"stall" rule:"stall"` // true
}

func (t *ReaperStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallReaper, For: lasts.Std()}}
}

// PromoterStorm stops the promoter, which makes waiting jobs ready.
type PromoterStorm struct {
	Stall bool `yaml:"stall" rule:"stall"` // true
}

func (t *PromoterStorm) check(c *stormChecker) {
	c.Warn(c.whole.Sound("engine", "promoter") && !c.engine.Promoter.On(), ":",
		"there is no promoter to stall: engine.promoter.every is 0s")
}

func (t *PromoterStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallPromoter, For: lasts.Std()}}
}
