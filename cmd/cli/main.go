// Package cli is the command qsim, which simulates job queues and compares their policies. A program that calls Main is
// qsim with policies of its own:
//
//	func main() { cli.Main(polite) }
package cli

import (
	"context"
	"fmt"
	"os"

	"qsim/cmd/ui"
	"qsim/policies"
)

// Main runs qsim with the arguments of the process, and ends the process. Scenarios may name kinds as well as those
// that there are: every command lists, draws, checks and completes them. A kind that policies.Add refuses ends the
// process with what is wrong with it.
func Main(kinds ...policies.Kind) {
	if err := policies.Add(kinds...); err != nil {
		fmt.Fprintf(os.Stderr, "qsim: %v\n", err)
		os.Exit(int(ui.ExitUsage))
	}
	os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:])))
}
