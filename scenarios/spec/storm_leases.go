package spec

import "qsim/engine/fault"

// LeaseStorm loses the lease records of in-flight jobs at its start, whatever its length.
type LeaseStorm struct {
	Lose Share `yaml:"lose" rule:"loses"` // share of the jobs in flight
}

var _ = builtInStorm(170, "leases", func(t *LeaseStorm, lasts Duration) Effect {
	return Effect{Simulated: ofStore, Follows: true, Instant: true,
		Control: &fault.Control{Kind: fault.LoseLeases, For: lasts.Std(), Share: t.Lose.Float()}}
})
