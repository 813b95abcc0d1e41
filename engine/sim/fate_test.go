package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
)

// TestFatesAreDrawnApart checks that all effects of faults on a call are drawn independently: of two effects that each
// hit half of the calls, by the same fault or by another, both hit a quarter, one or the other three quarters. Of 8000
// calls the share is off by less than 3 %, six standard deviations (false alarms < 1e-6 per run, the seed being fixed).
func TestFatesAreDrawnApart(t *testing.T) {
	spread := drawn(t)(dist.Uniform(0, 1))
	things := []struct {
		name  string
		cause func(f *fault.Fault)
		came  func(f sim.Fate) bool
	}{
		{"lose-request", func(f *fault.Fault) { f.LoseRequest = 0.5 }, func(f sim.Fate) bool { return f.LoseRequest }},
		{"lose-reply", func(f *fault.Fault) { f.LoseReply = 0.5 }, func(f sim.Fate) bool { return f.LoseReply }},
		{"duplicate", func(f *fault.Fault) { f.Duplicate = 0.5 }, func(f sim.Fate) bool { return f.Duplicate }},
		{"echo", func(f *fault.Fault) { f.Echo = 0.5 }, func(f sim.Fate) bool { return f.Echo }},
		{"error", func(f *fault.Fault) { f.Error = 0.5 }, func(f sim.Fate) bool { return f.Refuse != nil }},
		{"delay", func(f *fault.Fault) { f.Delay = &spread }, func(f sim.Fate) bool { return f.Delay < time.Second/2 }},
	}
	const calls = 8000
	window := fault.Window{For: engine.Forever}
	for i, one := range things {
		for k, other := range things {
			for _, faults := range []int{1, 2} {
				l := sim.Links{Rand: keyed.Rand{Seed: 7}, Faults: []fault.Fault{{Window: window, Ops: allOps()}, {Window: window, Ops: allOps()}}}
				one.cause(&l.Faults[0])
				other.cause(&l.Faults[faults-1])
				want := 0.25
				switch {
				case i == k && faults == 1:
					continue
				case i == k && one.name == "delay": // the two delays come to less than half a second
					want = 0.125
				case i == k: // one of the two faults is enough
					want = 0.75
				}
				both := 0
				for n := range calls {
					f := l.Request(0, &engine.Call{ID: uint64(n + 1), Op: engine.OpClaim, Engine: engine.NewEngineID(int32(n%3), uint32(n%2))})
					if one.came(f) && other.came(f) {
						both++
					}
				}
				if got := float64(both) / calls; math.Abs(got-want) > 0.03 {
					t.Errorf("%s and %s of %d faults: %.3f of the calls, want %.3f", one.name, other.name, faults, got, want)
				}
			}
		}
	}
}

// TestWaysAreDrawnApart checks the same for the delays of a call, there and back and for its job, and for calls that
// differ only in their number, their node or the life of their process.
func TestWaysAreDrawnApart(t *testing.T) {
	l := sim.Links{Rand: keyed.Rand{Seed: 7}, PerJob: drawn(t)(dist.Uniform(0, 1))}
	for op := range l.OneWay {
		l.OneWay[op] = drawn(t)(dist.Uniform(0, 1))
	}
	call := func(id uint64, node int32, life uint32) *engine.Call {
		return &engine.Call{ID: id, Op: engine.OpClaim, Engine: engine.NewEngineID(node, life)}
	}
	seen := map[time.Duration]string{}
	note := func(d time.Duration, what string) {
		if seen[d] != "" {
			t.Errorf("%s takes %v, as does %s", what, d, seen[d])
		}
		seen[d] = what
	}
	for id := range uint64(3) {
		for node := range int32(3) {
			for life := range uint32(3) {
				c, what := call(id+1, node, life), fmt.Sprintf("call %d of life %d of node %d", id+1, life, node)
				back := l.Reply(0, c, &engine.Reply{}, nil)
				note(l.Request(0, c).Delay, what)
				note(back, "the answer to "+what)
				one := l.Reply(0, c, &engine.Reply{Leases: make([]engine.Lease, 1)}, nil)
				note(one-back, "the job of "+what)
				if three := l.Reply(0, c, &engine.Reply{Leases: make([]engine.Lease, 3)}, nil); (three - back - 3*(one-back)).Abs() > 3 {
					t.Errorf("%s: one job adds %v, three add %v", what, one-back, three-back)
				}
			}
		}
	}
}

// TestWhatFaultsMeet counts, for each fault, the calls of which it made something else than they were, and for each slow
// window the ways that it stretched.
func TestWhatFaultsMeet(t *testing.T) {
	never, constant := fault.Window{From: 100, For: 1}, drawn(t)(dist.Constant(1))
	always := fault.Window{For: engine.Forever}
	l := sim.Links{Rand: keyed.Rand{Seed: 7},
		Slows: []fault.Slow{{Window: never, Factor: 2}, {Window: always, Factor: 3}},
		Faults: []fault.Fault{{Window: always, Ops: allOps(), LoseReply: 1}, {Window: never, Ops: allOps(), LoseReply: 1}, {Window: always, Ops: allOps(), LoseReply: 1},
			{Window: always, Ops: allOps(), Partial: 0.5}, {Window: always, Ops: allOps(), Partial: 0.5}, {Window: always, Ops: allOps(), Delay: &constant}}}
	if l.Met != nil || l.Slowed != nil {
		t.Error("something was counted before there was anything")
	}
	for id := range uint64(10) {
		f := l.Request(0, &engine.Call{ID: id + 1, Op: []engine.Op{engine.OpClaim, engine.OpCommit}[id%2]})
		if want := 0.75; f.Partial != want || f.Delay != time.Second {
			t.Errorf("%+v, want %v of the outcomes to be refused after a second", f, want)
		}
	}
	if got, want := fmt.Sprint(l.Met, l.Slowed), "[10 0 0 5 5 10] [0 10]"; got != want {
		t.Errorf("met %s, want %s", got, want)
	}
}

// asked hides the type of a network, so that the simulation calls its methods for every call.
type asked struct{ sim.Network }

// TestConstantWays tests that skipping the network's methods, if they would always return the same, makes no
// difference: not where jobs, rows, slow windows or faults change the delay.
func TestConstantWays(t *testing.T) {
	for name, change := range map[string]func(l *sim.Links){
		"constant":     func(*sim.Links) {},
		"one is drawn": func(l *sim.Links) { l.OneWay[engine.OpClaim] = drawn(t)(dist.Exponential(0.01)) },
		"by job":       func(l *sim.Links) { l.PerJob = drawn(t)(dist.Constant(0.001)) },
		"by row":       func(l *sim.Links) { l.Scan[engine.OpClaim] = sim.RowCosts{Ready: time.Millisecond} },
		"slow": func(l *sim.Links) {
			l.Slows = []fault.Slow{{Window: fault.Window{From: 2 * second, For: time.Second}, Factor: 9}}
		},
		"a fault": func(l *sim.Links) {
			l.Faults = []fault.Fault{{Window: fault.Window{From: 2 * second, For: time.Second}, Ops: allOps(), LoseReply: 0.5}}
		},
	} {
		digests := map[sim.Digest]bool{}
		for _, hidden := range []bool{false, true} {
			w := quietWorld(t, 50)
			w.config.CountRows, w.store.CountAhead = name == "by row", true
			change(w.links)
			if hidden {
				w.network = asked{w.links}
			}
			digests[runToEnd(w.start())] = true
		}
		if len(digests) != 1 {
			t.Errorf("%s: it makes a difference whether the network is asked", name)
		}
	}
}

// TestWhatIsLost loses every request, after which the store is never called, or every answer, after which it leases jobs
// that no process starts.
func TestWhatIsLost(t *testing.T) {
	for _, tt := range []struct {
		name          string
		fault         fault.Fault
		parallel      int
		calls, leased bool
	}{
		{"nothing", fault.Fault{}, 0, true, true},
		{"requests", fault.Fault{LoseRequest: 1}, 0, false, false},
		{"answers", fault.Fault{LoseReply: 1}, 0, true, true},
		{"answers of a store that serves few at once", fault.Fault{LoseReply: 1}, 2, true, true},
		{"answers to both copies of a call", fault.Fault{LoseReply: 1, Duplicate: 1}, 0, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 20)
			w.config.Parallel = tt.parallel
			tt.fault.Window, tt.fault.Ops = fault.Window{For: engine.Forever}, allOps()
			w.links.Faults = []fault.Fault{tt.fault}
			w.config.Until = engine.Time(time.Minute)
			calls := len(w.events(engine.Called))
			if calls > 0 != tt.calls || w.ledger.n[engine.Leased] > 0 != tt.leased || w.ledger.n[engine.Started] > 0 != (tt.name == "nothing") {
				t.Errorf("%d calls, %d leases, %d executions", calls, w.ledger.n[engine.Leased], w.ledger.n[engine.Started])
			}
		})
	}
}

// TestAnswerTwice freezes a process until the lease that an answer grants is over by its own clock, while its worker is
// busy: it gives up the job. If the answer comes twice, the second copy has it give the job back to the store, which
// knows of no end of that lease.
func TestAnswerTwice(t *testing.T) {
	for _, twice := range []bool{false, true} {
		w := quietWorld(t, 0)
		w.nodes, w.node.Workers = 1, 1
		w.node.Fetch = engine.FetchConfig{Batch: 1, Prefetch: 1, Poll: 4 * time.Second}
		w.node.Lease, w.node.Reaper.Off = engine.LeaseConfig{TTL: 20 * time.Second, Local: true}, true
		w.workload = &arrivals{at: []time.Duration{time.Second, 2 * time.Second}}
		w.handlers = oneLong{w.flaky}
		w.config.Controls = []fault.Control{{Kind: fault.Pause, On: engine.Leased, Nth: 2, Node: -1, For: 30 * time.Second}}
		w.config.Until = 60 * second
		if twice {
			w.links.Faults = []fault.Fault{{Window: fault.Window{For: engine.Forever}, Ops: allOps(), Echo: 1}}
		}
		lost, started := false, false
		for _, e := range w.events(engine.LeaseLost, engine.Started) {
			lost = lost || e.Job == 2 && e.Kind == engine.LeaseLost
			started = started || e.Job == 2 && e.Kind == engine.Started && lost
		}
		if !lost || started != twice {
			t.Errorf("twice %v: the lease is lost: %v, the job starts later: %v", twice, lost, started)
		}
	}
}

// TestCopiesShareTheirFate has the first claim, or the first commit, reach the store twice: a store that refuses a call
// executes neither copy, one that refuses all outcomes applies none, and a lost answer is lost to both.
func TestCopiesShareTheirFate(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		op                     engine.Op
		fault                  fault.Fault
		leased, started, acked bool
	}{
		{"a claim", engine.OpClaim, fault.Fault{}, true, true, true},
		{"a claim that is refused", engine.OpClaim, fault.Fault{Error: 1}, false, false, false},
		{"a claim whose answer is lost", engine.OpClaim, fault.Fault{LoseReply: 1}, true, false, false},
		{"a commit that is refused", engine.OpCommit, fault.Fault{Error: 1}, true, true, false},
		{"a commit whose outcomes are refused", engine.OpCommit, fault.Fault{Partial: 1}, true, true, false},
	} {
		w := quietWorld(t, 0)
		w.workload = &arrivals{at: []time.Duration{10 * time.Second}}
		w.node.Fetch.Poll, w.config.Until = 100*time.Hour, 10*second+second/2
		tt.fault.Duplicate, tt.fault.Window, tt.fault.Ops[tt.op] = 1, fault.Window{From: 9 * second, For: time.Hour}, true
		w.links.Faults = []fault.Fault{tt.fault}
		calls := 0
		for _, e := range w.events(engine.Called) {
			if e.Op == tt.op && e.At > 9*second {
				calls++
			}
		}
		n := w.ledger.n
		if calls < 2 && tt.fault.Error == 0 || n[engine.Leased] > 0 != tt.leased || n[engine.Started] > 0 != tt.started || n[engine.Acked] > 0 != tt.acked {
			t.Errorf("%s: served %d times, %d leases, %d executions, %d acks", tt.name, calls, n[engine.Leased], n[engine.Started], n[engine.Acked])
		}
	}
}
