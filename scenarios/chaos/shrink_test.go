package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine/check"
	"qsim/scenarios/spec"
)

// TestFailureIsReplayed checks, with planted bugs, that the failure which a swarm prints has a small world, and that
// its text fails at the same event again.
func TestFailureIsReplayed(t *testing.T) {
	for _, name := range []string{"one attempt more than the limit", "the reaper overwrites a completed job", "a promoter that dies loses what it took", "a policy remembers other runs"} {
		t.Run(name, func(t *testing.T) {
			var b *bug
			for i := range bugs {
				if bugs[i].name == name {
					b = &bugs[i]
				}
			}
			result, err := Swarm(context.Background(), Options{First: found[name].seed, Seeds: 1, plant: b.plant})
			if err != nil || len(result.Failures) != 1 {
				t.Fatalf("%v, %d failures", err, len(result.Failures))
			}
			f := &result.Failures[0]
			if got := f.Report.kind(); got != found[name].breaks {
				t.Errorf("%s breaks, the seed broke %s", got, found[name].breaks)
			}
			drawn, left := jobsOf(t, f.Drawn), jobsOf(t, f.World)
			if left > 30 || left >= drawn || len(f.World.scenario.Storms) > 5 || f.World.scenario.Engine.Workers > max(100, f.Drawn.scenario.Engine.Workers) {
				t.Errorf("it has not become small: %s\n%s", f.World.Size(), f.World.Text)
			}
			_, text, _ := strings.Cut(f.String(), "--replay - <<'END'\n")
			text, _, ok := strings.Cut(text, "END\n")
			if !ok {
				t.Fatalf("no text in\n%s", f)
			}
			again, err := Parse("printed", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			r := runner{plant: b.plant}
			report := r.run(again, true)
			if !report.Failed() || report.At != f.Report.At || report.Digest != f.Report.Digest && report.kind() != "I-17" || report.String() != f.Report.String() {
				t.Errorf("it failed with %s at %v, and again with %s at %v", f.Report.String(), f.Report.At, report.String(), report.At)
			}
			if f.Report.Breach.Job != 0 && !strings.Contains(f.History, "enqueued") {
				t.Errorf("the history is\n%s", f.History)
			}
		})
	}
}

// TestPanicIsFound checks that a swarm reports a panic in the engine as a failure, and ends with it.
func TestPanicIsFound(t *testing.T) {
	result, err := Swarm(context.Background(), Options{First: 1, Seeds: 3, Parallel: 1, plant: func(s *setup) { s.config.Policy = nil }})
	if err != nil || result.Seeds != 1 || len(result.Failures) != 1 || !strings.Contains(result.Failures[0].String(), "panic: ") {
		t.Errorf("%v, %d failures", err, len(result.Failures))
	}
}

// TestInterrupt checks that cancelling its context ends a swarm that has no last seed.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	result, err := Swarm(ctx, Options{First: 1, Progress: func(ended uint64) {
		if ended == 5 {
			cancel()
		}
	}})
	if err != context.Canceled || result.Seeds < 5 || result.Seeds > 20 {
		t.Errorf("%v after %d seeds", err, result.Seeds)
	}
}

// TestAnotherFailureIsNotTheSame checks which failures shrinking takes for the same: those whose text differs in
// numbers only, and panics at the same place.
func TestAnotherFailureIsNotTheSame(t *testing.T) {
	breach := func(i check.Invariant, what string) *Report {
		return &Report{Breach: &check.Breach{Invariant: i, What: what}}
	}
	panics := func(f func()) *Report {
		r := runner{plant: func(*setup) { f() }}
		report := r.once(Draw(1), false, nil)
		return &report
	}
	var nothing map[int]int
	tests := []struct {
		name string
		a, b *Report
		want bool
	}{
		{"other numbers", breach(check.Limit, "acked by node 1: it is attempt 4 of 3"), breach(check.Limit, "acked by node 0: it is attempt 13 of 12"), true},
		{"other times", breach(check.Due, "it is waiting until 1.5s"), breach(check.Due, "it is dead until 2m0.5s"), true},
		{"another sentence", breach(check.Limit, "it is attempt 4 of 3"), breach(check.Limit, "such an error buries"), false},
		{"another invariant", breach(check.Limit, "x"), breach(check.Due, "x"), false},
		{"a panic", breach(check.Limit, "x"), panics(func() { panic("x") }), false},
		{"the same panic", panics(breaks), panics(breaks), true},
		{"from elsewhere", panics(breaks), panics(breaksToo), false},
		{"of something else", panics(breaks), panics(func() { nothing[1] = 1 }), false},
		{"nothing", &Report{}, &Report{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.same(tt.b); got != tt.want {
				t.Errorf("%v, want %v: %s, %s", got, tt.want, tt.a.String(), tt.b.String())
			}
		})
	}
}

//go:noinline
func breaks() { panic("slot 7 is not held") }

//go:noinline
func breaksToo() { panic("slot 8 is not held") }

// TestTimeDoesNotCutShrinking checks that a failing world is shrunk although Options.Time, for new seeds, is over.
func TestTimeDoesNotCutShrinking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bugs[slices.IndexFunc(bugs, func(b bug) bool { return b.name == "a claim is not counted as a delivery" })]
		var begun sync.Once
		plant := func(s *setup) {
			begun.Do(func() { time.Sleep(2 * time.Second) }) // Time is over
			b.plant(s)
		}
		result, err := Swarm(t.Context(), Options{First: found[b.name].seed, Time: time.Second, Parallel: 1, plant: plant})
		if err != nil || len(result.Failures) != 1 {
			t.Fatalf("%v, %d failures", err, len(result.Failures))
		}
		if left := jobsOf(t, result.Failures[0].World); left > 30 {
			t.Errorf("it has not become small: %s", result.Failures[0].World.Size())
		}
	})
}

// jobsOf returns how many jobs come in a world.
func jobsOf(t *testing.T, w *World) int {
	t.Helper()
	s, err := w.setup()
	if err != nil {
		t.Fatal(err)
	}
	return s.Come
}

// TestNumbersShrink checks that a world that fails from some numbers of nodes, workers and jobs of a burst on is reduced
// to these, and a storm on the last node to one on the last that is left.
func TestNumbersShrink(t *testing.T) {
	w, err := Parse("world", `name: chaos
duration: 1m
engine:
  nodes: 4
  workers: 6
jobs:
  - {class: a, arrivals: {process: poisson, rate: 1/s, stop: 5s}, service: 10ms}
storms:
  - {name: s1, at: 1s, burst: {class: a, count: 100}}
  - {name: s2, at: 1s, for: 1s, pause: {nodes: [3]}}
policies:
  - {kind: fifo}
`)
	if err != nil {
		t.Fatal(err)
	}
	r := runner{plant: func(s *setup) {
		if sc := s.Scenario; len(sc.Storms) == 2 && s.Come >= 5 && sc.Engine.Nodes >= 2 && sc.Engine.Workers >= 3 && sc.Engine.Workers <= 6 {
			panic("planted")
		}
	}}
	small, _ := r.shrink(w, r.run(w, false), false, nil)
	for _, want := range []string{"nodes: 2\n", "workers: 3\n", "count: 5}", "nodes: [1]"} {
		if !strings.Contains(small.Text, want) {
			t.Errorf("it lacks %q:\n%s", want, small.Text)
		}
	}
}

// TestArrivalsShrink checks that of the arrivals of a world only those are left without which it does not fail: of one
// class a single one, and of another, which must be there, none.
func TestArrivalsShrink(t *testing.T) {
	const class = "  - {class: %c, arrivals: {process: poisson, rate: 1/s, stop: 9s}, service: 10ms}\n"
	w, err := Parse("world", "duration: 1m\njobs:\n"+fmt.Sprintf(class, 'a')+fmt.Sprintf(class, 'b'))
	if err != nil {
		t.Fatal(err)
	}
	r := runner{plant: func(s *setup) {
		if sc := s.Scenario; len(sc.Jobs) == 2 && slices.Contains((&World{scenario: sc}).arrivals(), spec.JobID(0, 3)) {
			panic("planted")
		}
	}}
	small, _ := r.shrink(w, r.run(w, false), false, nil)
	for _, want := range []string{"stop: 9s, only: [3]}", "stop: 1ns"} {
		if !strings.Contains(small.Text, want) {
			t.Errorf("it lacks %q:\n%s", want, small.Text)
		}
	}
}
