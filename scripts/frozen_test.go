package scripts

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var rewrite = flag.Bool("rewrite", false, "write what the program does now into testdata/frozen")

// frozenSeeds is the number of seeds under every policy: with two, a difference between runs shows beside a
// difference within one.
const frozenSeeds = "2"

// frozenSummaries are the scenarios whose whole summary is kept. Between them they have storms of most kinds,
// tenants, classes, priorities, dependencies, callers that give up, several nodes, heartbeats, guarded effects, and
// objectives and metrics narrowed by class, tenant and window.
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

// TestFrozen holds the program, from outside, to what it did before: the fingerprint of every scenario that is part of
// it and of every one that its tests run, at their full length, under each of their policies; ten whole summaries;
// everything that qsim list prints; and the schema. A change of any of them wants a commit that explains it. It takes
// less than a minute of processor time.
//
// A program that has changed since is tried again although another process runs it: what go test
// remembers depends on the files that a test opens, and this one opens all.
func TestFrozen(t *testing.T) {
	if _, err := treeFiles(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "qsim")
	ctx := buildQsim(t, path)
	qsim := func(t *testing.T, codes []int, arguments ...string) (text []byte, code int) {
		t.Helper()
		process := exec.CommandContext(ctx, path, arguments...)
		process.Dir, process.Env = "..", []string{"HOME=" + t.TempDir()}
		text, err := process.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code, err = exit.ExitCode(), nil
		}
		if err != nil || !slices.Contains(codes, code) {
			t.Fatalf("qsim %q: exit %d, %v\n%s", arguments, code, err, exit.Stderr)
		}
		return text, code
	}

	t.Run("runs", func(t *testing.T) {
		names := append(firstWords(qsim(t, []int{0}, "list", "scenarios")), exampleScenarios(t)...)
		var all strings.Builder
		for _, name := range names {
			summary, code := qsim(t, []int{0, 1}, "run", name, "--seeds", frozenSeeds, "--no-files", "--quiet", "--format", "json")
			all.WriteString(fingerprints(t, name, code, summary))
			if slices.Contains(frozenSummaries, name) {
				base := strings.TrimSuffix(filepath.Base(name), ".yaml")
				compareFrozen(t, "summary-"+base+".txt", digestLines(summary))
			}
		}
		compareFrozen(t, "fingerprints.txt", all.String())
		for _, name := range frozenSummaries {
			if !slices.Contains(names, name) {
				t.Errorf("%s is no scenario", name)
			}
		}
	})

	t.Run("list", func(t *testing.T) {
		var all strings.Builder
		show := func(arguments ...string) []byte {
			text, _ := qsim(t, []int{0}, arguments...)
			fmt.Fprintf(&all, "== qsim %s\n%s", strings.Join(arguments, " "), text)
			return text
		}
		show("list")
		show("list", "scenarios") // each of which is a file of this repository
		for _, topic := range []string{"policies", "presets", "metrics"} {
			for _, name := range firstWords(show("list", topic), 0) {
				show("list", topic, name)
			}
		}
		schema, _ := qsim(t, []int{0}, "schema")
		fmt.Fprintf(&all, "== qsim schema: %d bytes, sha256 %x\n", len(schema), sha256.Sum256(schema))
		compareFrozen(t, "list.txt", all.String())
	})

	t.Run("reference", func(t *testing.T) {
		for _, r := range references {
			var all strings.Builder
			fmt.Fprintf(&all, "# %s\n\n<!-- Written by go test ./scripts -run Frozen -rewrite: do not edit. -->\n\n%s\n", r.title, r.about)
			for _, topic := range r.topics {
				text, _ := qsim(t, []int{0}, "list", topic, "--format", "markdown")
				if len(r.topics) > 1 {
					fmt.Fprintf(&all, "\n## %s%s\n", strings.ToUpper(topic[:1]), topic[1:])
				}
				fmt.Fprintf(&all, "\n%s", text)
			}
			compareFrozen(t, filepath.Join("..", "..", "..", r.folder, "REFERENCE.md"), all.String())
		}
	})
}

// references are the manuals that qsim list writes.
var references = []struct {
	folder, title, about string
	topics               []string
}{
	{"scenarios", "Scenario reference", "Every key of a scenario, with its values and its default, and the presets. Concepts and examples: [README](README.md).",
		[]string{"keys", "storms", "arrivals", "distributions", "backoffs", "presets"}},
	{"policies", "Policy reference", "Every kind of policy with its parameters. Which one to use: [README](README.md).", []string{"policies"}},
	{"results", "Metric reference", "Every metric, its unit, and what an objective may narrow it by. How they are measured: [README](README.md).", []string{"metrics"}},
}

// firstWords is the first word of each line.
func firstWords(text []byte, _ int) (names []string) {
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names
}

// exampleScenarios are the files that the tests of the language and of the invariants run.
func exampleScenarios(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"scenarios/testdata/good/*.yaml", "scenarios/testdata/legal/*.yaml", "cmd/qsim/testdata/*.yaml"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no file is like %s (%v)", pattern, err)
		}
		for _, path := range found {
			paths = append(paths, filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))))
		}
	}
	return paths
}

// fingerprints has a line for each policy of a summary: the fingerprint of all its runs. The first of them also has
// what may differ where the runs are the same: the identity of the configuration and the exit code.
func fingerprints(t *testing.T, name string, code int, summary []byte) string {
	t.Helper()
	var run struct {
		Config   string
		Policies []struct{ Label, Fingerprint string }
	}
	if err := json.Unmarshal(summary, &run); err != nil || len(run.Policies) == 0 {
		t.Fatalf("%s: %d policies, %v", name, len(run.Policies), err)
	}
	var lines strings.Builder
	for i, p := range run.Policies {
		fmt.Fprintf(&lines, "%s  %-45s %s", p.Fingerprint, name, p.Label)
		if i == 0 {
			fmt.Fprintf(&lines, " (config %s, exit %d)", run.Config, code)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

// digestLines is a text with the checksum of each of its lines and the beginning of the line, which is short enough
// to keep and says which one has changed. The sum of all stands on top.
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

// compareFrozen holds a text to its file in testdata/frozen, and shows the lines that differ.
func compareFrozen(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "frozen", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if difference := diff.Diff(path, want, "now", []byte(got)); difference != nil {
		t.Errorf("%s has changed; if it should, explain it in the commit (go test ./scripts -run Frozen -rewrite):\n%s", path, difference)
	}
}
