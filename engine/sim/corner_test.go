package sim_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
	"qsim/policies"
)

// A batch that starts over, partly applied, must keep its outcomes even if leases in it expire
// meanwhile by the node's own clock: the store answers by position.
func TestRequeuedBatchKeepsItsOutcomes(t *testing.T) {
	for seed := uint64(1); seed < 30; seed++ {
		w := newWorld(t, seed, 500, 50)
		w.flaky.service = drawn(t)(dist.Exponential(1))
		w.node.Lease = engine.LeaseConfig{TTL: 2 * time.Second, Local: true}
		w.node.Commit.Tries = 1
		w.links.Faults = []fault.Fault{{Window: fault.Window{For: 5 * time.Second}, Ops: allOps(), Partial: 0.5}}
		w.config.Until = 100 * second
		s := w.start()
		s.Run()
		if w.ledger.n[engine.Acked] == 0 || w.ledger.n[engine.LeaseLost] == 0 {
			t.Errorf("seed %d: %d acked, %d leases lost: the trouble did not come", seed, w.ledger.n[engine.Acked], w.ledger.n[engine.LeaseLost])
		}
	}
}

// Jobs due when a control begins become ready first, with recorded events.
func TestControlsLeavePromotionsAlone(t *testing.T) {
	for _, kind := range []fault.ControlKind{fault.Redrive, fault.LoseLeases} {
		w := quietWorld(t, 30)
		w.jobs.gap = drawn(t)(dist.Constant(1))
		w.store.KeepDead = true
		w.workload = &varied{poisson: w.jobs, delayed: 5 * time.Second}
		w.config.Controls = []fault.Control{{Kind: kind, At: 8 * second, For: 1}}
		if n := len(w.events(engine.Promoted)); n != 10 {
			t.Errorf("control %v: %d promotions are seen, want those of 10 delayed jobs", kind, n)
		}
	}
}

// A job that a node holds for its time waits: a cap of all workers changes nothing.
func TestHeldJobsAreNotInFlight(t *testing.T) {
	var digests []sim.Digest
	for _, p := range []engine.Policy{policies.FIFO{}, policies.InFlightCap{Retries: 10}} {
		w := newWorld(t, 1, 2000, 20)
		w.node.Workers = 10
		w.flaky.service, w.flaky.fail = drawn(t)(dist.Exponential(0.1)), 0.3
		w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 8, Kind: policies.Exponential, First: 30 * time.Second, Factor: 2, Max: 600 * time.Second}
		w.store.Held, w.config.Held = true, true
		w.config.Policy = func(int32) engine.Policy { return p }
		s := w.start()
		s.Run()
		digests = append(digests, s.Digest())
	}
	if digests[0] != digests[1] {
		t.Error("a cap of all workers is seen")
	}
}

// A reaper of two steps must not read again before its previous write has been answered.
func TestReaperWaitsForItself(t *testing.T) {
	for _, g := range []engine.Fence{engine.FenceToken, engine.FenceState} {
		w := quietWorld(t, 20)
		w.flaky.service = drawn(t)(dist.Constant(20))
		w.node.Lease.Heartbeat = 0
		w.node.Reaper = engine.ReaperConfig{Every: time.Second, Batch: 100, Guard: g, Gap: time.Second}
		w.config.Controls = []fault.Control{{At: 10 * second, For: time.Second}}
		w.ledger.detail = true
		s := w.start()
		s.Run()
		taken := w.ledger.jobs[engine.LeaseTaken]
		for job, n := range taken {
			if n > 1 {
				t.Errorf("guard %v: job %d is taken %d times", g, job, n)
			}
		}
		if len(taken) == 0 || w.ledger.n[engine.Fenced] != 0 {
			t.Errorf("guard %v: %d jobs are taken, %d outcomes fenced", g, len(taken), w.ledger.n[engine.Fenced])
		}
	}
}

// A process frozen past the end of its leases, which checks its own clock, commits none of them
// when it wakes.
func TestFrozenProcessLooksAtItsClock(t *testing.T) {
	for _, linger := range []time.Duration{0, 5 * time.Millisecond} {
		w := quietWorld(t, 20)
		w.nodes = 1
		w.flaky.service = drawn(t)(dist.Constant(5))
		w.node.Lease = engine.LeaseConfig{TTL: 10 * time.Second, Local: true}
		w.node.Commit.Linger = linger
		w.node.Reaper.Off = true
		w.store.Fence = engine.FenceState
		w.config.Until = 200 * second
		w.config.Controls = []fault.Control{{Kind: fault.Pause, At: 4 * second, For: 60 * time.Second}}
		for _, e := range w.events(engine.Acked) {
			if e.At > 4*second && e.At < 65*second {
				t.Errorf("linger %v: job %d is acked at %v", linger, e.Job, time.Duration(e.At))
			}
		}
		if w.ledger.n[engine.LeaseLost] == 0 {
			t.Errorf("linger %v: no lease is lost", linger)
		}
	}
}

// Jobs that become ready together wake as many nodes.
func TestRedriveWakesEveryNode(t *testing.T) {
	w := quietWorld(t, 400)
	w.nodes, w.node.Workers = 4, 10
	w.flaky.fail, w.store.KeepDead = 1, true
	w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 1}
	w.flaky.service = drawn(t)(dist.Constant(1))
	w.config.Controls = []fault.Control{{Kind: fault.Redrive, At: 3617 * second, Share: 1}}
	claims := make([]int, 4)
	for _, e := range w.events(engine.Leased) {
		if e.At > 3617*second && e.At < 3618*second {
			claims[e.Node]++
		}
	}
	for node, n := range claims {
		if n != 10 {
			t.Errorf("node %d claims %d jobs in the second after, want 10", node, n)
		}
	}
}

// A redrive that follows an event comes although nothing is left to do until then.
func TestRedriveAfterAnEvent(t *testing.T) {
	w := quietWorld(t, 20)
	w.flaky.fail, w.store.KeepDead = 1, true
	w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 1}
	w.config.Controls = []fault.Control{{Kind: fault.Redrive, On: engine.Buried, Nth: 20, At: 3600 * second, Share: 1, Times: 2, Every: time.Hour}}
	var died engine.Time
	came := map[time.Duration]int{}
	w.config.Until = 10 * 3600 * second
	for _, e := range w.events(engine.Redriven, engine.Buried) {
		switch {
		case e.Kind == engine.Redriven:
			came[e.At.Sub(died)]++
		case len(came) == 0:
			died = e.At
		}
	}
	if came[time.Hour] != 20 || came[2*time.Hour] != 20 || len(came) != 2 {
		t.Errorf("after the last death jobs came back: %v, want 20 after 1h and 20 after 2h", came)
	}
}

// With acks at the start of handlers, a buffered job has a lease that ends, so others may get the
// job too. A started job belongs to its node, and is lost with it.
func TestAckAtStart(t *testing.T) {
	w := quietWorld(t, 20)
	w.workload = &varied{poisson: w.jobs, delayed: 150 * time.Second}
	w.flaky.service = drawn(t)(dist.Constant(100))
	w.store.Held, w.config.Held, w.store.Fence = true, true, engine.FenceNone
	w.node.Workers = 100
	w.node.Lease = engine.LeaseConfig{TTL: time.Minute, AckAtStart: true}
	w.node.Reaper = engine.ReaperConfig{Every: time.Second, Batch: 100, Nothing: true}
	w.config.Until = 3600 * second
	w.events(engine.Acked)
	n := w.ledger.n
	if n[engine.LeaseTaken] == 0 {
		t.Error("no lease of a held job ends")
	}
	if n[engine.Started] == 0 || n[engine.Extended] != n[engine.Started] {
		t.Errorf("%d handlers start, %d leases are extended for ever", n[engine.Started], n[engine.Extended])
	}
	if w.memory.Live() != 0 {
		t.Errorf("%d jobs are left", w.memory.Live())
	}

	w = quietWorld(t, 20)
	w.flaky.service = drawn(t)(dist.Constant(1000))
	w.node.Lease = engine.LeaseConfig{TTL: time.Minute, AckAtStart: true}
	w.config.Controls = []fault.Control{{At: 30 * second, For: time.Second}}
	w.config.Until = 7200 * second
	w.events(engine.Acked)
	if aborted := w.ledger.n[engine.Aborted]; aborted == 0 || w.memory.Live() != aborted {
		t.Errorf("%d executions die with their process, %d jobs are left", aborted, w.memory.Live())
	}
}

// Jobs that a call makes due are recorded as ready before the next call is served, even if a store
// that was stalled serves many at one instant.
func TestDueBetweenCallsOfOneInstant(t *testing.T) {
	for seed := uint64(1); seed < 20; seed++ {
		w := newWorld(t, seed, 300, 50)
		w.nodes, w.node.Workers, w.flaky.fail = 3, 4, 0.5
		w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 20}
		w.config.Controls = []fault.Control{{Kind: fault.StallStore, At: second, For: time.Second, Times: 4, Every: 2 * time.Second}}
		checker := check.New(w.rules())
		w.recorder = checker
		w.start().Run()
		if checker.Settle(); checker.Breach() != nil {
			t.Errorf("seed %d: %v", seed, checker.Breach())
		}
	}
}
