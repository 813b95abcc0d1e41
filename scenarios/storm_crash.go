package scenarios

import "time"

// CrashStorm kills processes at its start, whatever its length.
type CrashStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes        Nodes    `yaml:"nodes"`
	RestartAfter Duration `yaml:"restart-after"` // how long they stay down
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
