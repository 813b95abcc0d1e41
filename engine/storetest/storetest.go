// Package storetest tests implementations of engine.Store: that they fulfil the contract, and that two of them give the
// same answers. A story is a test of one part of the contract; it measures time in ticks.
//
//	func TestStore(t *testing.T) {
//		storetest.Exercise(t, func(t *testing.T, o engine.StoreOptions) (storetest.Subject, error) {
//			clock := engine.Time(0)
//			store := memstore.New(func() engine.Time { return clock }, o)
//			return storetest.Subject{Store: store, Advance: func(d time.Duration) { clock += engine.Time(d) }}, nil
//		})
//	}
//
// A store whose clock cannot be moved leaves Advance nil: the stories then let time pass, a few minutes in all, and
// compare durations with a tolerance.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"qsim/engine"
)

// Subject is a store under test, with what only tests and simulations need of it.
type Subject struct {
	Store engine.Store
	// Advance moves the store's clock forward by d; the clock stands still otherwise. Nil: it goes by itself.
	Advance func(d time.Duration)
	// Redrive makes those of jobs ready that are dead, as sim.Store does, if the store keeps dead jobs; reset: their
	// attempts start over. Nil: not supported.
	Redrive func(jobs []engine.JobID, reset bool) ([]engine.Promotion, error)
}

// Open returns an empty store with options o, which t.Cleanup closes. An error that wraps engine.ErrUnsupported means
// that the store lacks such options: tests that need them are skipped with a message.
type Open func(t *testing.T, o engine.StoreOptions) (Subject, error)

// Exercise tests every part of the contract of engine.Store, each as a subtest on stores of its own.
func Exercise(t *testing.T, open Open) {
	for _, s := range slices.Concat(claimStories, lineStories, commitStories, batchStories, leaseStories, waitingStories,
		crowdStories, wakeStories) {
		t.Run(s.name, func(t *testing.T) {
			s.play(newClient(t, open, s.options))
		})
	}
}

// story is a test of one part of the contract of engine.Store: play makes calls and checks the answers.
type story struct {
	name    string
	options engine.StoreOptions
	play    func(c *client)
}

// plain holds the options of a store in most tests: leases end only when Recover takes them.
var plain = engine.StoreOptions{LapseAfter: -1}

// with returns the store options of most tests (plain), modified by change.
func with(change func(o *engine.StoreOptions)) engine.StoreOptions {
	o := plain
	change(&o)
	return o
}

// client calls the store under test as an engine would, and ends the test if the store returns an error.
type client struct {
	*testing.T
	Subject
	ctx    context.Context
	tick   time.Duration // the unit of the story's times
	engine engine.EngineID
	seq    uint64 // number of the latest batch
	opener Open
	flat   bool         // parts run in the test itself, not as subtests
	lease  engine.Lease // the latest of hold
}

// movedTick and realTick are the length of a tick, the unit of time in a story, for stores whose clock can be moved and
// for others. realTick is long enough for the steps of a story on a slow machine.
const (
	movedTick = time.Second
	realTick  = 400 * time.Millisecond
)

func newClient(t *testing.T, open Open, o engine.StoreOptions) *client {
	t.Helper()
	subject, err := open(t, o)
	switch {
	case errors.Is(err, engine.ErrUnsupported):
		t.Skipf("not offered by this store: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	c := &client{T: t, Subject: subject, ctx: t.Context(), tick: movedTick, engine: engine.NewEngineID(1, 0), opener: open}
	if c.Advance == nil {
		c.tick = realTick
		c.Advance = wait
	}
	return c
}

func wait(d time.Duration) { <-time.After(d) }

// part runs play, one part of a story (a test of the store), on a new store with options o, as a subtest.
func (c *client) part(name string, o engine.StoreOptions, play func(c *client)) {
	c.Helper()
	if c.flat {
		other := newClient(c.T, c.opener, o)
		other.flat = true
		play(other)
		return
	}
	c.Run(name, func(t *testing.T) { play(newClient(t, c.opener, o)) })
}

// elapse lets that many ticks (units of a story's time) pass on the store's clock.
func (c *client) elapse(ticks float64) { c.Advance(c.ticks(ticks)) }

// ticks returns n ticks, the unit of a story's time, as a duration, rounded to a thousandth of a tick.
func (c *client) ticks(n float64) time.Duration {
	return time.Duration(math.Round(n*1000)) * c.tick / 1000
}

// about fails the test unless got is that many ticks, give or take 3/4 of one if the store's clock cannot be moved.
func (c *client) about(what string, got time.Duration, ticks float64) {
	c.Helper()
	want, slack := c.ticks(ticks), time.Duration(0)
	if c.tick == realTick {
		slack = realTick * 3 / 4
	}
	if (got - want).Abs() > slack {
		c.Errorf("%s: got %v, want %v, give or take %v", what, got, want, slack)
	}
}

func (c *client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *client) add(jobs ...engine.NewJob) {
	c.Helper()
	c.must(c.Store.Enqueue(c.ctx, jobs))
}

// ttl returns the TTL of leases: six ticks.
func (c *client) ttl() time.Duration { return 6 * c.tick }

func (c *client) try(limit int, terms ...engine.Term) ([]engine.Lease, time.Duration, error) {
	return c.Store.Claim(c.ctx, c.engine, engine.Plan{Limit: limit, Terms: terms}, c.ttl(), nil)
}

// ifOffered claims jobs by terms that a store need not support, and skips the test if the store does not.
func (c *client) ifOffered(limit int, terms ...engine.Term) []engine.Lease {
	c.Helper()
	l, _, err := c.try(limit, terms...)
	if errors.Is(err, engine.ErrUnsupported) {
		c.Skip("not offered")
	}
	c.must(err)
	return l
}

func (c *client) plan(limit int, terms ...engine.Term) []engine.Lease {
	c.Helper()
	l, _, err := c.try(limit, terms...)
	c.must(err)
	return l
}

func anyTerm(limit int) engine.Term { return engine.Term{Class: engine.AnyClass, Limit: limit} }

func (c *client) claim(limit int) []engine.Lease {
	c.Helper()
	return c.plan(limit, anyTerm(limit))
}

// claimNext claims up to 99 jobs and returns their IDs, and the time until the next waiting job is due.
func (c *client) claimNext() ([]engine.JobID, time.Duration) {
	c.Helper()
	l, next, err := c.try(99, anyTerm(99))
	c.must(err)
	return ids(l), next
}

func (c *client) send(b engine.Batch) []engine.Result {
	c.Helper()
	r, err := c.Store.Commit(c.ctx, b, nil)
	c.must(err)
	if len(r) != len(b.Outcomes) {
		c.Fatalf("%d results for %d outcomes", len(r), len(b.Outcomes))
	}
	return r
}

func (c *client) outcomes(o ...engine.Outcome) []engine.Result {
	c.Helper()
	c.seq++
	return c.send(engine.Batch{ID: engine.BatchID{Engine: c.engine, Seq: c.seq}, Settled: c.seq - 1, Outcomes: o})
}

func (c *client) commit(l engine.Lease, v engine.Verb) engine.Result {
	c.Helper()
	return c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: v})[0]
}

func (c *client) nack(l engine.Lease, ticks float64) engine.Result {
	c.Helper()
	return c.outcomes(engine.Outcome{LeaseKey: l.Key(), Verb: engine.Nack, Delay: c.ticks(ticks)})[0]
}

func (c *client) extend(l engine.Lease) bool {
	c.Helper()
	held, err := c.Store.ExtendLease(c.ctx, []engine.LeaseKey{l.Key()}, c.ttl(), nil)
	c.must(err)
	return held[0] == engine.Applied
}

func (c *client) recover(limit int, grace float64) ([]engine.Lease, time.Duration) {
	c.Helper()
	l, next, err := c.Store.Recover(c.ctx, c.engine, limit, c.ticks(grace), c.ttl(), nil)
	c.must(err)
	return l, next
}

func (c *client) promote(limit int, o engine.Order) []engine.JobID {
	c.Helper()
	p, err := c.Store.Promote(c.ctx, limit, o, nil)
	c.must(err)
	var out []engine.JobID
	for i := range p {
		out = append(out, p[i].Job)
	}
	slices.Sort(out) // in which order it made them ready does not show
	return out
}

func (c *client) stats() engine.Stats {
	c.Helper()
	s, err := c.Store.Stats(c.ctx, 0)
	c.must(err)
	return s
}

// counts returns the store's counts of jobs by state, without the ages of the oldest jobs.
func (c *client) counts() engine.Stats {
	c.Helper()
	s := c.stats()
	s.OldestReady = [engine.NumClasses]time.Duration{}
	return s
}

func ids(l []engine.Lease) []engine.JobID {
	var out []engine.JobID
	for i := range l {
		out = append(out, l[i].ID)
	}
	return out
}

func (c *client) wantIDs(what string, got []engine.JobID, want ...engine.JobID) {
	c.Helper()
	if !slices.Equal(got, want) {
		c.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// same fails the test unless the values got and want print alike.
func (c *client) same(what string, got, want any) {
	c.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		c.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
