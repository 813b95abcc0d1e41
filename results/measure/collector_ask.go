package measure

import (
	"qsim/engine"
	"slices"
)

// ask prepares to answer q.
func (c *Collector) ask(q Query) {
	m := lookup(q.Metric)
	asked := question{Query: q, metric: m}
	switch {
	case m == nil:
		asked.reason = "there is no metric of that name"
	case q.During != "" && c.window(q.During) == nil:
		asked.reason = "there is no storm named " + q.During
	case q.After != "" && c.window(q.After) == nil:
		asked.reason = "there is no storm named " + q.After
	case q.Class != "" && !slices.Contains(c.settings.Classes, q.Class):
		asked.reason = "there is no class named " + q.Class
	case q.Tenant != "" && c.tenantNamed(q.Tenant) == 0:
		asked.reason = "there is no tenant named " + q.Tenant
	case !m.Filters.Has(filtersOf(q)):
		asked.reason = "it cannot be narrowed so"
	case m.basis == onJobs:
		asked.jobs = c.setOf(q)
		c.sets[asked.jobs].want(m, q.Limit)
	case (q.Class != "" || q.Tenant != "") && c.of == nil:
		asked.part = c.partOf(q)
		asked.index = len(asked.part.questions)
		asked.part.ask(q)
	case m.basis == onClock:
		asked.clock = c.windowOf(q)
		if m.Name == "jain" && asked.clock.shares == nil {
			asked.clock.shares = new(tenantShares)
		}
	case m.basis == onStorm && len(c.storms) > 0:
		asked.storm = c.storms[len(c.storms)-1]
		if i := slices.IndexFunc(c.storms, func(w *stormWatch) bool { return w.name == q.After }); i >= 0 {
			asked.storm = c.storms[i]
		}
	}
	c.questions = append(c.questions, asked)
}

// filtersOf returns what narrows q.
func filtersOf(q Query) (f Filters) {
	for _, part := range []struct {
		set bool
		Filters
	}{{q.During != "", ByDuring}, {q.After != "", ByAfter}, {q.Class != "", ByClass}, {q.Tenant != "", ByTenant}} {
		if part.set {
			f |= part.Filters
		}
	}
	return f
}

// window returns the storm of that name, nil if there is none.
func (c *Collector) window(name string) *Window {
	storms := c.settings.Storms
	if i := slices.IndexFunc(storms, func(w Window) bool { return w.Name == name }); i >= 0 {
		return &storms[i]
	}
	return nil
}

// tenantNamed returns the tenant of that name, 0 if there is none.
func (c *Collector) tenantNamed(name string) engine.TenantID {
	if name == "" {
		return 0
	}
	return engine.TenantID(max(slices.Index(c.settings.Tenants, name), 0))
}

// whose returns whose jobs q is about: −1 for all classes, 0 for all tenants.
func (c *Collector) whose(q Query) (kind int32, tenant engine.TenantID) {
	if q.Class == "" {
		return -1, c.tenantNamed(q.Tenant)
	}
	return int32(slices.Index(c.settings.Classes, q.Class)), c.tenantNamed(q.Tenant)
}

// setOf returns the index of the set of jobs that q is about.
func (c *Collector) setOf(q Query) int {
	from, to := c.settings.Warmup, c.settings.Duration
	if q.During != "" {
		storm := c.window(q.During) // what an instant brings belongs to it
		from, to = max(from, storm.From), min(to, max(storm.To, storm.From+1))
	}
	if q.After != "" {
		from = max(from, c.window(q.After).To)
	}
	set := newJobSet(from, to)
	set.kind, set.tenant = c.whose(q)
	set.narrow = set.kind >= 0 || set.tenant != 0
	for i := range c.sets {
		if s := &c.sets[i]; s.from == set.from && s.span == set.span && s.kind == set.kind && s.tenant == set.tenant {
			return i
		}
	}
	c.sets = append(c.sets, set)
	return len(c.sets) - 1
}

// windowOf returns the window of the clock that q is about.
func (c *Collector) windowOf(q Query) *clockWindow {
	from, to := c.windows[0].from, c.windows[0].to
	if q.During != "" {
		storm := c.window(q.During)
		from, to = engine.Time(storm.From), engine.Time(storm.To)
	}
	if q.After != "" {
		from, to = engine.Time(c.window(q.After).To), engine.Never
	}
	for _, w := range c.windows {
		if w.from == from && w.to == to && w != c.calm {
			return w
		}
	}
	w := &clockWindow{from: from, to: to}
	c.windows = append(c.windows, w)
	return w
}
