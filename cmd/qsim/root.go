package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
		Use:   "qsim",
		Short: "simulate job queues, compare their policies",
		Long: `qsim runs a job queue in virtual time, on the same arrivals, run times and failures
under every policy, and says with intervals what each policy does and what it costs.`,
		Example: `  qsim run retry-storm                 the main scenario: an outage and its retries
  qsim list scenarios                  the other ones that are built in
  qsim run my.yaml --seeds 5           your own, quickly`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddGroup(&cobra.Group{ID: "scenarios", Title: "Scenarios"}, &cobra.Group{ID: "about", Title: "About"})
	root.AddCommand(newRun(), newTrace(), newMap(), newCompare(), newReport(), newSweep(), newMerge(), newImport(), newVerify(), newChaos(), newValidate(), newExplain(), newInit(), newList(), newSchema(), newVersion())
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
	wrong := arguments[0]
	if name := nearest(wrong, names); name != "" {
		return usageError("unknown command %s; did you mean %s?", wrong, name)
	}
	if isScenario(wrong) {
		return usageError("unknown command %s; did you mean qsim run %s?", wrong, wrong)
	}
	return usageError("unknown command %s; qsim --help lists them", wrong)
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

// environment gives every flag that the command line leaves open the value of its
// variable, QSIM_ and the flag's name in capitals.
func environment(c *cobra.Command) error {
	var problems []error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		text := os.Getenv(variable(f.Name))
		if text == "" || f.Changed {
			return
		}
		values := []string{text}
		if _, repeatable := f.Value.(pflag.SliceValue); repeatable {
			values = strings.Split(text, ";")
		}
		for _, value := range values {
			if err := c.Flags().Set(f.Name, value); err != nil {
				var invalid *pflag.InvalidValueError
				if errors.As(err, &invalid) {
					err = plain(f, invalid.Unwrap())
				}
				problems = append(problems, fmt.Errorf("%s=%s: %w", variable(f.Name), text, err))
				return
			}
		}
	})
	if len(problems) > 0 {
		return &failure{exitUsage, errors.Join(problems...)}
	}
	return nil
}

// warnOfVariables tells of variables that look like ours and are those of no flag.
func warnOfVariables(c *cobra.Command, to io.Writer) {
	var known []string
	for _, command := range c.Root().Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, variable(f.Name)) })
	}
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, "QSIM_") || slices.Contains(known, name) {
			continue
		}
		if near := nearest(name, known); near != "" {
			fmt.Fprintf(to, "qsim: warning: no flag has the variable %s; did you mean %s?\n", name, near)
		} else {
			fmt.Fprintf(to, "qsim: warning: no flag has the variable %s\n", name)
		}
	}
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "QSIM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
