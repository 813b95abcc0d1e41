package world

import (
	"fmt"
	"runtime/debug"
	"time"

	"qsim/engine/sim"
)

// Broken is the error of a simulation that panicked or in which a checker found a breach: the engine, a store or a
// policy has broken an invariant. The same policy and seed break it again.
type Broken struct {
	Policy string // label of the policy
	Seed   uint64
	At     time.Duration // virtual time of the breach
	Cause  any           // argument of panic, such as a *sim.Endless, or the *check.Breach
	Stack  []byte        // stack of the simulation; nil: a checker found the breach, or the clock stood still
	// History lists the events of the job in a checker's breach, one per line.
	History string
}

// Error returns the policy, the seed, the time and the cause.
func (b *Broken) Error() string {
	return fmt.Sprintf("policy %q, seed %d, at %v: %v", b.Policy, b.Seed, b.At, b.Cause)
}

// broken returns the error for a simulation that panicked, nil if it had not started. The deferred function that
// recovered the panic calls it.
func broken(label string, seed uint64, s *sim.Sim, cause any) *Broken {
	b := &Broken{Policy: label, Seed: seed, Cause: cause}
	if _, ok := cause.(*sim.Endless); !ok {
		b.Stack = debug.Stack()
	}
	if s != nil {
		b.At = time.Duration(s.Now())
	}
	return b
}
