package trace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// trouble is a scenario with all kinds of facts in a trace: crashes, frozen nodes that wake as
// zombies, lost heartbeats, failures, deaths, callers that resubmit, and repeated storms.
const trouble = `
name: trouble
duration: 3m
warmup: 0s
engine:
  nodes: 3
  workers: 4
  lease: {ttl: 5s, heartbeat: 1s}
  commit: {timeout: 1s}
retry: {max-attempts: 4, backoff: {kind: exponential, first: 500ms, factor: 2, max: 10s}}
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 6/s}, service: {dist: exponential, mean: 800ms}, fails: {rate: 20%}, kills: 0.1%, ignores-cancel: true}
  - {class: web, arrivals: {process: poisson, rate: 2/s}, service: {dist: exponential, mean: 200ms}, patience: {after: 2s, resubmits: 2}}
storms:
  - {name: frozen, at: 30s, for: 12s, pause: {nodes: [0, 1]}, repeat: {every: 40s, times: 2}}
  - {name: deaf, at: 1m30s, for: 30s, heartbeats: {lose: 90%}}
  - {name: broken, at: 2m, for: 20s, fail: {hits: [mail], rate: 80%, error: unavailable}}
policies: [{kind: fifo}]
`

func simulation(t *testing.T, text string, seed uint64) *Simulation {
	t.Helper()
	sc, problems := scenarios.Load("test.yaml", []byte(text), nil)
	if sc == nil || len(problems.Errors()) > 0 {
		t.Fatalf("load: %v", problems)
	}
	sc.Seed = seed
	return New(sc, 0)
}

// TestInterleavedStorms names each storm once, although its windows lie between those of another, and lists the
// beginnings and ends of both in order of time.
func TestInterleavedStorms(t *testing.T) {
	const repeated = "{rate: 50%}, repeat: {every: 1m, times: 3}}\n"
	s := simulation(t, "duration: 10m\njobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1ms}]\nstorms:\n"+
		"- {name: late, at: 3m, for: 10s, fail: "+repeated+"- {name: early, at: 150s, for: 10s, fail: "+repeated, 1)
	if got := fmt.Sprint(s.Storms(0, s.End())); got != "[early late]" {
		t.Errorf("got storms %s, want early and late, each once", got)
	}
	var begun []string
	for _, f := range s.edges(0, s.End()) {
		if f.Event == "storm-begins" {
			begun = append(begun, fmt.Sprintf("%v at %v", f.Words, time.Duration(f.At)))
		}
	}
	want := "storm early begins at 2m30s, storm late begins at 3m0s, storm early begins at 3m30s, " +
		"storm late begins at 4m0s, storm early begins at 4m30s, storm late begins at 5m0s"
	if got := strings.Join(begun, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// events returns copies of all events of a simulation, in order.
func events(t *testing.T, s *Simulation) []engine.Event {
	t.Helper()
	var all []engine.Event
	err := s.watch(context.Background(), s.End(), func(e *engine.Event) bool {
		all = append(all, *e)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func counts(all []engine.Event) (n [engine.NumEventKinds]int) {
	for i := range all {
		n[all[i].Kind]++
	}
	return n
}

// TestFind compares the findings with the metrics, which are counted independently.
func TestFind(t *testing.T) {
	s := simulation(t, trouble, 1)
	found, err := s.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Find(context.Background())
	if err != nil || !slices.Equal(found, again) {
		t.Errorf("found %v and then %v (%v)", found, again, err)
	}
	runs, err := world.Run(context.Background(), s.sc, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	metric := func(name string) float64 {
		for _, v := range runs[0].Values {
			if v.Query == (measure.Query{Metric: name}) {
				return v.Value
			}
		}
		t.Fatalf("no metric %s", name)
		return 0
	}
	longest := 0.0
	for _, e := range events(t, s) {
		if e.Kind == engine.Leased {
			longest = max(longest, e.Waited.Seconds())
		}
	}
	for _, tt := range []struct {
		interest Interest
		jobs     float64
		check    func(l *JobHistory) bool
	}{
		{WorstWait, float64(runs[0].Jobs), func(l *JobHistory) bool {
			return slices.ContainsFunc(l.Attempts, func(a Attempt) bool { return a.Waited.Seconds() == longest })
		}},
		{Duplicate, metric("effects.double"), func(l *JobHistory) bool { return l.Successes > 1 }},
		{Dead, metric("dead.count"), func(l *JobHistory) bool { return l.State == "dead" && len(l.Attempts) == 4 }},
		{Fenced, 0, func(l *JobHistory) bool { return l.Fenced > 0 }},
		{LostLease, 0, func(l *JobHistory) bool { return l.Lapsed > 0 }},
	} {
		t.Run(string(tt.interest), func(t *testing.T) {
			f := found[slices.IndexFunc(found, func(f Finding) bool { return f.Interest == tt.interest })]
			if f.Job == 0 || f.Name == "" || f.Words == "" {
				t.Fatalf("found %+v", f)
			}
			if tt.jobs > 0 && float64(f.Jobs) != tt.jobs {
				t.Errorf("%d jobs, the metrics say %v", f.Jobs, tt.jobs)
			}
			life, err := s.Job(context.Background(), f.Job)
			if err != nil || life == nil || !tt.check(life) {
				t.Errorf("the life of %s: %+v (%v)", f.Name, life, err)
			}
		})
	}
}

// TestHistories compares the histories of many jobs with the events of the simulation.
func TestHistories(t *testing.T) {
	s := simulation(t, trouble, 2)
	all := events(t, s)
	byJob := map[engine.JobID][engine.NumEventKinds]int{}
	for _, e := range all {
		n := byJob[e.Job]
		n[e.Kind]++
		byJob[e.Job] = n
	}
	interesting := 0
	for id, n := range byJob {
		if id == 0 || n[engine.Leased] < 2 || n[engine.LeaseTaken] == 0 && n[engine.Fenced] == 0 && n[engine.Aborted] == 0 || interesting == 12 {
			continue
		}
		interesting++
		l, err := s.Job(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Attempts) != n[engine.Leased] || l.Fenced != n[engine.Fenced] || l.Lapsed != n[engine.LeaseTaken] || (l.State == "done") != (n[engine.Acked] > 0) {
			t.Errorf("%s: %d attempts, %d fenced, %d lapsed, %s; the events say %v", l.Job, len(l.Attempts), l.Fenced, l.Lapsed, l.State, n)
		}
		own := 0
		for _, f := range l.Facts {
			if f.Event != "node-down" && f.Event != "node-up" && f.Event != "node-pause" && f.Event != "node-wake" && f.Event != "resubmitted" {
				own++
			}
		}
		sum := 0
		for _, k := range n {
			sum += k
		}
		if own != sum {
			t.Errorf("%s: told %d events of %d", l.Job, own, sum)
		}
		for i := range l.Attempts {
			if a := &l.Attempts[i]; a.Status == "claimed" && a.Began() || a.Ended() && !a.Began() {
				t.Errorf("%s: attempt %+v", l.Job, a)
			}
		}
		var text bytes.Buffer
		if err := s.PrintHistory(&text, l, "text", 80); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", l.Job, n, line)
			}
		}
	}
	if interesting < 5 {
		t.Errorf("only %d jobs have had trouble", interesting)
	}
	if l, err := s.Job(context.Background(), 1); l != nil || err != nil {
		t.Errorf("a job that is none lives: %v (%v)", l, err)
	}
}

func TestWindow(t *testing.T) {
	s := simulation(t, trouble, 1)
	var all, some, few []Fact
	into := func(list *[]Fact) func(Fact) error {
		return func(f Fact) error { *list = append(*list, f); return nil }
	}
	ctx := context.Background()
	if _, err := s.Window(ctx, WindowOptions{To: s.End(), Calls: true, Heartbeats: true}, into(&all)); err != nil {
		t.Fatal(err)
	}
	n := counts(events(t, s))
	sum := 8 // four windows begin and end
	for _, k := range n {
		sum += k
	}
	if len(all) != sum {
		t.Errorf("told %d facts of %d", len(all), sum)
	}
	checkNumbers(t, all, events(t, s))
	if !slices.IsSortedFunc(all, func(a, b Fact) int { return cmp.Compare(a.At, b.At) }) {
		t.Error("not in order")
	}
	o := WindowOptions{From: 30 * time.Second, To: 31 * time.Second, Calls: true, Heartbeats: true}
	if stopped, err := s.Window(ctx, o, into(&some)); err != nil || stopped != none {
		t.Fatalf("stopped at %v, %v", stopped, err)
	}
	want := slices.DeleteFunc(slices.Clone(all), func(f Fact) bool { return f.At < Span(o.From) || f.At > Span(o.To) })
	if !slices.Equal(some, want) || len(some) == 0 || some[0].Event != "storm-begins" {
		t.Errorf("a window of %d facts, want %d; the first is %+v", len(some), len(want), some[0])
	}
	begins := slices.IndexFunc(all, func(f Fact) bool { return f.Event == "storm-begins" })
	var edge []Fact // of the window of a storm's end, in which nothing else happens
	end := all[slices.IndexFunc(all, func(f Fact) bool {
		other := func(o Fact) bool { return o.At == f.At && o != f }
		return f.Event == "storm-ends" && !slices.ContainsFunc(all, other)
	})]
	_, err := s.Window(ctx, WindowOptions{From: time.Duration(end.At), To: time.Duration(end.At)}, into(&edge))
	if err != nil || len(edge) != 1 || edge[0] != end {
		t.Errorf("the window of a storm's end has %+v (%v)", edge, err)
	}
	o.Limit = 7
	stopped, err := s.Window(ctx, o, into(&few))
	if err != nil || len(few) != 7 || stopped < few[6].At {
		t.Errorf("limited to %d facts at %v (%v)", len(few), stopped, err)
	}
	full := errors.New("disk full")
	for _, last := range []int{1, begins + 1, len(all)} { // the fact that cannot be written: an event, a storm, the last of the run
		told := 0
		_, err := s.Window(ctx, WindowOptions{To: s.End(), Calls: true, Heartbeats: true}, func(Fact) error {
			if told++; told == last {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || told != last {
			t.Errorf("writing failed with fact %d, and after %d the window says %v", last, told, err)
		}
	}
}

// TestLateClaim: what becomes of the jobs of a late answer is up to late-claim, so its words leave it open.
func TestLateClaim(t *testing.T) {
	s := simulation(t, `
name: late
duration: 4s
warmup: 0s
engine: {workers: 1, call-timeout: 1s, lease: {heartbeat: 0s, late-claim: run}, store: {claim: 600ms}}
jobs: [{class: a, arrivals: {process: batch, size: 1, every: 10s}, service: 1s}]
`, 1)
	var got []string
	tell := func(f Fact) error {
		if f.Event == "refused-late" || f.Event == "started" {
			got = append(got, f.Words)
		}
		return nil
	}
	if _, err := s.Window(context.Background(), WindowOptions{To: s.End()}, tell); err != nil {
		t.Fatal(err)
	}
	want := []string{"node 0 gets the answer to a claim that it had given up on: 1 job", "attempt 1 starts on node 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkNumbers compares the durations that facts have as numbers (wait, delay, due) with the events of the facts.
func checkNumbers(t *testing.T, facts []Fact, from []engine.Event) {
	t.Helper()
	facts = slices.DeleteFunc(slices.Clone(facts), func(f Fact) bool { return strings.HasPrefix(f.Event, "storm-") })
	leased, nacked := 0, 0
	for i, f := range facts {
		e := &from[i]
		want := [3]Span{none, none, none}
		switch {
		case e.Kind == engine.Leased:
			want[0] = Span(e.Waited)
			leased++
		case e.Kind == engine.Nacked:
			want[1], want[2] = Span(e.Delay), Span(e.At)+Span(e.Delay)
			nacked++
		}
		if got := [3]Span{f.Wait, f.Delay, f.Due}; got != want {
			t.Fatalf("%+v: wait, delay and due time are %v, want %v", f, got, want)
		}
	}
	if leased == 0 || nacked == 0 {
		t.Errorf("%d claims and %d failures: nothing was held to anything", leased, nacked)
	}
}

// line is one event of a Chrome trace.
type line struct {
	Phase   string   `json:"ph"`
	Process *int     `json:"pid"`
	Thread  *int     `json:"tid"`
	At      *float64 `json:"ts"`
	Length  *float64 `json:"dur"`
	Name    *string  `json:"name"`
	ID      int      `json:"id"`
	Binds   string   `json:"bp"`
	Args    map[string]any
}

func chromeLines(t *testing.T, s *Simulation, o WindowOptions) []line {
	t.Helper()
	var text bytes.Buffer
	if _, err := s.Chrome(context.Background(), o, &text); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Unit  string `json:"displayTimeUnit"`
		Lines []line `json:"traceEvents"`
	}
	if err := json.Unmarshal(text.Bytes(), &document); err != nil {
		t.Fatalf("%v in\n%.2000s", err, text.String())
	}
	if document.Unit != "ms" {
		t.Errorf("unit %q", document.Unit)
	}
	return document.Lines
}

// TestChrome checks a trace for the needs of viewers: all fields, named tracks, slices of a track
// that do not overlap, and arrows that begin and end inside of slices.
func TestChrome(t *testing.T) {
	s := simulation(t, trouble, 1)
	n := counts(events(t, s))
	for _, tt := range []struct {
		name string
		o    WindowOptions
		runs int // executions; 0: any number
	}{
		{"all", WindowOptions{To: s.End()}, n[engine.Finished] + n[engine.Aborted]},
		{"window", WindowOptions{From: 30 * time.Second, To: 45 * time.Second}, 0},
		{"limited", WindowOptions{To: s.End(), Limit: 500}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { checkChrome(t, chromeLines(t, s, tt.o), tt.runs) })
	}
	found, err := s.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Run(string(f.Interest), func(t *testing.T) {
			life, err := s.Job(context.Background(), f.Job)
			if err != nil {
				t.Fatal(err)
			}
			began := 0
			for _, a := range life.Attempts {
				if a.Began() {
					began++
				}
			}
			checkChrome(t, chromeLines(t, s, WindowOptions{To: s.End(), Job: f.Job}), began)
		})
	}
}

// cutter is a writer that cancels a context as soon as something is written to it.
type cutter struct {
	bytes.Buffer
	cut context.CancelFunc
}

func (c *cutter) Write(p []byte) (int, error) {
	c.cut()
	return c.Buffer.Write(p)
}

// An interrupted trace is a complete document, in which slices under way end with the trace.
func TestChromeInterrupted(t *testing.T) {
	s := simulation(t, trouble, 1)
	ctx, cancel := context.WithCancel(context.Background())
	out := &cutter{cut: cancel}
	if _, err := s.Chrome(ctx, WindowOptions{To: s.End()}, out); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	var document struct {
		Lines []line `json:"traceEvents"`
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	ended, still := 0.0, 0
	for _, l := range document.Lines {
		switch {
		case l.Phase != "X" || l.Args["ended"] == nil:
		case l.Args["ended"] == "runs still":
			still++
		default:
			ended = max(ended, *l.At+*l.Length)
		}
	}
	if still == 0 || ended == 0 || ended > 170e6 {
		t.Fatalf("%d executions run still, the last that ended did at %.0f µs: the cut shows nothing", still, ended)
	}
	for _, l := range document.Lines {
		if l.Args["ended"] == "runs still" && *l.At+*l.Length > ended+20e6 {
			t.Errorf("%s runs until %.0f µs, the last that ended did at %.0f µs", *l.Name, *l.At+*l.Length, ended)
		}
	}
}

func checkChrome(t *testing.T, lines []line, runs int) {
	t.Helper()
	type track struct{ process, thread int }
	tracks, named, processes := map[track][]line{}, map[track]bool{}, map[int]bool{}
	var arrows [][2]line
	open := map[int]line{}
	for _, l := range lines {
		if l.Process == nil || l.Thread == nil || l.At == nil || l.Name == nil || *l.At < 0 {
			t.Fatalf("a field is missing in %+v", l)
		}
		where := track{*l.Process, *l.Thread}
		switch l.Phase {
		case "M":
			named[where] = named[where] || *l.Name == "thread_name"
			processes[*l.Process] = processes[*l.Process] || *l.Name == "process_name"
		case "X":
			if l.Length == nil || *l.Length < 0 {
				t.Fatalf("no length in %+v", l)
			}
			tracks[where] = append(tracks[where], l)
		case "i":
		case "s":
			open[l.ID] = l
		case "f":
			arrows = append(arrows, [2]line{open[l.ID], l})
			delete(open, l.ID)
		default:
			t.Fatalf("phase %q", l.Phase)
		}
	}
	executions := 0
	for where, stretches := range tracks {
		if !named[where] || !processes[where.process] {
			t.Errorf("track %v has no name", where)
		}
		slices.SortStableFunc(stretches, func(a, b line) int { return cmp.Compare(*a.At, *b.At) })
		for i, l := range stretches {
			if where.process >= firstNode && where.thread != nodeThread {
				executions++
			}
			if i > 0 && *stretches[i-1].At+*stretches[i-1].Length > *l.At+1e-6 {
				t.Errorf("on track %v %s at %v overlaps %s at %v", where, *l.Name, *l.At, *stretches[i-1].Name, *stretches[i-1].At)
			}
		}
	}
	if runs > 0 && executions != runs {
		t.Errorf("%d executions, want %d", executions, runs)
	}
	if len(open) > 0 {
		t.Errorf("arrows without an end: %v", open)
	}
	for _, arrow := range arrows {
		for _, end := range arrow {
			inside := slices.ContainsFunc(tracks[track{*end.Process, *end.Thread}], func(l line) bool {
				return *l.At <= *end.At && *end.At <= *l.At+*l.Length
			})
			if !inside {
				t.Errorf("an arrow ends outside of every stretch: %v", *end.At)
			}
		}
		if *arrow[0].At > *arrow[1].At {
			t.Errorf("an arrow goes back from %v to %v", *arrow[0].At, *arrow[1].At)
		}
	}
	if len(lines) > 2000 && len(arrows) == 0 {
		t.Error("no arrow")
	}
}

// TestWatchChangesNothing: a run that is watched is the run that would have been.
func TestWatchChangesNothing(t *testing.T) {
	s := simulation(t, trouble, 3)
	plain, err := world.Run(context.Background(), s.sc, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var digest sim.Digest
	for _, e := range events(t, s) {
		digest.Add(&e)
	}
	if uint64(digest) != plain[0].Fingerprint {
		t.Errorf("fingerprint %x, want %x", digest, plain[0].Fingerprint)
	}
}

// TestBroken: a policy that breaks an invariant has a trace up to there.
func TestBroken(t *testing.T) {
	s := simulation(t, trouble, 1)
	told := 0
	_, err := world.Run(context.Background(), s.sc, world.Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		cfg.Recorder = panicker{}
	}})
	var broken *world.Broken
	if !errors.As(err, &broken) {
		t.Fatalf("got %v", err)
	}
	_, err = s.Window(context.Background(), WindowOptions{To: s.End()}, func(Fact) error {
		if told++; told == 100 {
			panic("engine: broken on purpose")
		}
		return nil
	})
	if !errors.As(err, &broken) || told != 100 {
		t.Errorf("got %v after %d facts", err, told)
	}
}

type panicker struct{}

func (panicker) Record(*engine.Event) { panic("engine: broken on purpose") }

func TestClock(t *testing.T) {
	for at, want := range map[time.Duration]string{
		0: "0.000s", 3250 * time.Millisecond: "3.250s", 603250 * time.Millisecond: "10m03.250s", 3723250 * time.Millisecond: "1h02m03.250s",
		59_999_900 * time.Microsecond: "59.999s", -63250 * time.Millisecond: "-1m03.250s",
	} {
		if got := Clock(at); got != want {
			t.Errorf("%v: got %s, want %s", at, got, want)
		}
		if _, err := time.ParseDuration(want); err != nil {
			t.Error(err)
		}
	}
}
