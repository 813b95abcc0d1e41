// Command qbench runs the queue engine on the wall clock, against memory and PostgreSQL:
// how fast it is, how noisy the machine is, and how well the simulation predicts it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"qsim/cmd/cli"
)

func main() {
	// A reader that hangs up is an error of the write then, after which a schema is dropped
	// and a server stopped; the signal would end the process at once.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(int(cli.Execute(context.Background(), newRoot(), os.Args[1:])))
}
