package spec

// HangStorm makes attempts take longer and ignore cancellation.
type HangStorm struct {
	// classes, and dependencies: all classes that call them; none: every class
	Hits  []string `yaml:"hits,flow"`
	Rate  Share    `yaml:"rate" rule:"hangs"`     // share of the attempts that begin in the window
	Extra Duration `yaml:"extra" rule:"positive"` // time added to their run time; more than 0s
}

var _ = builtInStorm(30, "hang", func(t *HangStorm, _ Duration) Effect {
	return Effect{Hits: t.Hits, Hangs: t.Rate.Float(), Extra: t.Extra.Std()}
})
