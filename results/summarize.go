package results

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
)

// Summarize joins the runs of the policies of s, in any order: what it returns does
// not depend on that. It uses the seeds that every policy finished. It takes over the histograms and
// series of runs, which it does not change.
func Summarize(s *Settings, runs []Run, o Options) (*Summary, error) {
	grid, seeds, err := align(s, runs)
	if err != nil {
		return nil, fmt.Errorf("summarize %s: %w", s.Scenario, err)
	}
	sum := &Summary{
		Scenario: s.Scenario, ConfigHash: s.ConfigHash, Seeds: seeds, Duration: s.Duration.Seconds(),
		Partial: isPartial(runs, seeds, o.Seeds), Settings: s,
	}
	for i, info := range s.Policies {
		policy := PolicySummary{Kind: info.Kind, Label: info.Label, Baseline: i == s.Baseline, Fingerprint: fingerprint(grid[i])}
		data := PolicyData{Pooled: pool(grid[i]), Tenants: poolTenants(grid[i]), TenantWaits: poolTenantWaits(grid[i])}
		for _, run := range grid[i] {
			data.Series = append(data.Series, run.Series)
		}
		for j := range allMetrics {
			if m := &allMetrics[j]; !m.OnRequest {
				policy.Metrics = append(policy.Metrics, estimate(Query{Metric: m.Name}, grid[i], data.Pooled))
			}
		}
		for _, q := range Queries(s) {
			policy.Filtered = append(policy.Filtered, estimate(q, grid[i], data.Pooled))
		}
		sum.Policies, sum.Data = append(sum.Policies, policy), append(sum.Data, data)
	}
	sum.compare()
	sum.judge()
	sum.warn(grid, max(len(o.Seeds), len(seeds)))
	sum.warnOfError(o.Until)
	for i := range sum.Objectives {
		if sum.Objectives[i].Failed(o.Strict) {
			sum.Exit = 1
		}
	}
	return sum, nil
}

// align returns, by policy and in the order of seeds, the runs of the seeds that all
// policies finished.
func align(s *Settings, runs []Run) (grid [][]*Run, seeds []uint64, err error) {
	grid = make([][]*Run, len(s.Policies))
	if len(grid) == 0 {
		return nil, nil, errors.New("there is no policy")
	}
	for i := range runs {
		p := runs[i].Policy
		if p < 0 || p >= len(grid) {
			return nil, nil, fmt.Errorf("a run is of policy %d, but there are %d", p, len(grid))
		}
		grid[p] = append(grid[p], &runs[i])
	}
	finished := make(map[uint64]int)
	for p := range grid {
		slices.SortFunc(grid[p], func(a, b *Run) int {
			if a.Seed < b.Seed {
				return -1
			}
			return 1
		})
		for i, run := range grid[p] {
			if i > 0 && grid[p][i-1].Seed == run.Seed {
				return nil, nil, fmt.Errorf("there are two runs of %s with seed %d", s.Policies[p].Label, run.Seed)
			}
			finished[run.Seed]++
		}
	}
	for p := range grid {
		grid[p] = slices.DeleteFunc(grid[p], func(r *Run) bool { return finished[r.Seed] < len(grid) })
	}
	for _, run := range grid[0] {
		seeds = append(seeds, run.Seed)
	}
	if len(seeds) == 0 {
		return nil, nil, errors.New("no seed was finished by every policy")
	}
	return grid, seeds, nil
}

// isPartial reports whether a seed that was asked for, or run at all, is not among seeds.
func isPartial(runs []Run, seeds, asked []uint64) bool {
	for _, seed := range asked {
		if _, found := slices.BinarySearch(seeds, seed); !found {
			return true
		}
	}
	for i := range runs {
		if _, found := slices.BinarySearch(seeds, runs[i].Seed); !found {
			return true
		}
	}
	return false
}

// fingerprint folds the fingerprints of runs, in their order.
func fingerprint(runs []*Run) string {
	h := fnv.New64a()
	for _, run := range runs {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], run.Fingerprint)
		h.Write(word[:]) // never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// pool merges the histograms of runs by their queries.
func pool(runs []*Run) []NamedHistogram {
	var pooled []NamedHistogram
	for _, run := range runs {
		for i := range run.Histograms {
			pooled = poolOne(pooled, &run.Histograms[i])
		}
	}
	return pooled
}

// poolOne merges a histogram into the one of its query.
func poolOne(pooled []NamedHistogram, h *RunHistogram) []NamedHistogram {
	at := slices.IndexFunc(pooled, func(p NamedHistogram) bool { return p.Query == h.Query })
	if at < 0 {
		at = len(pooled)
		pooled = append(pooled, NamedHistogram{Name: h.Name, Query: h.Query, Hist: new(Histogram)})
	}
	pooled[at].merge(h)
	return pooled
}

// estimate joins what the runs say to q.
func estimate(q Query, runs []*Run, pooled []NamedHistogram) Estimate {
	e := Estimate{Query: q, Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), Half: math.NaN()}
	m := lookup(q.Metric)
	if m != nil {
		e.Unit = m.Unit
	}
	var values []float64
	for _, run := range runs {
		v := run.value(q)
		if v.Null {
			e.Values = append(e.Values, math.NaN())
			e.Reason = v.Reason
			continue
		}
		e.Values, values = append(e.Values, v.Value), append(values, v.Value)
		if v.Bound != "" {
			e.Bound = v.Bound
		}
	}
	e.N = len(values)
	if e.N == 0 {
		return e
	}
	e.Reason = ""
	e.Mean, e.Half = meanInterval(values)
	if centre, ok := pooledQuantile(m, q, pooled); ok {
		e.Mean = centre.value
		if centre.bound {
			e.Bound = ">="
		}
		if e.N > 1 {
			e.Half = HalfWidth(values, e.Mean, confidence)
		}
	}
	e.Low, e.High = max(e.Mean-e.Half, 0), e.Mean+e.Half // NaN stays NaN
	if m != nil && m.Share {
		e.High = min(e.High, 1)
	}
	return e
}

// pooledQuantile is the quantile that q asks for, of all jobs of all seeds.
func pooledQuantile(m *metric, q Query, pooled []NamedHistogram) (centre number, ok bool) {
	if m == nil || m.quantile == 0 {
		return number{}, false
	}
	want := histogramQuery(m, q)
	for i := range pooled {
		if p := &pooled[i]; p.Query == want && p.Hist.Count()+p.Unresolved.Count() > 0 {
			w := wait{p.Hist, p.Unresolved}
			if m.km {
				return w.kaplanMeier().quantile(m.quantile), true
			}
			return w.quantile(m.quantile), true
		}
	}
	return number{}, false
}

// value returns what r says to q.
func (r *Run) value(q Query) Value {
	for i := range r.Values {
		if r.Values[i].Query == q {
			return r.Values[i]
		}
	}
	return Value{Query: q, Null: true, Reason: "it was not measured"}
}
