// Package ui is the command-line interface common to the commands of this repository: exit codes and the errors that
// carry them, notes on standard error, help texts, and messages for an unknown flag, command or variable. It is
// independent of queues.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit is the exit code of a process; Worse returns the more severe of two.
type Exit int

const (
	ExitMet         Exit = 0   // all went well: objectives met, or missed where a miss is expected
	ExitMissed      Exit = 1   // an objective missed, or a difference was too large
	ExitUsage       Exit = 2   // the command line or a scenario is wrong
	ExitInvariant   Exit = 3   // the engine broke one of its invariants, or lost jobs
	ExitIO          Exit = 4   // reading, writing or a store failed
	ExitInterrupted Exit = 130 // stopped from the keyboard; what had finished is kept
	ExitTerminated  Exit = 143 // the same, by SIGTERM: what Execute makes of ExitInterrupted
)

// severity ranks exit codes: an interruption first, since it explains everything else, then a broken invariant, which
// makes numbers worthless, then lost output, then wrong input.
var severity = map[Exit]int{ExitMet: 0, ExitMissed: 1, ExitUsage: 2, ExitIO: 3, ExitInvariant: 4, ExitInterrupted: 5}

// Worse returns the more severe of two exit codes.
func Worse(a, b Exit) Exit {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// Failure is an error with the exit code of the process.
type Failure struct {
	Exit Exit
	Err  error // error to print; nil: already printed
}

// Fail returns a Failure with an exit code; err is nil if it was printed already. Fail(ExitMet, nil) returns nil.
func Fail(exit Exit, err error) error {
	if exit == ExitMet && err == nil {
		return nil
	}
	return &Failure{exit, err}
}

// Error returns the text of the error, or the exit code if there is none.
func (f *Failure) Error() string {
	if f.Err == nil {
		return fmt.Sprintf("exit %d", f.Exit)
	}
	return f.Err.Error()
}

// Unwrap returns the error without the exit code.
func (f *Failure) Unwrap() error { return f.Err }

// UsageError returns an error about the command line, with the exit code for that.
func UsageError(format string, arguments ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, arguments...))
}

// IOError returns an error of reading or writing, with the exit code for that; nil if err is. If the reader of a pipe
// hung up, the error has no text.
func IOError(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return Fail(ExitIO, nil)
	}
	return Fail(ExitIO, fmt.Errorf("%s: %w", verb, err))
}

// Settle prints the error of a command on its standard error and returns the exit code of the process. An error that is
// no Failure comes from cobra and counts as a mistake on the command line.
func Settle(c *cobra.Command, err error) Exit {
	if err == nil {
		return ExitMet
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{ExitUsage, err}
	}
	if f.Err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %v\n", c.Root().Name(), err)
	}
	return f.Exit
}

// flagError is an error in the flags of a command, which read none of those after it.
type flagError struct{ error }

func (e flagError) Unwrap() error { return e.error }

// OfFlags reports whether a command failed because its flags could not be read.
func OfFlags(err error) bool {
	_, ok := errors.AsType[flagError](err)
	return ok
}

// Execute runs the command below root that arguments name, prints its error and returns the exit code for the process.
// On a terminal, control characters are shown and not carried out; files and pipes get the bytes as written. The Args
// of root should be UnknownCommand. failed, if not nil, is called first for a command that returns an error.
func Execute(ctx context.Context, root *cobra.Command, arguments []string,
	failed func(c *cobra.Command, err error)) Exit {
	return execute(ctx, root, arguments, failed, inertOn(os.Stdout), inertOn(os.Stderr))
}

func execute(ctx context.Context, root *cobra.Command, arguments []string, failed func(c *cobra.Command, err error),
	out, err io.Writer) Exit {
	root.SetArgs(arguments)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError{explainFlag(c, arguments, err)} })
	root.SetOut(out)
	root.SetErr(err)
	terminated.Store(false)
	c, wrong := root.ExecuteContextC(ctx)
	if wrong != nil && failed != nil {
		failed(c, wrong)
	}
	exit := Settle(root, wrong)
	for _, to := range []io.Writer{out, err} {
		if terminal, ok := to.(*inert); ok && terminal.flush() != nil {
			exit = Worse(exit, ExitIO)
		}
	}
	return stopped(exit)
}
