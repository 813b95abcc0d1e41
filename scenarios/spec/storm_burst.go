package spec

// BurstStorm brings more jobs: a count at once, or a multiple of the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class" rule:"class"`             // class of the additional jobs
	Count  *Count  `yaml:"count,omitempty" rule:"either"`  // number of jobs that arrive at once
	Factor *Factor `yaml:"factor,omitempty" rule:"either"` // factor on the rate during the window
}

func (t *BurstStorm) check(c *stormChecker) {
	c.Fault(c.either == 0 && c.Sound(), "", "the burst needs a count or a factor").Help =
		"count: 10k comes all at once; factor: 3 triples the rate during the storm"
	c.Fault(c.either > 1, "factor:", "a burst has a count or a factor, not both")
}

var _ = builtInStorm(50, "burst", func(t *BurstStorm, _ Duration) Effect {
	return Effect{Class: t.Class, Jobs: t.Count, Rate: t.Factor, Instant: t.Factor == nil}
})
