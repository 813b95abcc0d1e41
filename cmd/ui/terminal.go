package ui

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// When is the value of the flags color and progress: auto, always or never. The zero value is auto.
type When string

// or reports whether the flag turns its feature on: always does, never does not, auto and "" do if auto is true.
func (w When) or(auto bool) bool { return w == "always" || w != "never" && auto }

// Terminal holds the values of the flags quiet, verbose, color and progress; zero is right for commands without them.
type Terminal struct {
	Quiet    bool // print only errors to standard error
	Verbose  bool
	Color    When // colours of standard output
	Progress When // bars on standard error
}

// AddTerminal defines those of the flags quiet, verbose, color and progress that names lists, under one heading.
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

// Coloured reports whether to colour standard output; by default only on a terminal, without NO_COLOR and outside CI.
func (t *Terminal) Coloured() bool {
	return t.Color.or(os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "" && Capable(os.Stdout))
}

// Drawn reports whether to draw progress bars on standard error; if the flag is auto, only on a terminal outside CI.
func (t *Terminal) Drawn() bool {
	return !t.Quiet && t.Progress.or(os.Getenv("CI") == "" && Capable(os.Stderr))
}

// Width returns the number of columns to fit text for standard output in: that of the environment variable COLUMNS, or
// of the terminal; 0, for no limit, if it is no terminal.
func Width() int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	width, _, _ := term.GetSize(int(os.Stdout.Fd())) // at most 0 if it fails
	return max(width, 0)
}

// Capable reports whether a file is a terminal that supports escape sequences, for colours and bars.
func Capable(file *os.File) bool {
	return term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
