// Package pgstore keeps jobs in PostgreSQL. It is an engine.Store for several processes:
// what it keeps survives the death of any of them, and of the server, and its only clock
// is the server's.
//
//	store, err := pgstore.Open(ctx, "postgres://user@host/database", pgstore.Options{
//		Store: engine.StoreOptions{LapseAfter: -1, KeepDead: true},
//	})
//
// Every call is one round trip: one statement, or a few that are sent together and commit
// together. A call that fails with engine.ErrUnavailable may or may not have taken
// effect; connections come back by themselves, so asking again is all there is to do.
//
// One row is one job, from enqueuing until it is acked; a lease is a part of that row. So
// that a claim costs the same whatever else the table holds, each state has an index of
// its own and the planner is told to use them.
//
// It keeps package memstore's rules, with these exceptions, each of which is refused and
// none ignored: Open refuses StoreOptions.MaxRunning, MaxInFlight and CountAhead; Claim
// refuses the orders Aging and Deadline and those by tenant; Commit refuses a Guard. A
// claim passes over jobs that another claim is about to take, so its order is exact only
// while no other runs. IDs of jobs end at 2^63-1, durations at a hundred years.
package pgstore
