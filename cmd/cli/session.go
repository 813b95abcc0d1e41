package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/study"
	"qsim/scenarios/trace"
	"qsim/scenarios/world"
)

// session is one execution of a command: its flags, standard output and standard error, and what it has loaded.
type session struct {
	flags   *runFlags
	stdout  io.Writer
	stderr  io.Writer // destination of errors; other messages go to the console
	console *ui.Console
	loaded  loaded       // scenario of a study, as it was loaded
	judged  []text.Suite // verdicts by scenario, in the order of the runs
}

func newSession(c *cobra.Command, f *runFlags) *session {
	return &session{flags: f, stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(), console: ui.NewConsole(c, f.Quiet)}
}

// output returns the result of a command in all its formats: as JSON, as a table in text, Markdown or CSV, and its
// verdicts as JUnit XML or annotations.
func (s *session) output(json func() ([]byte, error), table func(o text.TableOptions) string,
	verdicts ...text.Suite) ui.Output {
	all := s.flags.Output(json, table)
	all["junit"] = ui.Text(func() string { return text.JUnit(verdicts) })
	all["github"] = ui.Text(func() string { return github(annotationsOf(verdicts)) })
	return all
}

// print prints a result in the format of the flags. In formats for programs, the path of the files, if any, goes to
// standard error.
func (s *session) print(result ui.Output, path, note string) error {
	err := result.Print(s.stdout, s.flags.format)
	if s.flags.format == "github" { // annotate whatever the outcome
		err = cmp.Or(err, ui.IOError("write step summary", stepSummary(result["markdown"])))
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

// link returns the file: URL of a path for a terminal that opens links, "" for others.
func (s *session) link(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil || !s.flags.Coloured() {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String()
}

// failure returns the command's error for a scenario that could not be simulated, with the command line that reproduces
// a broken invariant. interrupted is the message after an interrupt; empty: none.
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
		run, trace := s.again(l, broken, sets)
		return ui.Fail(ui.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s%s\nto see it again: %s\nwhat led to "+
			"it:  %s", l.Name, err, broken.History, broken.Stack, run, trace))
	}
	exit := ui.ExitUsage
	if _, ok := errors.AsType[*fs.PathError](err); ok { // a file to be written: those of the scenario have been read
		exit = ui.ExitIO
	}
	return ui.Fail(exit, fmt.Errorf("%s: %w", l.Name, err))
}

// shown returns a path for messages: relative to the working directory if it lies below.
func shown(folder string) string {
	here, _ := os.Getwd() // "" if it is gone: nothing lies below that
	if relative, err := filepath.Rel(here, folder); err == nil && !strings.HasPrefix(relative, "..") {
		return relative
	}
	return folder
}

// again returns the command lines that repeat only the simulation in which an invariant broke, and that print the trace
// of the last second before; more are settings of the form KEY=VALUE.
func (s *session) again(l loaded, b *world.Broken, more []string) (run, leading string) {
	line := func(command string, flags ...string) string {
		words := commandOf(command, l, s.flags.set, more, b.Policy)
		return plain.ShellLine(slices.Concat(words, []string{"--seed", fmt.Sprint(b.Seed)}, flags)...)
	}
	run = line("run", "-n", "1", "-j", "1") + plain.When(s.flags.check, " --check")
	last := max(0, b.At-time.Second).Truncate(time.Millisecond)
	return run, line("trace", "--from", trace.Clock(last), "--limit", "100000")
}

// commandOf returns the words of a command line about a scenario with KEY=VALUE settings (sets) under one policy, which
// --policy may have added to the scenario; more are settings that may be of such a policy.
func commandOf(command string, l loaded, sets, more []string, policy string) []string {
	words := []string{"qsim", command, openable(l.Name)}
	added := plain.Map(l.Added, func(set scenarios.Override) string { return set.Path + "=" + set.Value })
	for _, set := range slices.Concat(sets, added, more) {
		words = append(words, "--set", set)
	}
	return append(words, "--policy", policy)
}

// openable returns the name that opens a scenario, given its display name, in which a built-in one ends with .yaml.
func openable(name string) string {
	if short := strings.TrimSuffix(name, ".yaml"); !isScenario(name) && isScenario(short) {
		return short
	}
	return name
}

// refreshed is the time between two redrawings of a progress bar.
const refreshed = 100 * time.Millisecond

// progress returns progress bars for a command, one for each task, with the units' name (what) and further text (more).
func (s *session) progress(what string, more func() string) *ui.Progress {
	return s.console.Progress(&s.flags.Terminal, refreshed, what, more)
}

// mostNotes is the highest number of different warnings about cells of a study that are printed.
const mostNotes = 10
