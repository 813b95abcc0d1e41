package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// frozenFile contains the fingerprint of every built-in scenario, and of those that tests run, under each policy: go
// test ./scenarios/world -run 'Frozen|Shipped' -rewrite renews it and the summaries, and a commit that does so explains
// each line.
const frozenFile = "testdata/fingerprints.txt"

// frozenSeeds is the number of seeds under every policy: two reveal differences between runs and within
// one.
const frozenSeeds = 2

var rewrite = flag.Bool("rewrite", false, "write the fingerprints of what is run into "+frozenFile)

// frozenSummaries are the scenarios whose whole summary is frozen too, in testdata/summaries. Between them they have
// storms of most kinds, tenants, classes, priorities, dependencies, callers that give up, several nodes, heartbeats,
// guarded effects, and objectives and metrics narrowed by class, tenant and window.
var frozenSummaries = []string{
	"jobqueue",
	"leaseq",
	"retry-storm",
	"thundering-herd",
	"incidents/exponential-without-jitter",
	"incidents/lease-records-evicted",
	"incidents/noisy-tenant-before-quiet",
	"incidents/stuck-rows-slow-every-claim",
	"published/goodput-collapse",
	"scenarios/testdata/good/everything.yaml",
}

// seedsOf runs n seeds of a scenario, starting first seeds after its own first.
func seedsOf(t *testing.T, sc *scenarios.Scenario, first, n scenarios.Count, o Options) []measure.Run {
	t.Helper()
	if n == 0 {
		return nil
	}
	some := *sc
	some.Seed, some.Seeds = sc.Seed+uint64(first), n
	runs, err := Run(context.Background(), &some, o)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// wantFrozen compares the first seeds of a scenario, at their full length, with the frozen file: the fingerprint of all
// events under each policy and the outcomes of its objectives (met, missed, unclear), the configuration's hash, and the
// exit code. A failed test writes nothing.
func wantFrozen(t *testing.T, name string, sc *scenarios.Scenario, runs []measure.Run) {
	t.Helper()
	some := *sc
	some.Seeds = frozenSeeds
	settings := Settings(&some)
	summary, err := results.Summarize(&settings, runs[:frozenSeeds*len(sc.Policies)], results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for i, p := range summary.Policies {
		line := fmt.Sprintf("%s  %-45s %s", p.Fingerprint, name, p.Label)
		if i == 0 {
			line += fmt.Sprintf(" (config %s, exit %d)", summary.ConfigHash, summary.Exit)
		}
		outcomes := ""
		for _, v := range summary.Objectives {
			if v.Policy == p.Label {
				outcomes += v.Outcome.Sign()
			}
		}
		now.WriteString(strings.TrimRight(line+" "+outcomes, " ") + "\n")
	}
	freezing.Lock()
	defer freezing.Unlock()
	if slices.Contains(frozenSummaries, name) {
		wantSummary(t, "testdata/summaries/"+strings.TrimSuffix(path.Base(name), ".yaml")+".txt", summary)
	}
	text, err := os.ReadFile(frozenFile)
	if err != nil {
		t.Fatal(err)
	}
	var frozen strings.Builder
	others := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(line string) bool {
		of := strings.Fields(line)[1] == name
		if of {
			frozen.WriteString(line)
		}
		return of
	})
	switch {
	case frozen.String() == now.String():
	case *rewrite && !t.Failed():
		lines := append(others, now.String())
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) })
		if err := os.WriteFile(frozenFile, []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("it no longer does what is frozen in %s; if it should not, explain it in the commit:\nwas\n%snow\n%s", frozenFile, &frozen, &now)
	}
}

// wantSummary compares summary.json with its frozen digest, and shows the lines that differ.
func wantSummary(t *testing.T, file string, summary *results.Summary) {
	t.Helper()
	text, err := summary.JSON()
	if err != nil {
		t.Fatal(err)
	}
	now := digestLines(text)
	if *rewrite && !t.Failed() {
		if err := os.WriteFile(file, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if difference := diff.Diff(file, was, "now", []byte(now)); difference != nil {
		t.Errorf("the summary is no longer what is frozen; if it should not be, explain it in the commit:\n%s", difference)
	}
}

// digestLines returns, for each line of a text, its checksum and its beginning, which is short enough to keep and shows
// which one has changed. The sum of all stands on top.
func digestLines(text []byte) string {
	const kept = 64
	var all strings.Builder
	fmt.Fprintf(&all, "sha256 %x, %d bytes\n", sha256.Sum256(text), len(text))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		fmt.Fprintf(&all, "%08x %.*s\n", crc32.ChecksumIEEE(line), kept, line)
	}
	return all.String()
}

// freezing guards the golden files against parallel tests.
var freezing sync.Mutex

// TestFrozenExamples compares the scenarios in tests of the language, the invariants and the commands with the frozen
// file, and checks that it has no other lines. TestShippedScenariosRun does the others. The checker follows the legal
// ones, of which it once wrongly reported a broken invariant: its bounds were too tight.
func TestFrozenExamples(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("tens of millions of events: run without the race detector")
	}
	known := []string{}
	for _, b := range scenarios.Builtin() {
		known = append(known, b.Name)
	}
	for _, pattern := range []string{"scenarios/testdata/good/*.yaml", "scenarios/testdata/legal/*.yaml", "cmd/qsim/testdata/*.yaml"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is like %s (%v)", pattern, err)
		}
		for _, file := range files {
			name := strings.TrimPrefix(filepath.ToSlash(file), "../../")
			known = append(known, name)
			legal := strings.Contains(name, "/legal/")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sc, problems := scenarios.Load(file, text, nil)
				if sc == nil {
					t.Fatal(problems)
				}
				seeds, options := scenarios.Count(frozenSeeds), Options{Parallel: 1}
				if legal {
					seeds, options.Check = max(seeds, sc.Seeds), true
				}
				runs := seedsOf(t, sc, 0, seeds, options)
				wantFrozen(t, name, sc, runs)
				wantPossible(t, runs)
			})
		}
	}
	wantKnown(t, known)
}

// wantPossible checks that no value of the runs is below 0, and no share above 1: no job or worker left a state that it
// was not counted in.
func wantPossible(t *testing.T, runs []measure.Run) {
	t.Helper()
	for i := range runs {
		for _, v := range runs[i].Values {
			if info, _ := measure.Lookup(v.Metric); !v.Null && (v.Value < 0 || info.Share && v.Value > 1+1e-9) {
				t.Errorf("%s is %v", v.Query, v.Value)
			}
		}
	}
}

// wantKnown checks that every frozen fingerprint and summary is of a scenario in known.
func wantKnown(t *testing.T, known []string) {
	t.Helper()
	for _, name := range frozenSummaries {
		if !slices.Contains(known, name) {
			t.Errorf("the summary of %s is frozen, which is no scenario", name)
		}
	}
	files, err := filepath.Glob("testdata/summaries/*.txt")
	if err != nil || len(files) != len(frozenSummaries) {
		t.Errorf("%d summaries are frozen, want %d (%v)", len(files), len(frozenSummaries), err)
	}
	text, err := os.ReadFile(frozenFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.Fields(line)[1]; !slices.Contains(known, name) {
			t.Errorf("%s has a line for %s, which is no scenario", frozenFile, name)
		}
	}
}
