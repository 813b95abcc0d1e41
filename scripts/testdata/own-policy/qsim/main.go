// Command qsim is qsim with the policy polite.
package main

import (
	"example.com/queue"

	"qsim/cmd/cli"
)

func main() { cli.Main(queue.Polite) }
