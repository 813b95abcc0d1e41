package pgstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// TestFreedIsAnnounced ends jobs of serial keys by commits of one part and of several: whenever a job ended that held up
// others, wherever it stands in the batch, engines are woken, and otherwise not.
func TestFreedIsAnnounced(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: keep}), bounded(t)
		own := mute(t, s, nil)
		for i, tt := range []struct {
			verbs []engine.Verb // of the jobs 1, 2 and 3, the second of which has a serial key; then of 1 again and so on
			want  bool
		}{
			{[]engine.Verb{engine.Ack, engine.Ack, engine.Ack}, true},
			{[]engine.Verb{engine.Ack, engine.Bury, engine.Nack}, true},
			{[]engine.Verb{engine.Bury, engine.Nack, engine.Ack}, false},
			{[]engine.Verb{engine.Ack, engine.Bury, engine.Ack, engine.Ack}, true},
			{[]engine.Verb{engine.Bury, engine.Nack, engine.Ack, engine.Ack}, false},
		} {
			first := engine.JobID(10 * i)
			jobs := []engine.NewJob{{ID: first + 1}, {ID: first + 2, Serial: uint32(i + 1)}, {ID: first + 3}}
			if err := s.Enqueue(ctx, jobs); err != nil {
				t.Fatal(err)
			}
			plan := engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}
			leases, _, err := s.Claim(ctx, peer, plan, time.Minute, nil)
			if err != nil || len(leases) != 3 {
				t.Fatalf("claimed %v, %v", leases, err)
			}
			b := engine.Batch{ID: engine.BatchID{Engine: peer, Seq: uint64(i + 1)}}
			for k, verb := range tt.verbs {
				b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: leases[k%3].Key(), Verb: verb, Delay: time.Hour})
			}
			if _, err := own.Commit(ctx, b, nil); err != nil {
				t.Fatal(err)
			}
			if ready, _ := own.news.take(); (ready > 0) != tt.want {
				t.Errorf("the dead kept %v, %v: announced %v, want %v", keep, tt.verbs, ready, tt.want)
			}
		}
	}
}

// TestCopiesOfBatches sends a batch that is refused once more if a copy of it was recorded meanwhile, as the answer is
// there then: once only, and after no other error.
func TestCopiesOfBatches(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1}}); err != nil {
		t.Fatal(err)
	}
	leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"create sequence tries", `create function refuse() returns trigger language plpgsql as $$ begin
	raise exception 'there is one'
		using errcode = '23505', constraint = 'batches_pkey', detail = nextval('tries')::text;
end $$`,
		"create trigger refuse before insert on batches for each row execute function refuse()"} {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(ctx, acks(peer, 1, leases), nil); err == nil || !strings.HasPrefix(err.Error(), "commit: ") {
		t.Errorf("a copy that is never seen: %v", err)
	}
	if n := count(t, s, "select last_value from tries"); n != 2 {
		t.Errorf("sent %d times, want twice", n)
	}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "23505", ConstraintName: "batches_pkey"}, true},
		{&pgconn.PgError{Code: "23505", ConstraintName: "buried_pkey"}, false},
		{&pgconn.PgError{Code: "23514", ConstraintName: "batches_pkey"}, false},
		{engine.ErrUnavailable, false},
	} {
		if got := isCopy(tt.err); got != tt.want {
			t.Errorf("%v: of a copy: %v, want %v", tt.err, got, tt.want)
		}
	}
}

// TestRecordsAreForgotten commits batches until their records are tidied, which fails at first: afterwards no record is
// left but those that the engine may ask for. Records of the engine's former life go too. The next time it begins where
// it ended, and does not walk over the dead.
func TestRecordsAreForgotten(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	var f fault
	f.after.Store(-1)
	own := mute(t, s, func(c *pgxpool.Config) { c.ConnConfig.Tracer = &f })
	former := engine.NewEngineID(peer.Node(), peer.Generation()-1)
	commit := func(e engine.EngineID, seq, settled uint64) error {
		b := acks(e, seq, []engine.Lease{{Job: engine.Job{ID: 1}}})
		b.Settled = settled
		_, err := own.Commit(ctx, b, nil)
		return err
	}
	left := func(e engine.EngineID) []int64 {
		t.Helper()
		rows, _ := s.pool.Query(ctx, "select seq from batches where node = $1 and generation = $2 order by seq",
			e.Node(), int64(e.Generation()))
		seqs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			t.Fatal(err)
		}
		return seqs
	}
	if err := commit(former, 5, 4); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq < forgetEvery; seq++ {
		if err := commit(peer, seq, seq-1); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(left(peer)); n != forgetEvery-1 || len(left(former)) != 1 {
		t.Errorf("%d records before they are tidied", n)
	}
	f.after.Store(0)
	if err := commit(peer, forgetEvery, forgetEvery-3); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was to fail: %v", err)
	}
	if err := commit(peer, forgetEvery, forgetEvery-3); err != nil {
		t.Fatal(err)
	}
	seqs := left(peer)
	if !slices.Equal(seqs, []int64{forgetEvery - 2, forgetEvery - 1, forgetEvery}) || len(left(former)) != 0 {
		t.Errorf("left of this life: %v, of the former: %v", seqs, left(former))
	}
	for seq := uint64(forgetEvery + 1); seq <= 2*forgetEvery; seq++ {
		if err := commit(peer, seq, seq-1); err != nil {
			t.Fatal(err)
		}
	}
	if seqs := left(peer); !slices.Equal(seqs, []int64{2 * forgetEvery}) {
		t.Errorf("left later: %v", seqs)
	}
	generation := int64(peer.Generation())
	want := []any{peer.Node(), generation, int64(2*forgetEvery - 1), generation, int64(forgetEvery - 3)}
	for _, q := range f.batch.QueuedQueries {
		if q.SQL == forgetSQL && !slices.Equal(q.Arguments, want) {
			t.Errorf("deleted from %v, want %v", q.Arguments, want)
		}
	}
}
