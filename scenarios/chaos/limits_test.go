package chaos

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
)

// scaleOf returns a number of jobs for a test: full with -long, otherwise a hundredth, and with -race a thousandth.
func scaleOf(full int) int {
	if *long {
		return full
	}
	return full / 100 / slowdown
}

// heap returns the size of the live objects on the heap, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// crowd are keys for with that make base a world of two strong nodes, to be filled with jobs by a burst.
const crowd = `duration: 100h
drain: 1000h
engine.nodes: 2
engine.workers: 5000
engine.call-timeout: 5s
engine.timeout: 0s
engine.fetch: {batch: 1000, poll: 1s}
engine.commit: {batch: 1000, linger: 2ms, calls: 4, timeout: 5s}
engine.reaper: {every: 1s, batch: 1000, on-start: true}
engine.promoter.batch: 1000
engine.store: {claim: 1ms, commit: 1ms, extend: 1ms, recover: 1ms, promote: 1ms}
jobs: [{class: a, arrivals: {process: poisson, rate: 1/s, stop: 1ns}, service: {dist: uniform, min: 50ms, max: 200ms}}]
retry.max-attempts: 5
`

// begin returns the run of base with lines, see with, before its first step, its setup, and a checker, which records it
// if watched.
func begin(t *testing.T, lines string, watched bool) (*setup, *sim.Sim, *check.Checker) {
	t.Helper()
	s, err := with(t, base, lines).setup()
	if err != nil {
		t.Fatal(err)
	}
	c := check.New(s.checked)
	if watched {
		s.config.Recorder = c
	}
	return s, sim.New(s.config), c
}

// TestManyWaitingRetries has all jobs fail at once and wait for days: memory and events must be in proportion to them.
func TestManyWaitingRetries(t *testing.T) {
	n := scaleOf(10_000_000)
	before := heap()
	text := crowd + "engine.lease: {ttl: 30s, heartbeat: 0s}\nretry.backoff: {kind: fixed, delay: 50h}\nretry.jitter: none\n" +
		fmt.Sprintf("storms: [{name: all, at: 0s, burst: {class: a, count: %d}}, {name: fail, at: 0s, for: 100h, fail: {rate: 100%%}}]", n)
	s, run, _ := begin(t, text, false)
	for run.Step() && run.Now() < engine.Time(49*time.Hour) {
	}
	stats, err := s.memory.Stats(t.Context(), 0)
	if err != nil || stats.Waiting[engine.Retry] != n {
		t.Fatalf("%+v, %v: want %d waiting", stats, err, n)
	}
	used := heap()
	each := float64(used-min(before, used)) / float64(n)
	t.Logf("%d waiting retries: %.0f bytes and %.1f events each", n, each, float64(run.Events())/float64(n))
	const ofNodes = 8 << 20 // memory without any job
	if each > 400+ofNodes/float64(n) {
		t.Errorf("%.0f bytes for each waiting job", each)
	}
	if polls := int64(2_500_000); run.Events() > 20*int64(n)+polls {
		t.Errorf("%d events for %d jobs", run.Events(), n)
	}
	runtime.KeepAlive(run)
}

// TestManyDueAtOnce has many jobs become due in one nanosecond, with a promoter and without: all must end.
func TestManyDueAtOnce(t *testing.T) {
	n := scaleOf(1_000_000)
	for _, promoter := range []string{"", "engine.promoter.every: 1s\n"} {
		text := crowd + "engine.lease: {ttl: 30s, heartbeat: 0s}\njobs.a.delay: 1h\n" + promoter + fmt.Sprintf("storms: [{name: all, at: 0s, burst: {class: a, count: %d}}]", n)
		s, run, c := begin(t, text, true)
		ready := 0
		for run.Step() && c.Breach() == nil {
			if run.Now() == engine.Time(time.Hour) && promoter == "" && ready == 0 {
				st, _ := s.memory.Stats(t.Context(), 0)
				ready = st.Ready[engine.Fresh] + st.InFlight[engine.Fresh]
			}
		}
		c.Settle()
		if b := c.Breach(); b != nil || s.memory.Live() != 0 {
			t.Fatalf("%v, %d jobs are left", b, s.memory.Live())
		}
		if promoter == "" && ready != n {
			t.Errorf("%d jobs were ready or claimed at the instant, want %d", ready, n)
		}
		if run.Events() > 20*int64(n)+100_000 {
			t.Errorf("%d events for %d jobs", run.Events(), n)
		}
	}
}

// TestStartWithExpiredLeases has all nodes die with a lease for every job, and start when all leases have expired: each
// must be recovered once.
func TestStartWithExpiredLeases(t *testing.T) {
	n := scaleOf(100_000)
	text := crowd + fmt.Sprintf("engine.lease: {ttl: 20s, heartbeat: 0s}\nengine.workers: %d\n", max(1, n/2)) + fmt.Sprintf("storms: [{name: all, at: 0s, burst: {class: a, count: %d}}, "+
		"{name: hang, at: 0s, for: 10s, hang: {rate: 100%%, extra: 1h}}, {name: crash, at: 10s, crash: {nodes: 100%%, restart-after: 60s}}]", n)
	s, run, c := begin(t, text, true)
	for run.Step() && c.Breach() == nil {
		if run.Now() < engine.Time(60*time.Second) && run.Now() > engine.Time(50*time.Second) {
			if st, _ := s.memory.Stats(t.Context(), 0); st.InFlight[engine.Fresh] != 2*max(1, n/2) {
				t.Fatalf("%+v: want all in flight", st)
			}
		}
	}
	c.Settle()
	if b := c.Breach(); b != nil || s.memory.Live() != 0 {
		t.Fatalf("%v, %d jobs are left", b, s.memory.Live())
	}
	if taken := c.Events()[engine.LeaseTaken]; taken != int64(2*max(1, n/2)) {
		t.Errorf("%d leases are taken, of %d", taken, n)
	}
	if run.Now() > engine.Time(10*time.Minute) || run.Events() > 50*int64(n)+100_000 {
		t.Errorf("it took until %v and %d events", time.Duration(run.Now()), run.Events())
	}
}

// TestSilentStore has the store answer nothing for an hour, as calls wait, are lost or fail, and checks that no loop
// repeats calls, nothing piles up, and no invariant breaks.
func TestSilentStore(t *testing.T) {
	for _, storm := range []string{"store: {stall: true}", "calls: {lose-request: 100%}", "store: {error: 100%}"} {
		t.Run(storm, func(t *testing.T) {
			text := "duration: 2h\nstorms: [{name: silence, at: 5s, for: 1h, " + storm + "}]"
			before := heap()
			_, run, c := begin(t, text, true)
			for run.Step() && run.Now() < engine.Time(time.Hour) && c.Breach() == nil {
			}
			if events := run.Events(); events > 1_000_000 { // of three nodes, each a hundred a second
				t.Errorf("%d events in an hour of silence", events)
			}
			if used := heap() - min(before, heap()); used > 64<<20 {
				t.Errorf("%d MB in use after an hour of silence", used>>20)
			}
			for run.Step() && c.Breach() == nil {
			}
			if c.Settle(); c.Breach() != nil {
				t.Error(c.Breach())
			}
			runtime.KeepAlive(run)
		})
	}
}
