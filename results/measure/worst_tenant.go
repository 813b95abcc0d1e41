package measure

import "fmt"

// WorstTenant stands in a Query for the tenant whose value is the worst: in each run another one, perhaps. Tenants of
// which no job is enqueued are none.
const WorstTenant = "worst"

// MostWorst is how many tenants there may be for the worst of them to be told.
const MostWorst = mostTenants

// NoWorst returns why the metric has no worst tenant among so many, "" if it has one.
func (m *MetricInfo) NoWorst(tenants int) string {
	switch {
	case m.Name == slowdown:
		return "two runs are needed to tell it, and another tenant may be the worst in each"
	case !m.LessIsBetter && !m.MoreIsBetter:
		return "neither more nor less of it is worse"
	case tenants > MostWorst:
		return fmt.Sprintf("the worst is told of up to %d tenants, and there are %d", MostWorst, tenants)
	}
	return ""
}

// byTenants prepares to answer q for each tenant; the reason says why not, if there is one.
func (c *Collector) byTenants(m *metric, q Query) (parts []question, reason string) {
	n := max(len(c.settings.Tenants)-1, 0)
	if why := m.NoWorst(n); why != "" {
		return nil, why
	}
	for id := range n {
		name := c.settings.Tenants[id+1]
		if name == WorstTenant {
			continue // a query of this name would be about the worst one again
		}
		q.Tenant = name
		part := c.question(q)
		if m.basis != onJobs {
			part.present = c.setOf(Query{Class: q.Class, Tenant: name})
		} else {
			part.present = part.jobs
		}
		parts = append(parts, part)
	}
	return parts, ""
}

// answer returns the answer to q.
func (c *Collector) answer(q *question) number {
	switch {
	case q.reason != "":
		return none(q.reason)
	case q.Tenant == WorstTenant:
		return c.worst(q)
	}
	return q.metric.of(&answer{c, q.view, q.Query, q.jobs, q.clock, q.view.stormOf(q.After), q.hungry})
}

// worst returns the worst answer to the parts of q. A lower bound on any of them bounds the most of all.
func (c *Collector) worst(q *question) number {
	worst, bound := none("no tenant has a job"), false
	for i := range q.parts {
		if q.parts[i].present.enqueued == 0 {
			continue
		}
		n := c.answer(&q.parts[i])
		if n.reason != "" {
			if worst.reason != "" {
				worst = n
			}
			continue
		}
		bound = bound || n.bound
		if worst.reason != "" || q.metric.MoreIsBetter == (n.value < worst.value) && n.value != worst.value {
			worst = n
		}
	}
	if worst.reason == "" && q.metric.LessIsBetter {
		worst.bound = bound
	}
	return worst
}
