package scenarios

// KillStorm makes attempts crash the process of their node, as JobClass.Kills does at rest.
type KillStorm struct {
	Hits []string `yaml:"hits,flow"` // as those of FailStorm
	Rate Share    `yaml:"rate"`      // of the attempts that begin in the window
}

func (t *KillStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkHits(t.Hits, at.key("hits")...)
	c.checkLoss(t.Rate, "the storm kills nothing", at.key("rate")...)
}

func (t *KillStorm) simulated() string { return ofProcess }
