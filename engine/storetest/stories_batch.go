package storetest

import (
	"slices"

	"qsim/engine"
)

// sender sends batches of acks late, out of order or repeatedly, as a network may, and compares the statuses returned.
type sender struct {
	*client
	leases []engine.Lease
}

func newSender(c *client, jobs int) *sender {
	for id := range engine.JobID(jobs) {
		c.elapse(0.01)
		c.add(engine.NewJob{ID: id + 1})
	}
	s := &sender{c, c.claim(jobs)}
	if len(s.leases) != jobs {
		c.Fatalf("claimed %d of %d", len(s.leases), jobs)
	}
	return s
}

func (s *sender) expect(what string, e engine.EngineID, seq, settled uint64, acks []int, want ...engine.Status) {
	s.Helper()
	b := engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: settled}
	for _, i := range acks {
		b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: s.leases[i].Key(), Verb: engine.Ack})
	}
	var got []engine.Status
	for _, r := range s.send(b) {
		got = append(got, r.Status)
		if r.Status > engine.Stale && r != (engine.Result{Status: r.Status}) {
			s.Errorf("%s: a repeated result carries %+v", what, r)
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("%s: got statuses %v, want %v", what, got, want)
	}
}

var firstLife, secondLife, elsewhere = engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(0, 0)

var batchStories = []story{
	{"a copy is answered as then", plain, func(c *client) {
		s := newSender(c, 2)
		c.engine = engine.NewEngineID(9, 0)
		c.commit(s.leases[0], engine.Return)
		s.expect("first", firstLife, 1, 0, []int{0, 1}, engine.Stale, engine.Applied)
		for range 2 {
			s.expect("again", firstLife, 1, 0, []int{0, 1}, engine.Stale.Again(), engine.Applied.Again())
		}
	}},
	{"batches out of order", plain, func(c *client) {
		s := newSender(c, 5)
		s.expect("second", firstLife, 2, 0, []int{2}, engine.Applied)
		s.expect("first", firstLife, 1, 0, []int{1}, engine.Applied)
		s.expect("second again", firstLife, 2, 0, []int{2}, engine.Applied.Again())
		s.expect("third settles both", firstLife, 3, 2, []int{3}, engine.Applied)
		s.expect("a late copy of a settled batch", firstLife, 1, 0, []int{1}, engine.Applied.Again())
		s.expect("third again", firstLife, 3, 2, []int{3}, engine.Applied.Again())
	}},
	{"a settled batch that never came is not applied late", plain, func(c *client) {
		s := newSender(c, 3)
		s.expect("second", firstLife, 2, 1, []int{2}, engine.Applied)
		s.expect("a dropped batch", firstLife, 1, 0, []int{1}, engine.Applied.Again())
		s.expect("its job by another batch", firstLife, 3, 2, []int{1}, engine.Applied)
	}},
	{"lives of an engine", plain, func(c *client) {
		s := newSender(c, 4)
		s.expect("first life", firstLife, 1, 0, []int{1}, engine.Applied)
		s.expect("second life, same number", secondLife, 1, 0, []int{2}, engine.Applied)
		s.expect("the first life's copy: by its token", firstLife, 1, 0, []int{1}, engine.Stale)
		s.expect("the first life's late batch", firstLife, 2, 1, []int{3}, engine.Applied)
		s.expect("and its copy", firstLife, 2, 1, []int{3}, engine.Stale)
		s.expect("second life again", secondLife, 1, 0, []int{2}, engine.Applied.Again())
	}},
	{"nodes do not share numbers", plain, func(c *client) {
		s := newSender(c, 2)
		s.expect("node 1", firstLife, 1, 0, []int{1}, engine.Applied)
		s.expect("node 0", elsewhere, 1, 0, []int{0}, engine.Applied)
		s.expect("nothing", elsewhere, 2, 0, nil)
	}},
	{"a hundred batches", plain, func(c *client) {
		// Whatever a store forgets and when: the latest are remembered.
		s := newSender(c, 100)
		for i := range 100 {
			seq := uint64(i + 1)
			s.expect("in turn", firstLife, seq, uint64(max(0, i-2)), []int{i}, engine.Applied)
			s.expect("again", firstLife, seq, uint64(max(0, i-2)), []int{i}, engine.Applied.Again())
			if i > 0 {
				s.expect("the one before", firstLife, seq-1, 0, []int{i - 1}, engine.Applied.Again())
			}
		}
		s.expect("long ago", firstLife, 3, 0, []int{2}, engine.Applied.Again())
	}},
	{"forty batches that settle all before them", plain, func(c *client) {
		// As an engine of one call at a time sends them: of each, the copy that comes next must be known.
		s := newSender(c, 40)
		for i := range 40 {
			seq := uint64(i + 1)
			s.expect("in turn", firstLife, seq, seq-1, []int{i}, engine.Applied)
			s.expect("again", firstLife, seq, seq-1, []int{i}, engine.Applied.Again())
		}
	}},
}
