package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

const small = `name: small
duration: 30s
drain: 30s
warmup: 2s
seeds: 3
engine: {workers: 6, lease: {ttl: 30s, heartbeat: 10s}}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 20/s}
    service: {dist: exponential, mean: 200ms}
    fails: {rate: 5%, errors: {timeout: 100%}}
storms:
  - {name: down, at: 10s, for: 5s, fail: {hits: [mail], rate: 90%, error: unavailable, takes: 500ms}}
policies:
  - {kind: fifo}
  - {kind: weighted, label: "Weighted 80/20", fresh: 80%}
objectives:
  - {metric: fresh.wait.p99, during: down, below: 10s}
`

// planned returns the plan of a sweep of the scenario small over the axes in vary, each KEY=RANGE.
func planned(t *testing.T, version string, vary ...string) *Plan {
	t.Helper()
	var axes []Axis
	for _, text := range vary {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		axes = append(axes, a)
	}
	p, err := New(Source{Name: "small.yaml", Text: []byte(small), Version: version}, axes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var usual = []string{"engine.workers=5,6,8", "retry.jitter=none,full"}

// compute simulates all cells of a shard and writes its file into dir.
func compute(t *testing.T, p *Plan, dir string, shard Shard, parallel int) {
	t.Helper()
	w, err := Open(dir, p, shard, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	p.Source.Parallel = parallel
	if err := p.Run(t.Context(), w.Left(), Options{Keep: w.Keep}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

// merged returns the files of the sweep whose shards are in dir: JSON, CSV and the scenario's YAML.
func merged(t *testing.T, dir string) []results.File {
	t.Helper()
	m, err := Merge(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := MarshalSweep(m.Sweep)
	if err != nil {
		t.Fatal(err)
	}
	table := text.Sweep(m.Sweep, text.TableOptions{Format: text.CSV})
	return []results.File{{Path: "sweep.json", Data: data}, {Path: "sweep.csv", Data: []byte(table)},
		{Path: "sweep.yaml", Data: m.Scenario}}
}

// whole returns the files of a sweep that was computed as a single shard.
func whole(t *testing.T, p *Plan) []results.File {
	t.Helper()
	dir := t.TempDir()
	compute(t, p, dir, Shard{0, 1}, 1)
	return merged(t, dir)
}

// However a sweep is divided, over however many processors, the bytes are the same.
func TestShardsMergeToTheSameBytes(t *testing.T) {
	p := planned(t, "1.0.0", usual...)
	want := whole(t, p)
	if len(want) != 3 || bytes.Count(want[0].Data, []byte(`"cell": `)) != 12 {
		t.Fatalf("got %d files, the first with %d rows: want 3, and 6 cells of 2 policies", len(want), bytes.Count(want[0].Data, []byte(`"cell": `)))
	}
	for _, of := range []int{2, 4, 9} {
		t.Run(fmt.Sprint(of), func(t *testing.T) {
			dir := t.TempDir()
			for i := range of {
				compute(t, p, dir, Shard{(i*5 + 1) % of, of}, 1+i%3)
			}
			if d := cmp.Diff(want, merged(t, dir)); d != "" {
				t.Errorf("the merged files differ:\n%s", d)
			}
		})
	}
}

// A cell is the scenario with its values: it has the same events as a run of them, under the seeds
// of all cells.
func TestCellsAreRuns(t *testing.T) {
	p := planned(t, "1.0.0", usual...)
	var got []results.Cell
	err := p.Run(t.Context(), []int{3}, Options{Keep: func(c *results.Cell) error { got = append(got, *c); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	sc, found := scenarios.Load("small.yaml", []byte(small), []scenarios.Override{{Path: "engine.workers", Value: "6"}, {Path: "retry.jitter", Value: "full"}})
	if sc == nil {
		t.Fatal(found)
	}
	runs, err := world.Run(t.Context(), sc, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := world.Settings(sc)
	summary, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range summary.Policies {
		row := got[0].Rows[i]
		if row.Fingerprint != want.Fingerprint || row.Seeds != 3 {
			t.Errorf("%s: fingerprint %s of %d seeds, want %s of 3", want.Label, row.Fingerprint, row.Seeds, want.Fingerprint)
		}
		e := want.Find(measure.Query{Metric: "fresh.wait.p99", During: "down"})
		if row.Estimates[0].Mean != e.Mean || row.Estimates[0].Low != e.Low || row.Estimates[0].N != e.N {
			t.Errorf("%s: got %+v, want %+v", want.Label, row.Estimates[0], *e)
		}
		if row.Outcome() != summary.Objectives[i].Outcome {
			t.Errorf("%s: %s, want %s", want.Label, row.Outcome(), summary.Objectives[i].Outcome)
		}
	}
}

// Finished cells of an interrupted process are not computed again, and the final result equals that
// of one process.
func TestFinishedCellsStay(t *testing.T) {
	p := planned(t, "1.0.0", usual...)
	want := whole(t, p)
	dir := t.TempDir()
	w, err := Open(dir, p, Shard{0, 1}, false)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kept := 0
	p.Source.Parallel = 2
	err = p.Run(ctx, w.Left(), Options{Keep: func(c *results.Cell) error {
		if kept++; kept == 2 {
			cancel()
		}
		return w.Keep(c)
	}})
	if !errors.Is(err, context.Canceled) || kept < 2 || kept > 4 {
		t.Fatalf("got %v after %d cells, want it to be cancelled after about 2", err, kept)
	}
	if _, err := Merge(dir); err == nil || !strings.Contains(err.Error(), "1 of 1 shards are missing: 0") {
		t.Errorf("merge: got %v, want it to miss the shard", err)
	}
	// A cell cut short as its process was killed counts as not computed, and so does a damaged one.
	path := filepath.Join(dir, "shard-0-of-1.partial.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The cells of another sweep are not lost, though the first of its lines was cut off.
	if err := os.WriteFile(path, append([]byte("{\"format\":6,\"config\":\n"), text...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, planned(t, "1.1.0", usual...), Shard{0, 1}, false); err == nil || !strings.Contains(err.Error(), "it was computed by version 1.0.0") {
		t.Errorf("another version opens the sweep: %v", err)
	}
	if err := os.WriteFile(path, bytes.Replace(text[:len(text)-9], []byte(`"value":"`), []byte(`"value":"AAAA`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, p, Shard{0, 1}, false)
	if err == nil {
		err = again.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Left()) != 6-kept+2 {
		t.Fatalf("%d cells are left, want %d", len(again.Left()), 6-kept+2)
	}
	var simulations atomic.Int64
	if err := p.Run(t.Context(), again.Left(), Options{Keep: again.Keep, Ended: func(*measure.Run) { simulations.Add(1) }}); err != nil {
		t.Fatal(err)
	}
	if got := int(simulations.Load()); got != len(again.Left())*6 {
		t.Errorf("%d simulations, want %d: 3 seeds of 2 policies in the cells that were left", got, len(again.Left())*6)
	}
	// Cells may be in any order, and the newline of the last line may be missing.
	lines := slices.DeleteFunc(bytes.Split(plain.Must(os.ReadFile(path)), []byte("\n")), func(line []byte) bool {
		_, err := readCell(&p.Sweep, p.Size(), line)
		return err != nil
	})
	slices.Reverse(lines)
	if err := os.WriteFile(path, bytes.Join(lines, []byte("\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, merged(t, dir)); d != "" {
		t.Error(d)
	}
	third, err := Open(dir, p, Shard{0, 1}, false)
	if err != nil || len(third.Left()) != 0 {
		t.Errorf("%d cells are left of a shard that is complete (%v)", len(third.Left()), err)
	}
}

// Two processes may compute one shard at once: the second to finish finds it done.
func TestTwoProcessesOneShard(t *testing.T) {
	p := planned(t, "1.0.0", usual...)
	dir := t.TempDir()
	slow, err := Open(dir, p, Shard{0, 2}, false)
	if err == nil {
		err = slow.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	first := true
	p.Source.Parallel = 1
	err = p.Run(t.Context(), slow.Left(), Options{Keep: func(c *results.Cell) error {
		if first { // the other one overtakes, and clears the cells away
			first = false
			compute(t, p, dir, Shard{0, 2}, 1)
		}
		return slow.Keep(c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Finish(); err != nil {
		t.Fatal(err)
	}
	compute(t, p, dir, Shard{1, 2}, 1)
	if d := cmp.Diff(whole(t, p), merged(t, dir)); d != "" {
		t.Error(d)
	}
	left, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil || !slices.Equal(left, []string{"shard-0-of-2.jsonl", "shard-1-of-2.jsonl"}) {
		t.Errorf("left behind: %q (%v)", left, err)
	}
}

// Memory does not grow with the number of cells: each is written and forgotten.
func TestMemoryIsFlat(t *testing.T) {
	p := planned(t, "1.0.0", "engine.workers=6,8", "retry.max-attempts=1..50")
	dir := t.TempDir()
	w, err := Open(dir, p, Shard{0, 1}, false)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	cells, early, late := 0, int64(0), int64(0)
	p.Source.Parallel = 1
	err = p.Run(t.Context(), w.Left(), Options{Keep: func(c *results.Cell) error {
		switch cells++; cells {
		case 20:
			early = heap()
		case 100:
			late = heap()
		}
		return w.Keep(c)
	}})
	if err != nil || cells != 100 {
		t.Fatalf("%d cells (%v)", cells, err)
	}
	if late > early+1<<20 {
		t.Errorf("%d KiB after 100 cells, %d KiB after 20", late>>10, early>>10)
	}
}
