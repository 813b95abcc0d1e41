package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchfmt"

	"qsim/cmd/cli"
	"qsim/results"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	units  []string
	most   shareFlag
	format format
}

func newCompare() *cobra.Command {
	f := compareFlags{most: share(""), format: "table"}
	c := &cobra.Command{
		Use:     "compare BASE [NEW] [flags]",
		Short:   "compare results, with honest statistics",
		GroupID: "measure",
		Long: `compare reads results in the format of Go benchmarks, as qbench run and go test -bench
print them. Of two files it compares the benchmarks of one name, as independent samples
(Welch). Of one file it compares all benchmarks with the first, round by round, as they
took turns (paired). A difference is shown if its p value, after Holm's adjustment for the
number of comparisons, is below 0.05; ≈ says that none is shown.

With --max-regression the exit code is 1 if something is worse by more than that: if the
whole 95 % interval of the change is beyond it.`,
		Example: `  qbench run > old.txt; ...; qbench run > new.txt; qbench compare old.txt new.txt
  qbench run --policy fifo --policy weighted --rounds 10 | qbench compare -
  qbench compare old.txt new.txt --unit jobs/s --max-regression 5%`,
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) < 1 || len(names) > 2 {
				return cli.UsageError("compare what with what? Name one file of results or two; - is standard input")
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

// benchmark is all that a file says of one name.
type benchmark struct {
	name   string
	units  []string // in the order of the file
	values map[string][]float64
}

// onProcessors is the end of a benchmark's name that says on how many processors.
var onProcessors = regexp.MustCompile(`-\d+$`)

// readBenchmarks reads a file, in its order.
func readBenchmarks(path string, stdin io.Reader) ([]*benchmark, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, cli.UsageError("there is no file %s", path)
		}
		if err != nil {
			return nil, cli.IOError("read results", err)
		}
		defer file.Close()
		in = file
	}
	var all []*benchmark
	by := map[string]*benchmark{}
	reader := benchfmt.NewReader(in, path)
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, cli.Fail(cli.ExitUsage, r)
		case *benchfmt.Result:
			name := onProcessors.ReplaceAllString(string(r.Name), "")
			b := by[name]
			if b == nil {
				b = &benchmark{name: name, values: map[string][]float64{}}
				by[name] = b
				all = append(all, b)
			}
			for _, v := range r.Values {
				if b.values[v.Unit] == nil {
					b.units = append(b.units, v.Unit)
				}
				b.values[v.Unit] = append(b.values[v.Unit], v.Value)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, cli.IOError("read "+path, err)
	}
	if len(all) == 0 {
		return nil, cli.UsageError("%s holds no benchmark", path)
	}
	return all, nil
}

// change is one unit of one benchmark on both sides.
type change struct {
	name, unit string
	base, new  []float64
	results.Contrast
	adjusted float64
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
	changes, notes, err := pairUp(files, paths, f.units)
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
		if slices.Max(d.base) == slices.Min(d.base) && slices.Equal(d.base[:1], d.new[:1]) && slices.Max(d.new) == slices.Min(d.new) {
			p[i] = math.NaN() // always the same on both sides: there is nothing to test
		}
	}
	for i, adjusted := range results.Holm(p) {
		changes[i].adjusted = adjusted
	}
	if _, err := c.OutOrStdout().Write(changeTable(changes, paired)); err != nil {
		return cli.IOError("write result", err)
	}
	if f.most.text == "" {
		return nil
	}
	for i := range changes {
		if changes[i].regressed(f.most.value.Float()) {
			return cli.Fail(cli.ExitMissed, fmt.Errorf("%s: %s is worse by more than %s", changes[i].name, changes[i].unit, f.most.text))
		}
	}
	return nil
}

// pairUp finds what is to be compared with what.
func pairUp(files [][]*benchmark, paths, units []string) (changes []change, notes []string, err error) {
	add := func(base, new *benchmark) {
		for _, unit := range base.units {
			if b := new.values[unit]; len(b) > 0 && (len(units) == 0 || slices.Contains(units, unit)) {
				changes = append(changes, change{name: new.name, unit: unit, base: base.values[unit], new: b})
			}
		}
	}
	if len(files) == 1 {
		base := files[0][0]
		if len(files[0]) == 1 {
			return nil, nil, cli.UsageError("%s holds only one benchmark: compare it with another file", paths[0])
		}
		notes = append(notes, "base is "+base.name)
		for _, b := range files[0][1:] {
			for unit, values := range b.values {
				if len(values) != len(base.values[unit]) && len(base.values[unit]) > 0 {
					return nil, nil, cli.UsageError("%s: %s has %d rounds of %s, and %s has %d: they did not take turns", paths[0], base.name, len(base.values[unit]), unit, b.name, len(values))
				}
			}
			add(base, b)
		}
	} else {
		for _, base := range files[0] {
			if i := slices.IndexFunc(files[1], func(b *benchmark) bool { return b.name == base.name }); i >= 0 {
				add(base, files[1][i])
			}
		}
		if len(changes) == 0 && len(files[0]) == 1 && len(files[1]) == 1 {
			notes = append(notes, fmt.Sprintf("the benchmarks differ: %s and %s", files[0][0].name, files[1][0].name))
			add(files[0][0], files[1][0])
		}
		if few := min(len(files[0][0].values[files[0][0].units[0]]), 6); few < 6 {
			notes = append(notes, fmt.Sprintf("%d rounds are few: only large differences can be shown", few))
		}
	}
	if len(changes) == 0 {
		if len(units) > 0 {
			return nil, nil, cli.UsageError("nothing to compare: no benchmark of both has the unit %s", strings.Join(units, ", "))
		}
		return nil, nil, cli.UsageError("nothing to compare: %s have no benchmark in common", strings.Join(paths, " and "))
	}
	return changes, notes, nil
}

// regressed reports whether the change is for the worse by more than a share of the base
// mean, with its whole interval.
func (d *change) regressed(most float64) bool {
	base, _ := results.Interval(d.base)
	worse := d.Difference
	if moreIsBetter(d.unit) {
		worse = -worse
	}
	return worse-d.Half > most*math.Abs(base) // false for NaN
}

// moreIsBetter reports it of a unit: rates are, times and counts are not.
func moreIsBetter(unit string) bool {
	return strings.HasSuffix(unit, "/s") || unit == "goodput" || unit == "throughput"
}

// changeTable lays out the changes.
func changeTable(changes []change, paired bool) []byte {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	name := ""
	for i := range changes {
		d := &changes[i]
		if d.name != name {
			if name = d.name; i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s\n\tbase\tnew\tchange\tp\n", name)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", d.unit, sample(d.base, d.unit), sample(d.new, d.unit), d.changed(), d.pValue())
	}
	w.Flush()
	test := "Welch"
	if paired {
		test = "paired"
	}
	fmt.Fprintf(&text, "\nmeans, ± = 95%% CI; ≈ = no difference shown (%s t, Holm over %d comparisons, α 0.05)\n", test, len(changes))
	return text.Bytes()
}

// sample writes a mean with its interval.
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

// changed writes the change relative to the base mean.
func (d *change) changed() string {
	base, _ := results.Interval(d.base)
	mark := ""
	if !(d.adjusted < .05) {
		mark = " ≈"
	}
	switch {
	case d.Difference == 0:
		return "0%" + mark
	case base == 0:
		return "–" + mark
	}
	text := errorText(d.Difference / base)
	if !math.IsNaN(d.Half) {
		text += fmt.Sprintf(" ±%.1f%%", math.Abs(d.Half/base)*100)
	}
	return text + mark
}

func (d *change) pValue() string {
	switch {
	case math.IsNaN(d.P) || math.IsNaN(d.adjusted):
		return "–"
	case d.P < .0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", d.P)
}
