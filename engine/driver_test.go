package engine

// Asked is a Driver for tests that stores the engine's requests.
type Asked struct {
	Calls   []*Call
	Starts  []Slot
	Cancels []Slot
}

// Call implements Driver.
func (a *Asked) Call() *Call { return &Call{} }

// Send implements Driver.
func (a *Asked) Send(c *Call) { a.Calls = append(a.Calls, c) }

// Start implements Driver.
func (a *Asked) Start(s Slot, _ *Lease) { a.Starts = append(a.Starts, s) }

// Cancel implements Driver.
func (a *Asked) Cancel(s Slot, _ ErrorKind) { a.Cancels = append(a.Cancels, s) }

// Take returns the calls that were sent since it was last called.
func (a *Asked) Take() []*Call {
	calls := a.Calls
	a.Calls = nil
	return calls
}
