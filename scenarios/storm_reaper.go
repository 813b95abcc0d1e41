package scenarios

import "qsim/engine/fault"

// ReaperStorm stops the reaper, which recovers expired leases.
type ReaperStorm struct {
	Stall bool `yaml:"stall"` // true
}

func (t *ReaperStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkStall(t.Stall, at)
}

func (t *ReaperStorm) effect(s *Storm) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallReaper, For: s.For.Std()}}
}

// checkStall reports a storm that sets stall to false, and so has no effect.
func (c *checker) checkStall(stalls bool, at keyPath) {
	if !stalls && c.sound(at...) {
		c.errorf(c.near(at.key("stall")...), "the storm stalls nothing").Help = "write {stall: true}"
	}
}
