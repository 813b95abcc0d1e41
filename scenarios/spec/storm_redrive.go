package spec

import "qsim/engine/fault"

// RedriveStorm makes dead jobs ready again at its start, whatever its length.
type RedriveStorm struct {
	Share Share `yaml:"share" rule:"redrives"` // share of the dead jobs
	Reset bool  `yaml:"reset"`                 // forget their attempts; otherwise the next failure is their last
}

var _ = builtInStorm(190, "redrive", func(t *RedriveStorm, lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.Redrive, For: lasts.Std(), Share: t.Share.Float(), Reset: t.Reset}}
})
