package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// fault is a tracer of pgx that makes one statement or batch fail: its context ends before it is sent. It skips the
// query for the number of dead rows, which is sent only after calls that took long.
type fault struct {
	after  atomic.Int32 // statements that succeed before the one that fails
	failed atomic.Bool
	batch  *pgx.Batch // the latest
}

func (f *fault) context(ctx context.Context) context.Context {
	if f.after.Add(-1) != -1 {
		return ctx
	}
	f.failed.Store(true)
	ended, end := context.WithCancel(ctx)
	end()
	return ended
}

func (f *fault) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "pg_stat_get_dead_tuples") {
		return ctx
	}
	return f.context(ctx)
}

func (f *fault) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	f.batch = data.Batch
	return f.context(ctx)
}

func (*fault) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*fault) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*fault) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// mute returns a store on the schema of another one, with its own connections, that sends no announcements.
func mute(t testing.TB, s *Store, change func(c *pgxpool.Config)) *Store {
	t.Helper()
	config := s.pool.Config()
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	m := &Store{pool: pool, beats: pool, schema: s.schema, rules: s.rules, text: s.text, running: t.Context()}
	m.news.waiting = make(chan struct{}, 1)
	return m
}

// call is a call of a store to test: of one that keeps the dead and has jobs 1 and 2 in flight, by the engine peer, 3
// and 4 ready, 5 dead, 6 waiting for an hour, and 7 due.
type call struct {
	says       string // beginning of its errors
	do         func(s *Store, ctx context.Context, leases []engine.Lease) (any, error)
	none, want any  // what it returns if it fails, and if it does not
	news       bool // it announces that jobs are ready
	timeless   bool // its statements do not read the clock
	promoted   bool // it is of a store with StoreOptions.Promoted
}

var peer = engine.NewEngineID(3, 1)

func allCalls() []call {
	ids := func(leases []engine.Lease) (out []engine.JobID) {
		for i := range leases {
			out = append(out, leases[i].ID)
		}
		return out
	}
	promoted := func(out []engine.Promotion, err error) (any, error) {
		var ids []engine.JobID
		for _, p := range out {
			ids = append(ids, p.Job)
		}
		return ids, err
	}
	before := engine.Lease{Job: engine.Job{ID: 99}}
	commit := func(twice bool) func(*Store, context.Context, []engine.Lease) (any, error) {
		return func(s *Store, ctx context.Context, leases []engine.Lease) (any, error) {
			b := acks(peer, forgetEvery, leases)
			b.Settled, b.Outcomes[1].Verb = forgetEvery-1, engine.Return
			if twice {
				b.Outcomes = append(b.Outcomes, b.Outcomes[0])
			}
			results, err := s.Commit(ctx, b, []engine.Result{{}})
			statuses := []engine.Status{}
			for _, r := range results[1:] {
				statuses = append(statuses, r.Status)
			}
			return statuses, err
		}
	}
	return []call{
		{says: "enqueue 1 jobs", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return nil, s.Enqueue(ctx, []engine.NewJob{{ID: 10, Serial: 7}})
		}, news: true},
		{says: "claim", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			plan := engine.Plan{Limit: 9, Terms: []engine.Term{{Class: engine.Fresh, Limit: 9, MaxWait: time.Hour, Shed: 10}}}
			l, _, err := s.Claim(ctx, peer, plan, time.Minute, []engine.Lease{before})
			return ids(l), err
		}, none: []engine.JobID{99}, want: []engine.JobID{99, 3, 4, 7}},
		{says: "commit", do: commit(false), news: true,
			none: []engine.Status{}, want: []engine.Status{engine.Applied, engine.Applied}},
		{says: "commit", do: commit(true), news: true,
			none: []engine.Status{}, want: []engine.Status{engine.Applied, engine.Applied, engine.Stale}},
		{says: "extend leases", do: func(s *Store, ctx context.Context, leases []engine.Lease) (any, error) {
			return s.ExtendLease(ctx, []engine.LeaseKey{leases[0].Key(), {Job: 3}}, time.Minute, []engine.Status{engine.Stale})
		}, none: []engine.Status{engine.Stale}, want: []engine.Status{engine.Stale, engine.Applied, engine.Stale}},
		{says: "extend leases of a node", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return s.ExtendNode(ctx, peer, false, time.Minute)
		}, none: 0, want: 2},
		{says: "recover", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			l, _, err := s.Recover(ctx, peer, 9, 0, time.Minute, []engine.Lease{before})
			return ids(l), err
		}, none: []engine.JobID{99}, want: []engine.JobID{99}},
		{says: "promote", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return promoted(s.Promote(ctx, 9, engine.OldestReady, []engine.Promotion{{Job: 99}}))
		}, none: []engine.JobID{99}, want: []engine.JobID{99, 7}, news: true, promoted: true},
		{says: "redrive", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return promoted(s.Redrive(ctx, nil, 9, false, []engine.Promotion{{Job: 99}}))
		}, none: []engine.JobID{99}, want: []engine.JobID{99, 5}, news: true},
		{says: "list the dead", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			dead, err := s.Dead(ctx, 9, []engine.Job{before.Job})
			return len(dead), err
		}, none: 1, want: 2},
		{says: "cancel", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return s.Cancel(ctx, []engine.JobID{4, 3}, []engine.JobID{99})
		}, none: []engine.JobID{99}, want: []engine.JobID{99, 3, 4}},
		{says: "stats", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			st, err := s.Stats(ctx, 0)
			return []int{st.Ready[engine.Fresh], st.Waiting[engine.Fresh], st.InFlight[engine.Fresh], int(st.Dead)}, err
		}, none: []int{0, 0, 0, 0}, want: []int{3, 1, 2, 1}},
		{says: "lead", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return s.Lead(ctx, engine.OpRecover, peer, time.Minute)
		}, none: false, want: true},
		{says: "count the lives of an engine", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			return s.NextLife(ctx, 3)
		}, none: uint32(0), want: uint32(0), timeless: true},
		{says: "", do: func(s *Store, ctx context.Context, leases []engine.Lease) (any, error) {
			e, err := s.Effects(ctx)
			if err != nil {
				return EffectStale, err
			}
			return e.Apply(ctx, &leases[0].Job, peer.Node())
		}, none: EffectStale, want: EffectApplied, timeless: true},
		{says: "enqueue the job of schedule nightly", do: func(s *Store, ctx context.Context, _ []engine.Lease) (any, error) {
			sc := Schedule{Name: "nightly", Job: func(time.Time) engine.NewJob { return engine.NewJob{ID: 11, Serial: 7} }}
			return nil, s.enqueueFor(ctx, &sc, time.Unix(1, 0))
		}, news: true},
	}
}

// TestCallsThatFail has every statement of every call fail in turn, and the server while it executes one: the call
// fails with that, returns nothing and announces nothing. Made again it does what it would have done at first.
func TestCallsThatFail(t *testing.T) {
	for _, c := range allCalls() {
		t.Run(c.says, func(t *testing.T) {
			s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true, Promoted: c.promoted}), bounded(t)
			var f fault
			f.after.Store(-1)
			own := mute(t, s, func(config *pgxpool.Config) { config.ConnConfig.Tracer = &f })
			if err := s.Enqueue(ctx, append(jobsFrom(1, 5), engine.NewJob{ID: 6, Delay: time.Hour})); err != nil {
				t.Fatal(err)
			}
			leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 2, Terms: []engine.Term{anyTerm(2)}}, time.Minute, nil)
			if err != nil || len(leases) != 2 || leases[0].ID != 1 {
				t.Fatal(leases, err)
			}
			if _, err := s.Cancel(ctx, []engine.JobID{5}, nil); err != nil {
				t.Fatal(err)
			}
			if err := s.Enqueue(ctx, []engine.NewJob{{ID: 7, Delay: 1}}); err != nil {
				t.Fatal(err)
			}
			fails := func(what string, got any, err, want error, says string) {
				t.Helper()
				wantError(t, err, want, says)
				if !errors.Is(err, engine.ErrUnavailable) || !strings.HasPrefix(err.Error(), c.says) {
					t.Errorf("%s: %v, want %v: %v", what, err, c.says, engine.ErrUnavailable)
				}
				if d := cmp.Diff(c.none, got); d != "" {
					t.Errorf("%s: (-want +got)\n%s", what, d)
				}
				if ready, due := own.news.take(); ready > 0 || !due.IsZero() {
					t.Errorf("%s: announces what did not take place", what)
				}
			}
			if !c.timeless {
				const broken = `create function now_ns() returns bigint language plpgsql as
$$ begin raise exception 'out of memory' using errcode = '53200'; end $$`
				for _, text := range []string{"alter function now_ns rename to right_ns", broken} {
					if _, err := s.pool.Exec(ctx, text); err != nil {
						t.Fatal(err)
					}
				}
				got, err := c.do(own, ctx, leases)
				fails("out of memory", got, err, engine.ErrUnavailable, "SQLSTATE 53200")
				for _, text := range []string{"drop function now_ns", "alter function right_ns rename to now_ns"} {
					if _, err := s.pool.Exec(ctx, text); err != nil {
						t.Fatal(err)
					}
				}
			}
			for n := int32(0); ; n++ {
				f.failed.Store(false)
				f.after.Store(n)
				got, err := c.do(own, ctx, leases)
				if f.failed.Load() {
					fails(fmt.Sprint("without statement ", n), got, err, context.Canceled, "")
					continue
				}
				if d := cmp.Diff(c.want, got); err != nil || d != "" || n == 0 {
					t.Errorf("after %d failures: %v (-want +got)\n%s", n, err, d)
				}
				if ready, _ := own.news.take(); (ready > 0) != c.news {
					t.Errorf("announces that jobs are ready: %v, want %v", ready, c.news)
				}
				break
			}
		})
	}
}
