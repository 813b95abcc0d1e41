package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/memstore"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	layout "qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// stuckStore is a store that answers a run's enqueue calls from the third one on only after a time, until.
type stuckStore struct {
	*memstore.Store
	lots  atomic.Int64
	until time.Duration
}

func (s *stuckStore) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if timing := jobs[0].ID > 1<<40 && jobs[0].ID < 1<<40+1000; !timing && s.lots.Add(1) > 2 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.until):
		}
	}
	return s.Store.Enqueue(ctx, jobs)
}

// predictSession returns a session of qbench predict on a scenario, with its flags and both outputs.
func predictSession(t *testing.T, text string) (s *session, f *predictFlags, stdout, stderr *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "predicted.yaml")
	writeText(t, file, text)
	f = &predictFlags{calibrate: scenarios.Duration(100 * time.Millisecond), within: scenarios.Share{Num: -1}}
	f.scenario, f.format, f.rounds, f.noFiles = file, "table", 1, true
	f.speed = world.Speed{Num: 100, Den: 1}
	c := newPredict()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	c.SetOut(stdout)
	c.SetErr(stderr)
	return newSession(c, &f.runFlags), f, stdout, stderr
}

// predictOne makes the one prediction of a session and returns its JSON, and the error of the command, which reports a
// prediction that is off.
func predictOne(t *testing.T, s *session, f *predictFlags, stdout *bytes.Buffer) (predictedJSON, error) {
	t.Helper()
	f.format = "json"
	var parsed predictionJSON
	off := s.predictAll(t.Context(), f)
	if err := json.Unmarshal(stdout.Bytes(), &parsed); err != nil {
		t.Fatalf("%v, %v\n%s", off, err, stdout)
	}
	return parsed.Predictions[0], off
}

// TestPredictCutShort predicts a run whose time is up before all jobs arrived: the result has the
// number of missing jobs, and no verdict on its metrics.
func TestPredictCutShort(t *testing.T) {
	const scenario = `
duration: 20s
warmup: 0s
drain: 1s
jobs:
  - {class: mail, arrivals: {process: constant, rate: 250/s}, service: 10ms}
policies: [{kind: fifo}]
`
	s, f, stdout, stderr := predictSession(t, scenario)
	if err := f.within.UnmarshalText([]byte("100%")); err != nil {
		t.Fatal(err)
	}
	opens := 0
	s.stores.around = func(store engine.Store) engine.Store {
		if opens++; opens == 1 {
			return store // of the calibration
		}
		return &stuckStore{Store: store.(*memstore.Store), until: f.speed.Real(21 * time.Second)}
	}
	err := s.predictAll(t.Context(), f)
	var failure *ui.Failure
	if !errors.As(err, &failure) || failure.Exit != ui.ExitMissed {
		t.Errorf("it ended with %v, want exit %d", err, ui.ExitMissed)
	}
	const what = "that were to come were never enqueued: time was up before"
	for _, metric := range []string{"fresh.wait.p50", "fresh.wait.p99", "throughput", "attempts.mean", "duplicates.count"} {
		if !strings.Contains(stdout.String(), metric+": what was real is not the scenario: ") {
			t.Errorf("nothing is said of %s", metric)
		}
	}
	if !strings.Contains(stdout.String(), what) || strings.Contains(stdout.String(), " ✓\n") || !strings.Contains(stderr.String(), what) || !strings.Contains(stderr.String(), "lost 0,") {
		t.Errorf("it printed\n%s\nand\n%s", stdout, stderr)
	}
}

// TestPredictNothing predicts a run with a storm after the last job: no verdict rests on the waits in it, which neither side
// has. An objective that takes simulations without storms adds none to what the engines did.
func TestPredictNothing(t *testing.T) {
	s, f, stdout, _ := predictSession(t, `
duration: 20s
warmup: 0s
jobs: [{class: mail, arrivals: {process: constant, rate: 50/s, stop: 10s}, service: 10ms}]
storms: [{name: late, at: 15s, for: 2s, fail: {hits: [mail], rate: 90%, error: unavailable}}]
policies: [{kind: fifo}]
objectives: [{metric: slowdown, below: 2}]
`)
	got, _ := predictOne(t, s, f, stdout)
	judged := 0
	for _, m := range got.Metrics {
		if m.Aimed {
			judged++
		}
		if during := m.Name == "fresh.wait.p99 during late"; during && (m.Aimed || m.Why != "" || m.Error != 0) {
			t.Errorf("%+v", m)
		}
	}
	if judged != 5 {
		t.Errorf("%d metrics are judged, want 5", judged)
	}
	if simulated, real := got.Mechanism[0].Attempts, got.Mechanism[1].Attempts; !(simulated < 1.5*real) {
		t.Errorf("%v attempts a second are simulated, %v were real", simulated, real)
	}
}

// TestPredictMovedStorm predicts a policy that moves the storm: the phases of the run are those with the storm where it is.
func TestPredictMovedStorm(t *testing.T) {
	s, f, stdout, _ := predictSession(t, `
duration: 20s
warmup: 0s
jobs: [{class: mail, arrivals: {process: constant, rate: 50/s}, service: 10ms}]
storms: [{name: down, at: 2s, for: 2s, fail: {hits: [mail], rate: 90%, error: unavailable}}]
policies: [{kind: fifo, with: {storms.down.at: 15s}}]
`)
	got, _ := predictOne(t, s, f, stdout)
	var phases []string
	for _, m := range got.Mechanism {
		phases = append(phases, fmt.Sprintf("%s from %v", m.Phase, m.From))
	}
	if want := []string{"calm from 0", "down from 15", "calm from 17", "drain from 20"}; !slices.Equal(slices.Compact(phases), want) {
		t.Errorf("%v, want %v", phases, want)
	}
}

// slowStore is a store that takes a given time for every claim.
type slowStore struct {
	*memstore.Store
	takes time.Duration
}

func (s *slowStore) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	select {
	case <-ctx.Done():
		return dst, engine.Forever, ctx.Err()
	case <-time.After(s.takes):
	}
	return s.Store.Claim(ctx, holder, p, ttl, dst)
}

// TestPredictMeasures predicts a run on a store whose claims take 20 ms: at 100x these are two
// seconds of the scenario, and half of the jobs wait a quarter of that in the simulation too, with
// the delays measured before the run and with those measured in it.
func TestPredictMeasures(t *testing.T) {
	const scenario = `
duration: 40s
warmup: 0s
drain: 10m
engine: {workers: 50, call-timeout: 20m, commit: {timeout: 20m}, lease: {ttl: 2h}}
jobs:
  - {class: mail, arrivals: {process: constant, rate: 2/s}, service: 10ms}
policies: [{kind: fifo}]
`
	const takes = 20 * time.Millisecond
	s, f, stdout, _ := predictSession(t, scenario)
	s.stores.around = func(store engine.Store) engine.Store { return &slowStore{store.(*memstore.Store), takes} }
	p, _ := predictOne(t, s, f, stdout) // it may be off
	if got := p.Machine.Calls["claim"]; got < takes.Seconds() {
		t.Errorf("a claim was measured to take %v s, and takes %v", got, takes)
	}
	least := f.speed.Virtual(takes / 4).Seconds()
	for _, m := range p.Metrics {
		if m.Name != "fresh.wait.p50" {
			continue
		}
		if m.Simulated < least {
			t.Errorf("half of the jobs waited %v s in the simulation, want at least %v", m.Simulated, least)
		}
		if want := m.Simulated/m.Real - 1; math.Abs(m.Error-want) > 1e-9 {
			t.Errorf("the error is %v, want %v", m.Error, want)
		}
		return
	}
	t.Errorf("it printed\n%s", stdout)
}

// TestMechanism predicts a run on a store whose claims take 20 ms, twice: the engines claim as
// often in the simulation as in the run, as many jobs each time, and with as few wakes.
func TestMechanism(t *testing.T) {
	s, f, stdout, _ := predictSession(t, `
duration: 60s
warmup: 0s
drain: 10m
engine: {workers: 50, call-timeout: 20m, commit: {timeout: 20m}, lease: {ttl: 2h}}
jobs:
  - {class: mail, arrivals: {process: constant, rate: 4/s}, service: 10ms}
policies: [{kind: fifo}]
`)
	f.rounds = 2
	s.stores.around = func(store engine.Store) engine.Store {
		return &slowStore{store.(*memstore.Store), 20 * time.Millisecond}
	}
	p, _ := predictOne(t, s, f, stdout) // a busy machine may have it miss its aims
	if p.Rounds != 2 || len(p.Seeds) != 1 || len(p.Mechanism) != 4 {
		t.Fatalf("%d rounds of seeds %v, mechanism %v", p.Rounds, p.Seeds, p.Mechanism)
	}
	simulated, real := p.Mechanism[0], p.Mechanism[1]
	near := func(what string, got, want, share float64) {
		if !(math.Abs(got-want) <= share*want) {
			t.Errorf("%s: %v in the simulation, %v in the run", what, got, want)
		}
	}
	near("attempts a second", simulated.Attempts, 400, .1)
	near("attempts a second", real.Attempts, 400, .1)
	near("claims a second", simulated.Claims, real.Claims, .3)
	near("rows a claim", simulated.Claimed, real.Claimed, .3)
	near("a claim", simulated.Claim, real.Claim, .3)
	if simulated.Phase != "calm" || simulated.Of != "simulated" || real.Of != "real" || math.Abs(simulated.Woken-real.Woken) > .2 {
		t.Errorf("simulated %+v\nreal %+v", simulated, real)
	}
	for _, m := range p.Metrics {
		if m.Name == "throughput" && m.Floor > .2 {
			t.Errorf("two runs of 400 jobs a second differ by %v", m.Floor)
		}
	}
}

// TestFloor judges a prediction by how far real runs of one seed lie from their mean, and each round by how far their
// mean lies from its run: as a prediction, the mean is within that for every round.
func TestFloor(t *testing.T) {
	query := measure.Query{Metric: "throughput"}
	of := func(v float64, null bool) measure.Run {
		return measure.Run{Values: []measure.Value{{Query: query, Value: v, Null: null}}}
	}
	row := &predicted{Query: query, Real: 100}
	for _, tt := range []struct {
		name string
		runs []measure.Run
		want [2]float64
	}{
		{"one", []measure.Run{of(100, false)}, [2]float64{}},
		{"three", []measure.Run{of(80, false), of(110, false), of(110, false)}, [2]float64{.2, .25}},
		{"a value of 0", []measure.Run{of(0, false), of(80, false), of(220, false)}, [2]float64{1.2, 1 - 100/220.}},
		{"one without a value", []measure.Run{of(80, false), of(0, true)}, [2]float64{}},
		{"none", []measure.Run{{}, {}}, [2]float64{}},
	} {
		floor, one := (&prediction{real: tt.runs}).floorsOf(row)
		if math.Abs(floor-tt.want[0]) > 1e-9 || math.Abs(one-tt.want[1]) > 1e-9 {
			t.Errorf("%s: the floors are %v and %v, want %v", tt.name, floor, one, tt.want)
		}
	}
	ideal := &prediction{real: []measure.Run{of(25, false), of(175, false)}}
	ideal.simulated = []measure.Run{of(100, false), of(100, false)}
	ideal.rows = []predicted{{Query: query, Aimed: true, ByRound: ideal.errorsByRound(query)}}
	if _, ideal.rows[0].OneFloor = ideal.floorsOf(row); ideal.roundsMet() != 2 {
		t.Errorf("%d of two real runs are within the floor of their mean, want both", ideal.roundsMet())
	}
	far := &prediction{rows: []predicted{{Aimed: true, Error: .3, Floor: .25}}}
	f := &predictFlags{within: scenarios.Share{Num: 1, Den: 10}}
	if worstOf([]*prediction{far}, f) != ui.ExitMissed {
		t.Error("an error above the floor meets the aim")
	}
	if far.rows[0].Floor = .31; worstOf([]*prediction{far}, f) != ui.ExitMet {
		t.Error("an error below the floor misses the aim")
	}
}

// TestRoundsAlone judges each round by its own real run, of which one is far from the others and one has no value.
func TestRoundsAlone(t *testing.T) {
	query := measure.Query{Metric: "throughput"}
	of := func(values ...float64) (runs []measure.Run) {
		for _, v := range values {
			runs = append(runs, measure.Run{Values: []measure.Value{{Query: query, Value: v, Null: v == 0}}})
		}
		return runs
	}
	p := &prediction{aim: .15, simulated: of(90, 80, 100, 100), real: of(100, 100, 100, 0)}
	errs := p.errorsByRound(query)
	for i, want := range []float64{-.1, -.2, 0} {
		if math.Abs(errs[i]-want) > 1e-9 {
			t.Errorf("round %d is off by %v, want %v", i, errs[i], want)
		}
	}
	if !math.IsNaN(errs[3]) {
		t.Errorf("a round without a value is off by %v", errs[3])
	}
	p.rows = []predicted{{Query: query, Aimed: true, ByRound: errs}, {ByRound: []float64{9, 9, 9, 9}}}
	if got := p.roundsMet(); got != 2 {
		t.Errorf("%d rounds are within the aim, want 2", got)
	}
	if p.rows[0].OneFloor = .25; p.roundsMet() != 3 {
		t.Errorf("%d rounds are within the floor, want 3", p.roundsMet())
	}
}

// TestHindsight predicts two runs: they were simulated with the delays of both calibrations in turn, and in hindsight
// with those of the run itself.
func TestHindsight(t *testing.T) {
	s, f, _, _ := predictSession(t, `
duration: 20s
warmup: 0s
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 10/s}, service: 10ms}
policies: [{kind: fifo}]
`)
	sc, err := s.loadScenario()
	if err != nil {
		t.Fatal(err)
	}
	before := world.Stalls{Over: time.Minute}
	for at := time.Duration(0); at < before.Over; at += 50 * time.Millisecond {
		before.Store = append(before.Store, world.Span{From: at, For: 20 * time.Millisecond})
	}
	p := &prediction{candidate: s.candidates(sc)[0], stalls: new(world.Stalls)}
	*p.stalls = before
	f.rounds = 2
	if err := s.predict(t.Context(), sc, p, f); err != nil {
		t.Fatal(err)
	}
	if len(p.measured) != 2 {
		t.Fatalf("%d calibrations for 2 rounds", len(p.measured))
	}
	known := p.measured[0].Stalls // of a minute before and of both calibrations
	if got, want := p.stalls.Over, known.Over+p.played[0].took+p.played[1].took; got != want || known.Over <= time.Minute+p.calibration.delays.Stalls.Over {
		t.Errorf("stalls of %v are known, want those of the calibrations, %v, and of the runs, %v", got, known.Over, want)
	}
	var again []measure.Run
	for _, tt := range []struct {
		delays   []*world.Delays
		from, to int
	}{
		{p.measured, 0, simulations},
		{[]*world.Delays{&p.played[0].timings.delays}, 0, 1},
		{[]*world.Delays{p.measured[1], p.measured[0]}, 0, simulations},
		{[]*world.Delays{&p.calibration.delays}, 0, simulations}, // without earlier stalls
		{p.measured, simulations, 2 * simulations},
	} {
		overlays := plain.Map(tt.delays, (*world.Delays).Overlay)
		if err := p.simulate(t.Context(), sc, sc.Seed, overlays, tt.from, tt.to, nil, &again); err != nil {
			t.Fatal(err)
		}
		for _, d := range tt.delays {
			if len(d.Wake) == 0 {
				t.Error("no wake was measured")
			}
		}
	}
	for i, delays := range [][]*world.Delays{p.measured, p.measured[1:], p.measured[:1]} { // of two in turn, draw 1 is the second's
		if err := p.simulate(t.Context(), sc, sc.Seed, plain.Map(delays, (*world.Delays).Overlay), 1, 2, nil, &again); err != nil {
			t.Fatal(err)
		}
		if same := again[5+i].Fingerprint == again[5].Fingerprint; same != (i < 2) {
			t.Errorf("draw 1 of both calibrations, of the second, of the first: %d is the same as the first: %v", i, same)
		}
	}
	for i := range again[:4] {
		if again[4].Fingerprint == again[i].Fingerprint || i > 0 && again[0].Fingerprint == again[i].Fingerprint {
			t.Fatal("other delays, draws or stalls make no difference: it shows nothing")
		}
	}
	if p.simulated[0].Fingerprint != again[0].Fingerprint || p.simulated[1].Fingerprint != again[4].Fingerprint {
		t.Error("it was not simulated with the delays of both calibrations in turn and all stalls known before")
	}
	if p.hindsight[0].Fingerprint != again[1].Fingerprint {
		t.Error("in hindsight it was not simulated with the delays of the run")
	}
}

// TestChanges lists the durations that differ between run and calibration, and no others.
func TestChanges(t *testing.T) {
	const ms = time.Millisecond
	was := &timings{delays: world.Delays{Overrun: []world.Sample{{For: ms}, {For: ms}, {For: 4 * ms}}}, stalled: .01, held: .02}
	was.took[engine.OpClaim], was.took[engine.OpCommit] = 3*ms, 5*ms
	is := *was
	p := &prediction{calibration: was, played: []*played{{timings: &is}}}
	if got := p.changes(); len(got) != 0 {
		t.Errorf("nothing has changed: %q", got)
	}
	is.delays.Overrun = []world.Sample{{For: ms}, {For: ms}, {For: 10 * ms}} // the median is the same, and the capacity is not
	is.took[engine.OpCommit], is.stalled = 9*ms, .2
	want := []string{
		"workers were busy longer than their handlers were to take by (mean) 4ms in the run, 2ms in the calibration",
		"a commit took 9ms in the run, 5ms in the calibration",
		"engines were held up for 20.0% of the time in the run, 1.0% in the calibration",
	}
	if got := p.changes(); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestPredictInterrupted interrupts the second of two predictions: the first is printed, and
// no other.
func TestPredictInterrupted(t *testing.T) {
	const scenario = `
duration: 20s
warmup: 0s
jobs:
  - {class: mail, arrivals: {process: constant, rate: 10/s}, service: 10ms}
policies: [{kind: fifo, label: first}, {kind: fifo, label: second}]
`
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s, f, stdout, stderr := predictSession(t, scenario)
	opens := 0
	s.stores.around = func(store engine.Store) engine.Store {
		if opens++; opens == 3 {
			interrupt()
		}
		return store
	}
	err := s.predictAll(ctx, f)
	var failure *ui.Failure
	if !errors.As(err, &failure) || failure.Exit != ui.ExitInterrupted || failure.Err != nil {
		t.Errorf("it ended with %v, want exit %d and no word", err, ui.ExitInterrupted)
	}
	if strings.Count(stdout.String(), "1 round") != 1 || !strings.Contains(stdout.String(), "   first, memory   ") || !strings.Contains(stderr.String(), "lost 0, duplicates 0") {
		t.Errorf("it printed\n%s\nand\n%s", stdout, stderr)
	}
}

// TestRunInterrupted interrupts the second of three rounds of a scenario: the result of the first is marked partial.
func TestRunInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s, f, stdout, stderr := predictSession(t, `
duration: 20s
warmup: 0s
jobs:
  - {class: mail, arrivals: {process: constant, rate: 10/s}, service: 10ms}
`)
	f.rounds, f.format = 3, "json"
	opens := 0
	s.stores.around = func(store engine.Store) engine.Store {
		if opens++; opens == 2 {
			interrupt()
		}
		return store
	}
	var failure *ui.Failure
	if err := s.runScenario(ctx); !errors.As(err, &failure) || failure.Exit != ui.ExitInterrupted {
		t.Errorf("it ended with %v, want exit %d", err, ui.ExitInterrupted)
	}
	if !strings.Contains(stdout.String(), `"partial": true`) || !strings.Contains(stderr.String(), "partial: 1 of 3 seeds finished") {
		t.Errorf("it printed\n%.300s\nand\n%s", stdout, stderr)
	}
}

// TestGateOfPrediction closes for an aimed metric that is further off than allowed, for one
// that has no error, and for a run that was not the scenario however small its errors are.
func TestGateOfPrediction(t *testing.T) {
	row := func(aimed bool, err float64) []predicted { return []predicted{{Aimed: aimed, Error: err}} }
	none, tenth := scenarios.Share{Num: -1}, scenarios.Share{Num: 1, Den: 10}
	for _, tt := range []struct {
		name   string
		within scenarios.Share
		rows   []predicted
		unfed  int64
		want   ui.Exit
	}{
		{"close", tenth, row(true, -.1), 0, ui.ExitMet},
		{"far", tenth, row(true, -.11), 0, ui.ExitMissed},
		{"without an error", tenth, row(true, math.NaN()), 0, ui.ExitMissed},
		{"far, and only shown", tenth, row(false, 5), 0, ui.ExitMet},
		{"cut short", tenth, row(true, 0), 1, ui.ExitMissed},
		{"off, by its aim", none, row(true, .11), 0, ui.ExitMissed},
		{"within its aim", none, row(true, .09), 0, ui.ExitMet},
	} {
		f := &predictFlags{within: tt.within}
		if got := worstOf([]*prediction{{aim: .1, rows: tt.rows, played: []*played{{unfed: tt.unfed}}}}, f); got != tt.want {
			t.Errorf("%s: exit %d, want %d", tt.name, got, tt.want)
		}
	}
}

// The title is of the worst metric that is judged, not of the best.
func TestTitleOfPrediction(t *testing.T) {
	row := func(metric string, err float64, aimed, missed bool) predicted {
		r := predicted{Query: measure.Query{Metric: metric}, Aimed: aimed, Error: err}
		if missed {
			r.Why = "it is"
		}
		return r
	}
	close := row("fresh.wait.p99", .014, true, false)
	for _, tt := range []struct {
		rows  []predicted
		held  float64
		unfed int64
		want  string
	}{
		{[]predicted{close, row("throughput", -.021, true, false)}, .6, 0, "The simulation predicts fifo on memory at 20x within 3%, in all 2 metrics that it is judged by"},
		{[]predicted{close, row("fresh.wait.p50", 13.7, true, false), row("throughput", -.1, true, false)}, .6, 0,
			"The simulation predicts fifo on memory at 20x within 10% in 2 of 3 judged metrics, and is off in the rest by no more than one real run"},
		{[]predicted{close, row("fresh.wait.p50", 1.397, true, true), row("dead.count", 9, false, false)}, 0, 0,
			"The simulation of fifo on memory at 20x is off by 140% in the median wait of fresh jobs; 1 of 2 judged metrics are within 10%"},
		{[]predicted{close, row("fresh.wait.p50", 1.397, true, true), row("throughput", .3, true, false)}, 0, 0,
			"The simulation of fifo on memory at 20x is off by 140% in the median wait of fresh jobs; 1 of 3 judged metrics are within 10%"},
		{[]predicted{close, row("fresh.wait.p50", 1.397, true, true)}, .48, 0,
			"The simulation of fifo on memory at 20x is off by 140% in the median wait of fresh jobs; 1 of 2 judged metrics are within 10%: the machine was too busy, arrivals were held up for 48% of the time"},
		{[]predicted{close, row("duplicates.count", math.Inf(1), true, true)}, 0, 0,
			"The simulation of fifo on memory at 20x is wrong about the duplicates; 1 of 2 judged metrics are within 10%"},
		{[]predicted{close}, 0, 7, "Not a fair test of fifo on memory at 20x: " + neverEnqueued(7)},
	} {
		p := &prediction{candidate: &candidate{policy: "fifo", store: "memory"}, aim: .1, rows: tt.rows, calibration: &timings{held: tt.held}, played: []*played{{unfed: tt.unfed}}}
		if got := p.title("20x"); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// cliff is a prediction of a run in which all but one in a hundred jobs at the edge of a
// cliff are as simulated: p50 is 60 ms in the run and 1 s in the simulation.
func cliff() *prediction {
	pooled := func(query measure.Query, below, above int, unresolved int) []measure.NamedHistogram {
		n := measure.NamedHistogram{Query: query}
		for i := range below {
			n.Ended.Record(time.Duration(i+1) * 60 * time.Millisecond / 500)
		}
		for i := range above {
			n.Ended.Record(time.Second + time.Duration(i)*80*time.Millisecond)
		}
		for range unresolved {
			n.Unresolved.Record(time.Minute)
		}
		return []measure.NamedHistogram{{Query: measure.Query{Metric: "fresh.wait"}}, n}
	}
	query := measure.Query{Metric: "fresh.wait", During: "down"}
	return &prediction{
		candidate: new(candidate), aim: .15, calibration: new(timings), played: []*played{{timings: new(timings)}},
		mechanics: [2]*world.Mechanics{new(world.Mechanics), new(world.Mechanics)},
		summary:   &results.Summary{Data: []results.PolicyData{{Pooled: pooled(query, 486, 504, 10)}, {Pooled: pooled(query, 500, 490, 10)}}},
	}
}

// TestApart computes the error of a quantile at a cliff in numbers of jobs.
func TestApart(t *testing.T) {
	p := cliff()
	row := predicted{Query: measure.Query{Metric: "fresh.wait.p50", During: "down"}, Unit: "s", Simulated: 1.08, Real: .06, Error: 17, Hindsight: .01, Aimed: true}
	row.Why, row.JobsWithin = p.why(&row, world.Speed{Num: 20, Den: 1}), p.apartAt(&row)
	p.rows, p.real = []predicted{row}, make([]measure.Run, 1)
	text := string(p.table(&scenarios.Scenario{Name: "steep"}, "20x", layout.TableOptions{}))
	for _, want := range []string{
		"+1700.0% ✗\n",
		"with the delays of the run itself the simulation is off by +1.0%: the delays in the run were not those of the calibration",
		"of the jobs 50.0% waited no longer than that in the run and 48.6% in the simulation, 1.4 points apart",
		"the run's p45 is 54ms and its p55 4.9s: a cliff, and few jobs decide",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var parsed predictionJSON
	printed, err := predictionsJSON(&scenarios.Scenario{}, "20x", []*prediction{p})
	if err != nil || json.Unmarshal(printed, &parsed) != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if e := parsed.Predictions[0].Metrics[0]; e.Error != 17 || e.Hindsight != .01 || e.JobsWithin == nil || e.JobsWithin.Real != .5 || e.JobsWithin.Simulated != .486 || !strings.Contains(e.Why, "1.4 points") {
		t.Errorf("it printed\n%s", printed)
	}
	for _, other := range []predicted{
		{Query: measure.Query{Metric: "throughput"}, Real: 100, Simulated: 50},
		{Query: measure.Query{Metric: "fresh.wait.p50"}, Real: 1, Simulated: 50},              // nobody waited
		{Query: measure.Query{Metric: "sojourn.p50", During: "down"}, Real: 1, Simulated: 50}, // nobody asked
		{Query: measure.Query{Metric: "fresh.wait.p50", During: "down"}, Real: math.NaN(), Simulated: 1},
	} {
		if a := p.apartAt(&other); a != nil {
			t.Errorf("%v of %v: %v", other.Query, other.Real, a)
		}
	}
	// Without a step in it, the distribution is no cliff however few jobs it is off by; and
	// jobs that still wait are longer than all others.
	row.Metric, row.Real = "fresh.wait.p99", 38.2
	a := p.apartAt(&row)
	if a == nil || digits(a.quantiles[0]) != "98.5" || a.around[1] < 59*time.Second || math.Abs(a.Real-.968) > .0021 || strings.Contains(a.String(), "cliff") {
		t.Errorf("of the p99: %+v, %v", a, a)
	}
}

// TestQuantileOf checks which histogram and quantile of it a metric stands for, if any.
func TestQuantileOf(t *testing.T) {
	for _, tt := range []struct {
		metric, family string
		q              float64
	}{
		{"fresh.wait.p50", "fresh.wait", .5}, {"sojourn.p999", "sojourn", .999}, {"retry.wait.p99", "retry.wait", .99},
		{"fresh.wait.mean", "", 0}, {"throughput", "", 0}, {"a.p", "", 0}, {"drain.phase", "", 0},
	} {
		info, _ := measure.Lookup(tt.metric)
		histogram, known := measure.HistogramOf(measure.Query{Metric: tt.metric})
		if histogram.Metric != tt.family || known != (tt.q != 0) || info.Quantile != tt.q {
			t.Errorf("%s: %s, %v", tt.metric, histogram.Metric, info.Quantile)
		}
	}
}
