// Package history, which has tests only, checks what a store did by what its callers saw, as Jepsen checks
// queues: each process notes every call before it makes it and the answer when it has it,
// and afterwards the notes of all, together with what is left in the store, must fit a
// store that keeps its contract.
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
