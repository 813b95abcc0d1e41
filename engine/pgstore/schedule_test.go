package pgstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
)

// TestFollow has three processes follow a schedule of 40 ms, one of which stops early and one of which is late
// for every time: of each time there is one job.
func TestFollow(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	other, err := Open(ctx, server.DSN(), Options{Schema: s.schema, Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	const period = 40 * time.Millisecond
	sc := Schedule{Name: "often", Next: Every(period), Job: func(at time.Time) engine.NewJob {
		return engine.NewJob{ID: engine.JobID(at.UnixMilli())}
	}}
	early, stopEarly := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stopEarly()
	until, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	late := sc
	late.Job = func(at time.Time) engine.NewJob { time.Sleep(period / 2); return sc.Job(at) }
	ended := make(chan error, 3)
	go func() { ended <- s.Follow(early, sc) }()
	go func() { ended <- s.Follow(until, late) }()
	go func() { ended <- other.Follow(until, sc) }()
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	var jobs, times int
	var first, last int64
	if err := s.pool.QueryRow(ctx, "select count(*), count(distinct id), min(id), max(id) from jobs").Scan(&jobs, &times, &first, &last); err != nil {
		t.Fatal(err)
	}
	if jobs < 5 || jobs != times || first%period.Milliseconds() != 0 || last%period.Milliseconds() != 0 {
		t.Errorf("%d jobs of %d times, from %d to %d", jobs, times, first, last)
	}
	at := time.UnixMilli(last)
	if err := s.enqueueFor(ctx, &sc, at); err != nil {
		t.Errorf("a time that has had its job: %v", err)
	}
	if err := s.enqueueFor(ctx, &sc, at.Add(-period/2)); err != nil {
		t.Errorf("a time before the latest: %v", err)
	}
	if n := count(t, s, "select count(*) from jobs"); n != jobs {
		t.Errorf("%d jobs were added for old times", n-jobs)
	}
	sc.Job = func(time.Time) engine.NewJob { return engine.NewJob{ID: engine.JobID(last)} }
	if err := s.enqueueFor(ctx, &sc, at.Add(period)); !errors.Is(err, engine.ErrDuplicate) {
		t.Errorf("while the earlier job is live: %v", err)
	}
	if n := count(t, s, "select latest from schedules"); int64(n) != at.UnixNano() {
		t.Errorf("a time that was passed over counts as enqueued")
	}
	sc.Job = func(time.Time) engine.NewJob { return engine.NewJob{} }
	if err := s.Follow(ctx, sc); err == nil || ctx.Err() != nil {
		t.Errorf("a job that cannot be enqueued: %v", err)
	}
}

// TestFollowInTime follows a schedule of a minute: it tries once for each time, once a second while the store is
// unavailable, goes on to the next time if the job is refused as one that is there, skips times that passed meanwhile,
// and ends with any other error, or where the next time is not after the one before.
func TestFollowInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		codes := []string{"", "23505", "53200", "53200", "", "slow", "", "22012"}
		server := &scripted{}
		server.answer = func(sql, _ string) (time.Duration, string) {
			if !strings.Contains(sql, "schedules") {
				return -1, ""
			}
			code := next(&codes)
			if code == "slow" {
				time.Sleep(150 * time.Second)
				code = ""
			}
			return -1, code
		}
		s := server.store(t, engine.StoreOptions{})
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)))
		began := time.Now()
		type try struct{ after, at time.Duration }
		var tries []try
		sc := Schedule{Name: "often", Next: Every(time.Minute), Job: func(at time.Time) engine.NewJob {
			tries = append(tries, try{time.Since(began), at.Sub(began)})
			return engine.NewJob{ID: 1}
		}}
		err := s.Follow(t.Context(), sc)
		wantError(t, err, nil, "enqueue the job of schedule often for "+began.UTC().Format("2006-01-02T15")+":08:00Z: ")
		if errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("it ends with %v", err)
		}
		const m, s1 = time.Minute, time.Second
		if want := []try{{m, m}, {2 * m, 2 * m}, {3 * m, 3 * m}, {3*m + s1, 3 * m}, {3*m + 2*s1, 3 * m}, {4 * m, 4 * m},
			{7 * m, 7 * m}, {8 * m, 8 * m}}; !slices.Equal(tries, want) {
			t.Errorf("tried %v, want %v", tries, want)
		}

		stopping, stop := context.WithCancel(t.Context())
		sc.Job = func(time.Time) engine.NewJob { stop(); return engine.NewJob{} }
		if err := s.Follow(stopping, sc); err != nil {
			t.Errorf("it is stopped while it fails: %v", err)
		}

		last := time.Now().Add(time.Minute)
		sc.Next = func(after time.Time) time.Time { // as a cron expression of one day
			if after.Before(last) {
				return last
			}
			return time.Time{}
		}
		codes, tries = []string{"", "22012"}, nil
		sc.Job = func(time.Time) engine.NewJob { tries = append(tries, try{}); return engine.NewJob{ID: 1} }
		if err := s.Follow(t.Context(), sc); err != nil || len(tries) != 1 || time.Since(last) != 0 {
			t.Errorf("of a schedule that ends: %d tries, until %v after it: %v", len(tries), time.Since(last), err)
		}

		stuck := time.Now().Add(time.Minute)
		for name, tt := range map[string]struct {
			next  func(time.Time) time.Time
			tries int
		}{
			"no period": {Every(0), 0}, "a negative period": {Every(-time.Second), 0},
			"the same time for ever": {func(time.Time) time.Time { return stuck }, 1},
		} {
			codes, tries, sc.Next = []string{"", "22012"}, nil, tt.next // the second of these is not tried
			err := s.Follow(t.Context(), sc)
			if err == nil || !strings.HasPrefix(err.Error(), "schedule often: Next(") || len(tries) != tt.tries {
				t.Errorf("%s: %d tries, %v", name, len(tries), err)
			}
		}
	})
	now := time.Now()
	for _, at := range []time.Time{now.Add(-time.Hour), now, now.Add(time.Hour)} { // the last after the clock was set back
		next, err := (&Schedule{Next: Every(time.Minute)}).after(at, now)
		if err != nil || !next.After(at) || !next.After(now) || next.After(at.Add(time.Minute)) && next.After(now.Add(time.Minute)) {
			t.Errorf("after %v and %v: %v, %v", at, now, next, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for range 100 { // both are there at once
		if pause(ended, 0) {
			t.Fatal("goes on after the end")
		}
	}
}

func TestEvery(t *testing.T) {
	at := time.Date(2024, 2, 28, 13, 0, 0, 0, time.UTC)
	for _, want := range []string{"2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"} {
		if at = Every(24 * time.Hour)(at); at.Format(time.RFC3339) != want {
			t.Errorf("next at %v, want %s", at, want)
		}
	}
}

// count returns the number that an SQL query yields.
func count(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// TestUpgrade opens a schema of version 1 with jobs in it, all of whose tables are published: they are there, keys and
// schedules work, and so do commits, also those that add up what was buried.
func TestUpgrade(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1, Payload: []byte("old")}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.pool.Exec(context.Background(), "drop publication "+s.schema) })
	for _, text := range []string{"drop table schedules", "alter table jobs drop column unique_key", "update version set version = 1",
		"alter table version replica identity default", "alter table buried replica identity default",
		"create publication " + s.schema + " for table version, jobs, buried, batches, lives, leaders"} {
		if _, err := s.pool.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(ctx, server.DSN(), Options{Schema: s.schema, Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := count(t, s, "select version from version"); n != version {
		t.Errorf("version %d", n)
	}
	for i, want := range []error{nil, engine.ErrDuplicate} {
		if err := again.Enqueue(ctx, []engine.NewJob{{ID: engine.JobID(2 + i), Unique: "key"}}); !errors.Is(err, want) {
			t.Errorf("key enqueued: %v, want %v", err, want)
		}
	}
	sc := Schedule{Name: "s", Job: func(time.Time) engine.NewJob { return engine.NewJob{ID: 9} }}
	if err := again.enqueueFor(ctx, &sc, time.Now()); err != nil {
		t.Error(err)
	}
	l, _, err := again.Claim(ctx, peer, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
	if err != nil || len(l) != 3 || string(l[0].Payload) != "old" {
		t.Errorf("claimed %v, %v", l, err)
	}
	b := acks(peer, forgetEvery, l)
	b.Outcomes[0].Verb = engine.Bury
	if _, err := again.Commit(ctx, b, nil); err != nil {
		t.Error(err)
	}
}
