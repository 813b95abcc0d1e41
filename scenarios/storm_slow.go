package scenarios

// SlowStorm multiplies run times.
type SlowStorm struct {
	Hits   []string `yaml:"hits,flow"` // as those of FailStorm
	Factor Factor   `yaml:"factor"`
}

func (t *SlowStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkHits(t.Hits, at.key("hits")...)
	c.required(at.key("factor")...)
}
