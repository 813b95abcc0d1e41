package scenarios

// PauseStorm freezes processes for the window. Then they go on as if nothing had been.
type PauseStorm struct {
	Nodes Nodes `yaml:"nodes"`
}

func (t *PauseStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkNodes(s, t.Nodes, at.key("nodes")...)
}

func (t *PauseStorm) simulated() string { return ofProcess }

func (t *PauseStorm) follows() bool { return true }
