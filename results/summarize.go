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
	"qsim/results/plain"
)

// Summarize computes the summary of a scenario's runs under its policies; the order of runs does not matter. It uses
// the seeds that every policy finished, and keeps the histograms and series of runs, which it does not change.
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
		policy := PolicySummary{Kind: info.Kind, Label: info.Label, Baseline: i == s.Baseline,
			Fingerprint: fingerprint(grid[i])}
		data := PolicyData{Series: plain.Map(grid[i], func(r *measure.Run) measure.Series { return r.Series }),
			Pooled: measure.Pool(grid[i]), Tenants: measure.PoolTenants(grid[i]), TenantWaits: measure.PoolTenantWaits(grid[i])}
		for _, m := range measure.Metrics() {
			if !m.OnRequest {
				policy.Metrics = append(policy.Metrics, estimate(measure.Query{Metric: m.Name}, grid[i], data.Pooled))
			}
		}
		policy.Filtered = plain.Map(measure.Queries(s),
			func(q measure.Query) Estimate { return estimate(q, grid[i], data.Pooled) })
		sum.Policies, sum.Data = append(sum.Policies, policy), append(sum.Data, data)
	}
	sum.compare()
	sum.FindLikeness(DefaultSameWithin)
	sum.judge()
	sum.warn(grid, max(len(o.Seeds), len(seeds)))
	sum.warnOfError(o.Until)
	if slices.ContainsFunc(sum.Objectives, func(v Verdict) bool { return v.Failed(o.Strict) }) {
		sum.Exit = 1
	}
	return sum, nil
}

// align returns the runs by policy, then seed in ascending order, and the seeds: only those that all policies finished.
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
	seeds = plain.Map(grid[0], func(r *measure.Run) uint64 { return r.Seed })
	if len(seeds) == 0 {
		return nil, nil, errors.New("no seed was finished by every policy")
	}
	return grid, seeds, nil
}

// isPartial reports whether some seed that was requested or run is missing in seeds, which every policy finished.
func isPartial(runs []measure.Run, seeds, asked []uint64) bool {
	missing := func(seed uint64) bool {
		_, found := slices.BinarySearch(seeds, seed)
		return !found
	}
	return slices.ContainsFunc(asked, missing) ||
		slices.ContainsFunc(runs, func(r measure.Run) bool { return missing(r.Seed) })
}

// fingerprint hashes the event digests of runs, in order, into 16 hex digits.
func fingerprint(runs []*measure.Run) string {
	h := fnv.New64a()
	digests := plain.Map(runs, func(run *measure.Run) uint64 { return run.Fingerprint })
	_ = binary.Write(h, binary.BigEndian, digests) // a hash takes everything
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
		e.Bound = cmp.Or(v.Bound, e.Bound)
	}
	e.N = len(values)
	if e.N == 0 {
		return e
	}
	e.Reason = ""
	e.Mean, e.Half = Interval(values)
	if centre, bound, ok := measure.PooledQuantile(q, pooled); ok {
		e.Mean, e.Half = centre, HalfWidth(values, centre, confidence)
		if bound {
			e.Bound = ">="
		}
	}
	e.Low, e.High = max(e.Mean-e.Half, 0), e.Mean+e.Half // NaN stays NaN
	if info.Share {
		e.High = min(e.High, 1)
	}
	return e
}

// fewestToStop is the least number of seeds before a run may end early: of fewer, the spread may be small by chance.
const fewestToStop = 10

// Watch is a stopping rule: it decides after each seed whether confidence intervals are narrow enough to stop. It looks
// at the objectives' metrics under every policy; without objectives at the p99 of fresh waits. Seeds must be added in
// ascending order, so that the stop depends on nothing else.
type Watch struct {
	error    float64
	queries  []measure.Query
	policies []watched
}

// watched holds the runs of one policy so far, and the histograms pooled over them, for a stopping rule.
type watched struct {
	runs   []*measure.Run
	pooled []measure.NamedHistogram
}

// NewWatch returns a stopping rule: enough seeds have run once all intervals have a relative error of at most g < 1.
func NewWatch(s *measure.Settings, g float64) *Watch {
	return &Watch{error: g, queries: watchedQueries(s), policies: make([]watched, len(s.Policies))}
}

// watchedQueries returns the metrics, each once, whose confidence intervals a stopping rule (Watch) looks at.
func watchedQueries(s *measure.Settings) []measure.Query {
	if len(s.Objectives) == 0 {
		return []measure.Query{{Metric: measure.UsualWait}}
	}
	return plain.Distinct(objectiveQueries(s))
}

// Add gives a stopping rule the runs of one more seed, one for each policy in any order, and reports whether all
// confidence intervals are now narrow enough. It keeps the runs and does not change them.
func (w *Watch) Add(runs []measure.Run) (enough bool) {
	for i := range runs {
		p := &w.policies[runs[i].Policy]
		p.runs = append(p.runs, &runs[i])
		for j := range runs[i].Histograms {
			if h := &runs[i].Histograms[j]; w.needs(h.Query) {
				p.pooled = measure.PoolOne(p.pooled, h)
			}
		}
	}
	for i := range w.policies {
		for _, q := range w.queries {
			e := estimate(q, w.policies[i].runs, w.policies[i].pooled)
			if !e.precise(w.error) {
				return false
			}
		}
	}
	return true
}

// needs reports whether a stopping rule needs a histogram, given its query, for a quantile whose interval it watches.
func (w *Watch) needs(histogram measure.Query) bool {
	return slices.ContainsFunc(w.queries, func(q measure.Query) bool {
		of, ok := measure.HistogramOf(q)
		return ok && of == histogram
	})
}

// precise reports whether the interval of an estimate has a relative error of at most g: the half-width is at most g ÷
// (1 + g) of the mean's size. The factor 1 + g allows for the mean itself being an estimate. A metric without a value
// under any seed counts as precise. Law, Kelton: Simulation Modeling and Analysis, section 9.4.1.
func (e *Estimate) precise(g float64) bool {
	if len(e.Values) < fewestToStop {
		return false
	}
	return e.Null() || e.N >= fewestToStop && e.Half <= g*math.Abs(e.Mean)/(1+g)
}

// Widest returns, as text, the watched metric with the widest interval relative to its value; "" if all are narrow
// enough for a relative error of at most g, in (0, 1).
func (s *Summary) Widest(g float64) string {
	worst, text := -1.0, ""
	for _, q := range watchedQueries(s.Settings) {
		for i := range s.Policies {
			e := s.Policies[i].Find(q)
			if e == nil || e.precise(g) {
				continue
			}
			ratio := e.Half / math.Abs(e.Mean)
			switch {
			case e.Half == 0: // every seed had the same value, perhaps 0
				ratio = 0
			case math.IsNaN(ratio):
				ratio = math.Inf(1)
			}
			if ratio <= worst {
				continue
			}
			info, _ := measure.Lookup(q.Metric)
			worst, text = ratio, fmt.Sprintf("%s under %s is %s", q.Label(), s.Policies[i].Label, FormatEstimate(e, info))
			switch {
			case math.IsNaN(e.Half):
				text += " without an interval"
			case math.IsInf(ratio, 1):
				text += " " + FormatHalf(e.Half, info)
			default:
				text += fmt.Sprintf(" ± %s%%", plain.Digits(100*ratio, 2))
			}
		}
	}
	return text
}
