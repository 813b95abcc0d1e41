package pgstore

import (
	"slices"
	"testing"
	"time"

	"qsim/engine"
)

// TestClaimsPromoteSome makes due jobs ready by claims while very many are due: twice as many as a claim may lease,
// within bounds, so that none takes long; those that are due first come first, and the next claim is due at once.
func TestClaimsPromoteSome(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	const jobs = 4000
	if _, err := s.pool.Exec(ctx, `with t as materialized (select now_ns() as now)
insert into jobs (id, kind, tenant, priority, state, due_at)
select i, 0, 0, 0, 2, t.now - i::bigint * 1000000 from generate_series(1, $1::integer) i, t`, jobs); err != nil {
		t.Fatal(err)
	}
	waiting := jobs
	for _, tt := range []struct{ limit, term, promotes int }{
		{1, 1, 100}, {50, 50, 100}, {51, 60, 102}, {300, 9, 600}, {500, 9, 1000}, {5000, 9, 1000}, {1, 9, 100},
	} {
		plan := engine.Plan{Limit: tt.limit, Terms: []engine.Term{anyTerm(tt.term)}}
		l, next, err := s.Claim(ctx, peer, plan, time.Minute, nil)
		if err != nil || len(l) != min(tt.limit, tt.term) || next != 0 {
			t.Errorf("limit %d: %d leases, next after %v, %v", tt.limit, len(l), next, err)
		}
		if tt.limit == 1 && waiting == jobs && l[0].ID != jobs {
			t.Errorf("job %d comes first", l[0].ID)
		}
		left := count(t, s, "select count(*) from jobs where state = 2")
		if waiting-left != tt.promotes {
			t.Errorf("limit %d: makes %d jobs ready, want %d", tt.limit, waiting-left, tt.promotes)
		}
		waiting = left
	}
}

// TestShedIsAnnounced claims with a term that buries late jobs: an engine is woken for each that may have held up others
// of its serial key, and a claim that finds none wakes nobody.
func TestShedIsAnnounced(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	move := stopClock(t, s)
	own := mute(t, s, nil)
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1, Serial: 7}, {ID: 2, Serial: 7}, {ID: 3}}); err != nil {
		t.Fatal(err)
	}
	plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1, MaxWait: time.Minute, Shed: 1}}}
	claim := func(announced int, want ...engine.JobID) {
		t.Helper()
		l, _, err := own.Claim(ctx, peer, plan, time.Hour, nil)
		var got []engine.JobID
		for i := range l {
			got = append(got, l[i].ID)
		}
		if ready, _ := own.news.take(); err != nil || !slices.Equal(got, want) || ready != announced {
			t.Errorf("claimed %v, %v, want %v; announced %d, want %d", got, err, want, ready, announced)
		}
	}
	claim(0, 1)
	move(2 * time.Minute)
	if _, err := s.Cancel(ctx, []engine.JobID{1}, nil); err != nil {
		t.Fatal(err)
	}
	claim(1, 2, 3) // both are late: one is buried
	claim(0)
	for id := range engine.JobID(4) {
		if err := s.Enqueue(ctx, []engine.NewJob{{ID: 10 + id, Kind: engine.Kind(id), Serial: uint32(id % 2 * (10 + id))}}); err != nil {
			t.Fatal(err)
		}
	}
	move(2 * time.Minute)
	for _, tt := range []struct {
		kinds     engine.Kinds
		announced int
		want      []engine.JobID
	}{{1 << 2, 0, []engine.JobID{12}}, {1<<1 | 1<<3 | 1<<5, 2, []engine.JobID{11, 13}}} { // only late ones of these kinds
		plan.Terms[0].Kinds, plan.Terms[0].Shed = tt.kinds, 9
		claim(tt.announced, tt.want...)
	}
}

// TestClockSetBack claims jobs that are ready by an earlier clock than that by which they were enqueued: none has waited
// for less than no time, which would make an engine hold it, and claim more, until the clock is where it was. Where jobs
// are claimed before they are due, that is what it means. None is younger than new: it would outlive its deadline by as
// much, and take from the sum of all sojourns.
func TestClockSetBack(t *testing.T) {
	for _, held := range []bool{false, true} {
		s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, Held: held}), bounded(t)
		move := stopClock(t, s)
		if err := s.Enqueue(ctx, jobsFrom(1, 2)); err != nil {
			t.Fatal(err)
		}
		move(-time.Hour)
		want := time.Duration(0)
		if held {
			want = -time.Hour
		}
		l, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 2, Terms: []engine.Term{anyTerm(2)}}, time.Minute, nil)
		if err != nil || len(l) != 2 || l[0].Waited != want || l[1].Waited != want {
			t.Fatalf("held %v: %+v, %v, want a wait of %v", held, l, err, want)
		}
		ack := engine.Outcome{LeaseKey: l[0].Key(), Verb: engine.Ack}
		done, err := s.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: peer, Seq: 1}, Outcomes: []engine.Outcome{ack}}, nil)
		if err != nil || l[0].Age != 0 || done[0].Age != 0 {
			t.Errorf("held %v: claimed at an age of %v, acked at %v, %v", held, l[0].Age, done[0].Age, err)
		}
	}
}

// TestFrontOfMixedPlans claims by plans of an ordinary term and one that leaves out jobs before those that it takes,
// while claims begin where the last one ended: that is where the ordinary term ended.
func TestFrontOfMixedPlans(t *testing.T) {
	for name, other := range map[string]engine.Term{
		"oldest of any": {Order: engine.OldestOfAny}, "newest": {Order: engine.NewestReady}, "of a kind": {Kinds: 1 << 9},
		"not late": {MaxWait: 2500 * time.Millisecond},
	} {
		s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
		move := stopClock(t, s)
		for i, priority := range []int16{9, 9, 0, 0, 0, 0} {
			job := engine.NewJob{ID: engine.JobID(i + 1), Priority: priority, Kind: engine.Kind(priority)}
			if err := s.Enqueue(ctx, []engine.NewJob{job}); err != nil {
				t.Fatal(err)
			}
			move(time.Second)
		}
		other.Class, other.Limit = engine.AnyClass, 1
		for first := engine.JobID(3); first <= 4; first++ {
			l, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 2, Terms: []engine.Term{anyTerm(1), other}}, time.Minute, nil)
			if err != nil || len(l) != 2 || l[0].ID != first {
				t.Errorf("%s: claimed %+v, %v, want job %d first", name, l, err, first)
			}
			s.fronts.dear, s.fronts.whole, s.fronts.rest = true, time.Now(), time.Hour
		}
	}
}

// TestDeadAreListed lists dead jobs in the order in which they died, with the time since then, and no more than it is
// asked for; redriven ones are dead no more.
func TestDeadAreListed(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	move := stopClock(t, s)
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1, Payload: []byte("one")}, {ID: 2}, {ID: 3}, {ID: 4}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []engine.JobID{3, 1, 2} {
		move(time.Second)
		if _, err := s.Cancel(ctx, []engine.JobID{id}, nil); err != nil {
			t.Fatal(err)
		}
	}
	move(10 * time.Second)
	want := func(most int, want ...engine.Job) {
		t.Helper()
		got, err := s.Dead(ctx, most, []engine.Job{{ID: 99}})
		if err != nil || len(got) != len(want)+1 || got[0].ID != 99 {
			t.Fatalf("%v, %v", got, err)
		}
		for i, j := range got[1:] {
			w := want[i]
			if j.ID != w.ID || j.Waited != w.Waited || j.Age != 13*time.Second || string(j.Payload) != string(w.Payload) {
				t.Errorf("the dead number %d: %+v, want %+v", i, j, want[i])
			}
		}
	}
	three, two := engine.Job{ID: 3, Waited: 12 * time.Second}, engine.Job{ID: 2, Waited: 10 * time.Second}
	one := engine.Job{ID: 1, Waited: 11 * time.Second, Payload: []byte("one")}
	want(9, three, one, two)
	want(2, three, one)
	want(0)
	own := mute(t, s, nil)
	for _, tt := range []struct {
		ids  []engine.JobID
		most int
		want []engine.JobID
	}{
		{[]engine.JobID{4, 7}, 9, nil}, {[]engine.JobID{}, 9, nil}, {nil, 0, nil},
		{[]engine.JobID{1, 2}, 1, []engine.JobID{1}}, {nil, 9, []engine.JobID{2, 3}},
	} {
		redriven, err := own.Redrive(ctx, tt.ids, tt.most, false, nil)
		var got []engine.JobID
		for _, p := range redriven {
			got = append(got, p.Job)
		}
		slices.Sort(got)
		if ready, _ := own.news.take(); err != nil || !slices.Equal(got, tt.want) || (ready > 0) != (len(tt.want) > 0) {
			t.Errorf("%v, at most %d: redriven %v, %v, want %v; announced %v", tt.ids, tt.most, got, err, tt.want, ready)
		}
	}
	want(9)
}
