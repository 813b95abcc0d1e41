package world

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/scenarios"
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
	sc, problems := scenarios.Load("a", []byte(halfFailing), nil)
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
	sc, problems := scenarios.Load("a", []byte("duration: 1m\nwarmup: 0s\njobs: [{class: a, arrivals: {process: poisson, rate: 5/s}, service: 1ms}, {class: b, arrivals: {process: poisson, rate: 5/s}, service: 1ms, serial: {keys: 7}}, {class: c, arrivals: {process: poisson, rate: 5/s}, service: 1ms, serial: {keys: 3}}]\n"), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	rand := keyed.Rand{Seed: 3}
	w, err := newWorkload(sc, rand)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	keyOf := serialKeys(sc, rand)
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
	sc, problems := scenarios.Load("a", []byte(halfFailing), nil)
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
	sc, problems := scenarios.Load("a", []byte(endless), nil)
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
	sc, problems := scenarios.Load("a", []byte("warmup: 0s\n"+halfFailing), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	for name, lie := range map[string]func(*measure.Totals){
		"":        func(*measure.Totals) {},
		"jobs":    func(have *measure.Totals) { have.Jobs++ },
		"acked":   func(have *measure.Totals) { have.Acked-- },
		"fenced":  func(have *measure.Totals) { have.Fenced++ },
		"claims":  func(have *measure.Totals) { have.Claims++ },
		"deaths":  func(have *measure.Totals) { have.Deaths-- },
		"in vain": func(have *measure.Totals) { *have = measure.Totals{} },
	} {
		worlds, err := newWorlds(sc)
		if err != nil {
			t.Fatal(err)
		}
		w := worlds[0]
		w.settings, w.checked = settingsOf(sc, 0), true
		workload, err := newWorkload(sc, keyed.Rand{Seed: 1})
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

// TestCalmAfterTheLastStorm promises that no worker is idle, that leases are recovered and
// that no job waits for longer than the load explains from when the last storm is over, with
// what it leaves behind.
func TestCalmAfterTheLastStorm(t *testing.T) {
	const minute = engine.Time(time.Minute)
	const timeout = 5 * time.Second // of calls
	for storms, want := range map[string]engine.Time{
		"": 0,
		"storms: [{name: a, at: 1m, for: 20s, fail: {rate: 50%}}, {name: b, at: 2m, crash: {nodes: [0], restart-after: 5s}}]":                             (2 * minute).Add(5*time.Second + timeout),
		"storms: [{name: a, at: 1m, for: 20s, clock: {nodes: [0], skew: 3s}}]":                                                                            0, // nobody looks at it
		"storms: [{name: a, at: 1m, for: 20s, clock: {nodes: [0], jump: 3s}}]":                                                                            0,
		"engine: {lease: {check: local, ttl: 30s}}\nstorms: [{name: a, at: 1m, for: 20s, clock: {nodes: [0], skew: -3s}}]":                                minute.Add(20*time.Second + timeout + 33*time.Second),
		"engine: {lease: {check: local}}\nstorms: [{name: a, at: 1m, clock: {nodes: [0], jump: 3s}}]":                                                     engine.Never, // it stays
		"storms: [{name: a, at: 1m, leases: {lose: 50%}}]":                                                                                                minute.Add(timeout),
		"storms: [{name: a, at: 1m, for: 20s, calls: {delay: 30s}}]":                                                                                      minute.Add(20*time.Second + timeout + 30*time.Second),
		"storms: [{name: a, at: 1m, for: 20s, calls: {delay: {dist: uniform, min: 1s, max: 8s}}}]":                                                        minute.Add(20*time.Second + timeout + 8*time.Second),
		"engine: {store: {claim: 1ms, commit: 4ms, extend: 1ms, recover: 1ms, promote: 1ms}}\nstorms: [{name: a, at: 1m, for: 20s, store: {slow: 1000}}]": minute.Add(20*time.Second + timeout + 4*time.Second),
	} {
		sc, problems := scenarios.Load("a", []byte(halfFailing+storms+"\n"), nil)
		if sc == nil {
			t.Fatal(problems)
		}
		worlds, err := newWorlds(sc)
		if err != nil {
			t.Fatal(err)
		}
		r := worlds[0].rules(keyed.Rand{Seed: 1})
		if r.Calm != want || r.Recover == 0 || r.Idle == 0 || r.Between == 0 || r.Settled != max(1, want) || r.Heard != r.Settled {
			t.Errorf("%s: calm from %v, want %v; recovery %v, idle %v, between %v", storms, time.Duration(r.Calm), time.Duration(want), r.Recover, r.Idle, r.Between)
		}
	}
}

// passing is a policy that passes the jobs of one class by after a time.
type passing struct {
	engine.Policy
	after engine.Time
}

func (p passing) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now < p.after {
		return p.Policy.Plan(v, dst)
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Kinds: engine.Kinds(0).With(0), Limit: v.Idle})
}

// TestHeldAfterStorms breaks, when a storm of late calls, of lost leases or of a clock is over,
// what is held from then on.
func TestHeldAfterStorms(t *testing.T) {
	const work = `
duration: 10m
warmup: 0s
drain: 5m
seeds: 1
engine: {nodes: 3, workers: 4, lease: {ttl: 30s}}
policies: [{kind: fifo}]
jobs:
  - {class: a, arrivals: {process: poisson, rate: 5/s}, service: 800ms}
  - {class: b, arrivals: {process: poisson, rate: 5/s}, service: 800ms}
storms:
  - {name: crash, at: 2m, crash: {nodes: [0], restart-after: 5s}}
`
	nothing := func(*sim.Config) {}
	passes := func(cfg *sim.Config) {
		right := cfg.Policy
		cfg.Policy = func(node int32) engine.Policy { return passing{right(node), engine.Time(5 * time.Minute)} }
	}
	nobody := func(cfg *sim.Config) {
		for i := range cfg.Nodes {
			cfg.Nodes[i].Reaper.Every = time.Hour
		}
	}
	for _, tt := range []struct {
		name  string
		storm string
		alter func(cfg *sim.Config)
		want  check.Invariant // 0: none breaks
	}{
		{"late calls", "calls: {delay: {dist: exponential, mean: 200ms}}", nothing, 0},
		{"late calls, and a class that is passed by", "calls: {delay: {dist: exponential, mean: 200ms}}", passes, check.Idleness},
		{"late calls, and nobody recovers", "calls: {delay: {dist: exponential, mean: 200ms}}", nobody, check.Recovery},
		{"lost leases", "leases: {lose: 50%}", nothing, 0},
		{"lost leases, and a class that is passed by", "leases: {lose: 50%}", passes, check.Idleness},
		{"lost leases, and nobody recovers", "leases: {lose: 50%}", nobody, check.Recovery},
		{"a clock", "clock: {nodes: [1], skew: 20s}", nothing, 0},
		{"a clock, and a class that is passed by", "clock: {nodes: [1], skew: 20s}", passes, check.Idleness},
		{"a clock, and nobody recovers", "clock: {nodes: [1], skew: 20s}", nobody, check.Recovery},
	} {
		t.Run(tt.name, func(t *testing.T) {
			length := "for: 20s, "
			if strings.HasPrefix(tt.storm, "leases") {
				length = ""
			}
			sc, problems := scenarios.Load("a", []byte(work+"  - {name: x, at: 1m50s, "+length+tt.storm+"}\n"), nil)
			if sc == nil {
				t.Fatal(problems)
			}
			_, err := Run(context.Background(), sc, Options{Check: true, Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) { tt.alter(cfg) }})
			var broken *Broken
			switch errors.As(err, &broken); {
			case tt.want == 0 && err != nil:
				t.Error(err)
			case tt.want == 0:
			case broken == nil:
				t.Errorf("got %v, want a breach of %v", err, tt.want)
			case broken.Cause.(*check.Breach).Invariant != tt.want:
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
