package measure

import (
	"cmp"
	"fmt"
)

// WorstTenant is the tenant name, in a Query, of the tenant with the worst value, which may be another tenant in each
// run. Tenants without jobs are left out.
const WorstTenant = "worst"

// NoWorst returns the reason why the metric cannot be computed for the worst of n tenants, "" if it can.
func (m *MetricInfo) NoWorst(tenants int) string {
	switch {
	case m.Name == slowdown:
		return "two runs are needed to tell it, and another tenant may be the worst in each"
	case !m.LessIsBetter && !m.MoreIsBetter:
		return "neither more nor less of it is worse"
	case tenants > mostTenants:
		return fmt.Sprintf("the worst is told of up to %d tenants, and there are %d", mostTenants, tenants)
	}
	return ""
}

// byTenants returns a query narrowed to each tenant in turn, or the reason why the worst of them cannot be found.
func (c *Collector) byTenants(m *metric, q Query) (parts []question, reason string) {
	n := max(len(c.settings.Tenants)-1, 0)
	if why := m.NoWorst(n); why != "" {
		return nil, why
	}
	for id := range n {
		name := c.settings.Tenants[id+1]
		if name == WorstTenant {
			continue // a tenant of this name would mean the worst tenant again
		}
		q.Tenant = name
		part := c.question(q)
		if part.reason != "" { // that of all tenants
			return nil, part.reason
		}
		if m.basis != onJobs {
			part.present = c.setOf(Query{Class: q.Class, Tenant: name})
		} else {
			part.present = part.jobs
		}
		parts = append(parts, part)
	}
	return parts, ""
}

// answer returns the value of a query in the run that was measured, or the reason why it has none.
func (q *question) answer() Value {
	switch {
	case q.reason != "":
		return none(q.reason)
	case q.Tenant == WorstTenant:
		return q.worst()
	}
	return q.metric.of(q)
}

// worst returns the worst value of a query among tenants with jobs. If any value is a lower bound, so is the highest.
func (q *question) worst() Value {
	worst, bound := none("no tenant has a job"), ""
	for i := range q.parts {
		if q.parts[i].present.enqueued == 0 {
			continue
		}
		n := q.parts[i].answer()
		if n.Null {
			if worst.Null {
				worst = n
			}
			continue
		}
		bound = cmp.Or(n.Bound, bound)
		if worst.Null || q.metric.MoreIsBetter == (n.Value < worst.Value) {
			worst = n
		}
	}
	if q.metric.LessIsBetter {
		worst.Bound = bound
	}
	return worst
}
