package clitest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"qsim/cmd/ui"
)

// CheckHelp fails the test unless every example in the help texts consists of command lines that the program
// understands, one of them of the command itself, and every visible flag has a line of explanation under one of the
// command's headings. newRoot makes the program's root command anew; least is the fewest examples allowed.
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

// CheckDocument fails the test unless the program understands every command line in a document that begins with its
// name. In running text, between backquotes, a line may leave out arguments and the values of flags. least is the
// fewest such lines allowed.
func CheckDocument(t *testing.T, newRoot func() *cobra.Command, path string, least int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := newRoot().Name() + " "
	lines := 0
	for _, block := range fenced.FindAllString(string(text), -1) {
		block = strings.ReplaceAll(block, "\\\n", " ")
		for line := range strings.Lines(block) {
			line = strings.TrimPrefix(line, "$ ")
			if !strings.HasPrefix(line, name) {
				continue
			}
			lines++
			for _, words := range commandLines(line) {
				if root := newRoot(); words[0] == root.Name() {
					checkCommandLine(t, root, words[1:], line)
				}
			}
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		if !strings.HasPrefix(span[1], name) || strings.HasPrefix(span[1], name+"COMMAND") {
			continue
		}
		lines++
		words := commandLines(span[1])[0][1:]
		found, _, err := newRoot().Find(words)
		if err != nil {
			t.Errorf("%s: %v: %q", path, err, span[1])
			continue
		}
		found.InitDefaultHelpFlag()
		for _, word := range words {
			if flag, isFlag := strings.CutPrefix(word, "--"); isFlag {
				if flag, _, _ = strings.Cut(flag, "="); found.Flag(flag) == nil {
					t.Errorf("%s: %s has no flag --%s: %q", path, found.Name(), flag, span[1])
				}
			}
		}
	}
	if lines < least {
		t.Errorf("%s: found %d command lines of %s, want at least %d", path, lines, name, least)
	}
}

// CheckManual fails the test unless the command docs writes a man page and a Markdown page for every command, with all
// its flags, and the same bytes when it is run again.
func CheckManual(t *testing.T, newRoot func() *cobra.Command) {
	t.Helper()
	write := func(form string) string {
		dir := filepath.Join(t.TempDir(), form)
		root := newRoot()
		root.SetArgs([]string{"docs", form, dir})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	name := newRoot().Name()
	for form, page := range map[string]string{"man": name + "-%s.1", "markdown": name + "_%s.md"} {
		first, second := write(form), write(form)
		for _, c := range newRoot().Commands() {
			if !c.IsAvailableCommand() || c.Name() == "help" {
				continue
			}
			path := fmt.Sprintf(page, c.Name())
			text, err := os.ReadFile(filepath.Join(first, path))
			if err != nil {
				t.Error(err)
				continue
			}
			if again, err := os.ReadFile(filepath.Join(second, path)); err != nil || !bytes.Equal(text, again) {
				t.Errorf("%s is different the second time (%v)", path, err)
			}
			shown := strings.ReplaceAll(string(text), `\-`, "-")
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !strings.Contains(shown, "--"+f.Name) {
					t.Errorf("%s lacks --%s", path, f.Name)
				}
			})
			if strings.Contains(shown, "Auto generated") || !strings.Contains(shown, name+" "+c.Name()) {
				t.Errorf("%s is no page of %s %s", path, name, c.Name())
			}
		}
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
)

// commandLines splits text as a shell does: at ; and | into commands, and those into words, without the files after >.
// Text after three blanks is a comment.
func commandLines(line string) (all [][]string) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "   ")
	quoted := false
	unquoted := func(ends string) func(letter rune) bool {
		return func(letter rune) bool {
			if letter == '\'' {
				quoted = !quoted
			}
			return !quoted && strings.ContainsRune(ends, letter)
		}
	}
	for _, part := range strings.FieldsFunc(line, unquoted(";|")) {
		words := strings.FieldsFunc(part, unquoted(" "))
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

// checkCommandLine parses words as a command line of the program and returns the name of the command.
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
	if slices.Sort(headings); len(slices.Compact(slices.Clone(headings))) != len(headings) {
		t.Errorf("%s: a heading stands twice among %q", c.Name(), headings)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if heading := ui.Heading(f); !f.Hidden && (f.Usage == "" || !slices.Contains(headings, heading)) {
			t.Errorf("%s --%s: usage %q under heading %q", c.Name(), f.Name, f.Usage, heading)
		}
	})
}
