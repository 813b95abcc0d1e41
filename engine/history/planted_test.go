package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
	"qsim/engine/history"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
)

// store is the set of a store's methods used by engines and operators.
type store interface {
	engine.Store
	live.Registry
	live.Announcer
	history.Redriver
}

// bug is a deliberately planted fault of a store.
type bug struct {
	name    string
	plant   func(good *pgstore.Store, rows *pgxpool.Pool) store // changes the store; nil: not
	fence   engine.Fence
	whole   bool
	zombies bool // engines extend no leases: some run for longer
	want    []history.Kind
}

// TestPlanted has real engines work on a PostgreSQL store that is broken in one way, until
// the histories show it: so that a store without anomalies is one that was looked at.
func TestPlanted(t *testing.T) {
	t.Parallel()
	server := startServer(t, pgserver.Options{Unsafe: true, Settings: map[string]string{"max_connections": "300"}})
	for _, b := range []bug{
		{name: "commits of any token, of jobs that are not leased too", fence: engine.FenceNone, zombies: true, want: []history.Kind{history.StaleAccepted}},
		{name: "commits of any token", fence: engine.FenceState, zombies: true, want: []history.Kind{history.StaleAccepted}},
		{name: "a claim that locks nothing", plant: hastyClaim, want: []history.Kind{history.Overlapping}},
		{name: "a claim that raises no token", plant: idleToken, want: []history.Kind{history.TokenNotRising}},
		{name: "a recovery of live leases", plant: eagerRecovery, want: []history.Kind{history.Overlapping}},
		{name: "a heartbeat that does nothing", plant: idleHeartbeat, want: []history.Kind{history.Overlapping}},
		{name: "a heartbeat of a node that does nothing", plant: idleHeartbeat, whole: true, want: []history.Kind{history.Overlapping}},
		{name: "acks that are forgotten", plant: forgottenAcks, want: []history.Kind{history.Redelivered, history.AckedTwice}},
		{name: "a job from nowhere", plant: extraJobs, want: []history.Kind{history.Unexpected}},
		{name: "everybody leads", plant: everybodyLeads, whole: true, want: []history.Kind{history.TwoLeaders}},
		{name: "promotion of what is in flight", plant: promoteLeased, whole: true, want: []history.Kind{history.NotWaiting, history.Overlapping}},
		{name: "redrive of what was acked", plant: reviveAcked, whole: true, want: []history.Kind{history.NotDead, history.Redelivered}},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := startWorks(t, server, b)
			var r *history.Report
			w.until(t, func() bool {
				r = history.Check(w.calls(t), nil)
				return !slices.ContainsFunc(b.want, func(k history.Kind) bool { return r.Count(k) == 0 })
			})
			t.Logf("found among %d calls", len(w.calls(t)))
			for _, kind := range b.want {
				i := slices.IndexFunc(r.Anomalies, func(a history.Anomaly) bool { return a.Kind == kind })
				if i < 0 {
					t.Fatalf("not found: %v\n%v", kind, r)
				}
				t.Logf("job %d: %v: %s", r.Anomalies[i].Job, kind, r.Anomalies[i].Text)
			}
		})
	}
	for _, b := range []bug{
		{name: "none"}, {name: "none, with a leader", whole: true}, {name: "none, with zombies", zombies: true},
		{name: "none, and answers are lost", plant: lostAnswers, whole: true},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := startWorks(t, server, b)
			w.until(t, func() bool {
				r := history.Check(w.calls(t), nil)
				rest := r.Promoted > 20 && r.Redriven > 0 && r.Led > 2 && r.Extended > 0
				return r.Leases > 300 && r.Acked > 200 && (r.Taken > 2 || !b.zombies) && (rest || !b.whole)
			})
			w.calm()
			began := time.Now()
			w.until(t, func() bool {
				// A claim whose answer was lost leased jobs that the heartbeats of the node keep until its life ends.
				if b.whole && time.Since(began) > 12*w.ttl && history.Check(w.calls(t), nil).Calls[history.Claim].Unknown > 0 {
					w.restart()
					began = time.Now()
				}
				return w.left(t) == 0
			})
			w.stop()
			if r := history.Check(w.calls(t), nil); len(r.Anomalies) > 0 {
				t.Errorf("%v\n%v", r, r.Anomalies[0])
				t.Log(r.Story(r.Anomalies[0].Job))
			}
		})
	}
}

func startServer(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(t.Context(), o)
	switch {
	case isMissing(err):
		t.Skipf("NO POSTGRESQL: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// works are the engines of this process and their recorders.
type works struct {
	rows                     *pgxpool.Pool
	mu                       sync.Mutex
	notes                    []*bytes.Buffer // all of one moment: what follows from what is noted is not
	ttl                      time.Duration   // of leases; calls may take a little longer
	calm, end, restart, stop func()
}

// noting writes to a part of the record.
type noting struct {
	w  *works
	to *bytes.Buffer
}

func (n noting) Write(line []byte) (int, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	return n.to.Write(line)
}

func (w *works) note() io.Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, &bytes.Buffer{})
	return noting{w, w.notes[len(w.notes)-1]}
}

// calls returns the recorded calls of all engines so far, who go on while it reads them.
func (w *works) calls(t *testing.T) (calls []history.Call) {
	t.Helper()
	w.mu.Lock()
	var parts [][]byte
	for _, b := range w.notes {
		parts = append(parts, b.Bytes())
	}
	w.mu.Unlock()
	for i, part := range parts {
		some, err := history.Read(bytes.NewReader(part), fmt.Sprint("part ", i))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, some...)
	}
	return calls
}

// left returns the number of unfinished jobs.
func (w *works) left(t *testing.T) (n int) {
	t.Helper()
	if err := w.rows.QueryRow(t.Context(), "select count(*) from jobs where state < 5").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// until waits for a condition, for at least as long as it takes to look: engines under the race detector need the processors.
// On a machine so busy that calls time out, which makes a store slower still, engines begin again with four times the time.
func (w *works) until(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for slow := time.Now().Add(40 * time.Second); ; {
		began := time.Now()
		if holds() {
			return
		}
		if began.After(slow) {
			w.ttl *= 4
			w.restart()
			slow = time.Now().Add(80 * time.Second)
			t.Logf("too slow: leases last %v from now on", w.ttl)
		}
		if pause(ctx, max(100*time.Millisecond, time.Since(began))); ctx.Err() != nil {
			t.Fatalf("it did not come about in time\n%v", history.Check(w.calls(t), nil))
		}
	}
}

// startWorks starts three engines, a producer, and if they are whole a process that redrives dead
// jobs. calm ends the latter two, restart ends the engines and starts their next lives, stop ends all.
func startWorks(t *testing.T, server *pgserver.Server, b bug) *works {
	t.Helper()
	schema := fmt.Sprintf("bug_%d", time.Now().UnixNano())
	good, err := pgstore.Open(t.Context(), server.DSN(), pgstore.Options{Schema: schema, Store: storeOptions(b.fence, b.whole), Connections: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(good.Close)
	rows, err := pgxpool.New(t.Context(), server.DSN()+" search_path="+schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rows.Close)
	var s store = good
	if b.plant != nil {
		s = b.plant(good, rows)
	}
	w := &works{rows: rows, ttl: 400 * time.Millisecond}
	var feeding, engines sync.WaitGroup
	feed, calm := context.WithCancel(t.Context())
	w.calm = func() { calm(); feeding.Wait() }
	life := uint32(0)
	begin := func() {
		life++
		ttl := w.ttl
		c := engineConfig(ttl, ttl*5/4, b.whole)
		if b.zombies {
			c.Lease.Heartbeat = 0
		}
		ctx, end := context.WithCancel(t.Context())
		w.end = func() { end(); engines.Wait() }
		for node := range int32(3) {
			r := recorded{history.Record(s, w.note(), wallClock), s, s}
			engines.Go(func() {
				err := live.Run(ctx, live.Config{Engine: c, FirstNode: node + 1, Generation: life, Store: r, StopWithin: 2 * ttl, CancelWithin: 10 * ttl,
					Handler:   func(ctx context.Context, j *engine.Job) error { return workOn(ctx, j, ttl) },
					OnFailure: func(*engine.Job, engine.ErrorKind, error) {}, Logger: slog.New(slog.DiscardHandler)})
				// What takes long on a busy machine may be abandoned.
				if _, abandoned := errors.AsType[*live.AbandonedError](err); err != nil && !abandoned && len(b.want) == 0 {
					t.Error(err)
				}
			})
		}
	}
	begin()
	w.restart = func() { w.end(); begin() }
	w.stop = func() { w.calm(); w.end() }
	t.Cleanup(w.stop)
	r := history.Record(s, w.note(), wallClock)
	feeding.Go(func() {
		for id := engine.JobID(1); feed.Err() == nil; pause(feed, 50*time.Millisecond) {
			jobs := make([]engine.NewJob, 20)
			for i := range jobs {
				jobs[i].ID = id
				jobs[i].Delay = time.Duration(i%3) * 20 * time.Millisecond
				id++
			}
			if err := r.Enqueue(context.WithoutCancel(feed), jobs); err != nil {
				t.Error(err)
			}
			if b.whole {
				if _, err := r.Redrive(context.WithoutCancel(feed), nil, 10, false, nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return w
}

// workOn is a handler that takes a few milliseconds, or longer than a lease, and fails now and then.
func workOn(ctx context.Context, j *engine.Job, ttl time.Duration) error {
	random := rand.New(rand.NewPCG(uint64(j.Delivery), uint64(j.ID)))
	runs := time.Duration(random.ExpFloat64() * float64(5*time.Millisecond))
	if random.Float64() < 0.04 {
		runs = ttl + ttl/2
	}
	pause(ctx, runs)
	if random.Float64() < 0.1 {
		return errWork
	}
	return ctx.Err()
}

type hasty struct {
	*pgstore.Store
	rows *pgxpool.Pool
	meet chan struct{}
}

// hastyClaim is a bug: a claim reads ready jobs and then takes them without a check that they are still ready.
func hastyClaim(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &hasty{good, rows, make(chan struct{})}
}

func (h *hasty) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	found, err := h.rows.Query(ctx, "select id from jobs where state in (1, 2) order by id limit $1", p.Limit)
	if err != nil {
		return dst, 0, err
	}
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil {
		return dst, 0, err
	}
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select { // with another connection, if there is one
	case h.meet <- struct{}{}:
	case <-h.meet:
	case <-timer.C:
	}
	taken, err := h.rows.Query(ctx, `update jobs set state = 3, holder = $1, expires_at = now_ns() + $2, token = token + 1,
		delivery = delivery + 1, charged = charged + 1, reaped = false where id = any($3) returning id, token, delivery, charged`, int64(holder), int64(ttl), ids)
	if err != nil {
		return dst, 0, err
	}
	var l engine.Lease
	_, err = pgx.ForEachRow(taken, []any{&l.ID, &l.Token, &l.Delivery, &l.Charged}, func() error { dst = append(dst, l); return nil })
	return dst, 50 * time.Millisecond, err
}

type broken struct {
	*pgstore.Store
	rows  *pgxpool.Pool
	mu    sync.Mutex
	calls int
	acked []engine.JobID
}

// nth counts calls, to plant a bug in every n-th.
func (b *broken) nth() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	return b.calls
}

type idleTokens struct{ broken }

// idleToken is a bug: a claim does not raise the token.
func idleToken(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &idleTokens{broken{Store: good, rows: rows}}
}

func (b *idleTokens) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	from := len(dst)
	dst, next, err := b.Store.Claim(ctx, holder, p, ttl, dst)
	var ids []int64
	for i := range dst[from:] {
		dst[from+i].Token--
		ids = append(ids, int64(dst[from+i].ID))
	}
	if err == nil && len(ids) > 0 {
		_, err = b.rows.Exec(ctx, "update jobs set token = token - 1 where id = any($1)", ids)
	}
	return dst, next, err
}

type eager struct{ broken }

// eagerRecovery is a bug: recovery takes leases that have not expired.
func eagerRecovery(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &eager{broken{Store: good, rows: rows}}
}

func (b *eager) Recover(ctx context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	if _, err := b.rows.Exec(ctx, "update jobs set expires_at = 0 where state = 3"); err != nil {
		return dst, engine.Forever, err
	}
	return b.Store.Recover(ctx, holder, limit, grace, ttl, dst)
}

type idleHeart struct{ broken }

// idleHeartbeat is a bug: extensions are confirmed but not made.
func idleHeartbeat(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &idleHeart{broken{Store: good, rows: rows}}
}

func (b *idleHeart) ExtendLease(_ context.Context, keys []engine.LeaseKey, _ time.Duration, dst []engine.Status) ([]engine.Status, error) {
	return append(dst, slices.Repeat([]engine.Status{engine.Applied}, len(keys))...), nil
}

func (b *idleHeart) ExtendNode(context.Context, engine.EngineID, bool, time.Duration) (int, error) {
	return 1, nil
}

type losing struct{ broken }

// lostAnswers is no bug: some claims take effect, but their answers are lost, in the first life of each engine.
func lostAnswers(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &losing{broken{Store: good, rows: rows}}
}

func (b *losing) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	got, next, err := b.Store.Claim(ctx, holder, p, ttl, dst)
	if b.nth()%10 == 0 && holder.Generation() == 1 {
		return dst, 0, engine.ErrUnavailable
	}
	return got, next, err
}

type forgetting struct{ broken }

// forgottenAcks is a bug: some commits are answered but not made.
func forgottenAcks(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &forgetting{broken{Store: good, rows: rows}}
}

func (b *forgetting) Commit(ctx context.Context, batch engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	if b.nth()%5 > 0 {
		return b.Store.Commit(ctx, batch, dst)
	}
	return append(dst, slices.Repeat([]engine.Result{{Status: engine.Applied, From: engine.InFlight}}, len(batch.Outcomes))...), nil
}

type generous struct{ broken }

// extraJobs is a bug: the store adds jobs that nobody enqueued.
func extraJobs(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &generous{broken{Store: good, rows: rows}}
}

func (b *generous) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if n := b.nth(); n%3 == 0 {
		jobs = append(slices.Clone(jobs), engine.NewJob{ID: 1<<40 + engine.JobID(n)})
	}
	return b.Store.Enqueue(ctx, jobs)
}

type flattering struct{ broken }

// everybodyLeads is a bug: the store answers every engine that it leads.
func everybodyLeads(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &flattering{broken{Store: good, rows: rows}}
}

func (b *flattering) Lead(context.Context, engine.Op, engine.EngineID, time.Duration) (bool, error) {
	return true, nil
}

type pushing struct{ broken }

// promoteLeased is a bug: promotion makes jobs in flight ready.
func promoteLeased(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &pushing{broken{Store: good, rows: rows}}
}

func (b *pushing) Promote(ctx context.Context, limit int, order engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	dst, err := b.Store.Promote(ctx, limit, order, dst)
	if err != nil {
		return dst, err
	}
	pushed, err := b.rows.Query(ctx, "update jobs set state = 1 where id in (select id from jobs where state = 3 limit 3) returning id")
	if err != nil {
		return dst, err
	}
	ids, err := pgx.CollectRows(pushed, pgx.RowTo[engine.JobID])
	for _, id := range ids {
		dst = append(dst, engine.Promotion{Job: id})
	}
	return dst, err
}

type undoing struct{ broken }

// reviveAcked is a bug: redrive makes acked jobs ready.
func reviveAcked(good *pgstore.Store, rows *pgxpool.Pool) store {
	return &undoing{broken{Store: good, rows: rows}}
}

func (b *undoing) Commit(ctx context.Context, batch engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	from := len(dst)
	dst, err := b.Store.Commit(ctx, batch, dst)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range dst[from:] {
		if o := &batch.Outcomes[i]; r.Status == engine.Applied && o.Verb == engine.Ack {
			b.acked = append(b.acked, o.Job)
		}
	}
	return dst, err
}

func (b *undoing) Redrive(ctx context.Context, jobs []engine.JobID, most int, reset bool, dst []engine.Promotion) ([]engine.Promotion, error) {
	dst, err := b.Store.Redrive(ctx, jobs, most, reset, dst)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.acked); err == nil && n > 5 {
		id := b.acked[0]
		b.acked = nil
		if err = b.Store.Enqueue(ctx, []engine.NewJob{{ID: id}}); errors.Is(err, engine.ErrDuplicate) {
			return dst, nil
		}
		dst = append(dst, engine.Promotion{Job: id})
	}
	return dst, err
}
