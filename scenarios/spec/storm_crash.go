package spec

import "qsim/engine/fault"

// CrashStorm kills processes at its start, whatever its length.
type CrashStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes        Nodes    `yaml:"nodes" rule:"required"`
	RestartAfter Duration `yaml:"restart-after" rule:"required"` // time that the processes stay down
}

var _ = builtInStorm(80, "crash", func(t *CrashStorm, lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Instant: true, Lasts: max(lasts, t.RestartAfter).Std(),
		Nodes: &t.Nodes, Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std()}}
})
