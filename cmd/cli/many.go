package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/study"
)

// What sweep, map and tune have in common: one scenario under many values of its keys.

// load loads the only scenario of a study, with the overrides of the flags and then more.
func (s *session) load(c *cobra.Command, name string, more ...scenarios.Override) (loaded, study.Source, error) {
	overrides, err := s.flags.overrides(c)
	if err != nil {
		return loaded{}, study.Source{}, err
	}
	overrides = append(overrides, more...)
	l, err := s.loadOne(name, overrides)
	fits := func(sc *scenarios.Scenario) error { return s.flags.memory.fits(sc, math.MaxInt, s.flags.parallel) } // of all cells
	return l, study.Source{Name: l.Name, Text: l.Source, Sets: l.Sets, Policies: l.Policies, Fits: fits}, err
}

// loadOne loads a scenario with the overrides given; in a workflow its diagnostics stand where their lines are shown.
func (s *session) loadOne(name string, overrides []scenarios.Override) (loaded, error) {
	l, err := loadOne(name, overrides, &s.flags.scenarioFlags, s.stderr, s.console)
	if s.flags.format == "github" {
		err = cmp.Or(ui.IOError("write result", writeGithub(s.stdout, diagnosed([]loaded{l}))), err)
	}
	return l, err
}

// checkError returns the command's error for flag values that cannot be simulated, after printing their problems to
// standard error.
func (s *session) checkError(err error, name, flag string) error {
	var wrong *study.Wrong
	switch {
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, errors.New(name+": interrupted before anything was computed"))
	case errors.As(err, &wrong):
		if err := wrong.Render(s.stderr, flag); err != nil {
			return ui.IOError("write diagnostics", err)
		}
		return ui.Fail(ui.ExitUsage, nil)
	}
	return ui.UsageError("%s: %w", name, err)
}

// store writes the result of a study into a folder: NAME.json and NAME.csv, its charts, and further files.
func (o *output) store(folder, name string, figures []report.Figure, more ...results.File) error {
	encoded, err := o.json()
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := o.table(&table, text.TableOptions{Format: text.CSV}); err != nil {
		return err
	}
	charts, err := report.Files("charts", figures)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := []results.File{{Path: name + ".json", Data: encoded}, {Path: name + ".csv", Data: table.Bytes()}}
	return results.Replace(folder, slices.Concat(more, files, charts))
}

// tellNotes prints warnings about cells of a study; count formats a number of cells, and where names the file with
// further warnings.
func (s *session) tellNotes(name string, count func(int) string, where string, notes []study.Note) {
	for i, note := range notes {
		if i == mostNotes {
			s.console.Note("and %d warnings more%s", len(notes)-i, where)
			return
		}
		s.console.Note("%s: warning: %s (%s, first with %s)", name, note.Text, count(note.Cells), note.First)
	}
}

// tellShort prints a note for each range whose steps do not reach its end exactly.
func tellShort(console *ui.Console, axes []study.Axis) {
	for i := range axes {
		for _, short := range axes[i].Range.Short {
			console.Note("%s=%s: one step more goes beyond", axes[i].Key, short)
		}
	}
}

// studyError adds an exit code to an error of a study: 2 for a refused setting, 4 for a failure to read or write.
func studyError(err error) error {
	var refusal *study.Refusal
	if errors.As(err, &refusal) {
		return ui.Fail(ui.ExitUsage, err)
	}
	return ui.IOError("sweep", err)
}
