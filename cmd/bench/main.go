// Package bench is the command qbench, which runs the queue engine in real time, on a store in memory or PostgreSQL,
// and measures how fast it is, how noisy the machine is, and how well a simulation predicts it. A program that calls
// Main is qbench with additional policies.
//
// A run executes a synthetic load or a scenario: arrivals, run times, failures, the policies to compare, and storms
// (injected failures or bursts). A candidate is one policy on one store; a round is one run of every candidate. A
// prediction simulates a run with delays from a calibration, a short real run that measures the machine and the store.
// Fresh jobs have had no attempt yet.
package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

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
	// A closed pipe is then an error of the write, after which schemas are dropped and servers stopped as usual.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(int(ui.Execute(context.Background(), newRoot(), os.Args[1:], nil)))
}

// tidying is the note at an interrupt of a command, which reports what it has finished, and drops its schemas.
const tidying = "tidying up"

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "qbench",
		Short: "measure the queue on the wall clock",
		Long: `qbench runs the same engine and policies as qsim, on the wall clock and against a real
store: the memory of this process, or PostgreSQL. It measures how fast they are, how much
results scatter, and how well the simulation predicts a run of a scenario.`,
		Example: `  qbench run                                        no-op jobs, memory: jobs per second
  qbench run --store postgres --rate 2000/s --for 10s   latency at a rate
  qbench run --scenario retry-storm --speed 20x     a scenario, twenty times as fast
  qbench predict --scenario retry-storm --speed 20x simulated and real, side by side`,
		Args: ui.UnknownCommand(nil),
	}
	ui.Add(root, "Measure", newRun(), newCompare(), newNoise(), newPredict(), newWorker())
	ui.SetUp(root)
	return root
}
