package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

type compareFlags struct {
	units []string
	most  scenarios.Share
}

func newCompare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare BASE [NEW] [flags]",
		Short: "compare results, with statistics",
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

Results of other packages are other benchmarks. So are those of another number of
processors if a file has several; else the numbers of two files may differ, with a note.`,
		Example: `  qbench run > old.txt; ...; qbench run > new.txt; qbench compare old.txt new.txt
  qbench run --policy fifo --policy weighted --rounds 10 | qbench compare -
  qbench compare old.txt new.txt --unit jobs/s --max-regression 5%`,
		Args: ui.Wanted(1, 2, "compare what with what? Name one file of results or two; - is standard input"),
		RunE: func(c *cobra.Command, names []string) error { return compare(c, names, &f) },
	}
	c.Flags().StringArrayVar(&f.units, "unit", nil, "compare only this `UNIT`, as jobs/s; repeatable")
	addValue(c, &f.most, "max-regression", "SHARE", "", "exit with 1 if something is worse by more than this")
	return c
}

// change holds the base and the new values of one unit (metric) of one benchmark, with the statistics of the change.
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
	base, new := files[0][0].name, "each of the others, in the same rounds"
	if !paired {
		base, new = paths[0], paths[1]
	}
	const name = len("base: ")
	width := ui.Width()
	page := "base: " + text.Indented(base, width, name) + "\nnew:  " + text.Indented(new, width, name) + "\n\n"
	if err := ui.Print(c.OutOrStdout(), page+changesText(changes, paired, width)); err != nil {
		return err
	}
	limit := c.Flags().Lookup("max-regression")
	if !limit.Changed {
		return nil
	}
	return f.gate(changes, lost, paired, limit.Value.String(), c.ErrOrStderr())
}

// pairUp returns the base and the new values to compare, by unit: of each benchmark that two files have in common, or
// of one file's first benchmark and each other; only the given units, if any. lost holds all pairs of the unit "lost".
func pairUp(files [][]*benchmark, paths, units []string) (changes, lost []change, notes []string, err error) {
	few := 6 // the fewest rounds of anything compared, if below this
	paired := len(files) == 1
	add := func(base, new *benchmark) {
		var one, some []string
		for _, unit := range plain.Distinct(base.units, new.units) {
			both := change{name: new.name, unit: unit}
			both.base, both.new = valuesOf(base, new, unit, paired)
			if len(both.base) == 0 || len(both.new) == 0 {
				one = append(one, unit)
				continue
			}
			if len(both.base) < base.rounds || len(both.new) < new.rounds {
				some = append(some, unit)
			}
			if unit == "lost" {
				lost = append(lost, both)
			}
			if len(units) == 0 || slices.Contains(units, unit) {
				changes, few = append(changes, both), min(few, len(both.base), len(both.new))
			}
		}
		if len(one) > 0 {
			notes = append(notes, fmt.Sprintf("%s: only on one side: %s", new.name, strings.Join(one, ", ")))
		}
		if len(some) > 0 {
			notes = append(notes, fmt.Sprintf("%s: not in every round%s: %s", new.name,
				plain.When(paired, ", and compared where both sides have it"), strings.Join(some, ", ")))
		}
	}
	if paired {
		base := files[0][0]
		if len(files[0]) == 1 {
			return nil, nil, nil, ui.UsageError("%s holds only one benchmark: compare it with another file", paths[0])
		}
		for _, b := range files[0][1:] {
			for _, unit := range b.units {
				if slices.Contains(base.units, unit) && base.rounds != b.rounds {
					return nil, nil, nil, ui.UsageError("%s: %s has %d rounds of %s, and %s has %d: they did not take turns", paths[0],
						base.name, base.rounds, unit, b.name, b.rounds)
				}
			}
			add(base, b)
		}
	} else {
		others := matched(files, paths, add) // which adds to notes, too
		notes = append(notes, others...)
		if few < 6 {
			notes = append(notes, "as few as "+plain.Plural(few, "round")+": only large differences can be shown")
		}
	}
	switch {
	case len(changes) > 0:
		return changes, lost, notes, nil
	case len(units) > 0:
		return nil, nil, nil, ui.UsageError("nothing to compare: no benchmark of both has the unit %s",
			strings.Join(units, ", "))
	}
	return nil, nil, nil, ui.UsageError("nothing to compare: %s have no benchmark in common",
		strings.Join(paths, " and "))
}

// changesText returns a text table of the changes of each benchmark, below its name, wrapped to a width.
func changesText(changes []change, paired bool, width int) string {
	var b strings.Builder
	line := func(words string) { b.WriteString(text.Paragraph(words, width)) }
	for rest := changes; len(rest) > 0; {
		t := text.Table{Columns: []text.Column{{Key: true},
			{Title: "base"}, {Title: "new"}, {Title: "change"}, {Title: "p (Holm)"}}}
		name := rest[0].name
		for ; len(rest) > 0 && rest[0].name == name; rest = rest[1:] {
			d := &rest[0]
			t.Add(d.unit, sample(d.base, d.unit), sample(d.new, d.unit), d.changed(), pText(d.Adjusted))
		}
		line(name)
		b.WriteString(t.Render(text.TableOptions{Width: width}) + "\n")
	}
	tested := plain.Count(changes, func(d change) bool { return !math.IsNaN(d.Adjusted) })
	line(fmt.Sprintf("means, ± = 95%% CI; ≈ = the same within %s; ? = not told apart (%s t, Holm over %s, α 0.05)",
		text.Percent(results.DefaultSameWithin), plain.Either(paired, "paired", "Welch"), plain.Plural(tested, "comparison")))
	return b.String()
}

// timed matches units of times, such as sec, sec/op and p99-claim-sec, but not rates.
var timed = regexp.MustCompile(`(^|-)sec(/|$)`)

// sample returns the mean of values with the half-width of its confidence interval, in percent, as text.
func sample(values []float64, unit string) string {
	mean, half := results.Interval(values)
	return plain.Either(timed.MatchString(unit) && math.Abs(mean) < 1e9, seconds(mean), number(mean)) +
		plain.When(!math.IsNaN(half) && mean != 0, fmt.Sprintf(" ±%.0f%%", math.Abs(half/mean)*100))
}

// changed returns the change relative to the base mean as text, in percent or, from the double on, as a factor: ×161
// ±3.2. It is marked ≈ if the two are equivalent, ? if the change is not significant.
func (d *change) changed() string {
	base, _ := results.Interval(d.base)
	same := results.Equivalent(d.Difference-d.Half, d.Difference+d.Half, base, results.DefaultSameWithin)
	mark := plain.Either(same, " ≈", plain.When(!(d.Adjusted < .05), " ?"))
	switch {
	case d.Difference == 0:
		return "0%" + mark
	case base == 0:
		return "–" + mark
	}
	known, half := !math.IsNaN(d.Half), math.Abs(d.Half/base)
	if ratio := 1 + d.Difference/base; ratio >= 2 {
		return results.FormatChange(ratio) + plain.When(known, " ±"+plain.Digits(half, 2)) + mark
	}
	return errorText(d.Difference/base) + plain.When(known, fmt.Sprintf(" ±%.1f%%", half*100)) + mark
}

// better reports whether lower or higher values of a benchmark unit are better, or neither. It knows the units of
// qbench and go test; others, such as jobs/s, it judges by their endings.
func better(unit string) (less, more bool) {
	ofScenario := func(info *measure.MetricInfo) bool { return metricUnit(*info) == unit }
	if info := plain.Find(measure.Metrics(), ofScenario); info != nil {
		return info.LessIsBetter, info.MoreIsBetter
	}
	switch unit {
	case "lost", "duplicates", "never-enqueued", "sec", "ns", "B":
		return true, false
	}
	less = strings.HasSuffix(unit, "-sec") || strings.HasSuffix(unit, "/op") || strings.HasSuffix(unit, "/job")
	return less, strings.HasSuffix(unit, "/s")
}

// metricUnit returns the benchmark unit for a metric of a scenario, like fresh-wait-p99-sec.
func metricUnit(info measure.MetricInfo) string {
	return strings.ReplaceAll(info.Name, ".", "-") + plain.When(info.Unit == "s", "-sec")
}

// worse returns the one-sided p value of the null hypothesis that the new mean is worse than the base mean by no more
// than a share of it, given as most; NaN if it cannot be tested.
func (d *change) worse(most float64, paired bool) float64 {
	factor := 1 + most
	_, falls := better(d.unit)
	if falls {
		factor = max(0, 1-most)
	}
	_, p := results.Excess(d.base, d.new, factor, falls, paired)
	return p
}

// gate returns an error if a change for the worse exceeds the limit of --max-regression significantly (one-sided tests
// at a family-wise error rate of 0.05, by Holm), if more jobs were lost than before, or if nothing could be tested.
func (f *compareFlags) gate(changes, lost []change, paired bool, limit string, notes io.Writer) error {
	for i := range lost {
		if before, after := results.MeanOf(lost[i].base), results.MeanOf(lost[i].new); after > before {
			return ui.Fail(ui.ExitMissed, fmt.Errorf("%s: %s jobs were lost on average, and %s before", lost[i].name,
				number(after), number(before)))
		}
	}
	p := make([]float64, len(changes))
	decided, undecided, counted, ungated := 0, 0, false, []string{}
	for i := range changes {
		d := &changes[i]
		p[i] = math.NaN()
		if less, more := better(d.unit); !less && !more {
			ungated = append(ungated, d.unit)
			continue
		}
		if d.unit == "lost" {
			counted = true
			continue // pairUp has handled it
		}
		if p[i] = d.worse(f.most.Float(), paired); math.IsNaN(p[i]) {
			fmt.Fprintf(notes, "qbench: %s: %s: undecided: n<2\n", d.name, d.unit)
			undecided++
			continue
		}
		decided++
	}
	if len(ungated) > 0 {
		fmt.Fprintf(notes, "qbench: neither more nor less is better, and not held against the limit: %s\n",
			strings.Join(plain.Distinct(ungated), ", "))
	}
	for i, adjusted := range results.Holm(p) {
		if adjusted < .05 {
			return ui.Fail(ui.ExitMissed, fmt.Errorf("%s: %s is worse by more than %s (p %s)", changes[i].name,
				changes[i].unit, limit, pText(adjusted)))
		}
	}
	if decided == 0 && (undecided > 0 || !counted) {
		return ui.Fail(ui.ExitMissed, errors.New("undecided: n<2, or no unit of which it is known whether more or less is "+
			"better"))
	}
	return nil
}

func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < .0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
