package memstore

import "qsim/engine"

// order is an order in which a claim may take ready jobs, other than by priority and ready key: fairness between
// tenants, for example. Store.orderOf chooses one for each term of a claim. It returns the row of the ready job that a
// term takes next, or 0. The caller must take it: its tenant may have lost its turn.
type order func(s *Store, t *engine.Term) uint32

// prepare validates a claim's term that the queues alone cannot serve, and builds the search trees that it needs.
func (s *Store) prepare(t *engine.Term) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Kinds != 0 || t.Order == engine.Deadline {
		s.splitByKind()
	}
	ofTenants := t.Tenant != 0 || t.PerTenant > 0
	if s.tenants == nil && (ofTenants || t.Order.ByTenant()) {
		s.newTenants()
	}
	x := s.tenants
	switch {
	case t.Order == engine.TenantFair && x.heads == nil:
		x.newHeads()
	case t.Order == engine.TenantRoundRobin && t.Tenant == 0 && s.leavesOut(t):
		x.newFronts(frontInTurn)
	case t.PerTenant > 0 && t.Tenant == 0 && !isTimely(t):
		x.newFronts(frontOf(t))
	}
	if by := sortOf(t, t.MaxWait > 0); by != sortByKey {
		if t.Tenant != 0 || t.PerTenant > 0 && isTimely(t) {
			s.keep(&x.indexes, by, x)
		} else {
			s.keep(&s.indexes, by, nil)
		}
	}
	return nil
}

// orderOf returns the order in which one part (term) of a claim takes jobs, nil if that is by priority and then ready
// key. It also begins new counts of jobs by tenant, for a claim's term (filter and order) with a limit on them.
func (s *Store) orderOf(t *engine.Term) order {
	if t.PerTenant > 0 {
		s.tenants.term++
	}
	switch {
	case t.Order == engine.TenantRoundRobin:
		return (*Store).nextInTurn
	case t.Order == engine.TenantDeficit:
		return (*Store).nextByDeficit
	case t.Order == engine.TenantFair:
		return (*Store).nextByNoise
	case t.PerTenant > 0:
		return (*Store).nextCapped
	case t.Order > engine.NewestReady, t.Tenant != 0, isTimely(t):
		return (*Store).nextByRow
	}
	return nil
}

// isTimely reports whether a claim's term (filter, order, limit) skips jobs that have waited longer than its MaxWait.
func isTimely(t *engine.Term) bool { return t.MaxWait > 0 && t.Shed == 0 }

// leavesOut reports whether a claim's term, or the store's options, may pass over all ready jobs of a tenant.
func (s *Store) leavesOut(t *engine.Term) bool {
	return t.Class != engine.AnyClass || t.Kinds != 0 || t.Tenant != 0 || s.running != nil
}

// nextByRow is the claim order of terms that take the first matching job, of all tenants or of one, such as Aging.
func (s *Store) nextByRow(t *engine.Term) uint32 { return s.search(t, s.tenantFor(t), false) }

// tenantFor returns the tenant to which a claim's term (filter, order, limit) is restricted; nil: to none.
func (s *Store) tenantFor(t *engine.Term) *tenant {
	if t.Tenant == 0 {
		return nil
	}
	return s.tenants.called(t.Tenant)
}

// cell holds the roots of the search trees over the claimable jobs of a lane (priority and kind), or of a tenant in it.
type cell struct {
	lane  uint16
	roots [numSorts][engine.NumClasses]uint32
	// fronts holds, for a tenant's cell, the rows that stand for it in the trees over the tenants of a lane (one
	// priority and kind), by kind of tree; for the lane's own cell, the roots of these trees.
	fronts [numFronts][engine.NumClasses]uint32
}

// indexes holds, by sort order, the treap of the search trees over ready jobs; nil: no claim has needed that order.
type indexes [numSorts]*treap

// keep builds, and keeps from then on, search trees in a sort order over the ready jobs of each lane (one priority and
// kind) or, with x, over the claimable ones of each tenant in it.
func (s *Store) keep(of *indexes, by sort, x *tenants) {
	if of[by] != nil {
		return
	}
	s.splitByKind()
	s.special = true
	of[by] = &treap{rows: &s.rows, sort: by}
	for ref, r := range s.rows.all {
		if r.state != engine.Ready || x != nil && s.isBehind(r) {
			continue
		}
		c := &s.lines.lanes[r.lane].cell
		if x != nil {
			c = x.ofRow(ref).cell(r.lane)
		}
		of[by].insert(&c.roots[by][r.class()], ref)
	}
}

// isBehind reports whether a job's row (record) waits behind an earlier job of its serial key (head-of-line blocking).
func (s *Store) isBehind(r *row) bool { return s.lines.lanes[r.lane].behind }

// insert adds a ready job's row to the search trees of a cell (those of its lane or tenant), one for each order.
func (x *indexes) insert(c *cell, class engine.Class, ref uint32) {
	for by, t := range x {
		if t != nil {
			t.insert(&c.roots[by][class], ref)
		}
	}
}

func (x *indexes) remove(c *cell, class engine.Class, ref uint32) {
	for by, t := range x {
		if t != nil {
			t.remove(&c.roots[by][class], ref)
		}
	}
}

// join adds the row of a job that becomes ready to the search trees for special claim orders and for its age.
func (s *Store) join(ref uint32, r *row) {
	s.indexes.insert(&s.lines.lanes[r.lane].cell, r.class(), ref)
	if s.tenants != nil && !s.isBehind(r) {
		s.tenants.join(ref, r)
	}
}

func (s *Store) leave(ref uint32, r *row) {
	s.indexes.remove(&s.lines.lanes[r.lane].cell, r.class(), ref)
	if s.tenants != nil && !s.isBehind(r) {
		s.tenants.leave(ref, r)
	}
}

// search returns the row of the next ready job that a claim's term t (filter, order, limit) selects, of one tenant or,
// if that is nil, of all: if late is set the one that has waited longest, otherwise the first in the term's order.
func (s *Store) search(t *engine.Term, of *tenant, late bool) uint32 {
	best, by := uint32(0), sortOf(t, late)
	if of == nil {
		for i := range s.lines.lanes {
			best = s.searchCell(best, t, &s.lines.lanes[i].cell, nil, by, late)
		}
		return best
	}
	for i := range of.cells {
		best = s.searchCell(best, t, &of.cells[i], of, by, late)
	}
	return best
}

// searchCell returns the row of the ready job that a claim's term (filter, order, limit) takes first: best, found
// elsewhere, or one in the search trees of a cell, which are of a lane (one priority and kind) or of one tenant in it.
func (s *Store) searchCell(best uint32, t *engine.Term, c *cell, of *tenant, by sort, late bool) uint32 {
	l, kept, newest := &s.lines.lanes[c.lane], s.indexes[by], t.Order == engine.NewestReady
	if !s.admits(t, l) {
		return best
	}
	queued, timely := of == nil && by == sortByKey, isTimely(t) && !late
	if of != nil {
		kept = s.tenants.indexes[by]
	}
	for class, root := range c.roots[by] {
		ref := uint32(0)
		switch {
		case t.Class != engine.AnyClass && t.Class != engine.Class(class):
		case queued:
			ref = l.ready[class].peek(&s.late, newest)
		case timely:
			ref = kept.since(root, s.at.Add(-t.MaxWait))
		default:
			ref = kept.end(root, newest)
		}
		if ref != 0 && (best == 0 || s.before(t, ref, best, late)) {
			best = ref
		}
	}
	return best
}

// admits reports whether a claim's term (filter, order, limit) may take jobs of a lane (one priority and kind): it
// selects their kind, whose limit in flight is not reached, and no earlier jobs block them.
func (s *Store) admits(t *engine.Term, l *lane) bool {
	return t.Kinds.Has(l.kind) && !l.behind && !s.full(l.kind)
}

// sortOf returns the order of the search trees from which a claim's term is served; with late, that by waiting time.
func sortOf(t *engine.Term, late bool) sort {
	switch {
	case late, t.Order == engine.Aging, isTimely(t):
		return sortByDue
	case t.Order == engine.Deadline:
		return sortByAge
	}
	return sortByKey
}

// before reports whether the job of row a comes before that of row b in a claim's order (term t) or, if late is set,
// has waited longer. Within one tenant, the orders by tenant take jobs as OldestReady.
func (s *Store) before(t *engine.Term, a, b uint32, late bool) bool {
	x, y := s.rows.at(a), s.rows.at(b)
	i, j := int64(s.lines.lanes[x.lane].priority), int64(s.lines.lanes[y.lane].priority)
	p, q := x.key, y.key
	switch {
	case late:
		i, j, p, q = 0, 0, x.dueAt, y.dueAt
	case t.Order == engine.OldestOfAny:
		i, j = 0, 0
	case t.Order == engine.Aging:
		i, j, p, q = i-s.gained(t.Rule, x), j-s.gained(t.Rule, y), x.dueAt, y.dueAt
	case t.Order == engine.Deadline:
		i, j, p, q = int64(deadline(t.Rule, x)), int64(deadline(t.Rule, y)), x.enqueuedAt, y.enqueuedAt
	}
	switch {
	case i != j:
		return i < j
	case p != q:
		return p < q == (t.Order != engine.NewestReady)
	}
	return x.id < y.id == (t.Order != engine.NewestReady)
}

// gained returns by how many steps a waiting job's priority has risen under the order Aging.
func (s *Store) gained(rule *engine.Rule, r *row) int64 {
	gained := max(0, int64(s.at.Sub(r.dueAt)/rule.Every))
	if rule.Cap > 0 {
		gained = min(gained, rule.Cap)
	}
	return gained
}

// deadline returns the sort key of a job under the order Deadline: its enqueue time plus the budget of its kind.
func deadline(rule *engine.Rule, r *row) engine.Time {
	if len(rule.Budgets) == 0 {
		return r.enqueuedAt
	}
	return r.enqueuedAt.Add(rule.Budgets[min(int(r.kind), len(rule.Budgets)-1)])
}
