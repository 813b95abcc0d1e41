package clitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"qsim/cmd/ui"
)

// CheckHelp wants every example of the help texts to be made of command lines that the
// program understands, one of them that of the command which it explains, and every flag
// that is shown to have a line that says what it is for, under one of the command's headings.
// newRoot makes the program's root command anew; there are to be at least so many examples.
func CheckHelp(t *testing.T, newRoot func() *cobra.Command, least int) {
	t.Helper()
	examples := 0
	for _, documented := range newRoot().Commands() {
		for line := range strings.Lines(documented.Example) {
			examples++
			explained := false
			for _, words := range commandLines(line) {
				if root := newRoot(); words[0] == root.Name() {
					name := checkCommandLine(t, root, words[1:], line)
					explained = explained || name == documented.Name()
				}
			}
			if !explained {
				t.Errorf("example of %s does not run it: %q", documented.Name(), line)
			}
		}
		checkFlags(t, documented)
	}
	if examples < least {
		t.Errorf("found %d examples, want at least %d", examples, least)
	}
}

// commandLines splits what a shell would: at ; and | into commands, and those into words,
// without the files that > names. What follows three blanks explains the line.
func commandLines(line string) (all [][]string) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "   ")
	quoted := false
	parts := strings.FieldsFunc(line, func(letter rune) bool {
		if letter == '\'' {
			quoted = !quoted
		}
		return !quoted && (letter == ';' || letter == '|')
	})
	for _, part := range parts {
		words := strings.FieldsFunc(part, func(letter rune) bool {
			if letter == '\'' {
				quoted = !quoted
			}
			return !quoted && letter == ' '
		})
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "'", "")
		}
		if at := slices.Index(words, ">"); at >= 0 {
			words = slices.Delete(words, at, min(at+2, len(words)))
		}
		if len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// checkCommandLine returns the name of the command that words run.
func checkCommandLine(t *testing.T, root *cobra.Command, words []string, line string) string {
	t.Helper()
	found, rest, err := root.Find(words)
	if err != nil {
		t.Errorf("%v: %q", err, line)
		return ""
	}
	if err := found.ParseFlags(rest); err != nil {
		t.Errorf("%v: %q", err, line)
	}
	if err := found.ValidateArgs(found.Flags().Args()); err != nil {
		t.Errorf("%v: %q", err, line)
	}
	return found.Name()
}

func checkFlags(t *testing.T, c *cobra.Command) {
	t.Helper()
	headings := ui.Headings(c)
	if len(headings) == 0 {
		return
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if heading := ui.Heading(f); !f.Hidden && (f.Usage == "" || !slices.Contains(headings, heading)) {
			t.Errorf("%s --%s: usage %q under heading %q", c.Name(), f.Name, f.Usage, heading)
		}
	})
}
