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

func TestWindow(t *testing.T) {
	once := fault.Window{From: 10, For: 5}
	thrice := fault.Window{From: 10, For: 5, Times: 3, Every: 20}
	tests := []struct {
		name   string
		window fault.Window
		at     engine.Time
		want   bool
	}{
		{"before", once, 9, false}, {"start", once, 10, true}, {"last", once, 14, true}, {"end", once, 15, false}, {"long after", once, 1e9, false},
		{"before any", thrice, 9, false}, {"first", thrice, 14, true}, {"between", thrice, 29, false}, {"second", thrice, 30, true},
		{"third", thrice, 54, true}, {"after the third", thrice, 55, false}, {"no fourth", thrice, 70, false},
		{"for ever", fault.Window{For: engine.Forever}, engine.Never - 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.window.Has(tt.at); got != tt.want {
				t.Errorf("at %d: %v, want %v", tt.at, got, tt.want)
			}
		})
	}
}

// quietWorld returns a world of n jobs, 10 a second, that run for 100 ms and succeed. Every call takes 500 us each way.
// The reaper comes every second.
func quietWorld(t *testing.T, n uint64) *world {
	w := newWorld(t, 1, n, 10)
	w.flaky.service, w.flaky.fail = drawn(t)(dist.Constant(0.1)), 0
	w.node.Fetch.Poll = time.Minute
	return w
}

// events runs w and returns its events of some kinds, as text.
func (w *world) events(kinds ...engine.EventKind) []engine.Event {
	var seen []engine.Event
	w.ledger.perTime = func(e *engine.Event) {
		for _, k := range kinds {
			if e.Kind == k {
				seen = append(seen, *e)
			}
		}
	}
	w.start().Run()
	return seen
}

const second = engine.Time(time.Second)

// TestParallelServesInOrder sends calls of four nodes' reapers at once to a store that serves one
// call in 10 ms: each waits for those before it.
func TestParallelServesInOrder(t *testing.T) {
	for _, parallel := range []int{0, 1, 2} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			w := quietWorld(t, 1)
			w.flaky.service, w.node.Lease.Heartbeat = drawn(t)(dist.Constant(60)), 0
			w.node.CallTimeout, w.node.InStep = time.Second/2, true
			w.nodes, w.config.Parallel, w.config.Until = 4, parallel, 25*second
			w.links.OneWay[engine.OpRecover] = drawn(t)(dist.Constant(0.01))
			w.links.Faults = []fault.Fault{{Window: fault.Window{For: engine.Forever}, Ops: allOps(), LoseReply: 0.5}} // they are served all the same
			var last, batch engine.Time
			var nodes []int32
			for _, e := range w.events(engine.Called) {
				if e.Op != engine.OpRecover || e.At < 20*second {
					continue
				}
				gap := e.At - last
				if last = e.At; gap > second/10 {
					batch, nodes = e.At, nodes[:0]
				}
				n := len(nodes)
				nodes = append(nodes, e.Node)
				want := batch
				if parallel > 0 {
					want += engine.Time(10*time.Millisecond) * engine.Time(n/parallel)
				}
				if e.At != want || int(e.Node) != n {
					t.Errorf("call %d is of node %d at %v, want node %d at %v", n, e.Node, time.Duration(e.At), n, time.Duration(want))
				}
			}
			if last == 0 {
				t.Error("no calls")
			}
		})
	}
}

// TestStalledStore checks that no call is served in the windows and all are after them.
func TestStalledStore(t *testing.T) {
	w := quietWorld(t, 200)
	w.config.Controls = []fault.Control{{Kind: fault.StallStore, At: 3 * second, For: 2 * time.Second, Times: 2, Every: 5 * time.Second}}
	after := 0
	for _, e := range w.events(engine.Called) {
		if e.At > 3*second && e.At < 5*second || e.At > 8*second && e.At < 10*second {
			t.Errorf("%v at %v", e.Op, time.Duration(e.At))
		}
		if e.At == 5*second || e.At == 10*second {
			after++
		}
	}
	if after < 2 {
		t.Errorf("%d calls at the ends of the stalls", after)
	}
}

// TestSlowStore multiplies both delays of a call, its cost per job and its cost of scanned rows,
// within the window.
func TestSlowStore(t *testing.T) {
	must := drawn(t)
	l := &sim.Links{PerJob: must(dist.Constant(0.001)), Slows: []fault.Slow{{Window: fault.Window{From: second, For: time.Second}, Factor: 10}}}
	for op := range l.OneWay {
		l.OneWay[op] = must(dist.Constant(0.01))
	}
	l.Scan[engine.OpClaim] = sim.RowCosts{Ready: 1, Ahead: 20, Waiting: 300, InFlight: 4000, Ended: 50000}
	c := &engine.Call{ID: 1, Op: engine.OpClaim}
	r := &engine.Reply{Leases: make([]engine.Lease, 3)}
	rows := &sim.Rows{Ready: 1, Ahead: 2, Waiting: 3, InFlight: 4, Ended: 5}
	const scan = 1 + 2*20 + 3*300 + 4*4000 + 5*50000
	for _, tt := range []struct {
		name string
		at   engine.Time
		rows *sim.Rows
		want time.Duration
	}{
		{"calm", 0, nil, 13 * time.Millisecond}, {"calm, rows", 0, rows, 13*time.Millisecond + scan},
		{"slow", second, nil, 130 * time.Millisecond}, {"slow, rows", second, rows, 130*time.Millisecond + 10*scan},
	} {
		if got := l.Reply(tt.at, c, r, tt.rows); got != tt.want {
			t.Errorf("%s: the answer takes %v, want %v", tt.name, got, tt.want)
		}
	}
	if d := l.Request(2*second-1, c).Delay; d != 100*time.Millisecond {
		t.Errorf("the request takes %v, want 100ms", d)
	}
	l.Slows[0].Factor = 1e300
	if d := l.Reply(second, c, r, nil); d != dist.LongestDraw {
		t.Errorf("an answer that takes for ever takes %v", d)
	}
}

// TestRowsThatCallsFind compares the counts of jobs passed to the network with the number enqueued:
// each claim of a node that is not woken finds one more job, and passes over all of them, unless it is refused.
func TestRowsThatCallsFind(t *testing.T) {
	w := quietWorld(t, 30)
	w.config.CountRows, w.store.CountAhead, w.config.Until = true, true, 20*second
	w.config.Policy = func(int32) engine.Policy { return takesNothing{} }
	w.node.Fetch.Poll = 100 * time.Millisecond
	w.links.Faults = []fault.Fault{{Window: fault.Window{For: engine.Forever}, Ops: allOps(), Error: 0.1}}
	watch := &rowWatch{Network: w.links}
	w.network = watch
	arrivals := w.events(engine.Enqueued)
	if len(watch.claims) < 100 {
		t.Fatalf("%d claims", len(watch.claims))
	}
	refused := 0
	for _, c := range watch.claims {
		ready := 0
		for _, e := range arrivals {
			if e.At < c.at {
				ready++
			}
		}
		want := sim.Rows{Ready: ready, Ahead: ready}
		if c.refused {
			want.Ahead = 0
			refused++
		}
		if c.rows != want {
			t.Fatalf("at %v: %+v, want %+v", time.Duration(c.at), c.rows, want)
		}
	}
	if refused == 0 || watch.passed > 0 {
		t.Errorf("%d claims were refused; %d calls that claim nothing pass over jobs", refused, watch.passed)
	}
}

// takesNothing is a policy that claims only retries in a run without any.
type takesNothing struct{}

func (takesNothing) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.Retry, Limit: v.Idle})
}

func (takesNothing) Observe(*engine.Observation) {}

type rowWatch struct {
	sim.Network
	claims []foundRows
	passed int // other calls that went over jobs
}

type foundRows struct {
	at      engine.Time
	rows    sim.Rows
	refused bool
}

func (w *rowWatch) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *sim.Rows) time.Duration {
	if c.Op == engine.OpClaim {
		w.claims = append(w.claims, foundRows{now, *rows, r.Err != nil})
	} else if rows.Ahead != 0 {
		w.passed++
	}
	return w.Network.Reply(now, c, r, rows)
}

// TestPartialCommits refuses half of the outcomes during a window. They are sent again; applied
// outcomes are not applied twice.
func TestPartialCommits(t *testing.T) {
	w := quietWorld(t, 2000)
	w.ledger.detail = true
	w.jobs.gap = drawn(t)(dist.Constant(0.001))
	w.links.Faults = []fault.Fault{{Window: fault.Window{For: time.Minute}, Ops: allOps(), Partial: 0.5}}
	commits := 0
	for _, e := range w.events(engine.Called) {
		if e.Op == engine.OpCommit {
			commits += int(e.Count)
		}
	}
	for job, n := range w.ledger.jobs[engine.Acked] {
		if n != 1 {
			t.Errorf("job %d was acked %d times", job, n)
		}
	}
	// A batch of n is sent until its last outcome is through: log2(n) times and a bit.
	if n := w.ledger.n[engine.Acked]; n != 2000 || commits < 2*n || commits > 20*n {
		t.Errorf("%d jobs acked by %d outcomes", n, commits)
	}
}

// TestRefusedAndSentAgain refuses every outcome for three seconds. The engine sends them again as they were: from then
// on each is applied.
func TestRefusedAndSentAgain(t *testing.T) {
	w := quietWorld(t, 100)
	w.ledger.detail = true
	w.jobs.gap = drawn(t)(dist.Constant(0.001))
	w.links.Faults = []fault.Fault{{Window: fault.Window{For: 3 * time.Second}, Ops: allOps(), Partial: 1}}
	w.config.Until = engine.Time(time.Minute)
	acked := 0
	for _, e := range w.events(engine.Acked) {
		if acked++; e.At < engine.Time(3*time.Second) {
			t.Errorf("job %d was acked at %v", e.Job, e.At)
		}
	}
	if acked != 100 {
		t.Errorf("%d of 100 jobs were acked", acked)
	}
}

// TestStalledReaper lets a process die and stalls the reapers: its leases are not taken before the
// window ends. A process that starts meanwhile is stalled as well.
func TestStalledReaper(t *testing.T) {
	w := quietWorld(t, 20)
	w.nodes = 2
	w.flaky.service = drawn(t)(dist.Constant(60))
	w.config.Controls = []fault.Control{{Node: 0, At: 10 * second, For: 5 * time.Second},
		{Kind: fault.StallReaper, At: 12 * second, For: 58 * time.Second}, {Kind: fault.StallReaper, At: 13 * second, For: time.Second}}
	taken := w.events(engine.LeaseTaken)
	if len(taken) == 0 {
		t.Fatal("no lease was taken")
	}
	for _, e := range taken {
		if e.At < 70*second || e.At > 72*second {
			t.Errorf("taken at %v, want just after 70s", time.Duration(e.At))
		}
	}
}

// TestStalledPromoter promotes nothing in the window.
func TestStalledPromoter(t *testing.T) {
	w := quietWorld(t, 60)
	w.workload = &varied{poisson: w.jobs, delayed: time.Second}
	w.node.Promoter = engine.PromoterConfig{Every: time.Second, Batch: 100}
	w.store.Promoted = true
	w.config.Controls = []fault.Control{{Kind: fault.StallPromoter, At: second + 1, For: 30 * time.Second}}
	promoted := w.events(engine.Promoted)
	if len(promoted) != 20 {
		t.Errorf("%d jobs were promoted, want every third of 60", len(promoted))
	}
	for _, e := range promoted {
		if e.At < 31*second {
			t.Errorf("promoted at %v", time.Duration(e.At))
		}
	}
}

// TestSkewedClock sets a clock ahead by more than a TTL: its node, which checks its leases itself,
// loses all that it holds. After the window there is no error.
func TestSkewedClock(t *testing.T) {
	for _, tt := range []struct {
		name    string
		offset  time.Duration
		length  time.Duration
		longest engine.Time // time until which leases are lost
	}{
		{"skew", time.Minute, 10 * time.Second, 20 * second},
		{"jump", time.Minute, 0, 10*second + 1},
		{"behind", -20 * time.Second, 10 * time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 300)
			w.node.Lease = engine.LeaseConfig{TTL: 30 * time.Second, Local: true}
			w.flaky.service = drawn(t)(dist.Constant(5))
			w.config.Controls = []fault.Control{{Kind: fault.ShiftClock, At: 10 * second, For: tt.length, Offset: tt.offset}}
			watch := &ttlWatch{Network: w.links, ttl: map[time.Duration]engine.Time{}}
			w.network = watch
			lost := 0
			for _, e := range w.events(engine.LeaseLost) {
				if lost++; e.At < 10*second || e.At > tt.longest {
					t.Errorf("lost at %v", time.Duration(e.At))
				}
			}
			if lost == 0 && tt.longest > 0 {
				t.Error("no lease was lost")
			}
			usual := tt.length > 0 // at the end; a clock that jumped stays as it is
			if last := watch.ttl[30*time.Second] > watch.ttl[30*time.Second+tt.offset]; last != usual {
				t.Errorf("leases were last asked for at %v", watch.ttl)
			}
			if n := w.ledger.n[engine.Acked]; n != 300 {
				t.Errorf("%d of 300 jobs are done", n)
			}
		})
	}
}

// ttlWatch records the latest claim with leases of each length.
type ttlWatch struct {
	sim.Network
	ttl map[time.Duration]engine.Time
}

func (w *ttlWatch) Request(now engine.Time, c *engine.Call) sim.Fate {
	if c.Op == engine.OpClaim {
		w.ttl[c.TTL] = now
	}
	return w.Network.Request(now, c)
}

// TestRollingCrashes kills one node after the other, and round again.
func TestRollingCrashes(t *testing.T) {
	w := quietWorld(t, 300)
	w.nodes = 3
	w.config.Controls = []fault.Control{{Kind: fault.Crash, At: second, For: time.Second, Times: 5, Every: 3 * time.Second, Rolls: true}}
	var got []string
	for _, e := range w.events(engine.NodeDown) {
		got = append(got, fmt.Sprintf("%d at %v", e.Node, time.Duration(e.At)))
	}
	if want := "[0 at 1s 1 at 4s 2 at 7s 0 at 10s 1 at 13s]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestLostLeases loses half of the lease records. Jobs that a process has when it dies
// come back only where reapers look for rows in flight.
func TestLostLeases(t *testing.T) {
	for _, orphans := range []bool{false, true} {
		t.Run(fmt.Sprint("orphans=", orphans), func(t *testing.T) {
			w := quietWorld(t, 100)
			w.store.Orphans, w.config.Until = orphans, 1000*second
			w.flaky.service = drawn(t)(dist.Constant(60))
			w.node.Lease.Heartbeat = 0
			w.config.Controls = []fault.Control{{Kind: fault.LoseLeases, At: 20 * second, Share: 0.5}, {Node: 0, At: 20*second + 1, For: time.Second}}
			lost := len(w.events(engine.LeaseForgotten))
			if lost < 30 || lost > 70 {
				t.Errorf("%d of 100 records lost, want about half", lost)
			}
			left := lost
			if orphans {
				left = 0
			}
			if w.memory.Live() != left {
				t.Errorf("%d jobs are left, want %d", w.memory.Live(), left)
			}
		})
	}
}

// TestRedrive makes dead jobs ready again, each time half of all dead: with reset they have as many
// attempts again. The run continues until then.
func TestRedrive(t *testing.T) {
	for _, reset := range []bool{false, true} {
		t.Run(fmt.Sprint("reset=", reset), func(t *testing.T) {
			w := quietWorld(t, 200)
			w.flaky.fail, w.store.KeepDead, w.ledger.detail = 1, true, true
			w.config.Controls = []fault.Control{{Kind: fault.Redrive, At: 3600 * second, Share: 0.5, Reset: reset, Times: 2, Every: time.Hour}}
			first, second := 0, 0
			for _, e := range w.events(engine.Redriven) {
				switch e.At {
				case engine.Time(time.Hour):
					first++
				case engine.Time(2 * time.Hour):
					second++
				default:
					t.Errorf("redriven at %v", time.Duration(e.At))
				}
			}
			if first < 70 || first > 130 || second < 70 || second > 130 {
				t.Errorf("%d and %d of 200 came back, want half each time", first, second)
			}
			attempts := 1
			if reset {
				attempts = 8
			}
			if got, want := w.ledger.n[engine.Leased], 8*200+(first+second)*attempts; got != want {
				t.Errorf("%d claims, want %d", got, want)
			}
			if got, want := w.ledger.n[engine.Buried], 200+first+second; got != want || w.memory.Live() != 0 {
				t.Errorf("%d deaths, want %d; %d jobs are left", got, want, w.memory.Live())
			}
		})
	}
}

// TestHeldJobsAreClaimedEarly checks that a node claims a job with a delay at once, and starts it
// when it is due.
func TestHeldJobsAreClaimedEarly(t *testing.T) {
	w := quietWorld(t, 3)
	w.store.Held, w.config.Held = true, true
	w.workload = &varied{poisson: w.jobs, delayed: 20 * time.Second}
	var enqueued engine.Time
	for _, e := range w.events(engine.Enqueued, engine.Leased, engine.Started) {
		switch {
		case e.Job != 3:
		case e.Kind == engine.Enqueued:
			enqueued = e.At
		case e.Kind == engine.Leased && e.At > enqueued.Add(time.Millisecond):
			t.Errorf("claimed %v after it was enqueued", e.At.Sub(enqueued))
		case e.Kind == engine.Started && (e.At < enqueued.Add(20*time.Second) || e.At > enqueued.Add(20*time.Second+time.Millisecond)):
			t.Errorf("started %v after it was enqueued", e.At.Sub(enqueued))
		}
	}
	if w.ledger.n[engine.Acked] != 3 {
		t.Errorf("%d jobs are done", w.ledger.n[engine.Acked])
	}
}

// TestHeldRetriesAreClaimedEarly checks the same for a retry that waits for its backoff.
func TestHeldRetriesAreClaimedEarly(t *testing.T) {
	w := quietWorld(t, 1)
	w.store.Held, w.config.Held, w.flaky.fail = true, true, 1
	var nacked engine.Event
	for _, e := range w.events(engine.Nacked, engine.Leased) {
		switch {
		case e.Kind == engine.Nacked:
			nacked = e
		case e.Delivery > 1 && e.At > nacked.At.Add(time.Millisecond):
			t.Errorf("delivery %d is claimed %v after the nack", e.Delivery, e.At.Sub(nacked.At))
		}
	}
	if n := w.ledger.n[engine.Leased]; n != 8 {
		t.Errorf("%d claims, want 8", n)
	}
}

// TestRoomIsAnnounced lets one job of a class run at a time: the next is claimed when
// the one before is committed, not at the poll, which comes in a minute.
func TestRoomIsAnnounced(t *testing.T) {
	w := quietWorld(t, 100)
	w.store.MaxRunning, w.config.MakesRoom = []int{1}, true
	s := w.start()
	s.Run()
	if s.Now() > 20*second {
		t.Errorf("100 jobs of 100 ms took %v", time.Duration(s.Now()))
	}
}

// TestStopNode stops a process that holds more jobs than it runs: it hands the others back, claims
// none and finishes the running ones; those still running at the end die, and another process
// starts.
func TestStopNode(t *testing.T) {
	w := quietWorld(t, 100)
	w.nodes, w.node.Workers, w.node.Fetch = 1, 2, engine.FetchConfig{Batch: 10, Poll: time.Minute, Prefetch: 5}
	w.flaky.service = drawn(t)(dist.Constant(1))
	w.config.Controls = []fault.Control{{Kind: fault.StopNode, At: 5*second + 1, For: 50 * time.Millisecond}}
	returned, aborted, up := 0, 0, 0
	for _, e := range w.events(engine.Leased, engine.Started, engine.Returned, engine.Aborted, engine.NodeUp) {
		stopped := e.At > 5*second+engine.Time(2*time.Millisecond) && e.At < 5*second+engine.Time(50*time.Millisecond)
		switch e.Kind {
		case engine.Leased, engine.Started:
			if stopped {
				t.Errorf("job %d is %v at %v by a process that stops", e.Job, e.Kind, time.Duration(e.At))
			}
		case engine.Returned:
			returned++
		case engine.Aborted:
			aborted++
		case engine.NodeUp:
			up++
		}
	}
	if returned != 5 || aborted == 0 || up != 2 || w.ledger.n[engine.Acked] != 100 {
		t.Errorf("%d returned, %d aborted, %d processes, %d acked: want 5, some, 2, 100", returned, aborted, up, w.ledger.n[engine.Acked])
	}
}

// TestLimitStore lets a store that serves a few calls at once serve one at a time for a while.
func TestLimitStore(t *testing.T) {
	w := quietWorld(t, 200)
	w.nodes, w.config.Parallel = 4, 8
	for op := range w.links.OneWay {
		w.links.OneWay[op] = drawn(t)(dist.Constant(0.02))
	}
	w.config.Controls = []fault.Control{{Kind: fault.LimitStore, Limit: 1, At: 5 * second, For: 5 * time.Second}, {Kind: fault.LimitStore, Limit: 2, At: 7 * second, For: 10 * time.Second}}
	last, close := engine.Time(0), [3]int{}
	for _, e := range w.events(engine.Called) {
		which := 0
		if e.At > 5*second && e.At < 10*second {
			which = 1
		} else if e.At > 17*second {
			which = 2
		}
		if e.At-last < engine.Time(20*time.Millisecond) {
			close[which]++
		}
		last = e.At
	}
	if close[0] == 0 || close[1] != 0 || close[2] == 0 {
		t.Errorf("%v calls come within 20 ms of the one before: before, during and after", close)
	}
	if w.ledger.n[engine.Acked] != 200 {
		t.Errorf("%d jobs are acked", w.ledger.n[engine.Acked])
	}
}

// TestControlsFollowEvents crashes the node of the third claim, at once, so that its jobs start
// nowhere; and freezes another some time after one of its acks.
func TestControlsFollowEvents(t *testing.T) {
	w := quietWorld(t, 200)
	w.nodes = 3
	w.config.Controls = []fault.Control{
		{Kind: fault.Crash, On: engine.Leased, Nth: 3, Node: -1, For: 10 * time.Second},
		{Kind: fault.Pause, On: engine.Called, Op: engine.OpCommit, Nth: 2, Node: 1, At: second, For: 3 * time.Second},
		{Kind: fault.Crash, On: engine.Acked, Nth: 20, Node: -1, For: time.Second, Before: second}, // too late
	}
	var third engine.Event
	leases, downs, pauses, commits := 0, 0, 0, 0
	var commit engine.Time
	for _, e := range w.events(engine.Leased, engine.Started, engine.NodeDown, engine.NodePause, engine.Called) {
		switch e.Kind {
		case engine.Leased:
			if leases++; leases == 3 {
				third = e
			}
		case engine.Started:
			if e.Job == third.Job && e.Delivery == third.Delivery {
				t.Errorf("what was claimed by the node that died starts at %v", time.Duration(e.At))
			}
		case engine.Called:
			if e.Op == engine.OpCommit && e.Node == 1 {
				if commits++; commits == 2 {
					commit = e.At
				}
			}
		case engine.NodeDown:
			if downs++; e.At != third.At || e.Node != third.Node {
				t.Errorf("node %d dies at %v, want node %d at %v", e.Node, time.Duration(e.At), third.Node, time.Duration(third.At))
			}
		case engine.NodePause:
			if pauses++; e.At != commit+second || e.Node != 1 {
				t.Errorf("node %d freezes at %v, want node 1 at %v", e.Node, time.Duration(e.At), time.Duration(commit+second))
			}
		}
	}
	if downs != 1 || pauses != 1 {
		t.Errorf("%d deaths, %d pauses, want 1 and 1", downs, pauses)
	}
}

// TestLimitEnds has the reapers of four nodes come at once to a store that serves one call in 10 ms, until it serves
// them all: those that still wait then are served at that time.
func TestLimitEnds(t *testing.T) {
	w := quietWorld(t, 1)
	w.flaky.service, w.node.Lease.Heartbeat = drawn(t)(dist.Constant(60)), 0
	w.node.InStep, w.nodes, w.config.Until = true, 4, 25*second
	w.links.OneWay[engine.OpRecover] = drawn(t)(dist.Constant(0.01))
	const begin, end = 20*second + second/2, 21*second + second/40
	w.config.Controls = []fault.Control{{Kind: fault.LimitStore, Limit: 1, At: begin, For: time.Duration(end - begin)}}
	var served []time.Duration
	for _, e := range w.events(engine.Called) {
		if e.Op == engine.OpRecover && e.At > begin && e.At < 22*second {
			served = append(served, time.Duration(e.At-21*second))
		}
	}
	if got, want := fmt.Sprint(served), "[10ms 20ms 25ms 25ms]"; got != want {
		t.Errorf("served at %s after 21 s, want %s", got, want)
	}
}
