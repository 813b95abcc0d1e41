package sim

import "qsim/engine"

// PassCounter is a Store that counts the ready jobs that a claim passed over, see engine.StoreOptions.CountAhead.
type PassCounter interface {
	// Passed returns the number of ready jobs before the first one that the latest Claim leased, in the order of
	// (priority, ready key, job ID), whatever the plan; all that were ready if it leased none. Buried jobs do not count.
	Passed() int
}

// LeaseLoser is a Store whose lease records can be deleted, as by a fault.
type LeaseLoser interface {
	// LoseLeases deletes the lease record of every job in flight for which lose returns true, and appends the leases as
	// their holders have them to dst. The jobs stay in flight: see engine.StoreOptions.Orphans for their recovery. lose is
	// called once for each, in an order that depends only on earlier calls.
	LoseLeases(lose func(engine.JobID) bool, dst []engine.Lease) []engine.Lease
}

// Redriver is a Store with engine.StoreOptions.KeepDead that can make dead jobs ready again.
type Redriver interface {
	// Redrive makes the dead jobs for which revive returns true ready, as if they had become due now, and appends them to
	// dst. With reset they start over: Charged, Failures, Recoveries, Snoozes and LastDelay are 0; Delivery, Token and Age
	// go on in any case. revive is called once for each, in an order that depends only on earlier calls.
	Redrive(revive func(engine.JobID) bool, reset bool, dst []engine.Promotion) []engine.Promotion
}
