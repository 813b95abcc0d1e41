// Package history, which has tests only, checks a store from the recorded calls of its users, as Jepsen does: each
// process records every call before it makes it and the answer when it has it, and afterwards all records, together
// with the jobs left in the store, must fit a store that keeps its contract.
//
// The check knows nothing of the store but its answers. A call whose answer was lost may
// or may not have taken effect, at any time from its begin on: whatever could be explained
// by that is no anomaly. So what it reports did happen; what it does not report may have.
//
//	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
//	recorded := history.Record(store, file, clock) // in each process
//	calls, err := history.Read(file, name)         // afterwards, of each file
//	report := history.Check(all, left)
package history
