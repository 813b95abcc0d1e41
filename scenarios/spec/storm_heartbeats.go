package spec

import "qsim/engine/fault"

// HeartbeatStorm loses heartbeats on their way to the store.
type HeartbeatStorm struct {
	Lose  Share  `yaml:"lose" rule:"loses"` // share of heartbeats that get lost
	Nodes *Nodes `yaml:"nodes,omitempty"`   // nodes whose heartbeats are lost; left out: all nodes
}

func (t *HeartbeatStorm) check(c *stormChecker) {
	c.Warn(c.sc.Engine.Lease.Heartbeat == 0 && c.Whole().Sound("engine.lease.heartbeat"), ":",
		"there are no heartbeats to lose: engine.lease.heartbeat is 0s")
}

var _ = builtInStorm(120, "heartbeats", func(t *HeartbeatStorm, _ Duration) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes,
		Fault: &fault.Fault{Ops: callsNamed([]string{"extend"}), LoseRequest: t.Lose.Float()}}
})
