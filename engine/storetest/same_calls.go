package storetest

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
)

// commit sends the same random batch of outcomes to both stores, also for leases that ended long ago.
func (p *pair) commit() {
	e := p.engineID()
	p.seq[e]++
	seq := p.seq[e]
	settled := p.settled[e]
	if p.roll(2) == 0 {
		settled = seq - 1 - uint64(p.roll(int(min(seq-1-settled, 3))+1))
		p.settled[e] = settled
	}
	var b pairBatch
	for i := range b {
		b[i] = engine.Batch{ID: engine.BatchID{Engine: e, Seq: seq}, Settled: settled}
	}
	least := p.roll(2)
	for range p.between(1, 6) {
		l, ok := p.lease()
		if !ok {
			return
		}
		o := engine.Outcome{Verb: engine.Verb(p.between(int(engine.Ack), int(engine.Snooze))), Delay: p.duration(least, 12)}
		if least == 0 && slices.ContainsFunc(b[0].Outcomes, func(o engine.Outcome) bool { return o.Job == l[0].ID }) {
			// A job that is due at once, named twice in a batch: whether it is ready in between is left open.
			continue
		}
		if p.roll(3) == 0 {
			o.Stand, o.Passed = engine.Place(p.roll(5)), p.duration(0, 5)
		}
		for i := range b {
			o.LeaseKey = l[i].Key()
			b[i].Outcomes = append(b[i].Outcomes, o)
		}
	}
	p.batches = append(p.batches, b)
	p.send(b)
}

// commitAgain sends an earlier batch once more to both stores, mostly one of the latest.
func (p *pair) commitAgain() {
	if n := len(p.batches); n > 0 {
		p.send(p.batches[n-1-p.roll(min(n, 6))])
	}
}

// send commits a batch to both stores and compares the results. If the engine has had an answer to the batch before and
// said so, stale counts as applied: a store may have forgotten by now which outcomes were stale.
func (p *pair) send(b pairBatch) {
	id := b[0].ID
	p.both("committed", func(s engine.Store, i int) (any, error) {
		r, err := s.Commit(p.Context(), b[i], nil)
		for k := range r {
			if r[k].Status == engine.Stale.Again() && id.Seq <= p.settled[id.Engine] {
				r[k].Status = engine.Applied.Again()
			}
		}
		return r, err
	})
}

// recover recovers all expired leases in both stores, and compares them in the order of job IDs, since any of several
// leases that expire at one time may come first.
func (p *pair) recover() {
	holder, ttl, grace := p.engineID(), p.duration(1, 15), p.duration(0, 2)
	if p.options.LapseAfter >= 0 {
		grace = p.options.LapseAfter
	}
	var got [2][]engine.Lease
	p.both("recovered", func(s engine.Store, i int) (any, error) {
		l, next, err := s.Recover(p.Context(), holder, 1000, grace, ttl, nil)
		slices.SortFunc(l, func(a, b engine.Lease) int { return cmp.Compare(a.ID, b.ID) })
		got[i] = l
		return struct {
			Leases []engine.Lease
			Next   time.Duration
		}{withoutTokens(l), next}, err
	})
	p.keep(got)
}

// promote makes all due jobs ready in both stores, and compares them, sorted by ID.
func (p *pair) promote() {
	order := engine.Order(p.roll(2))
	p.both("promoted", func(s engine.Store, _ int) (any, error) {
		out, err := s.Promote(p.Context(), 1000, order, nil)
		slices.SortFunc(out, func(a, b engine.Promotion) int { return cmp.Compare(a.Job, b.Job) })
		return out, err
	})
}

func (p *pair) lead() {
	role, e, ttl := [...]engine.Op{engine.OpRecover, engine.OpPromote}[p.roll(2)], p.engineID(), p.duration(1, 15)
	p.both("leads", func(s engine.Store, _ int) (any, error) { return s.Lead(p.Context(), role, e, ttl) })
}

// redrive asks both stores to make the same random job ready again, if it is dead, and compares the answers.
func (p *pair) redrive() {
	if p.next == 0 || p.stores[0].Redrive == nil || p.stores[1].Redrive == nil {
		return
	}
	id, reset := engine.JobID(1+p.roll(int(p.next))), p.roll(2) == 0
	p.both("revived", func(_ engine.Store, i int) (any, error) { return p.stores[i].Redrive([]engine.JobID{id}, reset) })
}
