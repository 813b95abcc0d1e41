// Package cli is the command qsim, which simulates job queues and compares their policies.
package cli

import (
	"context"
	"os"

	"qsim/cmd/ui"
)

// Main runs qsim with the arguments of the process, and ends the process.
func Main() { os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:]))) }
