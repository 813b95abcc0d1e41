package world

import (
	"context"
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
)

// delayed simulates a scenario of one policy with measured delays and returns its run.
func delayed(t *testing.T, sc *scenarios.Scenario, d *Delays) *measure.Run {
	t.Helper()
	all, err := Run(context.Background(), sc, Options{Alter: d.Overlay().Alter})
	if err != nil {
		t.Fatal(err)
	}
	return &all[0]
}

// always returns samples from which the delay d is always drawn.
func always(d time.Duration) []Sample { return []Sample{{For: d}} }

func metricOf(t *testing.T, r *measure.Run, name string) float64 {
	t.Helper()
	return value(t, r, measure.Query{Metric: name})
}

// TestDelays runs one job at a time with constant delays on the wall clock, ten times as fast as
// the scenario, and computes the scenario times by hand.
func TestDelays(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 4, fetch: {poll: 1h}, commit: {linger: 0s}, store: {claim: 9s, commit: 9s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s}]
`)
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(4 * time.Millisecond), Overrun: always(20 * time.Millisecond)}
	d.Calls[engine.OpClaim] = []CallDelay{{Request: 2 * time.Millisecond, Reply: 3 * time.Millisecond}}
	d.Calls[engine.OpCommit] = []CallDelay{{Request: 5 * time.Millisecond, Reply: time.Millisecond}}
	r := delayed(t, sc, d)
	for _, want := range []struct {
		metric  string
		seconds float64
	}{
		{"fresh.wait.p50", .060}, // woken, and the way of the claim
		{"start.wait.p50", .090}, // and answered
		{"sojourn.p50", 1.340},   // 1 s and the overrun, 0.2 s, and the way of the commit
		{"jobs", 10}, {"attempts.mean", 1},
	} {
		if got := metricOf(t, r, want.metric); math.Abs(got-want.seconds) > .004*want.seconds {
			t.Errorf("%s is %v, want %v", want.metric, got, want.seconds)
		}
	}
}

// TestFrozen: stalls of the store lengthen the calls under way in them by their length, and no others.
func TestFrozen(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 4, fetch: {poll: 1h}, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s}]
`)
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(4 * time.Millisecond)}
	d.Calls[engine.OpClaim] = []CallDelay{{Reply: 3 * time.Millisecond}}
	before := delayed(t, sc, d)
	d.Stalls.Store = []Span{{From: 1*time.Second + 2*time.Millisecond, For: 100 * time.Millisecond}, // a request waits
		{From: 2*time.Second + 5*time.Millisecond, For: 50 * time.Millisecond}, // an answer
		{From: 2500 * time.Millisecond, For: 200 * time.Millisecond}}           // nothing is under way
	after := delayed(t, sc, d)
	for _, want := range []struct {
		metric string
		more   float64
	}{{"fresh.wait.p50", 0}, {"fresh.wait.max", 1}, {"fresh.wait.mean", .1}, {"start.wait.mean", .15}, {"sojourn.mean", .15}} {
		if got := metricOf(t, after, want.metric) - metricOf(t, before, want.metric); math.Abs(got-want.more) > .005 {
			t.Errorf("%s grows by %v, want %v", want.metric, got, want.more)
		}
	}
	d.Stalls.Store, d.Stalls.Over = []Span{{2 * time.Millisecond, 100 * time.Millisecond}}, time.Second // for each job but perhaps the first
	if got := metricOf(t, delayed(t, sc, d), "fresh.wait.mean") - metricOf(t, before, "fresh.wait.mean"); got < .89 {
		t.Errorf("with a period the mean wait grows by %v, want 1 or nearly so", got)
	}
}

// TestSpanIsNotEmpty converts a span that is too short for the clock of the scenario.
func TestSpanIsNotEmpty(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 1, Den: 10}, Held: []Span{{From: 10, For: 1}}}
	if got, want := d.Overlay().delays.Held[0], (Span{From: 1, For: 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestEarlyTimerIsOnTime: a delay that was measured below 0, of a timer that fired early, counts as 0.
func TestEarlyTimerIsOnTime(t *testing.T) {
	m := &measured{Overlay: (&Delays{Speed: Speed{Num: 10, Den: 1}, Late: []Sample{{For: -3}}}).Overlay()}
	if got := m.sample(0, m.delays.Late, .5); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
}

// TestLateTimers has engines notice 20 ms late that a batch has lingered: that is 0.2 s in the scenario.
func TestLateTimers(t *testing.T) {
	for _, nodes := range []string{"1", "2"} {
		sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {nodes: `+nodes+`, workers: 4, fetch: {poll: 1h}, commit: {linger: 500ms}}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s}]
`)
		d := &Delays{Speed: Speed{Num: 10, Den: 1}, Late: always(20 * time.Millisecond)}
		if got := metricOf(t, delayed(t, sc, d), "sojourn.p50"); math.Abs(got-1.7) > .01 {
			t.Errorf("%s nodes: half of the jobs took %v s, want 1 of work, 0.5 of linger and 0.2", nodes, got)
		}
	}
}

// TestDelaysOfClaims has more jobs than workers: claims follow a worker's end, which takes
// Request and not Wake.
func TestDelaysOfClaims(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 2, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: batch, size: 20, every: 200s}, service: 1s}]
`)
	base := &Delays{Speed: Speed{Num: 1, Den: 1}, Wake: always(0)}
	undelayed := metricOf(t, delayed(t, sc, base), "sojourn.max")
	if undelayed != 10 {
		t.Fatalf("without delays 20 jobs of 1 s take 2 workers %v s, want 10", undelayed)
	}
	asked := *base
	asked.Calls[engine.OpClaim] = []CallDelay{{Request: 100 * time.Millisecond}}
	// The first claim brings both workers a job. They end at once, so that from then on one worker's claim waits for the
	// answer to the other's: that is one claim in front of ten jobs of the latter, and one more.
	if got := metricOf(t, delayed(t, sc, &asked), "sojourn.max"); math.Abs(got-11.1) > .05 {
		t.Errorf("with 100 ms for each claim it takes %v s, want 11.1", got)
	}
}

// enqueues is a recorder of the times at which jobs reached the store.
type enqueues struct{ at []engine.Time }

// Record implements engine.Recorder.
func (l *enqueues) Record(e *engine.Event) {
	if e.Kind == engine.Enqueued {
		l.at = append(l.at, e.At)
	}
}

// TestAnnouncements has a job come each 100 ms, and an engine that is idle woken after 250 ms: for that job and for the
// two that have come by then.
func TestAnnouncements(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 100, fetch: {poll: 1h}, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 10/s}, service: 1s}]
`)
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(25 * time.Millisecond)}
	r := delayed(t, sc, d)
	for metric, want := range map[string]float64{"fresh.wait.max": .25, "fresh.wait.mean": .15} {
		if got := metricOf(t, r, metric); math.Abs(got-want) > .005 {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
}

// TestEnqueued makes the store show jobs 50 ms after their arrival time, with an enqueue of 30 ms: their measured waits
// grow by that, as a store counts them.
func TestEnqueued(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 4, fetch: {poll: 1h}, commit: {linger: 0s}}
retry: {max-attempts: 1}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s}]
`)
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(4 * time.Millisecond)}
	before := metricOf(t, delayed(t, sc, d), "fresh.wait.max")
	d.Enqueued = []Enqueued{{Late: 5 * time.Millisecond, Call: 3 * time.Millisecond}}
	if got := metricOf(t, delayed(t, sc, d), "fresh.wait.max") - before; math.Abs(got-.030) > .001 {
		t.Errorf("jobs wait %v s longer, want 0.03", got)
	}
	var came [2]enqueues
	for i, enqueued := range [][]Enqueued{nil, d.Enqueued} {
		d.Enqueued = enqueued
		overlay := d.Overlay()
		if _, err := Run(context.Background(), sc, Options{Alter: func(policy int, seed uint64, cfg *sim.Config) {
			overlay.Alter(policy, seed, cfg)
			cfg.Recorder = engine.RecordJobs(cfg.Recorder, &came[i])
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(came[0].at) != 10 || len(came[1].at) != 10 {
		t.Fatalf("%d and %d jobs came, want 10", len(came[0].at), len(came[1].at))
	}
	for i := range came[0].at {
		if late := came[1].at[i].Sub(came[0].at[i]); late != 50*time.Millisecond {
			t.Errorf("job %d is %v late, want 50ms", i, late)
		}
	}
}

// TestDelaysPerJob checks the delay of answers with several jobs.
func TestDelaysPerJob(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 10, Den: 1}}
	d.Calls[engine.OpClaim], d.PerJob[engine.OpClaim] = []CallDelay{{Reply: 2 * time.Millisecond}}, 300*time.Microsecond
	m := &measured{Overlay: d.Overlay(), calls: make(map[callKey]measuredCall)}
	c := &engine.Call{ID: 1, Op: engine.OpClaim}
	for jobs, want := range []time.Duration{20 * time.Millisecond, 20 * time.Millisecond, 23 * time.Millisecond, 26 * time.Millisecond} {
		m.Request(1000, c)
		if got := m.Reply(1000, c, &engine.Reply{Leases: make([]engine.Lease, jobs)}, nil); got != want {
			t.Errorf("an answer with %d jobs takes %v of the scenario, want %v", jobs, got, want)
		}
	}
}

// TestDelaysInStorms makes claims take 30 ms for 30 s of the scenario, and handlers overrun by a second then.
func TestDelaysInStorms(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 4, fetch: {poll: 1h}, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s}]
`)
	const ms = time.Millisecond
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(ms), Phases: []Phase{{Measured: Span{0, 4 * time.Second}},
		{From: 15 * time.Second, Measured: Span{4 * time.Second, 4 * time.Second}}, {From: 45 * time.Second, Measured: Span{8 * time.Second, 4 * time.Second}}}}
	for at := time.Duration(0); at < 12*time.Second; at += 5 * ms {
		claim, over := ms, time.Duration(0)
		if at >= 4*time.Second && at < 8*time.Second {
			claim, over = 30*ms, 100*ms
		}
		d.Calls[engine.OpClaim] = append(d.Calls[engine.OpClaim], CallDelay{At: at, Request: claim})
		d.Overrun = append(d.Overrun, Sample{at, over})
	}
	calm, storm := .02, .31 // 1 ms of the wake, and the claim
	r := delayed(t, sc, d)
	if got, want := metricOf(t, r, "fresh.wait.mean"), (7*calm+3*storm)/10; math.Abs(got-want) > .003 {
		t.Errorf("the mean wait is %v s, want %v", got, want)
	}
	if got, want := metricOf(t, r, "sojourn.mean"), 1+(7*calm+3*(storm+1))/10; math.Abs(got-want) > .01 {
		t.Errorf("jobs take %v s, want %v", got, want)
	}
}

// TestStalls freezes the engine for 300 ms of the wall clock in each second, and holds up
// jobs for the half second after that: 3 s and 5 s of the scenario out of 10.
func TestStalls(t *testing.T) {
	sc := loadWall(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 100, commit: {linger: 0s}, fetch: {poll: 1ms}}
jobs: [{class: mail, arrivals: {process: constant, rate: 10/s}, service: 10ms}]
`)
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Stalls: Stalls{Engines: [][]Span{{{100 * time.Millisecond, 300 * time.Millisecond}}}, Over: time.Second}}
	stalled := delayed(t, sc, d)
	// Of the 30 jobs that come in a stall, or one of 29, the first waits for all of it.
	if got := metricOf(t, stalled, "fresh.wait.max"); math.Abs(got-3) > .11 {
		t.Errorf("the longest wait is %v s, want that of the stall, 3 s", got)
	}
	if got := metricOf(t, stalled, "fresh.wait.mean"); math.Abs(got-.45) > .03 {
		t.Errorf("the mean wait is %v s, want 3/10 of 1.5 s", got)
	}
	d.Stalls.Engines, d.Stalls.Arrivals = nil, []Span{{400 * time.Millisecond, 500 * time.Millisecond}}
	if got := metricOf(t, delayed(t, sc, d), "fresh.wait.max"); got > .01 {
		t.Errorf("a job that was held up on its way waits %v s", got)
	}
	// With one worker, 50 that come at once take 50 × 10 ms.
	sc.Engine.Workers = 1
	held := delayed(t, sc, d)
	if got := metricOf(t, held, "sojourn.max"); math.Abs(got-.5) > .02 || metricOf(t, held, "jobs") != 1000 {
		t.Errorf("the last of those that were held up takes %v s, want 0.5", got)
	}
	waits := metricOf(t, held, "fresh.wait.mean")
	d.Stalls.Over = 0
	if got := metricOf(t, delayed(t, sc, d), "fresh.wait.mean"); math.Abs(got-waits/10) > .01*waits {
		t.Errorf("held up once, the mean wait is %v s, want a tenth of %v", got, waits)
	}
}

// TestCalm checks that a calm scenario has the load of a policy and no storms.
func TestCalm(t *testing.T) {
	sc := loadWall(t, `
duration: 10m
seeds: 1
jobs: [{class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms}]
storms: [{name: down, at: 3m, for: 1m, fail: {hits: [mail], rate: 90%, error: oops}}]
policies: [{kind: fifo}, {kind: fifo, label: wide, with: {engine.workers: 7}}]
objectives: [{metric: fresh.wait.p99, during: down, below: 10s}]
`)
	calm := sc.Calm(1, 20*time.Second)
	if len(calm.Storms) != 0 || len(calm.Objectives) != 0 || calm.Duration != scenarios.Duration(20*time.Second) || calm.Engine.Workers != 7 {
		t.Errorf("storms %v, duration %v, workers %v", calm.Storms, calm.Duration, calm.Engine.Workers)
	}
	if one := sc.Calm(1, 20*time.Second, sc.Storms[0]); len(one.Storms) != 1 || one.Storms[0].Name != "down" {
		t.Errorf("storms %v, want the one that was asked for", one.Storms)
	}
	if len(sc.Storms) != 1 || sc.Duration != scenarios.Duration(10*time.Minute) {
		t.Error("the scenario has changed")
	}
	w, err := OnWallClock(calm, 1, 9, Speed{Num: 20, Den: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	jobs := 0
	for {
		at, _, ok := w.Next()
		if !ok {
			break
		}
		if jobs++; at >= time.Second {
			t.Fatalf("a job comes at %v, and 20 s take a second", at)
		}
	}
	if jobs < 60 || jobs > 140 {
		t.Errorf("%d jobs came in 20 s at 5/s", jobs)
	}
}
