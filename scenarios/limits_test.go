package scenarios

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"qsim/scenarios/origins"
	"qsim/scenarios/reference"
)

// TestHuge checks the loader's limits of time and memory on input made to keep it busy.
func TestHuge(t *testing.T) {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"50 MB":       strings.Repeat("a", 50<<20),
		"entries":     "jobs: [" + strings.Repeat("a,", 100_000) + "]",
		"keys":        lines(15_000, "k%d: 1\n"),
		"brackets":    strings.Repeat("[", 200_000),
		"dashes":      strings.Repeat("- ", 100_000),
		"questions":   strings.Repeat("? ", 100_000),
		"quotes":      strings.Repeat("'", 200_001),
		"escapes":     `name: "` + strings.Repeat(`\u0041`, 40_000) + `"`,
		"one word":    "name: " + strings.Repeat("x", 250_000),
		"folded":      "name: >\n" + lines(30_000, "  x%d\n"),
		"anchors":     "jobs: [" + lines(9_000, "&a%d x,") + "]",
		"tags":        strings.Repeat("!a ", 80_000),
		"comments":    strings.Repeat("#\n", 30_000) + smallest + "x: 1\n",
		"storms":      smallest + "storms:\n" + lines(1500, "- {name: s%d}\n"),
		"policies":    smallest + "policies:\n" + lines(60, "- {kind: fifo, label: p%d, with: {engine.workers: 0}}\n"),
		"variants":    smallest + "policies:\n" + lines(1800, "- {kind: fifo, label: p%d, with: {engine.workers: 3}}\n"),
		"percent":     smallest + "duration: " + strings.Repeat("1", 200_000) + "%\n",
		"digits":      smallest + "seeds: " + strings.Repeat("1", 200_000) + "\n",
		"exponent":    smallest + "seeds: 1e999999999\n",
		"small":       smallest + "engine: {workers: 1e-999999999}\n",
		"merges":      "a: &a {b: 1}\n" + "c: {<<: [" + strings.Repeat("*a,", 12_000) + "]}\n",
		"wide errors": "engine: {" + lines(9_000, "k%d: 1, ") + "}\n",
	} {
		t.Run(name, func(t *testing.T) {
			start, before := busy(t), allocated()
			sc, ds := Load("huge.yaml", []byte(text), nil)
			if sc != nil || len(ds.Errors()) == 0 {
				t.Error("loaded: want it refused")
			}
			out := render(t, "huge.yaml", []byte(text), ds)
			if took := busy(t) - start; took > 20*time.Second {
				t.Errorf("took %v of processor time", took)
			}
			if used := allocated() - before; used > 400<<20 { // all that it allocated; a fraction is in use at once
				t.Errorf("allocated %d MB", used>>20)
			}
			if len(out) > 200_000 {
				t.Errorf("%d bytes of diagnostics", len(out))
			}
		})
	}
}

// allocated returns the bytes of memory that the process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// busy returns the processor time that this process has used: unlike the wall clock it stands still while others run.
func busy(t *testing.T) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// FuzzLoad searches for text that makes Load panic, hang or return nonsense. What it accepts must load again as
// Resolved writes it.
func FuzzLoad(f *testing.F) {
	most := 8 << 10 // what is larger keeps the fuzzer busy with making it smaller
	if flag.Lookup("test.fuzz").Value.String() != "" {
		// The fuzzer gives an input ten seconds on the wall, in which it runs several times as slowly as in a test and
		// others may have the processors: what takes half a second in a test stays one.
		most = 4 << 10
	}
	for _, pattern := range []string{"*.yaml", "testdata/*.yaml", "testdata/good/*.yaml", "testdata/bad/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(src) < most {
				f.Add(src, "engine.lease.ttl", "10s")
			}
		}
	}
	f.Add([]byte(rich), "jobs.mail.retry.max-attempts", "unlimited")
	f.Fuzz(func(t *testing.T, src []byte, path, value string) {
		start := busy(t)
		sc, ds := Load("fuzz.yaml", src, []Override{{Path: path, Value: value}})
		render(t, "fuzz.yaml", src, ds)
		if took := busy(t) - start; took > time.Second {
			t.Errorf("took %v of processor time", took)
		}
		if (sc == nil) != (len(ds.Errors()) > 0) {
			t.Fatalf("scenario %v with %d errors", sc != nil, len(ds.Errors()))
		}
		for _, d := range ds {
			if d.Message == "" || d.Width < 1 || d.Line < 0 || d.Line > 0 && d.Col < 1 {
				t.Errorf("odd diagnostic %+v", d)
			}
		}
		if sc == nil {
			return
		}
		text := sc.Resolved()
		again, ds := Load("fuzz.yaml", text, nil)
		if again == nil || string(again.Resolved()) != string(text) {
			t.Fatalf("resolved as\n%s\nit loads with %v", text, ds)
		}
		origins.Of(sc, []Override{{Path: path, Value: value}})
		for i := range sc.Policies {
			origins.OfPolicy(sc, i, nil)
			for class := range sc.Jobs {
				if _, err := sc.Variant(i).RetryPolicy(class); err != nil {
					t.Errorf("retry policy of class %d under policy %d: %v", class, i, err)
				}
			}
			if _, err := sc.Variant(i).PolicyMaker(i); err != nil {
				t.Errorf("policy %d: %v", i, err)
			}
		}
	})
}

// TestLimitsAgree checks that a limit that is a constant of Go is that of the table of keys.
func TestLimitsAgree(t *testing.T) {
	for path, want := range map[string]int{"jobs.*.arrivals.size": reference.MostJobs, "jobs.*.patience.resubmits": reference.MostResubmits} {
		if got := reference.MostOf(path); got != want {
			t.Errorf("%s: at most %d, want %d", path, got, want)
		}
	}
}
