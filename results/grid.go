package results

import "math"

// Grid is the table of a summary's policies for a page: a row for each policy.
type Grid struct {
	Columns []GridColumn
	Rows    [][]GridCell // by policy, then by column
}

// GridColumn is a metric in a Grid.
type GridColumn struct {
	Query
	Title string // for people: "fresh p99 in storm", or the query
	Doc   string // what the metric is, without a full stop
	Info  MetricInfo
}

// GridCell is one value of a Grid in words.
type GridCell struct {
	Value  string // 4m13s, ≥ 2h00m; Missing: there is none, for Reason
	Half   string // ±12.6s; "": there is no interval
	Change string // against the baseline: −97%, base; "": not to be told
	Same   bool   // no difference to the baseline is shown
	Best   bool   // no policy has a better value, as far as it is printed, and one a worse one
	Reason string
}

// Grid returns the metrics of the table that WriteTable prints, then what the objectives are about,
// then those asked for, each once and only if the summary has it.
func (s *Summary) Grid(more ...Query) Grid {
	var g Grid
	add := func(q Query, title string) {
		for i := range g.Columns {
			if g.Columns[i].Query == q {
				return
			}
		}
		if len(s.Policies) == 0 || s.Policies[0].Find(q) == nil {
			return
		}
		info, _ := Lookup(q.Metric)
		g.Columns = append(g.Columns, GridColumn{q, title, info.Doc, info})
	}
	for _, c := range s.columns() {
		add(c.Query, c.title)
	}
	for i := range s.Objectives {
		q := s.Objectives[i].Query
		add(q, q.String())
	}
	for _, q := range more {
		add(q, q.String())
	}
	for i := range s.Policies {
		var row []GridCell
		for k := range g.Columns {
			row = append(row, s.cell(&s.Policies[i], g.Columns[k].Query))
		}
		g.Rows = append(g.Rows, row)
	}
	for k := range g.Columns {
		g.markBest(s, k)
	}
	return g
}

// cell is the value of q under p.
func (s *Summary) cell(p *PolicySummary, q Query) GridCell {
	info, _ := Lookup(q.Metric)
	e, d := p.Find(q), p.Against(q)
	cell := GridCell{Value: formatEstimate(e, info)}
	switch {
	case e == nil:
		cell.Reason = "it was not measured"
	case e.Null():
		cell.Reason = e.Reason
	case !math.IsNaN(e.Half):
		cell.Half = formatHalf(e.Half, info)
	}
	if change := s.change(p, q); change != Missing {
		cell.Change = change
	}
	cell.Same = d != nil && !d.Shown && !math.IsNaN(d.P)
	return cell
}

// markBest marks the best values of column k, if the metric has a better and a worse. A lower
// bound may in truth be anything above it.
func (g *Grid) markBest(s *Summary, k int) {
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

// Cell returns the value of q under policy i in words, as in a Grid but for Best.
func (s *Summary) Cell(i int, q Query) GridCell { return s.cell(&s.Policies[i], q) }

// Sign is that of v's outcome: ✓ met, ✗ missed, ? unclear.
func (v *Verdict) Sign() string {
	sign, _ := v.sign()
	return sign
}

// Words returns the value of v with its interval, as in a table.
func (v *Verdict) Words() string {
	info, _ := Lookup(v.Metric)
	words := formatEstimate(&Estimate{Mean: v.Value, Bound: v.Bound}, info)
	if !math.IsNaN(v.Half) {
		words += " " + formatHalf(v.Half, info)
	}
	return words
}
