package spec

import "qsim/engine/fault"

// ReaperStorm stops the reaper, which recovers expired leases.
type ReaperStorm struct {
	Stall bool `yaml:"stall" rule:"stall"` // true
}

func (t *ReaperStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallReaper, For: lasts.Std()}}
}
