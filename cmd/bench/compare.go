package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/text"
)

type compareFlags struct {
	units []string
	most  shareFlag
}

func newCompare() *cobra.Command {
	f := compareFlags{most: share("")}
	c := &cobra.Command{
		Use:     "compare BASE [NEW] [flags]",
		Short:   "compare results, with statistics",
		GroupID: "measure",
		Long: `compare reads results in the format of Go benchmarks, as qbench run and go test -bench
print them. Of two files it compares the benchmarks of one name, as independent samples
(Welch). Of one file it compares all benchmarks with the first, round by round, as they
took turns (paired). A difference is shown if its p value, after Holm's adjustment for the
number of comparisons, is below 0.05; ≈ says that both are the same within 5%, as the whole
interval of the difference shows, and ? that neither is shown: more rounds would decide.

With --max-regression the exit code is 1 if something is worse by more than that, by a
one-sided test at 0.05 after Holm's adjustment; if more jobs were lost than before; or if
nothing could be decided, as with a single round. A metric without a better direction is
shown, but not judged.

Results of other packages, or of another number of processors, are other benchmarks.`,
		Example: `  qbench run > old.txt; ...; qbench run > new.txt; qbench compare old.txt new.txt
  qbench run --policy fifo --policy weighted --rounds 10 | qbench compare -
  qbench compare old.txt new.txt --unit jobs/s --max-regression 5%`,
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) < 1 || len(names) > 2 {
				return ui.UsageError("compare what with what? Name one file of results or two; - is standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, names []string) error { return compare(c, names, &f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.units, "unit", nil, "compare only this `UNIT`, as jobs/s; repeatable")
	flags.Var(&f.most, "max-regression", "exit with 1 if something is worse by more than this")
	return c
}

// change is the difference between two files in one unit of one benchmark.
type change struct {
	name, unit string
	base, new  []float64
	results.Contrast
}

func compare(c *cobra.Command, paths []string, f *compareFlags) error {
	var files [][]*benchmark
	for _, path := range paths {
		file, err := readBenchmarks(path, c.InOrStdin())
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	paired := len(files) == 1
	changes, lost, notes, err := pairUp(files, paths, f.units)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(c.ErrOrStderr(), "qbench: %s\n", n)
	}
	p := make([]float64, len(changes))
	for i := range changes {
		d := &changes[i]
		d.Contrast = results.Against(d.base, d.new, paired)
		p[i] = d.P
		if len(slices.Compact(slices.Concat(d.base, d.new))) == 1 {
			p[i] = math.NaN() // constant on both sides: no test is possible
		}
	}
	for i, adjusted := range results.Holm(p) {
		changes[i].Adjusted = adjusted
	}
	var out bytes.Buffer
	writeChanges(&out, changes, paired, ui.Width())
	if _, err := c.OutOrStdout().Write(out.Bytes()); err != nil {
		return ui.IOError("write result", err)
	}
	if f.most.text == "" {
		return nil
	}
	return f.gate(changes, lost, paired, c.ErrOrStderr())
}

// pairUp pairs the values of benchmarks found in both files, for each unit to compare; lost holds the counts of lost
// jobs, which are compared whatever the units.
func pairUp(files [][]*benchmark, paths, units []string) (changes, lost []change, notes []string, err error) {
	add := func(base, new *benchmark) {
		var one []string
		for _, unit := range base.units {
			b := new.values[unit]
			switch {
			case len(b) > 0 && unit == "lost":
				lost = append(lost, change{name: new.name, unit: unit, base: base.values[unit], new: b})
			case len(b) == 0:
				one = append(one, unit)
			}
			if len(b) > 0 && (len(units) == 0 || slices.Contains(units, unit)) {
				changes = append(changes, change{name: new.name, unit: unit, base: base.values[unit], new: b})
			}
		}
		for _, unit := range new.units {
			if len(base.values[unit]) == 0 {
				one = append(one, unit)
			}
		}
		if len(one) > 0 {
			notes = append(notes, fmt.Sprintf("%s: only on one side: %s", new.name, strings.Join(one, ", ")))
		}
	}
	if len(files) == 1 {
		base := files[0][0]
		if len(files[0]) == 1 {
			return nil, nil, nil, ui.UsageError("%s holds only one benchmark: compare it with another file", paths[0])
		}
		notes = append(notes, "base is "+base.name)
		for _, b := range files[0][1:] {
			for _, unit := range b.units {
				if n := len(base.values[unit]); n > 0 && n != len(b.values[unit]) {
					return nil, nil, nil, ui.UsageError("%s: %s has %d rounds of %s, and %s has %d: they did not take turns", paths[0],
						base.name, n, unit, b.name, len(b.values[unit]))
				}
			}
			add(base, b)
		}
	} else {
		notes = append(notes, matched(files, paths, add)...)
		if few := min(len(files[0][0].values[files[0][0].units[0]]), 6); few < 6 {
			notes = append(notes, fmt.Sprintf("%d rounds are few: only large differences can be shown", few))
		}
	}
	if len(changes) == 0 {
		if len(units) > 0 {
			return nil, nil, nil, ui.UsageError("nothing to compare: no benchmark of both has the unit %s",
				strings.Join(units, ", "))
		}
		return nil, nil, nil, ui.UsageError("nothing to compare: %s have no benchmark in common",
			strings.Join(paths, " and "))
	}
	return changes, lost, notes, nil
}

// writeChanges writes a table of the changes of each benchmark, below its name.
func writeChanges(w io.Writer, changes []change, paired bool, width int) {
	line := func(words string) { fmt.Fprintln(w, strings.Join(text.Wrapped(words, width), "\n")) }
	for rest := changes; len(rest) > 0; {
		t := text.Table{Columns: []text.Column{{Key: true},
			{Title: "base"}, {Title: "new"}, {Title: "change"}, {Title: "p (Holm)"}}}
		name := rest[0].name
		for ; len(rest) > 0 && rest[0].name == name; rest = rest[1:] {
			d := &rest[0]
			t.Add(d.unit, sample(d.base, d.unit), sample(d.new, d.unit), d.changed(), pText(d.Adjusted))
		}
		line(name)
		fmt.Fprintf(w, "%s\n\n", strings.Join(t.Lines(width, false), "\n"))
	}
	test := "Welch"
	if paired {
		test = "paired"
	}
	line(fmt.Sprintf("means, ± = 95%% CI; ≈ = the same within %s; ? = not told apart (%s t, Holm over %d comparisons, "+
		"α 0.05)", text.Percent(results.DefaultSameWithin), test, len(changes)))
}

// sample returns the mean of values with the half-width of its interval as text.
func sample(values []float64, unit string) string {
	mean, half := results.Interval(values)
	text := number(mean)
	if strings.Contains(unit, "sec") {
		text = seconds(mean)
	}
	if !math.IsNaN(half) && mean != 0 {
		text += fmt.Sprintf(" ±%.0f%%", math.Abs(half/mean)*100)
	}
	return text
}

// changed returns the change relative to the base mean as text, with ≈ or ? if it is not significant.
func (d *change) changed() string {
	base, _ := results.Interval(d.base)
	mark := ""
	switch {
	case results.Equivalent(d.Difference-d.Half, d.Difference+d.Half, base, results.DefaultSameWithin):
		mark = " ≈"
	case !(d.Adjusted < .05):
		mark = " ?"
	}
	switch {
	case d.Difference == 0:
		return "0%" + mark
	case base == 0:
		return "–" + mark
	}
	changed := errorText(d.Difference / base)
	if !math.IsNaN(d.Half) {
		changed += fmt.Sprintf(" ±%.1f%%", math.Abs(d.Half/base)*100)
	}
	return changed + mark
}
