package bench

import (
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

func TestSpans(t *testing.T) {
	spans := merged([]world.Span{{From: 50, For: 10}, {From: 10, For: 5}, {From: 12, For: 8}, {From: 20, For: 1}, {From: 90, For: 10}})
	want := []world.Span{{From: 10, For: 11}, {From: 50, For: 10}, {From: 90, For: 10}}
	if !slices.Equal(spans, want) {
		t.Fatalf("merged to %v, want %v", spans, want)
	}
	for _, tt := range []struct{ from, to, want time.Duration }{
		{0, 10, 0}, {0, 11, 1}, {15, 55, 11}, {0, 200, 31}, {61, 90, 0}, {95, 96, 1}, {30, 20, 0}, {100, 300, 0},
	} {
		if got := within(spans, tt.from, tt.to); got != tt.want {
			t.Errorf("%v of [%v, %v) lie in them, want %v", got, tt.from, tt.to, tt.want)
		}
	}
	if got := shareOf(spans, 310); got != .1 {
		t.Errorf("they are %v of 310, want 0.1", got)
	}
	if merged(nil) != nil || within(nil, 0, 100) != 0 {
		t.Error("nothing is something")
	}
}

// TestLearn compares measured delays with those computed by hand from a probe's records: a claim caused by a wake, a
// call delayed by a stall, and executions longer than requested.
func TestLearn(t *testing.T) {
	const ms = time.Millisecond
	p := new(probe)
	asked := map[time.Duration]time.Duration{10 * ms: ms / 2, 50 * ms: 3 * ms} // how long before its begin a call was asked for
	call := func(op engine.Op, began, ended, known time.Duration, rows int) {
		p.tell(&engine.Call{Op: op, Woken: op == engine.OpClaim && began < 20*ms}, engine.Time(began-asked[began]), engine.Time(began), engine.Time(ended))
		p.Record(&engine.Event{Kind: engine.Called, Op: op, At: engine.Time(known), Count: int32(rows)})
	}
	started := func(job engine.JobID, at time.Duration) {
		p.Record(&engine.Event{Kind: engine.Started, Job: job, Delivery: 1, At: engine.Time(at)})
	}
	finished := func(job engine.JobID, at time.Duration) {
		p.Record(&engine.Event{Kind: engine.Finished, Job: job, Delivery: 1, At: engine.Time(at)})
	}
	call(engine.OpClaim, 10*ms, 12*ms, 13*ms, 2) // took 2, of which one further job is 1; the answer lay for 1
	started(1, 13*ms)
	started(2, 13*ms)
	call(engine.OpClaim, 20*ms, 21*ms, 41*ms, 10)
	finished(1, 41*ms) // was to end at 23, and the stall was from 21 on
	finished(2, 46*ms) // was to end at 43
	call(engine.OpCommit, 50*ms, 54*ms, 54*ms, 1)
	var perJob [engine.NumOps]time.Duration
	perJob[engine.OpClaim] = ms
	p.late = []world.Span{{From: 5 * ms, For: ms}, {From: 40 * ms, For: 3 * ms}} // of the second, 1 ms is of the stall
	p.wakes = []wake{{at: 9*ms + ms/2}}
	got := learn(&recording{probes: []*probe{p}}, map[attempt]time.Duration{{1, 1}: 10 * ms, {2, 1}: 30 * ms}, perJob,
		&feeding{made: []world.Span{{From: 0, For: 6 * ms}, {From: 4 * ms, For: 4 * ms}, {From: 9 * ms, For: 2 * ms}}},
		world.Speed{Num: 20, Den: 1}, 12*ms)
	if coming, after := got.coming[engine.OpClaim], got.after[engine.OpClaim]; coming != 2*ms || after != ms {
		t.Errorf("claims take %v while jobs come, which is until the first one's end, and %v after it, want 2ms and 1ms", coming, after)
	}
	d := &got.delays
	if want := []world.Sample{{At: 6 * ms, For: 3*ms + ms/2}}; !slices.Equal(d.Wake, want) {
		t.Errorf("wakes %v, want %v", d.Wake, want)
	}
	if want := []world.Sample{{At: 23 * ms}, {At: 43 * ms, For: 3 * ms}}; !slices.Equal(d.Overrun, want) {
		t.Errorf("overruns %v, want %v", d.Overrun, want)
	}
	if want := []world.Span{{From: 21 * ms, For: 20 * ms}, {From: 47 * ms, For: 3 * ms}}; !slices.Equal(d.Stalls.Engines[0], want) {
		t.Errorf("stalls %v, want %v", d.Stalls.Engines[0], want)
	}
	if want := []world.CallDelay{{At: 9*ms + ms/2, Request: ms, Reply: ms + ms/2}, {At: 20 * ms}}; !slices.Equal(d.Calls[engine.OpClaim], want) {
		t.Errorf("claims take %v, want %v", d.Calls[engine.OpClaim], want)
	}
	if want := []world.Sample{{At: 5 * ms, For: ms}, {At: 40 * ms, For: 2 * ms}}; !slices.Equal(d.Late, want) || d.Stalls.Store != nil {
		t.Errorf("late by %v, want %v; the store stood still at %v", d.Late, want, d.Stalls.Store)
	}
	if want := []world.CallDelay{{At: 47 * ms, Request: 2 * ms, Reply: 2 * ms}}; !slices.Equal(d.Calls[engine.OpCommit], want) {
		t.Errorf("commits take %v, want %v", d.Calls[engine.OpCommit], want)
	}
}

// TestWakes measures how long engines take to learn of new jobs: from when the jobs of the first enqueue since the wake
// before are found, without time in which the store or the engine stood still. Of two engines the first counts; a wake
// without an enqueue, and one that came late since no engine was idle, count not at all; and an enqueue that ends just
// after a wake is its reason.
func TestWakes(t *testing.T) {
	const ms = time.Millisecond
	rec := &recording{probes: []*probe{new(probe), new(probe)}}
	for _, w := range []wake{{10 * ms, 0, false}, {20 * ms, 0, false}, {50 * ms, 0, false}, {10*ms + 1, 1, false}, {30 * ms, 1, false},
		{60 * ms, 1, false}, {80 * ms, 1, false}, {100 * ms, 1, true}, {110 * ms, 1, false}} {
		rec.probes[w.node].wakes = append(rec.probes[w.node].wakes, w)
	}
	var enqueues []world.Span
	for _, end := range []time.Duration{4 * ms, 7 * ms, 13 * ms, 22 * ms, 45 * ms, 50*ms + promptly/2, 60*ms + 2*promptly, 90 * ms, 108 * ms} {
		enqueues = append(enqueues, world.Span{From: end - ms, For: ms})
	}
	slices.Reverse(enqueues)
	stalls := &world.Stalls{Store: []world.Span{{From: 14 * ms, For: 3 * ms}}, Engines: [][]world.Span{nil, {{From: 25 * ms, For: 4 * ms}}}}
	sample := func(at, took time.Duration) world.Sample { return world.Sample{At: at, For: took} }
	for _, tt := range []struct {
		after time.Duration
		want  []world.Sample
	}{
		{0, []world.Sample{sample(4*ms, 6*ms), sample(13*ms, 4*ms), sample(22*ms, 4*ms), sample(45*ms, 5*ms),
			sample(60*ms+2*promptly, 20*ms-2*promptly), sample(108*ms, 2*ms)}},
		{ms, []world.Sample{sample(5*ms, 5*ms), sample(14*ms, 3*ms), sample(23*ms, 3*ms), sample(46*ms, 4*ms),
			sample(51*ms+promptly/2, 9*ms-promptly/2), sample(61*ms+2*promptly, 19*ms-2*promptly), sample(109*ms, ms)}},
		{-3 * ms, []world.Sample{sample(3*ms, 7*ms), sample(12*ms, 5*ms), sample(21*ms, 5*ms), sample(44*ms, 6*ms), // as it begins
			sample(59*ms+2*promptly, ms-2*promptly), sample(107*ms, 3*ms)}},
	} {
		if got := wakes(rec.probes, enqueues, tt.after, stalls); !slices.Equal(got, tt.want) {
			t.Errorf("with jobs found after %v, wakes took %v, want %v", tt.after, got, tt.want)
		}
	}
	only := probe{wakes: []wake{{at: 50 * ms}}}
	if got := wakes([]*probe{&only}, []world.Span{{From: 50 * ms, For: promptly / 2}}, 0, stalls); len(got) != 1 || got[0].For != 0 {
		t.Errorf("a wake just before the end of an enqueue took %v, want no time", got)
	}
}

// TestVisibility has jobs claimed by two engines, most of them not found before 1 ms after their enqueue, at whose end
// three quarters of it count as wait. Jobs that were delayed, that nobody enqueued, or that a later claim passed over,
// show nothing. Claims take effect halfway through what is left without stalls and the time for further jobs.
func TestVisibility(t *testing.T) {
	const ms = time.Millisecond
	rec := &recording{probes: []*probe{new(probe), new(probe)}}
	var jobs []fed
	claim := func(node int, middle time.Duration, rows int, leased ...engine.Event) {
		p := rec.probes[node]
		began := engine.Time(middle - 2*ms)
		p.tell(&engine.Call{Op: engine.OpClaim}, began, began, began.Add(4*ms+time.Duration(rows-1)*ms))
		p.Record(&engine.Event{Kind: engine.Called, Op: engine.OpClaim, Count: int32(rows)})
		for _, e := range leased {
			e.Kind = engine.Leased
			p.Record(&e)
		}
	}
	job, end := engine.JobID(0), time.Duration(0)
	taken := func(before, at, counted time.Duration) { // each enqueue call takes 4 ms
		job++
		end += 100 * ms
		jobs = append(jobs, fed{job, end - 7*ms, 7 * ms, 4 * ms})
		waited := at + counted
		claim(int(job)%2, end+before, 1)
		delayed := engine.Event{Job: job, Waited: 30 * ms, Age: 40 * ms}
		unknown := engine.Event{Job: job + 100, Waited: 30 * ms, Age: 30 * ms}
		claim(1-int(job)%2, end+at, 5, delayed, engine.Event{Job: job, Waited: waited, Age: waited}, delayed, unknown, unknown)
	}
	taken(-ms, 2*ms, 3*ms)
	taken(-ms/2, ms, 3*ms)
	taken(ms/4, 3*ms, 3*ms)
	taken(-5*ms, ms/10, 0) // contradicts the others
	taken(ms/2, 2*ms, 9*ms)
	for range 9 {
		taken(30*ms, 50*ms, 0) // the claim before came after the enqueue
	}
	stall := []world.Span{{From: end + 200*ms, For: 6 * ms}}
	end += 199*ms - 100*ms
	taken(-10*ms, 5*ms/2, 3*ms) // it began half a ms before the stall, and its middle is 2 ms after that as without one
	last := &rec.probes[1-int(job)%2].samples[engine.OpClaim]
	(*last)[len(*last)-1].took += 6 * ms
	(*last)[len(*last)-1].ended += engine.Time(6 * ms)
	takings := rec.takings(jobs, stall, ms)
	if got, want := visibilityOf(takings), (visibility{ms / 2, .75}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if last := (taking{-10 * ms, 5 * ms / 2, 11 * ms / 2, 4 * ms}); len(takings) != 6 || !slices.Contains(takings, last) {
		t.Errorf("%d takings, want 6 with %v: %v", len(takings), last, takings)
	}
	for _, tt := range []struct {
		name string
		all  []taking
		want visibility
	}{
		{"nothing", nil, visibility{}},
		{"agreed around the end", []taking{{-ms, ms, 2 * ms, 2 * ms}}, visibility{0, .5}},
		{"agreed before the end", []taking{{-3 * ms, -2 * ms, -ms, 2 * ms}}, visibility{-2 * ms, .5}},
		{"agreed after the end", []taking{{2 * ms, 3 * ms, 9 * ms, 2 * ms}}, visibility{2 * ms, 1}},
		{"less than nothing", []taking{{-ms, ms, 0, 2 * ms}}, visibility{}},
	} {
		if got := visibilityOf(tt.all); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestLongestStorm calibrates with the longest of the storms that have a window, from when it first begins until it last ends.
func TestLongestStorm(t *testing.T) {
	sc, diagnostics := scenarios.Load("test", []byte(`
duration: 10m
jobs: [{class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms}]
storms:
  - {name: short, at: 1m, for: 10s, fail: {hits: [mail], rate: 90%, error: oops}}
  - {name: long, at: 2m, for: 1m, fail: {hits: [mail], rate: 90%, error: oops}, repeat: {every: 3m, times: 2}}
`), nil)
	if sc == nil {
		t.Fatal(diagnostics)
	}
	storm, during := longestStorm(sc)
	if want := (world.Span{From: 2 * time.Minute, For: 4 * time.Minute}); storm == nil || storm.Name != "long" || storm.Repeat != nil ||
		during != want {
		t.Errorf("%+v during %v, want long during %v", storm, during, want)
	}
	if sc.Storms[1].Repeat == nil {
		t.Error("the scenario has changed")
	}
	sc.Storms = nil
	if storm, _ := longestStorm(sc); storm != nil {
		t.Errorf("%+v of a scenario without storms", storm)
	}
}

// TestArrivals computes the time that jobs waited in the feeder, one of which arrived meanwhile, from the durations of
// their enqueues.
func TestArrivals(t *testing.T) {
	const ms = time.Millisecond
	f := &feeding{jobs: []fed{{1, 10 * ms, ms, ms - promptly}, {2, 20 * ms, 32 * ms, 2 * ms}, {3, 45 * ms, 7 * ms, 2 * ms},
		{4, 60 * ms, 30 * ms, 29 * ms}}}
	held, each := f.arrivals(visibility{ms / 2, .5})
	if want := []world.Span{{From: 20 * ms, For: 30 * ms}, {From: 60 * ms, For: ms}}; !slices.Equal(held, want) {
		t.Errorf("jobs were held up at %v, want %v", held, want)
	}
	came := func(at, late, call time.Duration) world.Enqueued {
		return world.Enqueued{At: at, Late: late, Call: call}
	}
	if want := []world.Enqueued{came(10*ms, 3*ms/2, ms-promptly/2), came(20*ms, 5*ms/2, 3*ms/2), came(45*ms, 5*ms/2, 3*ms/2),
		came(60*ms, 59*ms/2, 15*ms)}; !slices.Equal(each, want) {
		t.Errorf("jobs came as %v, want %v", each, want)
	}
	_, each = f.arrivals(visibility{-3 * ms, 1}) // but not before a call begins
	if want := []world.Enqueued{came(10*ms, promptly, 0), came(20*ms, 0, 0), came(45*ms, 0, 0), came(60*ms, 26*ms, 26*ms)}; !slices.Equal(each, want) {
		t.Errorf("jobs that are found 3 ms before the end of their enqueue came as %v, want %v", each, want)
	}
	both := &feeding{jobs: []fed{{1, 0, 10 * ms, 10 * ms}, {2, 2 * ms, 8 * ms, ms}}} // the second is held up during the first's call
	if _, each = both.arrivals(visibility{0, 1}); each[0] != came(0, 3*ms, 3*ms) {
		t.Errorf("a job whose call lasted while another one was held up came as %+v", each[0])
	}
	if stalls, late := heldUp(held); !slices.Equal(stalls, held[:1]) || !slices.Equal(late, held[1:]) || len(held) != 2 {
		t.Errorf("the feeder stood still at %v and was late at %v, want %v", stalls, late, held)
	}
}

// TestSlowStorm: a store that is slow for all of a storm has no stalls in it, as usual durations follow the storm.
func TestSlowStorm(t *testing.T) {
	const ms = time.Millisecond
	p := new(probe)
	for i := range time.Duration(900) {
		took := ms
		if i >= 300 && i < 600 {
			took = 6 * ms
		}
		p.samples[engine.OpClaim] = append(p.samples[engine.OpClaim], callSample{took: took, ended: engine.Time(i*10*ms + took)})
	}
	p.samples[engine.OpClaim][450].took += 3 * ms
	p.samples[engine.OpClaim][450].ended += engine.Time(3 * ms)
	if got, want := storeStalls(storeCalls([]*probe{p}, nil)), []world.Span{{From: 4506 * ms, For: 3 * ms}}; !slices.Equal(got, want) {
		t.Errorf("the store stood still at %v, want %v", got, want)
	}
}

// TestPhasesOfCalibration: the parts of one measured run stand for a scenario before, in and after its storm.
func TestPhasesOfCalibration(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		storm string
		want  []world.Phase
	}{
		"moved": {"storms: [{name: down, at: 5s, for: 10s, slow: {factor: 2}}]", phases(60*time.Second, 70*time.Second, 100*ms)},
		"none":  {"", []world.Phase{{Measured: world.Span{For: 200 * ms}, Steady: true}}},
		"short": {"storms: [{name: down, at: 60s, for: 10s, slow: {factor: 2}}]", phases(60*time.Second, 70*time.Second, 100*ms)},
		"long":  {"storms: [{name: down, at: 0s, for: 60s, slow: {factor: 2}}]", phases(0, time.Minute, 200*ms)},
	} {
		sc, diagnostics := scenarios.Load("test", []byte(`
duration: 100s
warmup: 0s
jobs: [{class: mail, arrivals: {process: poisson, rate: 20/s}, service: 10ms}]
policies: [{kind: fifo`+map[string]string{"moved": ", with: {storms.down.at: 60s}"}[name]+`}]
`+tt.storm), nil)
		if sc == nil {
			t.Fatal(name, diagnostics)
		}
		run, got := calibration(sc, 0, world.Speed{Num: 100, Den: 1}, 200*ms)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		last := got[len(got)-1].Measured
		if want := 100 * (last.From + last.For); run.Duration.Std() != want || len(run.Storms) != len(sc.Storms) {
			t.Errorf("%s: %v with %d storms is measured, want %v with %d", name, run.Duration, len(run.Storms), want, len(sc.Storms))
		}
		for _, storm := range run.Storms {
			if m := got[1].Measured; storm.At.Std() != 100*m.From || storm.For.Std() != 100*m.For {
				t.Errorf("%s: the storm begins at %v and lasts %v, want %v of the wall clock", name, storm.At, storm.For, m)
			}
		}
	}
}

// phases returns the phases of a calibration at 100x: 200 ms before a storm, its length in it, and 200 ms after it.
func phases(from, to, storm time.Duration) []world.Phase {
	const ms = time.Millisecond
	return []world.Phase{{Measured: world.Span{For: 200 * ms}, Steady: true}, {From: from, Measured: world.Span{From: 200 * ms, For: storm}},
		{From: to, Measured: world.Span{From: 200*ms + storm, For: 100 * ms}}, {From: to + 10*time.Second, Measured: world.Span{From: 300*ms + storm, For: 100 * ms}, Steady: true}}
}

// TestStoreStalls finds the times in which the store answered no call: a single slow call, a pause without calls, or a
// slight delay is none, and without stalls calls have their usual duration.
func TestStoreStalls(t *testing.T) {
	const ms = time.Millisecond
	p := new(probe)
	call := func(op engine.Op, began, ended time.Duration) {
		p.tell(&engine.Call{Op: op}, engine.Time(began), engine.Time(began), engine.Time(ended))
		p.Record(&engine.Event{Kind: engine.Called, Op: op, At: engine.Time(ended)})
	}
	for at := time.Duration(0); at < 100*ms; at += 10 * ms { // usually 4 ms; nothing is asked between
		call(engine.OpCommit, at, at+4*ms)
	}
	call(engine.OpClaim, 20*ms, 49*ms)    // slow, while commits are answered
	call(engine.OpCommit, 100*ms, 150*ms) // all are held up from 104 on
	call(engine.OpCommit, 103*ms, 150*ms)
	call(engine.OpClaim, 120*ms, 153*ms) // began in the middle of it, and takes 3 after it
	call(engine.OpCommit, 200*ms, 205*ms)
	enqueues := []world.Span{{From: 300 * ms, For: ms}, {From: 310 * ms, For: ms}, {From: 320 * ms, For: 21 * ms}}
	got := learn(&recording{probes: []*probe{p}}, nil, [engine.NumOps]time.Duration{}, &feeding{made: enqueues},
		world.Speed{Num: 1, Den: 1}, 0)
	want := []world.Span{{From: 104 * ms, For: 46 * ms}, {From: 321 * ms, For: 20 * ms}}
	if !slices.Equal(got.delays.Stalls.Store, want) {
		t.Errorf("the store stood still at %v, want %v", got.delays.Stalls.Store, want)
	}
	half := func(at, half time.Duration) world.CallDelay {
		return world.CallDelay{At: at, Request: half, Reply: half}
	}
	commits := got.delays.Calls[engine.OpCommit]
	if want := []world.CallDelay{half(100*ms, 2*ms), half(103*ms, ms/2), half(200*ms, 5*ms/2)}; !slices.Equal(commits[len(commits)-3:], want) {
		t.Errorf("the ways of the last commits take %v, want %v", commits[len(commits)-3:], want)
	}
	if want := []world.CallDelay{half(20*ms, 29*ms/2), half(120*ms, 3*ms/2)}; !slices.Equal(got.delays.Calls[engine.OpClaim], want) {
		t.Errorf("the ways of claims take %v, want %v", got.delays.Calls[engine.OpClaim], want)
	}
}
