package storetest

import (
	"errors"

	"qsim/engine"
)

// returns lists test cases for the place of a retry among ready jobs: the order of claims when job 1, enqueued at tick
// 1 and nacked at 4 with a delay of 2, meets jobs enqueued at 2, 5, 7 and 9. Stores that promote jobs do so at 10.
var returns = []struct {
	place    engine.Place
	promoted bool
	want     []engine.JobID
}{
	{engine.PlaceDue, false, []engine.JobID{2, 5, 1, 7, 9}},
	{engine.PlaceDue, true, []engine.JobID{2, 5, 1, 7, 9}},
	{engine.PlaceTail, false, []engine.JobID{2, 5, 1, 7, 9}}, // ready the instant it is due
	{engine.PlaceTail, true, []engine.JobID{2, 5, 7, 9, 1}},
	{engine.PlaceHead, false, []engine.JobID{1, 2, 5, 7, 9}},
	{engine.PlaceHead, true, []engine.JobID{1, 2, 5, 7, 9}},
	{engine.PlaceCreated, false, []engine.JobID{1, 2, 5, 7, 9}},
	{engine.PlaceCreated, true, []engine.JobID{1, 2, 5, 7, 9}},
}

var lineStories = []story{
	{"places", plain, func(c *client) {
		for _, tt := range returns {
			o := with(func(o *engine.StoreOptions) { o.Place, o.Promoted = tt.place, tt.promoted })
			name := tt.place.String()
			if tt.promoted {
				name += " promoted"
			}
			c.part(name, o, func(c *client) { playReturn(c, tt.want) })
		}
	}},
	{"head by due time", with(func(o *engine.StoreOptions) { o.Place = engine.PlaceHead }), func(c *client) {
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4, Delay: 1})
		l := c.claim(2)
		c.nack(l[0], 2)
		c.nack(l[1], 1)
		c.elapse(3)
		c.wantIDs("claimed", ids(c.claim(9)), 2, 1, 3, 4)
	}},
	{"age of the longest ready", plain, func(c *client) {
		for _, place := range []engine.Place{engine.PlaceDue, engine.PlaceTail, engine.PlaceCreated} {
			c.part(place.String(), with(func(o *engine.StoreOptions) { o.Place, o.Promoted = place, true }), playOldest)
		}
	}},
	{"oldest whatever the priority", plain, func(c *client) {
		for id, p := range []int16{3, -1, 2, 0} {
			c.elapse(0.01)
			c.add(engine.NewJob{ID: engine.JobID(id + 1), Priority: p})
		}
		l := c.ifOffered(3, engine.Term{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: 3})
		c.wantIDs("claimed", ids(l), 1, 2, 3)
	}},
	{"serial keys", plain, playSerial},
	{"unique keys", with(func(o *engine.StoreOptions) { o.KeepDead = true }), playUnique},
	{"tenants", plain, func(c *client) {
		for id := range engine.JobID(9) { // tenant 1: 1, 2, 3; 2: 4, 5, 6; 3: 7, 8, 9
			c.elapse(0.01)
			c.add(engine.NewJob{ID: id + 1, Tenant: 1 + engine.TenantID(id/3), Kind: engine.Kind(id % 2)})
		}
		l := c.ifOffered(9, engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 1},
			engine.Term{Class: engine.AnyClass, PerTenant: 1, Limit: 2})
		c.wantIDs("one of tenant 2, then one each of two", ids(l), 4, 1, 5)
		each, ofKind, ofTenant := newest(9), someKinds(1<<1, 9), anyTerm(9)
		each.PerTenant, ofKind.PerTenant, ofTenant.PerTenant, ofTenant.Tenant = 1, 1, 5, 3
		c.wantIDs("one each, newest first", ids(c.plan(9, each)), 9, 6, 3)
		c.wantIDs("of kind 1, one each", ids(c.plan(9, ofKind)), 2, 8)
		c.wantIDs("of tenant 3 at most five", ids(c.plan(9, ofTenant)), 7)
		c.wantIDs("nothing is left", ids(c.claim(9)))
	}},
	{"longest wait", plain, func(c *client) {
		for id := range engine.JobID(4) {
			c.add(engine.NewJob{ID: id + 1, Priority: -int16(id)})
			c.elapse(1)
		}
		term := engine.Term{Class: engine.AnyClass, MaxWait: c.ticks(2.5), Limit: 1}
		l := c.ifOffered(1, term)
		c.wantIDs("by priority, of those in time", ids(l), 4)
		c.commit(l[0], engine.Ack)
		term.Shed, term.Limit = 1000, 9
		l = c.plan(9, term)
		c.wantIDs("buried, then claimed", ids(l), 1, 2, 3)
		if !l[0].Shed || !l[1].Shed || l[2].Shed || l[0].Delivery != 1 || l[0].Token != 0 {
			c.Errorf("%+v", l)
		}
		c.same("afterwards", c.counts(), engine.Stats{InFlight: [2]int{1, 0}, Dead: 2})
	}},
	{"stats", plain, func(c *client) {
		c.add(append(ofKinds(0, 0, 0, 0, 0), engine.NewJob{ID: 6, Delay: c.ticks(100)})...)
		l := c.claim(5)
		c.nack(l[0], 2)
		c.nack(l[1], 100)
		c.commit(l[2], engine.Bury)
		c.elapse(4)
		c.add(engine.NewJob{ID: 7, Priority: 1}, engine.NewJob{ID: 8, Kind: 1})
		c.elapse(2)
		c.add(engine.NewJob{ID: 9, Priority: -1})
		c.same("counts", c.counts(),
			engine.Stats{Ready: [2]int{3, 1}, Waiting: [2]int{1, 1}, InFlight: [2]int{2, 0}, Dead: 1})
		oldest := c.stats().OldestReady
		c.about("the oldest fresh", oldest[engine.Fresh], 2)
		c.about("the oldest retry", oldest[engine.Retry], 4)
		limited, err := c.Store.Stats(c.ctx, 1)
		c.must(err)
		if n := limited.Ready[engine.Fresh] + limited.Ready[engine.Retry]; n < 1 || n > 4 {
			c.Errorf("with a limit of 1: %+v", limited)
		}
	}},
}

func playReturn(c *client, want []engine.JobID) {
	var l engine.Lease
	for at := range 10 {
		switch at {
		case 1:
			c.add(engine.NewJob{ID: 1})
			l = c.claim(1)[0]
		case 2, 5, 7, 9:
			c.add(engine.NewJob{ID: engine.JobID(at)})
		case 4:
			c.nack(l, 2)
		case 6:
			c.plan(0) // whoever looks at due jobs only when asked is asked
		}
		c.elapse(1)
	}
	c.promote(9, engine.OldestReady)
	got := c.claim(9)
	c.wantIDs("claimed", ids(got), want...)
	for i := range got {
		if got[i].ID == 1 {
			c.about("waited since it was due", got[i].Waited, 4)
			c.about("aged", got[i].Age, 9)
		}
	}
}

// playOldest tests that Stats finds the job that has been ready longest, since its due time, wherever it stands: behind
// jobs that were promoted before it, and behind one that was returned and kept its former place.
func playOldest(c *client) {
	wantOldest := func(what string, ticks float64) {
		c.Helper()
		c.about(what, c.stats().OldestReady[engine.Retry], ticks)
	}
	c.add(ofKinds(0, 0)...)
	l := c.claim(2)
	c.nack(l[0], 3)
	c.nack(l[1], 2)
	c.elapse(4)
	wantOldest("due and not promoted", 0)
	c.wantIDs("newest first", c.promote(1, engine.NewestReady), 1)
	wantOldest("due at 3", 1)
	c.elapse(1)
	c.wantIDs("the other", c.promote(1, engine.NewestReady), 2)
	wantOldest("promoted behind it, and due at 2", 3)
	if l = c.claim(2); l[0].ID == 2 {
		l[0], l[1] = l[1], l[0]
	}
	c.commit(l[0], engine.Return)
	c.elapse(2)
	c.outcomes(engine.Outcome{LeaseKey: l[1].Key(), Verb: engine.Return, Stand: engine.PlaceDue})
	c.elapse(1)
	wantOldest("returned at 5, and behind one that was returned at 7", 3)
	c.claim(9)
	wantOldest("none is ready", 0)
}

// playUnique tests enqueueing under unique keys of jobs that are ready, in flight, waiting, done and dead.
func playUnique(c *client) {
	job := func(id engine.JobID, kind engine.Kind, key string) engine.NewJob {
		return engine.NewJob{ID: id, Kind: kind, Unique: key}
	}
	err := c.Store.Enqueue(c.ctx, []engine.NewJob{job(1, 0, "a")})
	if errors.Is(err, engine.ErrUnsupported) {
		c.same("what was refused", c.counts(), engine.Stats{})
		c.Skip("not offered")
	}
	c.must(err)
	taken := func(when string) {
		c.Helper()
		err := c.Store.Enqueue(c.ctx, []engine.NewJob{{ID: 8}, job(9, 0, "a")})
		if !errors.Is(err, engine.ErrDuplicate) {
			c.Errorf("%s: %v", when, err)
		}
	}
	taken("while the job of the key is ready")
	c.add(job(2, 1, "a"), job(3, 0, "b"), job(4, 0, ""), job(5, 0, ""))
	if err := c.Store.Enqueue(c.ctx, newJobs{job(6, 0, "c"), job(7, 0, "c")}); !errors.Is(err, engine.ErrDuplicate) {
		c.Errorf("twice in one call: %v", err)
	}
	l := c.claim(9)
	c.wantIDs("all but what was refused", ids(l), 1, 2, 3, 4, 5)
	taken("while it is in flight")
	c.nack(l[0], 1)
	taken("while it waits")
	c.elapse(2)
	c.commit(c.claim(1)[0], engine.Bury)
	c.add(job(9, 0, "a"))
	c.elapse(1)
	if _, err := c.Redrive([]engine.JobID{1}, false); err != nil { // it has lost its key
		c.Errorf("redrive the dead: %v", err)
	}
	l = c.claim(9)
	c.wantIDs("the next of the key, and the dead", ids(l), 9, 1)
	c.commit(l[0], engine.Ack)
	c.add(job(10, 0, "a"))
	c.wantIDs("once it is done", ids(c.claim(9)), 10)
}

// playSerial tests that jobs of one serial key run one at a time and in order, with a crash, a retry and a death.
func playSerial(c *client) {
	c.add(newJobs{{ID: 1, Serial: 7}, {ID: 2, Serial: 7, Priority: -1}, {ID: 3, Serial: 7, Delay: 1}, {ID: 4},
		{ID: 5, Serial: 8}}...)
	c.wantIDs("the first of each key", ids(c.claim(9)), 1, 4, 5)
	c.elapse(7)
	if s := c.counts(); s.Ready[engine.Fresh] != 2 {
		c.Errorf("those behind are ready: %+v", s)
	}
	c.wantIDs("while it is held by the dead", ids(c.claim(9)))
	l, _ := c.recover(9, 0)
	if len(l) != 3 || l[0].ID != 1 {
		c.Fatalf("recovered %v", ids(l))
	}
	c.wantIDs("while a reaper has it", ids(c.claim(9)))
	c.nack(l[0], 1)
	c.wantIDs("while it waits", ids(c.claim(9)))
	c.elapse(1.5)
	l = c.claim(9)
	c.wantIDs("again", ids(l), 1)
	c.commit(l[0], engine.Bury)
	l = c.claim(9)
	c.wantIDs("the next, once it is dead", ids(l), 2)
	c.about("its wait since it was ready", l[0].Waited, 8.5)
	c.commit(l[0], engine.Ack)
	c.wantIDs("the last", ids(c.claim(9)), 3)
	if err := c.Store.Enqueue(c.ctx, []engine.NewJob{{ID: 11, Serial: 9}, {ID: 12, Serial: 9}, {ID: 11}}); err == nil {
		c.Fatal("a job was enqueued twice")
	}
	c.add(engine.NewJob{ID: 13, Serial: 9})
	c.wantIDs("an enqueue that is refused leaves no trace", ids(c.claim(9)), 13)
}
