package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/measure"
	"qsim/results/plain"
)

// ranked holds the p99 waits, in order of size, of the tenants that had fresh jobs under one policy.
type ranked struct {
	ranks, waits []float64 // rank of the tenant, from 1 on
	bounds       int       // number of lower bounds: p99 waits that fall among jobs never claimed
	slowest      string    // longest of the waits, as text
	name         string    // name of the tenant with the longest wait
}

var _ = builtInChart(80, "tenants", "7-tenants", tenantsChart, "Tenants", "jain")

// tenantsChart returns the chart of each tenant's p99 wait of fresh jobs, in order of size, if there are too many
// tenants for a table. Otherwise, or if the waits were not measured, it is nil.
func tenantsChart(d *drawing) *sheet {
	_, known := countedTenants(d.summary)
	if known <= tenantLimit {
		return nil
	}
	all := make([]ranked, len(d.policies))
	slowest := make([]float64, len(all))
	seen, bounds := plain.ExtentOf(), false
	for i := range all {
		all[i], slowest[i] = d.rankTenants(i, known), math.NaN()
		if w := all[i].waits; len(w) > 0 {
			slowest[i] = w[0]
			seen.Include(w...)
		}
		bounds = bounds || all[i].bounds > 0
	}
	s := &sheet{Figure: Figure{Title: "No fresh job of any tenant was ready" + under(d.summary),
		Footer: d.footer("all seeds pooled")}}
	if !seen.Empty() {
		s.Title = d.tenantsTitle(all, slowest)
	}
	s.Subtitle = "p99 of the fresh waits of each tenant (log scale), the slowest first under each policy; " +
		plain.When(known < len(d.settings.Tenants)-1, fmt.Sprintf("the first %d of ", known)) +
		fmt.Sprintf("%d tenants", len(d.settings.Tenants)-1) +
		plain.When(bounds, "; at least that, where too many were not claimed")
	s.alt = d.alt("p99 wait of the slowest tenant, and of the one in the middle",
		func(i int) string { return all[i].words() })
	var axis valueAxis
	axis.overWaits(seen.Low, seen.High)
	d.addLines(s, lineChart{
		axes: func(p *plot.Plot, steps int, _ bool) {
			p.X.Tick.Marker, p.X.Min, p.X.Max = counts(steps), 0, float64(known)
			axis.set(&p.Y, 10)
		},
		lines: func(_ *plot.Plot, i int, style draw.LineStyle) []curve {
			return []curve{{all[i].ranks, all[i].waits, style}}
		},
		remarks: func(i int) []string { return []string{"slowest " + all[i].slowest, all[i].slowest} },
		tall:    2.4 * vg.Inch, across: "tenants, the slowest first",
	}, d.shown(extremes(slowest)))
	return s
}

// tenantsTitle returns the title of the tenants chart: on the metric of an objective about the worst tenant, as in the
// results table, or else on the p99 wait of the slowest tenant, named if there are several classes.
func (d *drawing) tenantsTitle(all []ranked, slowest []float64) string {
	if q := d.waitQuery(); q.Tenant == measure.WorstTenant {
		if title := d.tableTitle(q); title != "" {
			return title
		}
	}
	return d.rangeTitle("Fresh p99 wait of the slowest tenant comes to", func(v float64) string {
		words, name := seconds(v), ""
		for i := range all {
			if slowest[i] != v {
				continue
			}
			if len(all[i].slowest) > len(words) { // at least that under one policy, and that under another: at least that
				words = all[i].slowest
			}
			if name == "" && d.mixed() {
				name = " (" + all[i].name + ")"
			}
		}
		return words + name
	}, slowest)
}

// rankTenants ranks tenants by their p99 wait under a policy, the longest first; known is how many tenants, from the
// first on, have one.
func (d *drawing) rankTenants(policy, known int) ranked {
	r := ranked{slowest: "none"}
	waits := d.summary.Data[policy].TenantWaits[:known]
	for i, k := range slowestFirst(waits) {
		if i == 0 {
			r.slowest, r.name = waitWords(waits[k]), tenantName(d.summary, k)
		}
		if waits[k].AtLeast {
			r.bounds++
		}
		r.ranks, r.waits = append(r.ranks, float64(i+1)), append(r.waits, waits[k].P99)
	}
	return r
}

func (r *ranked) words() string {
	if len(r.waits) == 0 {
		return "none"
	}
	return r.slowest + " and " + seconds(r.waits[len(r.waits)/2]) +
		plain.When(r.bounds > 0, fmt.Sprintf(" (%d at least)", r.bounds))
}
