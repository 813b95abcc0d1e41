package cli

import (
	"github.com/spf13/cobra"

	"qsim/cmd/ui"
)

// keeping is what an interrupt is answered with.
const keeping = "interrupted: keeping what has finished; once more to quit at once"

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false // they are listed in the order in which they are needed
	root := &cobra.Command{
		Use:   "qsim",
		Short: "simulate job queues, compare their policies",
		Long: `qsim runs a job queue in virtual time, on the same arrivals, run times and failures
under every policy, and says with intervals what each policy does and what it costs.`,
		Example: `  qsim run retry-storm                 the main scenario: an outage and its retries
  qsim list scenarios                  the other ones that are built in
  qsim run my.yaml --seeds 5           your own, quickly`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          ui.UnknownCommand(runOf),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return ui.ReadEnvironment(c) },
	}
	root.AddGroup(&cobra.Group{ID: "scenarios", Title: "Scenarios"}, &cobra.Group{ID: "about", Title: "About"})
	root.AddCommand(newRun(), newTrace(), newMap(), newCompare(), newReport(), newSweep(), newMerge(), newTune(),
		newImport(), newVerify(), newChaos(), newValidate(), newExplain(), newInit(), newList(), newSchema(), newVersion(), ui.NewDocs())
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	complete(root)
	for _, command := range root.Commands() {
		switch command.Name() {
		case "help":
			command.Short = "explain a command"
		case "completion":
			command.Short = "print a script that completes commands in a shell"
		}
	}
	ui.SetHelp(root)
	return root
}

func newVersion() *cobra.Command { return ui.NewVersion(cobra.NoArgs) }

// runOf is the command line that a word may have been meant for which is no command: the
// run of a scenario.
func runOf(word string) string {
	if isScenario(word) {
		return "qsim run " + word
	}
	return ""
}
