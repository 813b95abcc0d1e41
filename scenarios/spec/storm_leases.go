package spec

import (
	"time"

	"qsim/engine/fault"
)

// LeaseStorm loses the lease records of in-flight jobs at its start, whatever its length.
type LeaseStorm struct {
	Lose Share `yaml:"lose"` // share of the jobs in flight
}

func (t *LeaseStorm) check(c *stormChecker, at keyPath) {
	c.checkLoss(t.Lose, "the storm loses nothing", at.key("lose")...)
}

func (t *LeaseStorm) effect(lasts time.Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.LoseLeases, For: lasts, Share: t.Lose.Float()}}
}
