package sim_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/policies"
)

// die draws random numbers for a test's own choices.
type die struct {
	rand keyed.Rand
	n    uint64
}

// below returns a number in [0, n).
func (d *die) below(n int) int {
	d.n++
	return int(d.rand.Uint64(keyed.ForChaos, d.n, 0, 0) % uint64(n))
}

func (d *die) between(least, most int) int { return least + d.below(most-least+1) }

func (d *die) coin() bool { return d.below(2) == 0 }

func (d *die) milliseconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Millisecond
}

// zeroOr returns 0 or, with equal probability, a draw of f.
func zeroOr[T any](d *die, f T) (zero T) {
	if d.coin() {
		return zero
	}
	return f
}

// swarmPolicies never keep a retry from running for ever.
var swarmPolicies = []string{"fifo", "lifo", "fresh-first", "retry-first", "weighted", "bernoulli", "separate", "inflight-cap", "retry-budget", "aimd", "adaptive-lifo",
	"breaker", "codel", "aging", "deadline", "tenant-round-robin", "tenant-drr", "tenant-fair", "queues", "split"}

// healed is the time by which a swarm's faults are over.
const healed = engine.Time(40 * time.Second)

// swarmWorld draws a whole configuration and its faults from a seed.
func swarmWorld(t testing.TB, seed uint64) *world {
	d := &die{rand: keyed.Rand{Seed: seed}}
	must := drawn(t)
	w := newWorld(t, seed, uint64(d.between(50, 200)), 10)
	w.nodes = d.between(1, 4)
	c := &w.node
	c.Workers = d.between(1, 8)
	c.CallTimeout = d.milliseconds(200, 1000)
	c.Fetch = engine.FetchConfig{Batch: d.between(1, 10), Poll: d.milliseconds(50, 2000), Prefetch: zeroOr(d, d.between(1, 4)), Cooldown: zeroOr(d, d.milliseconds(1, 50))}
	c.Commit = engine.CommitConfig{Batch: d.between(1, 8), Linger: zeroOr(d, d.milliseconds(1, 10)), Calls: d.between(1, 3), Timeout: d.milliseconds(200, 2000),
		Tries: zeroOr(d, d.between(1, 3)), Drop: d.below(2) == 1, Backpressure: zeroOr(d, d.between(1, 20))}
	if d.coin() {
		c.Commit.Backoff = []time.Duration{d.milliseconds(0, 50), d.milliseconds(50, 500)}
	}
	// A reaper may take all jobs at once, and must be able to commit what becomes of
	// them before its own leases expire: else it takes them again and again. A commit
	// takes 40 ms and more, and without linger it carries one outcome.
	perCall := c.Commit.Calls
	if c.Commit.Linger > 0 {
		perCall *= c.Commit.Batch
	}
	c.Lease = engine.LeaseConfig{TTL: 15*time.Second/time.Duration(perCall) + d.milliseconds(3000, 20000)}
	late := d.below(3)
	c.Lease.RunLate, c.Lease.IgnoreLate = late == 1, late == 2
	c.Lease.Heartbeat = zeroOr(d, c.Lease.TTL/3)
	c.Reaper = engine.ReaperConfig{Every: zeroOr(d, d.milliseconds(500, 3000)), Batch: d.between(1, 20), Grace: zeroOr(d, d.milliseconds(1, 1000)),
		OnStart: d.coin(), Nothing: d.below(4) == 0, LeaderOnly: d.below(2) == 1}
	c.Promoter = engine.PromoterConfig{Every: zeroOr(d, d.milliseconds(100, 1000)), Batch: d.between(1, 20), Order: engine.Order(d.below(2)), LeaderOnly: d.below(2) == 1}
	c.Leader.TTL, c.Leader.Renew = 3*time.Second, time.Second
	c.Kinds[0].Timeout = zeroOr(d, d.milliseconds(300, 3000))
	c.Kinds[0].Retry.(*policies.Backoff).MaxAttempts = d.between(1, 12)

	w.store = engine.StoreOptions{Fence: engine.FenceToken + engine.Fence(d.below(3)), Place: engine.PlaceHead + engine.Place(d.below(4)), Promoted: c.Promoter.Every > 0, LapseAfter: -1}
	if c.Reaper.Every == 0 {
		w.store.LapseAfter = c.Reaper.Grace
	}
	kind := swarmPolicies[d.below(len(swarmPolicies))]
	if kind == "separate" && c.Workers == 1 {
		kind = "fifo"
	}
	if kind == "codel" {
		w.sheds = 5 * time.Second
	}
	w.config.Policy = func(int32) engine.Policy {
		p, err := policies.New(kind, nil, c.Workers, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return p
	}
	w.config.Wake = sim.WakeMode(d.below(3))
	w.config.Restart = d.milliseconds(100, 5000)
	if d.coin() {
		slow := d.milliseconds(0, 300)
		w.config.EnqueueDelay = func(_ engine.Time, j *engine.NewJob) time.Duration { return slow * time.Duration(j.ID%3) }
	}
	w.flaky.service = must(dist.LogNormalQuantiles(0.1, 0.5))
	w.flaky.from, w.flaky.until, w.flaky.stormFail = 0, healed, float64(d.below(80))/100
	w.flaky.kill, w.flaky.ignoresCancel = zeroOr(d, 0.01), d.coin()
	for op := range w.links.OneWay {
		w.links.OneWay[op] = must(dist.Exponential(float64(d.between(1, 20)) / 1000))
	}
	if d.coin() {
		w.links.PerJob = must(dist.Constant(0.001))
	}
	swarmFaults(t, d, w)
	swarmFurther(t, d, w)
	swarmTroubles(d, w)
	w.node.Kinds = []engine.KindConfig{{Timeout: c.Kinds[0].Timeout, Retry: freeOf{c.Kinds[0].Retry, w.free}}}
	w.workload = &varied{w.jobs, w.serialKeys, w.delayed}
	return w
}

func swarmFaults(t testing.TB, d *die, w *world) {
	must := drawn(t)
	for range d.below(5) {
		from := engine.Time(d.milliseconds(0, 30000))
		f := fault.Fault{Window: fault.Window{From: from, For: min(healed.Sub(from), d.milliseconds(100, 15000))}}
		for op := range f.Ops {
			f.Ops[op] = d.coin()
		}
		if d.coin() {
			f.Nodes = []int32{int32(d.below(w.nodes))}
		}
		share := func() float64 { return float64(zeroOr(d, d.between(1, 100))) / 100 }
		f.LoseRequest, f.LoseReply, f.Duplicate, f.Error, f.Partial = share(), share(), share(), share(), share()
		if d.coin() {
			delay := must(dist.Exponential(float64(d.between(1, 2000)) / 1000))
			f.Delay = &delay
		}
		w.links.Faults = append(w.links.Faults, f)
	}
	for range d.below(5) {
		longest := 10000
		if d.below(4) == 0 {
			longest = 40000 // longer than any lease
		}
		w.config.Controls = append(w.config.Controls, fault.Control{Node: int32(d.below(w.nodes)), At: engine.Time(d.milliseconds(0, 30000)),
			For: d.milliseconds(100, longest), Kind: fault.ControlKind(d.below(2))})
	}
}

// The default reaches every kind of event; before a release, let it run for minutes.
var swarmSeeds = flag.Int("swarm", 1000, "how many random worlds TestSwarm runs")

// TestSwarm runs many small worlds, each with a random configuration and random
// faults. What must never be is checked throughout; when the faults are over, every
// job must end, and has ended exactly once.
func TestSwarm(t *testing.T) {
	seeds := *swarmSeeds / slowdown
	var n [engine.NumEventKinds]int64
	for seed := range uint64(seeds) {
		w := swarmWorld(t, seed+1)
		checker := check.New(w.rules())
		w.recorder = checker
		w.config.Until = healed.Add(10 * time.Minute)
		s := w.start()
		for s.Step() && checker.Breach() == nil {
			if s.Events()%500 == 0 {
				w.audit(t, checker)
			}
		}
		checker.Settle()
		w.audit(t, checker)
		if b := checker.Breach(); b != nil {
			t.Errorf("seed %d: %v", seed+1, b)
		}
		if w.flaky.begun != w.flaky.ended {
			t.Errorf("seed %d: %d executions began, %d ended", seed+1, w.flaky.begun, w.flaky.ended)
		}
		for k, count := range checker.Events() {
			n[k] += count
		}
		if seed < 20 {
			again := swarmWorld(t, seed+1)
			again.config.Until, again.silent = w.config.Until, true
			if second := again.start(); runToEnd(second) != s.Digest() {
				t.Errorf("seed %d: another run, without a recorder, has another fingerprint", seed+1)
			}
		}
		if t.Failed() {
			return
		}
	}
	for k := engine.Enqueued; k < engine.NumEventKinds; k++ {
		if n[k] == 0 && slowdown == 1 {
			t.Errorf("no %v in %d runs: the swarm does not reach it", k, seeds)
		}
	}
}

// rules returns the guarantees of a random world.
func (w *world) rules() check.Rules {
	r := check.Rules{Store: w.store, Node: w.node, Nodes: w.nodes, LostInFlight: w.lost.inFlight, Calm: engine.Never}
	r.Sheds = w.sheds
	if w.lost.waiting {
		r.LostWaiting = func(engine.JobID) bool { return true }
	}
	if w.serialKeys > 0 {
		r.Serial = func(j engine.JobID) uint32 { return serialKey(j, w.serialKeys) }
	}
	for _, c := range w.config.Controls {
		r.Redrive.Resets = r.Redrive.Resets || c.Reset
	}
	return r
}

// audit compares the content of the store with the recorded events.
func (w *world) audit(t testing.TB, c *check.Checker) {
	stats, err := w.memory.Stats(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Balance(stats)
	c.Sweep(w.memory.Each)
}

func runToEnd(s *sim.Sim) sim.Digest {
	s.Run()
	return s.Digest()
}
