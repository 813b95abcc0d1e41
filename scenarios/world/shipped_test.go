package world

import (
	"flag"
	"path"
	"slices"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
)

// shippedSeeds is the number of seeds by which every objective of a built-in scenario is clear; most are before.
const shippedSeeds = 5

// opened returns a built-in scenario, with its diagnostics.
func opened(t *testing.T, name string) (*scenarios.Scenario, diagnostics.List) {
	t.Helper()
	file, src, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	sc, problems := scenarios.Load(file, src, nil)
	if sc == nil {
		t.Fatal(problems)
	}
	return sc, problems
}

// judged returns the verdicts on the objectives of a scenario after some of its seeds, and whether there are enough of
// them: all were run, or no objective is unclear or fails.
func judged(t *testing.T, sc *scenarios.Scenario, runs []measure.Run) (verdicts []results.Verdict, clear bool) {
	t.Helper()
	some := *sc
	some.Seeds = min(sc.Seeds, scenarios.Count(len(runs)/len(sc.Policies)))
	settings := Settings(&some)
	summary, err := results.Summarize(&settings, runs[:int(some.Seeds)*len(sc.Policies)], results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(v results.Verdict) bool { return v.Failed(true) }
	return summary.Objectives, some.Seeds == sc.Seeds || !slices.ContainsFunc(summary.Objectives, open)
}

var long = flag.Bool("long", false, "TestShippedScenariosRun: with seeds until every objective is clear")

// TestShippedScenariosRun runs every scenario that is part of the program, and compares its first seeds with the frozen
// file, outcomes of objectives included; the checker verifies the first one. With -long, and where the file is written
// anew, it adds seeds until no objective is unclear, up to shippedSeeds, and checks that objectives have the expected
// outcomes: missed without a cure, met with it. A published result, whose figures are compared with narrow intervals,
// takes a quarter, half or all of its seeds.
func TestShippedScenariosRun(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("hundreds of millions of events: run without the race detector")
	}
	for _, b := range scenarios.Builtin() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			sc, problems := opened(t, b.Name)
			if len(problems) > 0 {
				t.Errorf("warnings: %v", problems)
			}
			if len(sc.Objectives) == 0 {
				t.Error("no objectives: what does it assert?")
			}
			runs := seedsOf(t, sc, 0, 1, Options{Parallel: 1, Check: true})
			runs = append(runs, seedsOf(t, sc, 1, frozenSeeds-1, Options{Parallel: 1})...)
			if *long || *rewrite {
				wantLesson(t, sc, runs, strings.HasPrefix(b.Name, "published/"))
			}
			wantFrozen(t, b.Name, sc, runs)
		})
	}
}

// wantLesson adds seeds to the first ones of a scenario until its objectives are clear, and checks their outcomes.
func wantLesson(t *testing.T, sc *scenarios.Scenario, runs []measure.Run, published bool) {
	t.Helper()
	seeds := scenarios.Count(frozenSeeds)
	add := func(n scenarios.Count) {
		runs = append(runs, seedsOf(t, sc, seeds, n, Options{Parallel: 1})...)
		seeds += n
	}
	if published {
		add(max(seeds, sc.Seeds/4) - seeds)
	} else {
		sc.Seeds = min(sc.Seeds, shippedSeeds)
	}
	verdicts, clear := judged(t, sc, runs)
	for !clear {
		more := scenarios.Count(1)
		if published {
			more = min(seeds, sc.Seeds-seeds)
		}
		add(more)
		verdicts, clear = judged(t, sc, runs)
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.Failed(published) {
			t.Errorf("%s of %s: %v in [%v, %v], %s: %s", v.Metric, v.Policy, v.Value, v.Low, v.High, v.Text, v.Outcome)
		}
	}
	t.Logf("%d seeds", seeds)
}

// TestIncidentsSayWhatHappened checks the form of the files: a comment on top with the events,
// their source and the metrics to watch, and both a policy that shows the trouble and one that does
// not.
func TestIncidentsSayWhatHappened(t *testing.T) {
	incidents := 0
	for _, b := range scenarios.Builtin() {
		if !strings.HasPrefix(b.Name, "incidents/") {
			continue
		}
		incidents++
		name, src, err := scenarios.Open(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(string(src), "\nname:")
		if lines := strings.Count(comment, "\n# "); !strings.HasPrefix(comment, "# ") || lines < 3 || !strings.Contains(comment, "Source") {
			t.Errorf("%s: want a comment on top, with a Source", b.Name)
		}
		sc, problems := scenarios.Load(name, src, nil)
		if sc == nil {
			t.Errorf("%s: %v", b.Name, problems)
			continue
		}
		if sc.Name != path.Base(b.Name) {
			t.Errorf("%s is named %s inside", b.Name, sc.Name)
		}
		if problem := lacksContrast(sc); problem != "" {
			t.Errorf("%s: %s", b.Name, problem)
		}
	}
	if incidents < leastIncidents {
		t.Errorf("%d incidents: want at least %d", incidents, leastIncidents)
	}
}

// leastIncidents is the number of built-in incidents: none may disappear unnoticed.
const leastIncidents = 36

// lacksContrast returns the reason why a scenario fails to show a trouble and its cure: it must
// have a metric that one policy is expected to miss and another must meet. It returns "" if it has.
func lacksContrast(sc *scenarios.Scenario) string {
	type measured struct{ metric, class, tenant, during, after, limit string }
	missing, meeting := map[measured]map[int]bool{}, map[measured]map[int]bool{}
	for i := range sc.Objectives {
		o := &sc.Objectives[i]
		of := measured{o.Metric, o.Class, o.Tenant, o.During, o.After, ""}
		if o.Limit != nil {
			of.limit = o.Limit.String()
		}
		outcome := meeting
		if o.Expect.Value() {
			outcome = missing
		}
		if outcome[of] == nil {
			outcome[of] = map[int]bool{}
		}
		if len(o.Policies) == 0 {
			for p := range sc.Policies {
				outcome[of][p] = true
			}
		}
		for _, name := range o.Policies {
			for _, p := range sc.PoliciesNamed(name) {
				outcome[of][p] = true
			}
		}
	}
	for of := range missing {
		for p := range missing[of] {
			for q := range meeting[of] {
				if p != q {
					return ""
				}
			}
		}
	}
	return "no policy meets what another is expected to miss: want a variant that shows the trouble and one that does not, by one metric"
}

// TestLacksContrast: an objective to miss and one to meet are not enough if they measure
// different things, or one policy.
func TestLacksContrast(t *testing.T) {
	const policies = smallest + "storms: [{name: x, at: 2m, for: 1m, pause: {nodes: 1}}]\npolicies: [{kind: fifo, label: A}, {kind: fifo, label: B, with: {engine.workers: 9}}]\n"
	const missed = "objectives:\n  - {metric: stale.commits, below: 0, policies: [A], expect: missed}\n"
	for text, good := range map[string]bool{
		missed + "  - {metric: stale.commits, below: 0, policies: [B]}\n":                 true,
		missed + "  - {metric: stale.commits, below: 0, policies: [B], expect: missed}\n": false,
		missed + "  - {metric: leases.false, below: 0, policies: [B]}\n":                  false,
		missed + "  - {metric: stale.commits, above: 5, policies: [A]}\n":                 false,
		missed + "  - {metric: stale.commits, during: x, below: 0, policies: [B]}\n":      false,
		missed: false,
	} {
		sc, problems := scenarios.Load("a", []byte(policies+text), nil)
		if sc == nil {
			t.Fatal(problems)
		}
		if problem := lacksContrast(sc); (problem == "") != good {
			t.Errorf("%s: %q; want it good: %v", text, problem, good)
		}
	}
}

// TestPublishedResultsSaySo checks the form of the files: a comment on top with the source of the
// result and the metrics to watch.
func TestPublishedResultsSaySo(t *testing.T) {
	published := 0
	for _, b := range scenarios.Builtin() {
		if !strings.HasPrefix(b.Name, "published/") {
			continue
		}
		published++
		name, src, err := scenarios.Open(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(string(src), "\nname:")
		if !strings.HasPrefix(comment, "# ") || !strings.Contains(comment, "\n# Source: ") || !strings.Contains(comment, "\n# Look at: ") {
			t.Errorf("%s: want a comment on top, with a Source and what to Look at", b.Name)
		}
		if sc, problems := scenarios.Load(name, src, nil); sc == nil || sc.Name != path.Base(b.Name) || len(sc.Objectives) == 0 {
			t.Errorf("%s does not load, is named otherwise inside or asserts nothing: %v", b.Name, problems)
		}
	}
	if published < 8 {
		t.Errorf("%d published results", published)
	}
}
