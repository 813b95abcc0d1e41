package chaos

import (
	"context"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"
)

var (
	long    = flag.Bool("long", false, "run the full figures")
	rewrite = flag.Bool("rewrite", false, "write the table of planted bugs anew")
)

// mostSeeds is how many seeds it may take to find a bug.
const mostSeeds = 1000

// TestPlantedBugs plants one bug after another. Each is found by the seed in the table, the first
// from 1 on. With -long all seeds up to it are run, and as many others.
func TestPlantedBugs(t *testing.T) {
	if *rewrite {
		rewriteFound(t)
		return
	}
	if len(bugs) < 25 {
		t.Errorf("%d bugs are too few", len(bugs))
	}
	for i := range bugs {
		b := &bugs[i]
		t.Run(b.name, func(t *testing.T) {
			want, known := found[b.name]
			if !known || want.seed > mostSeeds {
				t.Fatalf("no seed is known for it below %d: found after %s", mostSeeds, b.find(1))
			}
			r := runner{plant: b.plant, only: b.only}
			report := r.run(Draw(want.seed), want.seed%twiceEvery == 0)
			if got := report.kind(); got != want.breaks {
				t.Errorf("seed %d: %s, want %s; found after %s", want.seed, got, want.breaks, b.find(1))
			}
			if !*long {
				return
			}
			if first := b.find(1); first != fmt.Sprintf("%d: %s", want.seed, want.breaks) {
				t.Errorf("the first seed is %s, the table says %d: %s", first, want.seed, want.breaks)
			}
			t.Logf("from seed 1000001: %s", b.find(1_000_001))
		})
	}
	if *long {
		return
	}
	for name := range found {
		known := false
		for i := range bugs {
			known = known || bugs[i].name == name
		}
		if !known {
			t.Errorf("the table has %q, which is no bug", name)
		}
	}
}

// rewriteFound writes the table anew.
func rewriteFound(t *testing.T) {
	var text strings.Builder
	text.WriteString("package chaos\n\n// finding is the first seed, from 1 on, that finds a planted bug: so many seeds it takes.\n" +
		"// It says which invariant breaks then.\ntype finding struct {\n\tseed   uint64\n\tbreaks string\n}\n\n// found is written by go test -run TestPlantedBugs -rewrite.\nvar found = map[string]finding{\n")
	for i := range bugs {
		seed, breaks, ok := strings.Cut(bugs[i].find(1), ": ")
		if !ok {
			t.Errorf("%q is never found", bugs[i].name)
			continue
		}
		fmt.Fprintf(&text, "%q: {%s, %q},\n", bugs[i].name, seed, breaks)
	}
	text.WriteString("}\n")
	source, err := format.Source([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("found_test.go", source, 0o644); err != nil {
		t.Fatal(err)
	}
}

// kind returns the broken part as a word.
func (r *Report) kind() string {
	switch {
	case r.Breach != nil:
		return r.Breach.Invariant.String()
	case r.Failed():
		return "panic"
	}
	return "nothing"
}

// find returns the first seed that finds a bug, and its failure.
func (b *bug) find(first uint64) string {
	result, err := Swarm(context.Background(), Options{First: first, Seeds: mostSeeds, Parallel: 1, Only: b.only, plant: b.plant, quick: true})
	if err != nil || len(result.Failures) == 0 {
		return "never"
	}
	f := &result.Failures[0]
	return fmt.Sprintf("%d: %s", f.Seed, f.Report.kind())
}
