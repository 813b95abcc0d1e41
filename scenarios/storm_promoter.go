package scenarios

import "qsim/engine/fault"

// PromoterStorm stops the promoter, which makes waiting jobs ready.
type PromoterStorm struct {
	Stall bool `yaml:"stall"` // true
}

func (t *PromoterStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkStall(t.Stall, at)
	if c.sound("engine", "promoter") && !c.sc.Engine.Promoter.On() {
		c.warnf(c.key(at...), "there is no promoter to stall: engine.promoter.every is 0s")
	}
}

func (t *PromoterStorm) effect(s *Storm) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallPromoter, For: s.For.Std()}}
}
