package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/scenarios/verify"
	"qsim/scenarios/world"
)

type verifyFlags struct {
	runFlags
	full bool
	rows string
}

func newVerify() *cobra.Command {
	f := verifyFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "verify [MODEL...] [flags]",
		Short: "compare the simulator with queueing theory",
		Long: `verify simulates models with known answers (closed forms, exact Markov chains, fluid limits,
or worked out by hand) and compares. Each model runs through the whole queue, with leases, on
a store that answers at once. Without --full it checks the rows that take less than a
minute; MODEL is a row such as mmc.1, or a family of rows such as mmc or trace.

A value is met if the known one lies in its 99.9 % interval, and the interval is narrow
enough to be meaningful: 1 % of the value, 2 % for a 99th percentile; for a probability
0.002 if that is more, but at most half of it. At a load above 0.8 it is 4 %, and 10 % for a
second moment; 5 % for a second moment with heavy-tailed services, for rare leftovers of a
poll and for the spread of windows of a coin; for the course of a storm 1 % of the peak and
4 % of each value. The table marks wider ones. A fluid model is met within 2 %.

A missed value is measured again with other seeds, and fails if it is missed again: a false
alarm occurs once in a million values. Rows that cannot be expressed are listed with the
reason.

Exit codes:
    0  all rows are met
    1  a row is missed, or its interval is too wide to tell
    2  the command line or a row is wrong
    3  an invariant of the engine broke
    4  writing failed
  130  interrupted: the rows so far are printed; 143 if it was by SIGTERM`,
		Example: `  qsim verify                       the quick rows
  qsim verify --full                all of them: some twenty minutes on two cores
  qsim verify mmc feedback.1        a family and a row
  qsim verify --rows more.json      rows of one's own, in the form that --format json prints`,
		ValidArgsFunction: completeRows,
		RunE:              func(c *cobra.Command, names []string) error { return runVerify(c, names, &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.full, "full", false, "check all rows, not only the quick ones")
	flags.StringVar(&f.rows, "rows", "", "check all rows of this `FILE`")
	ui.AddParallel(c, &f.parallel)
	addFormat(c, &f.format)
	ui.Group(c, "What to verify", "full", "rows")
	ui.Group(c, "How to run it", "parallel")
	ui.Group(c, "Output", "format")
	ui.AddTerminal(c, &f.Terminal, "quiet", "color", "progress")
	return c
}

func runVerify(c *cobra.Command, names []string, f *verifyFlags) error {
	rows, err := chosenRows(names, f)
	if err != nil {
		return err
	}
	var wrong []error
	for _, row := range rows {
		for _, problem := range verify.Problems(row) {
			wrong = append(wrong, fmt.Errorf("%s: %w", row.ID, problem))
		}
	}
	if len(wrong) > 0 { // found before any row is run
		return ui.Fail(ui.ExitUsage, errors.Join(wrong...))
	}
	s := newSession(c, &f.runFlags)
	ctx, stop := s.console.Interruptible(c.Context(), "the rows so far are printed")
	defer stop()
	bars := s.progress("rows", nil)
	var list []verify.Result
	for i, row := range rows {
		bars.Set("verify", i, len(rows))
		var result verify.Result
		if result, err = verify.Check(ctx, row, verify.Options{Parallel: f.parallel}); err != nil {
			break
		}
		list = append(list, result)
	}
	bars.Set("verify", len(list), len(rows))
	bars.Close()
	return s.concludeVerify(list, len(rows), err)
}

// concludeVerify prints the results of qsim verify and returns the command's error. list has the results of the models
// checked so far, rows is the number of all models to check, and err is the reason if some were not checked.
func (s *session) concludeVerify(list []verify.Result, rows int, err error) error {
	summary := verify.Summarize(list)
	if err == nil || len(list) > 0 {
		if err := s.print(s.output(ui.JSON(summary, "  "), summary.Table), "", ""); err != nil {
			return err
		}
	}
	if errors.Is(err, context.Canceled) {
		s.console.Note("interrupted: %d of %d rows are done", len(list), rows)
		return ui.Fail(ui.ExitInterrupted, nil)
	}
	if err != nil {
		s.console.Note("%d of %d rows are done", len(list), rows)
		if broken, ok := errors.AsType[*world.Broken](err); ok {
			return ui.Fail(ui.ExitInvariant, fmt.Errorf("an invariant broke: %w\n%s", err, broken.Stack))
		}
		return ui.UsageError("%w", err)
	}
	return ui.Fail(ui.Exit(summary.Exit), nil)
}

// chosenRows returns the rows of qsim verify (models with known answers) with the given names; without names those of
// --rows, or all under --full, or else the quick ones.
func chosenRows(names []string, f *verifyFlags) ([]verify.Row, error) {
	rows := verify.Rows()
	if f.rows != "" {
		file, err := os.Open(f.rows)
		if err != nil {
			return nil, ui.UsageError("--rows: %w", err)
		}
		defer file.Close()
		if rows, err = verify.ReadRows(file); err != nil {
			return nil, ui.UsageError("--rows %s: %w", f.rows, err)
		}
	}
	var known, groups []string
	for i := range rows {
		own := namesOf(&rows[i])
		known, groups = append(known, own...), append(groups, own[2])
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			slices.Sort(groups)
			families := "; the families are " + strings.Join(slices.Compact(groups), ", ")
			return nil, ui.UsageError("no row is called %s%s", name, ui.Meant(name, known, families))
		}
	}
	return slices.DeleteFunc(rows, func(r verify.Row) bool {
		if len(names) > 0 {
			return !slices.ContainsFunc(namesOf(&r), func(own string) bool { return slices.Contains(names, own) })
		}
		return !f.full && f.rows == "" && !r.Quick
	}), nil
}

// namesOf returns the three names that select a row of the verify table: its ID, its family, and its group, which is
// the part of the ID before the first dot.
func namesOf(r *verify.Row) []string {
	group, _, _ := strings.Cut(r.ID, ".")
	return []string{r.ID, r.Family(), group}
}

func completeRows(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	describe := func(row verify.Row) string { return cobra.CompletionWithDesc(row.ID, row.Name) }
	return plain.Map(verify.Rows(), describe), cobra.ShellCompDirectiveNoFileComp
}
