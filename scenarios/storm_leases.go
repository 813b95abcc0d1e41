package scenarios

// LeaseStorm loses the lease records of in-flight jobs at its start, whatever its length.
type LeaseStorm struct {
	Lose Share `yaml:"lose"` // share of the jobs in flight
}

func (t *LeaseStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkLoss(t.Lose, "the storm loses nothing", at.key("lose")...)
}

func (t *LeaseStorm) instant() bool { return true }

func (t *LeaseStorm) simulated() string { return ofStore }

func (t *LeaseStorm) follows() bool { return true }
