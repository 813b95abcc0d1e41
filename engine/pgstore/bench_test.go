package pgstore

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/quantity"
	"qsim/policies"
)

var long = flag.Bool("long", false, "benchmark with a million jobs too")

// sizes returns the numbers of jobs that benchmarks put into the store besides those that their calls move.
func sizes() []int {
	if *long {
		return []int{1_000, 100_000, 1_000_000}
	}
	return []int{1_000, 100_000}
}

// batch is how many jobs a call moves.
const batch = 100

// fill enqueues jobs with IDs from one on, ready at once.
func fill(b *testing.B, s *Store, from, jobs int) {
	b.Helper()
	for at := 0; at < jobs; at += 10_000 {
		var some []engine.NewJob
		for i := at; i < min(jobs, at+10_000); i++ {
			some = append(some, engine.NewJob{ID: engine.JobID(from + i)})
		}
		if err := s.Enqueue(b.Context(), some); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStore measures single calls of a hundred jobs in a store that holds others,
// a fifth each ready, retries, waiting and in flight.
func BenchmarkStore(b *testing.B) {
	for _, jobs := range sizes() {
		for _, call := range []struct {
			name string
			one  func(b *testing.B, s *Store)
		}{{"enqueue", benchEnqueue}, {"enqueue-one", benchEnqueueOne}, {"claim-commit", benchClaimCommit}, {"claim-commit-weighted", benchWeighted}, {"extend", benchExtend}, {"stats", benchStats}} {
			b.Run(fmt.Sprintf("call=%s/store=postgres/jobs=%d", call.name, jobs), func(b *testing.B) {
				s := openBench(b)
				crowded(b, s, jobs)
				settle(b, s)
				b.ReportAllocs()
				call.one(b, s)
			})
		}
	}
}

func openBench(b *testing.B) *Store {
	s := open(b, engine.StoreOptions{LapseAfter: -1})
	return s
}

// settle vacuums the table of jobs and makes a checkpoint, so that neither happens while something is measured.
func settle(b *testing.B, s *Store) {
	b.Helper()
	for _, text := range []string{"vacuum analyze jobs", "checkpoint"} {
		if _, err := s.pool.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

const benchIDs = 1 << 30 // beyond those of crowded

func benchEnqueue(b *testing.B, s *Store) {
	from := benchIDs
	for b.Loop() {
		fill(b, s, from, batch)
		from += batch
	}
	b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "jobs/s")
}

func benchEnqueueOne(b *testing.B, s *Store) {
	id := benchIDs
	for b.Loop() {
		fill(b, s, id, 1)
		id++
	}
}

// cycle measures claims by a plan of the given terms, with the acks of the claimed jobs. As many jobs are enqueued in
// between, not measured, so that the store does not run dry.
func cycle(b *testing.B, s *Store, terms ...engine.Term) {
	plan := engine.Plan{Limit: batch, Terms: terms}
	from, jobs, seq := benchIDs, 0, uint64(0)
	var leases []engine.Lease
	var results []engine.Result
	if _, _, err := s.Claim(b.Context(), 1, engine.Plan{Limit: 1, Terms: terms}, time.Minute, nil); err != nil { // builds indexes
		b.Fatal(err)
	}
	settle(b, s)
	for b.Loop() {
		if seq%100 == 0 {
			b.StopTimer()
			fill(b, s, from, 100*batch)
			from += 100 * batch
			b.StartTimer()
		}
		seq++
		var err error
		if leases, _, err = s.Claim(b.Context(), 1, plan, time.Minute, leases[:0]); err != nil {
			b.Fatal(err)
		}
		jobs += len(leases)
		if results, err = s.Commit(b.Context(), acks(1, seq, leases), results[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}

func acks(e engine.EngineID, seq uint64, leases []engine.Lease) engine.Batch {
	out := engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: seq - 1, Outcomes: make([]engine.Outcome, len(leases))}
	for i := range leases {
		out.Outcomes[i] = engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Ack}
	}
	return out
}

func benchClaimCommit(b *testing.B, s *Store) { cycle(b, s, anyTerm(batch)) }

func benchWeighted(b *testing.B, s *Store) {
	cycle(b, s, engine.Term{Class: engine.Fresh, Limit: batch * 2 / 3}, engine.Term{Class: engine.Retry, Limit: batch / 3}, anyTerm(batch))
}

func benchExtend(b *testing.B, s *Store) {
	fill(b, s, benchIDs, batch)
	leases, _, err := s.Claim(b.Context(), 1, engine.Plan{Limit: batch, Terms: []engine.Term{anyTerm(batch)}}, time.Minute, nil)
	if err != nil {
		b.Fatal(err)
	}
	var keys []engine.LeaseKey
	for i := range leases {
		keys = append(keys, leases[i].Key())
	}
	var held []engine.Status
	for b.Loop() {
		if held, err = s.ExtendLease(b.Context(), keys, time.Minute, held[:0]); err != nil || held[0] != engine.Applied {
			b.Fatal(err, held)
		}
	}
}

func benchStats(b *testing.B, s *Store) {
	if _, err := s.Stats(b.Context(), 1); err != nil { // builds indexes
		b.Fatal(err)
	}
	settle(b, s)
	for b.Loop() {
		if _, err := s.Stats(b.Context(), 10_001); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBare runs the minimal work of a queue on PostgreSQL, a claim of a hundred jobs with FOR
// UPDATE SKIP LOCKED and a fenced ack of all of them; then as many jobs through this store's Claim
// and Commit, and through engines with workers and handlers that return at once: as many engines as
// loops, of 300 workers, and one as it comes, of 64, first in, first out and weighted. They take
// turns on one server. The reported share is the throughput relative to the bare loop's in the same
// run.
func BenchmarkBare(b *testing.B) {
	for _, loops := range []int{1, 4} {
		b.Run(fmt.Sprintf("policy=fifo/store=postgres/loops=%d", loops), func(b *testing.B) {
			s := openBench(b)
			bare := newBare(b, s)
			jobs := loops * batch * 100
			from, round := benchIDs, 0
			ready := func() { // as many jobs as the bare loop has
				fill(b, s, from, jobs)
				from += jobs
				settle(b, s)
			}
			run := func(engines, workers int, policy engine.Policy) func() time.Duration {
				return func() time.Duration {
					ready()
					return timed(b, 1, func(int) int { return runLive(b, s, engines, workers, policy, jobs) }, jobs)
				}
			}
			ways := []struct {
				prefix string // prefix of its metrics
				run    func() time.Duration
				took   time.Duration
			}{
				{prefix: "bare-", run: func() time.Duration {
					bare.fill(b, jobs)
					return timed(b, loops, func(int) int { return bare.drain(b) }, jobs)
				}},
				{prefix: "calls-", run: func() time.Duration {
					ready()
					return timed(b, loops, func(i int) int { return drain(b, s, i, uint32(round)) }, jobs)
				}},
				{prefix: "", run: run(loops, 3*batch, policies.FIFO{})},
				{prefix: "default-", run: run(1, 64, policies.FIFO{})},
				{prefix: "default-weighted-", run: run(1, 64, &policies.Weighted{Fresh: quantity.Fraction(2, 3)})},
			}
			for b.Loop() {
				round++
				for i := range ways {
					way := &ways[(i+round)%len(ways)] // in turns, also by order
					way.took += way.run()
				}
			}
			for i, way := range ways {
				b.ReportMetric(float64(b.N*jobs)/way.took.Seconds(), way.prefix+"jobs/s")
				if i > 0 {
					b.ReportMetric(ways[0].took.Seconds()/way.took.Seconds(), way.prefix+"share-of-bare")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// runLive runs engines, with handlers that return at once, until jobs acks are applied, and returns the number applied.
func runLive(b *testing.B, s *Store, engines, workers int, policy engine.Policy, jobs int) int {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var acked atomic.Int64
	retry := &policies.Backoff{Kind: policies.Exponential, First: time.Second, Factor: 2, MaxAttempts: 5}
	config := live.Config{Engine: live.Defaults(workers, retry), Engines: engines, FirstNode: 100, Store: s, Wake: live.WakeNone,
		Policy:  func(int32) engine.Policy { return policy },
		Handler: func(context.Context, *engine.Job) error { return nil },
		OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
			if c.Op != engine.OpCommit {
				return
			}
			for i := range r.Results {
				if r.Results[i].Status == engine.Applied && acked.Add(1) == int64(jobs) {
					cancel()
				}
			}
		}}
	if err := live.Run(ctx, config); err != nil {
		b.Error(err)
	}
	return int(acked.Load())
}

// timed runs loops side by side and returns how long they took; they return how many jobs they did, want in all.
func timed(b *testing.B, loops int, loop func(i int) int, want int) time.Duration {
	var all sync.WaitGroup
	done := make([]int, loops)
	began := time.Now()
	for i := range loops {
		all.Go(func() { done[i] = loop(i) })
	}
	all.Wait()
	took := time.Since(began)
	sum := 0
	for _, n := range done {
		sum += n
	}
	if sum != want {
		b.Fatalf("%d jobs done of %d", sum, want)
	}
	return took
}

// drain claims and acks jobs, as one engine, until none is ready, and returns how many acks were applied.
func drain(b *testing.B, s *Store, loop int, round uint32) (jobs int) {
	plan := engine.Plan{Limit: batch, Terms: []engine.Term{anyTerm(batch)}}
	e := engine.NewEngineID(int32(loop), round)
	var leases []engine.Lease
	var results []engine.Result
	for seq := uint64(1); ; seq++ {
		var err error
		if leases, _, err = s.Claim(b.Context(), e, plan, time.Minute, leases[:0]); err != nil {
			b.Error(err)
			return jobs
		}
		if len(leases) == 0 {
			return jobs
		}
		if results, err = s.Commit(b.Context(), acks(e, seq, leases), results[:0]); err != nil {
			b.Error(err)
			return jobs
		}
		for i := range results {
			if results[i].Status == engine.Applied {
				jobs++
			}
		}
	}
}

// bareQueue is the least queue with which a store is compared: a table with a lease's columns, and two statements.
type bareQueue struct{ s *Store }

func newBare(b *testing.B, s *Store) *bareQueue {
	b.Helper()
	for _, text := range []string{
		`create table bare (id bigint primary key, state smallint not null default 1, ready_at timestamptz not null default now(),
			token bigint not null default 0, expires_at timestamptz, payload bytea) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0)`,
		"create index bare_ready on bare (ready_at, id) where state = 1",
	} {
		if _, err := s.pool.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	return &bareQueue{s}
}

func (q *bareQueue) fill(b *testing.B, jobs int) {
	b.Helper()
	if _, err := q.s.pool.Exec(b.Context(), "insert into bare (id) select generate_series(1, $1::bigint)", jobs); err != nil {
		b.Fatal(err)
	}
	if _, err := q.s.pool.Exec(b.Context(), "vacuum analyze bare"); err != nil {
		b.Fatal(err)
	}
}

const (
	bareClaim = `with taken as materialized (select id from bare where state = 1 order by ready_at, id limit $1 for update skip locked)
update bare j set state = 3, token = j.token + 1, expires_at = clock_timestamp() + interval '30 s' from taken where j.id = taken.id returning j.id, j.token, j.payload`
	bareAck = "delete from bare j using unnest($1::bigint[], $2::bigint[]) as o(id, token) where j.id = o.id and j.state + 0 = 3 and j.token = o.token"
)

func (q *bareQueue) drain(b *testing.B) (jobs int) {
	ctx := context.Background()
	for {
		var ids, tokens []int64
		rows, err := q.s.pool.Query(ctx, bareClaim, batch)
		if err != nil {
			b.Error(err)
			return jobs
		}
		var id, token int64
		var payload []byte
		if _, err := pgx.ForEachRow(rows, []any{&id, &token, &payload}, func() error {
			ids, tokens = append(ids, id), append(tokens, token)
			return nil
		}); err != nil {
			b.Error(err)
			return jobs
		}
		if len(ids) == 0 {
			return jobs
		}
		done, err := q.s.pool.Exec(ctx, bareAck, ids, tokens)
		if err != nil {
			b.Error(err)
			return jobs
		}
		jobs += int(done.RowsAffected())
	}
}
