package scenarios

import "time"

// StopStorm tells processes to stop at its start, as a deployment does (SIGTERM): they claim no more, hand back what
// they have not begun and finish what they run. The window does not matter.
type StopStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes Nodes    `yaml:"nodes"`
	Grace Duration `yaml:"grace"` // after it they end, whatever they still do, and others start in their place
}

func (t *StopStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkNodes(s, t.Nodes, at.key("nodes")...)
	c.required(at.key("grace")...)
}

func (t *StopStorm) instant() bool { return true }

func (t *StopStorm) simulated() string { return ofProcess }

func (t *StopStorm) length(window time.Duration) time.Duration { return max(window, t.Grace.Std()) }

func (t *StopStorm) follows() bool { return true }
