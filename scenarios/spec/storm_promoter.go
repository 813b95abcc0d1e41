package spec

import "qsim/engine/fault"

// PromoterStorm stops the promoter, which makes waiting jobs ready.
type PromoterStorm struct {
	Stall bool `yaml:"stall" rule:"stall"` // true
}

func (t *PromoterStorm) check(c *stormChecker) {
	c.Warn(c.Whole().Sound("engine.promoter") && !c.sc.Engine.Promoter.On(), ":",
		"there is no promoter to stall: engine.promoter.every is 0s")
}

var _ = builtInStorm(160, "promoter", func(t *PromoterStorm, lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallPromoter, For: lasts.Std()}}
})
