package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/plain"
)

// benchmark holds the values of one benchmark of one package at one number of processors.
type benchmark struct {
	name       string // name for people: without the parts shared by the whole file
	pkg        string
	full       string   // name with the number of processors
	processors string   // suffix for the number of processors, as -8, or "" for one
	rounds     int      // number of its lines
	units      []string // units in the order of the file
	// values holds the values of each unit by round; NaN: that line has none.
	values map[string][]float64
}

// onProcessors matches the ending of a benchmark's name for its number of processors, such as -8.
var onProcessors = regexp.MustCompile(`-\d+$`)

// bare returns the name of the benchmark without the suffix for the number of processors.
func (b *benchmark) bare() string { return b.full[:len(b.full)-len(b.processors)] }

// add adds the values of one line of the benchmark's file, a round.
func (b *benchmark) add(round []benchfmt.Value) {
	for _, v := range round {
		if b.values[v.Unit] == nil {
			b.units = append(b.units, v.Unit)
			b.values[v.Unit] = slices.Repeat([]float64{math.NaN()}, b.rounds)
		}
		if len(b.values[v.Unit]) == b.rounds { // else the line has the unit twice
			b.values[v.Unit] = append(b.values[v.Unit], v.Value)
		}
	}
	b.rounds++
	for _, unit := range b.units {
		if values := b.values[unit]; len(values) < b.rounds {
			b.values[unit] = append(values, math.NaN())
		}
	}
}

// readBenchmarks reads the results in a file (- for standard input) in the Go benchmark format, in the file's order.
func readBenchmarks(path string, stdin io.Reader) ([]*benchmark, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ui.UsageError("there is no file %s", path)
		}
		if err != nil {
			return nil, input.OpenError(fmt.Errorf("read results: %w", err))
		}
		defer file.Close()
		in = file
	}
	var all []*benchmark
	by := map[[2]string]*benchmark{}
	reader := benchfmt.NewReader(in, path)
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, ui.Fail(ui.ExitUsage, r)
		case *benchfmt.Result:
			key := [2]string{r.GetConfig("pkg"), string(r.Name)}
			b := by[key]
			if b == nil {
				b = &benchmark{pkg: key[0], full: key[1], processors: onProcessors.FindString(key[1]),
					values: map[string][]float64{}}
				by[key] = b
				all = append(all, b)
			}
			b.add(r.Values)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, input.OpenError(fmt.Errorf("read %s: %w", path, err))
	}
	if len(all) == 0 {
		return nil, ui.UsageError("%s holds no benchmark", path)
	}
	nameBenchmarks(all, sameProcessors(all))
	return all, nil
}

// nameBenchmarks sets the displayed names of a file's benchmarks: without the package if all have the same, and without
// the number of processors if bare is set.
func nameBenchmarks(all []*benchmark, bare bool) {
	several := slices.ContainsFunc(all, func(b *benchmark) bool { return b.pkg != all[0].pkg })
	for _, b := range all {
		b.name = plain.When(several, b.pkg+": ") + plain.Either(bare, b.bare(), b.full)
	}
}

func sameProcessors(all []*benchmark) bool {
	return !slices.ContainsFunc(all, func(b *benchmark) bool { return b.processors != all[0].processors })
}

// valuesOf returns the values of a unit of two benchmarks; of paired ones only those of rounds in which both have it.
func valuesOf(base, new *benchmark, unit string, paired bool) (before, after []float64) {
	a, b := base.values[unit], new.values[unit]
	if !paired {
		return slices.DeleteFunc(slices.Clone(a), math.IsNaN), slices.DeleteFunc(slices.Clone(b), math.IsNaN)
	}
	for round := range min(len(a), len(b)) {
		if !math.IsNaN(a[round]) && !math.IsNaN(b[round]) {
			before, after = append(before, a[round]), append(after, b[round])
		}
	}
	return before, after
}

// matched calls add with each pair of benchmarks that have the same name in two files or, if each file has just one,
// with those two, and returns notes about the others. Numbers of processors are ignored unless they vary in a file.
func matched(files [][]*benchmark, paths []string, add func(base, new *benchmark)) (notes []string) {
	alike := sameProcessors(files[0]) && sameProcessors(files[1])
	key := func(b *benchmark) [2]string { return [2]string{b.pkg, plain.Either(alike, b.bare(), b.full)} }
	if !alike {
		nameBenchmarks(files[0], false)
		nameBenchmarks(files[1], false)
	}
	if a, b := files[0][0].processors, files[1][0].processors; alike && a != b {
		notes = append(notes, fmt.Sprintf("GOMAXPROCS differs: %s and %s", processorsText(a), processorsText(b)))
	}
	if len(files[0]) == 1 && len(files[1]) == 1 && key(files[0][0]) != key(files[1][0]) {
		notes = append(notes, fmt.Sprintf("the benchmarks differ: %s and %s", files[0][0].name, files[1][0].name))
		add(files[0][0], files[1][0])
		return notes
	}
	news := map[[2]string]*benchmark{}
	for _, b := range files[1] {
		news[key(b)] = b
	}
	for _, base := range files[0] {
		if b := news[key(base)]; b != nil {
			add(base, b)
			delete(news, key(base))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: only in %s", base.name, paths[0]))
	}
	for _, b := range files[1] {
		if news[key(b)] != nil {
			notes = append(notes, fmt.Sprintf("%s: only in %s", b.name, paths[1]))
		}
	}
	return notes
}

// processorsText returns the number of processors at the end of a benchmark's name, "1" if none is given.
func processorsText(end string) string { return cmp.Or(strings.TrimPrefix(end, "-"), "1") }
