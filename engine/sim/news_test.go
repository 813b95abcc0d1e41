package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
)

// claimsFrom returns when calls to claim reach the store from some time on: "node at time" for each.
func (w *world) claimsFrom(from engine.Time) (claims []string) {
	for _, e := range w.events(engine.Called) {
		if e.Op == engine.OpClaim && e.At >= from {
			claims = append(claims, fmt.Sprintf("%d at %v", e.Node, time.Duration(e.At)))
		}
	}
	return claims
}

// TestWhoIsWoken enqueues a job while some nodes are idle, and others down, frozen or busy: each mode wakes the right
// idle nodes, and polls are rare.
func TestWhoIsWoken(t *testing.T) {
	all := []fault.Control{{Kind: fault.Crash, At: 8 * second, For: time.Minute, Node: 0}, {Kind: fault.Pause, At: 8 * second, For: time.Minute, Node: 1}}
	for _, tt := range []struct {
		name     string
		mode     sim.WakeMode
		nodes    int
		controls []fault.Control
		want     string
	}{
		{"one of one", sim.WakeOne, 1, nil, "[0 at 10.0005s]"},
		{"all of one", sim.WakeAll, 1, nil, "[0 at 10.0005s]"},
		{"nobody of one", sim.WakeNone, 1, nil, "[]"},
		{"the one is down", sim.WakeOne, 1, all[:1], "[]"},
		{"the one is frozen", sim.WakeAll, 1, []fault.Control{{Kind: fault.Pause, At: 8 * second, For: time.Minute}}, "[]"},
		{"the one is busy", sim.WakeOne, 1, []fault.Control{{Kind: fault.ShiftClock, At: 8 * second}}, "[]"},
		{"all, and the one is busy", sim.WakeAll, 1, []fault.Control{{Kind: fault.ShiftClock, At: 8 * second}}, "[]"},
		{"one of four", sim.WakeOne, 4, nil, "[0 at 10.0005s]"},
		{"all of four", sim.WakeAll, 4, nil, "[0 at 10.0005s 1 at 10.0005s 2 at 10.0005s 3 at 10.0005s]"},
		{"nobody of four", sim.WakeNone, 4, nil, "[]"},
		{"one of those that are up", sim.WakeOne, 4, all, "[2 at 10.0005s]"},
		{"one after the last", sim.WakeOne, 2, []fault.Control{{Kind: fault.Crash, At: 8 * second, For: time.Minute, Node: 1}}, "[0 at 10.0005s 0 at 10.0305s]"},
		{"all of those that are up", sim.WakeAll, 4, all, "[2 at 10.0005s 3 at 10.0005s]"},
		{"all that are up again", sim.WakeAll, 4, []fault.Control{{Kind: fault.Crash, At: 7 * second, For: time.Second, Node: 0}, {Kind: fault.Pause, At: 7 * second, For: time.Second, Node: 1},
			{Kind: fault.StopNode, At: 7 * second, For: time.Second, Node: 2}}, "[0 at 10.0005s 1 at 10.0005s 2 at 10.0005s 3 at 10.0005s]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 0)
			w.nodes, w.node.Fetch.Poll, w.config.Wake = tt.nodes, 100*time.Hour, tt.mode
			w.workload = &arrivals{at: []time.Duration{10 * time.Second}}
			w.config.Controls, w.config.Until = tt.controls, 10*second+engine.Time(50*time.Millisecond)
			switch tt.name {
			case "the one is busy", "all, and the one is busy":
				w.node.Workers, w.node.Fetch.Prefetch, w.handlers = 1, 5, oneLong{w.flaky} // it has room, but nobody idle
				w.workload = &arrivals{at: []time.Duration{5 * time.Second, 10 * time.Second}}
			case "one after the last":
				w.workload = &arrivals{at: []time.Duration{10 * time.Second, 10*time.Second + 30*time.Millisecond}}
			}
			if got := fmt.Sprint(w.claimsFrom(9 * second)); got != tt.want {
				t.Errorf("claims %s, want %s", got, tt.want)
			}
		})
	}
}

// TestAnnouncementTakesTime delays wakes by 20 ms: one announcement stands for all jobs that become ready while it is
// under way, and the next begins with the job after it.
func TestAnnouncementTakesTime(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		w := quietWorld(t, 0)
		w.nodes, w.node.Fetch.Poll = nodes, 100*time.Hour
		w.workload = &arrivals{at: []time.Duration{time.Second, 1010 * time.Millisecond, 1030 * time.Millisecond}}
		var asked []time.Duration
		w.config.Announce = func(at engine.Time) time.Duration {
			asked = append(asked, time.Duration(at))
			return 20 * time.Millisecond
		}
		var waits []time.Duration
		for _, e := range w.events(engine.Leased) {
			waits = append(waits, e.Waited)
		}
		if got, want := fmt.Sprint(waits), "[20.5ms 10.5ms 20.5ms]"; got != want {
			t.Errorf("%d nodes: waits %s, want %s", nodes, got, want)
		}
		if got, want := fmt.Sprint(asked), "[1s 1.03s]"; got != want {
			t.Errorf("%d nodes: announced at %s, want %s", nodes, got, want)
		}
	}
}

// TestWakeOfFrozen enqueues a job while nodes are frozen: a wake that no other node gets waits until one goes on, as a
// notification for a stopped process does, and is lost with a process that dies.
func TestWakeOfFrozen(t *testing.T) {
	pause := func(node int32, lasts time.Duration) fault.Control {
		return fault.Control{Kind: fault.Pause, At: 8 * second, For: lasts, Node: node}
	}
	for _, tt := range []struct {
		name     string
		mode     sim.WakeMode
		nodes    int
		controls []fault.Control
		want     string
	}{
		{"the only one", sim.WakeOne, 1, []fault.Control{pause(0, 5*time.Second)}, "[0 at 13.0005s]"},
		{"twice", sim.WakeOne, 1, []fault.Control{pause(0, 5*time.Second), pause(0, 6*time.Second)}, "[0 at 14.0005s]"},
		{"both, of which one is woken", sim.WakeOne, 2, []fault.Control{pause(0, 6*time.Second), pause(1, 5*time.Second)}, "[0 at 14.0005s]"},
		{"both, of which all are", sim.WakeAll, 2, []fault.Control{pause(0, 6*time.Second), pause(1, 5*time.Second)}, "[1 at 13.0005s 0 at 14.0005s]"},
		{"both, of which two jobs wake one each", sim.WakeOne, 2, []fault.Control{pause(0, 6*time.Second), pause(1, 5*time.Second)}, "[1 at 13.0005s 0 at 14.0005s]"},
		{"one of two, and the other is woken", sim.WakeOne, 2, []fault.Control{pause(0, 5*time.Second)}, "[1 at 10.0005s]"},
		{"one of two, of which all are", sim.WakeAll, 2, []fault.Control{pause(0, 5*time.Second)}, "[1 at 10.0005s 0 at 13.0005s]"},
		{"nobody", sim.WakeNone, 1, []fault.Control{pause(0, 5*time.Second)}, "[]"},
		{"before the pause", sim.WakeAll, 1, []fault.Control{{Kind: fault.Pause, At: 11 * second, For: time.Second}}, "[0 at 10.0005s]"},
		{"both, of which one was told to stop", sim.WakeOne, 2, []fault.Control{{Kind: fault.StopNode, At: 7 * second, For: time.Minute}, pause(0, 5*time.Second), pause(1, 3*time.Second)}, "[1 at 11.0005s]"},
		{"both, of which the answer to a claim makes one busy", sim.WakeOne, 2, []fault.Control{pause(0, 5*time.Second), pause(1, 6*time.Second)}, "[1 at 14.0005s]"},
		{"one that dies", sim.WakeAll, 1, []fault.Control{pause(0, 5*time.Second), {Kind: fault.Crash, At: 12 * second, For: time.Minute}}, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 0)
			w.nodes, w.node.Fetch.Poll, w.config.Wake = tt.nodes, 100*time.Hour, tt.mode
			w.workload = &arrivals{at: []time.Duration{10 * time.Second}}
			if strings.Contains(tt.name, "answer") {
				w.node.Workers, w.workload = 1, &arrivals{at: []time.Duration{7999*time.Millisecond + 500*time.Microsecond, 10 * time.Second}}
			}
			if strings.Contains(tt.name, "two jobs") {
				w.workload = &arrivals{at: []time.Duration{10 * time.Second, 11 * time.Second}}
			}
			w.flaky.service = drawn(t)(dist.Constant(20))
			w.config.Controls, w.config.Until = tt.controls, 16*second
			if got := fmt.Sprint(w.claimsFrom(9 * second)); got != tt.want {
				t.Errorf("claims %s, want %s", got, tt.want)
			}
		})
	}
}

// BenchmarkWakesOfFrozen has jobs come while all nodes are frozen: what a job costs must not grow with the nodes.
func BenchmarkWakesOfFrozen(b *testing.B) {
	for _, nodes := range []int{1, 100, 10_000} {
		for mode, name := range []string{"one", "all"} {
			b.Run(fmt.Sprintf("nodes=%d/wake=%s", nodes, name), func(b *testing.B) {
				w := newWorld(b, 1, uint64(b.N), 1000)
				w.nodes, w.node.Workers, w.config.Wake, w.silent = nodes, 1, sim.WakeMode(mode), true
				for i := range nodes {
					w.config.Controls = append(w.config.Controls, fault.Control{Kind: fault.Pause, For: 1e9 * time.Second, Node: int32(i)})
				}
				w.config.Until = 1e8 * second
				s := w.start()
				s.Steps(2 * nodes) // the pauses, and the answers to calls made before
				b.ResetTimer()
				s.Run()
			})
		}
	}
}

// TestAnnouncementOfSeveral wakes a node for each of the jobs of one announcement: with one worker in each, none of the
// jobs waits for a poll.
func TestAnnouncementOfSeveral(t *testing.T) {
	w := quietWorld(t, 0)
	w.nodes, w.node.Workers, w.node.Fetch.Poll = 3, 1, 100*time.Hour
	w.workload = &arrivals{at: []time.Duration{time.Second, 1010 * time.Millisecond}}
	w.flaky.service = drawn(t)(dist.Constant(3600))
	w.config.Announce = func(engine.Time) time.Duration { return 20 * time.Millisecond }
	w.config.Until = 2 * second
	var waits []time.Duration
	for _, e := range w.events(engine.Leased) {
		waits = append(waits, e.Waited)
	}
	if got, want := fmt.Sprint(waits), "[20.5ms 10.5ms]"; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
}

// TestSilentDue makes a waiting job ready, by itself, by a promoter, or by one of two steps: nodes are woken at that
// time and not before. With SilentDue none is; the node whose promoter did it gets the answer half a millisecond later.
func TestSilentDue(t *testing.T) {
	const never = time.Duration(-1)
	for _, tt := range []struct {
		name     string
		promoter engine.PromoterConfig
		silent   time.Duration // with SilentDue, time from then until a claim
	}{
		{"by itself", engine.PromoterConfig{}, never},
		{"by a promoter", engine.PromoterConfig{Every: time.Second, Batch: 10}, time.Millisecond},
		{"by a promoter of two steps", engine.PromoterConfig{Every: time.Second, Batch: 10, Gap: 100 * time.Millisecond}, time.Millisecond},
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", silent ", silent), func(t *testing.T) {
				w := quietWorld(t, 3)
				w.jobs.gap = drawn(t)(dist.Constant(1)) // the third is due at 33 s
				w.workload = &varied{poisson: w.jobs, delayed: 30 * time.Second}
				w.node.Promoter, w.store.Promoted, w.config.SilentDue = tt.promoter, tt.promoter.Every > 0, silent
				w.node.Fetch.Poll, w.config.Until = 100*time.Hour, 60*second
				ready, claimed := engine.Never, never
				for _, e := range w.events(engine.Promoted, engine.Called) {
					switch {
					case e.Kind == engine.Promoted:
						ready = e.At
					case e.Op == engine.OpClaim && e.At > 32*second && claimed == never:
						claimed = e.At.Sub(ready)
					}
				}
				want := time.Millisecond / 2
				if silent {
					want = tt.silent
				}
				if ready < 33*second || ready > 35*second || claimed != want {
					t.Errorf("ready at %v, and claimed %v later, want %v", time.Duration(ready), claimed, want)
				}
			})
		}
	}
}

// TestLate has a node notice its deadlines 20 ms late: a batch that lingers for 5 ms is sent after 25. Others are not
// late.
func TestLate(t *testing.T) {
	for _, nodes := range []int{1, 2} {
		w := quietWorld(t, 0)
		w.nodes, w.node.Workers = nodes, 1
		w.workload = &arrivals{at: []time.Duration{10 * time.Second, 10*time.Second + 1}}
		w.config.Late = func(node int32, _ engine.Time) time.Duration {
			return 20 * time.Millisecond * time.Duration(int32(nodes)-1-node)
		}
		var finished [2]engine.Time
		acked := 0
		for _, e := range w.events(engine.Finished, engine.Acked) {
			if e.Kind == engine.Finished {
				finished[e.Node] = e.At
				continue
			}
			acked++
			want := 5500 * time.Microsecond
			if int(e.Node) < nodes-1 {
				want += 20 * time.Millisecond
			}
			if took := e.At.Sub(finished[e.Node]); took != want {
				t.Errorf("of %d nodes, node %d commits %v after the end of a job, want %v", nodes, e.Node, took, want)
			}
		}
		if acked != 2 {
			t.Errorf("%d jobs are done", acked)
		}
	}
}

// TestLateReaper has a node notice deadlines a while after they have come, also those that were put off meanwhile: its
// reaper, which waits for a second after each deadline that it notices, comes that much more seldom.
func TestLateReaper(t *testing.T) {
	for _, late := range []time.Duration{0, 20 * time.Millisecond} {
		w := quietWorld(t, 0)
		w.workload = &arrivals{at: []time.Duration{10 * time.Second}}
		w.node.Fetch.Poll, w.config.Until = 100*time.Hour, 9*second
		w.config.Late = func(int32, engine.Time) time.Duration { return late }
		last, recoveries := engine.Never, 0
		for _, e := range w.events(engine.Called) {
			if e.Op != engine.OpRecover || e.At < second {
				continue
			}
			if recoveries++; recoveries > 1 && e.At.Sub(last) != time.Second+late {
				t.Errorf("noticed %v late: the reaper comes %v after it came before", late, e.At.Sub(last))
			}
			last = e.At
		}
		if recoveries < 7 {
			t.Errorf("noticed %v late: the reaper comes %d times", late, recoveries)
		}
	}
}

// TestClaimed lets claims, and claims alone, be changed before they are recorded.
func TestClaimed(t *testing.T) {
	w := quietWorld(t, 20)
	w.flaky.service = drawn(t)(dist.Constant(5))
	w.config.Controls = []fault.Control{{Kind: fault.Crash, At: 2 * second, For: time.Second}}
	claimed := 0
	w.config.Claimed = func(c *engine.Call) {
		for i := range c.Leases {
			claimed++
			c.Leases[i].Waited = 42 * time.Hour
		}
	}
	leased := w.events(engine.Leased)
	for _, e := range leased {
		if e.Waited != 42*time.Hour {
			t.Errorf("job %d waited %v", e.Job, e.Waited)
		}
	}
	if w.ledger.n[engine.LeaseTaken] == 0 || claimed != len(leased) {
		t.Errorf("%d leases taken by reapers, %d claimed, %d changed", w.ledger.n[engine.LeaseTaken], len(leased), claimed)
	}
}

// TestAsManyAreWoken has jobs become due together: as many nodes are told, each once, where one is told of each job; all
// of them where all are told.
func TestAsManyAreWoken(t *testing.T) {
	for _, tt := range []struct {
		mode         sim.WakeMode
		jobs, claims int
	}{{sim.WakeOne, 1, 1}, {sim.WakeOne, 3, 3}, {sim.WakeOne, 9, 4}, {sim.WakeAll, 1, 4}, {sim.WakeAll, 3, 4}, {sim.WakeNone, 3, 0}} {
		w := quietWorld(t, 0)
		w.nodes, w.node.Fetch.Poll, w.config.Wake = 4, 100*time.Hour, tt.mode
		w.workload = &later{atOnce{n: engine.JobID(tt.jobs)}}
		w.config.Until = 11*second + second/20
		if claims := w.claimsFrom(11 * second); len(claims) != tt.claims {
			t.Errorf("mode %d, %d jobs: claims %v, want %d", tt.mode, tt.jobs, claims, tt.claims)
		}
	}
}

// later is a workload of jobs that are due 10 s after they come.
type later struct{ atOnce }

func (l *later) Next(j *engine.NewJob) (engine.Time, bool) {
	at, ok := l.atOnce.Next(j)
	j.Delay = 10 * time.Second
	return at, ok
}

// TestWhomCommitsTell ends an execution in each way on one of two nodes: the other is told when that makes a job ready, or
// makes room for one, and not otherwise.
func TestWhomCommitsTell(t *testing.T) {
	for _, tt := range []struct {
		name            string
		err             engine.ErrorKind
		held, makesRoom bool
		told            bool
	}{
		{"a success", engine.NoError, false, false, false},
		{"a success makes room", engine.NoError, false, true, true},
		{"a failure that waits", engine.FirstErrorKind, false, false, false},
		{"a failure makes room", engine.FirstErrorKind, false, true, true},
		{"a failure that is ready at once", engine.FirstErrorKind, true, false, true},
		{"a success, where those that wait are ready", engine.NoError, true, false, false},
	} {
		w := quietWorld(t, 0)
		w.workload = &arrivals{at: []time.Duration{10 * time.Second, time.Hour}}
		w.nodes, w.node.Fetch.Poll = 2, 100*time.Hour
		w.config.Held, w.config.MakesRoom = tt.held, tt.makesRoom
		if w.store.Held = tt.held; tt.err != engine.NoError {
			w.flaky.fail = 1
		}
		w.config.Until = 10*second + second/5
		ended, told := engine.Never, false
		runs := int32(-1)
		for _, e := range w.events(engine.Started, engine.Acked, engine.Nacked, engine.Called) {
			switch {
			case e.Kind == engine.Started && runs < 0:
				runs = e.Node
			case e.Kind == engine.Acked || e.Kind == engine.Nacked:
				ended = e.At
			case e.Kind == engine.Called && e.Op == engine.OpClaim && e.Node != runs && e.At > ended:
				told = true
			}
		}
		if ended == engine.Never || told != tt.told {
			t.Errorf("%s: ends at %v, the other node is told: %v, want %v", tt.name, time.Duration(ended), told, tt.told)
		}
	}
}

// TestBusyNodesDebounce wakes a busy node that begins a cooldown of half a second at every wake: the worker that is free
// at 12 s gets the job that came at 11.8 s when that is over. One that begins none gets it at once, and so does one
// where nodes with idle workers alone are woken, even if it is the only one.
func TestBusyNodesDebounce(t *testing.T) {
	for _, tt := range []struct {
		nodes    int
		wake     sim.WakeMode
		debounce bool
		claimed  string
	}{
		{1, sim.WakeAll, true, "12.3005s"}, {2, sim.WakeAll, true, "12.3005s"},
		{1, sim.WakeAll, false, "12.0015s"}, {2, sim.WakeAll, false, "12.0015s"},
		{1, sim.WakeOne, true, "12.0015s"}, {2, sim.WakeOne, true, "12.0015s"},
	} {
		w := quietWorld(t, 0)
		w.nodes, w.node.Workers, w.config.Wake = tt.nodes, 1, tt.wake
		w.node.Fetch = engine.FetchConfig{Batch: 1, Poll: 100 * time.Hour, Cooldown: time.Second / 2, Debounce: tt.debounce}
		w.flaky.service = drawn(t)(dist.Constant(2))
		at := []time.Duration{10 * time.Second, 10*time.Second + time.Millisecond, 11_800 * time.Millisecond}
		if tt.nodes == 1 {
			at = slices.Delete(at, 1, 2)
		}
		w.workload = &arrivals{at: at}
		leased := w.events(engine.Leased)
		if got := fmt.Sprint(time.Duration(leased[len(leased)-1].At)); len(leased) != len(at) || got != tt.claimed {
			t.Errorf("%d nodes, wake %v, debounce %v: claimed at %s, want %s", tt.nodes, tt.wake, tt.debounce, got, tt.claimed)
		}
	}
}
