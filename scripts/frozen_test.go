package scripts

import (
	"bytes"
	"crypto/sha256"
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

// frozenSummaries are the scenarios with a golden of their whole summary. Between them they have storms of most kinds,
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

// TestFrozen compares the output of the program with frozen files: ten whole summaries, the output of qsim list, the
// references, and the schema. A commit that changes any of them must explain it. The fingerprint of every scenario is
// frozen in scenarios/world, whose tests run them all.
//
// A changed program is tested again although another process runs it: go test's cache depends on the files that a
// test opens, and this one opens all.
func TestFrozen(t *testing.T) {
	t.Parallel()
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
		for _, name := range frozenSummaries {
			summary, _ := qsim(t, []int{0, 1}, "run", name, "--seeds", "2", "--no-files", "--quiet", "--format", "json")
			compareFrozen(t, "summary-"+strings.TrimSuffix(filepath.Base(name), ".yaml")+".txt", digestLines(summary))
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
			names := firstWords(show("list", topic))
			if topic == "presets" {
				names = names[1:] // below their titles
			}
			for _, name := range names {
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

// references are the manuals written by qsim list.
var references = []struct {
	folder, title, about string
	topics               []string
}{
	{"scenarios", "Scenario reference", "Every key of a scenario, with its values and its default, and the presets. Concepts and examples: [README](README.md).",
		[]string{"keys", "storms", "arrivals", "distributions", "backoffs", "presets"}},
	{"policies", "Policy reference", "Every kind of policy with its parameters. Which one to use: [README](README.md).", []string{"policies"}},
	{"results", "Metric reference", "Every metric, its unit, and what an objective may narrow it by. How they are measured: [README](README.md).", []string{"metrics"}},
}

// firstWords returns the first word of each line.
func firstWords(text []byte) (names []string) {
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names
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

// compareFrozen compares a text with its golden in testdata/frozen, and shows the lines that differ.
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
