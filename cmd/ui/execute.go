// Package ui is the command-line interface common to the commands of this repository: exit codes and the errors that
// carry them, notes on standard error, help texts, and messages for an unknown flag, command or variable. It is
// independent of queues.
package ui

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Execute runs the command below root that arguments name, prints its error and returns the exit code for the process.
// On a terminal, control characters are shown and not carried out; files and pipes get the bytes as written. The Args
// of root should be UnknownCommand.
func Execute(ctx context.Context, root *cobra.Command, arguments []string) Exit {
	return execute(ctx, root, arguments, inertOn(os.Stdout), inertOn(os.Stderr))
}

func execute(ctx context.Context, root *cobra.Command, arguments []string, out, err io.Writer) Exit {
	root.SetArgs(arguments)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return explainFlag(c, arguments, err) })
	root.SetOut(out)
	root.SetErr(err)
	terminated.Store(false)
	exit := Settle(root, root.ExecuteContext(ctx))
	for _, to := range []io.Writer{out, err} {
		if terminal, ok := to.(*inert); ok && terminal.flush() != nil {
			exit = Worse(exit, ExitIO)
		}
	}
	return stopped(exit)
}
