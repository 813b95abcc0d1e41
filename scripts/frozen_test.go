package scripts

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var rewrite = flag.Bool("rewrite", false, "write what the program does now into testdata/frozen")

// TestFrozen compares the output of qsim list and qsim schema, and the files REFERENCE.md, with what was frozen before.
// A commit that changes any of them must explain it. Fingerprints of every scenario, and whole summaries, are frozen in
// scenarios/world.
//
// It opens every file of the repository, so that go test's cache, which depends on files opened by the test, never
// hides a change in the program, which another process runs.
func TestFrozen(t *testing.T) {
	t.Parallel()
	if _, err := treeFiles(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "qsim")
	ctx := buildQsim(t, path)
	qsim := func(t *testing.T, arguments ...string) []byte {
		t.Helper()
		process := exec.CommandContext(ctx, path, arguments...)
		process.Dir, process.Env = "..", []string{"HOME=" + t.TempDir()}
		text, err := process.Output()
		if err != nil {
			t.Fatalf("qsim %q: %v", arguments, err)
		}
		return text
	}

	t.Run("list", func(t *testing.T) {
		var all strings.Builder
		show := func(arguments ...string) []byte {
			text := qsim(t, arguments...)
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
		schema := qsim(t, "schema")
		fmt.Fprintf(&all, "== qsim schema: %d bytes, sha256 %x\n", len(schema), sha256.Sum256(schema))
		compareFrozen(t, "list.txt", all.String())
	})

	t.Run("reference", func(t *testing.T) {
		for _, r := range references {
			var all strings.Builder
			fmt.Fprintf(&all, "# %s\n\n<!-- Written by go test ./scripts -run Frozen -rewrite: do not edit. -->\n\n%s\n", r.title, r.about)
			for _, topic := range r.topics {
				text := qsim(t, "list", topic, "--format", "markdown")
				if len(r.topics) > 1 {
					fmt.Fprintf(&all, "\n## %s%s\n", strings.ToUpper(topic[:1]), topic[1:])
				}
				fmt.Fprintf(&all, "\n%s", text)
			}
			compareFrozen(t, filepath.Join("..", "..", "..", r.folder, "REFERENCE.md"), all.String())
		}
	})
}

// references lists the files REFERENCE.md, by folder, with their titles and the topics of qsim list that fill them.
var references = []struct {
	folder, title, about string
	topics               []string
}{
	{"scenarios", "Scenario reference", "Every key of a scenario, with its values and its default, and the presets. Concepts and examples: [README](README.md).",
		[]string{"keys", "storms", "arrivals", "distributions", "backoffs", "presets"}},
	{"policies", "Policy reference", "Every kind of policy with its parameters. Which one to use: [README](README.md).", []string{"policies"}},
	{"results", "Metric reference", "Every metric, its unit, and what an objective may narrow it by. How they are measured: [README](README.md).", []string{"metrics"}},
}

// firstWords returns the first word of each line of a text that has one.
func firstWords(text []byte) (names []string) {
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names
}

// compareFrozen fails the test, showing the lines that differ, if got is not the text of a file in testdata/frozen.
// With -rewrite it writes the file.
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
