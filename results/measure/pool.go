package measure

import (
	"slices"

	"qsim/results/plain"
)

// Pool merges the distributions of waits of several runs: those of equal query (kind of wait and filters) into one.
func Pool(runs []*Run) []NamedHistogram {
	var pooled []NamedHistogram
	for _, run := range runs {
		for i := range run.Histograms {
			pooled = PoolOne(pooled, &run.Histograms[i])
		}
	}
	return pooled
}

// PoolOne merges a run's histogram h into that of the same query (kind of wait, filters) in pooled, or appends it.
func PoolOne(pooled []NamedHistogram, h *NamedHistogram) []NamedHistogram {
	at := slices.IndexFunc(pooled, func(p NamedHistogram) bool { return p.Query == h.Query })
	if at < 0 {
		at = len(pooled)
		pooled = append(pooled, NamedHistogram{Query: h.Query})
	}
	pooled[at].merge(&h.Waits)
	return pooled
}

// PooledQuantile returns the value in seconds of a quantile query over all jobs of all seeds, and whether it is only a
// lower bound; ok is false if q is no quantile query or pooled lacks the histogram.
func PooledQuantile(q Query, pooled []NamedHistogram) (value float64, bound, ok bool) {
	want, _ := HistogramOf(q)
	m := lookup(q.Metric)
	for i := range pooled {
		if p := &pooled[i]; p.Query == want && p.Count() > 0 {
			n := m.ofWait(&p.Waits)
			return n.Value, n.Bound != "", true
		}
	}
	return 0, false, false
}

// Find returns the value of the query q (a metric with its filters) in a run, or a reason why it was not measured.
func (r *Run) Find(q Query) Value {
	if v := plain.Find(r.Values, func(v *Value) bool { return v.Query == q }); v != nil {
		return *v
	}
	return Value{Query: q, Null: true, Reason: "it was not measured"}
}

// PoolTenants adds up, tenant by tenant, the counts of executions and waits of several runs; nil if a run has none.
func PoolTenants(runs []*Run) []TenantCount {
	var pooled []TenantCount
	for i, run := range runs {
		if len(run.Tenants) == 0 {
			return nil
		}
		if i == 0 {
			pooled = make([]TenantCount, len(run.Tenants))
		}
		for k, t := range run.Tenants {
			if k < len(pooled) {
				p := &pooled[k]
				p.Executions, p.FreshClaims = p.Executions+t.Executions, p.FreshClaims+t.FreshClaims
				p.WaitSum, p.WaitMax = p.WaitSum+t.WaitSum, max(p.WaitMax, t.WaitMax)
			}
		}
	}
	return pooled
}

// PoolTenantWaits returns, by tenant, the p99 wait of fresh jobs over several runs; nil if a run has too few tenants.
func PoolTenantWaits(runs []*Run) []TenantWait {
	pooled := make([]TenantWait, len(runs[0].tenantWaits))
	for k := range pooled {
		var w Waits
		for _, run := range runs {
			if k >= len(run.tenantWaits) {
				return nil
			}
			w.merge(&run.tenantWaits[k])
		}
		p99 := w.quantile(.99)
		pooled[k] = TenantWait{Jobs: w.Count(), P99: p99.Value, AtLeast: p99.Bound != ""}
	}
	return pooled
}
