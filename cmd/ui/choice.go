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

// Value is a command-line flag's value (pflag.Value) that is printed and parsed by the functions in its fields.
type Value struct {
	Kind  string // name of the value in the help text
	Show  func() string
	Parse func(text string) error
}

// String returns the present value of the flag as text.
func (v *Value) String() string { return v.Show() }

// Set sets the flag to the value that a text of the command line stands for.
func (v *Value) Set(text string) error { return v.Parse(text) }

// Type returns the name that the help text uses for the flag's value.
func (v *Value) Type() string { return v.Kind }

// AddChoice defines a flag whose value is one of at least two words, with shell completion. The word is stored in *to,
// whose present value is the default; kind is the name of the value in the help text.
func AddChoice(c *cobra.Command, to *string, name, kind, usage string, words ...string) {
	parse := func(text string) error { return Choose(to, text, words...) }
	c.Flags().Var(&Value{kind, func() string { return *to }, parse}, name, usage)
	Complete(c, name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Complete sets the shell completion of the values of a flag, which must be defined.
func Complete(c *cobra.Command, name string, function cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(name, function); err != nil {
		panic("ui: " + err.Error())
	}
}

// Choose stores text in *to if it is one of choices, of which there are at least two; otherwise it returns an error
// that names the most similar choice.
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

// Wanted returns a check that the number of a command's arguments is in [least, most]; message is the usage error.
func Wanted(least, most int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, names []string) error {
		if len(names) < least || len(names) > most {
			return UsageError("%s", message)
		}
		return nil
	}
}

// AddAtLeast defines a flag for a whole number not below least; it is stored in *to, whose present value is the
// default. A default below least means that the flag was left out.
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

// AddParallel defines the flag for the number of parallel simulations; a value of 0, the default, is one per processor.
func AddParallel(c *cobra.Command, to *int) {
	AddAtLeast(c, to, "parallel", "j", 1, "simulate this many `RUNS` at once (default: one for each processor)")
}
