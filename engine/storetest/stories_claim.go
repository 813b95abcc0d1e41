package storetest

import (
	"errors"
	"slices"

	"qsim/engine"
)

// ofKinds returns a job of each of these kinds, with IDs from 1 on.
func ofKinds(kinds ...engine.Kind) (jobs []engine.NewJob) {
	for i, k := range kinds {
		jobs = append(jobs, engine.NewJob{ID: engine.JobID(i + 1), Kind: k})
	}
	return jobs
}

// prioritized returns a job of each of these priorities, with IDs from 1 on.
func prioritized(priorities ...int16) (jobs []engine.NewJob) {
	for i, p := range priorities {
		jobs = append(jobs, engine.NewJob{ID: engine.JobID(i + 1), Priority: p})
	}
	return jobs
}

func newest(limit int) engine.Term {
	return engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: limit}
}

func someKinds(set engine.Kinds, limit int) engine.Term {
	return engine.Term{Class: engine.AnyClass, Kinds: set, Limit: limit}
}

type (
	newJobs = []engine.NewJob
	terms   = []engine.Term
	jobIDs  = []engine.JobID
)

// claimOrders lists test cases: jobs, enqueued one after the other, and those that a claim must return, in order.
var claimOrders = []struct {
	name  string
	jobs  newJobs
	limit int
	terms terms
	want  jobIDs
}{
	{"first come first", newJobs{{ID: 3}, {ID: 1}, {ID: 2}}, 9, terms{anyTerm(9)}, jobIDs{3, 1, 2}},
	{"by priority first", prioritized(5, -5, 0, -5), 9, terms{anyTerm(9)}, jobIDs{2, 4, 3, 1}},
	{"newest within a priority", prioritized(5, -5, 5, -5), 9, terms{newest(9)}, jobIDs{4, 2, 3, 1}},
	{"kinds share a line", ofKinds(2, 0, 1, 2), 9, terms{anyTerm(9)}, jobIDs{1, 2, 3, 4}},
	{"newest over kinds", ofKinds(2, 0, 1, 2), 9, terms{newest(9)}, jobIDs{4, 3, 2, 1}},
	{"some kinds", ofKinds(2, 0, 1, 2), 9, terms{someKinds(1<<2|1<<1, 9)}, jobIDs{1, 3, 4}},
	{"one kind", ofKinds(2, 0, 1, 2), 9, terms{someKinds(1<<2, 9)}, jobIDs{1, 4}},
	{"some kinds, a limit", ofKinds(2, 0, 1, 2), 9, terms{someKinds(1<<2|1<<1, 2)}, jobIDs{1, 3}},
	{"kinds of 64 and more", ofKinds(64, 63, 1000), 9, terms{someKinds(^engine.Kinds(0), 9)}, jobIDs{2}},
	{"kinds do not outrank priority", newJobs{{ID: 1, Priority: 1}, {ID: 2, Kind: 9}}, 9, terms{anyTerm(9)}, jobIDs{2, 1}},
	{"extremes of priority", prioritized(32767, -32768, 0), 9, terms{anyTerm(9)}, jobIDs{2, 3, 1}},
	{"a term's limit", ofKinds(0, 0, 0), 9, terms{anyTerm(2)}, jobIDs{1, 2}},
	{"the plan's limit", ofKinds(0, 0, 0), 2, terms{anyTerm(1), anyTerm(9)}, jobIDs{1, 2}},
	{"the plan's limit in the first term", ofKinds(0, 0, 0), 2, terms{anyTerm(9), anyTerm(9)}, jobIDs{1, 2}},
	{"terms take what is left", ofKinds(0, 1, 0), 9, terms{someKinds(1<<1, 5), newest(1), anyTerm(9)}, jobIDs{2, 3, 1}},
	{"four terms", ofKinds(0, 0, 0, 0, 0), 4, terms{newest(1), anyTerm(1), newest(1), anyTerm(9)}, jobIDs{5, 1, 4, 2}},
	{"retries: none", ofKinds(0), 9, terms{{Class: engine.Retry, Limit: 9}}, nil},
	{"no terms", ofKinds(0), 9, nil, nil},
	{"a limit of 0", ofKinds(0), 9, terms{anyTerm(0)}, nil},
	{"a plan's limit of 0", ofKinds(0), 0, terms{anyTerm(9)}, nil},
	{"an empty store", nil, 9, terms{anyTerm(9)}, nil},
}

var claimStories = []story{
	{"claim order", plain, func(c *client) {
		for _, tt := range claimOrders {
			c.part(tt.name, plain, func(c *client) {
				for _, j := range tt.jobs {
					c.elapse(0.01)
					c.add(j)
				}
				c.wantIDs("claimed", ids(c.plan(tt.limit, tt.terms...)), tt.want...)
			})
		}
	}},
	{"jobs of one call are of one time", plain, func(c *client) {
		c.add(engine.NewJob{ID: 5}, engine.NewJob{ID: 3}, engine.NewJob{ID: 4})
		c.wantIDs("claimed", ids(c.claim(9)), 3, 4, 5)
		var many []engine.NewJob
		var want []engine.JobID
		for id := engine.JobID(400); id > 100; id-- {
			many = append(many, engine.NewJob{ID: id})
			want = append(want, 501-id)
		}
		c.add(many...)
		c.wantIDs("of many", ids(c.claim(999)), want...)
	}},
	{"priorities of one large call", plain, func(c *client) {
		var many []engine.NewJob
		var want []engine.JobID
		for id := range engine.JobID(300) {
			many = append(many, engine.NewJob{ID: id + 1, Priority: int16(150-int(id)) * 200}) // 30,000 down to −29,800
			want = append(want, 300-id)
		}
		c.add(many...)
		l := c.claim(999)
		c.wantIDs("the most urgent first", ids(l), want...)
		for i := range l {
			if p := many[l[i].ID-1].Priority; l[i].Priority != p {
				c.Errorf("job %d: priority %d, want %d", l[i].ID, l[i].Priority, p)
			}
		}
	}},
	{"classes", plain, func(c *client) {
		for id := range engine.JobID(6) {
			c.elapse(0.01)
			c.add(engine.NewJob{ID: id + 1})
		}
		c.elapse(0.01)
		for _, l := range c.claim(3) {
			c.commit(l, engine.Return)
		}
		c.elapse(0.01)
		c.add(engine.NewJob{ID: 7})
		retry, fresh := engine.Term{Class: engine.Retry, Limit: 1}, engine.Term{Class: engine.Fresh, Limit: 2}
		c.wantIDs("two fresh, one retry", ids(c.plan(3, fresh, retry)), 4, 5, 1)
		fresh.Order, fresh.Limit = engine.NewestReady, 1
		c.wantIDs("what is left", ids(c.plan(9, fresh, anyTerm(9))), 7, 6, 2, 3)
	}},
	{"a job as it was enqueued", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1<<63 - 1, Kind: 65535, Priority: -7, Tenant: 1<<32 - 1, Payload: []byte("\x00π'\"")},
			engine.NewJob{ID: 2, Priority: 1, Payload: []byte{}})
		c.elapse(1)
		l := c.claim(2)
		if len(l) != 2 {
			c.Fatalf("claimed %d", len(l))
		}
		c.about("waited", l[0].Waited, 1)
		c.about("aged", l[0].Age, 1)
		l[0].Waited, l[0].Age, l[0].Ref = 0, 0, 0
		c.same("leased", l[0], engine.Lease{Token: l[0].Token, Job: engine.Job{ID: 1<<63 - 1, Kind: 65535, Priority: -7,
			Tenant: 1<<32 - 1, Delivery: 1, Charged: 1, Payload: []byte("\x00π'\"")}})
		if l[0].Token == 0 || len(l[1].Payload) != 0 {
			c.Errorf("%+v", l)
		}
	}},
	{"appends", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
		had := []engine.Lease{{Token: 77}}
		l, _, err := c.Store.Claim(c.ctx, c.engine, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, c.ttl(), had)
		c.must(err)
		c.wantIDs("behind what was there", ids(l), 0, 1, 2)
		if l[0].Token != 77 {
			c.Errorf("%+v", l[0])
		}
	}},
	{"enqueue all or none", plain, func(c *client) {
		for _, tt := range []struct {
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
			{"one of many", manyJobs(1000, 300, engine.NewJob{ID: 7}), engine.ErrDuplicate},
		} {
			c.part(tt.name, plain, func(c *client) {
				c.add(engine.NewJob{ID: 9})
				c.claim(1)
				c.add(engine.NewJob{ID: 7}, engine.NewJob{ID: 8, Delay: c.ticks(1000)})
				before := c.counts()
				if err := c.Store.Enqueue(c.ctx, tt.jobs); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					c.Errorf("got %v, want %v", err, tt.want)
				}
				c.same("afterwards", c.counts(), before)
				c.elapse(0.01)
				c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
				c.wantIDs("claimed", ids(c.claim(9)), 7, 1, 2)
			})
		}
		c.add()
		c.add(engine.NewJob{ID: 1})
		c.commit(c.claim(1)[0], engine.Ack)
	}},
	{"impossible terms", plain, func(c *client) {
		c.add(engine.NewJob{ID: 1, Tenant: 1})
		for _, tt := range []struct {
			term        engine.Term
			unsupported bool
		}{
			{engine.Term{Order: engine.TenantFair + 1, Rule: &engine.Rule{}}, true},
			{engine.Term{MaxWait: 1, Order: engine.NewestReady}, true},
			{engine.Term{PerTenant: 1, Order: engine.Aging, Rule: &engine.Rule{Every: 1}}, true},
			{engine.Term{PerTenant: -1}, false},
			{engine.Term{MaxWait: -1}, false},
		} {
			tt.term.Class, tt.term.Limit = engine.AnyClass, 1
			_, _, err := c.try(2, anyTerm(1), tt.term)
			if err == nil || tt.unsupported && !errors.Is(err, engine.ErrUnsupported) || c.counts().Ready[engine.Fresh] != 1 {
				c.Errorf("%+v: %v, %+v", tt.term, err, c.counts())
			}
		}
	}},
}

// manyJobs returns n jobs with consecutive IDs, beginning with from, and in their middle the given job, odd.
func manyJobs(from engine.JobID, n int, odd engine.NewJob) []engine.NewJob {
	var jobs []engine.NewJob
	for i := range n {
		jobs = append(jobs, engine.NewJob{ID: from + engine.JobID(i)})
	}
	return slices.Insert(jobs, n/2, odd)
}
