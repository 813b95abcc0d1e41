package main

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/term"
)

// when is a flag that is one of auto, always and never.
type when string

// String implements pflag.Value.
func (w *when) String() string { return string(*w) }

// Set implements pflag.Value.
func (w *when) Set(text string) error { return choose((*string)(w), text, "auto", "always", "never") }

// Type implements pflag.Value: what the help text calls the value.
func (w *when) Type() string { return "WHEN" }

// format is how the result is printed.
type format string

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	return choose((*string)(f), text, "table", "markdown", "csv", "json")
}

// Type implements pflag.Value.
func (f *format) Type() string { return "FORMAT" }

// choose sets to to text if that is one of choices.
func choose(to *string, text string, choices ...string) error {
	for _, choice := range choices {
		if text == choice {
			*to = text
			return nil
		}
	}
	last := len(choices) - 1
	explanation := "want " + strings.Join(choices[:last], ", ") + " or " + choices[last]
	if near := nearest(text, choices); near != "" {
		explanation = "did you mean " + near + "? (" + explanation + ")"
	}
	return errors.New(explanation)
}

// coloured reports whether what is printed to file is coloured.
func (w when) coloured(file *os.File) bool {
	switch w {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && capable(file)
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
	return os.Getenv("CI") == "" && capable(file)
}

// capable reports whether file is a terminal that understands more than text.
func capable(file *os.File) bool {
	return term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
