package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fog is Go source of an invented kind of storm, for TestExtension: in its window promotions get lost.
const fog = `package spec

import "qsim/engine/fault"

// FogStorm loses the calls that make waiting jobs ready.
type FogStorm struct {
	Lose Share ` + "`yaml:\"lose\" rule:\"loses\" example:\"40%\"`" + ` // share of the promotions that get lost in the fog
}

var _ = builtInStorm(165, "fog", func(t *FogStorm, _ Duration) Effect {
	return Effect{Simulated: ofNetwork, Fault: &fault.Fault{Ops: callsNamed([]string{"promote"}), LoseRequest: t.Lose.Float()}}
})
`

// lull is Go source of an invented chart, for TestExtension: the share of idle workers.
const lull = `package report

import "gonum.org/v1/plot"

var _ = builtInChart(75, "lull", "8-lull", lullChart, "The lulls of the workers", "idle")

// lullChart returns the chart of the share of idle workers over time, with a panel for each policy.
func lullChart(d *drawing) *sheet {
	s := &sheet{Figure: Figure{Title: "Workers rest" + under(d.summary), Subtitle: "Workers without a job ÷ workers",
		Footer: d.footer(d.lineMarks("mean"))}}
	idle, most := make([][]float64, len(d.policies)), make([]float64, len(d.policies))
	for i := range d.policies {
		for _, busy := range d.policies[i].busy {
			idle[i] = append(idle[i], 1-busy)
		}
		most[i] = zeroed(d.peak(idle[i]))
	}
	s.alt = d.alt("Largest share of idle workers", func(i int) string { return percent(most[i]) })
	until := d.end(func(p *policy, bucket int) bool { return p.busy[bucket] > 0 })
	s.panels = d.overTime("idle", until, most, func(p *plot.Plot, own policy) ([]plot.Plotter, []string) {
		p.Y.Min, p.Y.Max = 0, 1.04
		return []plot.Plotter{curve{d.xs, idle[own.index], own.line(1.4)}}, nil
	})
	return s
}
`

// hush is Go source of an invented kind of policy, for TestExtension: no retries are claimed for a while after one
// failed.
const hush = `package policies

import (
	"time"

	"qsim/engine"
)

var _ = builtIn(Kind{
	rank: 65, Name: "hush", Needs: NeedsRetries, Cost: CostNothing, State: StateNode,
	Drawn:  Drawn{Weight: 1000, Params: []string{"pause: 200ms", "pause: 2s"}},
	Doc:    "As fifo, but a retry that fails is followed by a hush, in which a node claims no retries.",
	Params: []Param{{Name: "pause", Type: TypeDuration, Default: "7s", Doc: "how long the hush lasts"}},
	New:    func(a Arguments) (engine.Policy, error) { return &hush{pause: a.Duration("pause")}, nil },
})

type hush struct {
	pause time.Duration
	until engine.Time
}

func (p *hush) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	class := engine.AnyClass
	if v.Now < p.until {
		class = engine.Fresh
	}
	return append(dst, engine.Term{Class: class, Limit: v.Idle})
}

func (p *hush) Observe(o *engine.Observation) {
	if o.Failed() && o.Class == engine.Retry {
		p.until = o.Now.Add(p.pause)
	}
}

func (p *hush) Guarantees() Promise { return Promise{Ranked: true} }
`

// inFog is a scenario with the storm of fog, the policy of hush, and an objective on a metric that TestExtension adds.
const inFog = `duration: 5m
seeds: 1
engine: {workers: 4, promoter: {every: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 2/s}, service: 100ms, fails: {rate: 20%}}]
storms: [{name: thick, at: 1m, for: 1m, fog: {lose: 90%}}]
policies: [{kind: fifo}, {kind: hush}]
objectives: [{metric: starved.claims.twice, below: 1000}]
`

// TestExtension builds a qsim that has one more kind of policy, one more kind of storm and one more chart, each by one
// more file, and one more metric, by one row, and checks that every part of the program then supports them: schema,
// lists, explain, loader, checker, chaos, which draws the policy by its weight and the storm as its example, completion
// and the report. With the schema of before, lists and chaos say what to do. The tree is not changed: the go command
// gets the changed files by an overlay.
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
	overlay[filepath.Join(root, "scenarios/spec/storm_fog.go")] = write(filepath.Join(language, "spec/storm_fog.go"), fog)
	overlay[filepath.Join(root, "policies/hush.go")] = write(filepath.Join(dir, "hush.go"), hush)
	overlay[filepath.Join(root, "results/report/chart_lull.go")] = write(filepath.Join(dir, "chart_lull.go"), lull)
	change("results/measure/metrics_list.go", filepath.Join(dir, "metrics_list.go"), "\t\tslowdownMetric(),\n", "\t\tofClock(fact(\"starved.claims.twice\", "+
		"\"claims\", \"starved.claims.twice\", \"twice starved.claims\"), func(q *question) Value { return count(2 * q.clock.streak) }),\n")
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
	build("build", "-o", filepath.Join(dir, "stale"), "./cmd/qsim")
	if out := run(t, dir, filepath.Join(dir, "stale"), "list", "storms"); !strings.Contains(out, "not in the schema: run go generate ./scenarios") {
		t.Errorf("with a stale schema storms are listed as\n%s", out)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "stale"), "chaos", "-q", "--seeds", "1").CombinedOutput()
	if want := "qsim: storms of kind fog have no example: write it in tags, and run go generate ./scenarios\n"; err == nil || string(out) != want {
		t.Errorf("with a stale schema chaos prints %q, want %q", out, want)
	}
	build("test", "-c", "-tags", "schema", "-o", filepath.Join(dir, "schema.test"), "./scenarios")
	run(t, language, filepath.Join(dir, "schema.test"), "-test.run", "^TestSchemaFile$", "-rewrite")
	overlay[filepath.Join(root, "scenarios/scenario.schema.json")] = filepath.Join(language, "scenario.schema.json")
	build("build", "-o", filepath.Join(dir, "qsim"), "./cmd/qsim")
	write(filepath.Join(dir, "fog.yaml"), inFog)
	for _, tt := range []struct{ arguments, want string }{
		{"schema", "share of the promotions that get lost in the fog"},
		{"schema", "starved.claims.twice"},
		{"schema", "how long the hush lasts"},
		{"list storms", "loses the calls that make waiting jobs ready"},
		{"list storms fog", "share of the promotions that get lost in the fog"},
		{"list metrics", "twice starved.claims"},
		{"list policies hush", "how long the hush lasts"},
		{"validate fog.yaml", "fog.yaml: ok"},
		{"explain fog.yaml", "storms.thick.fog.lose"},
		{"explain fog.yaml", "policies.hush.pause"},
		{"run fog.yaml -q --no-files --check", "starved.claims.twice"},
		{"run fog.yaml -q --no-files --metric starved.claims.twice --format csv", "starved.claims.twice"},
		{"run fog.yaml -q -o runs", "/report.html"},
		{"trace fog.yaml --from 50s --to 70s", "storm thick begins"},
		{"run fog.yaml -q --no-files --check --policy hush", "hush"},
		{"chaos --seeds 100 -q", "fog "},
		{"chaos --seed 1 --print", "kind: hush, pause: "},
		{"__complete list storms fo", "fog"},
		{"__complete list policies hu", "hush"},
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
	for name, want := range map[string]string{"report.html": "The lulls of the workers", "charts/8-lull.svg": "Workers without a job"} {
		if text, err := os.ReadFile(filepath.Join(dir, "runs/fog/latest", name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q: %v", name, want, err)
		}
	}
}
