package chaos

import (
	"context"
	"flag"
	"fmt"
	"go/format"
	"hash/crc32"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	long    = flag.Bool("long", false, "run the full figures")
	rewrite = flag.Bool("rewrite", false, "write the table of planted bugs anew")
)

// mostSeeds is how many seeds are searched for one that finds a planted bug.
const mostSeeds = 1000

// TestPlantedBugs plants each of bugs. The table found says which seed is the first to find it, and after how many
// worlds a swarm does; both must find it still, and swarms, by the median, in three fifths of the worlds that seeds in
// order take. With -long the searches are repeated. One more kind of storm or policy changes some worlds: if one of the
// table is drawn differently now and misses its bug, a search must find it; if more than a tenth do, write the table
// anew.
func TestPlantedBugs(t *testing.T) {
	if *rewrite {
		rewriteFound(t)
		return
	}
	if len(bugs) < 25 {
		t.Errorf("%d bugs are too few", len(bugs))
	}
	swarm := Options{First: 1, Seeds: mostSeeds}
	order := swarm.order()
	var seeds, worlds []uint64
	searched := 0 // worlds of the table, two for each bug, that are drawn differently now and do not find it
	for i := range bugs {
		b := &bugs[i]
		seeds, worlds = append(seeds, found[b.name].seed), append(worlds, found[b.name].worlds)
		t.Run(b.name, func(t *testing.T) {
			want, known := found[b.name]
			if !known || want.seed > mostSeeds {
				t.Fatalf("no seed is known for it below %d: found after %s", mostSeeds, b.find(1))
			}
			r, nth := runner{plant: b.plant, only: b.only}, order(int(want.worlds)-1)
			missed := func(w *World, sum uint32) bool {
				if sum == w.sum() {
					return true
				}
				searched++
				return b.find(1) == "never" || 10*searched > 2*len(bugs)
			}
			w := Draw(want.seed)
			report := r.run(w, want.seed%twiceEvery == 0)
			if got := report.kind(); got != want.breaks && missed(w, want.first) {
				t.Errorf("seed %d: %s, want %s; found after %s", want.seed, got, want.breaks, b.find(1))
			}
			w = Draw(nth)
			if report = r.run(w, nth%twiceEvery == 0); !report.Failed() && missed(w, want.nth) {
				t.Errorf("seed %d, the %dth of a swarm, does not find it", nth, want.worlds)
			}
			if !*long {
				return
			}
			if first := b.find(1); first != fmt.Sprintf("%d: %s", want.seed, want.breaks) {
				t.Errorf("the first seed is %s, the table says %d: %s", first, want.seed, want.breaks)
			}
			if n := b.worlds(); n != want.worlds {
				t.Errorf("a swarm finds it after %d worlds, the table says %d", n, want.worlds)
			}
			t.Logf("from seed 1000001: %s", b.find(1_000_001))
		})
	}
	slices.Sort(seeds)
	slices.Sort(worlds)
	if before, now := seeds[len(seeds)/2], worlds[len(worlds)/2]; 5*now > 3*before {
		t.Errorf("half of the bugs are found by %d worlds, want three fifths of the %d seeds that it takes from 1 on", now, before)
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

// rewriteFound searches for each of bugs and writes what it finds to found_test.go.
func rewriteFound(t *testing.T) {
	var text strings.Builder
	swarm := Options{First: 1, Seeds: mostSeeds}
	order := swarm.order()
	text.WriteString("package chaos\n\n// finding is the first seed, from 1 on, that finds a planted bug, the number of worlds\n" +
		"// that a swarm runs until one finds it, the invariant that the first seed breaks, and the checksums\n// of the worlds of that seed and of the last that the swarm runs.\n" +
		"type finding struct {\n\tseed       uint64\n\tworlds     uint64\n\tbreaks     string\n\tfirst, nth uint32\n}\n\n// found is written by go test -run TestPlantedBugs -rewrite.\nvar found = map[string]finding{\n")
	for i := range bugs {
		seed, breaks, ok := strings.Cut(bugs[i].find(1), ": ")
		if !ok {
			t.Errorf("%q is never found", bugs[i].name)
			continue
		}
		first, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n := bugs[i].worlds()
		fmt.Fprintf(&text, "%q: {%d, %d, %q, %#08x, %#08x},\n", bugs[i].name, first, n, breaks, Draw(first).sum(),
			Draw(order(int(n)-1)).sum())
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

// sum returns a checksum of a world's scenario, which differs if the world is drawn differently.
func (w *World) sum() uint32 { return crc32.ChecksumIEEE([]byte(w.Text)) }

// kind returns what a run broke: the name of the invariant, "panic", or "nothing".
func (r *Report) kind() string {
	switch {
	case r.Breach != nil:
		return r.Breach.Invariant.String()
	case r.Failed():
		return "panic"
	}
	return "nothing"
}

// find returns the first seed from first on that finds b, and what it breaks, as "seed: kind"; or "never".
func (b *bug) find(first uint64) string {
	r := runner{plant: b.plant, only: b.only}
	for seed := first; seed < first+mostSeeds; seed++ {
		if report := r.run(Draw(seed), seed%twiceEvery == 0); report.Failed() {
			return fmt.Sprintf("%d: %s", seed, report.kind())
		}
	}
	return "never"
}

// worlds returns the number of worlds that a swarm runs until one finds a bug; more than mostSeeds if none does.
func (b *bug) worlds() uint64 {
	result, err := Swarm(context.Background(), Options{First: 1, Seeds: mostSeeds, Parallel: 1, only: b.only, plant: b.plant, quick: true})
	if err != nil || len(result.Failures) == 0 {
		return mostSeeds + 1
	}
	return result.Seeds
}
