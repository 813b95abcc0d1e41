package text

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// columns returns how many terminal columns s is wide, without its escape sequences.
func columns(s string) int { return text.RuneWidthWithoutEscSequences(s) }

// cut shortens s to width columns, with … at the end.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// Wrapped breaks a text at its spaces into lines of at most width columns; 0: into one line. Longer words are broken.
func Wrapped(s string, width int) []string {
	if width == 0 || columns(s) <= width {
		return []string{s}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && columns(line)+1+columns(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for line = word; columns(line) > width; {
			head := text.Trim(line, width)
			if head == "" {
				break
			}
			lines, line = append(lines, head), line[len(head):]
		}
	}
	return append(lines, line)
}

// Indented breaks a text into lines of at most width columns; lines after the first begin with indent spaces.
func Indented(s string, width, indent int) string {
	if width == 0 {
		return s
	}
	return strings.Join(Wrapped(s, max(width-indent, leastWrap)), "\n"+strings.Repeat(" ", indent))
}
