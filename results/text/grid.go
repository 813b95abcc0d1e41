package text

import (
	"fmt"
	"math"

	"qsim/results"
	"qsim/results/measure"
)

// Grid is the table of a summary's policies for a page: a row for each policy.
type Grid struct {
	Columns []GridColumn
	Rows    [][]GridCell // by policy, then by column
}

// GridColumn is a metric in a Grid.
type GridColumn struct {
	measure.Query
	Title string // for people: "fresh p99 in storm", or the query
	Doc   string // what the metric is, without a full stop
	Info  measure.MetricInfo
}

// GridCell is one value of a Grid in words.
type GridCell struct {
	Value  string // 4m13s, ≥ 2h00m; Missing: there is none, for Reason
	Half   string // ±12.6s; "": there is no interval
	Change string // against the baseline: −97%, base; "": not to be told
	Mark   string // beside Change: ≈ as good as equal to the baseline, ? not to be told yet, or nothing
	Tell   int    // ?: about this many seeds would decide; 0: unknown
	Best   bool   // no policy has a better value, as far as it is printed, and one a worse one
	Reason string
}

// MarkWords returns the meaning of Mark.
func (c *GridCell) MarkWords() string {
	switch {
	case c.Mark == "≈":
		return "the same as the baseline"
	case c.Mark == "?" && c.Tell > 0:
		return fmt.Sprintf("not told apart from the baseline yet: run about %d seeds", c.Tell)
	case c.Mark == "?":
		return "cannot be told apart from the baseline"
	}
	return ""
}

// GridOf returns the metrics of the table that WriteTable prints, then what the objectives are about,
// then those asked for, each once and only if the summary has it.
func GridOf(s *results.Summary, more ...measure.Query) Grid {
	var g Grid
	add := func(q measure.Query, title string) {
		for i := range g.Columns {
			if g.Columns[i].Query == q {
				return
			}
		}
		if len(s.Policies) == 0 || s.Policies[0].Find(q) == nil {
			return
		}
		info, _ := measure.Lookup(q.Metric)
		g.Columns = append(g.Columns, GridColumn{q, title, info.Doc, info})
	}
	t := results.TableOf(s)
	for _, c := range append(t.Columns, t.Alike...) {
		add(c.Query, c.Label)
	}
	for _, q := range more {
		add(q, q.Label())
	}
	for i := range s.Policies {
		var row []GridCell
		for k := range g.Columns {
			row = append(row, cellOf(s, i, g.Columns[k].Query))
		}
		g.Rows = append(g.Rows, row)
	}
	for k := range g.Columns {
		g.markBest(s, k)
	}
	return g
}

// cellOf is the value of q under policy i.
func cellOf(s *results.Summary, i int, q measure.Query) GridCell {
	c := results.CellOf(s, i, q)
	return GridCell{Value: c.Value, Half: c.Half, Change: c.Change, Mark: c.Mark, Tell: c.Tell, Reason: c.Reason}
}

// markBest marks the best values of column k, if the metric has a better and a worse. A lower
// bound may in truth be anything above it.
func (g *Grid) markBest(s *results.Summary, k int) {
	info, q := g.Columns[k].Info, g.Columns[k].Query
	best, worst, value := math.NaN(), math.NaN(), ""
	sign := 1.0
	if info.MoreIsBetter {
		sign = -1
	} else if !info.LessIsBetter {
		return
	}
	for i := range s.Policies {
		e := s.Policies[i].Find(q)
		if e == nil || e.Null() {
			continue
		}
		v := float64(sign * e.Mean)
		if !(v <= worst) {
			worst = v
		}
		if (e.Bound == "" || info.MoreIsBetter) && !(v >= best) {
			best, value = v, g.Rows[i][k].Value
		}
	}
	if math.IsNaN(best) || best == worst {
		return
	}
	for i := range g.Rows {
		g.Rows[i][k].Best = g.Rows[i][k].Value == value // which says whether it is a bound
	}
}

// CellOf returns the value of q under policy i of s in words, as in a Grid but for Best.
func CellOf(s *results.Summary, i int, q measure.Query) GridCell { return cellOf(s, i, q) }
