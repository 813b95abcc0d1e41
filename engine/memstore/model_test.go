package memstore

import (
	"cmp"
	"slices"

	"qsim/engine"
)

// model is a store without structures: every question looks at all jobs.
type model struct {
	at      engine.Time
	o       engine.StoreOptions
	jobs    map[engine.JobID]*modelJob // dead ones too, if they are kept
	dead    int
	turn    int // numbers leases and moves, to keep the order of equal times
	passed  int
	answers map[int32]*modelMemory
	leaders map[engine.Op]leader
	tenants *modelTenants // state of tenants; nil: not needed yet
}

type modelJob struct {
	engine.Job
	token                   engine.Token
	holder                  engine.EngineID
	enqueued, due, key      engine.Time
	stood, recovered, began engine.Time
	expiry                  engine.Time
	turn                    int
	state                   engine.State
	stand                   engine.Place // waiting: where it will be ready
	serial                  uint32
	joined                  int  // its number among all that joined a serial key
	retry, lapsed, moved    bool // moved: due and found so by Promote
	transit, orphan, reaped bool
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

// catchUp applies all changes due by now.
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

func (j *modelJob) held() bool { return j.state == engine.InFlight && !j.lapsed && !j.orphan }

func (j *modelJob) live() bool { return j.state != engine.Dead }

func (m *model) stamp(j *modelJob) { m.turn++; j.turn = m.turn }

func (m *model) promoteDue() []engine.Promotion {
	var out []engine.Promotion
	for _, j := range m.matching(func(j *modelJob) bool { return j.state == engine.Waiting && j.due <= m.at }, byDue) {
		m.readyAs(j, j.due, j.stand)
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

// ready makes j ready by the store's place rule.
func (m *model) ready(j *modelJob, due engine.Time) {
	j.stood = due
	m.readyAt(j, due, m.usual(j, due))
}

func (m *model) usual(j *modelJob, due engine.Time) engine.Time {
	key := map[engine.Place]engine.Time{engine.PlaceDue: due, engine.PlaceTail: m.at, engine.PlaceCreated: j.enqueued, engine.PlaceHead: due}[m.o.Place]
	switch {
	case !j.retry:
		key = due
	case m.o.Place == engine.PlaceHead:
		key = due - engine.Never/2
	}
	return key
}

func (m *model) readyAt(j *modelJob, due, key engine.Time) {
	j.state, j.due, j.key, j.moved, j.lapsed, j.transit, j.orphan = engine.Ready, due, key, false, false, false, false
	m.attend()
}

// readyAs makes j ready in the position given by stand.
func (m *model) readyAs(j *modelJob, due engine.Time, stand engine.Place) {
	if stand == engine.PlaceDefault {
		m.ready(j, due)
		return
	}
	m.readyAt(j, due, map[engine.Place]engine.Time{engine.PlaceHead: due - engine.Never/2, engine.PlaceDue: j.stood,
		engine.PlaceTail: m.at, engine.PlaceCreated: j.enqueued}[stand])
}

// wait makes j wait, or ready at once where jobs are handed out early.
func (m *model) wait(j *modelJob, due engine.Time, stand engine.Place) {
	if m.o.Held {
		m.readyAs(j, due, stand)
		return
	}
	j.stand = stand
	j.state, j.due = engine.Waiting, due
}

// dueNow returns the due time of a job made ready at once: later, if it is held until then.
func (m *model) dueNow(j *modelJob) engine.Time {
	if m.o.Held && j.due > m.at {
		return j.due
	}
	return m.at
}

// behind reports whether another job of j's serial key comes first.
func (m *model) behind(j *modelJob) bool {
	for _, o := range m.jobs {
		if j.serial != 0 && o.serial == j.serial && o.live() && o.joined < j.joined {
			return true
		}
	}
	return false
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
		m.turn++
		j := &modelJob{Job: engine.Job{ID: n.ID, Kind: n.Kind, Priority: n.Priority, Tenant: n.Tenant, Payload: n.Payload},
			enqueued: m.at, stood: m.at, serial: n.Serial, joined: m.turn}
		m.jobs[n.ID] = j
		if n.Delay > 0 {
			m.wait(j, m.at.Add(n.Delay), engine.PlaceDefault)
		} else {
			m.ready(j, m.at)
		}
	}
	for _, n := range jobs {
		m.sent(n.Tenant)
	}
	return true
}

func (m *model) nextDue() engine.Time {
	waiting := m.matching(func(j *modelJob) bool { return j.state == engine.Waiting }, byDue)
	if m.o.Promoted || len(waiting) == 0 {
		return engine.Never
	}
	return waiting[0].due
}

// job is j as leases show it.
func (m *model) job(j *modelJob) engine.Job {
	out := j.Job
	out.Waited, out.Age, out.Recoveries = m.at.Sub(j.due), m.at.Sub(j.enqueued), m.recoveries(j)
	return out
}

func (m *model) recoveries(j *modelJob) int32 {
	if m.o.RecoveriesWithin > 0 && m.at.Sub(j.recovered) > m.o.RecoveriesWithin {
		return 0
	}
	return j.Recoveries
}

func (m *model) countRecovery(j *modelJob) {
	if j.Recoveries = m.recoveries(j); j.Recoveries == 0 {
		j.recovered = m.at
	}
	j.Recoveries++
}

func (m *model) lend(j *modelJob, holder, before engine.EngineID, ttl engine.Time) engine.Lease {
	j.token++
	j.state, j.holder, j.expiry, j.lapsed, j.orphan = engine.InFlight, holder, m.at+ttl, false, false
	m.stamp(j)
	return engine.Lease{Job: m.job(j), Token: j.token, Holder: before}
}

// may returns the job that a holder of k may change, or nil.
func (m *model) may(k engine.LeaseKey, f engine.Fence) *modelJob {
	j := m.jobs[k.Job]
	if j == nil || !j.live() || f != engine.FenceNone && j.state != engine.InFlight || f == engine.FenceToken && j.token != k.Token {
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
	var before []engine.Result
	if ours {
		memory.settled = max(memory.settled, b.Settled)
		before = memory.results[b.ID.Seq]
		if b.ID.Seq <= memory.settled {
			before = slices.Repeat([]engine.Result{{Status: engine.Applied}}, len(b.Outcomes))
		}
	}
	var out, kept []engine.Result
	for i := range b.Outcomes {
		var r engine.Result
		switch {
		case before == nil || before[i].Status == engine.Unapplied:
			r = m.apply(&b.Outcomes[i])
			kept = append(kept, r)
		case before[i].Status == engine.Stale:
			r.Status = engine.Stale.Again()
			kept = append(kept, before[i])
		default:
			r.Status = engine.Applied.Again()
			kept = append(kept, before[i])
		}
		out = append(out, r)
	}
	if ours {
		memory.results[b.ID.Seq] = kept
	}
	return out
}

func (m *model) apply(o *engine.Outcome) engine.Result {
	fence := m.o.Fence
	if o.Guard != engine.FenceDefault {
		fence = map[engine.Fence]engine.Fence{engine.FenceToken: engine.FenceToken, engine.FenceState: engine.FenceState, engine.FenceNone: engine.FenceNone}[o.Guard]
	}
	j := m.may(o.LeaseKey, fence)
	if o.Refused {
		return engine.Result{Status: engine.Unapplied}
	} else if j == nil {
		return engine.Result{Status: engine.Stale}
	}
	r := engine.Result{Status: engine.Applied, From: j.state, Class: j.class(), Age: m.at.Sub(j.enqueued)}
	if o.Guard != engine.FenceDefault {
		j.token++
		r.Holder, r.Delivery, r.Token = j.holder, j.Delivery, j.token
		m.countRecovery(j)
	}
	m.stop(j)
	j.state = engine.NoState // in between it is nowhere: a tenant may lose its turn
	m.attend()
	j.retry, j.lapsed, j.moved, j.orphan, j.transit = j.Delivery > 0, false, false, false, false
	switch o.Verb {
	case engine.Bury:
		j.Failures++
		m.bury(j)
	case engine.Ack:
		delete(m.jobs, j.ID)
	case engine.Nack:
		j.Failures++
		j.LastDelay = o.Delay + o.Passed
		m.wait(j, m.at.Add(o.Delay), o.Stand)
	case engine.Snooze:
		j.Snoozes++
		if r.From == engine.InFlight {
			j.Charged--
		}
		j.LastDelay = o.Delay + o.Passed
		m.wait(j, m.at.Add(o.Delay), o.Stand)
	case engine.Redo:
		j.Failures++
		m.readyAs(j, m.dueNow(j), o.Stand)
	case engine.Return:
		if r.From == engine.InFlight {
			j.Charged--
		}
		m.readyAs(j, m.dueNow(j), o.Stand)
	}
	m.attend()
	return r
}

func (m *model) bury(j *modelJob) {
	m.dead++
	j.state, j.retry = engine.Dead, j.Delivery > 0
	m.stamp(j)
	if !m.o.KeepDead {
		delete(m.jobs, j.ID)
	}
	m.attend()
}

func (m *model) redrive(revive func(engine.JobID) bool, reset bool) []engine.Promotion {
	m.catchUp()
	var out []engine.Promotion
	for _, j := range m.matching(func(j *modelJob) bool { return !j.live() }, byTurn) {
		if !revive(j.ID) {
			continue
		}
		m.dead--
		if reset {
			j.Charged, j.Failures, j.Recoveries, j.Snoozes, j.LastDelay = 0, 0, 0, 0, 0
		}
		m.turn++
		j.joined = m.turn
		m.ready(j, m.at)
		out = append(out, j.promotion())
	}
	return out
}

func (m *model) stats() engine.Stats {
	m.catchUp()
	s := engine.Stats{Dead: m.dead}
	for _, j := range m.jobs {
		switch j.state {
		case engine.Ready:
			s.Ready[j.class()]++
			s.OldestReady[j.class()] = max(s.OldestReady[j.class()], m.at.Sub(j.due))
		case engine.Waiting:
			s.Waiting[j.class()]++
		case engine.InFlight:
			s.InFlight[j.class()]++
		}
	}
	return s
}
