package spec

// BurstStorm brings more jobs: a count at once, or a multiple of the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class" rule:"class"` // class of the additional jobs
	Count  *Count  `yaml:"count,omitempty"`    // number of jobs that arrive at once
	Factor *Factor `yaml:"factor,omitempty"`   // factor on the rate during the window
}

func (t *BurstStorm) check(c *stormChecker) {
	c.Fault(t.Count == nil && t.Factor == nil && c.Sound(), "", "the burst needs a count or a factor").Help =
		"count: 10k comes all at once; factor: 3 triples the rate during the storm"
	c.Fault(t.Count != nil && t.Factor != nil, "factor:", "a burst has a count or a factor, not both")
}

func (t *BurstStorm) effect(Duration) Effect {
	return Effect{Class: t.Class, Jobs: t.Count, Rate: t.Factor, Instant: t.Factor == nil}
}
