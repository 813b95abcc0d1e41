package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/quantity"
	"qsim/scenarios/diagnostics"
)

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

func (t *CallStorm) check(c *checker, s *Storm, at keyPath) {
	if node := c.node(at.key("ops")...); node != nil && len(node.Content) == len(t.Ops) {
		for k, op := range t.Ops {
			c.checkCall(node.Content[k], op)
		}
	}
	c.checkSomeNodes(s, t.Nodes, at.key("nodes")...)
	if !c.sound(at...) {
		return
	}
	shares := t.LoseRequest.Num + t.LoseReply.Num + t.Duplicate.Num + t.Echo.Num + t.Error.Num
	if shares == 0 && (t.Delay == nil || t.Delay.IsNone()) {
		c.errorf(c.near(at...), "the calls are not disturbed").Help =
			"write lose-request, lose-reply, duplicate, duplicate-reply or error with a share, or delay with a time"
	}
}

func (t *CallStorm) effect(*Storm) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes, Fault: &fault.Fault{Ops: callsNamed(t.Ops), LoseRequest: t.LoseRequest.Float(),
		LoseReply: t.LoseReply.Float(), Duplicate: t.Duplicate.Float(), Echo: t.Echo.Float(), Error: t.Error.Float(),
		Delay: t.Delay.Drawn()}}
}

// calls lists the names of the calls between nodes and store that a storm can disturb or be triggered by.
var calls = []string{"claim", "commit", "extend", "recover", "promote", "lead", "stats"}

// callsNamed returns the set of the calls with these names; all calls if names is empty.
func callsNamed(names []string) (set [engine.NumOps]bool) {
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		set[op] = len(names) == 0 || slices.Contains(names, op.String())
	}
	return set
}

// checkCall reports an unknown name of a call.
func (c *checker) checkCall(at *yaml.Node, op string) {
	if slices.Contains(calls, op) {
		return
	}
	e := unknownName("call", op, calls)
	if e.Message = "unknown call " + quantity.Quote(op); e.Help == "" {
		e.Help = "want " + quantity.OrList(calls)
	}
	c.add(at, diagnostics.Error, e)
}
