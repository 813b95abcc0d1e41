package bench

import (
	"github.com/spf13/cobra"

	"qsim/cmd/ui"
)

// keeping is the message at the first interrupt of a command.
const keeping = "interrupted: tidying up; once more to quit at once"

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false // they are listed in the order in which they are needed
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
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          ui.UnknownCommand(nil),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return ui.ReadEnvironment(c) },
	}
	root.AddGroup(&cobra.Group{ID: "measure", Title: "Measure"}, &cobra.Group{ID: "about", Title: "About"})
	root.AddCommand(newRun(), newCompare(), newNoise(), newPredict(), newWorker(), ui.NewVersion(noArguments),
		ui.NewDocs())
	ui.AddAbout(root)
	ui.SetHelp(root)
	return root
}

// noArguments returns a usage error if a command that takes no arguments has one.
func noArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return ui.UsageError("%s takes no argument, but got %q; %s --help lists its flags", c.CommandPath(), arguments[0],
			c.CommandPath())
	}
	return nil
}
