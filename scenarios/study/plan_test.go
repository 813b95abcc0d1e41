package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
)

// The last axis varies fastest, as the digits of a number do.
func TestOrderOfCells(t *testing.T) {
	p := planned(t, "1.0.0", "engine.workers=5,6", "retry.jitter=none,full,equal")
	var names []string
	for cell := range p.Size() {
		names = append(names, p.cellName(cell))
	}
	want := []string{
		"engine.workers=5 retry.jitter=none", "engine.workers=5 retry.jitter=full", "engine.workers=5 retry.jitter=equal",
		"engine.workers=6 retry.jitter=none", "engine.workers=6 retry.jitter=full", "engine.workers=6 retry.jitter=equal",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if got := p.few(); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("few: got %v, want 0 and those that differ from it in one value", got)
	}
}

func TestParseAxisErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "want KEY=VALUES"},
		{"=1", "want KEY=VALUES"},
		{"engine.workers=", "engine.workers: "},
		{"engine.workers=1,,2", "a value is missing"},
		{"seed=1,2", "--seed sets the first"},
		{"name=a,b", "cannot vary"},
		{"objectives=1", "cannot vary"},
		{"jobs={}", "as a whole"},
		{"policies.fifo.label=a", "same names"},
		{"jobs.mail.class=a", "same names"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if _, err := ParseAxis(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestAxesThatDoNotGoTogether(t *testing.T) {
	for _, tt := range []struct {
		name string
		vary []string
		set  string
		want string
	}{
		{"none", nil, "", "no key to vary"},
		{"twice", []string{"engine.workers=1", "engine.workers=2"}, "", "engine.workers is there twice"},
		{"undone", []string{"retry.backoff.first=1s,2s", "retry.backoff={kind: fixed, delay: 1s}"}, "", "would undo"},
		{"set", []string{"engine.workers=1,2"}, "engine.workers", "both varied and set"},
		{"many", []string{"engine.workers=1..101", "retry.max-attempts=1..100"}, "", "101 × 100 values make more than 10000 combinations"},
		{"many axes", []string{"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1", "h=1", "i=1"}, "", "at most 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var axes []Axis
			for _, text := range tt.vary {
				a, err := ParseAxis(text)
				if err != nil {
					t.Fatal(err)
				}
				axes = append(axes, a)
			}
			_, err := New(Source{Name: "small.yaml", Text: []byte(small), Sets: []scenarios.Override{{Path: tt.set, Value: "1"}}}, axes)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// check returns the problems found by Plan.Check, as text for a person, and the warnings.
func check(t *testing.T, strict bool, vary ...string) (shown string, notes []Note) {
	t.Helper()
	p := planned(t, "1.0.0", vary...)
	notes, err := p.Check(t.Context(), Shard{0, 1}.cells(p.Size()), strict)
	var wrong *Wrong
	switch {
	case errors.As(err, &wrong):
		return wrong.Text("--vary"), notes
	case err != nil:
		return err.Error(), notes
	}
	return "", notes
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		vary   []string
		strict bool
		want   []string // expected printed texts; none: no output
		not    string
	}{
		{"sound", usual, false, nil, ""},
		{"a value", []string{"engine.workers=5,six,7"}, false, []string{"--vary:1:18: error: want a whole number", "|                  ^^^\n"}, "with"},
		{"each value of two", []string{"engine.workers=x,y", "retry.jitter=z"}, false, []string{"--vary:1:16: error", "--vary:1:18: error", "--vary:1:14: error: bad jitter"}, ""},
		{"a key", []string{"engine.lease.tll=1s,2s,3s"}, false, []string{"--vary:1:1: error: unknown key \"tll\"", "^^^^^^^^^^^^^^^^\n", `did you mean "ttl"`}, ":1:18"},
		{"a name", []string{"jobs.mial.timeout=1s"}, false, []string{"--vary:1:1: error: no job class is named \"mial\""}, ""},
		{"after wide letters", []string{`retry.jitter="±20%", ±30%,bad`}, false, []string{"--vary:1:27: error: bad jitter", "                          ^^^\n"}, ""},
		{"in the range", []string{"engine.workers=-1..3/2"}, false, []string{"--vary:1:16: error", "^^^^^^^\n"}, ""},
		{"another label", []string{"policies.fifo.kind=lifo,fifo"}, false, []string{"give the policy a label"}, ""},
		{"a warning that is an error", []string{"storms.down.for=1s,10m"}, true, []string{"--vary:1:20: warning: the storm ends at"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown, _ := check(t, tt.strict, tt.vary...)
			if len(tt.want) == 0 && shown != "" || tt.not != "" && strings.Contains(shown, tt.not) {
				t.Errorf("got\n%s", shown)
			}
			for _, want := range tt.want {
				if !strings.Contains(shown, want) {
					t.Errorf("want %q in\n%s", want, shown)
				}
			}
		})
	}
}

// TestCheckFindsCombinations: values that are wrong only together are found too, before anything is simulated.
func TestCheckFindsCombinations(t *testing.T) {
	shown, _ := check(t, false, "warmup=2s,40s", "duration=1m,35s")
	if want := "with warmup=40s duration=35s"; !strings.Contains(shown, want) {
		t.Errorf("want %q in\n%s", want, shown)
	}
}

func TestCheckCountsWarnings(t *testing.T) {
	_, notes := check(t, false, "retry.jitter=none,full,equal", "storms.down.for=1s,10m")
	if len(notes) != 1 || notes[0].Cells != 3 || notes[0].First != "retry.jitter=none storms.down.for=10m" || !strings.Contains(notes[0].Text, "after the arrivals end") {
		t.Errorf("got %+v, want one warning about the 3 cells of the long storm", notes)
	}
}

// Warnings come in the order of their cells, although each value is tried alone before others are combined.
func TestCheckOrdersWarnings(t *testing.T) {
	_, notes := check(t, false, "storms.down.at=1s,10s,29.5s", "storms.down.for=1s,21s,5s")
	if len(notes) < 2 || notes[0].Cell != 4 || notes[1].Cell <= 4 {
		t.Errorf("got %+v, want first what cell 4 alone combines, then what cell 6 has with one value", notes)
	}
}

// TestConfig: plans that lead to other results have other hashes, as with another file that the scenario names.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.csv")
	source := Source{Name: filepath.Join(dir, "small.yaml"), Text: []byte(strings.Replace(small, "{process: poisson, rate: 20/s}", "{process: trace, file: trace.csv}", 1))}
	hash := func(change func(s *Source), text, vary string) string {
		t.Helper()
		if err := os.WriteFile(trace, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := ParseAxis(vary)
		if err != nil {
			t.Fatal(err)
		}
		s := source
		change(&s)
		p, err := New(s, []Axis{a})
		if err != nil {
			t.Fatal(err)
		}
		return p.Sweep.ConfigHash
	}
	none := func(*Source) {}
	first := hash(none, "1\n2\n", "engine.workers=5,6")
	if again := hash(none, "1\n2\n", "engine.workers=5..6"); again != first {
		t.Errorf("the same values in other words: %s, not %s", again, first)
	}
	for name, other := range map[string]string{
		"file":    hash(none, "1\n3\n", "engine.workers=5,6"),
		"values":  hash(none, "1\n2\n", "engine.workers=5,7"),
		"key":     hash(none, "1\n2\n", "engine.nodes=5,6"),
		"set":     hash(func(s *Source) { s.Sets = []scenarios.Override{{Path: "seeds", Value: "4"}} }, "1\n2\n", "engine.workers=5,6"),
		"policy":  hash(func(s *Source) { s.Policies = []string{"fifo"} }, "1\n2\n", "engine.workers=5,6"),
		"metrics": hash(func(s *Source) { s.Queries = []measure.Query{{Metric: "goodput"}} }, "1\n2\n", "engine.workers=5,6"),
	} {
		if other == first {
			t.Errorf("another %s has the same config %s", name, first)
		}
	}
}

// A file that only a value of an axis names counts as one that the scenario names.
func TestConfigOfFilesThatAxesName(t *testing.T) {
	for _, tt := range []struct {
		name, arrivals string
		vary           []string
	}{
		{"a key", "{process: trace, file: a.csv}", []string{"jobs.mail.arrivals.file=a.csv,b.csv"}},
		{"a map", "{process: poisson, rate: 20/s}", []string{"jobs.mail.arrivals={process: poisson; rate: 20/s},{process: trace; file: b.csv}"}},
		{"a distribution", "{process: poisson, rate: 20/s}", []string{"engine.workers=5,6", "jobs.mail.service={dist: constant; mean: 1s},{dist: empirical; file: b.csv}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			hash := func(text string) string {
				t.Helper()
				for name, text := range map[string]string{"a.csv": "1\n2\n", "b.csv": text} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				var axes []Axis
				for _, text := range tt.vary {
					a, err := ParseAxis(strings.ReplaceAll(text, ";", ","))
					if err != nil {
						t.Fatal(err)
					}
					axes = append(axes, a)
				}
				p, err := New(Source{Name: filepath.Join(dir, "small.yaml"), Text: []byte(strings.Replace(small, "{process: poisson, rate: 20/s}", tt.arrivals, 1))}, axes)
				if err != nil {
					t.Fatal(err)
				}
				return p.Sweep.ConfigHash
			}
			first := hash("1\n2\n")
			if again := hash("1\n2\n"); again != first {
				t.Errorf("equal files have configs %s and %s", first, again)
			}
			if other := hash("1\n3\n"); other == first {
				t.Errorf("another b.csv has the same config %s", first)
			}
		})
	}
}

func TestParseShard(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0/1", "0/1"}, {"3/8", "3/8"}, {" 3 / 8", "3/8"},
		{"8/8", "the shards of 8"}, {"3/2", "the shards of 2 are 0/2 to 1/2"}, {"-1/2", "the shards of"}, {"0/0", "want 1 to"}, {"1/99999", "want 1 to"},
		{"", "want I/N"}, {"1", "want I/N"}, {"a/b", "want I/N"}, {"1/2/3", "want I/N"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			s, err := ParseShard(tt.text)
			got := s.String()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		indexes []int
		want    string
	}{
		{nil, ""}, {[]int{4}, "4"}, {[]int{1, 3, 4, 5}, "1,3-5"}, {[]int{0, 1, 2}, "0-2"}, {[]int{0, 2, 4, 5}, "0,2,4-5"},
	} {
		if got := List(tt.indexes); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.indexes, got, tt.want)
		}
	}
}

// TestDamagedShards: shard files whose content was altered are refused, whatever the alteration.
func TestDamagedShards(t *testing.T) {
	p := planned(t, "1.0.0", usual...)
	dir := t.TempDir()
	compute(t, p, dir, Shard{0, 1}, 0)
	path := filepath.Join(dir, "shard-0-of-1.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	of := originOf(&p.Sweep)
	head, err := readHeader(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	begun := func(change func(h *header)) []byte { // another header before the cells
		h := *head
		change(&h)
		return join(sealed(of, h), join(lines[1:]...))
	}
	cell, err := readCell(&p.Sweep, 6, lines[1])
	if err != nil {
		t.Fatal(err)
	}
	first := func(change func(c *results.Cell)) []byte { // another first cell
		c := results.Cell{Rows: slices.Clone(cell.Rows)}
		for i := range c.Rows {
			r := &c.Rows[i]
			r.Estimates, r.Verdicts = slices.Clone(r.Estimates), slices.Clone(r.Verdicts)
		}
		change(&c)
		return join(lines[0], sealed(of, c))
	}
	unformatted := func(text []byte) []byte {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		l.Format = 0
		l.Sum = l.sum()
		return append(plain.Must(json.Marshal(l)), '\n')
	}
	longer := func(text []byte, more string) []byte {
		return bytes.Replace(text, []byte(`{"format"`), []byte(`{`+more+`"format"`), 1)
	}
	altered := func(text []byte) []byte { return bytes.Replace(text, []byte(`"value":"`), []byte(`"value":"AAAA`), 1) }
	for _, tt := range []struct {
		name string
		text []byte
		want string
	}{
		{"empty", nil, "the file is empty"},
		{"no JSON", []byte("hello\n"), "shard-0-of-1.jsonl:1: read the header"},
		{"another file", []byte("{\"scenario\": \"a\", \"rows\": []}\n"), "it has no checksum"},
		{"no checksum", bytes.Replace(text, []byte(`"sum":`), []byte(`"some":`), 1), "shard-0-of-1.jsonl:1: read the header of a shard: the line is not whole: it has no checksum"},
		{"a digit changed", join(lines[0], altered(lines[1])), "shard-0-of-1.jsonl:2: read a cell: the line is damaged: it does not have its checksum"},
		{"a header changed", altered(text), "shard-0-of-1.jsonl:1: read the header of a shard: the line is damaged"},
		{"no header", join(lines[1:]...), "shard-0-of-1.jsonl:1: read the header of a shard: gob: type mismatch"},
		{"no axes", begun(func(h *header) { h.Sweep.Axes = nil }), "the header of 6 cells does not fit its axes"},
		{"no format", join(unformatted(lines[0]), join(lines[1:]...)), "shard-0-of-1.jsonl:1: read the header of a shard: the line has no format"},
		{"rows of one policy", first(func(c *results.Cell) { c.Rows[1].Policy = 0 }), "row 1 is of policy 0"},
		{"no policies", begun(func(h *header) { h.Sweep.Policies = nil }), "the header of 6 cells does not fit its axes"},
		{"another sweep", begun(func(h *header) { h.Sweep.Version = "0.9.0" }), "version 1.0.0, has a sweep of others"},
		{"too many shards", begun(func(h *header) { h.Shard.Of = MostCells + 1 }), fmt.Sprintf("there is no shard 0 of %d", MostCells+1)},
		{"no such shard", begun(func(h *header) { h.Shard.Index = 1 }), "there is no shard 1 of 1"},
		{"an earlier format", bytes.Replace(text, []byte(`"format":6`), []byte(`"format":5`), 1), "shard-0-of-1.jsonl:1: read the header of a shard: the file has format 5; this program knows 6"},
		{"a later format", bytes.Replace(text, []byte(`"format":6`), []byte(`"format":7`), 1), "the file has format 7; this program knows 6"},
		{"many cells", begun(func(h *header) { h.Cells = 7 }), "the header of 7 cells does not fit its axes"},
		{"cut short", join(lines[:4]...), "it has 3 of its 6 cells"},
		{"cut in a line", text[:len(text)-40], "shard-0-of-1.jsonl:7: read a cell"},
		{"a cell twice", join(lines[0], lines[1], lines[1]), "shard-0-of-1.jsonl:3: cell 0 stands where cell 1 should"},
		{"too many", join(text, lines[6]), "stands where"},
		{"fewer policies", first(func(c *results.Cell) { c.Rows = nil }), "cell 0 with 0 policies"},
		{"more metrics", first(func(c *results.Cell) { c.Rows[0].Estimates = slices.Repeat(c.Rows[0].Estimates, 2) }), "it has 2 metrics, not 1"},
		{"another metric", first(func(c *results.Cell) { c.Rows[1].Estimates[0].During = "" }), "shard-0-of-1.jsonl:2: read cell 0: metric 0 of row 1 is fresh.wait.p99 in \"s\", not fresh.wait.p99 during down in \"s\""},
		{"another unit", first(func(c *results.Cell) { c.Rows[0].Estimates[0].Unit = "1" }), "metric 0 of row 0 is fresh.wait.p99 during down in \"1\", not fresh.wait.p99 during down in \"s\""},
		{"other metrics in the header", begun(func(h *header) { h.Sweep.Queries = []measure.Query{{Metric: "goodput"}} }), "metric 0 of row 0 is fresh.wait.p99 during down in \"s\", not goodput in \"1/s\""},
		{"another objective", first(func(c *results.Cell) { c.Rows[0].Verdicts[0].Text = "below 9s" }), "row 0 has a verdict about fifo, fresh.wait.p99 during down below 9s, but the sweep has no such objective"},
		{"another expectation", first(func(c *results.Cell) { c.Rows[0].Verdicts[0].Expect = true }), "row 0 has a verdict about fifo, fresh.wait.p99 during down below 10s, but the sweep has no such objective"},
		{"an objective of another metric", first(func(c *results.Cell) { c.Rows[0].Verdicts[0].Metric = "goodput" }), "row 0 has a verdict about fifo, goodput during down below 10s, but the sweep has no such objective"},
		{"a verdict on another policy", first(func(c *results.Cell) { c.Rows[1].Verdicts[0].Policy = "fifo" }), "row 1 has a verdict about fifo"},
		{"a baseline below the policies", begun(func(h *header) { h.Sweep.Baseline = -1 }), "the header has no policy -1, its baseline"},
		{"a baseline beyond the policies", begun(func(h *header) { h.Sweep.Baseline = 2 }), "the header has no policy 2, its baseline"},
		{"another baseline", begun(func(h *header) { h.Sweep.Baseline = 1 }), "shard-0-of-1.jsonl has the baseline Weighted 80/20, but its scenario has fifo"},
		{"an unknown member of the header", longer(text, `"note":"mine",`), "shard-0-of-1.jsonl:1: read the header of a shard: the line is damaged: it has more than its checksum covers"},
		{"a member of a cell twice", join(lines[0], longer(lines[1], `"format":6,`)), "shard-0-of-1.jsonl:2: read a cell: the line is damaged: it has more than its checksum covers"},
		{"a member in capitals", bytes.Replace(text, []byte(`{"format"`), []byte(`{"Format"`), 1), "shard-0-of-1.jsonl:1: read the header of a shard: the line is damaged: it has more than its checksum covers"},
		{"no such cell", first(func(c *results.Cell) { c.Index = 6 }), "cell 6 with 2 policies is not of a sweep of 6 cells with 2"},
		{"a cell of another sweep", join(lines[0], lines[1], lines[2], sealed(origin{"00000000", "1.0.0"}, cell)), "it is of config 00000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.text, 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := Merge(dir)
			var refusal *Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestFormat pins the layout of what studies keep in files as it is in memory: a change of it takes another number for
// format, or a file of a program before the change would be read with some of its values missing.
func TestFormat(t *testing.T) {
	types := layout(reflect.TypeFor[header]()) + layout(reflect.TypeFor[results.Cell]()) + layout(reflect.TypeFor[answered]())
	if got, want := fmt.Sprintf("%d %x", format, crc32.ChecksumIEEE([]byte(types))), "6 a5ff81a9"; got != want {
		t.Errorf("got %s, want %s: with another layout, count format up", got, want)
	}
}

// layout returns a type as text, with the types of all fields and elements in it.
func layout(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Slice:
		return "[]" + layout(of.Elem())
	case reflect.Struct:
		text := "{"
		for i := range of.NumField() {
			text += of.Field(i).Name + " " + layout(of.Field(i).Type) + "; "
		}
		return text + "}"
	}
	return of.Kind().String()
}

// Shards of two versions are not merged.
func TestMergeOfVersions(t *testing.T) {
	dir := t.TempDir()
	compute(t, planned(t, "1.0.0", usual...), dir, Shard{0, 2}, 0)
	other := t.TempDir()
	compute(t, planned(t, "1.1.0", usual...), other, Shard{1, 2}, 0)
	if err := os.Rename(filepath.Join(other, "shard-1-of-2.jsonl"), filepath.Join(dir, "shard-1-of-2.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(dir); err == nil || !strings.Contains(err.Error(), "shard-1-of-2.jsonl is of version 1.1.0, but shard-0-of-2.jsonl is of 1.0.0") {
		t.Errorf("got %v", err)
	}
}

// Results of two versions of the program do not lie in one folder.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	compute(t, planned(t, "1.0.0", usual...), dir, Shard{0, 2}, 0)
	newer := planned(t, "1.1.0", usual...)
	_, err := Open(dir, newer, Shard{1, 2}, false)
	var refusal *Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "computed by version 1.0.0, and this is 1.1.0") {
		t.Fatalf("got %v, want a refusal", err)
	}
	w, err := Open(dir, newer, Shard{1, 2}, true)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "shard-0-of-2.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the shard of the other version is still there (%v)", err)
	}
}

// TestForceReadsFirst: --force removes nothing if it cannot read the folder of charts.
func TestForceReadsFirst(t *testing.T) {
	dir := t.TempDir()
	p := planned(t, "1.0.0", usual...)
	compute(t, p, dir, Shard{0, 1}, 0)
	before, err := entries(dir)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "charts"), nil, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(dir, p, Shard{0, 1}, true)
	if err == nil {
		err = w.Start()
	}
	if err == nil || !strings.Contains(err.Error(), "read "+filepath.Join(dir, "charts")) {
		t.Errorf("got %v", err)
	}
	if after, err := entries(dir); err != nil || !slices.Equal(after, append([]string{"charts"}, before...)) {
		t.Errorf("got %q (%v), want %q and charts", after, err, before)
	}
}

// --force leaves files alone that do not belong to a sweep.
func TestForceLeavesTheRest(t *testing.T) {
	dir := t.TempDir()
	p := planned(t, "1.0.0", usual...)
	compute(t, p, dir, Shard{0, 1}, 0)
	for _, name := range []string{"notes.txt", "scenario.yaml", "shard-of-glass.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(dir, p, Shard{0, 1}, true)
	if err == nil {
		err = w.Start()
	}
	if err != nil || len(w.Left()) != 6 {
		t.Fatalf("%d cells are left (%v)", len(w.Left()), err)
	}
	names, err := entries(dir)
	if want := []string{"notes.txt", "scenario.yaml", "shard-0-of-1.partial.jsonl", "shard-of-glass.jsonl"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q (%v), want %q", names, err, want)
	}
}

// TestAlike compares headers of shards whose copies of a scenario have their objectives on other lines.
func TestAlike(t *testing.T) {
	of := func(line int, bound float64) *header {
		return &header{Sweep: results.Sweep{Objectives: []measure.Objective{{Line: line, Bound: bound}}}}
	}
	if !of(3, 1).alike(of(4, 1)) || of(3, 1).alike(of(3, 2)) || of(3, 1).alike(&header{}) || (&header{}).alike(of(3, 1)) {
		t.Error("objectives on other lines are another sweep's, or other objectives are not")
	}
}
