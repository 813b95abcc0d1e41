package scenarios

import "qsim/engine/fault"

// HeartbeatStorm loses heartbeats on their way to the store.
type HeartbeatStorm struct {
	Lose  Share  `yaml:"lose"`            // share of heartbeats that get lost
	Nodes *Nodes `yaml:"nodes,omitempty"` // nodes whose heartbeats are lost; left out: all nodes
}

func (t *HeartbeatStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkLoss(t.Lose, "the storm loses nothing", at.key("lose")...)
	c.checkSomeNodes(s, t.Nodes, at.key("nodes")...)
	if c.sc.Engine.Lease.Heartbeat == 0 && c.sound("engine", "lease", "heartbeat") {
		c.warnf(c.key(at...), "there are no heartbeats to lose: engine.lease.heartbeat is 0s")
	}
}

func (t *HeartbeatStorm) effect(*Storm) Effect {
	return Effect{Simulated: ofNetwork, Nodes: t.Nodes, Fault: &fault.Fault{Ops: callsNamed([]string{"extend"}), LoseRequest: t.Lose.Float()}}
}
