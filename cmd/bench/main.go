// Package bench is the command qbench, which runs the queue engine on the wall clock, against memory and PostgreSQL:
// how fast it is, how noisy the machine is, and how well the simulation predicts it. A program that calls Main is
// qbench with additional policies, like a program that calls cli.Main for qsim.
package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"qsim/cmd/ui"
	"qsim/policies"
)

// Main runs qbench with the arguments of the process, and ends the process. kinds are policies beside the built-in
// ones; if policies.Add refuses one, the process ends with its error.
func Main(kinds ...policies.Kind) {
	if err := policies.Add(kinds...); err != nil {
		fmt.Fprintf(os.Stderr, "qbench: %v\n", err)
		os.Exit(int(ui.ExitUsage))
	}
	// A reader that hangs up is an error of the write then, after which a schema is dropped
	// and a server stopped; the signal would end the process at once.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:])))
}
