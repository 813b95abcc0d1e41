package scenarios

// BurstStorm brings more jobs: a count at once, or a multiple of the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class"`            // class of the additional jobs
	Count  *Count  `yaml:"count,omitempty"`  // number of jobs that arrive at once
	Factor *Factor `yaml:"factor,omitempty"` // factor on the rate during the window
}

func (t *BurstStorm) check(c *checker, s *Storm, at keyPath) {
	if c.required(at.key("class")...) && c.sound(at.key("class")...) {
		c.known("job class", c.near(at.key("class")...), t.Class, c.classes())
	}
	switch {
	case t.Count == nil && t.Factor == nil && c.sound(at...):
		c.errorf(c.near(at...), "the burst needs a count or a factor").Help = "count: 10k comes all at once; factor: 3 triples the rate during the storm"
	case t.Count != nil && t.Factor != nil:
		c.errorf(c.key(at.key("factor")...), "a burst has a count or a factor, not both")
	}
}

func (t *BurstStorm) effect(*Storm) Effect {
	return Effect{Class: t.Class, Jobs: t.Count, Rate: t.Factor, Instant: t.Factor == nil}
}
