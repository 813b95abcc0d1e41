package scenarios

// PromoterStorm stops whoever makes waiting jobs ready.
type PromoterStorm struct {
	Stall bool `yaml:"stall"` // true
}

func (t *PromoterStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkStall(t.Stall, at)
	if c.sound("engine", "promoter") && !c.sc.Engine.Promoter.On() {
		c.warnf(c.key(at...), "there is no promoter to stall: engine.promoter.every is 0s")
	}
}

func (t *PromoterStorm) simulated() string { return ofStore }

func (t *PromoterStorm) follows() bool { return true }
