// Command qbench is qbench with the policy polite.
package main

import (
	"example.com/queue"

	"qsim/cmd/bench"
)

func main() { bench.Main(queue.Polite) }
