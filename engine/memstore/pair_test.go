package memstore

import (
	"errors"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/unfinished"
)

// TestAgainstModel plays random calls on the store and on the model and compares
// every answer. Times and delays are small, so that many are equal.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(lives) {
		p := newPair(seed, nil)
		p.play(t, steps)
	}
}

// TestAgainstModelDrawn compares the store with the model under calls drawn by rapid: fewer than
// TestAgainstModel, but a difference is shrunk to the fewest calls.
func TestAgainstModelDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(0, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "roll") })
		p.play(t, rapid.IntRange(1, steps).Draw(t, "steps"))
	})
}

func (p *pair) play(t fatal, steps int) {
	actions := []func(fatal){p.wait, p.wait, p.enqueue, p.enqueue, p.claim, p.claim, p.claim, p.commit, p.commit, p.extend, p.recover,
		p.promote, p.lead, p.extendNode, p.read, p.lose, p.redrive, p.takeDue, p.insert}
	for p.step = range steps {
		actions[p.roll(len(actions))](t)
		p.check(t)
	}
}

// How many stores there are, and how many calls each gets.
const (
	lives = 600 / slowdown
	steps = 100
)

// roll returns a number below n.
func (p *pair) roll(n int) int {
	if p.draw != nil {
		return p.draw(n)
	}
	p.rolls++
	return int(keyed.Rand{Seed: p.seed}.Uniform(keyed.ForChaos, p.rolls, 0, 0) * float64(n))
}

// between returns a number in [least, most].
func (p *pair) between(least, most int) int { return least + p.roll(most-least+1) }

func (p *pair) duration(least, most int) time.Duration { return time.Duration(p.between(least, most)) }

// pair is a store and its model.
type pair struct {
	s       *Store
	m       *model
	leases  []engine.Lease // all that were ever granted, the latest last
	batches []engine.Batch
	seq     map[engine.EngineID]uint64
	taken   []engine.JobID // jobs taken by TakeDue
	plain   int            // claims that ask for no order by tenant or time
	serials int            // keys
	crowd   int            // most jobs enqueued at one time
	seed    uint64         // seed of rolls
	draw    func(int) int  // draws rolls; nil: from seed
	step    int
	rolls   uint64
	next    engine.JobID
	ascends bool // IDs ascend, in three series, so that the store may do without its hash table of them
}

func newPair(seed uint64, draw func(int) int) *pair {
	p := &pair{seq: map[engine.EngineID]uint64{}, seed: seed, draw: draw}
	p.m = &model{jobs: map[engine.JobID]*modelJob{}, answers: map[int32]*modelMemory{}, leaders: map[engine.Op]leader{}, o: engine.StoreOptions{
		Fence: engine.Fence(p.between(0, 3)), Place: engine.Place(p.between(0, 4)),
		Promoted: p.roll(2) == 0, LapseAfter: time.Duration(p.between(-1, 3)),
		Orphans: p.roll(2) == 0, KeepDead: p.roll(2) == 0, CountAhead: true,
		Held: p.between(0, 3) == 0, RecoveriesWithin: max(0, p.duration(-10, 20)),
		MaxInFlight: max(0, p.between(-10, 10)), CountUnacked: p.between(0, 3) == 0}}
	if p.between(0, 2) == 0 {
		for range p.between(1, 3) {
			p.m.o.MaxRunning = append(p.m.o.MaxRunning, p.between(0, 5))
		}
	}
	for range p.between(0, 3) {
		p.m.o.Service = append(p.m.o.Service, p.duration(1, 9))
	}
	// Structures are built when they are first asked for: early or late.
	p.plain = p.between(0, 20)
	p.serials, p.crowd, p.ascends = p.between(0, 2), p.between(1, 12), p.roll(2) == 0
	p.s = NewSingle(func() engine.Time { return p.m.at }, p.m.o)
	p.m.o = p.m.o.Complete()
	return p
}

func (p *pair) same(t fatal, what string, want, got any) {
	t.Helper()
	if d := diff.Diff(want, got, diff.AllowUnexported(leader{}), ignoreRefs); d != "" {
		t.Fatalf("seed %d, step %d: %s (-model +store):\n%s", p.seed, p.step, what, d)
	}
}

func (p *pair) check(t fatal) {
	check(t, p.s)
	if p.m.o.Promoted || p.roll(2) == 0 { // looking makes due jobs ready: not always
		got, err := p.s.Stats(background, 0)
		p.same(t, "stats", p.m.stats(), got)
		p.same(t, "error", nil, err)
	}
	p.same(t, "passed", p.m.passed, p.s.Passed())
	live := 0
	for _, j := range p.m.jobs {
		if j.live() {
			live++
		}
	}
	p.same(t, "live", live, p.s.Live())
	p.same(t, "next due", p.m.nextDue(), p.s.NextDue())
	if p.between(0, 3) == 0 {
		var want []engine.Promotion
		if !p.m.o.Promoted {
			want = p.m.promoteDue()
		}
		p.same(t, "promoted", want, p.s.PromoteDue(nil))
	}
	if p.between(0, 5) == 0 {
		p.each(t)
	}
}

func (p *pair) each(t fatal) {
	p.m.catchUp()
	got := map[engine.JobID]unfinished.Job{}
	for u := range p.s.Each {
		if _, twice := got[u.ID]; twice {
			t.Fatalf("seed %d, step %d: job %d is there twice", p.seed, p.step, u.ID)
		}
		got[u.ID] = u
	}
	want := map[engine.JobID]unfinished.Job{}
	for id, j := range p.m.jobs {
		if !j.live() {
			continue
		}
		u := unfinished.Job{ID: id, Kind: j.Kind, Tenant: j.Tenant, State: j.state, Class: j.class(),
			Age: p.m.at.Sub(j.enqueued), Delivery: j.Delivery, Charged: j.Charged}
		if j.state != engine.InFlight {
			u.Waited = max(p.m.at.Sub(j.due), 0)
		}
		want[id] = u
	}
	p.same(t, "unfinished", want, got)
}

func (p *pair) anEngine() engine.EngineID {
	return engine.NewEngineID(int32(p.between(0, 1)), uint32(p.between(0, 1)))
}

func (p *pair) enqueue(t fatal) {
	var jobs []engine.NewJob
	for range p.between(1, p.crowd) {
		p.next++
		j := engine.NewJob{ID: p.id(p.next), Kind: engine.Kind(p.roll(3)), Priority: int16(p.roll(3) - 1),
			Tenant: engine.TenantID(p.roll(4)), Delay: time.Duration(max(0, p.roll(17)-8))}
		if p.roll(30) == 0 {
			j.ID = p.id(engine.JobID(1 + p.roll(int(p.next))))
		}
		if p.roll(3) == 0 {
			j.Serial = uint32(p.roll(p.serials + 1))
		}
		if p.roll(4) == 0 {
			j.Payload = []byte{byte(p.next)}
		}
		jobs = append(jobs, j)
	}
	want := p.m.enqueue(jobs)
	err := p.s.Enqueue(background, jobs)
	p.same(t, "enqueued", want, err == nil)
	p.same(t, "duplicate", !want, errors.Is(err, engine.ErrDuplicate))
}

// id returns the ID of job number n.
func (p *pair) id(n engine.JobID) engine.JobID {
	if p.ascends {
		return n%3<<(64-seriesBits) + n
	}
	return n * 7919 % 10007
}

func (p *pair) wait(fatal) {
	by := engine.Time(p.between(1, 6))
	if p.roll(8) == 0 {
		by = engine.Time(1+p.roll(400)) * 1e9
	}
	p.m.at += by
}

func (p *pair) aTerm() engine.Term {
	term := engine.Term{Class: engine.AnyClass, Order: engine.Order(p.roll(2)), Limit: p.roll(5)}
	if p.roll(2) == 0 {
		term.Class, term.Kinds = engine.Class(p.roll(3)), engine.Kinds(p.roll(8))
	}
	if p.plain > 0 || p.roll(3) == 0 {
		return term
	}
	// What only this store has.
	term.Order = engine.Order(p.roll(int(engine.TenantFair) + 1))
	term.Rule = &engine.Rule{Every: time.Duration(1 + p.roll(9)), Cap: int64(max(0, p.roll(7)-3)),
		Quantum: 1 + int64(p.roll(12)), PerJob: p.roll(3) == 0,
		ShareNum: int64(p.roll(5)), ShareDen: 4, AtLeast: p.roll(5)}
	if term.Order == engine.TenantDeficit && len(p.m.o.Service) == 0 {
		term.Rule.Quantum *= 1e8 // a second is what a job costs: the model goes round for each quantum
	}
	for range p.roll(4) {
		term.Rule.Budgets = append(term.Rule.Budgets, time.Duration(p.roll(20)))
	}
	term.Tenant = engine.TenantID(max(0, p.roll(12)-8))
	if term.Order <= engine.NewestReady {
		term.PerTenant = max(0, p.roll(6)-3)
	}
	if term.Order == engine.OldestReady {
		term.MaxWait, term.Shed = time.Duration(max(0, p.roll(16)-4)), int32(1000*p.roll(2))
	}
	return term
}

func (p *pair) claim(t fatal) {
	p.plain--
	plan := engine.Plan{Limit: p.roll(7)}
	for range p.roll(4) {
		plan.Terms = append(plan.Terms, p.aTerm())
	}
	holder, ttl := p.anEngine(), p.duration(1, 9)
	want, wantNext := p.m.claim(holder, plan, ttl)
	got, next, err := p.s.Claim(background, holder, plan, ttl, nil)
	p.same(t, "claimed", want, got)
	p.same(t, "next due", wantNext, next)
	p.same(t, "error", nil, err)
	for i := range got {
		if !got[i].Shed {
			p.leases = append(p.leases, got[i])
		}
	}
}

// key names some lease: one of the latest mostly.
func (p *pair) key() engine.LeaseKey {
	if len(p.leases) == 0 {
		return engine.LeaseKey{Job: 1, Token: 1}
	}
	back := min(1+p.roll(25), len(p.leases))
	return p.leases[len(p.leases)-back].Key()
}

func (p *pair) commit(t fatal) {
	var b engine.Batch
	if len(p.batches) > 0 && p.between(0, 3) == 0 {
		b = p.batches[len(p.batches)-min(p.between(1, 6), len(p.batches))]
		b.Outcomes = slices.Clone(b.Outcomes)
		for i := range b.Outcomes {
			b.Outcomes[i].Refused = false
		}
	} else {
		e := p.anEngine()
		p.seq[e]++
		b.ID = engine.BatchID{Engine: e, Seq: p.seq[e]}
		b.Settled = p.seq[e] - min(p.seq[e], uint64(p.between(1, 4)))
		for range p.between(1, 4) {
			b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: p.key(), Verb: engine.Verb(1 + p.roll(6)), Delay: p.duration(0, 5),
				Stand: engine.Place(p.between(0, 4)), Guard: engine.Fence(max(0, p.between(-8, 3))),
				Refused: p.between(0, 9) == 0, Passed: p.duration(0, 3)})
		}
		p.batches = append(p.batches, b)
	}
	got, err := p.s.Commit(background, b, nil)
	p.same(t, "committed", p.m.commit(b), got)
	p.same(t, "error", nil, err)
}

func (p *pair) extend(t fatal) {
	var keys []engine.LeaseKey
	for range p.between(1, 4) {
		keys = append(keys, p.key())
	}
	ttl := p.duration(1, 9)
	got, err := p.s.ExtendLease(background, keys, ttl, nil)
	p.same(t, "extended", p.m.extend(keys, ttl), got)
	p.same(t, "error", nil, err)
}

func (p *pair) recover(t fatal) {
	holder, limit, grace, ttl := p.anEngine(), p.between(0, 4), p.duration(0, 3), p.duration(1, 9)
	got, next, err := p.s.Recover(background, holder, limit, grace, ttl, nil)
	want, wantNext := p.m.recover(holder, limit, grace, ttl)
	p.same(t, "recovered", want, got)
	p.same(t, "next expiry", wantNext, next)
	p.same(t, "error", nil, err)
	p.leases = append(p.leases, got...)
}

func (p *pair) promote(t fatal) {
	limit, order := p.between(0, 4), engine.Order(p.between(0, 1))
	got, err := p.s.Promote(background, limit, order, nil)
	p.same(t, "promoted", p.m.promote(limit, order), got)
	p.same(t, "error", nil, err)
}

func (p *pair) lead(t fatal) {
	role, e, ttl := [...]engine.Op{engine.OpRecover, engine.OpPromote}[p.between(0, 1)], p.anEngine(), p.duration(1, 9)
	got, err := p.s.Lead(background, role, e, ttl)
	p.same(t, "leads", p.m.lead(role, e, ttl), got)
	p.same(t, "error", nil, err)
}

func (p *pair) extendNode(t fatal) {
	holder, kept, ttl := p.anEngine(), p.roll(2) == 0, p.duration(1, 9)
	got, err := p.s.ExtendNode(background, holder, kept, ttl)
	p.same(t, "extended", p.m.extendNode(holder, kept, ttl), got)
	p.same(t, "error", nil, err)
}

func (p *pair) read(t fatal) {
	limit, grace := p.between(0, 4), p.duration(-2, 3)
	got, next, err := p.s.Expired(background, limit, grace, nil)
	want, wantNext := p.m.read(limit, grace)
	p.same(t, "expired", want, got)
	p.same(t, "next expiry", wantNext, next)
	p.same(t, "error", nil, err)
	p.leases = append(p.leases, got...)
}

// some returns a random choice among jobs, and the jobs it was called for.
func (p *pair) some() (choose func(engine.JobID) bool, asked *[]engine.JobID) {
	every, rest := p.between(1, 3), p.between(0, 2)
	asked = new([]engine.JobID)
	return func(id engine.JobID) bool {
		*asked = append(*asked, id)
		return int(id)%every == rest
	}, asked
}

func (p *pair) lose(t fatal) {
	choose, asked := p.some()
	want := p.m.lose(choose)
	wantAsked := slices.Clone(*asked)
	*asked = (*asked)[:0]
	p.same(t, "lost", want, p.s.LoseLeases(choose, nil))
	p.same(t, "asked for", wantAsked, slices.Clone(*asked))
}

func (p *pair) redrive(t fatal) {
	reset := p.roll(2) == 0
	choose, asked := p.some()
	want := p.m.redrive(choose, reset)
	wantAsked := slices.Clone(*asked)
	*asked = (*asked)[:0]
	p.same(t, "redriven", want, p.s.Redrive(choose, reset, nil))
	p.same(t, "asked for", wantAsked, slices.Clone(*asked))
}

func (p *pair) takeDue(t fatal) {
	limit, order := p.between(0, 3), engine.Order(p.between(0, 1))
	got, err := p.s.TakeDue(background, limit, order, nil)
	p.same(t, "taken", p.m.takeDue(limit, order), got)
	p.same(t, "error", nil, err)
	for _, g := range got {
		p.taken = append(p.taken, g.Job)
	}
}

// insert inserts some of the taken jobs, a few of them twice, and one that was not taken.
func (p *pair) insert(t fatal) {
	var ids []engine.JobID
	for range min(len(p.taken), p.between(0, 4)) {
		ids = append(ids, p.taken[p.roll(len(p.taken))])
	}
	ids = append(ids, engine.JobID(1+p.roll(int(p.next)+1))*7919%10007)
	got, err := p.s.Insert(background, ids, nil)
	p.same(t, "inserted", p.m.insert(ids), got)
	p.same(t, "error", nil, err)
}

// ignoreRefs compares leases without the store's own handles.
var ignoreRefs = cmpopts.IgnoreFields(engine.Lease{}, "Ref")
