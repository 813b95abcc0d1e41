// Command qsim simulates job queues and compares their policies.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:]))
}
