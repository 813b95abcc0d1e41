package scripts

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// ciFiles maps the example files for continuous integration to the published JSON schemas of their formats;
// testdata/ci/README.md has the sources.
var ciFiles = map[string]string{"ci/github.yml": "github-workflow", "ci/gitlab.yml": "gitlab-ci"}

// ciProblem returns an error if the YAML text of a CI file violates the schema called name in testdata/ci.
func ciProblem(t *testing.T, name string, text []byte) error {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata/ci", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(reader)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	encoded, err := json.Marshal(document)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	return compiled.Validate(instance)
}

func TestCIFilesFollowTheirSchemas(t *testing.T) {
	for path, schema := range ciFiles {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := ciProblem(t, schema, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCIFilesFindFaults(t *testing.T) {
	for _, tt := range []struct{ name, path, old, new string }{
		{"a misspelled key of a step", "ci/github.yml", "        if: always()\n", "        if: always()\n        withs: {}\n"},
		{"no runner", "ci/github.yml", "    runs-on: ubuntu-latest\n", ""},
		{"an unknown event", "ci/github.yml", "[push, pull_request]", "[pushed]"},
		{"a misspelled report", "ci/gitlab.yml", "junit: qsim.xml", "junits: qsim.xml"},
		{"no script", "ci/gitlab.yml", "  script:", "  scripts:"},
		{"a wrong word", "ci/gitlab.yml", "when: always", "when: ever"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := os.ReadFile(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			changed := bytes.Replace(text, []byte(tt.old), []byte(tt.new), 1)
			if bytes.Equal(changed, text) {
				t.Fatalf("%s has no %q", tt.path, tt.old)
			}
			if err := ciProblem(t, ciFiles[tt.path], changed); err == nil {
				t.Error("the schema finds nothing wrong")
			}
		})
	}
}

// TestCIFilesGate runs the commands in the CI files' steps on a scenario with a missed objective: they must exit 1.
func TestCIFilesGate(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs struct {
			Scenarios struct{ Steps []struct{ Name, Run string } }
		}
	}
	var pipeline struct{ Qsim struct{ Script []string } }
	for path, into := range map[string]any{"ci/github.yml": &workflow, "ci/gitlab.yml": &pipeline} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	ctx := buildQsim(t, filepath.Join(dir, "temp", "qsim"))
	write(t, filepath.Join(dir, "missed.yaml"), shardedScenario+"  - {metric: sojourn.mean, below: 1ms}\n")
	for _, folder := range []string{"scenarios", ".qsim/bin"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"scenarios/missed.yaml": "../missed.yaml", ".qsim/bin/qsim": "../../temp/qsim"}
	for link, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string) string {
		t.Helper()
		process := exec.CommandContext(ctx, "sh", "-e", "-c", line)
		process.Dir, process.Env = dir, []string{"PATH=" + os.Getenv("PATH"),
			"RUNNER_TEMP=" + filepath.Join(dir, "temp"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md")}
		out, err := process.Output()
		if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) || failed.ExitCode() != 1 {
			t.Fatalf("%s: %v, want exit code 1\n%s", line, err, out)
		}
		return string(out)
	}
	for _, step := range workflow.Jobs.Scenarios.Steps {
		if step.Name == "Objectives" {
			const want = "::error file=scenarios/missed.yaml,line=14::fifo: sojourn.mean below 1ms: missed, "
			if out := run(step.Run); !strings.Contains(out, want) {
				t.Errorf("no annotation in\n%s", out)
			}
		}
	}
	run(strings.Join(pipeline.Qsim.Script, "\n"))
	written := map[string]string{"summary.md": "**my**", "qsim.xml": `classname="my.fresh-first" name="sojourn.mean below 1ms"`}
	for name, want := range written {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: want %s in %s (%v)", name, want, text, err)
		}
	}
}
