package spec

import "qsim/engine/fault"

// CallStorm loses, doubles, refuses or delays calls between nodes and store. The shares are drawn independently.
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
			CheckCall(c.Checker, node.Content[k], op)
		}
	}
	shares := t.LoseRequest.Num + t.LoseReply.Num + t.Duplicate.Num + t.Echo.Num + t.Error.Num
	c.Fault(shares == 0 && (t.Delay == nil || t.Delay.IsNone()) && c.Sound(), "", "the calls are not disturbed").Help =
		"write lose-request, lose-reply, duplicate, duplicate-reply or error with a share, or delay with a time"
}

var _ = builtInStorm(130, "calls", func(t *CallStorm, _ Duration) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes, Fault: &fault.Fault{Ops: callsNamed(t.Ops),
		LoseRequest: t.LoseRequest.Float(), LoseReply: t.LoseReply.Float(), Duplicate: t.Duplicate.Float(),
		Echo: t.Echo.Float(), Error: t.Error.Float(), Delay: t.Delay.Drawn()}}
})
