package engine

// Driver carries out an engine's requests (calls to the store, handlers): package sim on a virtual clock, package live
// with goroutines. The engine calls it while it handles an input. It must not call the engine back before that input is
// done, and results of requests reach the engine as inputs of their own, later.
type Driver interface {
	// Call returns a record for the next call to the store, which the engine fills in. What
	// the record held before does not matter, but its slices are reused. It is used for nothing
	// else until it has been given back by Handle, or the call is lost.
	Call() *Call
	// Send sends the call that Call returned last to the store. Once it is answered, if ever, it
	// comes back by Handle.
	Send(c *Call)
	// Start runs the job of a lease in a slot and reports with Finish. l is valid until then.
	Start(s Slot, l *Lease)
	// Cancel stops a running job, because of Timeout or LeaseExpired. It still reports with
	// Finish.
	Cancel(s Slot, why ErrorKind)
}
