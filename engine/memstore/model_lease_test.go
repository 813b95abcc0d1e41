package memstore

import (
	"slices"
	"time"

	"qsim/engine"
)

func (m *model) extend(keys []engine.LeaseKey, ttl time.Duration) []engine.Status {
	m.catchUp()
	var out []engine.Status
	for _, k := range keys {
		status := engine.Stale
		if j := m.may(k, m.o.Fence); j != nil && j.held() {
			j.expiry, status = m.at.Add(ttl), engine.Applied
			m.stamp(j)
		}
		out = append(out, status)
	}
	return out
}

func (m *model) extendNode(holder engine.EngineID, kept bool, ttl time.Duration) int {
	m.catchUp()
	theirs := m.matching(func(j *modelJob) bool {
		return j.held() && !j.reaped && (j.holder == holder || kept && j.holder.Node() == holder.Node())
	}, byExpiry)
	for _, j := range theirs {
		j.expiry = m.at.Add(ttl)
		m.stamp(j)
	}
	return len(theirs)
}

// expired returns the jobs whose leases may be recovered, in order.
func (m *model) expired(grace time.Duration) []*modelJob {
	var out []*modelJob
	if m.o.Orphans {
		out = m.matching(func(j *modelJob) bool { return j.orphan }, byTurn)
	}
	out = append(out, m.matching(func(j *modelJob) bool { return j.lapsed }, byTurn)...)
	return append(out, m.matching(func(j *modelJob) bool { return j.held() && j.expiry.Add(grace) <= m.at }, byExpiry)...)
}

func (m *model) nextExpiry(grace time.Duration) time.Duration {
	if len(m.expired(grace)) > 0 {
		return 0
	}
	next := engine.Forever
	for _, j := range m.jobs {
		if j.held() {
			next = min(next, j.expiry.Add(grace).Sub(m.at))
		}
	}
	return next
}

func (m *model) recover(holder engine.EngineID, limit int, grace, ttl time.Duration) ([]engine.Lease, time.Duration) {
	m.catchUp()
	take := m.expired(grace)
	var out []engine.Lease
	for _, j := range take[:min(len(take), limit)] {
		m.stop(j)
		m.countRecovery(j)
		j.reaped = true
		out = append(out, m.lend(j, holder, j.holder, engine.Time(ttl)))
	}
	return out, m.nextExpiry(grace)
}

func (m *model) read(limit int, grace time.Duration) ([]engine.Lease, time.Duration) {
	m.catchUp()
	see := m.expired(grace)
	var out []engine.Lease
	for _, j := range see[:min(len(see), limit)] {
		l := engine.Lease{Job: m.job(j), Token: j.token, Holder: j.holder}
		l.Recoveries++
		out = append(out, l)
	}
	return out, m.nextExpiry(grace)
}

func (m *model) lose(lose func(engine.JobID) bool) []engine.Lease {
	m.catchUp()
	var out []engine.Lease
	for _, j := range m.matching((*modelJob).held, byExpiry) {
		if lose(j.ID) {
			j.orphan = true
			m.stamp(j)
			out = append(out, engine.Lease{Job: m.job(j), Token: j.token, Holder: j.holder})
		}
	}
	return out
}

// due lists the jobs that may be promoted, oldest or newest due first.
func (m *model) due(limit int, order engine.Order) []*modelJob {
	m.catchUp()
	if m.o.Promoted {
		for _, j := range m.matching(func(j *modelJob) bool {
			return j.state == engine.Waiting && !j.moved && !j.transit && j.due <= m.at
		}, byDue) {
			j.moved = true
			m.stamp(j)
		}
	}
	line := m.matching(func(j *modelJob) bool { return j.moved }, byTurn)
	if order == engine.NewestReady {
		slices.Reverse(line)
	}
	return line[:min(len(line), limit)]
}

func (m *model) promote(limit int, order engine.Order) []engine.Promotion {
	var out []engine.Promotion
	for _, j := range m.due(limit, order) {
		m.readyAs(j, j.due, j.stand)
		out = append(out, j.promotion())
	}
	return out
}

func (m *model) takeDue(limit int, order engine.Order) []engine.Promotion {
	var out []engine.Promotion
	for _, j := range m.due(limit, order) {
		j.moved, j.transit = false, true
		out = append(out, j.promotion())
	}
	return out
}

func (m *model) insert(ids []engine.JobID) []engine.Promotion {
	m.catchUp()
	var out []engine.Promotion
	for _, id := range ids {
		if j := m.jobs[id]; j != nil && j.transit {
			m.readyAs(j, j.due, j.stand)
			out = append(out, j.promotion())
		}
	}
	return out
}

func (m *model) lead(role engine.Op, e engine.EngineID, ttl time.Duration) bool {
	m.catchUp()
	l, ok := m.leaders[role]
	if ok && l.engine != e && m.at < l.until {
		return false
	}
	m.leaders[role] = leader{e, true, m.at.Add(ttl)}
	return true
}
