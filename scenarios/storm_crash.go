package scenarios

import "qsim/engine/fault"

// CrashStorm kills processes at its start, whatever its length.
type CrashStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes        Nodes    `yaml:"nodes"`
	RestartAfter Duration `yaml:"restart-after"` // time that the processes stay down
}

func (t *CrashStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkNodes(s, t.Nodes, at.key("nodes")...)
	c.required(at.key("restart-after")...)
}

func (t *CrashStorm) effect(s *Storm) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Instant: true, Lasts: max(s.For, t.RestartAfter).Std(), Nodes: &t.Nodes,
		Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std()}}
}
