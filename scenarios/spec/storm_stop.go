package spec

import "qsim/engine/fault"

// StopStorm tells processes to stop at its start, as a deployment does (SIGTERM): they claim no more, hand back what
// they have not begun and finish what they run. The window does not matter.
type StopStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes Nodes `yaml:"nodes" rule:"required"`
	// time after which the processes end in any case, and others replace them
	Grace Duration `yaml:"grace" rule:"required"`
}

var _ = builtInStorm(100, "stop", func(t *StopStorm, lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Instant: true, Lasts: max(lasts, t.Grace).Std(), Nodes: &t.Nodes,
		Control: &fault.Control{Kind: fault.StopNode, For: t.Grace.Std()}}
})
