package results

import (
	"fmt"
	"math"
	"slices"

	"qsim/results/measure"
	"qsim/results/plain"
)

// fewestToStop is the least number of seeds before a run may end early: with fewer, a spread that is small by chance
// ends it too soon.
const fewestToStop = 10

// Watch decides after each seed whether confidence intervals are narrow enough to stop: those of the objectives'
// metrics under every policy; without objectives those of the p99 of fresh waits. Seeds must be added in ascending
// order, so that the stop depends on nothing else.
type Watch struct {
	settings *measure.Settings
	error    float64
	queries  []measure.Query
	policies []watched
}

// watched holds the runs of one policy so far, and the histograms pooled over them.
type watched struct {
	runs   []*measure.Run
	pooled []measure.NamedHistogram
}

// NewWatch returns a watch for a relative error of at most g, in (0, 1).
func NewWatch(s *measure.Settings, g float64) *Watch {
	return &Watch{settings: s, error: g, queries: watchedQueries(s), policies: make([]watched, len(s.Policies))}
}

// watchedQueries returns the metrics, each once, whose intervals decide when the seeds are enough.
func watchedQueries(s *measure.Settings) []measure.Query {
	if len(s.Objectives) == 0 {
		return []measure.Query{{Metric: measure.UsualWait}}
	}
	return distinct(objectiveQueries(s))
}

// Add adds the runs of one more seed, one for each policy in any order, and reports whether all intervals are now
// narrow enough. It keeps the runs and does not change them.
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

// needs reports whether a watched quantile is computed from the histogram of that query.
func (w *Watch) needs(histogram measure.Query) bool {
	return slices.ContainsFunc(w.queries, func(q measure.Query) bool {
		of, ok := measure.HistogramOf(q)
		return ok && of == histogram
	})
}

// precise reports whether the interval of e has a relative error of at most g: the half-width is at most g ÷ (1 + g) of
// the mean's size. The factor 1 + g allows for the mean itself being an estimate. A metric without a value under any
// seed counts as precise. Law, Kelton: Simulation Modeling and Analysis, section 9.4.1.
func (e *Estimate) precise(g float64) bool {
	if len(e.Values) < fewestToStop {
		return false
	}
	return e.Null() || e.N >= fewestToStop && e.Half <= g*math.Abs(e.Mean)/(1+g)
}

// Widest returns, as text, the watched metric with the widest interval relative to its value; "" if all are narrow
// enough for a relative error of at most g, in (0, 1).
func (s *Summary) Widest(g float64) string {
	worst, text := 0.0, ""
	for _, q := range watchedQueries(s.Settings) {
		for i := range s.Policies {
			e := s.Policies[i].Find(q)
			if e == nil || e.precise(g) {
				continue
			}
			ratio := math.Inf(1)
			if e.Mean != 0 && !math.IsNaN(e.Half) {
				ratio = e.Half / math.Abs(e.Mean)
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
