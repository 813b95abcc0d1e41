package storetest

import (
	"fmt"

	"qsim/engine"
)

// byFence states whether a store must apply a call under each fence (condition for it): token, state and none.
type byFence [3]bool

var always, byState, unfenced, never = byFence{true, true, true}, byFence{1: true, 2: true}, byFence{2: true}, byFence{}

// fences lists test cases: what happens to a job in flight, and under which fences a commit and an extension under its
// old lease then take effect.
var fences = []struct {
	state          string
	change         func(c *client, l engine.Lease)
	commit, extend byFence
	from           engine.State
}{
	{"held", func(*client, engine.Lease) {}, always, always, engine.InFlight},
	{"expired", func(c *client, _ engine.Lease) { c.elapse(7) }, always, always, engine.InFlight},
	{"taken", func(c *client, _ engine.Lease) { c.elapse(7); c.recover(1, 0) }, byState, byState, engine.InFlight},
	{"waiting", func(c *client, l engine.Lease) { c.nack(l, 1000) }, unfenced, never, engine.Waiting},
	{"ready", func(c *client, l engine.Lease) { c.commit(l, engine.Return) }, unfenced, never, engine.Ready},
	{"again", func(c *client, l engine.Lease) {
		c.commit(l, engine.Return)
		c.claim(1)
	}, byState, byState, engine.InFlight},
	{"done", func(c *client, l engine.Lease) { c.commit(l, engine.Ack) }, never, never, 0},
	{"dead", func(c *client, l engine.Lease) { c.commit(l, engine.Bury) }, never, never, 0},
}

var commitStories = []story{
	{"fences", plain, func(c *client) {
		for _, tt := range fences {
			for fence := engine.FenceToken; fence <= engine.FenceNone; fence++ {
				for _, verb := range []engine.Verb{engine.Ack, engine.Nack, engine.Bury, engine.Return} {
					if c.tick == realTick && (verb == engine.Nack || verb == engine.Return) {
						continue // enough, where time passes by itself
					}
					options := with(func(o *engine.StoreOptions) { o.Fence = fence })
					c.part(fmt.Sprintf("%s/%v/%v", tt.state, fence, verb), options, func(c *client) {
						c.add(engine.NewJob{ID: 7}, engine.NewJob{ID: 8, Delay: c.ticks(9999)})
						l := c.claim(1)[0]
						tt.change(c, l)
						if got := c.extend(l); got != tt.extend[fence-engine.FenceToken] {
							c.Errorf("extended: %v, want %v", got, tt.extend[fence-engine.FenceToken])
						}
						want, before := tt.commit[fence-engine.FenceToken], unended(c.counts())
						r := c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: verb, Delay: c.ticks(50)})[0]
						if want && (r.Status != engine.Applied || r.From != tt.from) ||
							!want && r != (engine.Result{Status: engine.Stale}) {
							c.Errorf("%+v, want it applied: %v, from %v", r, want, tt.from)
						}
						ended := want && (verb == engine.Ack || verb == engine.Bury)
						if after := unended(c.counts()); ended != (after == before-1) {
							c.Errorf("%d live jobs, %d before", after, before)
						}
					})
				}
			}
		}
	}},
	{"what a job carries", plain, playLife},
	{"verbs", plain, playVerbs},
	{"where a job stands that is ready at once", plain, func(c *client) {
		for stand, want := range [][]engine.JobID{{2, 3, 1, 4}, {1, 2, 3, 4}, {2, 1, 3, 4}, {2, 3, 1, 4}, {1, 2, 3, 4}} {
			c.part(fmt.Sprint(stand), plain, func(c *client) { playStand(c, engine.Place(stand), want) })
		}
	}},
	{"handed out before it is due", with(func(o *engine.StoreOptions) {
		o.Held, o.Promoted = true, true
	}), func(c *client) {
		c.add(engine.NewJob{ID: 1, Delay: c.ticks(50)}, engine.NewJob{ID: 2})
		l := c.claim(9)
		c.wantIDs("claimed", ids(l), 2, 1)
		c.about("to be held for", -l[1].Waited, 50)
		c.nack(l[0], 10)
		c.elapse(1)
		c.commit(l[1], engine.Return)
		l = c.claim(9)
		c.wantIDs("again", ids(l), 2, 1)
		c.about("since then", l[0].Waited, -9)
		c.about("it kept its time", l[1].Waited, -49)
	}},
	{"the dead are kept", with(func(o *engine.StoreOptions) { o.KeepDead = true }), playDead},
	{"the dead are forgotten", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1})
		if r := c.commit(c.claim(1)[0], engine.Bury); r.Status != engine.Applied {
			c.Errorf("%+v", r)
		}
		c.same("counted all the same", c.counts(), engine.Stats{Dead: 1})
		c.add(engine.NewJob{ID: 1})
		c.wantIDs("a job of the same ID", ids(c.claim(1)), 1)
	}},
	{"one job twice in a batch", with(func(o *engine.StoreOptions) { o.Fence = engine.FenceNone }), func(c *client) {
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
		l := c.claim(2)
		nack := engine.Outcome{LeaseKey: l[0].Key(), Verb: engine.Nack, Delay: c.ticks(50)}
		ack, other := engine.Outcome{LeaseKey: l[0].Key(), Verb: engine.Ack}, engine.Outcome{Verb: engine.Ack}
		other.LeaseKey = l[1].Key()
		b := engine.Batch{ID: engine.BatchID{Engine: c.engine, Seq: 1}, Outcomes: []engine.Outcome{nack, ack, ack, other}}
		r := c.send(b)
		for i, want := range []engine.Result{
			{Status: engine.Applied, From: engine.InFlight},
			{Status: engine.Applied, From: engine.Waiting, Class: engine.Retry},
			{Status: engine.Stale},
			{Status: engine.Applied, From: engine.InFlight},
		} {
			if r[i].Age = 0; r[i] != want {
				c.Errorf("outcome %d: %+v, want %+v", i, r[i], want)
			}
			if got := c.send(b)[i].Status; got != want.Status.Again() {
				c.Errorf("outcome %d again: status %d, want %d", i, got, want.Status.Again())
			}
		}
	}},
}

func unended(s engine.Stats) (n int) {
	for class := range engine.NumClasses {
		n += s.Ready[class] + s.Waiting[class] + s.InFlight[class]
	}
	return n
}

// playLife tests what a lease carries of its job, such as its attempts, through a nack, a return and two recoveries.
func playLife(c *client) {
	reaper := engine.NewEngineID(2, 5)
	c.add(engine.NewJob{ID: 7, Kind: 2, Priority: 3, Tenant: 4, Payload: []byte("x")})
	want := engine.Lease{Job: engine.Job{ID: 7, Kind: 2, Priority: 3, Tenant: 4, Payload: []byte("x"), Delivery: 1,
		Charged: 1}}
	last := engine.Token(0)
	expect := func(what string, got []engine.Lease, waited, age float64) engine.Lease {
		c.Helper()
		if len(got) != 1 {
			c.Fatalf("%s: got %v", what, ids(got))
		}
		l := got[0]
		if l.Token <= last {
			c.Errorf("%s: token %d after %d", what, l.Token, last)
		}
		last = l.Token
		c.about(what+": waited", l.Waited, waited)
		c.about(what+": aged", l.Age, age)
		shown := l
		shown.Token, shown.Ref, shown.Waited, shown.Age = 0, 0, 0, 0
		c.same(what, shown, want)
		return l
	}
	c.elapse(1)
	l := expect("claimed", c.claim(1), 1, 1)
	c.elapse(1)
	r := c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Nack, Delay: c.ticks(2), Passed: c.ticks(3)})[0]
	c.about("age at the nack", r.Age, 2)
	r.Age = 0
	c.same("nacked", r, engine.Result{Status: engine.Applied, From: engine.InFlight, Class: engine.Fresh})
	c.elapse(3)
	want.Delivery, want.Charged, want.Failures, want.LastDelay = 2, 2, 1, c.ticks(5)
	l = expect("after a nack", c.claim(1), 1, 5)
	if r := c.commit(l, engine.Return); r.Class != engine.Retry || r.From != engine.InFlight {
		c.Errorf("returned: %+v", r)
	}
	c.elapse(1)
	want.Delivery = 3
	first := expect("after a return: no charge", c.claim(1), 1, 6)
	c.elapse(7)
	got, _, err := c.Store.Recover(c.ctx, reaper, 1, 0, c.ticks(1), nil)
	c.must(err)
	want.Holder, want.Recoveries = c.engine, 1
	expect("recovered: no delivery", got, 8, 13)
	c.elapse(2)
	got, _ = c.recover(1, 0)
	want.Holder, want.Recoveries = reaper, 2
	l = expect("recovered from a reaper that died", got, 10, 15)
	if r := c.commit(first, engine.Ack); r.Status != engine.Stale {
		c.Errorf("the first holder: %+v", r)
	}
	if r := c.nack(l, 0); r.Status != engine.Applied {
		c.Errorf("the reaper: %+v", r)
	}
	want.Holder, want.Delivery, want.Charged, want.Failures, want.LastDelay = 0, 4, 3, 2, 0
	expect("after an expiry", c.claim(1), 0, 15)
}

// playVerbs tests how each outcome of an attempt changes a job's counts of attempts, failures and snoozes.
func playVerbs(c *client) {
	c.add(engine.NewJob{ID: 1})
	for _, tt := range []struct {
		verb                       engine.Verb
		charged, failures, snoozes int32
	}{{engine.Nack, 1, 1, 0}, {engine.Redo, 2, 2, 0}, {engine.Snooze, 2, 2, 1}, {engine.Return, 2, 2, 1}} {
		c.outcomes(engine.Outcome{LeaseKey: c.claim(1)[0].Key(), Verb: tt.verb, Delay: c.ticks(1)})
		c.elapse(1.5)
		l := c.claim(1)
		if len(l) != 1 {
			c.Fatalf("after a %v: nothing to claim", tt.verb)
		}
		c.commit(l[0], engine.Return)
		if j := l[0].Job; j.Charged-1 != tt.charged || j.Failures != tt.failures || j.Snoozes != tt.snoozes {
			c.Errorf("%v: charged %d, %d failures, %d snoozes; want %+v", tt.verb, j.Charged-1, j.Failures, j.Snoozes, tt)
		}
	}
}

// playStand tests where a job stands in line after outcomes with the place rule stand: later claims return want.
func playStand(c *client, stand engine.Place, want []engine.JobID) {
	retry := engine.Term{Class: engine.Retry, Limit: 1}
	c.add(engine.NewJob{ID: 1})
	c.nack(c.claim(1)[0], 1.25)
	c.elapse(1)
	c.add(engine.NewJob{ID: 2})
	c.elapse(0.5)
	l := c.plan(1, retry)[0]
	c.add(engine.NewJob{ID: 3})
	for range 2 {
		c.elapse(0.5)
		c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Redo, Stand: stand})
		l = c.plan(1, retry)[0]
	}
	c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Return, Stand: stand})
	c.elapse(0.25)
	c.add(engine.NewJob{ID: 4})
	c.elapse(1.75)
	got := c.claim(9)
	c.wantIDs("stands", ids(got), want...)
	for i := range got {
		if got[i].ID == 1 {
			c.about("waited since it was ready", got[i].Waited, 2)
		}
	}
}

// playDead tests that IDs of buried jobs stay taken and, if the store can redrive them, that two of three start over.
func playDead(c *client) {
	c.add(engine.NewJob{ID: 3, Serial: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: 1}, engine.NewJob{ID: 4, Serial: 1})
	for _, l := range c.claim(3) {
		c.nack(l, 1)
	}
	c.elapse(1.5)
	for _, l := range c.claim(3) {
		c.commit(l, engine.Bury)
	}
	c.same("buried", c.counts(), engine.Stats{Ready: [2]int{1, 0}, Dead: 3})
	if err := c.Store.Enqueue(c.ctx, []engine.NewJob{{ID: 2}}); err == nil {
		c.Error("the ID of a dead job was taken for new")
	}
	if c.Redrive == nil {
		return
	}
	p, err := c.Redrive([]engine.JobID{1, 3, 4, 99}, true)
	c.must(err)
	if len(p) != 2 || p[0].Class != engine.Retry || p[0].Job+p[1].Job != 4 {
		c.Errorf("revived %+v", p)
	}
	c.same("revived", c.counts(), engine.Stats{Ready: [2]int{1, 2}, Dead: 1})
	l := c.claim(9)
	c.wantIDs("claimed: 3 has gone behind 4, with which it shares a key", ids(l), 4, 1)
	if j := l[1].Job; j.Delivery != 3 || j.Charged != 1 || j.Failures != 0 || j.LastDelay != 0 {
		c.Errorf("it did not start over: %+v", j)
	}
}
