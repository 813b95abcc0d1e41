// Command qbench runs the queue engine on the wall clock, against memory and PostgreSQL:
// how fast it is, how noisy the machine is, and how well the simulation predicts it.
package main

import (
	"context"
	"os"

	"qsim/cmd/cli"
)

func main() {
	os.Exit(int(cli.Execute(context.Background(), newRoot(), os.Args[1:])))
}
