package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// execute runs the command that arguments name and returns the exit code.
func execute(ctx context.Context, arguments []string) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return explainFlag(c, arguments, err) })
	root.SetOut(os.Stdout)
	root.SetErr(os.Stderr)
	return int(settle(os.Stderr, root.ExecuteContext(ctx)))
}

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false // they are listed in the order in which they are needed
	root := &cobra.Command{
		Use:   "qbench",
		Short: "measure the queue on the wall clock",
		Long: `qbench runs the same engine and policies as qsim, on the wall clock and against a real
store: the memory of this process, or PostgreSQL. It says how fast they are, what is
noise, and how well the simulation predicts a run of a scenario.`,
		Example: `  qbench run                                        no-op jobs, memory: jobs per second
  qbench run --store postgres --rate 2000/s --for 10s   latency at a rate
  qbench run --scenario retry-storm --speed 20x     a scenario, twenty times as fast
  qbench predict --scenario retry-storm --speed 20x simulated and real, side by side`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddGroup(&cobra.Group{ID: "measure", Title: "Measure"}, &cobra.Group{ID: "about", Title: "About"})
	root.AddCommand(newRun(), newCompare(), newNoise(), newPredict(), newWorker(), newVersion())
	root.SetHelpCommandGroupID("about")
	root.InitDefaultHelpCmd()
	root.CompletionOptions.DisableDefaultCmd = true
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.Short = "explain a command"
		}
	}
	root.SetUsageFunc(printUsage)
	root.SetHelpFunc(printHelp)
	root.InitDefaultHelpFlag()
	return root
}

// noSuchCommand complains about an argument where a command should be.
func noSuchCommand(root *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	var names []string
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() || command.Name() == "help" {
			names = append(names, command.Name())
		}
	}
	if name := nearest(arguments[0], names); name != "" {
		return usageError("unknown command %s; did you mean %s?", arguments[0], name)
	}
	return usageError("unknown command %s; qbench --help lists them", arguments[0])
}

// explainFlag turns what pflag says of a wrong flag into a sentence that helps.
func explainFlag(c *cobra.Command, arguments []string, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, arguments, unknown)
	case errors.As(err, &invalid):
		return usageError("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), plain(invalid.GetFlag(), invalid.Unwrap()))
	case errors.As(err, &missing):
		return usageError("--%s needs a value; %s --help explains it", missing.GetFlag().Name, c.CommandPath())
	}
	return usageError("%w", err)
}

func unknownFlag(c *cobra.Command, arguments []string, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	if !c.HasParent() {
		// The flag may belong to a command that was misspelled or forgotten.
		for _, argument := range arguments {
			if !strings.HasPrefix(argument, "-") {
				return noSuchCommand(c, []string{argument})
			}
		}
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return usageError("unknown flag -%s; %s --help lists them", name, c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := nearest(name, names); near != "" {
		return usageError("unknown flag --%s; did you mean --%s?", name, near)
	}
	return usageError("unknown flag --%s; %s --help lists them", name, c.CommandPath())
}

// plain says what a flag's value should have been.
func plain(f *pflag.Flag, err error) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("is out of range")
	case !errors.Is(err, strconv.ErrSyntax):
		return err
	case f.Value.Type() == "bool":
		return errors.New("want true or false")
	}
	return errors.New("want a whole number")
}

// nearest is the name that word was probably meant to be, or "". Of names equally far
// it is the one that is as long: letters are swapped more often than lost.
func nearest(word string, names []string) string {
	best, least := "", 2*(1+len(word)/3)+1
	for _, name := range names {
		distance := 2 * levenshtein.ComputeDistance(word, name)
		if len(word) >= 2 && strings.HasPrefix(name, word) {
			distance = 2 // cut short
		}
		if len(name) != len(word) {
			distance++
		}
		if distance <= least && (best == "" || distance < least) {
			best, least = name, distance
		}
	}
	return best
}

// noArguments complains about an argument of a command that takes none.
func noArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError("%s takes no argument, but got %q; %s --help lists its flags", c.CommandPath(), arguments[0], c.CommandPath())
	}
	return nil
}
