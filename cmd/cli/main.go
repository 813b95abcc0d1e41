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

// Main runs qsim with the arguments of the process, and ends the process. Scenarios may use the policies in kinds
// beside the built-in ones: every command lists, draws, checks and completes them. If policies.Add refuses a kind, the
// process ends with its error.
func Main(kinds ...policies.Kind) {
	if err := policies.Add(kinds...); err != nil {
		fmt.Fprintf(os.Stderr, "qsim: %v\n", err)
		os.Exit(int(ui.ExitUsage))
	}
	os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:])))
}
