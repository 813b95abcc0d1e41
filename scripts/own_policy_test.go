package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnPolicy builds qsim and qbench with a policy from another module, testdata/own-policy, in the way that
// policies/README.md shows, and checks that all commands support it.
func TestOwnPolicy(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../policies/README.md")
	if err != nil {
		t.Fatal(err)
	}
	const source = "testdata/own-policy"
	for _, name := range []string{"go.mod", "qsim/main.go"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		line := map[string]string{"go.mod": "replace qsim => ", "qsim/main.go": "func main() { cli.Main(queue.Polite) }"}[name]
		if !bytes.Contains(text, []byte(line)) || !bytes.Contains(readme, []byte(line)) {
			t.Errorf("%s and policies/README.md do not both have %q", name, line)
		}
	}
	polite, err := os.ReadFile(filepath.Join(source, "polite.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, policy, shown := strings.Cut(string(readme), "```go\n")
	if policy, _, _ = strings.Cut(policy, "```"); !shown || !strings.Contains(policy, "Observe(") {
		t.Errorf("policies/README.md does not begin its code with the policy: %q", policy)
	}
	for line := range strings.Lines(policy) {
		if !bytes.Contains(polite, []byte(line)) {
			t.Errorf("policies/README.md has the line %q, polite.go does not", line)
		}
	}
	dir := filepath.Join(t.TempDir(), "queue")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
		t.Fatal(err)
	}
	environment := []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -mod=mod", "GOWORK=off"}
	run := func(t *testing.T, name string, arguments ...string) string {
		t.Helper()
		process := exec.CommandContext(t.Context(), name, arguments...)
		process.Dir, process.Env = dir, append(append(os.Environ(), "GOPROXY=off"), environment...)
		var out, errors bytes.Buffer
		process.Stdout, process.Stderr = &out, &errors
		if err := process.Run(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, arguments, err, &errors)
		}
		return out.String()
	}
	run(t, "go", "mod", "edit", "-replace=qsim="+root)
	if found := run(t, "go", "list", "-deps", "./qsim", "./qbench"); !strings.Contains(found, "qsim/cmd/cli\n") {
		t.Errorf("by the replace line is found\n%s", found)
	}
	// What a workspace builds is in the cache: by the replace line, all of this module would be compiled again.
	run(t, "go", "work", "init", ".", root)
	environment = []string{"GOWORK=" + filepath.Join(dir, "go.work")}
	run(t, "go", "build", "-o", "bin/", "./qsim", "./qbench")
	const passes = "--- PASS: TestOutage/polite:_fresh.wait.p99_below_1m"
	if out := run(t, "go", "test", "-v", "."); !strings.Contains(out, passes) {
		t.Errorf("want %s in\n%s", passes, out)
	}
	for _, tt := range []struct {
		arguments string
		want      []string
	}{
		{"qsim list policies", []string{"polite", "fifo"}},
		{"qsim list policies polite", []string{"how long no retries are claimed", "10s"}},
		{"qsim validate outage.yaml", []string{"2 policies"}},
		{"qsim explain outage.yaml", []string{"policies.polite.pause", "5s"}},
		{"qsim run outage.yaml -q --no-files", []string{"polite"}},
		{"qsim run outage.yaml -q --no-files --check --policy polite", []string{"polite"}},
		{"qsim trace outage.yaml --policy polite", []string{"polite"}},
		{"qsim sweep outage.yaml -q --vary policies.polite.pause=1s,20s --format csv", []string{"0,1s,polite", "1,20s,polite"}},
		{"qsim tune outage.yaml -q --no-files --max-seeds 20 --over policies.polite.pause=1s,20s --minimize fresh.wait.mean", []string{"policies.polite.pause="}},
		{"qsim map outage.yaml -n 1 --refine 0 --no-files --policy polite --x policies.polite.pause=1s,20s --y storms.down.for=10s,20s", []string{"polite: "}},
		{"qsim chaos --seeds 40 -q", []string{"40 seeds"}},
		{"qsim __complete run outage.yaml --policy pol", []string{"polite"}},
		{"qbench run --scenario outage.yaml --policy polite --speed 100x", []string{"polite"}},
	} {
		t.Run(tt.arguments, func(t *testing.T) {
			words := strings.Fields(tt.arguments)
			out := run(t, filepath.Join(dir, "bin", words[0]), words[1:]...)
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("want %q in\n%s", want, out)
				}
			}
		})
	}
}
