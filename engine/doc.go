// Package engine is a job queue: it claims jobs from a Store, runs them on workers, and commits their outcomes. It
// recovers jobs whose leases have expired, extends its own leases, and makes waiting jobs ready.
//
// An Engine is a state machine. It does no I/O, starts no goroutine, reads no clock and draws no hidden randomness. A
// driver passes the time and events to the engine, and carries out the calls and executions that it requests:
//
//	e := engine.New(cfg, driver, now)
//	for {
//		// inputs: whatever happened since
//		e.Tick(now)                        // the Deadline has come
//		e.Handle(now, call)                // the store answered
//		e.Finish(now, slot, err, ran)      // a handler returned
//		e.Wake(now)                        // there is new ready work
//		e.SetWallClock(now, ahead)         // the wall clock jumped
//		e.Stall(now, role, true)           // the reaper or the promoter hangs
//		// in each of them the engine asks the driver to Send calls to the store, and to Start
//		// and Cancel handlers
//		wake := e.Deadline()               // when Tick is due if nothing happens before
//	}
//
// Package sim drives it on a virtual clock, where every delay, loss and crash is a function of a seed; a driver on the
// wall clock runs the same code. A scenario is a file that describes such a simulation: jobs, engines, policies,
// faults.
//
// # The trip of one job
//
// A job is enqueued in the Store and is ready (or waits, if it has a delay). An engine with a free worker asks its
// Policy for a Plan and sends an OpClaim call. The store leases the job for a TTL under a Token and answers; the engine
// starts a handler in a slot. When the handler returns, the RetryPolicy turns its error into an Outcome (Ack, Nack
// after a delay, Bury), which the committer sends in a batch with others, and again until the store has answered. A
// nacked job waits, becomes ready when it is due (by itself, or by an engine's promoter), and is claimed again, as a
// retry; before its first claim a job is fresh.
//
// If the engine dies, the lease expires. A reaper, in any engine, takes it under a new token (a recovery), asks the
// retry policy as for any failure and commits the outcome. From then on the first holder is fenced off: its commit,
// should it come, is stale.
//
// # Reading order
//
// Nine files explain how a job moves through the queue: job.go, store.go, policy.go, engine.go, fetcher.go,
// committer.go and reaper.go of this package, sim.go of package sim, and inflight_cap.go of package policies.
//
// # What an engine may believe
//
// Between a Call and its Reply lies every fault there is. A call may never arrive, take effect without an answer, or
// take effect twice. The engine keeps a deadline for each call it waits for and is built so that asking again is
// harmless. Only durations cross the boundary, never times, so the clocks of machines need not agree.
//
// # Writing a store or a policy
//
// A Store must keep the contract of its methods and of StoreOptions; package memstore is the reference. A Policy
// appends Terms to a plan from what a View shows; package policies has those that scenarios name.
package engine
