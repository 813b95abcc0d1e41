package storetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"qsim/engine"
)

// crowdStories are tests with several concurrent callers.
var crowdStories = []story{
	{"no job is claimed twice", plain, playCrowd},
	{"one job of a serial key at a time", plain, playKeys},
	{"copies of a batch at once", plain, func(c *client) {
		const copies, jobs = 6, 40
		for id := range engine.JobID(jobs) {
			c.add(engine.NewJob{ID: id + 1})
		}
		for _, l := range c.claim(jobs) {
			c.seq++
			b := engine.Batch{ID: engine.BatchID{Engine: c.engine, Seq: c.seq},
				Outcomes: []engine.Outcome{{LeaseKey: l.Key(), Verb: engine.Ack}}}
			var applied, repeated atomic.Int32
			c.crowd(copies, func(int) error {
				r, err := c.Store.Commit(c.ctx, b, nil)
				if err != nil {
					return err
				}
				switch r[0].Status {
				case engine.Applied:
					applied.Add(1)
				case engine.Applied.Again():
					repeated.Add(1)
				}
				return nil
			})
			if applied.Load() != 1 || repeated.Load() != copies-1 {
				c.Fatalf("applied %d times, repeated %d times", applied.Load(), repeated.Load())
			}
		}
	}},
	{"one leader", plain, func(c *client) {
		var leaders atomic.Int32
		c.crowd(8, func(i int) error {
			led, err := c.Store.Lead(c.ctx, engine.OpRecover, engine.NewEngineID(int32(i), 0), time.Hour)
			if led {
				leaders.Add(1)
			}
			return err
		})
		if leaders.Load() != 1 {
			c.Errorf("%d lead", leaders.Load())
		}
	}},
	{"one of two enqueues of a job", plain, func(c *client) {
		for id := range engine.JobID(20) {
			var added atomic.Int32
			c.crowd(4, func(int) error {
				if c.Store.Enqueue(c.ctx, []engine.NewJob{{ID: id + 1}}) == nil {
					added.Add(1)
				}
				return nil
			})
			if added.Load() != 1 {
				c.Fatalf("job %d was added %d times", id+1, added.Load())
			}
		}
	}},
}

// crowd makes n calls at once, from as many goroutines, and fails the test if one returns an error.
func (c *client) crowd(n int, call func(i int) error) {
	c.Helper()
	var all sync.WaitGroup
	errs := make([]error, n)
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	all.Wait()
	for i, err := range errs {
		if err != nil {
			c.Fatalf("caller %d: %v", i, err)
		}
	}
}

// playCrowd tests that jobs which concurrent engines claim, fail, return and finish, while others are enqueued, are
// each acked once, and those of one serial key in order.
func playCrowd(c *client) {
	const engines, jobs, key = 6, 300, 5
	plan := engine.Plan{Limit: 7}
	plan.Terms = terms{{Class: engine.Fresh, Limit: 4}, {Class: engine.Retry, Limit: 2}, anyTerm(7)}
	var left atomic.Int64
	left.Store(jobs)
	var mu sync.Mutex
	acked := map[engine.JobID]int{}
	var serial []engine.JobID
	deadline := time.Now().Add(2 * time.Minute)
	c.crowd(engines+2, func(i int) error {
		if i >= engines {
			return c.enqueueHalf(i-engines, jobs, key)
		}
		e := engine.NewEngineID(int32(i+1), 0)
		for seq := uint64(1); left.Load() > 0; seq++ {
			if time.Now().After(deadline) {
				return fmt.Errorf("%d jobs are left", left.Load())
			}
			l, _, err := c.Store.Claim(c.ctx, e, plan, time.Hour, nil)
			if err != nil {
				return err
			}
			b := engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: seq - 1}
			for k := range l {
				o := engine.Outcome{LeaseKey: l[k].Key(), Verb: engine.Ack}
				if uint64(l[k].ID)%3 == 0 && l[k].Delivery < 3 {
					o.Verb = []engine.Verb{engine.Nack, engine.Return, engine.Redo}[uint64(l[k].Delivery)%3]
				}
				b.Outcomes = append(b.Outcomes, o)
			}
			mu.Lock()
			for k := range l {
				if b.Outcomes[k].Verb == engine.Ack && l[k].ID > jobs/2 && l[k].ID%10 == 0 {
					serial = append(serial, l[k].ID) // before it is committed: the next one comes later
				}
			}
			mu.Unlock()
			r, err := c.Store.Commit(c.ctx, b, nil)
			if err != nil {
				return err
			}
			for k := range r {
				if r[k].Status != engine.Applied {
					return fmt.Errorf("job %d: %+v", l[k].ID, r[k])
				}
				if b.Outcomes[k].Verb == engine.Ack {
					mu.Lock()
					acked[l[k].ID]++
					mu.Unlock()
					left.Add(-1)
				}
			}
		}
		return nil
	})
	for id := range engine.JobID(jobs) {
		if acked[id+1] != 1 {
			c.Errorf("job %d was acked %d times", id+1, acked[id+1])
		}
	}
	if !slices.IsSorted(serial) || len(serial) != jobs/2/10 {
		c.Errorf("jobs of one key: %v", serial)
	}
	c.same("what is left", c.counts(), engine.Stats{})
}

// playKeys tests that two jobs of one serial key are never in flight at once, while several callers enqueue jobs of the
// same few keys and others claim and ack them.
func playKeys(c *client) {
	const senders, takers, each, keys = 4, 3, 60, 2
	var left atomic.Int64
	left.Store(senders * each)
	var inFlight [keys]atomic.Int32
	deadline := time.Now().Add(2 * time.Minute)
	c.crowd(senders+takers, func(i int) error {
		if i < senders {
			for n := range each {
				id := engine.JobID(i*each + n + 1)
				if err := c.Store.Enqueue(c.ctx, []engine.NewJob{{ID: id, Serial: 1 + uint32(id)%keys}}); err != nil {
					return err
				}
			}
			return nil
		}
		e := engine.NewEngineID(int32(i), 0)
		for seq := uint64(1); left.Load() > 0; seq++ {
			if time.Now().After(deadline) {
				return fmt.Errorf("%d jobs are left", left.Load())
			}
			l, _, err := c.Store.Claim(c.ctx, e, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Hour, nil)
			if err != nil {
				return err
			}
			b := engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: seq - 1}
			for k := range l {
				if n := inFlight[uint64(l[k].ID)%keys].Add(1); n != 1 {
					return fmt.Errorf("job %d: %d of its key are in flight", l[k].ID, n)
				}
				b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: l[k].Key(), Verb: engine.Ack})
			}
			for k := range l {
				inFlight[uint64(l[k].ID)%keys].Add(-1)
			}
			if _, err := c.Store.Commit(c.ctx, b, nil); err != nil {
				return err
			}
			left.Add(-int64(len(l)))
		}
		return nil
	})
	c.same("what is left", c.counts(), engine.Stats{})
}

// enqueueHalf enqueues half of the jobs, the first (0) or second (1), by tens. A tenth of the second has a serial key.
func (c *client) enqueueHalf(half, jobs int, key uint32) error {
	for at := 0; at < jobs/2; at += 10 {
		var some []engine.NewJob
		for i := range 10 {
			j := engine.NewJob{ID: engine.JobID(half*jobs/2 + at + i + 1)}
			if half == 1 && j.ID%10 == 0 {
				j.Serial = key
			}
			some = append(some, j)
		}
		if err := c.Store.Enqueue(c.ctx, some); err != nil {
			return err
		}
	}
	return nil
}
