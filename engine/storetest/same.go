package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
)

// Lives sets how many random tests Same makes, from which seed, and how long each is.
type Lives struct {
	Seed  uint64 // first seed; the others follow it
	Count int    // number of seeds, each with other options, jobs and calls
	Calls int    // number of calls for each seed
}

// Same makes the same random calls on two stores and fails the test at the first answer that differs: leases with all
// fields, results, leases held, jobs promoted or counted, and the time until the next job. Tokens may differ. Both
// stores need clocks that can be moved. Options that the subject lacks are left out; a failure names its seed.
func Same(t *testing.T, lives Lives, reference, subject Open) {
	for i := range lives.Count {
		seed := lives.Seed + uint64(i)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			p := newPair(t, seed, reference, subject)
			actions := []func(){p.pass, p.pass, p.enqueue, p.enqueue, p.claim, p.claim, p.claim, p.commit, p.commit,
				p.commitAgain, p.extend, p.recover, p.promote, p.lead, p.extendNode, p.redrive}
			for p.step = range lives.Calls {
				actions[p.roll(len(actions))]()
				p.compareCounts()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// pair is the state of a random test: two stores that get the same calls, and the leases and batches so far.
type pair struct {
	*testing.T
	options engine.StoreOptions
	stores  [2]Subject        // reference and subject
	leases  [][2]engine.Lease // all that were ever granted, the latest last
	batches []pairBatch       // all that were ever sent, the latest last
	seq     map[engine.EngineID]uint64
	settled map[engine.EngineID]uint64
	orders  bool // plans use all orders that stores may refuse
	serials int  // number of serial keys of jobs
	seed    uint64
	rolls   uint64 // random numbers drawn so far
	step    int
	next    engine.JobID
}

// pairBatch is one commit batch in two versions, one for each store: they differ in fencing tokens.
type pairBatch [2]engine.Batch

func newPair(t *testing.T, seed uint64, reference, subject Open) *pair {
	p := &pair{T: t, seed: seed, seq: map[engine.EngineID]uint64{}, settled: map[engine.EngineID]uint64{}}
	o := engine.StoreOptions{Fence: engine.FenceToken + engine.Fence(p.roll(3)),
		Place: engine.PlaceHead + engine.Place(p.roll(4)), Promoted: p.roll(2) == 0, LapseAfter: -1,
		KeepDead: p.roll(2) == 0, Held: p.roll(6) == 0, RecoveriesWithin: max(0, p.duration(-20, 30))}
	if p.roll(2) == 0 {
		o.LapseAfter = p.duration(0, 3)
	}
	p.options, p.orders, p.serials = o, p.roll(3) == 0, p.roll(3)
	for i, open := range []Open{reference, subject} {
		s, err := open(t, o)
		switch {
		case errors.Is(err, engine.ErrUnsupported):
			t.Skipf("not offered by this store: %v", err)
		case err != nil:
			t.Fatal(err)
		case s.Advance == nil:
			t.Fatal("a store's clock cannot be moved")
		}
		p.stores[i] = s
	}
	return p
}

// roll returns a random number in [0, n).
func (p *pair) roll(n int) int {
	p.rolls++
	return int(keyed.Rand{Seed: p.seed}.Uniform(keyed.ForChaos, p.rolls, 0, 0) * float64(n))
}

// between returns a random number in [least, most].
func (p *pair) between(least, most int) int { return least + p.roll(most-least+1) }

// duration returns a random whole number of microseconds in [least, most]: so few values that expiries often coincide.
func (p *pair) duration(least, most int) time.Duration {
	return time.Duration(p.between(least, most)) * time.Microsecond
}

// both makes a call (ask) on each of the two stores and fails the test if results, or kinds of errors, differ.
func (p *pair) both(what string, ask func(s engine.Store, i int) (any, error)) {
	p.Helper()
	var answers [2]string
	for i := range p.stores {
		answer, err := ask(p.stores[i].Store, i)
		answers[i] = fmt.Sprintf("%+v", answer)
		if err != nil {
			twice, unsupported := errors.Is(err, engine.ErrDuplicate), errors.Is(err, engine.ErrUnsupported)
			answers[i] = fmt.Sprintf("an error (a duplicate: %v, unsupported: %v)", twice, unsupported)
			if !twice {
				p.Logf("store %d: %v", i, err)
			}
		}
	}
	if answers[0] != answers[1] {
		p.Fatalf("seed %d, step %d, %+v: %s:\nreference: %s\n  subject: %s",
			p.seed, p.step, p.options, what, answers[0], answers[1])
	}
}

// pass advances both clocks by a few microseconds, and makes a claim of no jobs after each: a store need not see a job
// become ready, or a lease lapse, before it is called.
func (p *pair) pass() {
	for range p.between(1, 5) {
		for i := range p.stores {
			p.stores[i].Advance(time.Microsecond)
		}
		p.both("nothing claimed", func(s engine.Store, _ int) (any, error) {
			_, next, err := s.Claim(p.Context(), 1, engine.Plan{}, time.Second, nil)
			return next, err
		})
	}
}

func (p *pair) enqueue() {
	var jobs []engine.NewJob
	for range p.between(1, 8) {
		p.next++
		j := engine.NewJob{ID: p.next, Kind: engine.Kind(p.roll(4)), Priority: int16(p.between(-1, 1)),
			Tenant: engine.TenantID(p.roll(4))}
		switch p.roll(8) {
		case 0, 1:
			j.Delay = p.duration(0, 12)
		case 2:
			j.Payload = []byte{byte(p.next)}
		case 3:
			if p.serials > 0 {
				j.Serial = uint32(1 + p.roll(p.serials))
			}
		case 4:
			if p.roll(5) == 0 {
				j.ID = engine.JobID(1 + p.roll(int(p.next))) // perhaps live
			}
		}
		jobs = append(jobs, j)
	}
	p.both("enqueued", func(s engine.Store, _ int) (any, error) { return nil, s.Enqueue(p.Context(), jobs) })
}

// term returns a random term of a claim's plan (which ready jobs, in what order), mostly one that every store supports.
func (p *pair) term() engine.Term {
	t := engine.Term{Class: engine.Class(p.roll(3)), Order: engine.Order(p.roll(2)), Limit: p.between(0, 4)}
	if p.roll(4) == 0 {
		t.Kinds = engine.Kinds(p.roll(16))
	}
	if !p.orders {
		return t
	}
	switch p.roll(6) {
	case 0:
		t.Order = engine.OldestOfAny
	case 1:
		t.Tenant = engine.TenantID(1 + p.roll(3))
	case 2:
		t.PerTenant = p.between(1, 2)
	case 3:
		t.Order, t.MaxWait = engine.OldestReady, p.duration(1, 20)
		if p.serials == 0 { // whether a burial frees the next of its key for the same claim is left open
			t.Shed = int32(1000 * p.roll(2))
		}
	}
	return t
}

// engineID returns the ID of one of three engines at random: of node 1 before or after a restart, or of node 2.
func (p *pair) engineID() engine.EngineID {
	lives := [...]engine.EngineID{engine.NewEngineID(1, 0), engine.NewEngineID(1, 1), engine.NewEngineID(2, 0)}
	return lives[min(p.roll(6), 2)]
}

func (p *pair) claim() {
	plan := engine.Plan{Limit: p.between(0, 6)}
	for range p.between(0, 3) {
		plan.Terms = append(plan.Terms, p.term())
	}
	holder, ttl := p.engineID(), p.duration(1, 15)
	var got [2][]engine.Lease
	p.both(fmt.Sprintf("claimed by %+v", plan), func(s engine.Store, i int) (any, error) {
		l, next, err := s.Claim(p.Context(), holder, plan, ttl, nil)
		got[i] = l
		return struct {
			Leases []engine.Lease
			Next   time.Duration
		}{withoutTokens(l), next}, err
	})
	p.keep(got)
}

// keep adds the leases granted by both stores to those that later random calls use.
func (p *pair) keep(got [2][]engine.Lease) {
	for k := range got[0] {
		if !got[0][k].Shed {
			p.leases = append(p.leases, [2]engine.Lease{got[0][k], got[1][k]})
		}
	}
}

func withoutTokens(l []engine.Lease) []engine.Lease {
	out := slices.Clone(l)
	for i := range out {
		out[i].Token, out[i].Ref = 0, 0
	}
	return out
}

// lease returns a random lease of each store for the same job, mostly one of the latest; ok is false if there is none.
func (p *pair) lease() (l [2]engine.Lease, ok bool) {
	n := len(p.leases)
	if n == 0 {
		return l, false
	}
	if p.roll(4) > 0 {
		return p.leases[n-1-p.roll(min(n, 10))], true
	}
	return p.leases[p.roll(n)], true
}

func (p *pair) extend() {
	var keys [2][]engine.LeaseKey
	for range p.between(1, 5) {
		if l, ok := p.lease(); ok {
			keys[0], keys[1] = append(keys[0], l[0].Key()), append(keys[1], l[1].Key())
		}
	}
	ttl := p.duration(1, 15)
	p.both("extended", func(s engine.Store, i int) (any, error) { return s.ExtendLease(p.Context(), keys[i], ttl, nil) })
}

func (p *pair) extendNode() {
	holder, kept, ttl := p.engineID(), p.roll(2) == 0, p.duration(1, 15)
	p.both("extended a node",
		func(s engine.Store, _ int) (any, error) { return s.ExtendNode(p.Context(), holder, kept, ttl) })
}

func (p *pair) compareCounts() {
	p.both("stats", func(s engine.Store, _ int) (any, error) {
		st, err := s.Stats(p.Context(), 0)
		st.OldestReady = [engine.NumClasses]time.Duration{} // exact in stories only
		return st, err
	})
}
