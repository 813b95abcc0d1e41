package memstore

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"qsim/engine"
)

func (m *model) claim(holder engine.EngineID, p engine.Plan, ttl time.Duration) ([]engine.Lease, time.Duration) {
	m.catchUp()
	for i := range p.Terms {
		if t := &p.Terms[i]; m.tenants == nil && (t.Order.ByTenant() || t.Tenant != 0 || t.PerTenant != 0) {
			m.meetTenants()
		}
	}
	left := p.Limit
	fresh := p.Limit
	if m.o.MaxInFlight > 0 && m.o.CountUnacked {
		fresh = m.o.MaxInFlight - len(m.matching(func(j *modelJob) bool {
			return j.state == engine.InFlight || j.Delivery > 0 && (j.state == engine.Ready || j.state == engine.Waiting)
		}, byTurn))
	} else if m.o.MaxInFlight > 0 {
		left = min(left, m.o.MaxInFlight-len(m.matching(func(j *modelJob) bool { return j.state == engine.InFlight }, byTurn)))
	}
	var out []engine.Lease
	claimed := 0
	for i := range p.Terms {
		t := &p.Terms[i]
		if t.Shed > 0 && t.MaxWait > 0 {
			out = append(out, m.shed(t)...)
		}
		of := map[engine.TenantID]int{}
		for n := 0; n < t.Limit && claimed < left; n++ {
			if fresh <= 0 && t.Class == engine.Fresh {
				break
			} else if fresh <= 0 {
				retries := *t
				retries.Class, t = engine.Retry, &retries
			}
			j := m.pick(t, of)
			if j == nil {
				break
			}
			if j.Delivery == 0 {
				fresh--
			}
			if claimed == 0 {
				m.passed = m.ahead(j)
			}
			claimed++
			of[j.Tenant]++
			j.retry = j.Delivery > 0
			j.Delivery++
			j.Charged++
			j.reaped, j.began = false, m.at
			out = append(out, m.lend(j, holder, 0, engine.Time(ttl)))
			m.attend()
		}
	}
	if claimed == 0 {
		m.passed = len(m.matching(func(j *modelJob) bool { return j.state == engine.Ready }, byTurn))
	}
	next := engine.Forever
	if due := m.nextDue(); due != engine.Never {
		next = due.Sub(m.at)
	}
	return out, next
}

// ahead counts the ready jobs before j.
func (m *model) ahead(j *modelJob) int {
	return len(m.matching(func(o *modelJob) bool {
		return o.state == engine.Ready && cmp.Or(cmp.Compare(o.Priority, j.Priority), cmp.Compare(o.key, j.key), cmp.Compare(o.ID, j.ID)) < 0
	}, byTurn))
}

// offered reports whether t could claim j, apart from the bound on its wait.
func (m *model) offered(t *engine.Term, j *modelJob) bool {
	running := 0
	for _, o := range m.jobs {
		if o.state == engine.InFlight && !o.reaped && o.Kind == j.Kind {
			running++
		}
	}
	full := int(j.Kind) < len(m.o.MaxRunning) && m.o.MaxRunning[j.Kind] > 0 && running >= m.o.MaxRunning[j.Kind]
	return j.state == engine.Ready && !m.behind(j) && !full && t.Kinds.Has(j.Kind) && (t.Class == engine.AnyClass || t.Class == j.class()) &&
		(t.Tenant == 0 || t.Tenant == j.Tenant)
}

func (m *model) shed(t *engine.Term) []engine.Lease {
	var out []engine.Lease
	for len(out) < int(t.Shed) {
		late := m.matching(func(j *modelJob) bool { return m.offered(t, j) && m.at.Sub(j.due) > t.MaxWait }, byDue)
		if len(late) == 0 {
			break
		}
		l := engine.Lease{Job: m.job(late[0]), Shed: true}
		l.Delivery++
		out = append(out, l)
		m.bury(late[0])
	}
	return out
}

func byPlace(a, b *modelJob) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), byKey(a, b))
}

func byKey(a, b *modelJob) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.ID, b.ID))
}

// pick returns the job that t takes next; of counts the jobs taken from each tenant.
func (m *model) pick(t *engine.Term, of map[engine.TenantID]int) *modelJob {
	offered := func(j *modelJob) bool { return m.offered(t, j) }
	switch t.Order {
	case engine.TenantRoundRobin:
		return m.pickTurn(t)
	case engine.TenantDeficit:
		return m.pickDeficit(t)
	case engine.TenantFair:
		return m.pickFair(t)
	}
	order := byPlace
	switch t.Order {
	case engine.NewestReady:
		order = func(a, b *modelJob) int { return cmp.Or(cmp.Compare(a.Priority, b.Priority), -byKey(a, b)) }
	case engine.OldestOfAny:
		order = byKey
	case engine.Aging:
		aged := func(j *modelJob) int64 {
			gained := max(0, int64(m.at.Sub(j.due))) / int64(t.Rule.Every)
			if t.Rule.Cap > 0 {
				gained = min(gained, t.Rule.Cap)
			}
			return int64(j.Priority) - gained
		}
		order = func(a, b *modelJob) int { return cmp.Or(cmp.Compare(aged(a), aged(b)), byDue(a, b)) }
	case engine.Deadline:
		until := func(j *modelJob) engine.Time {
			if b := t.Rule.Budgets; len(b) > 0 {
				return j.enqueued.Add(b[min(int(j.Kind), len(b)-1)])
			}
			return j.enqueued
		}
		order = func(a, b *modelJob) int {
			return cmp.Or(cmp.Compare(until(a), until(b)), cmp.Compare(a.enqueued, b.enqueued))
		}
	}
	line := m.matching(func(j *modelJob) bool {
		late := t.MaxWait > 0 && t.Shed == 0 && m.at.Sub(j.due) > t.MaxWait
		return offered(j) && !late && (t.PerTenant == 0 || of[j.Tenant] < t.PerTenant)
	}, order)
	if len(line) == 0 {
		return nil
	}
	return line[0]
}

// modelTenants is the model's state of tenants, from the first claim by tenant on.
type modelTenants struct {
	turn   []engine.TenantID // tenants with claimable jobs, in turn
	of     map[engine.TenantID]*modelTenant
	used   *big.Int
	halved engine.Time
}

type modelTenant struct {
	deficit  int64
	granted  bool
	used     *big.Int
	enqueued engine.Time
}

func (m *model) meetTenants() {
	m.tenants = &modelTenants{of: map[engine.TenantID]*modelTenant{}, used: new(big.Int), halved: m.at / engine.Time(recentHalfLife)}
	for _, j := range m.jobs {
		if j.live() {
			t := m.tenant(j.Tenant)
			t.enqueued = max(t.enqueued, j.enqueued)
			j.began = m.at
		}
	}
	for _, j := range m.matching(m.claimable, byDue) {
		if !slices.Contains(m.tenants.turn, j.Tenant) {
			m.tenants.turn = append(m.tenants.turn, j.Tenant)
		}
	}
}

func (m *model) tenant(id engine.TenantID) *modelTenant {
	t := m.tenants.of[id]
	if t == nil {
		t = &modelTenant{used: new(big.Int)}
		m.tenants.of[id] = t
	}
	return t
}

func (m *model) claimable(j *modelJob) bool { return j.state == engine.Ready && !m.behind(j) }

// attend updates the tenants' turns after a change of one job.
func (m *model) attend() {
	if m.tenants == nil {
		return
	}
	var has []engine.TenantID
	for _, j := range m.matching(m.claimable, byTurn) {
		if has = append(has, j.Tenant); !slices.Contains(m.tenants.turn, j.Tenant) {
			m.tenants.turn = append(m.tenants.turn, j.Tenant)
		}
	}
	m.tenants.turn = slices.DeleteFunc(m.tenants.turn, func(id engine.TenantID) bool {
		gone := !slices.Contains(has, id)
		if gone {
			t := m.tenant(id)
			t.deficit, t.granted, t.used = 0, false, new(big.Int)
		}
		return gone
	})
}

func (m *model) sent(id engine.TenantID) {
	if m.tenants != nil {
		m.tenant(id).enqueued = m.at
	}
}

// stop ends the lease of job j.
func (m *model) stop(j *modelJob) {
	if m.tenants == nil || j.state != engine.InFlight || j.reaped {
		return
	}
	m.fade()
	ran := big.NewInt(int64(m.at - j.began))
	m.tenants.used.Add(m.tenants.used, ran)
	if slices.Contains(m.tenants.turn, j.Tenant) {
		t := m.tenant(j.Tenant)
		t.used.Add(t.used, ran)
	}
}

func (m *model) fade() {
	for now := m.at / engine.Time(recentHalfLife); m.tenants.halved < now; m.tenants.halved++ {
		m.tenants.used.Rsh(m.tenants.used, 1)
		for _, t := range m.tenants.of {
			t.used.Rsh(t.used, 1)
		}
	}
}

// best returns the job of tenant id that term t would claim, or nil.
func (m *model) best(t *engine.Term, id engine.TenantID) *modelJob {
	line := m.matching(func(j *modelJob) bool { return j.Tenant == id && m.offered(t, j) }, byPlace)
	if len(line) == 0 {
		return nil
	}
	return line[0]
}

// toEnd ends the turn of a tenant.
func (m *model) toEnd(id engine.TenantID) {
	x := m.tenants
	x.turn = append(slices.DeleteFunc(x.turn, func(o engine.TenantID) bool { return o == id }), id)
	m.tenant(id).granted = false
}

func (m *model) pickTurn(t *engine.Term) *modelJob {
	for _, id := range m.tenants.turn {
		if j := m.best(t, id); j != nil {
			m.toEnd(id)
			return j
		}
	}
	return nil
}

// pickDeficit goes round for as long as it takes.
func (m *model) pickDeficit(t *engine.Term) *modelJob {
	for {
		asked := false
		for _, id := range slices.Clone(m.tenants.turn) {
			j := m.best(t, id)
			if j == nil {
				continue
			}
			asked = true
			of := m.tenant(id)
			if !of.granted {
				of.deficit += t.Rule.Quantum
				of.granted = true
			}
			cost := int64(time.Second)
			if t.Rule.PerJob {
				cost = 1
			} else if s := m.o.Service; len(s) > 0 {
				cost = int64(s[min(int(j.Kind), len(s)-1)])
			}
			if cost <= of.deficit {
				of.deficit -= cost
				return j
			}
			m.toEnd(id)
		}
		if !asked {
			return nil
		}
	}
}

func (m *model) pickFair(t *engine.Term) *modelJob {
	m.fade()
	running := func(id engine.TenantID) int {
		return len(m.matching(func(j *modelJob) bool {
			return j.state == engine.InFlight && !j.reaped && (id == everyone || j.Tenant == id)
		}, byTurn))
	}
	var quiet, noisy []*modelJob
	for _, id := range m.tenants.turn {
		j := m.best(t, id)
		if j == nil {
			continue
		}
		of := m.tenant(id)
		ten := new(big.Int).Mul(of.used, big.NewInt(10))
		many := running(id) >= t.Rule.AtLeast && int64(running(id))*t.Rule.ShareDen > int64(running(everyone))*t.Rule.ShareNum
		if m.at.Sub(of.enqueued) < quietAfter && (many || ten.Cmp(m.tenants.used) > 0) {
			noisy = append(noisy, j)
		} else {
			quiet = append(quiet, j)
		}
	}
	slices.SortFunc(quiet, byKey)
	slices.SortFunc(noisy, func(a, b *modelJob) int {
		return cmp.Or(cmp.Compare(running(a.Tenant), running(b.Tenant)), byKey(a, b))
	})
	for _, j := range append(quiet, noisy...) {
		return j
	}
	return nil
}

const everyone = ^engine.TenantID(0)
