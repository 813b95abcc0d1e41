// Package ui is the command-line interface that the commands of this repository share: exit codes and errors with one,
// notes on standard error, help texts, and suggestions for unknown flags, commands and variables.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"qsim/results/plain"
)

// Exit is the exit code of a process.
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

// severity ranks exit codes for Worse: an interruption highest, since it explains everything else, then a broken
// invariant, which makes numbers worthless, then lost output, then wrong input.
var severity = map[Exit]int{ExitMet: 0, ExitMissed: 1, ExitUsage: 2, ExitIO: 3, ExitInvariant: 4, ExitInterrupted: 5}

// Worse returns the more severe of two exit codes.
func Worse(a, b Exit) Exit {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// Failure is an error that determines the exit code of the process, see Settle.
type Failure struct {
	Exit Exit
	Err  error // error to print; nil: already printed
}

// Fail returns a Failure with an exit code; err is nil if its text has been printed. Fail(ExitMet, nil) returns nil.
func Fail(exit Exit, err error) error {
	if exit == ExitMet && err == nil {
		return nil
	}
	return &Failure{exit, err}
}

// Error returns the text of Err, or "exit N" if that is nil.
func (f *Failure) Error() string {
	if f.Err == nil {
		return fmt.Sprintf("exit %d", f.Exit)
	}
	return f.Err.Error()
}

// Unwrap returns the error without the exit code.
func (f *Failure) Unwrap() error { return f.Err }

// UsageError returns an error with a formatted text about a wrong command line; the process exits with ExitUsage.
func UsageError(format string, arguments ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, arguments...))
}

// IOError returns err, an error of reading or writing, after verb as context; the process exits with ExitIO. If the
// reader of a pipe has gone (EPIPE), nothing is printed. nil gives nil.
func IOError(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return Fail(ExitIO, nil)
	}
	return Fail(ExitIO, fmt.Errorf("%s: %w", verb, err))
}

// Settle prints the error that a command returned, without the middle of words that are too long, and returns the exit
// code of the process. An error that is no Failure comes from cobra, and counts as a wrong command line.
func Settle(c *cobra.Command, err error) Exit {
	if err == nil {
		return ExitMet
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{ExitUsage, err}
	}
	if f.Err != nil {
		long := regexp.MustCompile(`\S{1000}\S+`) // longer than most paths
		text := long.ReplaceAllStringFunc(err.Error(), func(word string) string { return plain.Shorten(word, 100) })
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", c.Root().Name(), text)
	}
	return f.Exit
}

// flagError is an error in a flag of a command: the flags after it have not been read.
type flagError struct{ error }

func (e flagError) Unwrap() error { return e.error }

// OfFlags reports whether err, which a command returned, is about a flag, so that the flags after that were not read.
func OfFlags(err error) bool {
	_, ok := errors.AsType[flagError](err)
	return ok
}

// Execute runs the command below root that arguments name, prints its error and returns the exit code for the process.
// Control characters in output to a terminal are neutralised; files and pipes get the bytes as written. The Args of
// root should be UnknownCommand. failed, if not nil, is called with a command's error before that is printed.
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
