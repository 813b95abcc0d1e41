package cli

import (
	"os"

	"golang.org/x/term"
)

// Width is how many columns the terminal has that standard output is, or 0 if it is none.
func Width() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Capable reports whether file is a terminal that understands more than text.
func Capable(file *os.File) bool {
	return term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
