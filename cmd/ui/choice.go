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

// choice is the value of a flag with a fixed set of words.
type choice struct {
	to    *string
	kind  string
	words []string
}

// AddChoice defines a flag whose value is one of at least two words, with shell completion. The word is stored in to,
// whose value is the default; kind is the name of the value in the help text.
func AddChoice(c *cobra.Command, to *string, name, kind, usage string, words ...string) {
	c.Flags().Var(&choice{to, kind, words}, name, usage)
	if err := c.RegisterFlagCompletionFunc(name,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("ui: " + err.Error())
	}
}

// String returns the chosen word.
func (c *choice) String() string { return *c.to }

// Set sets the choice to one of its words.
func (c *choice) Set(text string) error { return Choose(c.to, text, c.words...) }

// Type returns the name that the help text uses for the flag's value.
func (c *choice) Type() string { return c.kind }

// Choose sets to to text if that is one of choices, of which there are at least two; any other text is an error that
// names the most similar choice.
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

// atLeast is the value of a flag for a whole number with a lower limit. A default below the limit means that the flag
// was left out.
type atLeast struct {
	to    *int
	least int
}

// AddAtLeast defines a flag that is a whole number of at least least; it is stored in to, whose value is the default.
func AddAtLeast(c *cobra.Command, to *int, name, short string, least int, usage string) {
	c.Flags().VarP(&atLeast{to, least}, name, short, usage)
}

// AddParallel defines the flag for the number of parallel simulations; 0: one for each processor.
func AddParallel(c *cobra.Command, to *int) {
	AddAtLeast(c, to, "parallel", "j", 1, "simulate this many `RUNS` at once (default: one for each processor)")
}

// String returns the number in digits.
func (a *atLeast) String() string { return strconv.Itoa(*a.to) }

// Set parses a whole number that is not below the limit.
func (a *atLeast) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err == nil && n < a.least {
		err = fmt.Errorf("want at least %d", a.least)
	}
	if err == nil {
		*a.to = n
	}
	return err
}

// Type returns the name that the help text uses for the flag's value.
func (*atLeast) Type() string { return "int" }
