package scenarios

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"qsim/scenarios/origins"
	"qsim/scenarios/reference"
)

// TestExplain compares every key of a scenario that sets everything, with its value and origin, with a golden file.
func TestExplain(t *testing.T) {
	src, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sets := []Override{{Path: "engine.workers", Value: "60"}, {Path: "retry.preset", Value: "sidekiq"}, {Path: "jobs.gamma.retry.jitter", Value: "full"}}
	sc := load(t, string(src), sets...)
	var b strings.Builder
	write := func(settings []Setting) {
		for _, s := range settings {
			fmt.Fprintf(&b, "%s | %s | %s\n", s.Path, s.Value, s.Origin)
		}
	}
	write(origins.Of(sc, sets))
	for i := range sc.Policies {
		fmt.Fprintf(&b, "\n%s\n", sc.Policies[i].Label)
		write(origins.OfPolicy(sc, i, sets))
	}
	golden(t, "testdata/explain.txt", []byte(b.String()))
}

// TestExplainOrigins checks one example of each sort of origin: a line, a preset, an override, a default.
func TestExplainOrigins(t *testing.T) {
	const text = `
engine: {preset: river, workers: 80}
retry: {max-retries: 7}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 10/s}
    service: {dist: exponential, mean: 100ms}
    retry: {jitter: full}
  - {class: post, arrivals: {process: poisson, rate: 1/s}, service: 1s, poison: 1%, retry: {preset: sidekiq, never: [teapot], backoff: {plus: 0s}}}
policies: [{kind: fifo}, {kind: weighted, with: {retry.jitter: none, engine.preset: oban}}]
`
	sets := []Override{{Path: "engine.lease.ttl", Value: "90s"}, {Path: "seeds", Value: "3"}}
	sc := load(t, text, sets...)
	sources := map[string]string{}
	for _, s := range origins.Of(sc, sets) {
		if sources[s.Path] != "" {
			t.Errorf("%s is explained twice", s.Path)
		}
		sources[s.Path] = s.Value + " | " + s.Origin
	}
	for path, want := range map[string]string{
		"name":                         "test | default: the file's name",
		"drain":                        "30m | default: the duration",
		"seeds":                        "3 | --set seeds=3",
		"engine.workers":               "80 | line 2",
		"engine.lease.ttl":             "1m30s | --set engine.lease.ttl=90s",
		"engine.reaper.every":          "30s | preset river (line 2)",
		"engine.restart":               "5s | default",
		"retry.max-attempts":           "8 | line 3",
		"retry.backoff.kind":           "polynomial | preset river (line 2)",
		"jobs.mail.service":            "{dist: exponential, mean: 100ms} | line 7",
		"jobs.mail.timeout":            "as engine.timeout | default",
		"jobs.mail.retry.jitter":       "full | line 8",
		"jobs.post.retry.backoff.plus": "0s | line 9",
		"jobs.mail.retry.max-attempts": "8 | as retry",
		"jobs.post.retry.backoff.less": "1 | preset sidekiq (line 9)",
		"jobs.post.retry.never":        "[teapot] | line 9",
		"policies.weighted.fresh":      "80% | default",
		"policies.weighted.label":      "weighted | default: the kind",
		"objectives":                   "[] | default",
	} {
		if sources[path] != want {
			t.Errorf("%s: %s, want %s", path, sources[path], want)
		}
	}
	others := map[string]string{}
	for _, s := range origins.OfPolicy(sc, 1, sets) {
		others[s.Path] = s.Value + " | " + s.Origin
	}
	if others["retry.jitter"] != "none | line 10" || others["engine.preset"] != "oban | line 10" || others["engine.workers"] != "" {
		t.Errorf("under weighted: %v", others)
	}
	if len(origins.OfPolicy(sc, 0, sets)) > 0 {
		t.Errorf("fifo overrides nothing, but differs in %v", origins.OfPolicy(sc, 0, sets))
	}
}

// TestExplainSelected checks that the settings of some of a scenario's policies have the origins that they have in it, and
// that what Select left out is no change that a policy makes.
func TestExplainSelected(t *testing.T) {
	sc, err := load(t, smallest+`policies: [fifo, {kind: lifo, with: {retry.jitter: none}}]
objectives:
  - {metric: goodput, above: 1/s, policies: [fifo]}
  - {metric: goodput, above: 2/s, policies: [lifo]}
`).Select([]string{"lifo"})
	if err != nil {
		t.Fatal(err)
	}
	if at := slices.IndexFunc(origins.Of(sc, nil), func(s Setting) bool { return s.Path == "objectives.1.above" && s.Origin == "line 9" }); at < 0 {
		t.Errorf("the objective of the policy that is left: %v", origins.Of(sc, nil))
	}
	if changed := origins.OfPolicy(sc, 0, nil); len(changed) != 1 || changed[0].Path != "retry.jitter" {
		t.Errorf("lifo changes %v", changed)
	}
}

// TestExplainIsWhole checks that setting all explained values, key by key, gives an equal scenario.
func TestExplainIsWhole(t *testing.T) {
	sc := load(t, rich)
	var sets []Override
	for _, s := range origins.Of(sc, nil) {
		first, _, _ := strings.Cut(s.Path, ".")
		if first == "objectives" || s.Origin == "as retry" || s.Value == "none" || strings.HasPrefix(s.Value, "as ") || strings.HasSuffix(s.Path, ".starved-after") || s.Value == "[]" && !strings.Contains(s.Path, ".") || strings.HasPrefix(s.Path, "policies.") && (strings.HasSuffix(s.Path, ".kind") || strings.Contains(s.Path, "no: 3")) {
			continue
		}
		if s.Origin == "default" && slices.ContainsFunc(reference.Tables().Keys, func(k reference.Entry) bool { return k.Unsaid != "" && k.Path == s.Path }) {
			continue // whoever says it is another scenario, which does the same
		}
		sets = append(sets, Override{Path: s.Path, Value: s.Value})
	}
	if len(sets) < 100 {
		t.Errorf("%d settings", len(sets))
	}
	again := load(t, rich, sets...)
	if again.ConfigHash() != sc.ConfigHash() {
		t.Errorf("set key by key it resolves as\n%s\nwant\n%s", again.Resolved(), sc.Resolved())
	}
}

// TestStarter checks that the scenario of qsim init loads without warnings, for every preset.
func TestStarter(t *testing.T) {
	names := []string{""}
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	for _, preset := range names {
		text, err := Starter("mine", preset)
		if err != nil {
			t.Fatal(err)
		}
		sc := load(t, string(text))
		if preset != "" && sc.Engine.Preset != preset && sc.Retry.Preset != preset {
			t.Errorf("preset %s is not used", preset)
		}
		if sc.RetryOf(0).MaxAttempts == 1 {
			t.Errorf("with preset %s nothing is retried, which is what the scenario asks about", preset)
		}
		if sc.Name != "mine" || len(sc.Policies) < 3 || len(sc.Objectives) == 0 {
			t.Errorf("%s: %d policies, %d objectives", sc.Name, len(sc.Policies), len(sc.Objectives))
		}
	}
	for _, name := range []string{"", "My Storm", "a/b", "a_b", "../x"} {
		if _, err := Starter(name, ""); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	if _, err := Starter("mine", "nobody"); err == nil {
		t.Error("a preset that is not there is taken")
	}
}

func TestRenamed(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"named", "# why\nname: old # why\nseeds: 3\n", "# why\nname: new\nseeds: 3\n"},
		{"without a name", "# why\n\nseeds: 3\n", "# why\n\nname: new\nseeds: 3\n"},
	} {
		if got, err := Renamed([]byte(tt.src), "new"); err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestPresetSettings checks that each preset has settings, and each of these a value and a path in engine or retry.
func TestPresetSettings(t *testing.T) {
	for _, p := range Presets() {
		settings := p.Settings()
		if len(settings) == 0 {
			t.Errorf("preset %s says nothing", p.Name)
		}
		for _, s := range settings {
			if s.Value == "" || !strings.HasPrefix(s.Path, "engine.") && !strings.HasPrefix(s.Path, "retry.") {
				t.Errorf("preset %s: %+v", p.Name, s)
			}
		}
	}
}

// TestDefaultWarmup checks that the default warm-up is two minutes, or a tenth of a scenario too short for that.
func TestDefaultWarmup(t *testing.T) {
	for duration, want := range map[string]string{"30m": "2m", "20m": "2m", "2m": "12s", "1s": "100ms"} {
		sc := load(t, "duration: "+duration+"\njobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms}]\n")
		if got := sc.Warmup.String(); got != want {
			t.Errorf("of %s: %s, want %s", duration, got, want)
		}
		for _, s := range origins.Of(sc, nil) {
			if s.Path == "warmup" && s.Origin != "default: 2m, or a tenth of the duration if that is less" {
				t.Errorf("explained as %s", s.Origin)
			}
		}
	}
}
