package spec

import "qsim/engine/fault"

// RedriveStorm makes dead jobs ready again at its start, whatever its length.
type RedriveStorm struct {
	Share Share `yaml:"share" rule:"redrives"` // share of the dead jobs
	// forget their attempts; otherwise those count, and a job without any left dies at its next failure
	Reset bool `yaml:"reset"`
}

var _ = builtInStorm(190, "redrive", func(t *RedriveStorm, lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.Redrive, For: lasts.Std(), Share: t.Share.Float(), Reset: t.Reset}}
})
