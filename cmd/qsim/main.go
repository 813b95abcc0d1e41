// Command qsim simulates job queues and compares their policies.
package main

import (
	"context"
	"os"

	"qsim/cmd/cli"
)

func main() {
	os.Exit(int(cli.Execute(context.Background(), newRoot(), os.Args[1:])))
}
