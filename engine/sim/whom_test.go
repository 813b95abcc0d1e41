package sim_test

import (
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
)

// oneLong is a Handlers whose jobs run for a tenth of a second, except the first, which runs for an hour.
type oneLong struct{ *flaky }

func (h oneLong) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := h.flaky.Begin(now, node, j)
	if j.ID == 1 {
		x.Runs = time.Hour
	}
	return x
}

// TestWakePassesBusy wakes one node for each new job, with rare polls: one with an idle worker, each of them in turn,
// and never the one whose only worker is busy, even if a wake would begin a cooldown there.
func TestWakePassesBusy(t *testing.T) {
	for _, debounce := range []bool{false, true} {
		t.Run(fmt.Sprint("debounce ", debounce), func(t *testing.T) { wakePassesBusy(t, debounce) })
	}
}

func wakePassesBusy(t *testing.T, debounce bool) {
	w := quietWorld(t, 30)
	w.node.Fetch.Debounce = debounce
	w.nodes, w.node.Workers, w.node.Fetch.Poll = 4, 1, 24*time.Hour
	w.jobs.gap = drawn(t)(dist.Constant(1))
	w.node.Lease.Heartbeat = 10 * time.Second
	w.node.Kinds[0].Timeout = 0
	w.handlers = oneLong{w.flaky}
	claims := make([]int, w.nodes)
	busy := int32(-1)
	for _, e := range w.events(engine.Leased) {
		if e.Waited > 10*time.Millisecond {
			t.Errorf("job %d waited %v", e.Job, e.Waited)
		}
		if e.Job == 1 {
			busy = e.Node
			continue
		}
		claims[e.Node]++
	}
	for node, n := range claims {
		if want := 29 / 3; int32(node) != busy && (n < want || n > want+1) {
			t.Errorf("node %d claimed %d jobs, want %d or one more", node, n, want)
		}
		if int32(node) == busy && n != 0 {
			t.Errorf("node %d claimed %d jobs although it is busy", node, n)
		}
	}
}

// TestWakePassesThoseThatHeld has a node start a job at its deadline, held until then, with its only worker: from then on
// the other is woken, although it would not be its turn.
func TestWakePassesThoseThatHeld(t *testing.T) {
	w := quietWorld(t, 0)
	w.nodes, w.node.Workers, w.node.Fetch.Poll = 2, 1, 100*time.Hour
	w.store.Held, w.config.Held = true, true
	w.workload = &heldFirst{arrivals{at: []time.Duration{time.Second, 2 * time.Second, 10100 * time.Millisecond}}}
	w.handlers = oneLong{w.flaky}
	w.config.Until = 11 * second
	var got []string
	for _, e := range w.events(engine.Leased, engine.Started) {
		got = append(got, fmt.Sprintf("%d %v by %d at %v", e.Job, e.Kind, e.Node, time.Duration(e.At)))
	}
	want := "[1 leased by 0 at 1.0005s 2 leased by 1 at 2.0005s 2 started by 1 at 2.001s " +
		"1 started by 0 at 10.0005s 3 leased by 1 at 10.1005s 3 started by 1 at 10.101s]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v\nwant %s", got, want)
	}
}

// heldFirst is a workload whose first job is due after 9 s.
type heldFirst struct{ arrivals }

func (h *heldFirst) Next(j *engine.NewJob) (engine.Time, bool) {
	at, ok := h.arrivals.Next(j)
	if j.ID == 1 {
		j.Delay = 9 * time.Second
	}
	return at, ok
}

// TestWakePassesStopped wakes one node for each new job, with rare polls: never one with a stop signal and idle
// workers, since it claims none.
func TestWakePassesStopped(t *testing.T) {
	w := quietWorld(t, 30)
	w.nodes, w.node.Fetch.Poll = 3, 24*time.Hour
	w.jobs.gap = drawn(t)(dist.Constant(1))
	w.config.Controls = []fault.Control{{Kind: fault.StopNode, Node: 1, At: 5 * second, For: 10 * time.Second}}
	for _, e := range w.events(engine.Leased) {
		if e.Waited > 10*time.Millisecond {
			t.Errorf("job %d waited %v", e.Job, e.Waited)
		}
		if stopped := e.At > 5*second && e.At < 15*second; stopped && e.Node == 1 {
			t.Errorf("node 1 claimed job %d after it was told to stop", e.Job)
		}
	}
}

// TestAnswersToADeadLife kills a process while the answer to its claim is under way, and starts another before it
// arrives: calls of each life are numbered from 1, but the answer is not for the new one. A started lease must have
// been claimed by the same life.
func TestAnswersToADeadLife(t *testing.T) {
	w := quietWorld(t, 20)
	w.nodes = 1
	w.node.Lease = engine.LeaseConfig{TTL: 20 * time.Second}
	for op := range w.links.OneWay {
		w.links.OneWay[op] = drawn(t)(dist.Constant(2))
	}
	w.config.Controls = []fault.Control{{Kind: fault.Crash, At: 13 * second / 4, For: time.Millisecond, Times: 20, Every: 7 * time.Second}}
	w.config.Until = 1000 * second
	var up engine.Time
	deaths, lost := 0, 0
	claimed := map[engine.Token]map[engine.JobID]engine.Time{}
	for _, e := range w.events(engine.NodeUp, engine.NodeDown, engine.Leased, engine.Started) {
		switch e.Kind {
		case engine.NodeUp:
			up = e.At
		case engine.NodeDown:
			deaths++
		case engine.Leased:
			if claimed[e.Token] == nil {
				claimed[e.Token] = map[engine.JobID]engine.Time{}
			}
			claimed[e.Token][e.Job] = e.At
			lost++
		case engine.Started:
			lost--
			if at := claimed[e.Token][e.Job]; at < up {
				t.Errorf("job %d starts at %v under a lease of %v, before the life that began at %v", e.Job, time.Duration(e.At), time.Duration(at), time.Duration(up))
			}
		}
	}
	if deaths < 10 || lost == 0 {
		t.Errorf("%d deaths, %d leases whose answer came too late: want some of both", deaths, lost)
	}
}
