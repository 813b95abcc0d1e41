package live

import (
	"context"
	"errors"
	"fmt"

	"qsim/engine"
)

// Causes for the cancellation of a handler's context, see context.Cause.
var (
	// ErrTimeout: it ran longer than its execution timeout. The job has been nacked. It
	// wraps context.DeadlineExceeded.
	ErrTimeout = fmt.Errorf("live: execution timed out: %w", context.DeadlineExceeded)
	// ErrLeaseLost: the job is somebody else's by now, or has ended. Nothing that this
	// execution reports is heard.
	ErrLeaseLost = errors.New("live: lease lost")
	// ErrStopped: the process stops, and Config.StopWithin is over.
	ErrStopped = errors.New("live: stopped")
)

// Error is an error of a handler with its error kind.
type Error struct {
	Kind engine.ErrorKind // NoError stands for Config.OtherError
	Err  error            // may be nil
}

// Error returns the text of Err, or the kind if it is nil.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("error of kind %d", e.Kind)
	}
	return e.Err.Error()
}

// Unwrap returns the error without the kind.
func (e *Error) Unwrap() error { return e.Err }

// PanicError is the error of a handler that panicked, or that ended its goroutine by
// runtime.Goexit. Its kind is engine.Panicked.
type PanicError struct {
	Value any    // what it panicked with; nil: Goexit
	Stack []byte // of the goroutine, as debug.Stack formats it
}

// Error returns the value that the handler panicked with, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "handler called runtime.Goexit"
	}
	return fmt.Sprintf("handler panicked: %v", e.Value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// AbandonedError reports that Run stopped before all jobs and calls were finished. The leases of abandoned jobs expire,
// and the jobs run again.
type AbandonedError struct {
	Jobs     int // claimed, and the store was not told their end; those of Handlers among them
	Handlers int // executions that still go on
	Calls    int // to the store, that still go on
}

// Error returns how many jobs were abandoned.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("stop: abandoned %d jobs; %d handlers and %d calls to the store did not return", e.Jobs, e.Handlers, e.Calls)
}
