package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"qsim/cmd/ui"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// compareFiles runs qbench compare and returns its exit code and output.
func compareFiles(t *testing.T, arguments ...string) (ui.Exit, string) {
	t.Helper()
	var out bytes.Buffer
	c := newCompare()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(arguments)
	err := c.Execute()
	var f *ui.Failure
	switch {
	case err == nil:
		return ui.ExitMet, out.String()
	case !errors.As(err, &f):
		t.Fatal(err)
	}
	fmt.Fprintln(&out, err)
	return f.Exit, out.String()
}

// TestRegression holds changes against a limit: only one that lies beyond it with its whole
// interval is a regression, and more jobs per second are none.
func TestRegression(t *testing.T) {
	steady := func(around float64) (values []float64) {
		for i := range 8 {
			values = append(values, around*(1+.001*float64(i%3)))
		}
		return values
	}
	file := func(unit string, values []float64) string {
		text := ""
		for _, v := range values {
			text += fmt.Sprintf("BenchmarkX-2 1 %v %s\n", v, unit)
		}
		return text
	}
	for _, tt := range []struct {
		name, unit string
		base, new  []float64
		code       ui.Exit
	}{
		{"slower by a tenth", "sec/job", steady(1), steady(1.1), ui.ExitMissed},
		{"faster", "sec/job", steady(1.1), steady(1), ui.ExitMet},
		{"fewer jobs per second", "jobs/s", steady(1.1), steady(1), ui.ExitMissed},
		{"more jobs per second", "jobs/s", steady(1), steady(1.1), ui.ExitMet},
		{"too little", "sec/job", steady(1), steady(1.02), ui.ExitMet},
		{"cannot be told", "sec/job", []float64{1, 2, 3}, []float64{2, 3, 4}, ui.ExitMet},
		{"one round", "sec/job", []float64{1}, []float64{3}, ui.ExitMissed},
		{"less fair", "jain", steady(1.1), steady(1), ui.ExitMissed},
		{"fairer", "jain", steady(1), steady(1.1), ui.ExitMet},
		{"a fact", "jobs", steady(1), steady(1.1), ui.ExitMissed},
		{"more lost", "lost", []float64{0, 0, 0}, []float64{0, 1, 0}, ui.ExitMissed},
		{"none lost", "lost", []float64{0, 0, 0}, []float64{0, 0, 0}, ui.ExitMet},
		{"fewer lost", "lost", []float64{1}, []float64{0}, ui.ExitMet},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, new := t.TempDir()+"/base.txt", t.TempDir()+"/new.txt"
			writeText(t, base, file(tt.unit, tt.base))
			writeText(t, new, file(tt.unit, tt.new))
			code, _ := compareFiles(t, base, new, "--max-regression", "5%")
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
		})
	}
}

// TestSenseOfMetrics: benchmark units of a scenario's metrics are better low or high as the metrics themselves are.
func TestSenseOfMetrics(t *testing.T) {
	for _, info := range measure.Metrics() {
		if less, more := better(metricUnit(info)); less != info.LessIsBetter || more != info.MoreIsBetter {
			t.Errorf("%s as %s: less is better %v, more is %v", info.Name, metricUnit(info), less, more)
		}
	}
	for unit, want := range map[string]string{"sec/op": "less", "B/s": "more", "jobs/s": "more", "p99-claim-sec": "less", "claim-sec/job": "less",
		"allocs/op": "less", "furlongs": ""} {
		if less, more := better(unit); less != (want == "less") || more != (want == "more") {
			t.Errorf("%s: less is better %v, more is %v, want %q", unit, less, more, want)
		}
	}
}

// TestGateOfMany compares results of 13 units that are exactly as much worse as is allowed,
// again and again: hardly ever may one be stopped.
func TestGateOfMany(t *testing.T) {
	const trials, units, rounds = 400, 13, 6
	rand := keyed.Rand{Seed: 5}
	noise, err := dist.Normal(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := compareFlags{most: scenarios.Share{Num: 5, Den: 100}}
	stopped := 0
	for trial := range trials {
		changes := make([]change, units)
		for u := range changes {
			d := &changes[u]
			d.unit = fmt.Sprintf("u%d-sec", u)
			for r := range rounds {
				d.base = append(d.base, 1+.05*(noise.Sample(rand.Uniform(1, uint64(trial), uint64(r), uint16(u)))-100))
				d.new = append(d.new, 1.05+.05*(noise.Sample(rand.Uniform(2, uint64(trial), uint64(r), uint16(u)))-100))
			}
		}
		if f.gate(changes, nil, false, "5%", &bytes.Buffer{}) != nil {
			stopped++
		}
	}
	if share := float64(stopped) / trials; share > .1 { // 0.05, and 4.6 standard deviations
		t.Errorf("%v of the comparisons were stopped for no reason", share)
	}
}

// TestCompareMatches compares files of several packages and numbers of processors.
func TestCompareMatches(t *testing.T) {
	three := func(name string, v int) string {
		return strings.Repeat(fmt.Sprintf("Benchmark%s 1 %d sec/op\n", name, v), 3)
	}
	for _, tt := range []struct {
		name, base, new string
		shown, missing  []string
		code            ui.Exit
	}{
		{"other processors, one each", three("X-2", 1) + three("Y-2", 1), three("X-8", 1) + three("Y-8", 1), []string{"GOMAXPROCS differs: 2 and 8", "X\n", "Y\n"}, nil, ui.ExitMet},
		{"several each", three("X-2", 1) + three("X-4", 5), three("X-2", 1) + three("X-4", 5), []string{"X-2\n", "X-4\n"}, []string{"3 ±"}, ui.ExitMet},
		{"several on one side", three("X-2", 1) + three("X-4", 5), three("X-4", 5) + three("Z-4", 5), []string{"X-4\n", "X-2: only in", "Z-4: only in"}, nil, ui.ExitMet},
		{"packages", "pkg: a\n" + three("X-2", 1) + "pkg: b\n" + three("X-2", 9), "pkg: a\n" + three("X-2", 1) + "pkg: b\n" + three("X-2", 9), []string{"a: X\n", "b: X\n"}, []string{"5 ±"}, ui.ExitMet},
		{"nothing in common", three("X-2", 1) + three("Y-2", 1), three("V-2", 1) + three("W-2", 1), nil, nil, ui.ExitUsage},
		{"units on one side", three("X-2", 1), three("X-2", 1) + "BenchmarkX-2 1 3 jobs/s\n", []string{"only on one side: jobs/s"}, nil, ui.ExitMet},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, new := t.TempDir()+"/base.txt", t.TempDir()+"/new.txt"
			writeText(t, base, tt.base)
			writeText(t, new, tt.new)
			code, out := compareFiles(t, base, new)
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			for _, want := range tt.shown {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s", want, out)
				}
			}
			for _, not := range tt.missing {
				if strings.Contains(out, not) {
					t.Errorf("there is %q in\n%s", not, out)
				}
			}
		})
	}
}

// TestFewRounds warns of few rounds in either file and in any benchmark that is compared.
func TestFewRounds(t *testing.T) {
	rounds := func(name string, n int) string { return strings.Repeat("Benchmark"+name+"-2 1 1 sec/op\n", n) }
	for _, tt := range []struct{ name, base, new, want string }{
		{"in the base", rounds("X", 3), rounds("X", 6), "as few as 3 rounds"},
		{"in the new file", rounds("X", 6), rounds("X", 2), "as few as 2 rounds"},
		{"in another benchmark", rounds("X", 6) + rounds("Y", 6), rounds("X", 6) + rounds("Y", 1), "as few as 1 round:"},
		{"in one that is not compared", rounds("X", 6) + rounds("Z", 1), rounds("X", 6), ""},
		{"nowhere", rounds("X", 6), rounds("X", 7), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, new := t.TempDir()+"/base.txt", t.TempDir()+"/new.txt"
			writeText(t, base, tt.base)
			writeText(t, new, tt.new)
			if _, out := compareFiles(t, base, new); !strings.Contains(out, tt.want) || strings.Contains(out, "few") != (tt.want != "") {
				t.Errorf("want %q in\n%s", tt.want, out)
			}
		})
	}
}

// TestTurns names the first unit of which two benchmarks of one file have different numbers of rounds.
func TestTurns(t *testing.T) {
	round := "1 1 jobs/s 2 sec/job 3 B/op 4 allocs/op\n"
	path := filepath.Join(t.TempDir(), "bench.txt")
	writeText(t, path, "BenchmarkA-2 "+round+"BenchmarkB-2 "+round+"BenchmarkB-2 "+round)
	for range 20 {
		if code, out := compareFiles(t, path); code != ui.ExitUsage || !strings.Contains(out, "1 rounds of jobs/s, and B has 2") {
			t.Fatalf("exit code %d, %s", code, out)
		}
	}
}

// TestSample: times are rounded to three digits or more; other units and times above 1e9 s are plain numbers.
func TestSample(t *testing.T) {
	for _, tt := range []struct {
		unit  string
		value float64
		want  string
	}{
		{"sec/op", 3.25e-9, "3.25ns"}, {"sec/op", .5e-9, "0.5ns"}, {"execute-sec/job", 52.4e-9, "52.4ns"}, {"sec", 123e-9, "123ns"},
		{"p99-claim-sec", .0012345, "1.235ms"}, {"sec", 0, "0s"}, {"req/sec", 120500, "120500"}, {"secrets", 7, "7"},
		{"sec/op", math.NaN(), "NaN"}, {"x-sec", 1e308, "1e+308"},
	} {
		if got := sample([]float64{tt.value}, tt.unit); got != tt.want {
			t.Errorf("%v %s is printed as %s, want %s", tt.value, tt.unit, got, tt.want)
		}
	}
}

// TestChangeOfAnySize: a change is in percent up to the double, and a factor from there on.
func TestChangeOfAnySize(t *testing.T) {
	for _, tt := range []struct {
		base, new []float64
		want      string
	}{
		{[]float64{10, 10, 10}, []float64{1611.7, 1611.7, 1611.7}, "×161 ±0"}, {[]float64{10}, []float64{20}, "×2 ?"},
		{[]float64{100, 100, 100}, []float64{239, 240, 241}, "×2.4 ±0.025"}, {[]float64{10}, []float64{19.9}, "+99.0% ?"},
		{[]float64{10, 10}, []float64{0, 0}, "−100.0% ±0.0%"}, {[]float64{0}, []float64{5}, "– ?"}, {[]float64{5}, []float64{5}, "0% ?"},
	} {
		d := change{base: tt.base, new: tt.new, Contrast: results.Against(tt.base, tt.new, false)}
		d.Adjusted = d.P
		if got := d.changed(); got != tt.want {
			t.Errorf("from %v to %v: %s, want %s", tt.base, tt.new, got, tt.want)
		}
	}
}

// TestCompareNamesItsBase: what is compared with what stands above the table, where it is printed.
func TestCompareNamesItsBase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.txt")
	writeText(t, path, "BenchmarkA-2 1 1 jobs\nBenchmarkB-2 1 3 jobs\n")
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{path}, "base: A\nnew:  each of the others, in the same rounds\n\nB\n"},
		{[]string{path, path}, "base: " + path + "\nnew:  " + path + "\n\nA\n"},
	} {
		var out bytes.Buffer
		c := newCompare()
		c.SetOut(&out)
		c.SetArgs(tt.files)
		if err := c.Execute(); err != nil || !strings.HasPrefix(out.String(), tt.want) {
			t.Errorf("%v, got\n%swant\n%s", err, out.String(), tt.want)
		}
	}
}

// TestComparisons counts the comparisons for which p values are adjusted: those of constants are none.
func TestComparisons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.txt")
	writeText(t, path, "BenchmarkX-2 1 1 jobs/s 0 lost 5 B/op\nBenchmarkX-2 1 2 jobs/s 0 lost 5 B/op\n")
	if _, out := compareFiles(t, path, path); !strings.Contains(out, "Holm over 1 comparison,") {
		t.Error(out)
	}
}

// TestRoundsWithoutAValue compares what some rounds lack: a round counts where both sides have a value, and others are not
// paired with the next ones.
func TestRoundsWithoutAValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.txt")
	rounds := func(a, b string) string { return "BenchmarkA-2 1 1 x" + a + "\nBenchmarkB-2 1 1 x" + b + "\n" }
	writeText(t, path, rounds(" 10 jobs", "")+rounds(" 20 jobs", " 21 jobs")+rounds(" 30 jobs", " 32 jobs")+rounds("", " 41 jobs"))
	code, out := compareFiles(t, path, "--unit", "jobs")
	for _, want := range []string{"jobs   25 ±254%   26.5 ±264%   +6.0% ±25.4% ?", "B: not in every round, and compared where both sides have it: jobs"} {
		if !strings.Contains(out, want) {
			t.Errorf("exit code %d, without %q:\n%s", code, want, out)
		}
	}
	if code, out = compareFiles(t, path, path, "--unit", "jobs"); !strings.Contains(out, "A: not in every round: jobs") || !strings.Contains(out, "jobs   20 ±124%") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
