package scenarios

import "time"

// CrashStorm kills processes at its start; For does not matter.
type CrashStorm struct {
	Nodes        Nodes    `yaml:"nodes"`
	RestartAfter Duration `yaml:"restart-after"`
}

func (t *CrashStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkNodes(s, t.Nodes, at.key("nodes")...)
	c.required(at.key("restart-after")...)
}

func (t *CrashStorm) instant() bool { return true }

func (t *CrashStorm) simulated() string { return ofProcess }

func (t *CrashStorm) length(window time.Duration) time.Duration {
	return max(window, t.RestartAfter.Std())
}

func (t *CrashStorm) follows() bool { return true }
