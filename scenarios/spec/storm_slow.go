package spec

// SlowStorm multiplies run times.
type SlowStorm struct {
	// classes, and dependencies: all classes that call them; none: every class
	Hits   []string `yaml:"hits,flow"`
	Factor Factor   `yaml:"factor" rule:"required"` // factor on run times
}

var _ = builtInStorm(20, "slow", func(t *SlowStorm, _ Duration) Effect {
	return Effect{Hits: t.Hits, Slower: float64(t.Factor)}
})
