package world

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
	"qsim/scenarios"
)

var traceLines = flag.Int("trace-lines", 1_000_000, "arrivals of the trace whose memory is measured")

// endless is the text of a trace with a number of lines, generated as it is read.
type endless struct {
	line, lines int
	rest        []byte
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(e.rest) == 0 {
			if e.line == e.lines {
				return n, io.EOF
			}
			e.rest = fmt.Appendf(e.rest[:0], "%.3f,%d\n", float64(e.line)/1000, e.line%7)
			e.line++
		}
		k := copy(p[n:], e.rest)
		n, e.rest = n+k, e.rest[k:]
	}
	return n, nil
}

// A long trace takes no more memory than a short one.
func TestTraceMemory(t *testing.T) {
	tr := newTrace(io.NopCloser(&endless{lines: *traceLines}), "endless.csv", 0, engine.Never, levelsOf(nil, engine.Never), classDraws{})
	tr.tenantOf = func(name string) engine.TenantID { return 1 + engine.TenantID(name[0]-'0') }
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before, most := heap(), 0.0
	for i := range *traceLines {
		a, ok := tr.next()
		if !ok || a.index != uint64(i) || a.at != engine.Time(i)*1_000_000 || a.tenant != 1+engine.TenantID(i%7) {
			t.Fatalf("line %d: %+v, %v, %v", i+1, a, ok, tr.err)
		}
		if i%(*traceLines/8+1) == 0 {
			most = max(most, heap()-before)
		}
	}
	if _, more := tr.next(); more || tr.err != nil {
		t.Errorf("more: %v, error: %v", more, tr.err)
	}
	if most > 1<<20 {
		t.Errorf("%.0f bytes more than before", most)
	}
}

// traced returns a scenario whose arrivals are a trace of the given lines, with more keys below.
func traced(t *testing.T, lines, more string) *scenarios.Scenario {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "trace.csv"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "warmup: 0s\nduration: 10s\njobs:\n  - {class: mail, service: 1us, arrivals: {process: trace, file: trace.csv, start: 1s, stop: 8s}, tenants: {names: [ann, bob]}}\n" + more
	sc, ds := scenarios.Load(filepath.Join(folder, "test.yaml"), []byte(text), nil)
	if sc == nil {
		t.Fatalf("%s", render(t, "test.yaml", []byte(text), ds))
	}
	return sc
}

func TestTrace(t *testing.T) {
	sc := traced(t, "0,ann\n0.5,bob\n0.5 , bob\r\n2.000000001\n6.9999,ann\n7,ann\n8,ann\n", "")
	w, err := newWorkload(sc, keyed.Rand{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		var j engine.NewJob
		at, ok := w.Next(&j)
		if !ok {
			break
		}
		name := sc.TenantNames()[j.Tenant]
		if len(got) == 3 && name != "" {
			name = "somebody"
		}
		got = append(got, fmt.Sprintf("%d %s", at, name))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(got, "; "), "1000000000 ann; 1500000000 bob; 1500000000 bob; 3000000001 somebody; 7999900000 ann"; got != want {
		t.Errorf("jobs at %s\n want at %s", got, want)
	}
}

// A burst by 2.5 brings each line of a trace twice, and half of them once more.
func TestTraceWithABurst(t *testing.T) {
	var lines strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&lines, "%.3f\n", float64(i)/1000)
	}
	sc := traced(t, lines.String(), "storms: [{name: b, at: 2s, for: 2s, burst: {class: mail, factor: 2.5}}]")
	n := float64(len(times(t, sc, 1)))
	if want := 4000 + 2.5*2000; math.Abs(n-want) > 5*math.Sqrt(2000*0.25) {
		t.Errorf("%v jobs, want about %v", n, want)
	}
}

// With a share of a trace the lines that arrive are drawn by the seed, and a burst multiplies them.
func TestShareOfATrace(t *testing.T) {
	var lines strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&lines, "%.3f\n", float64(i)/1000)
	}
	sc := traced(t, lines.String(), "storms: [{name: b, at: 2s, for: 2s, burst: {class: mail, factor: 2.5}}]")
	share := quantity.Percent(30)
	sc.Jobs[0].Arrivals.Share = &share
	one, other := times(t, sc, 1), times(t, sc, 2)
	if want := 0.3*4000 + 0.75*2000; math.Abs(float64(len(one))-want) > 5*math.Sqrt(6000*0.21) { // p < 1e-6
		t.Errorf("%v jobs, want about %v", len(one), want)
	}
	if slices.Equal(one, other) || !slices.Equal(one, times(t, sc, 1)) {
		t.Errorf("%d jobs of one seed, %d of another: they are not drawn by seed", len(one), len(other))
	}
}

// What is wrong beyond the lines that are read before a run ends the run.
func TestBrokenTrace(t *testing.T) {
	good := strings.Repeat("0.1\n", 2000)
	for _, tt := range []struct{ line, want string }{
		{"0.05\n", "line 2001: it is earlier than the line before"},
		{"soon\n", "line 2001: want seconds"},
		{"1,eve\n", "line 2001: there is no tenant"},
		{"1" + strings.Repeat("0", 100_000), "line 2001: bufio.Scanner: token too long"},
	} {
		all, err := Run(context.Background(), traced(t, good+tt.line, ""), Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(all) != 0 {
			t.Errorf("line %.20q: %d runs, error %v; want %q", tt.line, len(all), err, tt.want)
		}
	}
}
