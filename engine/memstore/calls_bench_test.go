package memstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// BenchmarkCalls measures calls of batch jobs on a store with as many: ready ones for enqueue,
// claim, commit and nack, in flight for extend and recover. Calls that restore this state are not
// timed. ns/op is one call.
func BenchmarkCalls(b *testing.B) {
	for _, op := range []string{"enqueue", "claim", "commit", "nack", "extend", "recover"} {
		for _, jobs := range []int{1_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("op=%s/store=memory/jobs=%d/batch=%d", op, jobs, callBatch), func(b *testing.B) {
				benchmarkCall(b, op, jobs)
			})
		}
	}
}

const callBatch = 100

// bench is a store with the arguments of its calls, and the total time of the measured op.
type bench struct {
	*memstore.Store
	b        *testing.B
	op       string
	now      engine.Time
	took     time.Duration
	lastID   engine.JobID
	seq      uint64
	jobs     []engine.NewJob
	leases   []engine.Lease
	held     []engine.LeaseKey // all that are in flight
	at       int               // index of the next one
	statuses []engine.Status
	out      []engine.Outcome
	result   []engine.Result
}

func benchmarkCall(b *testing.B, op string, jobs int) {
	s := &bench{b: b, op: op}
	s.Store = memstore.New(func() engine.Time { return s.now }, engine.StoreOptions{LapseAfter: -1})
	for range jobs / callBatch {
		s.enqueue()
	}
	inFlight := op == "extend" || op == "recover"
	for range jobs / callBatch {
		if inFlight {
			s.now++ // one batch expires at each tick
			s.claim(time.Duration(jobs / callBatch))
			for i := range s.leases {
				s.held = append(s.held, s.leases[i].Key())
			}
		}
	}
	s.took = 0
	calls := 0
	for b.Loop() {
		calls++
		s.now++
		switch op {
		case "enqueue", "claim", "commit":
			s.enqueue()
			s.claim(time.Hour)
			s.commit("commit", engine.Ack)
		case "nack":
			s.claim(time.Hour)
			s.commit("nack", engine.Nack)
		case "extend":
			s.extend(time.Duration(jobs / callBatch))
		case "recover":
			s.recover(time.Duration(jobs / callBatch))
		}
	}
	if s.Live() != jobs {
		b.Fatalf("%d jobs are left, want %d", s.Live(), jobs)
	}
	b.ReportMetric(float64(s.took)/float64(calls), "ns/op")
	b.ReportMetric(float64(s.took)/float64(calls)/callBatch, "ns/job")
}

// timed makes a call, and adds its time if the call has the measured op.
func (s *bench) timed(op string, call func() (int, error)) {
	begin := time.Now()
	n, err := call()
	if op == s.op {
		s.took += time.Since(begin)
	}
	if err != nil || n != callBatch {
		s.b.Fatalf("%s: %d jobs of %d: %v", op, n, callBatch, err)
	}
}

func (s *bench) enqueue() {
	s.jobs = s.jobs[:0]
	for range callBatch {
		s.lastID++
		s.jobs = append(s.jobs, engine.NewJob{ID: s.lastID})
	}
	s.timed("enqueue", func() (int, error) { return callBatch, s.Enqueue(context.Background(), s.jobs) })
}

func (s *bench) claim(ttl time.Duration) {
	plan := engine.Plan{Limit: callBatch, Terms: []engine.Term{{Class: engine.AnyClass, Limit: callBatch}}}
	s.timed("claim", func() (n int, err error) {
		s.leases, _, err = s.Claim(context.Background(), 1, plan, ttl, s.leases[:0])
		return len(s.leases), err
	})
}

func (s *bench) commit(op string, v engine.Verb) {
	s.out = s.out[:0]
	for i := range s.leases {
		s.out = append(s.out, engine.Outcome{LeaseKey: s.leases[i].Key(), Verb: v})
	}
	s.seq++
	batch := engine.Batch{ID: engine.BatchID{Engine: 1, Seq: s.seq}, Settled: s.seq - 1, Outcomes: s.out}
	s.timed(op, func() (applied int, err error) {
		s.result, err = s.Commit(context.Background(), batch, s.result[:0])
		for i := range s.result {
			if s.result[i].Status == engine.Applied {
				applied++
			}
		}
		return applied, err
	})
}

func (s *bench) extend(ttl time.Duration) {
	if s.at == len(s.held) {
		s.at = 0
	}
	keys := s.held[s.at : s.at+callBatch]
	s.at += callBatch
	s.timed("extend", func() (held int, err error) {
		s.statuses, err = s.ExtendLease(context.Background(), keys, ttl, s.statuses[:0])
		for _, status := range s.statuses {
			if status == engine.Applied {
				held++
			}
		}
		return held, err
	})
}

func (s *bench) recover(ttl time.Duration) {
	s.timed("recover", func() (n int, err error) {
		s.leases, _, err = s.Recover(context.Background(), 2, callBatch, 0, ttl, s.leases[:0])
		return len(s.leases), err
	})
}
