package pgstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// TestOldSnapshot runs claims while 400,000 dead rows lie at the front of the index, which an old snapshot keeps
// from being removed. All but one a second begin where the previous one ended, and so take a small part of the time.
// A job put before that place is claimed within a second or so.
func TestOldSnapshot(t *testing.T) {
	const dead = 400_000
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	old, err := pgx.Connect(ctx, server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(context.WithoutCancel(ctx))
	for _, text := range []string{"insert into jobs (id, kind, priority, tenant) select i, 0, 0, 0 from generate_series(1, $1::integer) i",
		"delete from jobs where id <= $1", "vacuum jobs"} {
		var arguments []any
		if text != "vacuum jobs" {
			arguments = []any{dead}
		}
		if _, err := s.pool.Exec(ctx, text, arguments...); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Exec(ctx, "begin isolation level repeatable read"); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Exec(ctx, "select count(*) from pg_class"); err != nil {
			t.Fatal(err)
		}
	}
	next := engine.JobID(dead)
	enqueue := func(n int, priority int16) {
		t.Helper()
		jobs := make([]engine.NewJob, n)
		for i := range jobs {
			next++
			jobs[i] = engine.NewJob{ID: next, Priority: priority}
		}
		if err := s.Enqueue(ctx, jobs); err != nil {
			t.Fatal(err)
		}
	}
	slowest := time.Duration(0) // of the claims from the front
	claim := func(n int) (l []engine.Lease, took time.Duration) {
		t.Helper()
		began, from := time.Now(), s.fronts.whole
		l, _, err := s.Claim(ctx, engine.NewEngineID(1, 0), engine.Plan{Limit: n, Terms: []engine.Term{anyTerm(n)}}, time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		if took = time.Since(began); s.fronts.whole != from {
			slowest = max(slowest, took)
		}
		return l, took
	}
	// The store rests for ten times the claim before, and the next one takes its time.
	patience := func() time.Duration { return max(frontEvery+5*time.Second, 12*slowest) }
	enqueue(1000, 0)
	_, front := claim(10)
	if !s.fronts.dear {
		if front >= 3*dearFrom/2 {
			t.Fatalf("a claim at the front takes %v, and the next one is to begin there, too", front)
		}
		t.Skipf("a claim at the front of the dead takes %v here: too little to tell", front)
	}
	// behind returns the time of the fastest of 20 claims that begin where the last one ended, as all but one a second do
	// while a claim from the front takes long.
	behind := func(found func(i int, l []engine.Lease)) time.Duration {
		t.Helper()
		least, began, fronts := time.Hour, time.Now(), 0
		for i := range 20 {
			from, dear := s.fronts.whole, s.fronts.dear
			l, took := claim(10)
			if found(i, l); s.fronts.whole == from {
				least = min(least, took)
				if !s.fronts.dear {
					t.Fatal("after a claim that began where the last one ended, the next is to begin at the front")
				}
			} else if dear {
				fronts++
			}
		}
		if most := 1 + int(time.Since(began)/frontEvery); fronts > most {
			t.Fatalf("%d claims of 20 began at the front, want %d at most", fronts, most)
		}
		if least == time.Hour && fronts <= 1 {
			t.Skip("claims at the front of the dead take too little here to tell")
		}
		return least
	}
	least := behind(func(i int, l []engine.Lease) {
		if i == 0 && l[0].ID != dead+11 {
			t.Errorf("the second claim begins with %d, the first ended with %d", l[0].ID, dead+10)
		}
	})
	t.Logf("at the front %v, where the last one ended %v", front, least)
	if least > front/4 {
		t.Errorf("at the front a claim takes %v, where the last one ended %v", front, least)
	}

	enqueue(1, -5) // before all others
	fetch := func(what string) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			l, _ := claim(1)
			if time.Since(began) > patience() {
				t.Fatalf("%s, the job at the front was not claimed in %v", what, patience())
			}
			if len(l) == 1 && l[0].ID == next {
				return
			}
		}
	}
	fetch("while others wait")
	for {
		if l, _ := claim(100); len(l) < 100 {
			break
		}
	}
	// Also when nothing else is left: an engine that keeps up with what comes finds less than it asks for all the time.
	least = behind(func(_ int, l []engine.Lease) {
		if len(l) > 0 {
			t.Errorf("claimed %v, and nothing was left", l)
		}
	})
	if least > front/4 {
		t.Errorf("at the front a claim takes %v, where the last one ended and nothing is left %v", front, least)
	}
	enqueue(1, -5)
	fetch("when nothing else was left")
}

// TestDear takes calls for dear that last at least 20 ms while there are at least 20,000 dead rows: then the next claim
// does not begin at the front, and the next recovery waits.
func TestDear(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	own := mute(t, s, func(c *pgxpool.Config) { // the schema's functions come before the server's
		c.ConnConfig.RuntimeParams["search_path"] = quoted(s.schema) + ", pg_catalog"
	})
	dead := func(rows int) {
		t.Helper()
		text := fmt.Sprintf("create or replace function pg_stat_get_dead_tuples(oid) returns bigint language sql as 'select %d::bigint'", rows)
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	// Every call takes 21 ms at least.
	const slow = `create or replace function now_ns() returns bigint language sql volatile as
	'select (extract(epoch from clock_timestamp()) * 1000000000)::bigint from pg_sleep(0.021)'`
	if _, err := s.pool.Exec(ctx, slow); err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1}, {ID: 2}}); err != nil {
		t.Fatal(err)
	}
	for rows, dear := range map[int]bool{manyDead - 1: false, manyDead: true} {
		dead(rows)
		own.fronts.dear = !dear
		own.fronts.whole = time.Time{}
		_, _, err := own.Claim(ctx, peer, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Nanosecond, nil)
		if err != nil || own.fronts.dear != dear {
			t.Errorf("%d dead rows: a claim is dear: %v, want %v, %v", rows, !dear, dear, err)
		}
		own.fronts.reaped(0, false)
		l, _, err := own.Recover(ctx, peer, 1, 0, time.Nanosecond, nil)
		if err != nil || len(l) != 1 || own.fronts.restOfReaper(time.Now()) != 0 {
			t.Errorf("%d dead rows: recovered %v, %v; as many as it may, and still recoveries rest", rows, l, err)
		}
		l, _, err = own.Recover(ctx, peer, 9, 0, time.Nanosecond, nil)
		if rests := !own.fronts.reap.IsZero(); err != nil || len(l) == 0 || rests != dear {
			t.Errorf("%d dead rows: recovered %v, %v; recoveries rest: %v, want %v", rows, l, err, rests, dear)
		}
	}
	dead(manyDead)
	if !own.isDear(ctx, dearFrom) || own.isDear(ctx, dearFrom-1) {
		t.Errorf("dear is not what takes %v", dearFrom)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if own.isDear(ended, time.Hour) {
		t.Error("dear although nothing is known of the dead")
	}
	began := time.Now()
	own.fronts.reaped(time.Hour, true)
	l, next, err := own.Recover(ctx, peer, 9, 0, time.Nanosecond, nil)
	if err != nil || len(l) != 0 || next > reapShare*time.Hour || next < reapShare*time.Hour-time.Since(began) {
		t.Errorf("while recoveries rest: recovered %v, next after %v, %v", l, next, err)
	}
}
