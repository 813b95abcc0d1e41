package spec

import "qsim/engine/fault"

// ReaperStorm stops the reaper, which recovers expired leases.
type ReaperStorm struct {
	Stall bool `yaml:"stall" rule:"stall"` // true
}

var _ = builtInStorm(150, "reaper", func(t *ReaperStorm, lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Control: &fault.Control{Kind: fault.StallReaper, For: lasts.Std()}}
})
