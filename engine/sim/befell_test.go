package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/policies"
)

// TestBefell checks the calls of Config.Befell: one for each effect of a control, with the node, and none for a control
// without effect.
func TestBefell(t *testing.T) {
	const down, frozen = 5 * time.Second, 5 * time.Second
	at := func(s int) engine.Time { return engine.Time(s) * second }
	for _, tt := range []struct {
		name     string
		controls []fault.Control
		want     string
	}{
		{"a process that is down", []fault.Control{
			{Kind: fault.Crash, Node: 1, At: at(10), For: down}, {Kind: fault.Crash, Node: 1, At: at(11), For: time.Second},
			{Kind: fault.Pause, Node: 1, At: at(12), For: time.Second}, {Kind: fault.StopNode, Node: 1, At: at(13), For: time.Second},
			{Kind: fault.ShiftClock, Node: 1, At: at(14), For: time.Second, Offset: time.Second}},
			"0 of 1 at 10s, 4 of 1 at 14s"},
		{"a process that is frozen", []fault.Control{
			{Kind: fault.Pause, Node: 1, At: at(10), For: frozen}, {Kind: fault.Pause, Node: 1, At: at(11), For: time.Second},
			{Kind: fault.StopNode, Node: 1, At: at(13), For: time.Second}, {Kind: fault.StopNode, Node: 1, At: at(20), For: time.Second}},
			"0 of 1 at 10s, 1 of 1 at 11s, 3 of 1 at 20s"},
		{"clocks", []fault.Control{
			{Kind: fault.ShiftClock, At: at(10)}, {Kind: fault.ShiftClock, At: at(11), For: time.Second}, {Kind: fault.ShiftClock, At: at(12), Offset: -1}},
			"2 of 0 at 12s"},
		{"leases", []fault.Control{{Kind: fault.LoseLeases, At: at(1), Share: 1}, {Kind: fault.LoseLeases, At: at(7), Share: 1}, {Kind: fault.LoseLeases, At: at(7) + 1, Share: 1}},
			"1 of 0 at 7s"},
		{"the dead", []fault.Control{{Kind: fault.Redrive, At: at(7), Share: 1}, {Kind: fault.Redrive, At: at(40), Share: 1}, {Kind: fault.Redrive, At: at(40) + 1, Share: 1}},
			"1 of 0 at 40s"},
		{"an event, before a time", []fault.Control{
			{Kind: fault.ShiftClock, On: engine.Leased, Node: -1, Offset: 1, Before: at(5) + 500_000}, {Kind: fault.ShiftClock, On: engine.Leased, Node: -1, Offset: 1, Before: at(5) + 500_001},
			{Kind: fault.ShiftClock, On: engine.Leased, Nth: 2, At: second, Offset: 1}, {Kind: fault.ShiftClock, On: engine.Leased, Node: 1, Offset: 1},
			{Kind: fault.ShiftClock, On: engine.Enqueued, Node: -1, Offset: 1}, {Kind: fault.ShiftClock, On: engine.Called, Op: engine.OpClaim, Nth: 4, Node: -1, At: 2 * second, Offset: 1},
			{Kind: fault.ShiftClock, On: engine.Called, Node: 1, At: 3 * second, Offset: 1}, {Kind: fault.ShiftClock, On: engine.Called, Op: engine.OpClaim, Nth: 3, Offset: 1}},
			"6 of 1 at 3.0005s, 1 of 0 at 5.0005s, 2 of 0 at 6.0005s, 5 of 1 at 7.0005s"},
		{"one node after the other", []fault.Control{{Kind: fault.Crash, At: at(10), For: time.Second, Times: 3, Every: 3 * time.Second, Rolls: true}},
			"0 of 0 at 10s, 0 of 1 at 13s, 0 of 0 at 16s"},
		{"the store", []fault.Control{{Kind: fault.StallReaper, At: at(10), For: time.Second}, {Kind: fault.StallPromoter, At: at(11), For: time.Second},
			{Kind: fault.StallStore, At: at(12), For: time.Second, Times: 2, Every: 2 * time.Second}, {Kind: fault.LimitStore, At: at(13), For: time.Second, Limit: 1}},
			"0 of 0 at 10s, 1 of 0 at 11s, 2 of 0 at 12s, 3 of 0 at 13s, 2 of 0 at 14s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 0)
			w.nodes, w.store.KeepDead = 2, true
			w.workload = &arrivals{at: []time.Duration{5 * time.Second, 5 * time.Second}}
			w.flaky.service, w.flaky.fail = drawn(t)(dist.Constant(20)), 1
			w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 1}
			w.config.Controls, w.config.Until = tt.controls, 60*second
			var befell []string
			w.config.Befell = func(control int, node int32, at engine.Time) {
				befell = append(befell, fmt.Sprintf("%d of %d at %v", control, node, time.Duration(at)))
			}
			w.start().Run()
			if got := strings.Join(befell, ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestCrashIsTold checks that handlers get the end of each execution that dies with its process, as cancelled and
// aborted.
func TestCrashIsTold(t *testing.T) {
	w := quietWorld(t, 20)
	w.flaky.service = drawn(t)(dist.Constant(5))
	ends := &endings{flaky: w.flaky}
	w.handlers = ends
	w.config.Controls = []fault.Control{{Kind: fault.Crash, At: 2 * second, For: time.Second}}
	aborted := w.events(engine.Aborted)
	if len(aborted) == 0 || ends.aborted != len(aborted) || ends.others != 0 || ends.ended-ends.aborted != w.ledger.n[engine.Finished] {
		t.Errorf("%d executions die: handlers are told of %d (%d with another error), and of %d ends; %d finished",
			len(aborted), ends.aborted, ends.others, ends.ended-ends.aborted, w.ledger.n[engine.Finished])
	}
}

// endings is a Handlers that counts executions by their end.
type endings struct {
	*flaky
	others int // aborted with another error than Canceled
}

func (e *endings) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	if aborted && err != engine.Canceled {
		e.others++
	}
	e.flaky.End(now, node, j, err, aborted)
}

// broken is a store that refuses to enqueue or to count.
type broken struct {
	sim.Store
	enqueues bool
}

func (b broken) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if b.enqueues {
		return b.Store.Enqueue(ctx, jobs)
	}
	return errors.New("no room")
}

func (broken) Stats(context.Context, int) (engine.Stats, error) {
	return engine.Stats{}, errors.New("lost count")
}

// TestStoreErrorsAreTold wants no simulation to go on without a job that its store refuses, or with rows that it cannot
// count.
func TestStoreErrorsAreTold(t *testing.T) {
	for want, enqueues := range map[string]bool{"sim: no room": false, "sim: count rows: lost count": true} {
		w := quietWorld(t, 1)
		w.config.CountRows, w.config.Until = enqueues, 10*second
		w.wrap = func(m *memstore.Store) sim.Store { return broken{m, enqueues} }
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			w.start().Run()
		}()
	}
}

// failing is a store whose first claims fail.
type failing struct {
	sim.Store
	claims *int
}

func (f failing) Claim(ctx context.Context, by engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	if *f.claims++; *f.claims <= 3 {
		return dst, 0, engine.ErrUnavailable
	}
	return f.Store.Claim(ctx, by, p, ttl, dst)
}

// TestFailedCallsDoNotStick lets claims fail at the store: no later call is refused, whose record it uses again.
func TestFailedCallsDoNotStick(t *testing.T) {
	w := quietWorld(t, 20)
	w.config.Until = engine.Time(time.Hour)
	for op := range w.links.OneWay {
		w.links.OneWay[op] = drawn(t)(dist.Constant(0.001))
	}
	w.wrap = func(m *memstore.Store) sim.Store { return failing{m, new(int)} }
	if w.start().Run(); w.ledger.n[engine.Acked] != 20 {
		t.Errorf("%d of 20 jobs are done", w.ledger.n[engine.Acked])
	}
}

// TestClockOutlivesItsProcess sets a clock ahead for ever: the process that comes after the one that dies has it too.
func TestClockOutlivesItsProcess(t *testing.T) {
	w := quietWorld(t, 300)
	w.node.Lease = engine.LeaseConfig{TTL: 30 * time.Second, Local: true}
	w.config.Controls = []fault.Control{{Kind: fault.ShiftClock, At: 5 * second, Offset: time.Minute}, {Kind: fault.Crash, At: 10 * second, For: time.Second}}
	watch := &ttlWatch{Network: w.links, ttl: map[time.Duration]engine.Time{}}
	w.network = watch
	w.start().Run()
	if before, after := watch.ttl[30*time.Second], watch.ttl[90*time.Second]; before > 5*second || after < 12*second {
		t.Errorf("leases of 30 s were last asked for at %v, of a minute more at %v", time.Duration(before), time.Duration(after))
	}
}

// TestTroublesOverlap applies several faults to one process or the store at once: each ends separately, and the
// process goes on when the last has ended; a fault of a process that has died since has no effect on its successor.
func TestTroublesOverlap(t *testing.T) {
	at := func(s int) engine.Time { return engine.Time(s) * second }
	for _, tt := range []struct {
		name     string
		controls []fault.Control
		kinds    []engine.EventKind
		want     string
	}{
		{"two deaths", []fault.Control{{Kind: fault.Crash, At: at(10), For: 10 * time.Second}, {Kind: fault.Crash, At: at(12), For: 2 * time.Second}},
			[]engine.EventKind{engine.NodeDown, engine.NodeUp}, "node-up at 0s, node-down at 10s, node-up at 20s"},
		{"two pauses", []fault.Control{{Kind: fault.Pause, At: at(10), For: 10 * time.Second}, {Kind: fault.Pause, At: at(12), For: 2 * time.Second}},
			[]engine.EventKind{engine.NodePause, engine.NodeWake}, "node-pause at 10s, node-wake at 20s"},
		{"a pause of the one before", []fault.Control{{Kind: fault.Pause, At: at(10), For: 20 * time.Second}, {Kind: fault.Crash, At: at(15), For: time.Second},
			{Kind: fault.Pause, At: at(20), For: 20 * time.Second}},
			[]engine.EventKind{engine.NodeDown, engine.NodeWake}, "node-down at 15s, node-wake at 40s"},
		{"a stop of the one before", []fault.Control{{Kind: fault.StopNode, At: at(10), For: 10 * time.Second}, {Kind: fault.Crash, At: at(15), For: time.Second}},
			[]engine.EventKind{engine.NodeDown}, "node-down at 15s"},
		{"a pause that ends while its process is down", []fault.Control{{Kind: fault.Pause, At: at(10), For: 10 * time.Second}, {Kind: fault.Crash, At: at(15), For: 10 * time.Second}},
			[]engine.EventKind{engine.NodeDown, engine.NodeWake, engine.NodeUp}, "node-up at 0s, node-down at 15s, node-up at 25s"},
		{"a stop that ends while its process is down", []fault.Control{{Kind: fault.StopNode, At: at(10), For: 10 * time.Second}, {Kind: fault.Crash, At: at(15), For: 10 * time.Second}},
			[]engine.EventKind{engine.NodeDown, engine.NodeUp}, "node-up at 0s, node-down at 15s, node-up at 25s"},
		{"a stop", []fault.Control{{Kind: fault.StopNode, At: at(10), For: 10 * time.Second}},
			[]engine.EventKind{engine.NodeDown, engine.NodeUp}, "node-up at 0s, node-down at 20s, node-up at 20s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 0)
			w.workload = &arrivals{at: []time.Duration{60 * time.Second}}
			w.config.Controls = tt.controls
			var got []string
			for _, e := range w.events(tt.kinds...) {
				got = append(got, fmt.Sprintf("%v at %v", e.Kind, time.Duration(e.At)))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for _, kind := range []fault.ControlKind{fault.StallStore, fault.StallReaper} {
		w := quietWorld(t, 0)
		w.workload = &arrivals{at: []time.Duration{60 * time.Second}}
		w.node.Fetch.Poll = 100 * time.Millisecond
		w.config.Controls = []fault.Control{{Kind: kind, At: 10 * second, For: 10 * time.Second}, {Kind: kind, At: 12 * second, For: 2 * time.Second},
			{Kind: kind, At: 15 * second, For: 15 * time.Second}}
		before, after := 0, 0
		for _, e := range w.events(engine.Called) {
			switch {
			case kind == fault.StallReaper && e.Op != engine.OpRecover:
			case e.At < 10*second:
				before++
			case e.At > 10*second+engine.Time(time.Millisecond) && e.At < 30*second:
				t.Errorf("control %d: %v at %v", kind, e.Op, time.Duration(e.At))
			case e.At >= 30*second:
				after++
			}
		}
		if before < 9 || after < 29 {
			t.Errorf("control %d: %d calls before, %d after", kind, before, after)
		}
	}
}
