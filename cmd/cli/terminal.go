package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
)

// addFormat defines the flag --format of a command that prints a table.
func addFormat(c *cobra.Command, to *string) {
	ui.AddChoice(c, to, "format", "FORMAT", "of the result: table, markdown, csv or json", "table", "markdown", "csv",
		"json")
}

// plotMode is how a plot is drawn in the terminal.
type plotMode string

// String implements pflag.Value.
func (m *plotMode) String() string { return string(*m) }

// Set implements pflag.Value. Variables say true and false.
func (m *plotMode) Set(text string) error {
	switch text {
	case "true":
		text = "auto"
	case "false":
		text = "never"
	}
	return ui.Choose((*string)(m), text, "auto", "unicode", "ascii", "never")
}

// Type implements pflag.Value.
func (m *plotMode) Type() string { return "HOW" }

// apart takes the word for how to plot from names, where it stands apart from its flag: --plot needs no value, so that
// one behind a space is taken for a scenario.
func (m *plotMode) apart(names []string) []string {
	if *m != "auto" {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		is := (name == "ascii" || name == "unicode" || name == "auto" || name == "never") && !isScenario(name)
		if is {
			*m = plotMode(name)
		}
		return is
	})
}

// on reports whether there is a plot at all.
func (m plotMode) on() bool { return m != "never" }

// ascii reports whether a plot is drawn with plain characters: where the terminal or the
// locale is said to know no others.
func (m plotMode) ascii() bool {
	if m != "auto" {
		return m == "ascii"
	}
	if os.Getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if locale := strings.ToUpper(os.Getenv(name)); locale != "" {
			return !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
		}
	}
	return false
}
