package storetest

import (
	"context"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// wakeStories are tests that a listener is woken by every change that makes a job claimable.
var wakeStories = []story{
	{"announcements", plain, func(c *client) {
		if _, ok := c.Store.(live.Announcer); !ok {
			c.Skip("not offered")
		}
		for _, w := range wakes {
			c.part(w.name, with(w.options), func(c *client) { playWake(c, w) })
		}
		for _, w := range wakes {
			if slices.Contains(silent, w.name) {
				silently := func(o *engine.StoreOptions) { w.options(o); o.SilentDue = true }
				c.part(w.name+", silently", with(silently), func(c *client) { playSilence(c, w) })
			}
		}
	}},
}

// wake is a test that a listener is woken by one change, which makes job 1 claimable: before prepares the store, then
// the test listens to it and calls cause, which makes the change.
type wake struct {
	name    string
	options func(o *engine.StoreOptions)
	before  func(c *client)
	cause   func(c *client)
}

// shortly is the delay of jobs that become due while a test listens: long compared with the time it takes to move a
// clock.
const shortly = 150 * time.Millisecond

// put commits an outcome of a leased job; delay is how long the job then waits until it is due again.
func (c *client) put(l engine.Lease, v engine.Verb, delay time.Duration) {
	c.Helper()
	if r := c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: v, Delay: delay})[0]; r.Status != engine.Applied {
		c.Fatalf("%v of job %d: %+v", v, l.ID, r)
	}
}

func asItIs(*engine.StoreOptions) {}

func nothing(*client) {}

// held enqueues job 1 and claims it, with a lease of six ticks.
func held(c *client) {
	c.add(engine.NewJob{ID: 1})
	c.hold()
}

func (c *client) hold() engine.Lease {
	c.Helper()
	l := c.claim(1)
	if len(l) != 1 {
		c.Fatalf("claimed %v", ids(l))
	}
	c.lease = l[0]
	return l[0]
}

// outcome returns a cause (see wake) that commits an outcome for the job claimed last and lets the delay pass.
func outcome(v engine.Verb, delay time.Duration) func(c *client) {
	return func(c *client) {
		c.put(c.lease, v, delay)
		if delay > 0 {
			c.Advance(delay)
		}
	}
}

// behind enqueues and claims job 2, which has a serial key, and then enqueues job 1 with the same key: it must wait.
func behind(c *client) {
	c.add(engine.NewJob{ID: 2, Serial: 7})
	c.hold()
	c.add(engine.NewJob{ID: 1, Serial: 7})
}

var wakes = []wake{
	{"an enqueue", asItIs, nothing, func(c *client) { c.add(engine.NewJob{ID: 1}) }},
	{"a large enqueue", asItIs, nothing, func(c *client) {
		var some []engine.NewJob
		for id := range engine.JobID(100) {
			some = append(some, engine.NewJob{ID: id + 1})
		}
		c.add(some...)
	}},
	{"a delayed enqueue that is due", asItIs, nothing, func(c *client) {
		c.add(engine.NewJob{ID: 1, Delay: shortly}, engine.NewJob{ID: 2, Delay: time.Hour})
		c.Advance(shortly)
	}},
	{"a job that waited before anybody listened", asItIs, func(c *client) {
		c.add(engine.NewJob{ID: 2, Delay: time.Hour}, engine.NewJob{ID: 1, Delay: 5 * shortly})
	}, func(c *client) { c.Advance(5 * shortly) }},
	{"one that is due before what was announced", asItIs, func(c *client) {
		c.add(engine.NewJob{ID: 2, Delay: time.Hour})
	}, func(c *client) {
		c.add(engine.NewJob{ID: 1, Delay: shortly})
		c.Advance(shortly)
	}},
	{"the second that is due", asItIs, func(c *client) {
		c.add(engine.NewJob{ID: 2, Delay: 5 * shortly}, engine.NewJob{ID: 1, Delay: 6 * shortly})
	}, func(c *client) { c.Advance(6 * shortly) }},
	{"a return", asItIs, held, outcome(engine.Return, 0)},
	{"a redo", asItIs, held, outcome(engine.Redo, 0)},
	{"a nack without delay", asItIs, held, outcome(engine.Nack, 0)},
	{"a nack that is due", asItIs, held, outcome(engine.Nack, shortly)},
	{"a snooze that is due", asItIs, held, outcome(engine.Snooze, shortly)},
	{"a promotion", func(o *engine.StoreOptions) { o.Promoted = true }, func(c *client) {
		c.add(engine.NewJob{ID: 1, Delay: shortly})
		c.Advance(shortly)
	}, func(c *client) { c.promote(9, engine.OldestReady) }},
	{"a redrive", func(o *engine.StoreOptions) { o.KeepDead = true }, func(c *client) {
		if c.Redrive == nil {
			c.Skip("not offered")
		}
		held(c)
		c.put(c.lease, engine.Bury, 0)
	}, func(c *client) {
		_, err := c.Redrive([]engine.JobID{1}, true)
		c.must(err)
	}},
	{"an ack that frees a serial key", asItIs, behind, outcome(engine.Ack, 0)},
	{"a burial that frees a serial key", asItIs, behind, outcome(engine.Bury, 0)},
	{"a burial that is kept and frees a serial key", func(o *engine.StoreOptions) { o.KeepDead = true }, behind,
		outcome(engine.Bury, 0)},
	{"a late job of a serial key that a claim buries", asItIs, func(c *client) {
		c.add(engine.NewJob{ID: 2, Serial: 7})
		c.elapse(2)
		c.add(engine.NewJob{ID: 1, Serial: 7})
	}, func(c *client) {
		l := c.ifOffered(0, engine.Term{Class: engine.AnyClass, MaxWait: c.ticks(1), Shed: 1000})
		c.wantIDs("buried", ids(l), 2)
	}},
}

// silent names the changes by which a waiting job becomes ready: with engine.StoreOptions.SilentDue they wake nobody.
var silent = []string{"a delayed enqueue that is due", "a nack without delay", "a nack that is due",
	"a snooze that is due", "a promotion"}

// patience is the longest time that a listener may take to be woken, or to end.
const patience = 20 * time.Second

// listen listens to the store until stop is called, and returns once wakes for earlier changes have come.
func (c *client) listen() (woken <-chan struct{}, stop func()) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.ctx)
	wakes, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- c.Store.(live.Announcer).Listen(ctx, func() {
			select {
			case wakes <- struct{}{}:
			default:
			}
		})
	}()
	c.listening(wakes)
	return wakes, func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			c.Error("still listens after its end")
		}
	}
}

// playSilence tests that a change that makes job 1 claimable wakes nobody, also some time afterwards.
func playSilence(c *client, w wake) {
	w.before(c)
	woken, stop := c.listen()
	defer stop()
	w.cause(c)
	select {
	case <-woken:
		c.Error("somebody was told")
	case <-time.After(2 * shortly):
	}
	if l := ids(c.claim(9)); !slices.Contains(l, 1) {
		c.Errorf("claimed %v", l)
	}
}

func playWake(c *client, w wake) {
	w.before(c)
	woken, stop := c.listen()
	defer stop()
	began := time.Now()
	w.cause(c)
	for limit := time.After(patience); ; {
		select {
		case <-woken:
			// It may be of something else; what is due is so by the store's clock.
			if l := ids(c.claim(9)); slices.Contains(l, 1) {
				return
			}
		case <-limit:
			c.Fatalf("nobody was told within %v", time.Since(began))
		}
	}
}

// listening waits until wakes from the store reach the test and all those for earlier changes have come.
func (c *client) listening(woken <-chan struct{}) {
	c.Helper()
	const quiet = 60 * time.Millisecond
	heard := false
	for id, from := engine.JobID(1<<40), time.Now(); !heard; id++ {
		if time.Since(from) > patience {
			c.Fatal("nobody was told of a job")
		}
		c.add(engine.NewJob{ID: id, Kind: 5})
		for more := true; more; {
			select {
			case <-woken:
				heard = true
			case <-time.After(quiet):
				more = false
			}
		}
		for _, l := range c.plan(9, engine.Term{Class: engine.AnyClass, Kinds: 1 << 5, Limit: 9}) {
			c.put(l, engine.Ack, 0)
		}
	}
	for {
		select {
		case <-woken:
		case <-time.After(quiet):
			return
		}
	}
}
