package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// exitCode is what the process ends with; the worst of several counts.
type exitCode int

const (
	exitMet         exitCode = 0   // all went well
	exitMissed      exitCode = 1   // an objective missed, or a difference was too large
	exitUsage       exitCode = 2   // the command line or a scenario is wrong
	exitInvariant   exitCode = 3   // jobs were lost
	exitIO          exitCode = 4   // reading, writing or a store failed
	exitInterrupted exitCode = 130 // stopped by a signal; what had finished is kept
)

// severity ranks exit codes: an interruption explains everything else, a broken
// invariant makes numbers worthless, lost output comes before wrong input.
var severity = map[exitCode]int{exitMet: 0, exitMissed: 1, exitUsage: 2, exitIO: 3, exitInvariant: 4, exitInterrupted: 5}

// worse is the one of two exit codes that the process should end with.
func worse(a, b exitCode) exitCode {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// failure is an error with the exit code it leads to. A nil err has been printed
// already.
type failure struct {
	code exitCode
	err  error
}

// Error implements error.
func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

// Unwrap implements errors.Unwrap.
func (f *failure) Unwrap() error { return f.err }

// usageError is a complaint about the command line.
func usageError(format string, arguments ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, arguments...)}
}

// ioError is an error of reading or writing. What a reader of our output hung up on is
// not worth a word.
func ioError(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return &failure{exitIO, nil}
	}
	return &failure{exitIO, fmt.Errorf("%s: %w", verb, err)}
}

// settle prints err and says how the process ends.
func settle(stderr io.Writer, err error) exitCode {
	if err == nil {
		return exitMet
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{exitUsage, err} // cobra's own: all about the command line
	}
	if f.err != nil {
		fmt.Fprintf(stderr, "qbench: %v\n", err)
	}
	return f.code
}
