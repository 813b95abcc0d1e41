package engine

// Driver carries out an engine's requests (calls to the store, handlers): package sim on a virtual clock, package live
// with goroutines. The engine calls it while it handles an input. It must not call the engine back before that input is
// done, and results of requests reach the engine as inputs of their own, later.
type Driver interface {
	// Call returns a record for the next call to the store, which the engine fills in. Old contents are ignored, but its
	// slices are reused. The driver must not reuse the record until Handle has returned it, or a copy by Call.CopyFrom, or
	// the call is lost.
	Call() *Call
	// Send sends the call that Call returned last to the store. Its answer, if any, is passed to Handle.
	Send(c *Call)
	// Start runs the job of a lease in a slot and reports its end by Engine.Finish. l is valid until then.
	Start(s Slot, l *Lease)
	// Cancel cancels a running job, because of Timeout or LeaseExpired. Its end is still reported by Engine.Finish.
	Cancel(s Slot, why ErrorKind)
}
