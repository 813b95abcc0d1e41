package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"qsim/scenarios/diagnostics"
	"qsim/scenarios/origins"
)

// TestOverrides checks the scenarios that overrides from the command line give.
func TestOverrides(t *testing.T) {
	sc := load(t, rich,
		Override{Path: "engine.workers", Value: "80"},
		Override{Path: "duration", Value: "2h"},
		Override{Path: "jobs.mail.retry", Value: "{max-attempts: 2, backoff: {kind: fixed, delay: 3s}}"},
		Override{Path: "retry.max-attempts", Value: "9"},
		Override{Path: "retry.jitter", Value: "±30%"},
		Override{Path: "storms.z.for", Value: "7m"},
		Override{Path: "policies.W.fresh", Value: "50%"},
		Override{Path: "jobs.post.service", Value: "{dist: exponential, mean: 2s}"},
		Override{Path: "engine.store.commit", Value: "9ms"},
		Override{Path: "engine.lease", Value: "{heartbeat: 15s}"},
	)
	got := fmt.Sprintln(sc.Engine.Workers, sc.Duration, sc.RetryOf(0).MaxAttempts, sc.RetryOf(0).Backoff.Kind, sc.RetryOf(1).MaxAttempts, sc.Retry.Jitter,
		sc.Storms[0].For, sc.Policies[0].Entitled(), sc.Jobs[1].Service.Dist().Mean(), sc.Engine.Store.Commit.Dist().Mean(), sc.Engine.Lease)
	if want := "80 2h 2 fixed 9 ±30% 7m 0.5 2 0.009 {1m 15s 0s job new store run}\n"; got != want {
		t.Errorf("got %swant %s", got, want)
	}
}

// TestBadOverrides checks that errors in an override are reported at the override, along with those in the file.
func TestBadOverrides(t *testing.T) {
	for _, tt := range []struct{ path, value, want string }{
		{"engine.workers", "x", `--set engine.workers=x: error: want a whole number, not "x"`},
		{"engine.workers", "0", "--set engine.workers=0: error: workers 0 is too few: want at least 1"},
		{"engine.workres", "3", `--set engine.workres=3: error: unknown key "workres"`},
		{"engine.workers", "", "--set engine.workers=: error: there is no value"},
		{"engine.workers", "~", "error: there is nothing in it"},
		{"engine.workers", "[1", "error: the [ is never closed"},
		{"engine.workers", "1\n---\n2", "error: a second document starts here"},
		{"engine.workers", "a\x00", "error: control character"},
		{"engine.workers", "*x", "error: unknown anchor"},
		{"engine.workers", "{a: 1}", "error: want a whole number, not a map"},
		{"", "3", "error: bad path"},
		{"..", "3", "error: bad path"},
		{strings.Repeat("a.", 100) + "b", "3", "error: bad path"},
		{"jobs.male.delay", "3s", `error: no job class is named "male"`},
		{"jobs.mail", "3", "error: want a map of keys, not 3"},
		{"jobs", "[]", "error: there are no jobs"},
		{"storms.x.at", "3s", "error: the scenario has no storms"},
		{"objectives.0.metric", "x", "error: "},
		{"retry.backoff.kind", "fixed", "error: backoff fixed needs delay"},
		{"retry.jitter", "ful", "error: bad jitter"},
		{"warmup", "2h", "error: the warmup (2h) lasts as long as the run"},
		{"engine.lease.ttl", "3s", "warning: a heartbeat every 10s cannot keep a lease of 3s"},
		{"name", strings.Repeat("x", 70000), "error: the value is too long"},
		{"policies.fifo.kind", "lifo", "error: the scenario has no policies"},
	} {
		t.Run(tt.path+"="+tt.value, func(t *testing.T) {
			src := []byte(smallest + "seeds: x\n")
			sc, ds := Load("test.yaml", src, []Override{{Path: tt.path, Value: tt.value}})
			out := string(render(t, "test.yaml", src, ds))
			if sc != nil || !strings.Contains(out, tt.want) || !strings.Contains(out, "--set "+diagnostics.Cut(tt.path)[:min(len(tt.path), 20)]) {
				t.Errorf("loaded %v, said\n%s\nwant %s", sc != nil, out, tt.want)
			}
			if !strings.Contains(out, "test.yaml:6:8: error: want a whole number") {
				t.Errorf("said\n%s\nand not what is wrong with the file", out)
			}
		})
	}
}

// TestVariantOrder checks that the effect of a policy's overrides does not depend on their order in the file.
func TestVariantOrder(t *testing.T) {
	for _, with := range []string{
		"retry.backoff.delay: 7s, retry.backoff.kind: fixed, retry.backoff: {kind: linear, first: 1s, step: 1s}",
		"retry.backoff: {kind: linear, first: 1s, step: 1s}, retry.backoff.kind: fixed, retry.backoff.delay: 7s",
	} {
		sc := load(t, smallest+"policies: [{kind: fifo, with: {"+with+"}}]\n")
		b := sc.Variant(0).Retry.Backoff
		if b.Kind != "fixed" || b.Delay.Dist().Mean() != 7 || b.First != 0 {
			t.Errorf("%s: %+v", with, b)
		}
		if sc.Retry.Backoff.Kind != "exponential" || sc.Variant(0) == sc {
			t.Errorf("%s: the scenario itself changed", with)
		}
	}
}

// TestClassTimeout checks that a job class without a timeout has the engine's, even if a policy overrides that.
func TestClassTimeout(t *testing.T) {
	sc := load(t, smallest+"policies: [{kind: fifo, with: {engine.timeout: 9s}}]\n")
	if sc.TimeoutOf(0) != 5*time.Minute || sc.Variant(0).TimeoutOf(0) != 9*time.Second {
		t.Errorf("timeouts %v and %v", sc.TimeoutOf(0), sc.Variant(0).TimeoutOf(0))
	}
}

// TestOverrideWith checks overrides whose path leads into the `with:` of a policy, where keys are paths.
func TestOverrideWith(t *testing.T) {
	const text = smallest + "policies: [{kind: fifo}, {kind: fifo, label: A, with: {retry.jitter: none, retry: {backoff: {first: 2s}}}}]\n"
	sets := []Override{{Path: "policies.A.with.retry.jitter", Value: "±30%"}, {Path: "policies.A.with.retry.backoff.first", Value: "3s"}, {Path: "policies.fifo.with.engine.workers", Value: "7"}}
	sc := load(t, text, sets...)
	if a := sc.Variant(1).Retry; a.Jitter.String() != "±30%" || a.Backoff.First.String() != "3s" || sc.Variant(0).Engine.Workers != 7 || sc.Variant(1).Engine.Workers == 7 {
		t.Errorf("jitter %v, first %v, workers %d", a.Jitter, a.Backoff.First, sc.Variant(0).Engine.Workers)
	}
	for _, s := range origins.Of(sc, sets) {
		if k, _ := KeyOf(s.Path); strings.HasPrefix(s.Path, "policies.A.with.retry.jitter") && (s.Value != "±30%" || s.Origin != "--set policies.A.with.retry.jitter=±30%" || k.Path != "retry.jitter") {
			t.Errorf("%+v, a key %s", s, k.Path)
		}
	}
}

// TestNoStorm checks that storms.NAME=none removes a storm and the objectives about it, with a warning.
func TestNoStorm(t *testing.T) {
	const text = smallest + "storms: [{name: a, at: 1m, for: 1m, slow: {factor: 2}}, {name: b, at: 3m, for: 1m, slow: {factor: 3}}]\n" +
		"objectives: [{metric: fresh.wait.p99, during: a, below: 1s}, {metric: recovery.time, after: a, below: 1m}, {metric: fresh.wait.p99, during: b, below: 1s}, {metric: dead.count, below: 1}]\n"
	sc, ds := Load("test.yaml", []byte(text), []Override{{Path: "storms.a", Value: "none"}})
	if sc == nil || len(sc.Storms) != 1 || sc.Storms[0].Name != "b" || len(sc.Objectives) != 2 {
		t.Fatalf("%v", ds)
	}
	if len(ds) != 1 || ds[0].Severity != diagnostics.Warning || ds[0].Set != "--set storms.a=none" || ds[0].Message != "objectives about this storm go with it: 2 of 4" {
		t.Errorf("it says %v", ds)
	}
	if again := load(t, string(sc.Resolved())); again.ConfigHash() != sc.ConfigHash() {
		t.Error("resolved it is another")
	}
	if none := load(t, smallest+"storms: [{name: a, at: 1m, for: 1m, slow: {factor: 2}}]\n", Override{Path: "storms.a", Value: "none"}); none.ConfigHash() != load(t, smallest).ConfigHash() {
		t.Error("without its only storm it is not what it is without storms")
	}
	for value, want := range map[string]string{"storms.c=none": `no storm is named "c" there is "a", "b"`, "storms.a=nothing": `want a map of keys, not "nothing"`, "jobs.mail=none": `want a map of keys, not "none"`} {
		path, value, _ := strings.Cut(value, "=")
		if sc, ds := Load("test.yaml", []byte(text), []Override{{Path: path, Value: value}}); sc != nil || !strings.Contains(fmt.Sprint(ds), want) {
			t.Errorf("%s: %v", path, ds)
		}
	}
}

// TestOverrideDots checks that an override reaches a policy whose label has dots: of two that fit, the longer label.
func TestOverrideDots(t *testing.T) {
	text := strings.Replace(smallest, "service: 100ms", "service: 100ms\n    fails: {rate: 1%}", 1) + "policies: [{kind: weighted, label: v1, fresh: 80%}, {kind: weighted, label: v1.5, fresh: 80%, with: {retry.jitter: none}}, {kind: weighted, label: Wait..}]\n"
	sets := []Override{{Path: "policies.v1.5.fresh", Value: "70%"}, {Path: "policies.v1.5.with.retry.jitter", Value: "equal"}, {Path: "policies.v1.fresh", Value: "60%"}, {Path: "policies.Wait...fresh", Value: "50%"}}
	sc := load(t, text, sets...)
	is := map[string]string{}
	for _, s := range origins.Of(sc, sets) {
		k, known := KeyOf(s.Path)
		if words := sc.Words(s.Path); words[0] == "policies" {
			is[strings.Join(words[1:], "|")] = s.Value
			if s.Origin == "default" && len(words) != 3 || words[len(words)-1] == "label" && (!known || k.Path != "policies.LABEL.label") {
				t.Errorf("%+v is split into %q, a key %q", s, words, k.Path)
			}
		}
	}
	for path, want := range map[string]string{"v1|fresh": "60%", "v1.5|fresh": "70%", "Wait..|fresh": "50%", "v1.5|with|retry|jitter": "equal", "v1.5|lend": "true"} {
		if is[path] != want {
			t.Errorf("%s is %q, want %s", path, is[path], want)
		}
	}
	if _, ds := Load("test.yaml", []byte(text), []Override{{Path: "policies.v2.5.fresh", Value: "70%"}}); !strings.Contains(fmt.Sprint(ds), `no policy is named "v2"`) {
		t.Errorf("%v", ds)
	}
}
