package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/report"
	"qsim/scenarios"
	"qsim/scenarios/study"
)

// study runs a command that simulates one scenario many times: it loads the scenario, with the overrides of the flags
// followed by those in more, and calls do. An interrupt cancels the context and prints note.
func (f *runFlags) study(c *cobra.Command, name, note string, more []scenarios.Override,
	do func(ctx context.Context, s *session, source study.Source) error) error {
	s := newSession(c, f)
	overrides, err := f.overrides(c)
	if err == nil {
		s.loaded, err = s.loadOne(name, append(overrides, more...))
	}
	if err != nil {
		return err
	}
	ctx, stop := s.console.Interruptible(c.Context(), note)
	defer stop()
	l, fits := &s.loaded, func(sc *scenarios.Scenario) error { return f.memory.fits(sc, math.MaxInt, f.parallel) }
	return do(ctx, s, study.Source{Name: l.Name, Text: l.Source, Sets: l.Sets, Policies: l.Policies, Parallel: f.parallel,
		Version: ui.Version, Fits: fits})
}

// check calls of, which validates the scenario of a study under all values of its axes (the keys that it varies) before
// anything is simulated, and prints its warnings. count formats a number of cells; flags are those of the axes.
func (s *session) check(axes []study.Axis, count func(int) string, of func() ([]study.Note, error),
	flags ...string) error {
	for i := range axes {
		for _, short := range axes[i].Range.Short { // its steps do not reach its end exactly
			s.console.Note("%s=%s: one step more goes beyond", axes[i].Key, short)
		}
	}
	notes, err := of()
	var wrong *study.Wrong
	switch {
	case err == nil:
		s.tellNotes(count, "", notes)
		return nil
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, errors.New(s.loaded.Name+": interrupted before anything was computed"))
	case errors.As(err, &wrong):
		_, err := io.WriteString(s.stderr, wrong.Text(flags...))
		return cmp.Or(ui.IOError("write diagnostics", err), ui.Fail(ui.ExitUsage, nil))
	}
	return ui.UsageError("%s: %w", s.loaded.Name, err)
}

// loadOne loads a scenario with overrides; with --format github it also prints the diagnostics as annotations.
func (s *session) loadOne(name string, overrides []scenarios.Override) (loaded, error) {
	l, err := loadOne(name, overrides, &s.flags.scenarioFlags, s.stderr, s.console)
	if s.flags.format == "github" {
		err = cmp.Or(ui.Print(s.stdout, github(diagnosed([]loaded{l}))), err)
	}
	return l, err
}

// store writes the result of a study into a folder: NAME.json and NAME.csv, its charts, and further files.
func store(result ui.Output, folder, name string, figures []report.Figure, more ...results.File) error {
	files, err := filesOf(result, name, "charts", figures, "json", "csv")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return results.Replace(folder, append(more, files...))
}

// filesOf returns the files of the result of a study: NAME.FORMAT for each of the formats, and the charts in a folder.
func filesOf(result ui.Output, name, folder string, figures []report.Figure, formats ...string) (files []results.File,
	err error) {
	files = report.Files(folder, figures)
	for _, format := range formats {
		text, failed := result[format]()
		err = cmp.Or(err, failed)
		files = append(files, results.File{Path: name + "." + format, Data: text})
	}
	return files, err
}

// folder returns the path for the files of a study ("tune"): --out, or else one of its scenario and configuration.
func (s *session) folder(study, scenario, hash string) string {
	return cmp.Or(s.flags.out, filepath.Join("results", "runs", scenario, study+"-"+hash))
}

// tellNotes prints up to mostNotes warnings about cells of a study. count formats a number of cells; where is the place
// of the other warnings, such as " in DIR".
func (s *session) tellNotes(count func(int) string, where string, notes []study.Note) {
	for i, note := range notes {
		if i == mostNotes {
			s.console.Note("and %d warnings more%s", len(notes)-i, where)
			return
		}
		s.console.Note("%s: warning: %s (%s, first with %s)", s.loaded.Name, note.Text, count(note.Cells), note.First)
	}
}

// studyError adds an exit code to an error of a sweep's files: 2 if they do not belong together, else 4 and, before its
// text, the verb that says what failed. It is nil if err is.
func studyError(verb string, err error) error {
	if _, ok := errors.AsType[*study.Refusal](err); ok {
		return ui.Fail(ui.ExitUsage, err)
	}
	return ui.IOError(verb, err)
}
