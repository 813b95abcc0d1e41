package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"qsim/results/plain"
)

// Value is the value of a command-line flag (a pflag.Value), printed and parsed by the functions in its fields.
type Value struct {
	Kind  string // name of the value in the help text
	Show  func() string
	Parse func(text string) error
}

// String returns the flag's present value as text, as Show does.
func (v *Value) String() string { return v.Show() }

// Set parses the text that the command line has for the flag, as Parse does.
func (v *Value) Set(text string) error { return v.Parse(text) }

// Type returns the word for the flag's value in help texts.
func (v *Value) Type() string { return v.Kind }

// AddChoice defines a flag whose value is one of two words or more, with shell completion. The word is stored in *to,
// whose present value is the default; kind stands for the value in help texts.
func AddChoice(c *cobra.Command, to *string, name, kind, usage string, words ...string) {
	parse := func(text string) error { return Choose(to, text, words...) }
	c.Flags().Var(&Value{kind, func() string { return *to }, parse}, name, usage)
	Complete(c, name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Complete sets the function that completes the values of a flag in a shell; it panics if the flag is not defined.
func Complete(c *cobra.Command, name string, function cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(name, function); err != nil {
		panic("ui: " + err.Error())
	}
}

// Choose stores text in *to if it is one of two choices or more; otherwise it returns an error that lists the choices
// and suggests the most similar one.
func Choose(to *string, text string, choices ...string) error {
	if slices.Contains(choices, text) {
		*to = text
		return nil
	}
	last := len(choices) - 1
	explanation := "want " + strings.Join(choices[:last], ", ") + " or " + choices[last]
	if near := plain.Nearest(text, choices); near != "" {
		explanation = "did you mean " + near + "? (" + explanation + ")"
	}
	return errors.New(explanation)
}

// Wanted returns a check for cobra that a command has least to most arguments; message is the text of the error.
func Wanted(least, most int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, names []string) error {
		if len(names) < least || len(names) > most {
			return UsageError("%s", message)
		}
		return nil
	}
}

// NoArguments is the check for cobra that a command has no arguments.
func NoArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return UsageError("%s takes no argument, but got %q; %[1]s --help lists its flags", c.CommandPath(), arguments[0])
	}
	return nil
}

// AddAtLeast defines a flag, with a one-letter name short, for a whole number that is stored in *to and may not be
// below least. The present value of *to is the default; one below least stands for a flag left out.
func AddAtLeast(c *cobra.Command, to *int, name, short string, least int, usage string) {
	parse := func(text string) error {
		n, err := strconv.Atoi(text)
		if err == nil && n < least {
			err = fmt.Errorf("want at least %d", least)
		}
		if err == nil {
			*to = n
		}
		return err
	}
	c.Flags().VarP(&Value{"int", func() string { return strconv.Itoa(*to) }, parse}, name, short, usage)
}

// AddParallel defines the flag --parallel, -j, for how many simulations run at once; 0, the default: one per processor.
func AddParallel(c *cobra.Command, to *int) {
	AddAtLeast(c, to, "parallel", "j", 1, "simulate this many `RUNS` at once (default: one for each processor)")
}
