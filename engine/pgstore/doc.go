// Package pgstore keeps jobs in PostgreSQL: an engine.Store for several processes. Its jobs survive the death of any
// process and of the server, and its only clock is the server's.
//
//	store, err := pgstore.Open(ctx, "postgres://user@host/database", pgstore.Options{
//		Store: engine.StoreOptions{LapseAfter: -1, KeepDead: true},
//	})
//
// Every call is one round trip: one statement, or a few that are sent together and commit together; an Enqueue of jobs
// that are there already is two. A call that fails with engine.ErrUnavailable may or may not have taken effect;
// connections are restored by themselves, so the caller only needs to repeat the call. A repeated Enqueue fails with
// engine.ErrDuplicate if an earlier copy took effect and any of its jobs is live, or dead and kept; done jobs are
// forgotten, and if all of them are done, they run once more. Handlers that must not run twice use Effects, or another
// record of what they did. Where the server waits for replicas (synchronous_standby_names), an answer that something is
// done, also by an earlier copy, means that a replica has it: a failover to that one loses none of it. That is not so
// for the engine.ErrDuplicate of EnqueueTx, whose transaction has failed and can write no more.
//
// One row is one job, from enqueuing until it is acked; a lease is a part of that row. To make the cost of a claim
// independent of the other jobs in the table, each state has a separate index, and the statements make the planner use
// them.
//
// Two things make claims slow, since no index helps to skip them. A claim reads all ready jobs before its last one that
// are not the first of their serial key: 20,000 of them, ahead of all others, make every claim take about 0.2 s,
// whether of one key or of many. So keep the queues of serial keys short, or give long ones a kind of their own. And a
// claim by a term with engine.Term.MaxWait that skips late jobs reads all of them, some 30 ms for each 100,000: let it
// bury them, or promptly take them by another term.
//
// A transaction that stays open for long, on any table of the server, lets dead rows (tuples) pile up at the front of
// the index of ready jobs. While that makes claims slow, a claim searches from where the previous one ended; once a
// second, or so rarely that it takes a tenth of the time, a claim searches from the front and finds the jobs that were
// put back or are of higher priority. Recoveries are as rare.
//
// The first claim of a plan of a new form, and the first Stats, build the indexes that they need. That waits for every
// transaction that has written to the store, or fails after five seconds, and all others wait, about a second for each
// million ready jobs, also when the call has ended; where an index is there, by any process, nothing is built or
// locked.
//
// Engines that listen are woken within a few milliseconds when jobs become ready or due, without a poll; a wake can be
// lost with a connection or a process, and then a poll finds the jobs.
//
// It keeps package memstore's rules, with these exceptions, each of which is refused and none ignored: Open refuses
// StoreOptions.MaxRunning, MaxInFlight and CountAhead; Claim refuses the orders Aging and Deadline and those by tenant;
// Commit refuses a Guard. A claim passes over jobs that another claim is about to take, so its order is exact only
// while no other runs. IDs of jobs end at 2^63-1, durations at a hundred years.
package pgstore
