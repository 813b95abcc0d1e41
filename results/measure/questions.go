package measure

import (
	"fmt"
	"slices"

	"qsim/engine"
	"qsim/results/plain"
)

// question is a query together with what its value is computed from when the run ends: a set of jobs, a window of time
// or the measurements of a storm, depending on its metric.
type question struct {
	*Collector
	*view
	Query
	metric  *metric // metric of the query; nil: no metric has that name
	jobs    *jobSet
	clock   *clockWindow // window of view, for a metric of the clock
	storm   *stormWatch
	hungry  *hungerWindow
	parts   []question // for WorstTenant, one question for each tenant
	present *jobSet    // in a part, the jobs of its tenant
	reason  string     // reason why there is no value, or ""
}

const noJobCounts = "no job of that time counts: it is not between the end of the warm-up and the end of arrivals"

// question returns a query with the counters, made if need be, for its value, or with the reason why it has none.
func (c *Collector) question(q Query) question {
	m := lookup(q.Metric)
	asked := question{Collector: c, view: c.whole, Query: q, metric: m}
	switch {
	case m == nil:
		asked.reason = "there is no metric of that name"
	case q.During != "" && c.window(q.During) == nil:
		asked.reason = "there is no storm named " + q.During
	case q.After != "" && c.window(q.After) == nil:
		asked.reason = "there is no storm named " + q.After
	case q.Class != "" && !slices.Contains(c.settings.Classes, q.Class):
		asked.reason = "there is no class named " + q.Class
	case !m.Filters.Has(filtersOf(q)):
		asked.reason = "it cannot be narrowed so"
	case q.Tenant == WorstTenant:
		asked.parts, asked.reason = c.byTenants(m, q)
	case q.Tenant != "" && c.tenantNamed(q.Tenant) == 0:
		asked.reason = "there is no tenant named " + q.Tenant
	case m.basis == onJobs:
		asked.jobs = c.setOf(q)
		asked.jobs.want(m, q.Limit)
		if asked.jobs.from == asked.jobs.to {
			asked.reason = noJobCounts
		}
	case m.basis == onHunger:
		asked.hungry = c.starving.of(c.filterOf(q), m.Name == crowding).window(c.spanOf(q))
	default:
		f := c.filterOf(q)
		asked.view = among(&c.views, func(v *view) bool { return v.filter == f }, func() *view { return newView(c, f) })
		if m.basis == onStorm || m.Name == backlogArea {
			asked.view.follow(m.Name == recoveryTime)
		}
		if m.basis != onClock {
			break
		}
		asked.clock = asked.view.window(c.spanOf(q))
		if m.Name == "jain" {
			made(&asked.clock.shares)
			made(&asked.view.tenants)
		}
	}
	asked.storm = asked.view.stormOf(q.After)
	return asked
}

// filtersOf returns the set of filters that a query uses.
func filtersOf(q Query) (f Filters) {
	for _, part := range q.Parts() {
		if *part.Value != "" {
			f |= part.Filter
		}
	}
	return f
}

// window returns the window of time of the storm with the given name, nil if there is none.
func (c *Collector) window(name string) *Window {
	return plain.Find(c.settings.Storms, func(w *Window) bool { return w.Name == name })
}

// tenantNamed returns the ID of the tenant with the given name, 0 if there is none.
func (c *Collector) tenantNamed(name string) engine.TenantID {
	return engine.TenantID(max(slices.Index(c.settings.Tenants, name), 0))
}

// filterOf returns the filter by class and tenant of the query q.
func (c *Collector) filterOf(q Query) filter {
	f := filter{kind: -1, tenant: c.tenantNamed(q.Tenant)}
	if q.Class != "" {
		f.kind = int32(slices.Index(c.settings.Classes, q.Class))
	}
	return f
}

// setOf returns the set of the jobs that a query measures: those of its class and tenant enqueued in its window.
func (c *Collector) setOf(q Query) *jobSet {
	from, to := c.settings.Warmup, c.settings.Duration
	if q.During != "" {
		storm := c.window(q.During) // jobs enqueued at the instant of the storm belong to it
		from, to = max(from, storm.From), min(to, max(storm.To, storm.From+1))
	}
	if q.After != "" {
		from = max(from, c.window(q.After).To)
	}
	set := newJobSet(c.filterOf(q), from, to)
	return among(&c.sets, func(s *jobSet) bool { return s.stretch == set.stretch && s.filter == set.filter },
		func() *jobSet { return set })
}

// spanOf returns the window of virtual time that a query of a metric over time covers: a storm, the time after a storm,
// or from the end of the warm-up to the end of arrivals.
func (c *Collector) spanOf(q Query) stretch {
	switch {
	case q.After != "":
		return stretch{engine.Time(c.window(q.After).To), engine.Never}
	case q.During != "":
		storm := c.window(q.During)
		return stretch{engine.Time(storm.From), engine.Time(storm.To)}
	}
	return stretch{engine.Time(c.settings.Warmup), engine.Time(c.settings.Duration)}
}

// run returns the measurements of the run: the values of all queries, histograms, time series, tenants and warnings.
func (c *Collector) run() Run {
	all := c.whole
	r := Run{Policy: c.policy, Events: int64(c.events), Jobs: c.jobs, Warnings: c.warnings()}
	r.Tenants = all.tenants.counted(len(c.settings.Tenants), all.windows[0].shares)
	if all.series != nil {
		r.Series = all.series.whole()
	}
	if r.Tenants != nil {
		r.tenantWaits = all.tenants.distributions(len(r.Tenants))
	}
	for i := range c.questions {
		q := &c.questions[i]
		v := q.answer()
		v.Query = q.Query
		r.Values = append(r.Values, v)
		if q.jobs != nil && q.Metric == slowdown {
			r.means = append(r.means, lookup("fresh.wait.mean").of(q))
		}
		if q.jobs == nil || q.metric.family == noFamily {
			continue
		}
		w, of := q.jobs.wait(q.metric.family), q.metric.histogramOf(q.Query)
		if !slices.ContainsFunc(r.Histograms, func(h NamedHistogram) bool { return h.Query == of }) {
			r.Histograms = append(r.Histograms, NamedHistogram{of, *w})
		}
	}
	return r
}

// histogramOf returns the query of the distribution of waits from which a quantile, mean or maximum (the query q of the
// metric m) is computed: fresh.wait for fresh.wait.p99, with the same filters.
func (m *metric) histogramOf(q Query) Query {
	q.Metric = families[m.family].name
	return q
}

// endlessTries is the number of claims of one job from which on a run with jobs left has a warning of a livelock.
const endlessTries = 1000

// warnings returns sentences about the run that cast doubt on its numbers, such as a livelock.
func (c *Collector) warnings() []string {
	var list []string
	if c.succeeded > 0 && c.acked == 0 && c.fenced > 0 {
		list = append(list, "livelock: executions succeed, but no ack is accepted: "+
			"every lease lapses before its execution ends")
	}
	if c.tries >= endlessTries && c.whole.left > 0 {
		list = append(list, fmt.Sprintf("livelock: jobs are tried again and again, more than %s times, and do not end: "+
			"bound max-attempts, or let them wait longer", plain.Grouped(fmt.Sprint(endlessTries))))
	}
	if c.strange > 0 {
		list = append(list, "executions of jobs that were settled long before are left out of the duplicates")
	}
	return list
}
