package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
	"qsim/policies"
)

// adder is a recorder that adds events to a digest.
type adder struct {
	digest sim.Digest
	n      int
}

func (a *adder) Record(e *engine.Event) {
	a.digest.Add(e)
	a.n++
}

// TestDigestOfAllEvents checks that the fingerprint of a run is that of its recorded events, in worlds with every kind
// of fault.
func TestDigestOfAllEvents(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		w := swarmWorld(t, seed)
		w.config.Until = healed
		a := &adder{}
		w.recorder = a
		s := w.start()
		s.Run()
		if s.Digest() != a.digest || a.n < 100 {
			t.Errorf("seed %d: the fingerprint is %016x, that of its %d events %016x", seed, uint64(s.Digest()), a.n, uint64(a.digest))
		}
	}
}

// TestFrozenProcessMissesNothing freezes a process while the answer to its claim is under way, and while a handler runs:
// the job starts when the process goes on, and the end of the handler is seen then. A process that dies instead of going
// on has missed it all.
func TestFrozenProcessMissesNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		at     time.Duration
		crash  bool
		events string
	}{
		{"an answer", 10*time.Second + 700*time.Microsecond, false, "started at 15.0007s, finished at 15.1007s"},
		{"an end", 10*time.Second + 50*time.Millisecond, false, "started at 10.001s, finished at 15.05s"},
		{"neither", 10*time.Second + 200*time.Millisecond, false, "started at 10.001s, finished at 10.101s"},
		{"an answer, and dies", 10*time.Second + 700*time.Microsecond, true, "started at 40s, finished at 40s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 0)
			w.workload = &arrivals{at: []time.Duration{10 * time.Second}}
			w.node.Fetch.Poll, w.config.Until = 100*time.Hour, 60*second
			w.config.Controls = []fault.Control{{Kind: fault.Pause, At: engine.Time(tt.at), For: 5 * time.Second}}
			if tt.crash {
				w.config.Controls = append(w.config.Controls, fault.Control{Kind: fault.Crash, At: 12 * second, For: time.Second})
			}
			var got []string
			for _, e := range w.events(engine.Started, engine.Finished) {
				at := time.Duration(e.At)
				if tt.crash { // some time after the lease has expired
					at = at.Truncate(10 * time.Second)
				}
				got = append(got, fmt.Sprintf("%v at %v", e.Kind, at))
			}
			if got := strings.Join(got, ", "); got != tt.events {
				t.Errorf("got %s, want %s", got, tt.events)
			}
		})
	}
}

// rowsBefore compares the row counts passed to calls with the events recorded until then.
type rowsBefore struct {
	sim.Network
	t     *testing.T
	w     *world
	calls map[engine.Op]int
}

func (r *rowsBefore) Reply(now engine.Time, c *engine.Call, reply *engine.Reply, rows *sim.Rows) time.Duration {
	if c.Op == engine.OpRecover && len(reply.Leases) == 0 || c.Op == engine.OpClaim && reply.Err != nil { // changes nothing
		r.calls[c.Op]++
		s, err := r.w.memory.Stats(r.t.Context(), 0)
		if err != nil {
			r.t.Fatal(err)
		}
		want := sim.Rows{Ready: s.Ready[0] + s.Ready[1], Waiting: s.Waiting[0] + s.Waiting[1], InFlight: s.InFlight[0] + s.InFlight[1],
			Ended: r.w.ledger.n[engine.Acked] + r.w.ledger.n[engine.Buried]}
		if *rows != want {
			r.t.Errorf("%v at %v found %+v, want %+v", c.Op, time.Duration(now), *rows, want)
		}
	}
	return r.Network.Reply(now, c, reply, rows)
}

// TestRowsOfEveryState checks the counts of jobs in each state, fresh ones and retries, that calls find. A refused
// claim passes over none.
func TestRowsOfEveryState(t *testing.T) {
	w := newWorld(t, 3, 300, 20)
	w.node.Workers, w.node.Fetch.Poll = 5, 100*time.Millisecond
	w.flaky.service, w.flaky.fail = drawn(t)(dist.Constant(0.5)), 0.5
	w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 2, Kind: policies.Fixed, First: 3 * time.Second}
	w.config.CountRows, w.store.CountAhead, w.config.Until = true, true, 60*second
	w.links.Faults = []fault.Fault{{Window: fault.Window{From: 5 * second, For: 5 * time.Second}, Ops: allOps(), Error: 0.5}}
	r := &rowsBefore{Network: w.links, t: t, w: w, calls: map[engine.Op]int{}}
	w.network = r
	w.start().Run()
	if r.calls[engine.OpRecover] < 30 || r.calls[engine.OpClaim] < 5 || w.ledger.n[engine.Buried] == 0 {
		t.Errorf("compared %v calls, %d deaths", r.calls, w.ledger.n[engine.Buried])
	}
}

// TestNothingIsKept wants a simulation to hold no record of a call, job or execution to which nothing refers any more,
// in worlds with every sort of trouble.
func TestNothingIsKept(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		w := swarmWorld(t, seed)
		w.config.Until, w.silent = healed, true
		s := w.start()
		if s.Run(); s.Kept() != [4]int{} {
			t.Errorf("seed %d: %v calls, late jobs, executions and ends of controls are kept for nothing", seed, s.Kept())
		}
	}
}

// TestOverdueDeadlinesComeLast thaws a process, whose lease has expired by its own clock meanwhile, in the instant in
// which a job comes: of one instant, timers come last, however long they are overdue.
func TestOverdueDeadlinesComeLast(t *testing.T) {
	w := quietWorld(t, 0)
	w.workload = &arrivals{at: []time.Duration{10 * time.Second, 40 * time.Second}}
	w.flaky.service = drawn(t)(dist.Constant(100))
	w.node.Lease, w.node.Fetch.Poll = engine.LeaseConfig{TTL: 20 * time.Second, Local: true}, 100*time.Hour
	w.config.Controls = []fault.Control{{Kind: fault.Pause, At: 20 * second, For: 20 * time.Second}}
	w.config.Until = 41 * second
	var got []string
	for _, e := range w.events(engine.NodeWake, engine.LeaseLost, engine.Enqueued) {
		got = append(got, fmt.Sprintf("%v at %v", e.Kind, time.Duration(e.At)))
	}
	if got, want := strings.Join(got, ", "), "enqueued at 10s, node-wake at 40s, enqueued at 40s, lease-lost at 40s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
