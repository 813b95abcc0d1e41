package cli

import (
	"os"
	"strings"

	"qsim/cmd/ui"
)

// when is a flag that is one of auto, always and never.
type when string

// String implements pflag.Value.
func (w *when) String() string { return string(*w) }

// Set implements pflag.Value.
func (w *when) Set(text string) error {
	return ui.Choose((*string)(w), text, "auto", "always", "never")
}

// Type implements pflag.Value: what the help text calls the value.
func (w *when) Type() string { return "WHEN" }

// format is how the result is printed.
type format string

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	return ui.Choose((*string)(f), text, "table", "markdown", "csv", "json")
}

// Type implements pflag.Value.
func (f *format) Type() string { return "FORMAT" }

// coloured reports whether what is printed to file is coloured.
func (w when) coloured(file *os.File) bool {
	switch w {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "" && ui.Capable(file)
}

// bars reports whether progress is drawn on file. A machine that builds has nobody to
// watch, even where it offers a terminal.
func (w when) bars(file *os.File) bool {
	switch w {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("CI") == "" && ui.Capable(file)
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
