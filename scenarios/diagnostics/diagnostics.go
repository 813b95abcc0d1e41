// Package diagnostics holds the errors and warnings about the text of a scenario, and writes them for its author: each
// with its position, the lines around it, and help. A Source knows the text and the positions of its values; its Cause
// finds the author's mistake behind an error of the YAML parser.
package diagnostics

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// Severity is how serious a diagnostic of a scenario is: an error prevents a run, a warning does not.
type Severity uint8

const (
	Error   Severity = iota + 1 // the scenario cannot be run
	Warning                     // the scenario can be run, but probably not as meant
)

// String returns "error" or "warning".
func (s Severity) String() string { return [...]string{"?", "error", "warning"}[s] }

// Diagnostic is one error or warning about a scenario, with its place in the file.
type Diagnostic struct {
	Line, Col int    // position, from 1, in characters; Line 0: the diagnostic is about the whole file
	Width     int    // number of characters to underline, at least 1
	Set       string // if not empty, the override with the problem, which is not in the file
	Severity  Severity
	Message   string
	Help      string // advice, or empty
	Note      string // explanation, or empty
}

// Of returns an error e, whose position in the file is at, as a Diagnostic one character wide.
func Of(e *quantity.Error, at yaml.Mark) Diagnostic {
	return Diagnostic{Line: at.Line, Col: at.Column, Width: 1, Severity: Error,
		Message: e.Message, Help: e.Help, Note: e.Note}
}

// List is the errors and warnings about one scenario.
type List []Diagnostic

// Errors returns the diagnostics that are errors, not warnings: with one of these a scenario cannot be run.
func (ds List) Errors() List {
	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool { return d.Severity != Error })
}

// Sorted returns the list, sorted in place by position, errors first, overrides last, and without duplicates.
func (ds List) Sorted() List {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		if (a.Set == "") != (b.Set == "") {
			return len(a.Set) - len(b.Set) // those in the file come first
		}
		return cmp.Or(a.Line-b.Line, a.Col-b.Col, cmp.Compare(a.Severity, b.Severity))
	})
	seen := map[Diagnostic]bool{}
	return slices.DeleteFunc(ds, func(d Diagnostic) bool {
		said := Diagnostic{Line: d.Line, Col: d.Col, Set: d.Set, Message: d.Message}
		again := seen[said]
		seen[said] = true
		return again
	})
}

// mostShown is the highest number of diagnostics that Text writes in full.
const mostShown = 100

// Text returns the list as text for a terminal: each diagnostic with its position, the lines around it and help. name
// is the name of the file, and src its text, whose control characters are replaced.
func (ds List) Text(name string, src []byte) string {
	lines := splitLines(src)
	var b strings.Builder
	for i, d := range ds {
		if i == mostShown {
			fmt.Fprintf(&b, "%s: and %d more\n", printable(name), len(ds)-mostShown)
			break
		}
		d.render(&b, name, lines)
	}
	return b.String()
}

func (d *Diagnostic) render(b *strings.Builder, name string, lines []string) {
	place := printable(name)
	switch {
	case d.Set != "":
		place = printable(Cut(d.Set))
	case d.Line != 0:
		place = fmt.Sprintf("%s:%d:%d", place, d.Line, d.Col)
	}
	fmt.Fprintf(b, "%s: %s: %s\n", place, d.Severity, printable(d.Message))
	if d.Set == "" && d.Line >= 1 && d.Line <= len(lines) {
		if d.Line > 1 && strings.TrimSpace(lines[d.Line-2]) != "" {
			fmt.Fprintf(b, "%5d | %s\n", d.Line-1, strings.TrimRight(excerpt(lines[d.Line-2], 1, 0).text, " "))
		}
		e := excerpt(lines[d.Line-1], d.Col, d.Width)
		fmt.Fprintf(b, "%5d | %s\n", d.Line, strings.TrimRight(e.text, " "))
		fmt.Fprintf(b, "      | %s%s\n", strings.Repeat(" ", e.before), strings.Repeat("^", e.width))
	}
	if d.Help != "" {
		fmt.Fprintf(b, "      = help: %s\n", printable(d.Help))
	}
	if d.Note != "" {
		fmt.Fprintf(b, "      = note: %s\n", printable(d.Note))
	}
}

// mostColumns is the highest number of terminal columns that Text uses for a line of the file or an override.
const mostColumns = 100

// shown is the part of a file's line that a terminal shows, and the columns of it to underline.
type shown struct {
	text          string
	before, width int // columns before the mark, and columns of the mark
}

// excerpt returns the part of a line around its characters [col, col+width), from 1, at most mostColumns wide.
func excerpt(line string, col, width int) shown {
	runes := []rune(line)
	from := max(0, min(col-1, len(runes)))
	to := min(len(runes), from+max(width, 1))
	start, lead := 0, ""
	if from > mostColumns*3/4 {
		start, lead = from-mostColumns/4, "…"
	}
	var text strings.Builder
	text.WriteString(lead)
	columns, e := len([]rune(lead)), shown{}
	for i, r := range runes[start:] {
		if columns >= mostColumns {
			text.WriteString("…")
			break
		}
		cell, size := display(r)
		text.WriteString(cell)
		columns += size
		switch next := start + i + 1; {
		case next == from:
			e.before, e.width = columns, 0
		case next <= to:
			e.width = columns - e.before
		}
	}
	e.text, e.width = text.String(), max(1, e.width)
	return e
}

// display returns what a terminal can show for a character, and how many columns that takes: 0, 1, 2 or more.
func display(r rune) (string, int) {
	switch {
	case r == '\t':
		return " ", 1 // YAML counts it as one character; the caret then fits
	case r == '\ufeff' || unicode.Is(unicode.Mn, r) || r == '\u200d' || r >= '\ufe00' && r <= '\ufe0f':
		return string(r), 0
	case r == utf8.RuneError:
		return "\ufffd", 1
	case !unicode.IsPrint(r):
		escaped := fmt.Sprintf("\\u%04x", r)
		return escaped, len(escaped)
	case unicode.Is(wide, r):
		return string(r), 2
	}
	return string(r), 1
}

// wide has the characters that terminals draw two columns wide: the wide and fullwidth blocks of Unicode's East Asian
// Width, approximated by ranges.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// printable returns s with line breaks and tabs as spaces, and other characters that could move the cursor as U+FFFD.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, s)
}

// Cut returns s cut to mostColumns characters, the width of a line that Text writes.
func Cut(s string) string { return quantity.Cut(s, mostColumns) }

// splitLines splits a file at the line ends that YAML knows: LF, CR LF, CR, and three of Unicode. After a final line
// end, and after a last line without one, stands one empty line.
func splitLines(src []byte) []string {
	return lineEnd.Split(strings.TrimPrefix(string(src), "\ufeff")+"\n", -1)
}

var lineEnd = regexp.MustCompile(`\r\n|[\n\r\x{85}\x{2028}\x{2029}]`)

// CheckText returns an error for a character that no YAML file may contain: a byte that is not UTF-8, a control one; or
// for so many entries that parsing would take too long: what separates entries is counted, even inside quotes.
func CheckText(src []byte) List {
	line, column, entries := 1, 1, 0
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			bad := &quantity.Error{Message: fmt.Sprintf("byte 0x%02x is not UTF-8", src[i]), Help: "save the file as UTF-8"}
			return List{Of(bad, yaml.Mark{Line: line, Column: column})}
		case r == '\n':
			line, column = line+1, 0
		case unicode.IsControl(r) && r != '\t' && r != '\r' && r != 0x85, r == 0xfffe, r == 0xffff:
			bad := quantity.Errorf("control character U+%04X is not allowed", r)
			return List{Of(bad, yaml.Mark{Line: line, Column: column})}
		}
		if strings.ContainsRune("\n,:?", r) {
			entries++
		}
		if entries > 2*tree.MostEntries {
			bad := quantity.Errorf("too many entries (at most %d)", tree.MostEntries)
			return List{Of(bad, yaml.Mark{Line: line, Column: 1})}
		}
		i += size
		column++
	}
	return nil
}
