package world

import (
	"fmt"
	"runtime/debug"
	"time"

	"qsim/engine/sim"
)

// Broken is what Run returns when a simulation panics or a checker complains of it: the
// engine, a store or a policy has broken one of its invariants. The same policy and seed break it again.
type Broken struct {
	Policy string // its label
	Seed   uint64
	At     time.Duration // virtual time
	Cause  any           // what was passed to panic, or the *check.Breach
	Stack  []byte        // of the simulation; nil: a checker found it
	// History is what happened to the job that a checker complained of, a line for each
	// event.
	History string
}

// Error implements error.
func (b *Broken) Error() string {
	return fmt.Sprintf("policy %q, seed %d, at %v: %v", b.Policy, b.Seed, b.At, b.Cause)
}

// broken describes a panic of a simulation, nil if it had not started, from the deferred
// function that has recovered it.
func broken(label string, seed uint64, s *sim.Sim, cause any) *Broken {
	b := &Broken{Policy: label, Seed: seed, Cause: cause, Stack: debug.Stack()}
	if s != nil {
		b.At = time.Duration(s.Now())
	}
	return b
}
