package spec

import "qsim/engine/fault"

// PauseStorm freezes processes for the window. Afterwards they go on where they stopped.
type PauseStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes Nodes `yaml:"nodes" rule:"required"`
}

var _ = builtInStorm(110, "pause", func(t *PauseStorm, lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Nodes: &t.Nodes,
		Control: &fault.Control{Kind: fault.Pause, For: lasts.Std()}}
})
