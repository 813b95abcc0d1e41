package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fog is the source of an invented kind of storm: in its window promotions get lost.
const fog = `package spec

import "qsim/engine/fault"

// FogStorm loses the calls that make waiting jobs ready.
type FogStorm struct {
	Lose Share ` + "`yaml:\"lose\" rule:\"loses\" example:\"40%\"`" + ` // share of the promotions that get lost in the fog
}

func (t *FogStorm) effect(Duration) Effect {
	return Effect{Simulated: ofNetwork, Fault: &fault.Fault{Ops: callsNamed([]string{"promote"}), LoseRequest: t.Lose.Float()}}
}
`

// inFog is a scenario with the invented storm and an objective on an invented metric.
const inFog = `duration: 5m
seeds: 1
engine: {workers: 4, promoter: {every: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 2/s}, service: 100ms, fails: {rate: 20%}}]
storms: [{name: thick, at: 1m, for: 1m, fog: {lose: 90%}}]
objectives: [{metric: starved.claims.twice, below: 1000}]
`

// TestExtension builds a qsim that has one more kind of storm, by one more file and its row in Storm, and one more
// metric, by one row, and checks that every part of the program then supports them: schema, lists, explain, loader,
// checker, chaos, which draws the storm as its example, and completion. The tree is not changed: the go command gets
// the changed files by an overlay.
func TestExtension(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	language := filepath.Join(dir, "scenarios")
	if err := os.CopyFS(language, os.DirFS("../scenarios")); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay := map[string]string{}
	change := func(name, copied, before, line string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || strings.Count(string(text), before) != 1 {
			t.Fatalf("%s does not have %q once: %v", name, before, err)
		}
		overlay[filepath.Join(root, name)] = write(copied, strings.Replace(string(text), before, line+before, 1))
	}
	change("scenarios/spec/storm.go", filepath.Join(language, "spec/storm.go"), "\tRepeat     *Repeat", "\tFog *FogStorm `yaml:\"fog,omitempty\"`\n")
	overlay[filepath.Join(root, "scenarios/spec/storm_fog.go")] = write(filepath.Join(language, "spec/storm_fog.go"), fog)
	change("results/measure/metrics_list.go", filepath.Join(dir, "metrics_list.go"), "\t\tslowdownMetric(),\n", "\t\tofClock(fact(\"starved.claims.twice\", "+
		"\"claims\", \"starved.claims.twice\", \"twice starved.claims\"), func(q *question) number { return count(2 * q.clock.streak) }),\n")
	run := func(t *testing.T, folder, name string, arguments ...string) string {
		t.Helper()
		process := exec.CommandContext(t.Context(), name, arguments...)
		process.Dir = folder
		out, err := process.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, arguments, err, out)
		}
		return string(out)
	}
	build := func(arguments ...string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			t.Fatal(err)
		}
		command := []string{arguments[0], "-overlay", write(filepath.Join(dir, "overlay.json"), string(text))}
		run(t, root, "go", append(command, arguments[1:]...)...)
	}
	build("test", "-c", "-tags", "schema", "-o", filepath.Join(dir, "schema.test"), "./scenarios")
	run(t, language, filepath.Join(dir, "schema.test"), "-test.run", "^TestSchemaFile$", "-rewrite")
	overlay[filepath.Join(root, "scenarios/scenario.schema.json")] = filepath.Join(language, "scenario.schema.json")
	build("build", "-o", filepath.Join(dir, "qsim"), "./cmd/qsim")
	write(filepath.Join(dir, "fog.yaml"), inFog)
	for _, tt := range []struct{ arguments, want string }{
		{"schema", "share of the promotions that get lost in the fog"},
		{"schema", "starved.claims.twice"},
		{"list storms", "loses the calls that make waiting jobs ready"},
		{"list storms fog", "share of the promotions that get lost in the fog"},
		{"list metrics", "twice starved.claims"},
		{"validate fog.yaml", "fog.yaml: ok"},
		{"explain fog.yaml", "storms.thick.fog.lose"},
		{"run fog.yaml -q --no-files --check", "starved.claims.twice"},
		{"run fog.yaml -q --no-files --metric starved.claims.twice --format csv", "starved.claims.twice"},
		{"trace fog.yaml --from 50s --to 70s", "storm thick begins"},
		{"chaos --seeds 100 -q", "fog "},
		{"__complete list storms fo", "fog"},
		{"__complete run fog.yaml --metric starved.claims.t", "starved.claims.twice"},
	} {
		t.Run(tt.arguments, func(t *testing.T) {
			if out := run(t, dir, filepath.Join(dir, "qsim"), strings.Fields(tt.arguments)...); !strings.Contains(out, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, out)
			} else if strings.HasPrefix(tt.arguments, "chaos") && strings.Contains(out, "fog 0") {
				t.Errorf("fog makes no difference in any world:\n%s", out)
			}
		})
	}
}
