package spec

// KillStorm makes attempts crash the process of their node.
type KillStorm struct {
	Hits []string `yaml:"hits,flow"`         // classes, and dependencies: all classes that call them; none: every class
	Rate Share    `yaml:"rate" rule:"kills"` // share of the attempts that begin in the window
}

var _ = builtInStorm(40, "kill", func(t *KillStorm, _ Duration) Effect {
	return Effect{Simulated: ofProcess, Hits: t.Hits, Kills: t.Rate.Float()}
})
