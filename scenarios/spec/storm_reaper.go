package spec

import (
	"time"

	"qsim/engine/fault"
)

// ReaperStorm stops the reaper, which recovers expired leases.
type ReaperStorm struct {
	Stall bool `yaml:"stall"` // true
}

func (t *ReaperStorm) check(c *stormChecker, at keyPath) {
	c.checkStall(t.Stall, at)
}

func (t *ReaperStorm) effect(lasts time.Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallReaper, For: lasts}}
}
