package spec

// SlowStorm multiplies run times.
type SlowStorm struct {
	Hits   []string `yaml:"hits,flow"`              // classes, and dependencies: all classes that call them; none: every class
	Factor Factor   `yaml:"factor" rule:"required"` // factor on run times
}

func (t *SlowStorm) effect(Duration) Effect {
	return Effect{Hits: t.Hits, Slower: float64(t.Factor)}
}
