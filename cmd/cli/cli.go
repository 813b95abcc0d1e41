// Package cli is how the commands of this repository speak: their exit codes and the
// errors that carry them, notes on standard error, help texts, and what they say of a
// flag, a command or a variable that does not exist. It knows nothing of queues.
package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"
)

// Execute runs the command below root that arguments name, prints the error that it
// ends with and returns what the process should end with. The Args of root should be
// UnknownCommand.
func Execute(ctx context.Context, root *cobra.Command, arguments []string) Exit {
	root.SetArgs(arguments)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return explainFlag(c, arguments, err) })
	root.SetOut(&inert{to: os.Stdout})
	root.SetErr(&inert{to: os.Stderr})
	return Settle(root, root.ExecuteContext(ctx))
}
