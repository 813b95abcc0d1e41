package ui

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// Width is how many columns there are for standard output: as many as the variable COLUMNS says, or the
// terminal has that it is; 0 if it is none.
func Width() int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
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
