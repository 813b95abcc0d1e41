package memstore

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
)

// TestSerial lets three jobs of one key and one of none go by, with a crash, a retry
// and a death.
func TestSerial(t *testing.T) {
	c := newClient(t, plain)
	c.add(engine.NewJob{ID: 1, Serial: 7}, engine.NewJob{ID: 2, Serial: 7, Priority: -1}, engine.NewJob{ID: 3, Serial: 7, Delay: 10}, engine.NewJob{ID: 4}, engine.NewJob{ID: 5, Serial: 8})
	c.wantIDs("the first of each key", ids(c.claim(9)), 1, 4, 5)
	c.at = engine.Time(time.Minute)
	if s := c.stats(); s.Ready[engine.Fresh] != 2 || s.OldestReady[engine.Fresh] != time.Minute {
		t.Errorf("those behind are ready, and their wait runs: %+v", s)
	}
	c.wantIDs("while it is held by the dead", ids(c.claim(9)))
	l, _ := c.recover(1, 0)
	c.wantIDs("while a reaper has it", ids(c.claim(9)))
	c.nack(l[0], 50)
	c.wantIDs("while it waits", ids(c.claim(9)))
	c.at += 50
	l = c.claim(9)
	c.wantIDs("again", ids(l), 1)
	c.commit(l[0], engine.Bury)
	l = c.claim(9)
	if c.wantIDs("the next, once it is dead", ids(l), 2); l[0].Waited != time.Minute+50 {
		t.Errorf("it waited %v since it was ready", l[0].Waited)
	}
	c.commit(l[0], engine.Ack)
	c.wantIDs("the last", ids(c.claim(9)), 3)
	t.Run("an enqueue that is refused leaves no trace", func(t *testing.T) {
		c := newClient(t, plain)
		if err := c.Enqueue(background, []engine.NewJob{{ID: 1, Serial: 7}, {ID: 2, Serial: 7}, {ID: 1}}); err == nil {
			t.Fatal("no error")
		}
		c.add(engine.NewJob{ID: 3, Serial: 7})
		c.wantIDs("claimed", ids(c.claim(9)), 3)
	})
	t.Run("in order of enqueuing at batch 1, whatever fails", func(t *testing.T) {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceTail})
		for id := range engine.JobID(60) {
			c.add(engine.NewJob{ID: 100 - id, Serial: 1 + uint32(id%3)})
		}
		var done [3][]engine.JobID
		for n := 0; c.Live() > 0; n++ {
			c.at++
			for _, l := range c.claim(2) {
				if n%3 == 0 {
					c.nack(l, 2)
					continue
				}
				c.commit(l, engine.Ack)
				key := (100 - l.ID) % 3
				done[key] = append(done[key], l.ID)
			}
			check(c.t.(fatal), c.Store)
		}
		for key, got := range done {
			if !slices.IsSortedFunc(got, func(a, b engine.JobID) int { return int(b) - int(a) }) || len(got) != 20 {
				t.Errorf("key %d: %v", key, got)
			}
		}
	})
}

func TestMaxRunning(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1, MaxRunning: []int{2, 0}})
	for id := range engine.JobID(12) {
		c.at++
		c.add(engine.NewJob{ID: id + 1, Kind: engine.Kind(id % 3), Tenant: engine.TenantID(id % 3)})
	}
	one := func(o engine.Order) engine.Term {
		return engine.Term{Class: engine.AnyClass, Order: o, Limit: 1, Rule: &engine.Rule{Every: 1, Quantum: 1, PerJob: true, ShareDen: 1}}
	}
	l := c.claim(6)
	c.wantIDs("two of kind 0, others without bound", ids(l), 1, 2, 3, 4, 5, 6)
	for o := engine.OldestReady; o <= engine.TenantFair; o++ {
		for _, got := range c.plan(1, one(o)) {
			if got.Kind == 0 {
				t.Errorf("%v claimed a third", o)
			}
			c.commit(got, engine.Return)
		}
	}
	c.commit(l[0], engine.Ack)
	c.wantIDs("one is done", ids(c.plan(2, engine.Term{Class: engine.AnyClass, Kinds: 1, Limit: 2})), 7)
	c.at = c.at.Add(time.Hour)
	taken, _ := c.recover(3, 0) // 2, 3 and 4, whose kind is 0: what a reaper holds does not count
	c.wantIDs("recovered", ids(taken), 2, 3, 4)
	c.wantIDs("one was recovered", ids(c.plan(2, engine.Term{Class: engine.AnyClass, Kinds: 1, Limit: 2})), 10)
	c.nack(taken[2], 0)
	c.wantIDs("it is no longer one of them", ids(c.plan(2, engine.Term{Class: engine.AnyClass, Kinds: 1, Limit: 2})))
}

func TestMaxInFlight(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1, MaxInFlight: 3})
	for id := range engine.JobID(9) {
		c.add(engine.NewJob{ID: id + 1})
	}
	l := c.claim(2)
	c.wantIDs("as many as there is room for", ids(c.claim(9)), 3)
	c.wantIDs("full", ids(c.claim(9)))
	c.at = engine.Time(time.Minute)
	c.recover(1, 0)
	c.LoseLeases(func(engine.JobID) bool { return true }, nil)
	c.wantIDs("what a reaper holds, or nobody, counts", ids(c.claim(9)))
	c.commit(l[1], engine.Ack)
	c.wantIDs("one is done", ids(c.claim(9)), 4)
}

// TestHeld hands a job out an hour before its time.
func TestHeld(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1, Held: true, Promoted: true})
	c.add(engine.NewJob{ID: 1, Delay: time.Hour}, engine.NewJob{ID: 2})
	l := c.claim(9)
	c.wantIDs("claimed", ids(l), 2, 1)
	if l[0].Waited != 0 || l[1].Waited != -time.Hour || c.NextDue() != engine.Never {
		t.Errorf("%+v", l)
	}
	c.nack(l[0], time.Minute)
	c.at = engine.Time(time.Second)
	c.commit(l[1], engine.Return)
	l = c.claim(9)
	if c.wantIDs("again", ids(l), 2, 1); l[0].Waited != time.Second-time.Minute || l[1].Waited != time.Second-time.Hour {
		t.Errorf("%v, %v", l[0].Waited, l[1].Waited)
	}
	c.at = engine.Time(2 * time.Hour)
	c.commit(l[1], engine.Return)
	if l = c.claim(9); l[0].Waited != 0 {
		t.Errorf("due long ago, and returned now: waited %v", l[0].Waited)
	}
}

// TestRedrive buries three jobs and revives two.
func TestRedrive(t *testing.T) {
	for _, reset := range []bool{false, true} {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true})
		c.add(engine.NewJob{ID: 3, Serial: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 1}, engine.NewJob{ID: 4, Serial: 1})
		l := c.claim(3)
		for i := range l { // 1, 2, 3
			c.nack(l[i], 5)
		}
		c.at = 10
		l = c.claim(3)
		for _, i := range []int{2, 0, 1} {
			c.commit(l[i], engine.Bury)
		}
		if s := c.stats(); s.Dead != 3 || c.Live() != 1 {
			t.Errorf("%+v, %d live", s, c.Live())
		}
		if r := c.commit(l[0], engine.Ack); r.Status != engine.Stale {
			t.Errorf("%+v: the dead stay dead", r)
		}
		if err := c.Enqueue(background, []engine.NewJob{{ID: 2}}); err == nil {
			t.Error("the ID of a dead job was taken for new")
		}
		var asked []engine.JobID
		got := c.Redrive(func(id engine.JobID) bool { asked = append(asked, id); return id != 2 }, reset, nil)
		if !slices.Equal(asked, []engine.JobID{3, 1, 2}) || len(got) != 2 || got[0] != (engine.Promotion{Job: 3, Class: engine.Retry}) {
			t.Errorf("asked for %v, revived %+v", asked, got)
		}
		if s := c.stats(); s.Dead != 1 || s.Ready != [2]int{1, 2} {
			t.Errorf("%+v", s)
		}
		l = c.claim(9)
		c.wantIDs("claimed", ids(l), 4, 1) // 3 has gone behind 4, with which it shares a key
		want := engine.Job{ID: 1, Delivery: 3, Charged: 3, Failures: 2, LastDelay: 5, Age: 10}
		if reset {
			want.Charged, want.Failures, want.LastDelay = 1, 0, 0
		}
		if d := cmp.Diff(want, l[1].Job); d != "" {
			t.Errorf("reset %v (-want +got):\n%s", reset, d)
		}
	}
}

// TestOrphans loses the lease of one of two jobs.
func TestOrphans(t *testing.T) {
	for _, found := range []bool{false, true} {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Orphans: found})
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
		l := c.claim(2)
		lost := c.LoseLeases(func(id engine.JobID) bool { return id == 2 }, nil)
		if c.wantIDs("lost", ids(lost), 2); lost[0].Token != l[1].Token || lost[0].Holder != c.engine {
			t.Errorf("%+v", lost)
		}
		if c.extend(l[1]) || !c.extend(l[0]) {
			t.Error("want the first extended alone")
		}
		got, next := c.recover(9, 0)
		if found {
			if c.wantIDs("found", ids(got), 2); next == 0 {
				t.Error("there is no other")
			}
			continue
		}
		c.at = engine.Time(time.Hour)
		got, _ = c.recover(9, 0)
		c.wantIDs("the other", ids(got), 1)
		if r := c.commit(l[1], engine.Ack); r.Status != engine.Applied {
			t.Errorf("its holder's commit: %+v", r)
		}
	}
}

// TestReadThenWrite runs a reaper with two steps, and calls of others between the steps.
func TestReadThenWrite(t *testing.T) {
	between := map[string]func(c *client, l engine.Lease){
		"nothing":    func(*client, engine.Lease) {},
		"extended":   func(c *client, l engine.Lease) { c.extend(l) },
		"recovered":  func(c *client, l engine.Lease) { c.recover(1, 0) },
		"failed":     func(c *client, l engine.Lease) { c.nack(l, time.Hour) },
		"done":       func(c *client, l engine.Lease) { c.commit(l, engine.Ack) },
		"claimed":    func(c *client, l engine.Lease) { c.commit(l, engine.Return); c.claim(1) },
		"bystanding": func(c *client, l engine.Lease) { c.add(engine.NewJob{ID: 9}) },
	}
	for what, guards := range map[string]string{ // what passes
		"nothing": "tsn", "extended": "tsn", "recovered": "sn", "failed": "n", "done": "", "claimed": "sn", "bystanding": "tsn",
	} {
		for guard := engine.FenceToken; guard <= engine.FenceNone; guard++ {
			c := newClient(t, engine.StoreOptions{LapseAfter: -1, Fence: engine.FenceToken + engine.Fence(guard)%3}) // the fence does not matter
			c.add(engine.NewJob{ID: 1})
			l := c.claim(1)[0]
			c.at = engine.Time(time.Hour)
			seen, next, err := c.Expired(background, 9, 0, nil)
			c.must(err)
			if len(seen) != 1 || seen[0].Key() != l.Key() || seen[0].Holder != c.engine || seen[0].Recoveries != 1 || next != 0 {
				t.Fatalf("seen %+v, next %v", seen, next)
			}
			between[what](c, l)
			r := c.outcomes(engine.Outcome{LeaseKey: seen[0].Key(), Verb: engine.Redo, Guard: guard})[0]
			if want := slices.Contains([]byte(guards), "?tsn"[guard]); want != (r.Status == engine.Applied) || want && r.Holder != c.engine {
				t.Errorf("%s, guard %d: %+v", what, guard, r)
			}
			if r.Status == engine.Applied {
				again := c.claim(1)[0]
				if again.Token < l.Token+2 || again.Recoveries < 1 || again.Failures < 1 {
					t.Errorf("%s: %+v", what, again)
				}
			}
			check(t, c.Store)
		}
	}
}

func TestExtendNode(t *testing.T) {
	c := newClient(t, plain)
	c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4})
	mine, reborn, other := engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(2, 0)
	for _, e := range []engine.EngineID{mine, mine, other, reborn} {
		c.engine = e
		c.claim(1)
	}
	extend := func(e engine.EngineID, kept bool) int {
		n, err := c.ExtendNode(background, e, kept, time.Hour)
		c.must(err)
		return n
	}
	c.at = engine.Time(29 * time.Second)
	if a, b := extend(mine, false), extend(reborn, true); a != 2 || b != 3 {
		t.Errorf("extended %d and %d, want 2 and 3", a, b)
	}
	c.at = engine.Time(30 * time.Second)
	c.engine = reborn
	got, _ := c.recover(9, 0)
	c.wantIDs("recovered", ids(got), 3)
	if n := extend(reborn, true); n != 3 {
		t.Errorf("extended %d, and not what its reaper holds", n)
	}
}

// TestVerbs tests which verbs cost an attempt, and the position of a job that is ready at once.
func TestVerbs(t *testing.T) {
	c := newClient(t, plain)
	c.add(engine.NewJob{ID: 1})
	send := func(o engine.Outcome) engine.Job {
		o.LeaseKey = c.claim(1)[0].Key()
		c.outcomes(o)
		c.at += 10
		l := c.claim(1)[0]
		c.commit(l, engine.Return)
		l.Charged--
		return l.Job
	}
	for _, tt := range []struct {
		o                          engine.Outcome
		charged, failures, snoozes int32
	}{
		{engine.Outcome{Verb: engine.Nack, Delay: 10}, 1, 1, 0},
		{engine.Outcome{Verb: engine.Redo}, 2, 2, 0},
		{engine.Outcome{Verb: engine.Snooze, Delay: 10}, 2, 2, 1},
		{engine.Outcome{Verb: engine.Return}, 2, 2, 1},
	} {
		if j := send(tt.o); j.Charged != tt.charged || j.Failures != tt.failures || j.Snoozes != tt.snoozes {
			t.Errorf("%v: %+v", tt.o.Verb, j)
		}
	}
	// A job that was never ready stands where it would, had it not had to wait.
	w := newClient(t, plain)
	w.add(engine.NewJob{ID: 1, Delay: 100})
	w.at = 50
	w.add(engine.NewJob{ID: 2})
	w.at = 60
	w.outcomes(engine.Outcome{LeaseKey: engine.LeaseKey{Job: 1}, Guard: engine.FenceNone, Verb: engine.Redo, Stand: engine.PlaceDue})
	w.wantIDs("never ready before", ids(w.claim(9)), 1, 2)
	for stand, want := range [][]engine.JobID{{2, 3, 1, 4}, {1, 2, 3, 4}, {2, 1, 3, 4}, {2, 3, 1, 4}, {1, 2, 3, 4}} {
		c := newClient(t, plain)
		c.add(engine.NewJob{ID: 1}) // enqueued at 0, due at 5
		l := c.claim(1)[0]
		c.nack(l, 5)
		c.at = 4
		c.add(engine.NewJob{ID: 2})
		c.at = 6
		l = c.plan(1, engine.Term{Class: engine.Retry, Limit: 1})[0]
		c.add(engine.NewJob{ID: 3})
		for range 2 { // the former position, also the second time
			c.at += 2
			c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Redo, Stand: engine.Place(stand)})
			l = c.plan(1, engine.Term{Class: engine.Retry, Limit: 1})[0]
		}
		c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Return, Stand: engine.Place(stand)})
		c.at++
		c.add(engine.NewJob{ID: 4})
		c.at += 7
		got := c.claim(9)
		c.wantIDs("stands", ids(got), want...)
		if i := slices.IndexFunc(got, func(l engine.Lease) bool { return l.ID == 1 }); got[i].Waited != 8 {
			t.Errorf("stand %d: it waited %v since it was ready", stand, got[i].Waited)
		}
	}
}

// TestPartialBatch has a store refuse one outcome of a batch twice.
func TestPartialBatch(t *testing.T) {
	c := newClient(t, plain)
	c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
	l := c.claim(2)
	b := engine.Batch{ID: engine.BatchID{Engine: c.engine, Seq: 1}}
	for i := range l {
		b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: l[i].Key(), Verb: engine.Ack})
	}
	send := func(refused bool, want ...engine.Status) {
		t.Helper()
		b.Outcomes[1].Refused = refused
		used := []engine.Result{{Status: engine.Stale, Token: 9}, {Status: engine.Stale, Token: 9}} // of an earlier answer
		r, err := c.Commit(background, b, used[:0])
		if c.must(err); r[0].Status != want[0] || r[1].Status != want[1] {
			t.Errorf("got %+v, want %v", r, want)
		}
		check(t, c.Store)
	}
	send(true, engine.Applied, engine.Unapplied)
	send(true, engine.Applied.Again(), engine.Unapplied)
	send(false, engine.Applied.Again(), engine.Applied)
	send(false, engine.Applied.Again(), engine.Applied.Again())
}

func TestPassed(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1, CountAhead: true, Place: engine.PlaceCreated})
	for id := range engine.JobID(20) {
		c.at++
		c.add(engine.NewJob{ID: id + 1, Kind: engine.Kind(id % 4), Priority: int16(id / 10)})
	}
	passed := func(want int, term engine.Term) {
		t.Helper()
		term.Limit = 2
		l := c.plan(2, term)
		if got := c.Passed(); got != want {
			t.Errorf("%+v: passed %d, want %d", term, got, want)
		}
		for i := len(l) - 1; i >= 0; i-- { // the second goes into a tree
			c.commit(l[i], engine.Return)
		}
		check(t, c.Store)
	}
	passed(0, engine.Term{Class: engine.AnyClass})
	passed(2, engine.Term{Class: engine.AnyClass, Kinds: 1 << 2})
	passed(9, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady})
	passed(7, engine.Term{Class: engine.Fresh, Kinds: 1<<2 | 1<<3, Order: engine.NewestReady})
	passed(20, engine.Term{Class: engine.AnyClass, Kinds: 1 << 5})
}

// Three reapers that had read the same lease, and look at nothing when they write, give
// one charge back, not three.
func TestChargeIsGivenBackOnce(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1})
	c.add(engine.NewJob{ID: 1})
	l := c.claim(1)
	c.at += 2
	for node := range int32(3) {
		o := engine.Outcome{LeaseKey: l[0].Key(), Verb: engine.Return, Guard: engine.FenceNone}
		if _, err := c.Commit(t.Context(), engine.Batch{ID: engine.BatchID{Engine: engine.NewEngineID(node+7, 0), Seq: 1}, Outcomes: []engine.Outcome{o}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if l = c.claim(1); l[0].Delivery != 2 || l[0].Charged != 1 {
		t.Errorf("delivery %d, charged %d; want 2 and 1", l[0].Delivery, l[0].Charged)
	}
}

// TestSplitOfATree checks that jobs which came back out of order are claimed in order after their queue is split by kind.
func TestSplitOfATree(t *testing.T) {
	c := newClient(t, plain)
	for id := range engine.JobID(4) {
		c.at = c.at.Add(time.Second)
		c.add(engine.NewJob{ID: id + 1, Kind: engine.Kind(id % 2)})
	}
	leases := c.claim(4)
	for _, i := range []int{0, 3, 2, 1} { // the last two go to the tree of their queue
		c.outcomes(engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Redo, Stand: engine.PlaceDue})
	}
	c.wantIDs("of one kind", ids(c.plan(4, engine.Term{Class: engine.AnyClass, Kinds: 1 << 1, Limit: 4})), 2, 4)
	c.wantIDs("all others", ids(c.claim(4)), 1, 3)
}
