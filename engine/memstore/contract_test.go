package memstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
	"qsim/engine/unfinished"
)

var background = context.Background()

// client is a store with a clock that the test sets, and shorter calls that fail the
// test instead of returning an error.
type client struct {
	*Store
	t      testing.TB
	at     engine.Time
	seq    uint64
	engine engine.EngineID
}

func newClient(t testing.TB, o engine.StoreOptions) *client {
	c := &client{t: t, engine: engine.NewEngineID(1, 0)}
	c.Store = New(func() engine.Time { return c.at }, o)
	return c
}

// plain are options under which leases only end by Recover.
var plain = engine.StoreOptions{LapseAfter: -1}

func (c *client) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) add(jobs ...engine.NewJob) {
	c.t.Helper()
	c.must(c.Enqueue(background, jobs))
}

func (c *client) plan(limit int, terms ...engine.Term) []engine.Lease {
	c.t.Helper()
	l, _, err := c.Claim(background, c.engine, engine.Plan{Limit: limit, Terms: terms}, 30*time.Second, nil)
	c.must(err)
	return l
}

func (c *client) claim(limit int) []engine.Lease {
	c.t.Helper()
	return c.plan(limit, engine.Term{Class: engine.AnyClass, Limit: limit})
}

func (c *client) outcomes(o ...engine.Outcome) []engine.Result {
	c.t.Helper()
	c.seq++
	r, err := c.Commit(background, engine.Batch{ID: engine.BatchID{Engine: c.engine, Seq: c.seq}, Settled: c.seq - 1, Outcomes: o}, nil)
	c.must(err)
	return r
}

func (c *client) commit(l engine.Lease, v engine.Verb) engine.Result {
	c.t.Helper()
	return c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: v})[0]
}

func (c *client) nack(l engine.Lease, delay time.Duration) engine.Result {
	c.t.Helper()
	return c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Nack, Delay: delay})[0]
}

func (c *client) extend(l engine.Lease) bool {
	c.t.Helper()
	held, err := c.ExtendLease(background, []engine.LeaseKey{l.Key()}, 30*time.Second, nil)
	c.must(err)
	return held[0] == engine.Applied
}

func (c *client) recover(limit int, grace time.Duration) ([]engine.Lease, time.Duration) {
	c.t.Helper()
	l, next, err := c.Recover(background, c.engine, limit, grace, 30*time.Second, nil)
	c.must(err)
	return l, next
}

func (c *client) promote(limit int, o engine.Order) []engine.JobID {
	c.t.Helper()
	p, err := c.Promote(background, limit, o, nil)
	c.must(err)
	ids := []engine.JobID{}
	for i := range p {
		ids = append(ids, p[i].Job)
	}
	return ids
}

func (c *client) stats() engine.Stats {
	c.t.Helper()
	s, err := c.Stats(background, 0)
	c.must(err)
	return s
}

func ids(l []engine.Lease) []engine.JobID {
	out := []engine.JobID{}
	for i := range l {
		out = append(out, l[i].ID)
	}
	return out
}

func (c *client) wantIDs(what string, got []engine.JobID, want ...engine.JobID) {
	c.t.Helper()
	if !slices.Equal(got, want) {
		c.t.Errorf("%s: got %v, want %v", what, got, want)
	}
	check(c.t.(fatal), c.Store)
}

// TestPlaces nacks one job among others and checks its position when it is ready again: enqueued at
// 1 s, nacked at 4 s with a delay of 2 s, promoted at 10 s if at all, while others are enqueued at
// 2, 5, 7 and 9 s.
func TestPlaces(t *testing.T) {
	tests := []struct {
		place    engine.Place
		promoted bool
		want     []engine.JobID
	}{
		{engine.PlaceDue, false, []engine.JobID{2, 5, 1, 7, 9}},
		{engine.PlaceDue, true, []engine.JobID{2, 5, 1, 7, 9}},
		{engine.PlaceTail, false, []engine.JobID{2, 5, 1, 7, 9}}, // made ready when it is due: the store is looked at then
		{engine.PlaceTail, true, []engine.JobID{2, 5, 7, 9, 1}},
		{engine.PlaceHead, false, []engine.JobID{1, 2, 5, 7, 9}},
		{engine.PlaceHead, true, []engine.JobID{1, 2, 5, 7, 9}},
		{engine.PlaceCreated, false, []engine.JobID{1, 2, 5, 7, 9}},
		{engine.PlaceCreated, true, []engine.JobID{1, 2, 5, 7, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.place.String(), func(t *testing.T) {
			c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: tt.place, Promoted: tt.promoted})
			second := engine.Time(time.Second)
			var l engine.Lease
			for at := range engine.Time(10) {
				c.at = at * second
				switch at {
				case 1:
					c.add(engine.NewJob{ID: 1})
					l = c.claim(1)[0]
				case 2, 5, 7, 9:
					c.add(engine.NewJob{ID: engine.JobID(at)})
				case 4:
					c.nack(l, 2*time.Second)
				case 6:
					c.PromoteDue(nil)
				}
			}
			c.at = 10 * second
			c.promote(9, engine.OldestReady)
			got := c.claim(9)
			c.wantIDs("claimed", ids(got), tt.want...)
			for i := range got {
				if got[i].ID == 1 && (got[i].Waited != 4*time.Second || got[i].Age != 9*time.Second) {
					t.Errorf("waited %v since it was due, aged %v", got[i].Waited, got[i].Age)
				}
			}
		})
	}
	t.Run("head by due time", func(t *testing.T) {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceHead})
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4, Delay: 1})
		l := c.claim(2)
		c.nack(l[0], 20)
		c.nack(l[1], 10)
		c.at = 30
		c.wantIDs("claimed", ids(c.claim(9)), 2, 1, 3, 4)
	})
	t.Run("created among many", func(t *testing.T) {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceCreated})
		for id := range engine.JobID(40) {
			c.at++
			c.add(engine.NewJob{ID: id + 1})
		}
		l := c.claim(40)
		want := []engine.JobID{}
		for _, i := range []int{19, 3, 30, 7, 5, 39, 25, 9, 1, 6, 0, 38} {
			c.commit(l[i], engine.Return)
			want = append(want, l[i].ID)
		}
		slices.Sort(want)
		c.wantIDs("newest", ids(c.plan(1, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: 1})), want[len(want)-1])
		c.wantIDs("claimed", ids(c.claim(40)), want[:len(want)-1]...)
	})
}

// TestWhatAJobCarries follows one job through a nack, a return and a recovery.
func TestWhatAJobCarries(t *testing.T) {
	c := newClient(t, plain)
	reaper := engine.NewEngineID(2, 5)
	c.at = 100
	c.add(engine.NewJob{ID: 7, Kind: 2, Priority: 3, Tenant: 4, Payload: []byte("x")})
	want := engine.Lease{Token: 1, Job: engine.Job{ID: 7, Kind: 2, Priority: 3, Tenant: 4, Payload: []byte("x"), Delivery: 1, Charged: 1, Waited: 10, Age: 10}}
	expect := func(what string, got []engine.Lease) {
		t.Helper()
		if d := cmp.Diff([]engine.Lease{want}, got, ignoreRefs); d != "" {
			t.Fatalf("%s (-want +got):\n%s", what, d)
		}
		check(t, c.Store)
	}
	c.at = 110
	l := c.claim(1)
	expect("claimed", l)
	if l[0].Class() != engine.Fresh {
		t.Errorf("the first delivery is %v", l[0].Class())
	}

	c.at = 200
	if r := c.nack(l[0], 50); r != (engine.Result{Status: engine.Applied, From: engine.InFlight, Class: engine.Fresh, Age: 100}) {
		t.Errorf("nacked: %+v", r)
	}
	c.at = 260
	l = c.claim(1)
	want.Token, want.Delivery, want.Charged, want.Failures, want.LastDelay, want.Waited, want.Age = 2, 2, 2, 1, 50, 10, 160
	expect("after a nack", l)

	if r := c.commit(l[0], engine.Return); r.Class != engine.Retry || r.From != engine.InFlight {
		t.Errorf("returned: %+v", r)
	}
	c.at = 270
	l = c.claim(1)
	want.Token, want.Delivery, want.Age = 3, 3, 170 // the charge was given back, the delivery was not
	expect("after a return", l)

	c.at = c.at.Add(31 * time.Second)
	got, _, err := c.Recover(background, reaper, 1, 0, time.Second, nil)
	c.must(err)
	want.Token, want.Holder, want.Waited, want.Age, want.Recoveries = 4, c.engine, 31*time.Second+10, 31*time.Second+170, 1
	expect("recovered", got) // no delivery, no charge
	c.at = c.at.Add(time.Second)
	got, _ = c.recover(1, 0)
	want.Token, want.Holder, want.Recoveries = 5, reaper, 2 // the reaper died
	want.Waited, want.Age = want.Waited+time.Second, want.Age+time.Second
	expect("recovered again", got)
	if r := c.commit(l[0], engine.Ack); r.Status != engine.Stale {
		t.Errorf("the first holder: %+v", r)
	}
	if r := c.nack(got[0], 0); r.Status != engine.Applied {
		t.Errorf("the reaper: %+v", r)
	}
	l = c.claim(1)
	want.Token, want.Holder, want.Delivery, want.Charged, want.Failures, want.LastDelay, want.Waited = 6, 0, 4, 3, 2, 0, 0
	expect("after an expiry", l)
	if r := c.commit(l[0], engine.Bury); r.Status != engine.Applied || c.stats().Dead != 1 || c.Live() != 0 {
		t.Errorf("buried: %+v, %+v", r, c.stats())
	}
}

// TestFence commits and extends under an old lease while the job is in each state.
func TestFence(t *testing.T) {
	states := map[string]func(c *client, l engine.Lease){
		"held":    func(*client, engine.Lease) {},
		"expired": func(c *client, l engine.Lease) { c.at = c.at.Add(time.Hour) },
		"taken":   func(c *client, l engine.Lease) { c.at = c.at.Add(time.Hour); c.recover(1, 0) },
		"waiting": func(c *client, l engine.Lease) { c.nack(l, time.Hour) },
		"ready":   func(c *client, l engine.Lease) { c.commit(l, engine.Return) },
		"again":   func(c *client, l engine.Lease) { c.commit(l, engine.Return); c.claim(1) },
		"done":    func(c *client, l engine.Lease) { c.commit(l, engine.Ack) },
		"dead":    func(c *client, l engine.Lease) { c.commit(l, engine.Bury) },
	}
	tests := []struct {
		state string
		// Whether a commit is applied, by fence, and what the job was.
		token, state_, none bool
		from                engine.State
		// Whether the lease is extended.
		extendToken, extendState, extendNone bool
	}{
		{"held", true, true, true, engine.InFlight, true, true, true},
		{"expired", true, true, true, engine.InFlight, true, true, true},
		{"taken", false, true, true, engine.InFlight, false, true, true},
		{"waiting", false, false, true, engine.Waiting, false, false, false},
		{"ready", false, false, true, engine.Ready, false, false, false},
		{"again", false, true, true, engine.InFlight, false, true, true},
		{"done", false, false, false, 0, false, false, false},
		{"dead", false, false, false, 0, false, false, false},
	}
	for _, tt := range tests {
		for i, want := range []struct{ commit, extend bool }{{tt.token, tt.extendToken}, {tt.state_, tt.extendState}, {tt.none, tt.extendNone}} {
			fence := engine.FenceToken + engine.Fence(i)
			for _, verb := range []engine.Verb{engine.Ack, engine.Nack, engine.Bury, engine.Return} {
				t.Run(tt.state+"/"+fence.String()+"/"+verb.String(), func(t *testing.T) {
					c := newClient(t, engine.StoreOptions{LapseAfter: -1, Fence: fence})
					c.add(engine.NewJob{ID: 7}, engine.NewJob{ID: 8, Delay: time.Hour * 9})
					l := c.claim(1)[0]
					states[tt.state](c, l)
					if got := c.extend(l); got != want.extend {
						t.Errorf("extended: %v, want %v", got, want.extend)
					}
					live := c.Live()
					r := c.nackOr(l, verb)
					if (r.Status == engine.Applied) != want.commit || want.commit && r.From != tt.from || !want.commit && r != (engine.Result{Status: engine.Stale}) {
						t.Errorf("%+v, want it applied: %v, from %v", r, want.commit, tt.from)
					}
					if ended := want.commit && (verb == engine.Ack || verb == engine.Bury); ended != (c.Live() == live-1) {
						t.Errorf("%d jobs are live of %d before", c.Live(), live)
					}
					check(t, c.Store)
				})
			}
		}
	}
}

// TestFenceOfNoJob commits outcomes of the job 0, which there is not, also by the numbers of rows in use and free.
func TestFenceOfNoJob(t *testing.T) {
	for fence := engine.FenceToken; fence <= engine.FenceNone; fence++ {
		c := newClient(t, engine.StoreOptions{Fence: fence})
		c.add(engine.NewJob{ID: 7}, engine.NewJob{ID: 8})
		c.commit(c.claim(1)[0], engine.Ack)
		for ref := range uint32(4) {
			none := engine.LeaseKey{Ref: ref}
			for _, verb := range []engine.Verb{engine.Ack, engine.Nack, engine.Bury, engine.Return} {
				if r := c.outcomes(engine.Outcome{LeaseKey: none, Verb: verb})[0]; r.Status != engine.Stale || c.Live() != 1 {
					t.Fatalf("%v, %v of row %d: %+v, %d live", fence, verb, ref, r, c.Live())
				}
			}
		}
		check(t, c.Store)
	}
}

func (c *client) nackOr(l engine.Lease, v engine.Verb) engine.Result {
	if v == engine.Nack {
		return c.nack(l, time.Minute)
	}
	return c.commit(l, v)
}

// TestBatches sends copies of commits in every order that a network can deliver them.
func TestBatches(t *testing.T) {
	one, two := engine.NewEngineID(1, 0), engine.NewEngineID(1, 1)
	send := func(c *client, e engine.EngineID, seq, settled uint64, l ...engine.Lease) []engine.Status {
		var o []engine.Outcome
		for i := range l {
			o = append(o, engine.Outcome{LeaseKey: l[i].Key(), Verb: engine.Ack})
		}
		r, err := c.Commit(background, engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: settled, Outcomes: o}, nil)
		c.must(err)
		var s []engine.Status
		for i := range r {
			s = append(s, r[i].Status)
			if r[i].Status > engine.Stale && r[i] != (engine.Result{Status: r[i].Status}) {
				c.t.Errorf("a repeated result carries %+v", r[i])
			}
		}
		return s
	}
	start := func(t *testing.T) (*client, []engine.Lease) {
		c := newClient(t, plain)
		for id := range engine.JobID(5) {
			c.at++
			c.add(engine.NewJob{ID: id + 1})
		}
		l := c.claim(5)
		c.engine = engine.NewEngineID(9, 0)
		c.commit(l[0], engine.Return)
		return c, l
	}
	expect := func(t *testing.T, what string, got []engine.Status, want ...engine.Status) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	t.Run("answered as then", func(t *testing.T) {
		c, l := start(t)
		expect(t, "first", send(c, one, 1, 0, l[0], l[1]), engine.Stale, engine.Applied)
		expect(t, "again", send(c, one, 1, 0, l[0], l[1]), engine.Stale.Again(), engine.Applied.Again())
		expect(t, "and again", send(c, one, 1, 0, l[0], l[1]), engine.Stale.Again(), engine.Applied.Again())
	})
	t.Run("out of order", func(t *testing.T) {
		c, l := start(t)
		expect(t, "second", send(c, one, 2, 0, l[2]), engine.Applied)
		expect(t, "first", send(c, one, 1, 0, l[1]), engine.Applied)
		expect(t, "second again", send(c, one, 2, 0, l[2]), engine.Applied.Again())
		expect(t, "third settles both", send(c, one, 3, 2, l[3]), engine.Applied)
		expect(t, "a late copy of a settled batch", send(c, one, 1, 0, l[1], l[0]), engine.Applied.Again(), engine.Applied.Again())
		expect(t, "third again", send(c, one, 3, 2, l[3]), engine.Applied.Again())
	})
	t.Run("a settled batch that never came is not applied late", func(t *testing.T) {
		c, l := start(t)
		expect(t, "second", send(c, one, 2, 1, l[2]), engine.Applied)
		expect(t, "a dropped batch", send(c, one, 1, 0, l[1]), engine.Applied.Again())
		expect(t, "its job by another batch", send(c, one, 3, 2, l[1]), engine.Applied)
	})
	t.Run("generations", func(t *testing.T) {
		c, l := start(t)
		expect(t, "first life", send(c, one, 1, 0, l[1]), engine.Applied)
		expect(t, "second life, same number", send(c, two, 1, 0, l[2]), engine.Applied)
		expect(t, "the first life's copy: by its token", send(c, one, 1, 0, l[1]), engine.Stale)
		expect(t, "the first life's late batch", send(c, one, 2, 1, l[3]), engine.Applied)
		expect(t, "and its copy", send(c, one, 2, 1, l[3]), engine.Stale)
		expect(t, "second life again", send(c, two, 1, 0, l[2]), engine.Applied.Again())
	})
	t.Run("nodes do not share numbers", func(t *testing.T) {
		c, l := start(t)
		expect(t, "node 1", send(c, one, 1, 0, l[1]), engine.Applied)
		expect(t, "node 0", send(c, engine.NewEngineID(0, 0), 1, 0, l[2]), engine.Applied)
	})
	t.Run("nothing", func(t *testing.T) {
		c, _ := start(t)
		expect(t, "empty", send(c, one, 1, 0))
		expect(t, "empty again", send(c, one, 1, 0))
	})
	t.Run("another content", func(t *testing.T) {
		c, l := start(t)
		expect(t, "empty", send(c, one, 1, 0))
		expect(t, "with an outcome", send(c, one, 1, 0, l[1]), engine.Applied)
		expect(t, "with one more", send(c, one, 1, 0, l[1], l[2]), engine.Applied.Again(), engine.Applied)
		expect(t, "with one less", send(c, one, 1, 0, l[1]), engine.Applied.Again())
		expect(t, "with both", send(c, one, 1, 0, l[1], l[2]), engine.Applied.Again(), engine.Applied.Again())
	})
}

// TestRecover walks the clock past the expiry of three leases.
func TestRecover(t *testing.T) {
	c := newClient(t, plain)
	if l, next := c.recover(9, 0); len(l) != 0 || next != engine.Forever {
		t.Errorf("nothing leased: %v, next %v", l, next)
	}
	c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3})
	l := c.claim(1)
	c.at = engine.Time(time.Second)
	c.claim(1)
	c.at = engine.Time(2 * time.Second)
	c.claim(1)
	c.at = engine.Time(5 * time.Second)
	if !c.extend(l[0]) { // the first lease now expires last, at 35 s
		t.Error("not extended")
	}
	seconds := func(s int) engine.Time { return engine.Time(s) * engine.Time(time.Second) }
	steps := []struct {
		at, limit int
		grace     time.Duration
		want      []engine.JobID
		next      time.Duration
	}{
		{30, 9, 0, nil, time.Second},
		{31, 9, time.Second, nil, time.Second},
		{31, 0, 0, nil, 0},
		{31, 9, 0, []engine.JobID{2}, time.Second}, // exactly at its expiry
		{33, 9, time.Second, []engine.JobID{3}, 3 * time.Second},
		{40, 9, 0, []engine.JobID{1}, 21 * time.Second}, // then what the reaper took, from 61 s on
		{70, 2, 0, []engine.JobID{2, 3}, 0},
		{70, 2, 0, []engine.JobID{1}, 30 * time.Second},
	}
	for _, s := range steps {
		c.at = seconds(s.at)
		got, next := c.recover(s.limit, s.grace)
		if next != s.next {
			t.Errorf("at %d s: next %v, want %v", s.at, next, s.next)
		}
		c.wantIDs("recovered", ids(got), s.want...)
	}
}

// TestLapse takes leases from their holders at expiry + grace, before any reaper.
func TestLapse(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: 2 * time.Second})
	for id := range engine.JobID(3) {
		c.at = engine.Time(id)
		c.add(engine.NewJob{ID: id + 1})
		c.claim(1)
	}
	l := engine.Lease{Token: 1}
	held := func(id engine.JobID) bool {
		l.ID = id
		return c.extend(l)
	}
	c.at = engine.Time(32*time.Second) + 1
	if held(1) || held(2) || !held(3) { // 3 has a nanosecond left
		t.Error("at 32 s: want 1 and 2 lapsed, 3 held")
	}
	check(t, c.Store)
	if r := c.commit(engine.Lease{Token: 1, Job: engine.Job{ID: 1}}, engine.Ack); r.Status != engine.Stale {
		t.Errorf("a commit under a lapsed lease: %+v", r)
	}
	if s := c.stats(); s.InFlight[engine.Fresh] != 3 {
		t.Errorf("in flight: %+v", s)
	}
	got, next := c.recover(1, 2*time.Second)
	if c.wantIDs("recovered", ids(got), 1); next != 0 {
		t.Errorf("next %v: one more has lapsed", next)
	}
	got, next = c.recover(9, 2*time.Second)
	if c.wantIDs("recovered", ids(got), 2); next != 32*time.Second {
		t.Errorf("next %v, want 3's expiry and the grace", next)
	}
	if got[0].Token != 3 || got[0].Holder != c.engine {
		t.Errorf("%+v: want its third token (claimed, lapsed, recovered) and its holder", got[0])
	}
	if r := c.nack(got[0], 0); r.Status != engine.Applied {
		t.Errorf("the reaper: %+v", r)
	}
	t.Run("at once", func(t *testing.T) {
		c := newClient(t, engine.StoreOptions{})
		c.add(engine.NewJob{ID: 1})
		l := c.claim(1)[0]
		c.at = engine.Time(30*time.Second) - 1
		if !c.extend(l) {
			t.Error("just before its expiry: want it extended")
		}
		c.at = c.at.Add(30 * time.Second)
		if c.extend(l) {
			t.Error("exactly at its expiry: want it gone")
		}
	})
	t.Run("under fence state", func(t *testing.T) {
		c := newClient(t, engine.StoreOptions{Fence: engine.FenceState})
		c.add(engine.NewJob{ID: 1})
		l := c.claim(1)[0]
		c.at = engine.Time(time.Minute)
		if c.extend(l) {
			t.Error("a lapsed lease was extended")
		}
		if r := c.commit(l, engine.Ack); r.Status != engine.Applied {
			t.Errorf("%+v: it is still in flight", r)
		}
		check(t, c.Store)
	})
}

// TestPromote has four jobs wait, two of them until the same instant.
func TestPromote(t *testing.T) {
	fill := func(t *testing.T, promoted bool) *client {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Promoted: promoted})
		c.add(engine.NewJob{ID: 4, Delay: 10, Kind: 2, Tenant: 3}, engine.NewJob{ID: 2, Delay: 20}, engine.NewJob{ID: 1, Delay: 20}, engine.NewJob{ID: 3, Delay: 30})
		return c
	}
	claim := func(c *client) ([]engine.JobID, time.Duration) {
		l, next, err := c.Claim(background, c.engine, engine.Plan{Limit: 9, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 9}}}, time.Hour, nil)
		c.must(err)
		return ids(l), next
	}
	t.Run("by itself", func(t *testing.T) {
		c := fill(t, false)
		if c.NextDue() != 10 {
			t.Errorf("due at %d, want 10", c.NextDue())
		}
		c.at = 9
		if got, next := claim(c); len(got) != 0 || next != 1 {
			t.Errorf("early: %v, next %v", got, next)
		}
		c.at = 10
		got := c.PromoteDue(nil)
		if d := cmp.Diff([]engine.Promotion{{Job: 4, Kind: 2, Tenant: 3, Class: engine.Fresh}}, got); d != "" {
			t.Errorf("due (-want +got):\n%s", d)
		}
		if again := c.PromoteDue(nil); len(again) != 0 || c.NextDue() != 20 {
			t.Errorf("again: %v, next at %d", again, c.NextDue())
		}
		c.wantIDs("by call: nothing to do", c.promote(9, engine.OldestReady))
		c.at = 25
		got2, next := claim(c)
		if c.wantIDs("claimed", got2, 4, 1, 2); next != 5 {
			t.Errorf("next %v, want 5", next)
		}
		c.at = 30
		claim(c)
		if _, next := claim(c); next != engine.Forever || c.NextDue() != engine.Never {
			t.Errorf("nothing waits: next %v at %d", next, c.NextDue())
		}
	})
	t.Run("oldest", func(t *testing.T) {
		c := fill(t, true)
		c.at = 25
		if got, next := claim(c); len(got) != 0 || next != engine.Forever || c.NextDue() != engine.Never || len(c.PromoteDue(nil)) != 0 {
			t.Errorf("nobody promoted: %v, next %v at %d", got, next, c.NextDue())
		}
		if s := c.stats(); s.Waiting != [2]int{4, 0} {
			t.Errorf("%+v", s)
		}
		c.wantIDs("two", c.promote(2, engine.OldestReady), 4, 1)
		if s := c.stats(); s.Waiting != [2]int{2, 0} || s.Ready != [2]int{2, 0} || s.OldestReady[engine.Fresh] != 15 {
			t.Errorf("%+v", s)
		}
		c.wantIDs("the rest", c.promote(9, engine.OldestReady), 2)
		got, _ := claim(c)
		c.wantIDs("claimed", got, 4, 1, 2)
	})
	t.Run("newest", func(t *testing.T) {
		c := fill(t, true)
		c.at = 25
		c.wantIDs("one", c.promote(1, engine.NewestReady), 2)
		c.at = 30
		c.wantIDs("two", c.promote(2, engine.NewestReady), 3, 1)
		c.wantIDs("none", c.promote(0, engine.NewestReady))
	})
	t.Run("an unknown order", func(t *testing.T) {
		c := fill(t, true)
		if _, err := c.Promote(background, 1, engine.NewestReady+1, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a due job that left", func(t *testing.T) { // only without a fence can a job leave while it waits
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Promoted: true, Fence: engine.FenceNone})
		c.add(engine.NewJob{ID: 1, Delay: 5}, engine.NewJob{ID: 2, Delay: 6}, engine.NewJob{ID: 3, Delay: 7})
		c.at = 10
		c.wantIDs("one", c.promote(1, engine.OldestReady), 1)
		c.commit(engine.Lease{Job: engine.Job{ID: 2}}, engine.Ack)
		c.wantIDs("the other", c.promote(9, engine.OldestReady), 3)
	})
}

// TestEnqueueIsAllOrNone adds batches of which one job is refused.
func TestEnqueueIsAllOrNone(t *testing.T) {
	tests := []struct {
		name string
		jobs []engine.NewJob
		want error // expected error; nil: any
	}{
		{"live before", []engine.NewJob{{ID: 1}, {ID: 2, Delay: 5}, {ID: 7}}, engine.ErrDuplicate},
		{"waiting before", []engine.NewJob{{ID: 1}, {ID: 8}}, engine.ErrDuplicate},
		{"leased before", []engine.NewJob{{ID: 1}, {ID: 9}}, engine.ErrDuplicate},
		{"twice", []engine.NewJob{{ID: 1}, {ID: 2}, {ID: 1}}, engine.ErrDuplicate},
		{"no ID", []engine.NewJob{{ID: 1}, {}}, nil},
		{"a negative delay", []engine.NewJob{{ID: 1}, {ID: 2, Delay: -1}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, plain)
			c.add(engine.NewJob{ID: 9})
			c.claim(1)
			c.add(engine.NewJob{ID: 7}, engine.NewJob{ID: 8, Delay: 9})
			before := c.stats()
			if err := c.Enqueue(background, tt.jobs); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if after := c.stats(); after != before || c.Live() != 3 || c.NextDue() != 9 {
				t.Errorf("%d jobs, next due %d, %+v, before %+v", c.Live(), c.NextDue(), after, before)
			}
			check(t, c.Store)
			c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
			c.wantIDs("claimed", ids(c.claim(9)), 1, 2, 7)
		})
	}
	t.Run("an ended job is forgotten", func(t *testing.T) {
		c := newClient(t, plain)
		c.add(engine.NewJob{ID: 1})
		c.commit(c.claim(1)[0], engine.Ack)
		c.add(engine.NewJob{ID: 1})
	})
}

// TestLead passes the leadership of one role around, by time alone.
func TestLead(t *testing.T) {
	one, again, two := engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(2, 0)
	steps := []struct {
		at   engine.Time
		role engine.Op
		who  engine.EngineID
		want bool
	}{
		{-20, engine.OpRecover, one, true}, // a clock may read less than 0
		{0, engine.OpRecover, two, true}, {5, engine.OpRecover, one, false}, {5, engine.OpPromote, one, true},
		{9, engine.OpRecover, two, true},     // renewed until 19
		{18, engine.OpRecover, one, false},   //
		{19, engine.OpRecover, one, true},    // deposed at the instant its time is over
		{20, engine.OpRecover, two, false},   //
		{21, engine.OpRecover, again, false}, // a restarted process is another engine
		{29, engine.OpRecover, again, true},
	}
	c := newClient(t, plain)
	for _, s := range steps {
		c.at = s.at
		got, err := c.Lead(background, s.role, s.who, 10)
		if c.must(err); got != s.want {
			t.Errorf("at %d: %x leads: %v, want %v", s.at, s.who, got, s.want)
		}
	}
}

func TestStats(t *testing.T) {
	c := newClient(t, plain)
	c.at = 10
	c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4}, engine.NewJob{ID: 5}, engine.NewJob{ID: 6, Delay: 100})
	l := c.claim(5)
	c.nack(l[0], 20)
	c.nack(l[1], 100)
	c.commit(l[2], engine.Bury)
	c.at = 50
	c.add(engine.NewJob{ID: 7, Priority: 1}, engine.NewJob{ID: 8, Kind: 1})
	c.at = 90
	c.add(engine.NewJob{ID: 9, Priority: -1}) // first in line, but not the one that is ready longest
	want := engine.Stats{Ready: [2]int{3, 1}, Waiting: [2]int{1, 1}, InFlight: [2]int{2, 0}, Dead: 1, OldestReady: [2]time.Duration{40, 60}}
	if d := cmp.Diff(want, c.stats()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var got []unfinished.Job
	c.Each(func(u unfinished.Job) bool { got = append(got, u); return true })
	slices.SortFunc(got, func(a, b unfinished.Job) int { return int(a.ID) - int(b.ID) })
	wantEach := []unfinished.Job{
		{ID: 1, State: engine.Ready, Class: engine.Retry, Age: 80, Waited: 60, Delivery: 1, Charged: 1},
		{ID: 2, State: engine.Waiting, Class: engine.Retry, Age: 80, Delivery: 1, Charged: 1},
		{ID: 4, State: engine.InFlight, Age: 80, Delivery: 1, Charged: 1},
		{ID: 5, State: engine.InFlight, Age: 80, Delivery: 1, Charged: 1},
		{ID: 6, State: engine.Waiting, Age: 80},
		{ID: 7, State: engine.Ready, Age: 40, Waited: 40},
		{ID: 8, Kind: 1, State: engine.Ready, Age: 40, Waited: 40},
		{ID: 9, State: engine.Ready},
	}
	if d := cmp.Diff(wantEach, got); d != "" || c.Live() != len(wantEach) {
		t.Errorf("%d live (-want +got):\n%s", c.Live(), d)
	}
	n := 0
	c.Each(func(unfinished.Job) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("asked for 3, got %d", n)
	}
}

// TestImpossibleTerms checks that a plan with an invalid term fails without any effect, also of the terms before it.
func TestImpossibleTerms(t *testing.T) {
	rule := &engine.Rule{}
	for _, tt := range []struct {
		term        engine.Term
		unsupported bool
	}{
		{engine.Term{Order: engine.TenantFair + 1, Rule: rule}, true},
		{engine.Term{PerTenant: 1, Order: engine.Aging, Rule: &engine.Rule{Every: 1}}, true},
		{engine.Term{MaxWait: 1, Order: engine.NewestReady}, true},
		{engine.Term{PerTenant: -1}, false},
		{engine.Term{MaxWait: -1}, false},
		{engine.Term{Order: engine.Aging}, false},
		{engine.Term{Order: engine.Aging, Rule: rule}, false},
		{engine.Term{Order: engine.Deadline}, false},
		{engine.Term{Order: engine.TenantDeficit, Rule: rule}, false},
		{engine.Term{Order: engine.TenantFair, Rule: rule}, false},
		{engine.Term{Order: engine.TenantFair}, false},
	} {
		tt.term.Class, tt.term.Limit = engine.AnyClass, 1
		c := newClient(t, plain)
		c.add(engine.NewJob{ID: 1, Tenant: 1})
		terms := []engine.Term{{Class: engine.AnyClass, Limit: 1}, tt.term}
		_, _, err := c.Claim(background, c.engine, engine.Plan{Limit: 2, Terms: terms}, time.Second, nil)
		if err == nil || errors.Is(err, engine.ErrUnsupported) != tt.unsupported || c.stats().Ready[engine.Fresh] != 1 {
			t.Errorf("%+v: %v, %+v", tt.term, err, c.stats())
		}
	}
}
