package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/engine/quantity"
)

// addFormat defines the flag --format of a command that prints a table; more are formats besides the common ones.
func addFormat(c *cobra.Command, to *string, more ...string) {
	words := append([]string{"table", "markdown", "csv", "json"}, more...)
	ui.AddChoice(c, to, "format", "FORMAT", "of the result: "+quantity.OrList(words), words...)
}

// plotMode is the value of --plot: the way a plot is drawn in the terminal.
type plotMode string

// String returns the mode as text.
func (m *plotMode) String() string { return string(*m) }

// Set parses a mode of plotting; true and false, as in environment variables, mean auto and never.
func (m *plotMode) Set(text string) error {
	switch text {
	case "true":
		text = "auto"
	case "false":
		text = "never"
	}
	return ui.Choose((*string)(m), text, "auto", "unicode", "ascii", "never")
}

// Type returns the name that the help text uses for the flag's value.
func (m *plotMode) Type() string { return "HOW" }

// apart returns names without a plot mode that a space separates from its flag, and sets that mode: --plot needs no
// value, so that a word after a space is parsed as a scenario.
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

// on reports whether --plot asks for a plot in the terminal: every mode but never does.
func (m plotMode) on() bool { return m != "never" }

// ascii reports whether a plot is drawn with ASCII characters: where the terminal or the locale is known to have no
// others.
func (m plotMode) ascii() bool {
	if m != "auto" {
		return m == "ascii"
	}
	if os.Getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first variable that is set counts
		if locale := strings.ToUpper(os.Getenv(name)); locale != "" {
			return !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
		}
	}
	return false
}
