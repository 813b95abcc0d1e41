package storetest

import (
	"errors"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

var leaseStories = []story{
	{"recovering", plain, playRecover},
	{"lapsing", with(func(o *engine.StoreOptions) { o.LapseAfter = 2 * time.Second }), func(c *client) {
		c.part("after two ticks", with(func(o *engine.StoreOptions) { o.LapseAfter = c.ticks(2) }), playLapse)
	}},
	{"lapsing at once, fence state", engine.StoreOptions{Fence: engine.FenceState}, func(c *client) {
		c.add(engine.NewJob{ID: 1})
		l := c.claim(1)[0]
		c.elapse(5)
		if !c.extend(l) {
			c.Error("before its expiry: want it extended")
		}
		c.elapse(6.1)
		if c.extend(l) {
			c.Error("after its expiry: want it gone")
		}
		if r := c.commit(l, engine.Ack); r.Status != engine.Applied {
			c.Errorf("%+v: it is still in flight", r)
		}
	}},
	{"many leases in one call", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3})
		l := c.claim(3)
		c.commit(l[1], engine.Return)
		wrong := engine.LeaseKey{Job: 3, Token: l[2].Token + 1}
		keys := []engine.LeaseKey{l[2].Key(), l[1].Key(), l[0].Key(), wrong, l[2].Key(), {Job: 99, Token: 1}}
		const applied, stale = engine.Applied, engine.Stale
		held, err := c.Store.ExtendLease(c.ctx, keys, c.ttl(), []engine.Status{applied})
		c.must(err)
		c.same("held", held, []engine.Status{applied, applied, stale, applied, stale, applied, stale})
	}},
	{"an old token prolongs nobody's lease", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1})
		old := c.claim(1)[0]
		c.commit(old, engine.Return)
		c.claim(1) // until 6
		c.elapse(4)
		if c.extend(old) {
			c.Error("extended under a token that has passed")
		}
		c.elapse(3)
		got, _ := c.recover(9, 0)
		c.wantIDs("recovered", ids(got), 1)
	}},
	{"what a recovery counts", with(func(o *engine.StoreOptions) {
		o.RecoveriesWithin = 10 * time.Second
	}), func(c *client) {
		c.part("within ten ticks of the first", with(func(o *engine.StoreOptions) {
			o.RecoveriesWithin = c.ticks(10)
		}), func(c *client) {
			c.add(engine.NewJob{ID: 1})
			c.claim(1)
			for i, want := range []int32{1, 2, 1} { // at 7, 14 and 21: the period of the first is over by then
				c.elapse(7)
				if l, _ := c.recover(1, 0); len(l) != 1 || l[0].Recoveries != want {
					c.Errorf("recovery %d: %+v, want it to count %d", i, l, want)
				}
			}
		})
	}},
	{"all leases of a node", plain, func(c *client) {
		_, err := c.Store.ExtendNode(c.ctx, engine.NewEngineID(9, 0), false, c.ticks(1))
		if errors.Is(err, engine.ErrUnsupported) {
			c.Skip("not offered")
		}
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4})
		mine, reborn, other := engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(2, 0)
		for _, e := range []engine.EngineID{mine, mine, other, reborn} {
			c.engine = e
			c.claim(1)
		}
		extend := func(e engine.EngineID, kept bool) int {
			n, err := c.Store.ExtendNode(c.ctx, e, kept, c.ticks(100))
			c.must(err)
			return n
		}
		c.elapse(5)
		if a, b := extend(mine, false), extend(reborn, true); a != 2 || b != 3 {
			c.Errorf("extended %d and %d, want 2 and 3", a, b)
		}
		c.elapse(2)
		got, _ := c.recover(9, 0)
		c.wantIDs("recovered", ids(got), 3)
		if n := extend(reborn, true); n != 3 {
			c.Errorf("extended %d, and not what its reaper holds", n)
		}
	}},
	{"leaders", plain, func(c *client) {
		one, again, two := engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(2, 0)
		at := 0.0
		for _, s := range []struct {
			at   float64
			role engine.Op
			who  engine.EngineID
			want bool
		}{
			{0, engine.OpRecover, two, true}, {2, engine.OpRecover, one, false}, {2, engine.OpPromote, one, true},
			{4, engine.OpRecover, two, true}, // renewed until 10
			{9, engine.OpRecover, one, false},
			{11, engine.OpRecover, one, true}, {12, engine.OpRecover, two, false},
			{13, engine.OpRecover, again, false}, // a restarted process is another engine
			{18, engine.OpRecover, again, true},
		} {
			c.elapse(s.at - at)
			at = s.at
			got, err := c.Store.Lead(c.ctx, s.role, s.who, c.ticks(6))
			if c.must(err); got != s.want {
				c.Errorf("at %v: %x leads: %v, want %v", s.at, s.who, got, s.want)
			}
		}
	}},
	{"lives", plain, func(c *client) {
		r, ok := c.Store.(live.Registry)
		if !ok {
			c.Skip("not offered")
		}
		for _, want := range []uint32{0, 1, 2} {
			if got, err := r.NextLife(c.ctx, 7); err != nil || got != want {
				c.Errorf("life %d, %v; want %d", got, err, want)
			}
		}
		if got, err := r.NextLife(c.ctx, 8); err != nil || got != 0 {
			c.Errorf("of another node: life %d, %v", got, err)
		}
	}},
}

// playLapse tests that leases lapse two ticks after their expiry, even if no reaper recovers them.
func playLapse(c *client) {
	for id := range engine.JobID(3) {
		c.add(engine.NewJob{ID: id + 1})
		c.claim(1)
		c.elapse(1) // they lapse at 8, 9 and 10
	}
	stolen := engine.Lease{Token: 1}
	held := func(id engine.JobID) bool { stolen.ID = id; return c.extend(stolen) }
	c.elapse(6.5) // 9.5
	if held(1) || held(2) || !held(3) {
		c.Error("want 1 and 2 lapsed, 3 held")
	}
	if r := c.commit(engine.Lease{Token: 1, Job: engine.Job{ID: 1}}, engine.Ack); r.Status != engine.Stale {
		c.Errorf("a commit under a lapsed lease: %+v", r)
	}
	if s := c.counts(); s.InFlight[engine.Fresh] != 3 {
		c.Errorf("in flight: %+v", s)
	}
	got, next := c.recover(1, 2)
	c.wantIDs("recovered", ids(got), 1)
	if next != 0 {
		c.Errorf("next %v: one more has lapsed", next)
	}
	got, next = c.recover(9, 2)
	c.wantIDs("recovered", ids(got), 2)
	c.about("the next: an expiry and the grace", next, 8)
	if got[0].Token < 2 || got[0].Holder != c.engine {
		c.Errorf("%+v: want a new token and its holder", got[0])
	}
	if r := c.nack(got[0], 0); r.Status != engine.Applied {
		c.Errorf("the reaper: %+v", r)
	}
}

// playRecover tests which leases a recovery takes, and the time until the next, while the clock passes three expiries.
func playRecover(c *client) {
	if l, next := c.recover(9, 0); len(l) != 0 || next != engine.Forever {
		c.Errorf("nothing leased: %v, next %v", l, next)
	}
	c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 3})
	l := c.claim(1)
	c.elapse(1)
	c.claim(1)
	c.elapse(1)
	c.claim(1)
	c.elapse(1)
	if !c.extend(l[0]) { // expiries: 1 at 9, 2 at 7, 3 at 8
		c.Error("not extended")
	}
	at := 3.0
	for _, s := range []struct {
		at    float64
		limit int
		grace float64
		want  []engine.JobID
		next  float64
	}{
		{6, 9, 0, nil, 1},
		{7.5, 9, 1, nil, 0.5},
		{7.5, 0, 0, nil, 0},
		{7.6, 9, 0, []engine.JobID{2}, 0.4},
		{9.5, 1, 0, []engine.JobID{3}, 0},
		{10.5, 9, 1, []engine.JobID{1}, 4.1}, // then what the reaper took, at 13.6
		{20, 2, 0, []engine.JobID{2, 3}, 0},
		{21, 2, 0, []engine.JobID{1}, 5},
		{28, 9, 0, []engine.JobID{2, 3, 1}, 6}, // in the order of expiry
	} {
		c.elapse(s.at - at)
		at = s.at
		got, next := c.recover(s.limit, s.grace)
		c.wantIDs("recovered", ids(got), s.want...)
		c.about("the next", next, s.next)
	}
}

var waitingStories = []story{
	{"ready when due", plain, func(c *client) {
		fill(c)
		got, next := c.claimNext()
		c.wantIDs("early", got)
		c.about("the next", next, 2)
		c.elapse(2.2)
		c.wantIDs("by call: nothing to do", c.promote(9, engine.OldestReady))
		c.elapse(2.8)
		got, next = c.claimNext()
		c.wantIDs("claimed", got, 4, 1, 2)
		c.about("the next", next, 1)
		c.elapse(1.5)
		c.claimNext()
		if _, next := c.claimNext(); next != engine.Forever {
			c.Errorf("nothing waits: next %v", next)
		}
	}},
	{"promoted", with(func(o *engine.StoreOptions) { o.Promoted = true }), func(c *client) {
		fill(c)
		c.elapse(5)
		got, next := c.claimNext()
		if c.wantIDs("nobody promoted", got); next != engine.Forever {
			c.Errorf("next %v: nothing will be ready by itself", next)
		}
		c.same("all wait", c.counts(), engine.Stats{Waiting: [2]int{4, 0}})
		p, err := c.Store.Promote(c.ctx, 1, engine.OldestReady, nil)
		c.must(err)
		c.same("one", p, []engine.Promotion{{Job: 4, Kind: 2, Tenant: 3, Class: engine.Fresh}})
		c.wantIDs("another", c.promote(1, engine.OldestReady), 1)
		c.same("two of each", c.counts(), engine.Stats{Ready: [2]int{2, 0}, Waiting: [2]int{2, 0}})
		c.wantIDs("the rest", c.promote(9, engine.OldestReady), 2)
		got, _ = c.claimNext()
		c.wantIDs("claimed", got, 4, 1, 2)
		if _, err := c.Store.Promote(c.ctx, 1, engine.NewestReady+1, nil); err == nil {
			c.Error("an unknown order: no error")
		}
		c.part("newest", with(func(o *engine.StoreOptions) { o.Promoted = true }), func(c *client) {
			fill(c)
			c.elapse(5)
			c.wantIDs("one", c.promote(1, engine.NewestReady), 2)
			c.elapse(1.5)
			c.wantIDs("two", c.promote(2, engine.NewestReady), 1, 3)
			c.wantIDs("none", c.promote(0, engine.NewestReady))
		})
	}},
}

// fill enqueues four delayed jobs, due after 2, 4, 4 and 6 ticks.
func fill(c *client) {
	c.add(engine.NewJob{ID: 4, Delay: c.ticks(2), Kind: 2, Tenant: 3}, engine.NewJob{ID: 2, Delay: c.ticks(4)},
		engine.NewJob{ID: 1, Delay: c.ticks(4)}, engine.NewJob{ID: 3, Delay: c.ticks(6)})
}
