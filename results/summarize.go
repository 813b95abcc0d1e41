package results

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"qsim/results/measure"
)

// Summarize computes the summary of the runs of the policies of s; the order of runs does not matter. It uses the seeds
// that every policy finished, and keeps the histograms and series of runs, which it does not change.
func Summarize(s *measure.Settings, runs []measure.Run, o Options) (*Summary, error) {
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
		data := PolicyData{Pooled: measure.Pool(grid[i]), Tenants: measure.PoolTenants(grid[i]), TenantWaits: measure.PoolTenantWaits(grid[i])}
		for _, run := range grid[i] {
			data.Series = append(data.Series, run.Series)
		}
		for _, m := range measure.Metrics() {
			if !m.OnRequest {
				policy.Metrics = append(policy.Metrics, estimate(measure.Query{Metric: m.Name}, grid[i], data.Pooled))
			}
		}
		for _, q := range measure.Queries(s) {
			policy.Filtered = append(policy.Filtered, estimate(q, grid[i], data.Pooled))
		}
		sum.Policies, sum.Data = append(sum.Policies, policy), append(sum.Data, data)
	}
	sum.compare()
	sum.FindLikeness(DefaultSameWithin)
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

// align returns the runs by policy and seed, restricted to the seeds that all policies finished.
func align(s *measure.Settings, runs []measure.Run) (grid [][]*measure.Run, seeds []uint64, err error) {
	grid = make([][]*measure.Run, len(s.Policies))
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
		slices.SortFunc(grid[p], func(a, b *measure.Run) int { return cmp.Compare(a.Seed, b.Seed) })
		for i, run := range grid[p] {
			if i > 0 && grid[p][i-1].Seed == run.Seed {
				return nil, nil, fmt.Errorf("there are two runs of %s with seed %d", s.Policies[p].Label, run.Seed)
			}
			finished[run.Seed]++
		}
	}
	for p := range grid {
		grid[p] = slices.DeleteFunc(grid[p], func(r *measure.Run) bool { return finished[r.Seed] < len(grid) })
	}
	for _, run := range grid[0] {
		seeds = append(seeds, run.Seed)
	}
	if len(seeds) == 0 {
		return nil, nil, errors.New("no seed was finished by every policy")
	}
	return grid, seeds, nil
}

// isPartial reports whether seeds lacks a requested seed or one that was run.
func isPartial(runs []measure.Run, seeds, asked []uint64) bool {
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

// fingerprint hashes the event digests of runs, in order, into 16 hex digits.
func fingerprint(runs []*measure.Run) string {
	h := fnv.New64a()
	for _, run := range runs {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], run.Fingerprint)
		h.Write(word[:]) // never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// estimate combines the values of the metric q in runs, one for each seed, into an estimate with its interval.
func estimate(q measure.Query, runs []*measure.Run, pooled []measure.NamedHistogram) Estimate {
	e := Estimate{Query: q, Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), Half: math.NaN()}
	info, _ := measure.Lookup(q.Metric)
	e.Unit = info.Unit
	var values []float64
	for _, run := range runs {
		v := run.Find(q)
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
	e.Mean, e.Half = Interval(values)
	if centre, bound, ok := measure.PooledQuantile(q, pooled); ok {
		e.Mean = centre
		if bound {
			e.Bound = ">="
		}
		if e.N > 1 {
			e.Half = HalfWidth(values, e.Mean, confidence)
		}
	}
	e.Low, e.High = max(e.Mean-e.Half, 0), e.Mean+e.Half // NaN stays NaN
	if info.Share {
		e.High = min(e.High, 1)
	}
	return e
}
