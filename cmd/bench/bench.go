package bench

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"qsim/cmd/ui"
)

// metric is one value of a benchmark result; its name is the unit in the Go benchmark format, such as p99-claim-sec.
type metric struct {
	name  string // unique name, by which benchstat groups
	unit  string // unit for people: s, jobs/s, jobs
	value float64
}

// metrics returns the values measured in a run under a synthetic load; latencies of jobs only if these came at a rate,
// and of those after the warmup.
func (l *loaded) metrics() []metric {
	list := []metric{{"jobs/s", "jobs/s", rate(l.done+l.dead, l.took)}}
	add := func(name, unit string, value float64) { list = append(list, metric{name, unit, value}) }
	seconds := func(name string, d time.Duration) { add(name, "s", d.Seconds()) }
	if l.open {
		for _, q := range []float64{.5, .99} {
			if l.pickup.Count() > 0 {
				seconds("p"+digits(q)+"-pickup-sec", l.pickup.Quantile(q))
			}
			if l.sojourn.Count() > 0 {
				seconds("p"+digits(q)+"-sojourn-sec", l.sojourn.Quantile(q))
			}
		}
	}
	for _, p := range l.phases() {
		if p.rows > 0 {
			add(p.name+"-sec/job", "s", p.perJob())
			seconds("p99-"+p.name+"-sec", p.calls.Quantile(.99))
		}
	}
	add("lost", "jobs", float64(l.lost))
	add("duplicates", "executions", float64(l.duplicates))
	return list
}

func rate(n int64, took time.Duration) float64 {
	if took <= 0 {
		return math.NaN()
	}
	return float64(n) / took.Seconds()
}

// benchWriter writes results in the Go benchmark format, which benchstat and qbench compare read.
type benchWriter struct {
	out   io.Writer
	begun bool
}

// result writes one benchmark line, the first below a heading. name has no spaces; 0 iterations count as 1.
func (w *benchWriter) result(name string, iterations int64, took time.Duration, metrics []metric) error {
	var b strings.Builder
	if !w.begun {
		w.begun = true
		fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: qsim/cmd/qbench\n", runtime.GOOS, runtime.GOARCH)
		if model := processor(); model != "" {
			fmt.Fprintf(&b, "cpu: %s\n", model)
		}
	}
	n := max(iterations, 1)
	fmt.Fprintf(&b, "Benchmark%s-%d\t%8d\t%12s ns/op", name, runtime.GOMAXPROCS(0), n,
		number(float64(took.Nanoseconds())/float64(n)))
	for _, m := range metrics {
		if !math.IsNaN(m.value) {
			fmt.Fprintf(&b, "\t%12s %s", number(m.value), m.name)
		}
	}
	return ui.Print(w.out, b.String()+"\n")
}

// number returns a measured value as text, rounded to six digits or more, in decimal notation if that is not too long.
func number(v float64) string {
	if size := math.Abs(v); size < 1e15 && (v == math.Trunc(v) || size >= 1e5) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// benchName returns the name of a benchmark with its parameters as /key=value, by which benchstat can group results.
func benchName(kind string, pairs ...string) string {
	name := kind
	for i := 0; i+1 < len(pairs); i += 2 {
		name += "/" + pairs[i] + "=" + benchWord(pairs[i+1])
	}
	return name
}

// benchWord returns a text with _ in place of each character that would end a benchmark name or a part of it.
func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || r == '"' || r < 33 || r == 127 || r == '\u00a0' || r == '\u2028' {
			return '_'
		}
		return r
	}, s)
}

// processor returns the model name of the processor from /proc/cpuinfo, or "" if it is not known.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
