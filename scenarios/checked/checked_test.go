package checked

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"qsim/results/measure"
	"qsim/scenarios"
)

// TestChecked checks that every preset was compared with its system or has a reason why not, that comparisons use
// existing keys, metrics and lines, and that each key of a preset is in a rule or listed as unchecked.
func TestChecked(t *testing.T) {
	for _, c := range All() {
		if p := scenarios.PresetNamed(c.Preset); p == nil || p.Name != c.Preset || len(c.Rules) == 0 {
			t.Errorf("%s: %d rules of a preset that is %v", c.Preset, len(c.Rules), p)
		}
	}
	held := 0
	for _, p := range scenarios.Presets() {
		c := Of(&p)
		if len(c.Rules) > 0 {
			held++
		}
		if (p.Unchecked != "") == (len(c.Rules) > 0) {
			t.Errorf("%s: %d rules, and in presets.yaml unchecked: %q", p.Name, len(c.Rules), p.Unchecked)
		}
		for _, r := range c.Rules {
			if !slices.Contains([]string{"holds", "near", "off"}, r.Verdict) || r.Figure == "" || r.Real == "" || r.Simulated == "" {
				t.Errorf("%s: incomplete: %+v", p.Name, r)
			}
			for _, m := range r.Metrics {
				if !slices.ContainsFunc(measure.Metrics(), func(i measure.MetricInfo) bool { return strings.HasPrefix(i.Name+".", m+".") }) {
					t.Errorf("%s: %s: no metric is %s", p.Name, r.Rule, m)
				}
			}
			if r.Approximates != "" && !slices.ContainsFunc(p.Approximates, func(a string) bool { return strings.HasPrefix(a, r.Approximates) }) {
				t.Errorf("%s: %s measures what the preset does not say: %s", p.Name, r.Rule, r.Approximates)
			}
		}
		if len(c.Rules) > 0 && c.Values == Hash(&p) {
			for _, s := range p.Settings() {
				if !c.covers(s.Path) {
					t.Errorf("%s: no rule is about %s, and it is not among those that are not checked", p.Name, s.Path)
				}
			}
		}
	}
	if held < 11 {
		t.Errorf("%d presets were held to their systems, want at least 11", held)
	}
}

// covers reports whether a key of the preset is in a rule of the comparison, or listed as unchecked.
func (c *Comparison) covers(key string) bool {
	is := func(k string) bool { return strings.HasPrefix(key+".", k+".") }
	return slices.ContainsFunc(c.Unchecked, is) || slices.ContainsFunc(c.Rules, func(r Rule) bool { return slices.ContainsFunc(r.Keys, is) })
}

// TestCheckedBeforeItWasChanged checks that a comparison says it is out of date once a value of its preset has changed.
func TestCheckedBeforeItWasChanged(t *testing.T) {
	p := *scenarios.PresetNamed("asynq")
	c := *Of(&p)
	c.Values = Hash(&p)
	if text := c.Sentence(&p); strings.Contains(text, "changed") || !strings.Contains(text, "asynq v") {
		t.Error(text)
	}
	var engine yaml.Node
	if err := yaml.Load([]byte("{fetch: {poll: 3s}}"), &engine); err != nil {
		t.Fatal(err)
	}
	p.Engine = *engine.Content[0]
	if text := c.Sentence(&p); !strings.HasSuffix(text, "; checked before it was changed") {
		t.Error(text)
	}
}

// TestMisses checks the warning that a requested metric deviates from the preset's system, of engine and retry presets.
func TestMisses(t *testing.T) {
	c := Comparison{Preset: "heron", System: "harbour/heron v1.2.3", Rules: []Rule{
		{Rule: "polls", Verdict: "off", Keys: []string{"engine.fetch.poll"}, Metrics: []string{"fresh.wait"}, Figure: "wait p99", Real: "1.3s", Simulated: "1.0s", Off: "−23 %", Cause: "drawn"},
		{Rule: "nodes", Verdict: "off", Keys: []string{"engine.fetch"}, Metrics: []string{"fresh.wait"}, Figure: "share", Real: "0.5", Simulated: "0.8"},
		{Rule: "order", Verdict: "near", Metrics: []string{"sojourn"}},
		{Rule: "delay", Verdict: "off", Keys: []string{"retry.backoff"}, Metrics: []string{"retry"}, Figure: "delay", Real: "1.0s", Simulated: "2.0s"},
	}}
	for _, tt := range []struct {
		name    string
		retry   bool
		metrics []string
		want    string
	}{
		{"two rules, one line", false, []string{"fresh.wait.p99", "goodput"},
			"preset heron: fresh.wait.p99 is not that of harbour/heron v1.2.3: polls: wait p99 1.3s there, 1.0s here (−23 %): drawn, and 1 more of its rules; qsim list presets heron"},
		{"nothing depends on them", false, []string{"goodput"}, ""},
		{"near is near", false, []string{"sojourn.p99"}, ""},
		{"the other half", false, []string{"retry.delay.mean"}, ""},
		{"the retry policy", true, []string{"retry.delay.mean", "fresh.wait.p50"},
			"preset heron: retry.delay.mean is not that of harbour/heron v1.2.3: delay: delay 1.0s there, 2.0s here; qsim list presets heron"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.miss(tt.retry, tt.metrics); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestMissesOfHalves checks that the warning is about the retry policy of engine's preset unless retry names another.
func TestMissesOfHalves(t *testing.T) {
	for retry, want := range map[string]string{"": "preset sidekiq: sojourn.p99 ", "retry: {preset: activejob}": "", "retry: {preset: activejob-polynomial}": "preset activejob-polynomial: sojourn.p99 "} {
		sc, problems := scenarios.Load("halves.yaml", []byte("engine: {preset: sidekiq}\n"+retry+"\njobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\n"+
			"objectives: [{metric: sojourn.p99, below: 1m}]\n"), nil)
		if sc == nil {
			t.Fatal(problems.Errors())
		}
		lines := strings.Join(Misses(sc), "\n")
		if !strings.HasPrefix(lines, want) || want == "" && lines != "" || strings.Contains(lines, "\n") {
			t.Errorf("%q: %q, want %q", retry, lines, want)
		}
	}
}
