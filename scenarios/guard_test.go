package scenarios

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/results"
)

// generous is a retry policy that gives one attempt more than it says.
type generous struct{ *policies.Backoff }

func (g generous) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	less := *j
	less.Charged--
	return g.Backoff.Next(&less, e, u)
}

const halfFailing = `
duration: 5m
seeds: 2
retry: {max-attempts: 3}
policies: [{kind: fifo}, {kind: weighted}]
jobs: [{class: a, arrivals: {process: poisson, rate: 5/s}, service: 100ms, fails: {rate: 50%}}]
`

// TestCheck holds a scenario to its invariants: it does not change what it does, and a bug
// is found and told.
func TestCheck(t *testing.T) {
	sc, problems := Load("a", []byte(halfFailing), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	var fingerprints []uint64
	for _, checked := range []bool{false, true} {
		runs, err := Run(context.Background(), sc, Options{Check: checked})
		if err != nil || len(runs) != 4 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		for i := range runs {
			fingerprints = append(fingerprints, runs[i].Fingerprint)
		}
	}
	for i, want := range fingerprints[:4] {
		if got := fingerprints[4+i]; got != want {
			t.Errorf("run %d: fingerprint %016x with a checker, %016x without", i, got, want)
		}
	}
	generously := func(_ int, _ uint64, cfg *sim.Config) {
		for i := range cfg.Nodes {
			kinds := append([]engine.KindConfig(nil), cfg.Nodes[i].Kinds...)
			kinds[0].Retry = generous{kinds[0].Retry.(*policies.Backoff)}
			cfg.Nodes[i].Kinds = kinds
		}
	}
	if _, err := Run(context.Background(), sc, Options{Alter: generously}); err != nil {
		t.Errorf("without a checker: %v", err)
	}
	_, err := Run(context.Background(), sc, Options{Alter: generously, Check: true, Parallel: 1})
	var broken *Broken
	if !errors.As(err, &broken) {
		t.Fatalf("got %v, want a *Broken", err)
	}
	breach, ok := broken.Cause.(*check.Breach)
	if !ok || breach.Invariant != check.Limit || broken.Seed != 1 || broken.At != breach.At.Sub(0) || broken.Stack != nil {
		t.Errorf("got %+v", broken)
	}
	if !strings.Contains(err.Error(), "it is attempt 4 of 3") {
		t.Errorf("got %v", err)
	}
	if h := broken.History; strings.Count(h, "nacked") != 3 || !strings.Contains(h, "enqueued") || !strings.HasSuffix(strings.TrimSpace(h), lastLine(h)) || !strings.Contains(lastLine(h), "leased node 0, retry, delivery 4") {
		t.Errorf("the history is\n%s", h)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// TestSerialKeysOfScenario knows the key that the workload gives each job.
func TestSerialKeysOfScenario(t *testing.T) {
	sc, problems := Load("a", []byte("duration: 1m\nwarmup: 0s\njobs: [{class: a, arrivals: {process: poisson, rate: 5/s}, service: 1ms}, {class: b, arrivals: {process: poisson, rate: 5/s}, service: 1ms, serial: {keys: 7}}, {class: c, arrivals: {process: poisson, rate: 5/s}, service: 1ms, serial: {keys: 3}}]\n"), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	rand := engine.Rand{Seed: 3}
	w, err := newWorkload(sc, rand)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	keyOf := sc.serialKeys(rand)
	seen := map[uint32]bool{}
	for _, j, ok := w.Next(); ok; _, j, ok = w.Next() {
		if got := keyOf(j.ID); got != j.Serial {
			t.Fatalf("job %d has key %d, want %d", j.ID, got, j.Serial)
		}
		seen[j.Serial] = true
	}
	if len(seen) != 11 {
		t.Errorf("%d keys, want 10 and none", len(seen))
	}
}

// ignored is a recorder that nobody reads.
type ignored struct{ events int }

func (r *ignored) Record(*engine.Event) { r.events++ }

// TestSameWhoeverWatches runs a scenario without its collector, with another recorder and
// with a checker: the fingerprints are the same.
func TestSameWhoeverWatches(t *testing.T) {
	sc, problems := Load("a", []byte(halfFailing), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	fingerprints := func(o Options) (all []uint64) {
		runs, err := Run(context.Background(), sc, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			all = append(all, runs[i].Fingerprint)
		}
		return all
	}
	want := fingerprints(Options{})
	for name, o := range map[string]Options{
		"without a collector": {Alter: func(_ int, _ uint64, cfg *sim.Config) { cfg.Recorder = nil }},
		"with a recorder":     {Alter: func(_ int, _ uint64, cfg *sim.Config) { cfg.Recorder = &ignored{} }},
		"with a checker":      {Check: true, Parallel: 1},
	} {
		if got := fingerprints(o); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
}

// TestEndlessRetries tries jobs that always fail for ever and without a pause: the run
// ends, its size is in proportion to its time, and a warning names the livelock.
func TestEndlessRetries(t *testing.T) {
	const endless = `
duration: 10m
seeds: 1
warmup: 0s
drain: 1m
retry: {max-attempts: unlimited, backoff: {kind: none}, jitter: none}
policies: [{kind: retry-first}]
jobs: [{class: a, arrivals: {process: poisson, rate: 5/s}, service: 20ms, poison: 2%}]
`
	sc, problems := Load("a", []byte(endless), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	runs, err := Run(context.Background(), sc, Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(runs[0].Warnings, func(w string) bool { return strings.HasPrefix(w, "livelock: jobs are tried again and again") }) {
		t.Errorf("warnings %q: none names the livelock", runs[0].Warnings)
	}
	// A worker makes at most 50 attempts a second, of some ten events each.
	if most := 11 * 60 * 50 * 10 * int64(sc.Engine.Nodes*sc.Engine.Workers); runs[0].Events > most {
		t.Errorf("%d events, want at most %d", runs[0].Events, most)
	}
}

// TestSettleCountsAgain holds what the results count against what was recorded: one more of
// anything is a breach.
func TestSettleCountsAgain(t *testing.T) {
	sc, problems := Load("a", []byte("warmup: 0s\n"+halfFailing), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	for name, lie := range map[string]func(*results.Totals){
		"":        func(*results.Totals) {},
		"jobs":    func(have *results.Totals) { have.Jobs++ },
		"acked":   func(have *results.Totals) { have.Acked-- },
		"fenced":  func(have *results.Totals) { have.Fenced++ },
		"claims":  func(have *results.Totals) { have.Claims++ },
		"deaths":  func(have *results.Totals) { have.Deaths-- },
		"in vain": func(have *results.Totals) { *have = results.Totals{} },
	} {
		worlds, err := newWorlds(sc)
		if err != nil {
			t.Fatal(err)
		}
		w := worlds[0]
		w.settings, w.checked = sc.settingsOf(0), true
		workload, err := newWorkload(sc, engine.Rand{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := w.guard(1)
		s, collector := w.start(1, workload, g.watch)
		s.Run()
		have := collector.Totals()
		if have.Claims == 0 || have.Deaths == 0 || have.Acked == 0 {
			t.Errorf("nothing happens: %+v", have)
		}
		lie(&have)
		if broke := g.settle(s, have, true); broke != (name != "") {
			t.Errorf("%q: broken is %v: %v", name, broke, g.checker.Breach())
		}
		if g.checker.Checks()[check.Liveness] == 0 {
			t.Errorf("%q: nobody asked whether every job has ended", name)
		}
		workload.Close()
	}
}

// TestCalmAfterTheLastStorm promises that no worker is idle and that leases are recovered
// from when the last storm is over.
func TestCalmAfterTheLastStorm(t *testing.T) {
	for storms, want := range map[string]engine.Time{
		"": 0,
		"storms: [{name: a, at: 1m, for: 20s, fail: {rate: 50%}}, {name: b, at: 2m, crash: {nodes: [0], restart-after: 5s}}]": engine.Time(2*time.Minute + 5*time.Second),
		"storms: [{name: a, at: 1m, for: 20s, clock: {nodes: [0], skew: 3s}}]":                                                engine.Never,
	} {
		sc, problems := Load("a", []byte(halfFailing+storms+"\n"), nil)
		if sc == nil {
			t.Fatal(problems)
		}
		worlds, err := newWorlds(sc)
		if err != nil {
			t.Fatal(err)
		}
		r := worlds[0].rules(engine.Rand{Seed: 1})
		if want > 0 && want != engine.Never {
			want = want.Add(sc.Engine.CallTimeout.Std())
		}
		if r.Calm != want || want != engine.Never && r.Recover == 0 {
			t.Errorf("%s: calm from %v, want %v; recovery %v", storms, r.Calm, want, r.Recover)
		}
	}
}
