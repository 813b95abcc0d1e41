package spec

import "time"

// SlowStorm multiplies run times.
type SlowStorm struct {
	Hits   []string `yaml:"hits,flow"` // classes, and dependencies: all classes that call them; none: every class
	Factor Factor   `yaml:"factor"`    // factor on run times
}

func (t *SlowStorm) check(c *stormChecker, at keyPath) {
	c.checkHits(t.Hits, at.key("hits")...)
	c.Required(at.key("factor")...)
}

func (t *SlowStorm) effect(time.Duration) Effect {
	return Effect{Hits: t.Hits, Slower: float64(t.Factor)}
}
