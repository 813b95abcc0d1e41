// Package bench is the command qbench, which runs the queue engine on the wall clock, against memory and PostgreSQL:
// how fast it is, how noisy the machine is, and how well the simulation predicts it.
package bench

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"qsim/cmd/ui"
)

// Main runs qbench with the arguments of the process, and ends the process.
func Main() {
	// A reader that hangs up is an error of the write then, after which a schema is dropped
	// and a server stopped; the signal would end the process at once.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:])))
}
