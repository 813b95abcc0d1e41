package memstore

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"qsim/engine"
)

// model is a store without structures: every question looks at all jobs.
type model struct {
	at      engine.Time
	o       engine.StoreOptions
	jobs    map[engine.JobID]*modelJob
	dead    int
	turn    int // numbers leases and moves, to keep the order of equal times
	answers map[int32]*modelMemory
	leaders map[engine.Role]leader
}

type modelJob struct {
	engine.Job
	token                engine.Token
	holder               engine.EngineID
	enqueued, due, key   engine.Time
	expiry               engine.Time
	turn                 int
	state                engine.State
	retry, lapsed, moved bool // moved: due and found so by Promote
}

type modelMemory struct {
	engine  engine.EngineID
	settled uint64
	results map[uint64][]engine.Result
}

// matching returns the jobs that match, in order.
func (m *model) matching(match func(j *modelJob) bool, order func(a, b *modelJob) int) []*modelJob {
	var out []*modelJob
	for _, j := range m.jobs {
		if match(j) {
			out = append(out, j)
		}
	}
	slices.SortFunc(out, func(a, b *modelJob) int { return cmp.Or(order(a, b), cmp.Compare(a.ID, b.ID)) })
	return out
}

func byExpiry(a, b *modelJob) int {
	return cmp.Or(cmp.Compare(a.expiry, b.expiry), cmp.Compare(a.turn, b.turn))
}
func byDue(a, b *modelJob) int  { return cmp.Compare(a.due, b.due) }
func byTurn(a, b *modelJob) int { return cmp.Compare(a.turn, b.turn) }

// catchUp does what is due by now.
func (m *model) catchUp() {
	if m.o.LapseAfter >= 0 {
		for _, j := range m.matching(func(j *modelJob) bool { return j.held() && j.expiry.Add(m.o.LapseAfter) <= m.at }, byExpiry) {
			j.token++
			j.lapsed = true
			m.stamp(j)
		}
	}
	if !m.o.Promoted {
		m.promoteDue()
	}
}

func (j *modelJob) held() bool { return j.state == engine.InFlight && !j.lapsed }

func (m *model) stamp(j *modelJob) { m.turn++; j.turn = m.turn }

func (m *model) promoteDue() []engine.Promotion {
	var out []engine.Promotion
	for _, j := range m.matching(func(j *modelJob) bool { return j.state == engine.Waiting && j.due <= m.at }, byDue) {
		m.ready(j, j.due)
		out = append(out, j.promotion())
	}
	return out
}

func (j *modelJob) class() engine.Class {
	if j.retry {
		return engine.Retry
	}
	return engine.Fresh
}

func (j *modelJob) promotion() engine.Promotion {
	return engine.Promotion{Job: j.ID, Kind: j.Kind, Tenant: j.Tenant, Class: j.class()}
}

func (m *model) ready(j *modelJob, due engine.Time) {
	j.state, j.due, j.moved, j.lapsed = engine.Ready, due, false, false
	j.key = map[engine.Place]engine.Time{engine.PlaceDue: due, engine.PlaceTail: m.at, engine.PlaceCreated: j.enqueued, engine.PlaceHead: due}[m.o.Place]
	switch {
	case !j.retry:
		j.key = due
	case m.o.Place == engine.PlaceHead:
		j.key = due - 1<<60
	}
}

func (m *model) enqueue(jobs []engine.NewJob) bool {
	m.catchUp()
	seen := map[engine.JobID]bool{}
	for _, n := range jobs {
		if m.jobs[n.ID] != nil || seen[n.ID] {
			return false
		}
		seen[n.ID] = true
	}
	for _, n := range jobs {
		j := &modelJob{Job: engine.Job{ID: n.ID, Kind: n.Kind, Priority: n.Priority, Tenant: n.Tenant}, enqueued: m.at}
		m.jobs[n.ID] = j
		if n.Delay > 0 {
			j.state, j.due = engine.Waiting, m.at.Add(n.Delay)
		} else {
			m.ready(j, m.at)
		}
	}
	return true
}

func (m *model) claim(holder engine.EngineID, p engine.Plan, ttl time.Duration) ([]engine.Lease, time.Duration) {
	m.catchUp()
	var out []engine.Lease
	for _, t := range p.Terms {
		line := m.matching(func(j *modelJob) bool {
			return j.state == engine.Ready && t.Kinds.Has(j.Kind) && (t.Class == engine.AnyClass || t.Class == j.class())
		}, func(a, b *modelJob) int {
			byKey := cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.ID, b.ID))
			if t.Order == engine.NewestReady {
				byKey = -byKey
			}
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), byKey)
		})
		for _, j := range line[:min(len(line), max(0, t.Limit), p.Limit-len(out))] {
			j.retry = j.Delivery > 0
			j.Delivery++
			j.Charged++
			out = append(out, m.lend(j, holder, 0, ttl))
		}
	}
	next := engine.Forever
	if due := m.nextDue(); due != engine.Never {
		next = due.Sub(m.at)
	}
	return out, next
}

func (m *model) nextDue() engine.Time {
	waiting := m.matching(func(j *modelJob) bool { return j.state == engine.Waiting }, byDue)
	if m.o.Promoted || len(waiting) == 0 {
		return engine.Never
	}
	return waiting[0].due
}

func (m *model) lend(j *modelJob, holder, before engine.EngineID, ttl time.Duration) engine.Lease {
	j.token++
	j.state, j.holder, j.expiry, j.lapsed = engine.InFlight, holder, m.at.Add(ttl), false
	m.stamp(j)
	l := engine.Lease{Job: j.Job, Token: j.token, Holder: before}
	l.Waited, l.Age = m.at.Sub(j.due), m.at.Sub(j.enqueued)
	return l
}

// may returns the job that a holder of k may change, or nil.
func (m *model) may(k engine.LeaseKey) *modelJob {
	j := m.jobs[k.Job]
	if j == nil || m.o.Fence != engine.FenceNone && j.state != engine.InFlight || m.o.Fence == engine.FenceToken && j.token != k.Token {
		return nil
	}
	return j
}

func (m *model) commit(b engine.Batch) []engine.Result {
	m.catchUp()
	node := b.ID.Engine.Node()
	memory := m.answers[node]
	if memory == nil || memory.engine.Generation() < b.ID.Engine.Generation() {
		memory = &modelMemory{engine: b.ID.Engine, results: map[uint64][]engine.Result{}}
		m.answers[node] = memory
	}
	ours := memory.engine == b.ID.Engine
	var out []engine.Result
	if ours {
		memory.settled = max(memory.settled, b.Settled)
		before, ok := memory.results[b.ID.Seq]
		if b.ID.Seq <= memory.settled {
			before, ok = make([]engine.Result, len(b.Outcomes)), true
		}
		if ok {
			for _, r := range before {
				status := engine.Repeated
				if r.Status == engine.Stale {
					status = engine.RepeatedStale
				}
				out = append(out, engine.Result{Status: status})
			}
			return out
		}
	}
	for i := range b.Outcomes {
		out = append(out, m.apply(&b.Outcomes[i]))
	}
	if ours {
		memory.results[b.ID.Seq] = out
	}
	return out
}

func (m *model) apply(o *engine.Outcome) engine.Result {
	j := m.may(o.LeaseKey)
	if j == nil {
		return engine.Result{Status: engine.Stale}
	}
	r := engine.Result{Status: engine.Applied, From: j.state, Class: j.class(), Age: m.at.Sub(j.enqueued)}
	j.retry, j.lapsed, j.moved = j.Delivery > 0, false, false
	switch o.Verb {
	case engine.Bury:
		m.dead++
		delete(m.jobs, j.ID)
	case engine.Ack:
		delete(m.jobs, j.ID)
	case engine.Nack:
		j.Failures++
		j.LastDelay = o.Delay
		j.state, j.due = engine.Waiting, m.at.Add(o.Delay)
	case engine.Return:
		j.Charged--
		m.ready(j, m.at)
	}
	return r
}

func (m *model) extend(keys []engine.LeaseKey, ttl time.Duration) []bool {
	m.catchUp()
	var out []bool
	for _, k := range keys {
		j := m.may(k)
		held := j != nil && j.held()
		if held {
			j.expiry = m.at.Add(ttl)
			m.stamp(j)
		}
		out = append(out, held)
	}
	return out
}

func (m *model) recover(holder engine.EngineID, limit int, grace, ttl time.Duration) ([]engine.Lease, time.Duration) {
	m.catchUp()
	take := m.matching(func(j *modelJob) bool { return j.lapsed }, byTurn)
	take = append(take, m.matching(func(j *modelJob) bool { return j.held() && j.expiry.Add(grace) <= m.at }, byExpiry)...)
	var out []engine.Lease
	for _, j := range take[:min(len(take), limit)] {
		out = append(out, m.lend(j, holder, j.holder, ttl))
	}
	next := engine.Forever
	for _, j := range m.jobs {
		if j.lapsed {
			next = 0
		} else if j.held() {
			next = min(next, max(0, j.expiry.Add(grace).Sub(m.at)))
		}
	}
	return out, next
}

func (m *model) promote(limit int, order engine.Order) []engine.Promotion {
	m.catchUp()
	if m.o.Promoted {
		for _, j := range m.matching(func(j *modelJob) bool { return j.state == engine.Waiting && !j.moved && j.due <= m.at }, byDue) {
			j.moved = true
			m.stamp(j)
		}
	}
	line := m.matching(func(j *modelJob) bool { return j.moved }, byTurn)
	if order == engine.NewestReady {
		slices.Reverse(line)
	}
	var out []engine.Promotion
	for _, j := range line[:min(len(line), limit)] {
		m.ready(j, j.due)
		out = append(out, j.promotion())
	}
	return out
}

func (m *model) stats() engine.Stats {
	m.catchUp()
	s := engine.Stats{Dead: m.dead}
	type line struct {
		class    engine.Class
		priority int16
		kind     engine.Kind
	}
	first := map[line]*modelJob{}
	for _, j := range m.jobs {
		switch j.state {
		case engine.Ready:
			s.Ready[j.class()]++
			at := line{j.class(), j.Priority, j.Kind}
			if f := first[at]; f == nil || cmp.Or(cmp.Compare(j.key, f.key), cmp.Compare(j.ID, f.ID)) < 0 {
				first[at] = j
			}
		case engine.Waiting:
			s.Waiting[j.class()]++
		case engine.InFlight:
			s.InFlight[j.class()]++
		}
	}
	for at, j := range first {
		s.OldestReady[at.class] = max(s.OldestReady[at.class], m.at.Sub(j.due))
	}
	return s
}

func (m *model) lead(role engine.Role, e engine.EngineID, ttl time.Duration) bool {
	m.catchUp()
	l, ok := m.leaders[role]
	if ok && l.engine != e && m.at < l.until {
		return false
	}
	m.leaders[role] = leader{e, true, m.at.Add(ttl)}
	return true
}

// TestAgainstModel plays random calls on the store and on the model and compares
// every answer. Times and delays are small, so that many are equal.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		t.Repeat(map[string]func(*rapid.T){
			"":        p.check,
			"wait":    func(t *rapid.T) { p.m.at += engine.Time(rapid.IntRange(1, 6).Draw(t, "by")) },
			"enqueue": p.enqueue,
			"claim":   p.claim,
			"work":    p.claim, // twice as often
			"commit":  p.commit,
			"settle":  p.commit,
			"extend":  p.extend,
			"recover": p.recover,
			"promote": p.promote,
			"lead":    p.lead,
		})
	})
}

// pair is a store and its model.
type pair struct {
	s       *Store
	m       *model
	leases  []engine.Lease // all that were ever granted, the latest last
	batches []engine.Batch
	seq     map[engine.EngineID]uint64
}

func newPair(t *rapid.T) *pair {
	p := &pair{seq: map[engine.EngineID]uint64{}}
	p.m = &model{jobs: map[engine.JobID]*modelJob{}, answers: map[int32]*modelMemory{}, leaders: map[engine.Role]leader{}, o: engine.StoreOptions{
		Fence: engine.Fence(rapid.IntRange(0, 2).Draw(t, "fence")), Place: engine.Place(rapid.IntRange(0, 3).Draw(t, "place")),
		Promoted: rapid.Bool().Draw(t, "promoted"), LapseAfter: time.Duration(rapid.IntRange(-1, 3).Draw(t, "lapse"))}}
	p.s = NewSingle(func() engine.Time { return p.m.at }, p.m.o)
	return p
}

func same(t *rapid.T, what string, want, got any) {
	t.Helper()
	if d := diff.Diff(want, got, diff.AllowUnexported(leader{})); d != "" {
		t.Fatalf("%s (-model +store):\n%s", what, d)
	}
}

func (p *pair) check(t *rapid.T) {
	check(t, p.s)
	if p.m.o.Promoted || rapid.Bool().Draw(t, "look") { // looking makes due jobs ready: not always
		got, err := p.s.Stats(background, 0)
		same(t, "stats", p.m.stats(), got)
		same(t, "error", nil, err)
	}
	same(t, "live", len(p.m.jobs), p.s.Live())
	same(t, "next due", p.m.nextDue(), p.s.NextDue())
	if rapid.IntRange(0, 3).Draw(t, "due") == 0 {
		var want []engine.Promotion
		if !p.m.o.Promoted {
			want = p.m.promoteDue()
		}
		same(t, "promoted", want, p.s.PromoteDue(nil))
	}
	if rapid.IntRange(0, 5).Draw(t, "each") == 0 {
		p.each(t)
	}
}

func (p *pair) each(t *rapid.T) {
	p.m.catchUp()
	got := map[engine.JobID]Unfinished{}
	for u := range p.s.Each {
		got[u.Job] = u
	}
	want := map[engine.JobID]Unfinished{}
	for id, j := range p.m.jobs {
		u := Unfinished{id, j.Kind, j.Tenant, j.state, j.class(), p.m.at.Sub(j.enqueued), 0}
		if j.state == engine.Ready {
			u.Ready = p.m.at.Sub(j.due)
		}
		want[id] = u
	}
	same(t, "unfinished", want, got)
}

func anEngine(t *rapid.T) engine.EngineID {
	return engine.NewEngineID(rapid.Int32Range(0, 1).Draw(t, "node"), rapid.Uint32Range(0, 1).Draw(t, "generation"))
}

func duration(t *rapid.T, what string, least, most int) time.Duration {
	return time.Duration(rapid.IntRange(least, most).Draw(t, what))
}

func (p *pair) enqueue(t *rapid.T) {
	jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.NewJob {
		return engine.NewJob{ID: rapid.Custom(func(t *rapid.T) engine.JobID { return engine.JobID(rapid.IntRange(1, 60).Draw(t, "n")) }).Draw(t, "id"),
			Kind: engine.Kind(rapid.IntRange(0, 2).Draw(t, "kind")), Priority: rapid.Int16Range(-1, 1).Draw(t, "priority"),
			Tenant: engine.TenantID(rapid.IntRange(0, 1).Draw(t, "tenant")), Delay: max(0, duration(t, "delay", -8, 8))}
	}), 1, 5).Draw(t, "jobs")
	want := p.m.enqueue(jobs)
	err := p.s.Enqueue(background, jobs)
	same(t, "enqueued", want, err == nil)
	same(t, "duplicate", !want, errors.Is(err, engine.ErrDuplicate))
}

func (p *pair) claim(t *rapid.T) {
	plan := engine.Plan{Limit: rapid.IntRange(0, 6).Draw(t, "limit"), Terms: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.Term {
		return engine.Term{Class: engine.Class(rapid.IntRange(0, 2).Draw(t, "class")), Order: engine.Order(rapid.IntRange(0, 1).Draw(t, "order")),
			Kinds: engine.Kinds(rapid.IntRange(0, 7).Draw(t, "kinds")), Limit: rapid.IntRange(0, 5).Draw(t, "limit")}
	}), 0, 3).Draw(t, "terms")}
	holder, ttl := anEngine(t), duration(t, "ttl", 1, 9)
	want, wantNext := p.m.claim(holder, plan, ttl)
	got, next, err := p.s.Claim(background, holder, plan, ttl, nil)
	same(t, "claimed", want, got)
	same(t, "next due", wantNext, next)
	same(t, "error", nil, err)
	p.leases = append(p.leases, got...)
}

// key names some lease: one of the latest mostly.
func (p *pair) key(t *rapid.T) engine.LeaseKey {
	if len(p.leases) == 0 {
		return engine.LeaseKey{Job: 1, Token: 1}
	}
	back := min(rapid.IntRange(1, 25).Draw(t, "back"), len(p.leases))
	return p.leases[len(p.leases)-back].Key()
}

func (p *pair) commit(t *rapid.T) {
	var b engine.Batch
	if len(p.batches) > 0 && rapid.IntRange(0, 3).Draw(t, "repeat") == 0 {
		b = p.batches[len(p.batches)-min(rapid.IntRange(1, 6).Draw(t, "back"), len(p.batches))]
	} else {
		e := anEngine(t)
		p.seq[e]++
		b.ID = engine.BatchID{Engine: e, Seq: p.seq[e]}
		b.Settled = p.seq[e] - min(p.seq[e], uint64(rapid.IntRange(1, 4).Draw(t, "unsettled")))
		for range rapid.IntRange(1, 4).Draw(t, "size") {
			b.Outcomes = append(b.Outcomes, engine.Outcome{LeaseKey: p.key(t), Verb: engine.Verb(rapid.IntRange(1, 4).Draw(t, "verb")), Delay: duration(t, "delay", 0, 5)})
		}
		p.batches = append(p.batches, b)
	}
	got, err := p.s.Commit(background, b, nil)
	same(t, "committed", p.m.commit(b), got)
	same(t, "error", nil, err)
}

func (p *pair) extend(t *rapid.T) {
	var keys []engine.LeaseKey
	for range rapid.IntRange(1, 4).Draw(t, "size") {
		keys = append(keys, p.key(t))
	}
	ttl := duration(t, "ttl", 1, 9)
	got, err := p.s.ExtendLease(background, keys, ttl, nil)
	same(t, "extended", p.m.extend(keys, ttl), got)
	same(t, "error", nil, err)
}

func (p *pair) recover(t *rapid.T) {
	holder, limit, grace, ttl := anEngine(t), rapid.IntRange(0, 4).Draw(t, "limit"), duration(t, "grace", 0, 3), duration(t, "ttl", 1, 9)
	got, next, err := p.s.Recover(background, holder, limit, grace, ttl, nil)
	want, wantNext := p.m.recover(holder, limit, grace, ttl)
	same(t, "recovered", want, got)
	same(t, "next expiry", wantNext, next)
	same(t, "error", nil, err)
	p.leases = append(p.leases, got...)
}

func (p *pair) promote(t *rapid.T) {
	limit, order := rapid.IntRange(0, 4).Draw(t, "limit"), engine.Order(rapid.IntRange(0, 1).Draw(t, "order"))
	got, err := p.s.Promote(background, limit, order, nil)
	same(t, "promoted", p.m.promote(limit, order), got)
	same(t, "error", nil, err)
}

func (p *pair) lead(t *rapid.T) {
	role, e, ttl := engine.Role(rapid.IntRange(0, 1).Draw(t, "role")), anEngine(t), duration(t, "ttl", 1, 9)
	got, err := p.s.Lead(background, role, e, ttl)
	same(t, "leads", p.m.lead(role, e, ttl), got)
	same(t, "error", nil, err)
}
