package sim_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
)

func allOps() (ops [engine.NumOps]bool) {
	for i := range ops {
		ops[i] = true
	}
	return ops
}

// TestEveryJobEndsOnce puts three nodes under lost, repeated and refused calls, a crash, a restart,
// a frozen process and killing jobs, and checks that every job ends exactly once, the same in each
// of three runs.
func TestEveryJobEndsOnce(t *testing.T) {
	const jobs = 20_000
	var first sim.Digest
	for i := range 3 {
		w := newWorld(t, 7, jobs, 200)
		w.nodes, w.ledger.detail = 3, true
		w.flaky.fail, w.flaky.kill = 0.1, 0.0002
		w.flaky.succeeded, w.flaky.runningByJob = map[engine.JobID]int{}, map[engine.JobID]int{}
		w.config.Restart = 5 * time.Second
		w.links.Faults = []fault.Fault{{Window: fault.Window{For: engine.Forever}, Ops: allOps(), LoseRequest: 0.01, LoseReply: 0.01, Duplicate: 0.01, Error: 0.01}}
		w.config.Controls = []fault.Control{
			{Node: 1, At: engine.Time(20 * time.Second), For: 5 * time.Second},
			{Node: 2, At: engine.Time(40 * time.Second), For: 45 * time.Second, Kind: fault.Pause},
		}
		s := w.start()
		s.Run()
		t.Log(w.summary(s))
		l := w.ledger
		ended := map[engine.JobID]int{}
		for _, k := range []engine.EventKind{engine.Acked, engine.Buried} {
			for job, n := range l.jobs[k] {
				ended[job] += n
			}
		}
		for job, n := range ended {
			if n != 1 {
				t.Errorf("job %d ended %d times", job, n)
			}
		}
		if len(ended) != jobs || w.memory.Live() != 0 {
			t.Errorf("%d of %d jobs ended, %d are left in the store", len(ended), jobs, w.memory.Live())
		}
		for _, k := range []engine.EventKind{engine.Fenced, engine.LeaseTaken, engine.CallTimedOut, engine.Aborted, engine.NodePause, engine.RefusedLate} {
			if l.n[k] == 0 {
				t.Errorf("no %v: the faults did not bite", k)
			}
		}
		for job := range l.jobs[engine.Acked] {
			if w.flaky.succeeded[job] == 0 {
				t.Errorf("job %d is done without a success", job)
			}
		}
		if w.flaky.begun != w.flaky.ended {
			t.Errorf("%d executions began, %d ended", w.flaky.begun, w.flaky.ended)
		}
		if i == 0 {
			first = s.Digest()
		} else if s.Digest() != first {
			t.Fatalf("run %d has fingerprint %016x, the first had %016x", i, uint64(s.Digest()), uint64(first))
		}
	}
}

func BenchmarkSteady(b *testing.B) {
	b.ReportAllocs()
	const jobs = 200_000
	var events int64
	for b.Loop() {
		w := newWorld(b, 7, jobs, 100)
		s := w.start()
		s.Run()
		events += s.Events()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(events), "ns/event")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*jobs), "ns/job")
	b.ReportMetric(float64(b.N*jobs)/b.Elapsed().Seconds(), "jobs/s")
}

// TestStepsFollowTheQueue has jobs come, run and be done at multiples of the time that calls take, so that events of
// several kinds fall together: of each instant, that of the lowest rank comes first.
func TestStepsFollowTheQueue(t *testing.T) {
	together := map[int]int{}
	for _, gap := range []float64{0.0005, 0.001, 0.101} {
		w := quietWorld(t, 300)
		w.jobs.gap = drawn(t)(dist.Constant(gap))
		w.nodes, w.node.Workers = 2, 50
		w.workload = &varied{poisson: w.jobs, delayed: 101 * time.Millisecond}
		s := w.start()
		for step := 0; ; step++ {
			want, took, ties, more := s.StepInOrder()
			if !more {
				break
			}
			if want != took {
				t.Fatalf("gap %v, step %d at %v: an event of rank %d, want %d", gap, step, s.Now(), took, want)
			}
			if want >= 0 && ties > 1 {
				together[want]++
			}
		}
	}
	if len(together) < 4 {
		t.Errorf("%v events by rank come with others at one instant: too few kinds", together)
	}
}
