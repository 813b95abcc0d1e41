package sim_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/quantity"
	"qsim/engine/sim"
	"qsim/policies"
)

// skipIfRaced leaves out a test that runs many worlds one after the other in one goroutine.
func skipIfRaced(t *testing.T) {
	if slowdown > 1 {
		t.Skip("the race detector is on: there is one goroutine, and much to compute")
	}
}

// remote returns the world of c with calls that take time: 0.5 ms and more each way.
func (c calm) remote(t testing.TB, policy func() engine.Policy) *world {
	w := c.world(t)
	for op := range w.links.OneWay {
		w.links.OneWay[op] = drawn(t)(dist.Exponential(0.002))
	}
	w.node.Commit.Linger = 3 * time.Millisecond
	w.use(policy)
	return w
}

// TestPoliciesThatAreTheSame checks that runs are equal, event by event, under policies with the
// same effect, and differ under policies with a slightly different one.
func TestPoliciesThatAreTheSame(t *testing.T) {
	skipIfRaced(t)
	type policy = func(workers int) engine.Policy
	fifo := func(int) engine.Policy { return policies.FIFO{} }
	freshFirst := func(int) engine.Policy { return policies.FreshFirst{} }
	retryFirst := func(int) engine.Policy { return policies.RetryFirst{} }
	capped := func(more int) policy {
		return func(workers int) engine.Policy { return policies.InFlightCap{Retries: max(0, workers+more)} }
	}
	weighted := func(percent int) policy {
		return func(int) engine.Policy { return &policies.Weighted{Fresh: quantity.Percent(percent)} }
	}
	for _, tt := range []struct {
		name string
		a, b policy
		same bool
	}{
		{"a cap of all workers is none", fifo, capped(0), true},
		{"a cap above all workers is none", fifo, capped(3), true},
		{"a cap below all workers", fifo, capped(-1), false},
		{"a fresh share of 100 % is fresh-first", freshFirst, weighted(100), true},
		{"a fresh share of 90 %", freshFirst, weighted(90), false},
		{"a fresh share of 0 % is retry-first", retryFirst, weighted(0), true},
		{"a fresh share of 10 %", retryFirst, weighted(10), false},
		{"first in, first out and fresh-first", fifo, freshFirst, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			differ, worlds := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				c := calms.Draw(rt, "world")
				c.Workers++ // a cap of no retries would let none of them run
				run := func(p policy) sim.Digest {
					return runToEnd(c.remote(t, func() engine.Policy { return p(c.Workers) }).start())
				}
				worlds++
				if run(tt.a) != run(tt.b) {
					differ++
					if tt.same {
						rt.Fatal("another fingerprint")
					}
				}
			})
			if !tt.same && differ < worlds/20 { // a third of them does, or more
				t.Errorf("differ in %d of %d worlds", differ, worlds)
			}
		})
	}
}

// classOnly lists the kinds that select jobs by their class alone, without reserving a worker for
// one.
var classOnly = []string{"fifo", "fresh-first", "retry-first", "weighted", "bernoulli", "inflight-cap", "retry-budget", "token-bucket", "aimd"}

// ofJobs is the digest of the events of jobs, without calls: a policy that limits retries cannot know whether its limit
// or the store held a claim back, and claims once more.
type ofJobs struct{ sim.Digest }

func (d *ofJobs) Record(e *engine.Event) {
	if e.Kind != engine.Called {
		d.Add(e)
	}
}

// TestPoliciesWithoutFailures: where no attempt fails there is but one class, and all
// policies that look at nothing else do the same to every job, to the instant; where one in two
// fails they do not.
func TestPoliciesWithoutFailures(t *testing.T) {
	skipIfRaced(t)
	differ := make([]int, len(classOnly))
	worlds := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := calms.Draw(rt, "world")
		c.Workers += 4 // a fifth of them is one
		worlds++
		for _, fails := range []float64{0, 0.5} {
			c.Fails, c.Storm = fails, fails
			var first sim.Digest
			for i, kind := range classOnly {
				w, seen := c.world(t), new(ofJobs)
				w.use(func() engine.Policy { return kindOf(t, kind, c.Workers) })
				w.recorder, w.silent = seen, false
				w.start().Run()
				switch d := seen.Digest; {
				case i == 0:
					first = d
				case d != first && fails == 0:
					rt.Fatalf("%s: another fingerprint than %s", kind, classOnly[0])
				case d != first:
					differ[i]++
				}
			}
		}
	})
	for i, kind := range classOnly[1:] {
		spared := kind == "retry-budget" || kind == "token-bucket" // their reserves outlast these runs
		if differ[i+1] == 0 && !spared {
			t.Errorf("%s is the same as %s in %d worlds with failures", kind, classOnly[0], worlds)
		}
	}
}

func kindOf(t testing.TB, kind string, workers int) engine.Policy {
	p, err := policies.New(kind, nil, workers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The types below are a world in which all takes factor times as long. What they stand for reads
// the time of the world as it was, so that its draws are the same to the nanosecond.

type slowWorkload struct {
	sim.Workload
	factor engine.Time
}

func (w slowWorkload) Next(j *engine.NewJob) (engine.Time, bool) {
	at, ok := w.Workload.Next(j)
	j.Delay *= time.Duration(w.factor)
	return at * w.factor, ok
}

type slowHandlers struct {
	sim.Handlers
	factor engine.Time
}

func (h slowHandlers) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := h.Handlers.Begin(now/h.factor, node, j)
	x.Runs *= time.Duration(h.factor)
	return x
}

type slowNetwork struct {
	sim.Network
	factor engine.Time
}

func (n slowNetwork) Request(now engine.Time, c *engine.Call) sim.Fate {
	f := n.Network.Request(now/n.factor, c)
	f.Delay *= time.Duration(n.factor)
	return f
}

func (n slowNetwork) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *sim.Rows) time.Duration {
	return n.Network.Reply(now/n.factor, c, r, rows) * time.Duration(n.factor)
}

type slowRetry struct {
	engine.RetryPolicy
	factor time.Duration
}

func (r slowRetry) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	before := *j
	before.LastDelay /= r.factor
	before.Age /= r.factor
	before.Waited /= r.factor
	verb, d := r.RetryPolicy.Next(&before, e, u)
	return verb, d * r.factor
}

// slow multiplies all durations in w by factor, except those named in forgotten.
func (w *world) slow(factor time.Duration, forgotten string) {
	at := engine.Time(factor)
	c := &w.node
	for _, d := range []struct {
		name  string
		value *time.Duration
	}{
		{"poll", &c.Fetch.Poll}, {"cooldown", &c.Fetch.Cooldown}, {"linger", &c.Commit.Linger}, {"commit timeout", &c.Commit.Timeout},
		{"call timeout", &c.CallTimeout}, {"ttl", &c.Lease.TTL}, {"heartbeat", &c.Lease.Heartbeat}, {"reaper", &c.Reaper.Every}, {"grace", &c.Reaper.Grace},
		{"promoter", &c.Promoter.Every}, {"timeout", &c.Kinds[0].Timeout}, {"restart", &w.config.Restart},
	} {
		if d.name != forgotten {
			*d.value *= factor
		}
	}
	for i := range c.Commit.Backoff {
		c.Commit.Backoff[i] *= factor
	}
	for i := range w.config.Controls {
		w.config.Controls[i].At *= at
		w.config.Controls[i].For *= factor
	}
	if forgotten != "backoff" {
		c.Kinds[0].Retry = slowRetry{c.Kinds[0].Retry, factor}
	}
	w.workload, w.handlers = slowWorkload{w.jobs, at}, slowHandlers{w.flaky, at}
	if w.network = w.links; forgotten != "network" {
		w.network = slowNetwork{w.links, at}
	}
}

// troubled returns a world with lost calls, a crash, a pause, lapsing leases, timeouts and a promoter, whose
// configuration consists of durations that can be multiplied.
func (c calm) troubled(t testing.TB) *world {
	w := c.remote(t, alike[3].policy)
	w.node.InStep = true // a part of a period is rounded to a nanosecond
	w.node.Fetch.Poll, w.node.Fetch.Cooldown = 700*time.Millisecond, 11*time.Millisecond
	w.node.Commit.Timeout, w.node.Commit.Backoff = 1300*time.Millisecond, []time.Duration{170 * time.Millisecond}
	w.node.CallTimeout = 900 * time.Millisecond
	w.node.Lease = engine.LeaseConfig{TTL: 2500 * time.Millisecond, Heartbeat: 800 * time.Millisecond}
	w.node.Reaper = engine.ReaperConfig{Every: 500 * time.Millisecond, Batch: 10, Grace: 30 * time.Millisecond}
	w.node.Promoter = engine.PromoterConfig{Every: 450 * time.Millisecond, Batch: 10}
	w.store.Promoted = true
	w.node.Kinds[0].Timeout = 3 * time.Second
	w.config.Restart = 1900 * time.Millisecond
	w.flaky.kill = 0.01
	w.links.Faults = []fault.Fault{{Window: fault.Window{For: time.Minute}, Ops: allOps(), LoseRequest: 0.05, LoseReply: 0.05, Duplicate: 0.05, Error: 0.02}}
	w.config.Controls = []fault.Control{
		{Kind: fault.Crash, At: 3 * second, For: 1700 * time.Millisecond},
		{Kind: fault.Pause, Node: int32(c.Nodes - 1), At: 8 * second, For: 4100 * time.Millisecond},
	}
	w.silent = false
	return w
}

// all records every event.
type all struct{ events []engine.Event }

func (a *all) Record(e *engine.Event) { a.events = append(a.events, *e) }

// scaledBy returns the first difference between b and a with every time multiplied by factor, as text; "" if they are
// equal.
func scaledBy(factor time.Duration, a, b []engine.Event) string {
	for i := range min(len(a), len(b)) {
		want := a[i]
		want.At *= engine.Time(factor)
		for _, d := range []*time.Duration{&want.Waited, &want.Age, &want.Delay, &want.Ran} {
			*d *= factor
		}
		if b[i] != want {
			return fmt.Sprintf("event %d is %+v, want %+v", i, b[i], want)
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d events, want %d", len(b), len(a))
	}
	return ""
}

// TestTimeScales: every duration × 2 makes every time × 2 and changes no count: the same events
// happen in the same order, whatever the trouble.
func TestTimeScales(t *testing.T) {
	skipIfRaced(t)
	run := func(c calm, factor time.Duration, forgotten string) []engine.Event {
		w, seen := c.troubled(t), &all{}
		w.recorder = seen
		w.slow(factor, forgotten)
		w.start().Run()
		return seen.events
	}
	var n [engine.NumEventKinds]int
	rapid.Check(t, func(rt *rapid.T) {
		c := calms.Draw(rt, "world")
		once, twice := run(c, 1, ""), run(c, 2, "")
		if d := scaledBy(2, once, twice); d != "" {
			rt.Fatal(d)
		}
		for _, e := range once {
			n[e.Kind]++
		}
	})
	for _, k := range []engine.EventKind{engine.LeaseTaken, engine.Fenced, engine.CallTimedOut, engine.TimedOut, engine.Aborted, engine.NodeWake, engine.Extended} {
		if n[k] == 0 {
			t.Errorf("no %v in any world", k)
		}
	}
	for _, forgotten := range []string{"poll", "cooldown", "linger", "commit timeout", "call timeout", "ttl", "heartbeat", "reaper", "grace", "promoter", "timeout", "restart", "backoff", "network"} {
		found := false
		for seed := 0; seed < 20 && !found; seed++ {
			c := calms.Example(seed)
			found = scaledBy(2, run(c, 1, ""), run(c, 2, forgotten)) != ""
		}
		if !found {
			t.Errorf("%s is not scaled, and nothing is found", forgotten)
		}
	}
}
