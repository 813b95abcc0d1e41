package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
)

// annotation is an error or warning about a scenario, in JSON, for editors and CI systems.
type annotation struct {
	File     string `json:"file"`   // path of the scenario; empty: the command line
	Line     int    `json:"line"`   // line from 1; 0: the diagnostic is about the whole file, or a flag
	Column   int    `json:"column"` // column from 1, in characters
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Help     string `json:"help,omitempty"`
}

func diagnosed(scenarios []loaded) []annotation {
	all := []annotation{}
	for _, l := range scenarios {
		for _, d := range l.Diagnostics {
			message := plain.Joined(": ", d.Set, d.Message)
			all = append(all, annotation{l.Name, d.Line, d.Col, d.Severity.String(), message, d.Help})
		}
	}
	return all
}

func unloaded(scenarios []loaded) []text.Suite {
	failed := plain.Where(scenarios, func(l *loaded) bool { return l.Scenario == nil })
	return plain.Map(failed, func(l *loaded) text.Suite {
		return text.Suite{Name: l.Name, File: l.Name, Error: l.Diagnostics.Text(l.Name, nil)}
	})
}

// github returns annotations as workflow commands: https://docs.github.com/actions/reference/workflow-commands.
func github(all []annotation) (commands string) {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, a := range all {
		info, err := os.Stat(a.File)
		subject := plain.Either(err == nil && info.IsDir(), "title", "file") // a stored result has no lines to annotate
		place := " " + subject + "=" + value.Replace(inWorkspace(a.File)) +
			plain.When(a.Line > 0, fmt.Sprintf(",line=%d", a.Line)) + plain.When(a.Column > 0, fmt.Sprintf(",col=%d", a.Column))
		commands += fmt.Sprintf("::%s%s::%s\n", a.Severity, plain.When(a.File != "", place),
			text.Replace(plain.Joined("\n", a.Message, a.Help)))
	}
	return commands
}

// inWorkspace returns the path of a file relative to the checkout of a GitHub workflow; as given if it is not in there.
func inWorkspace(file string) string {
	absolute, _ := filepath.Abs(file) // "" if there is none, which is no file
	relative, err := filepath.Rel(os.Getenv("GITHUB_WORKSPACE"), absolute)
	if _, missing := os.Stat(absolute); err != nil || missing != nil || !filepath.IsLocal(relative) {
		return file
	}
	return filepath.ToSlash(relative)
}

// annotationsOf returns an error for each failed verdict and each suite with an error, a warning for each unclear one.
func annotationsOf(suites []text.Suite) (all []annotation) {
	for _, s := range suites {
		if s.Error != "" {
			first, _, _ := strings.Cut(s.Error, "\n")
			all = append(all, annotation{File: s.File, Severity: "error", Message: first})
		}
		for i := range s.Cases {
			c := &s.Cases[i]
			severity := "error"
			switch {
			case !c.Failed && c.Outcome == results.Unclear:
				severity = "warning"
			case !c.Failed:
				continue
			}
			all = append(all, annotation{File: s.File, Line: c.Line, Severity: severity, Message: c.String()})
		}
	}
	return all
}

// stepSummary appends a text, the result of a function, to the summary of the GitHub workflow step that qsim runs in.
func stepSummary(of func() ([]byte, error)) error {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	text, err := of()
	_, ended := fmt.Fprintf(file, "%s\n", text) // a line more ends the paragraph of this command's output
	return cmp.Or(err, ended, file.Close())
}

// judging lists the additional output formats of commands with verdicts: annotations of a GitHub workflow, and JUnit.
var judging = []string{"github", "junit"}

// unjudged prints, for a command that ended without its verdicts, the error as a failed test case (--format junit) or
// an annotation (github), as a CI system must not read an empty file. The exit code stays as it is.
func unjudged(c *cobra.Command, err error) {
	format := c.Flags().Lookup("format")
	out, begun := c.OutOrStdout().(*witness)
	if format == nil || begun && out.text.Len() > 0 {
		return
	}
	word := format.Value.String()
	if ui.OfFlags(err) { // after a wrong flag none was read
		rest := cobra.Command{FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}}
		rest.Flags().StringVar(&word, "format", word, "")
		_ = rest.ParseFlags(os.Args[1:])
	}
	if !slices.Contains(judging, word) || format.Value.Set("junit") != nil {
		return // other commands have no verdicts, and so no such format
	}
	said := err.Error()
	if failure := (*ui.Failure)(nil); errors.As(err, &failure) && failure.Err == nil { // it was printed before
		said = ""
		if told, ok := c.ErrOrStderr().(*witness); ok {
			said = told.text.String()
		}
	}
	s := session{flags: &runFlags{}}
	failed := s.output(nil, nil, text.Suite{Name: c.CommandPath(), Error: said})
	ui.Settle(c, failed.Print(c.OutOrStdout(), word))
}

// witness is a writer that passes text on to another writer and keeps a copy, by which unjudged sees what was printed.
type witness struct {
	mutex sync.Mutex
	to    io.Writer
	text  bytes.Buffer
}

// Write passes text on to the other writer and keeps a copy.
func (w *witness) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.text.Write(text)
	return w.to.Write(text)
}
