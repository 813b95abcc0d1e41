package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/text"
	"qsim/scenarios/study"
	"qsim/scenarios/world"
)

// session is one execution of a command: its flags, standard output and standard error.
type session struct {
	flags   *runFlags
	command []string
	stdout  io.Writer
	stderr  io.Writer // destination of errors; other messages go to the console
	console *ui.Console
	judged  []text.Suite // verdicts by scenario, in the order of the runs
}

// newSession checks the flags that commands share, and warns of environment variables that belong to no flag.
func newSession(c *cobra.Command, f *runFlags) (*session, error) {
	if f.Quiet && f.Verbose {
		return nil, ui.UsageError("--quiet and --verbose exclude each other")
	}
	s := &session{flags: f, command: os.Args, stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(),
		console: ui.NewConsole(c, f.Quiet)}
	ui.WarnOfVariables(c, s.console)
	return s, nil
}

// output is the result of a command, for printing as JSON, or by one function as text, Markdown or CSV.
type output struct {
	json        func() ([]byte, error)
	table       func(w io.Writer, o text.TableOptions) error
	suites      []text.Suite            // verdicts of the command, for annotations or JUnit XML
	openMetrics func(w io.Writer) error // writes the result as OpenMetrics; nil: the command has no such format
}

// print prints a result in the format of the flags. In formats for programs, the path of the files, if any, goes to
// standard error.
func (s *session) print(result output, path, note string) error {
	all := s.flags.Tables(result.table)
	all["json"], all["openmetrics"] = ui.Bytes(result.json), result.openMetrics
	all["junit"] = func(w io.Writer) error { return text.WriteJUnit(w, result.suites) }
	all["github"] = func(w io.Writer) error { return writeGithub(w, annotationsOf(result.suites)) }
	err := all.Print(s.stdout, s.flags.format)
	if s.flags.format == "github" { // annotate whatever the outcome
		err = cmp.Or(err, ui.IOError("write step summary", stepSummary(all["markdown"])))
	}
	return cmp.Or(err, s.lastLine(path, note))
}

// lastLine prints a note and the path of the files, if there are any: below a table, otherwise to standard error.
func (s *session) lastLine(path, note string) error {
	var err error
	switch {
	case s.flags.format != "table":
		if path != "" {
			s.console.Note("%s", strings.TrimSpace(shown(path)+"  "+note))
		}
	case note != "":
		_, err = fmt.Fprintln(s.stdout, note)
	}
	if s.flags.format == "table" && path != "" { // alone on the last line, to be easy to select
		err = cmp.Or(err, ui.WriteLink(s.stdout, shown(path), s.link(path)))
	}
	return ui.IOError("write result", err)
}

// link returns the address of a file for a terminal that opens links, "" for others.
func (s *session) link(path string) string {
	if !s.flags.Coloured() {
		return ""
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String()
}

// failure returns the command's error for a scenario that could not be simulated, with the command line that repeats a
// broken invariant. interrupted is the message after an interrupt; empty: none.
func (s *session) failure(l loaded, err error, interrupted string) error {
	var broken *world.Broken
	var setting *study.SettingError
	switch {
	case errors.Is(err, context.Canceled) && interrupted == "":
		return ui.Fail(ui.ExitInterrupted, nil)
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, fmt.Errorf("%s: %s", l.Name, interrupted))
	case errors.As(err, &broken):
		var sets []string
		if errors.As(err, &setting) {
			sets = setting.Values()
		}
		return ui.Fail(ui.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s%s\nto see it again: %s\nwhat led to "+
			"it:  %s",
			l.Name, err, broken.History, broken.Stack, s.replay(l, broken, sets), s.leading(l, broken, sets)))
	}
	return ui.UsageError("%s: %w", l.Name, err)
}

// shown returns a path for messages: relative to the working directory if it lies below.
func shown(folder string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(folder) {
		return folder
	}
	if relative, err := filepath.Rel(here, folder); err == nil && !strings.HasPrefix(relative, "..") {
		return relative
	}
	return folder
}
