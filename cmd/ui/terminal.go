package ui

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// When is the value of a flag that is one of auto, always and never. The zero value is auto.
type When string

// or reports whether a flag turns a feature on: always does, never does not, and auto does if a given condition holds.
func (w When) or(auto bool) bool { return w == "always" || w != "never" && auto }

// Terminal holds the terminal flags of a command: quiet, verbose, color and progress. Its zero value fits a command
// without such flags.
type Terminal struct {
	Quiet    bool // print only errors to standard error
	Verbose  bool
	Color    When // colours of standard output
	Progress When // bars on standard error
}

// AddTerminal defines some of the flags quiet, verbose, color and progress of a command, under a heading of their own.
func AddTerminal(c *cobra.Command, t *Terminal, names ...string) {
	for _, name := range names {
		switch name {
		case "quiet":
			c.Flags().BoolVarP(&t.Quiet, name, "q", false, "print only errors to standard error")
		case "verbose":
			c.Flags().BoolVarP(&t.Verbose, name, "v", false, "print more to standard error")
		case "color":
			addWhen(c, &t.Color, name, "colour the table")
		case "progress":
			addWhen(c, &t.Progress, name, "draw progress bars")
		default:
			panic("ui: no flag about the terminal is called " + name)
		}
	}
	Group(c, "Terminal", names...)
}

func addWhen(c *cobra.Command, to *When, name, usage string) {
	*to = "auto"
	AddChoice(c, (*string)(to), name, "WHEN", usage+": auto, always or never", "auto", "always", "never")
}

// Coloured reports whether standard output is coloured.
func (t *Terminal) Coloured() bool {
	return t.Color.or(os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "" && Capable(os.Stdout))
}

// Drawn reports whether progress bars are drawn on standard error: not by default under CI, even where it offers a
// terminal.
func (t *Terminal) Drawn() bool {
	return !t.Quiet && t.Progress.or(os.Getenv("CI") == "" && Capable(os.Stderr))
}

// Width returns the number of columns of standard output: the value of the variable COLUMNS, or the width of the
// terminal; 0 if standard output is not a terminal.
func Width() int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	width, _, _ := term.GetSize(int(os.Stdout.Fd())) // at most 0 if it fails
	return max(width, 0)
}

// Capable reports whether file is a terminal that supports escape sequences.
func Capable(file *os.File) bool {
	return term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
