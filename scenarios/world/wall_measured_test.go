package world

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
)

// delayedEvents simulates a scenario of one policy with measured delays and returns its events.
func delayedEvents(t *testing.T, text string, o *Overlay) (all events) {
	t.Helper()
	if _, err := Run(context.Background(), loadWall(t, text), Options{Alter: func(policy int, seed uint64, cfg *sim.Config) {
		o.Alter(policy, seed, cfg)
		cfg.Recorder = engine.RecordJobs(cfg.Recorder, &all)
	}}); err != nil {
		t.Fatal(err)
	}
	return all
}

// events is a recorder that keeps all events of a run.
type events []engine.Event

// Record implements engine.Recorder.
func (l *events) Record(e *engine.Event) { *l = append(*l, *e) }

// of returns the recorded events of one kind.
func (l events) of(kind engine.EventKind) (all events) {
	for _, e := range l {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

const oneByOne = `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 4, fetch: {poll: 1h}, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 1/s}, service: 100ms}]
`

// TestDelaysOfMoments measures claims that take 30 ms in every second second. In a simulation at ten times the speed they take
// 0.3 s from second 10 to 20 of each 20, and no time before; a second simulation begins elsewhere in the measured run.
func TestDelaysOfMoments(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(0), Phases: []Phase{{Measured: Span{For: 2 * time.Second}, Steady: true}}}
	for at := time.Duration(0); at < 2*time.Second; at += 5 * time.Millisecond {
		c := CallDelay{At: at}
		if at >= time.Second {
			c.Request = 30 * time.Millisecond
		}
		d.Calls[engine.OpClaim] = append(d.Calls[engine.OpClaim], c)
	}
	slices.Reverse(d.Calls[engine.OpClaim])
	var slow [2][]bool
	for draw := range slow {
		o := d.Overlay()
		o.Draw = uint64(draw)
		turned := o.turned(&o.delays.Phases[0])
		if (turned != 0) != (draw == 1) {
			t.Errorf("simulation %d begins at %v of the measured run", draw, turned)
		}
		leased := delayedEvents(t, oneByOne, o).of(engine.Leased)
		if len(leased) != 100 {
			t.Fatalf("%d jobs were claimed, want 100", len(leased))
		}
		for _, e := range leased {
			at := (time.Duration(e.At) - e.Waited + turned) % (20 * time.Second)
			edge := min((at % (10 * time.Second)).Abs(), 10*time.Second-at%(10*time.Second)) // where both are near
			if want := at >= 10*time.Second; edge > time.Second && (e.Waited == 300*time.Millisecond) != want {
				t.Errorf("simulation %d: a job waited %v at %v of the measured run", draw, e.Waited, at)
			}
			slow[draw] = append(slow[draw], e.Waited > 0)
		}
	}
	if slices.Equal(slow[0], slow[1]) {
		t.Error("both simulations have the same slow claims")
	}
}

// TestWholeCalls draws the way to the store and the way back from the same measured call.
func TestWholeCalls(t *testing.T) {
	const ms = time.Millisecond
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(0)}
	d.Calls[engine.OpClaim] = []CallDelay{{Request: 20 * ms}, {Reply: 20 * ms}, {Request: 10 * ms, Reply: 10 * ms}}
	all := delayedEvents(t, oneByOne, d.Overlay())
	ways, came := map[time.Duration]int{}, map[engine.JobID]engine.Time{}
	for _, e := range all {
		switch e.Kind {
		case engine.Enqueued:
			came[e.Job] = e.At
		case engine.Leased:
			ways[e.Waited]++
		case engine.Started:
			if took := e.At.Sub(came[e.Job]); took != 200*ms {
				t.Errorf("job %d began after %v, want 0.2 s", e.Job, took)
			}
		}
	}
	if len(ways) != 3 {
		t.Errorf("requests took %v, want three durations", ways)
	}
}

// TestEndsTogether has handlers overrun by up to 20 ms: those of one claim that run equally long end together, and
// those of other claims have overruns of their own.
func TestEndsTogether(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Wake: always(0)}
	for i := range time.Duration(20) {
		d.Overrun = append(d.Overrun, Sample{For: i * time.Millisecond})
	}
	finished := delayedEvents(t, `
duration: 100s
warmup: 0s
seeds: 1
engine: {workers: 20, fetch: {poll: 1h}, commit: {linger: 0s}}
jobs: [{class: mail, arrivals: {process: batch, size: 20, every: 10s}, service: 1s}]
`, d.Overlay()).of(engine.Finished)
	perEnd, ran := map[engine.Time]int{}, map[time.Duration]bool{}
	for _, e := range finished {
		perEnd[e.At]++
		ran[e.Ran] = true
	}
	if len(finished) < 160 || len(perEnd) > 2*len(finished)/20 || len(ran) < 4 {
		t.Errorf("%d executions ended at %d times, after %d durations", len(finished), len(perEnd), len(ran))
	}
}

// TestNear draws from the values near a time, and from more where there are few.
func TestNear(t *testing.T) {
	samples := func(every time.Duration) []Sample {
		all := make([]Sample, 100)
		for i := range all {
			all[i].At = time.Duration(i) * every
		}
		return all
	}
	all := Span{For: unrepeated}
	dense, sparse := samples(1), samples(100)
	for _, tt := range []struct {
		name       string
		of         []Sample
		in         Span
		t, half    time.Duration
		first, end time.Duration // times of the first and the last value drawn
	}{
		{"within", dense, all, 50, 10, 40, 60},
		{"at the start", dense, all, 0, 10, 0, 10},
		{"at the end", dense, all, 99, 10, 89, 99},
		{"after the end", dense, all, 500, 10, 92, 99},
		{"few", sparse, all, 5000, 10, 4700, 5400},
		{"few at the start", sparse, all, 10, 10, 0, 700},
		{"few at the end", sparse, all, 9890, 10, 9200, 9900},
		{"in a part", dense, Span{45, 10}, 50, 10, 45, 54},
		{"at the start of a part", dense, Span{45, 30}, 46, 10, 45, 56},
		{"few in a part", sparse, Span{5000, 1000}, 5100, 10, 5000, 5700},
		{"too few in a part", sparse, Span{5000, 300}, 5000, 10, 4700, 5400},
	} {
		first, last := near(tt.of, tt.t, tt.half, tt.in, 1e-9), near(tt.of, tt.t, tt.half, tt.in, 1-1e-9)
		if first.At != tt.first || last.At != tt.end {
			t.Errorf("%s: from %d to %d, want %d to %d", tt.name, first.At, last.At, tt.first, tt.end)
		}
	}
	if got := near([]Sample{{For: 3}}, 1000, 1, all, .5); got.For != 3 {
		t.Errorf("of one value it draws %v", got)
	}
	if got := near([]Sample{}, 0, 1, all, .5); got != (Sample{}) {
		t.Errorf("of no values it draws %v", got)
	}
}

// TestStallsOfRuns: the stalls of two runs follow each other, and are repeated together; a second simulation begins elsewhere.
func TestStallsOfRuns(t *testing.T) {
	all := Stalls{Arrivals: []Span{{5, 5}}, Store: []Span{{10, 5}}, Over: 20}
	all.Append(&Stalls{Engines: [][]Span{{{1, 2}}, nil}, Store: []Span{{0, 1}, {29, 1}}, Over: 30})
	d := &Delays{Speed: Speed{Num: 1, Den: 1}, Stalls: all}
	for _, tt := range []struct {
		draw                    uint64
		engine, arrivals, store []Span
	}{
		{0, []Span{{21, 2}, {71, 2}}, []Span{{5, 5}, {55, 5}}, []Span{{10, 5}, {20, 1}, {49, 1}, {60, 5}, {70, 1}, {99, 1}}},
		{1, []Span{{41, 2}, {91, 2}}, []Span{{25, 5}, {75, 5}}, []Span{{19, 1}, {30, 5}, {40, 1}, {69, 1}, {80, 5}, {90, 1}}}, // 30 later: .618 of 50
	} {
		o := d.Overlay()
		o.Draw = tt.draw
		for i, of := range []struct{ spans, want []Span }{{o.delays.Stalls.Engines[0], tt.engine}, {o.delays.Stalls.Arrivals, tt.arrivals}, {o.delays.Stalls.Store, tt.store}} {
			got := o.repeated(100, o.always, of.spans)
			if !slices.Equal(got, of.want) {
				t.Errorf("simulation %d, list %d: %v, want %v", tt.draw, i, got, of.want)
			}
		}
	}
}

// TestStallsOfNodes: a node that a run lacks has the stalls of its last node.
func TestStallsOfNodes(t *testing.T) {
	var all Stalls
	all.Append(&Stalls{Engines: [][]Span{{{1, 1}}}, Over: 10})
	all.Append(&Stalls{Engines: [][]Span{{{2, 1}}, {{3, 1}}}, Over: 10})
	all.Append(&Stalls{Engines: [][]Span{{{4, 1}}}, Over: 10})
	if want := [][]Span{{{1, 1}, {12, 1}, {24, 1}}, {{1, 1}, {13, 1}, {24, 1}}}; all.Over != 30 || !reflect.DeepEqual(all.Engines, want) {
		t.Errorf("%v over %d, want %v", all.Engines, all.Over, want)
	}
}

// TestHeldByPhases: short delays of arrivals are repeated with the parts of the measured run that have them.
func TestHeldByPhases(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 1, Den: 1}, Held: []Span{{5, 5}, {35, 1}, {69, 1}, {70, 1}},
		Phases: []Phase{{Measured: Span{0, 20}, Steady: true}, {From: 100, Measured: Span{20, 50}}}}
	for draw, want := range [][]Span{{{5, 5}, {25, 5}, {45, 5}, {65, 5}, {85, 5}, {115, 1}, {149, 1}, {165, 1}},
		{{13, 5}, {33, 5}, {53, 5}, {73, 5}, {93, 5}, {115, 1}, {149, 1}, {165, 1}}} {
		o := d.Overlay()
		o.Draw = uint64(draw)
		got := o.repeated(170, o.delays.Phases, o.delays.Held)
		if !slices.Equal(got, want) {
			t.Errorf("simulation %d: %v, want %v", draw, got, want)
		}
	}
}

// TestPhases looks up the measured times that stand for times of the scenario.
func TestPhases(t *testing.T) {
	d := &Delays{Speed: Speed{Num: 10, Den: 1}, Phases: []Phase{{Measured: Span{0, 2}}, {From: 100, Measured: Span{2, 5}}, {From: 150, Measured: Span{7, 2}}}}
	for now, want := range map[time.Duration]time.Duration{0: 0, 45: 5, 99: 19, 100: 20, 149: 69, 150: 70, 175: 75} {
		if got, _ := d.Overlay().measuredAt(now); got != want {
			t.Errorf("%d stands for %d, want %d", now, got, want)
		}
	}
	alike := new(Delays).Overlay()
	alike.Draw = 1
	if got, _ := alike.measuredAt(175); got != 175 {
		t.Errorf("without phases 175 stands for %d", got)
	}
}

// timetable is a workload of jobs that arrive at given times.
type timetable []engine.Time

// Next returns the next arrival of the timetable.
func (a *timetable) Next(*engine.NewJob) (engine.Time, bool) {
	if len(*a) == 0 {
		return 0, false
	}
	at := (*a)[0]
	*a = (*a)[1:]
	return at, true
}

// TestHeldUp delays the jobs that arrive in spans, which may overlap, to the end of the last of these.
func TestHeldUp(t *testing.T) {
	jobs := timetable{1, 4, 6, 11, 20, 21, 25}
	w := &heldUp{Workload: &jobs, spans: []Span{{2, 8}, {3, 2}, {20, 2}, {21, 3}}}
	var got []engine.Time
	var j engine.NewJob
	for at, ok := w.Next(&j); ok; at, ok = w.Next(&j) {
		got = append(got, at)
	}
	if want := []engine.Time{1, 10, 10, 11, 22, 24, 25}; !slices.Equal(got, want) {
		t.Errorf("jobs arrive at %v, want %v", got, want)
	}
}
