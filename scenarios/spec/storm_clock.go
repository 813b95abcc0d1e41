package spec

import "qsim/engine/fault"

// ClockStorm makes clocks of nodes wrong: by a skew during the window, or by a jump from its start on. Exactly one of
// them is set. It affects only nodes that check leases by their own clock: see Lease.Check.
type ClockStorm struct {
	Nodes Nodes   `yaml:"nodes" rule:"required"`        // whose clocks
	Skew  *Offset `yaml:"skew,omitempty" rule:"either"` // clock error during the storm, forward or back
	Jump  *Offset `yaml:"jump,omitempty" rule:"either"` // clock error from the start of the storm on, forward or back
}

func (t *ClockStorm) check(c *stormChecker) {
	if !c.Sound() {
		return
	}
	c.Fault(c.either == 0, "", "the clocks are not set off").Help =
		"skew: 30s lasts for the window; jump: -30s stays"
	c.Fault(c.either > 1, "jump:", "a clock is off by a skew or a jump, not both").Help =
		"make them two storms with windows of their own"
	unread := c.sc.Engine.Lease.Check != "local" && c.Whole().Sound("engine.lease.check")
	c.Warn(c.either == 1 && unread, ":",
		"no node notices: leases are checked by the store alone").Help =
		"engine.lease.check: local lets the holder compare its own clock"
}

var _ = builtInStorm(180, "clock", func(t *ClockStorm, lasts Duration) Effect {
	c := &fault.Control{Kind: fault.ShiftClock, For: lasts.Std()}
	if t.Jump != nil {
		c.For, c.Offset = 0, t.Jump.Std()
	} else if t.Skew != nil {
		c.Offset = t.Skew.Std()
	}
	return Effect{Simulated: ofProcess, Follows: true, Instant: t.Jump != nil, Nodes: &t.Nodes, Control: c}
})
