package live

import (
	"context"
	"errors"
	"fmt"

	"qsim/engine"
)

// Causes for the cancellation of a handler's context, see context.Cause.
var (
	// ErrTimeout is the cause when an execution exceeds its timeout. The job has been nacked, unless
	// engine.KindConfig.WaitOut is set. It wraps context.DeadlineExceeded.
	ErrTimeout = fmt.Errorf("live: execution timed out: %w", context.DeadlineExceeded)
	// ErrLeaseLost is the cause when the lease is lost: another engine has the job, or it has ended.
	// The outcome of this execution is ignored.
	ErrLeaseLost = errors.New("live: lease lost")
	// ErrStopped is the cause when the process stops and Config.StopWithin is over.
	ErrStopped = errors.New("live: stopped")
)

// Error is an error for a handler to return, with the error kind by which the retry policy decides.
type Error struct {
	Kind engine.ErrorKind // kind of the error; NoError stands for Config.OtherError
	Err  error            // wrapped error; may be nil
}

// Error returns the text of Err, or the kind if it is nil.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("error of kind %d", e.Kind)
	}
	return e.Err.Error()
}

// Unwrap returns Err, the error without the kind.
func (e *Error) Unwrap() error { return e.Err }

// PanicError is the error of a handler that panicked, or that ended its goroutine by runtime.Goexit. Its kind is
// engine.Panicked.
type PanicError struct {
	Value any    // value passed to panic; nil: Goexit
	Stack []byte // stack of the goroutine, as debug.Stack formats it
}

// Error returns a message with the value that the handler panicked with, without the stack.
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
	Jobs     int // jobs claimed whose outcome the store has not received, including those of Handlers
	Handlers int // executions still running
	Calls    int // calls to the store still under way
}

// Error returns the message, with the numbers of jobs, handlers and store calls that the stop gave up waiting for.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("stop: abandoned %d jobs; %d handlers and %d calls to the store did not return",
		e.Jobs, e.Handlers, e.Calls)
}
