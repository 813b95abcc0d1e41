// Package cli is the command qsim, which simulates job queues and compares their policies. A program that calls Main is
// qsim with policies of its own:
//
//	func main() { cli.Main(polite) }
//
// A scenario has arrivals, run times, failures, storms (injected failures or bursts), the policies to compare and
// objectives (limits on metrics). A study (sweep, map, tune, doctor) simulates a scenario with many values of its keys;
// each combination of values is a cell.
package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/policies"
	"qsim/results/plain"
)

// Main runs qsim with the arguments of the process, and ends the process. Scenarios may use the policies in kinds
// beside the built-in ones: every command lists, draws, checks and completes them. If policies.Add refuses a kind, the
// process ends with its error.
func Main(kinds ...policies.Kind) {
	if err := policies.Add(kinds...); err != nil {
		fmt.Fprintf(os.Stderr, "qsim: %v\n", err)
		os.Exit(int(ui.ExitUsage))
	}
	// Go collects garbage whenever the heap has doubled, first at 4 MB: of a small run with files that takes an eighth of
	// the time. Memory that nobody writes to counts towards the heap and takes up none itself; the garbage that gathers
	// until the first collection does, about 20 MB. It would count towards a memory limit, too.
	var unused []byte
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		unused = make([]byte, 32<<20)
	}
	code := ui.Execute(context.Background(), newRoot(), os.Args[1:], unjudged)
	runtime.KeepAlive(unused)
	os.Exit(int(code))
}

// keeping is the note at an interrupt of a command that writes, or prints as a result, what it has finished.
const keeping = "keeping what has finished"

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "qsim",
		Short: "simulate job queues, compare their policies",
		Long: `qsim runs a job queue in virtual time, with the same arrivals, run times and failures
under every policy, and reports what each policy does and costs, with intervals.`,
		Example: `  qsim run retry-storm                 the main scenario: an outage and its retries
  qsim list scenarios                  the other ones that are built in
  qsim run my.yaml --seeds 5           your own, quickly`,
		Args: ui.UnknownCommand(func(word string) string { return plain.When(isScenario(word), "qsim run "+word) }),
	}
	ui.Add(root, "Run", newRun(), newCompare(), newReport())
	ui.Add(root, "Explore", newPlay(), newMap(), newSweep(), newTune(), newDoctor(), newTrace())
	ui.Add(root, "Write", newInit(), newValidate(), newExplain(), newApply(), newList(), newSchema(), newImport())
	ui.Add(root, "Trust", newVerify(), newChaos())
	ui.Add(root, "Cluster", newMerge())
	ui.SetUp(root)
	root.PersistentPreRunE = prepare
	complete(root)
	return root
}

// prepare sets flags from environment variables and refuses --quiet together with --verbose. For --format junit and
// github it makes the output and standard error witnesses, for unjudged.
func prepare(c *cobra.Command, _ []string) error {
	if err := ui.ReadEnvironment(c); err != nil {
		return err
	}
	quiet, _ := c.Flags().GetBool("quiet")
	if verbose, _ := c.Flags().GetBool("verbose"); quiet && verbose {
		return ui.UsageError("--quiet and --verbose exclude each other")
	}
	if format := c.Flags().Lookup("format"); format != nil && slices.Contains(judging, format.Value.String()) {
		c.SetOut(&witness{to: c.OutOrStdout()})
		c.SetErr(&witness{to: c.ErrOrStderr()})
	}
	return nil
}

// keptOrder is the shell directive for completions that are not files and must not be sorted.
const keptOrder = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
