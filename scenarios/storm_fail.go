package scenarios

// FailStorm makes attempts fail.
type FailStorm struct {
	Hits  []string      `yaml:"hits,flow"` // classes, and dependencies: all classes that call them; none: every class; see Classes
	Rate  Share         `yaml:"rate"`
	Error string        `yaml:"error"`
	Takes *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
}

func (t *FailStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkHits(t.Hits, at.key("hits")...)
	c.checkLoss(t.Rate, "the storm fails nothing", at.key("rate")...)
	c.checkErrorKind(t.Error, at.key("error")...)
}

func (t *FailStorm) fill() {
	if t.Error == "" {
		t.Error = defaultError
	}
}
