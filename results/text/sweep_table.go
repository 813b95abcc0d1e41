package text

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// mostSweepRows is the highest number of rows of a sweep in the Text format.
const mostSweepRows = 200

// sweepView lays out the results of a sweep as text.
type sweepView struct{ *results.Sweep }

// WriteSweep writes a table of a sweep, with a row for each cell and policy: Text and Markdown for people, CSV with all
// numbers in full, each metric with its interval and the number of seeds with a value.
func WriteSweep(w io.Writer, sweep *results.Sweep, o TableOptions) error {
	s := sweepView{sweep}
	if o.Format == CSV {
		return write(w, "table", s.records().csv())
	}
	t := s.table(o.Format == Text)
	left := len(t.Rows)
	if o.Format == Text && left > mostSweepRows {
		t.Rows = t.Rows[:mostSweepRows]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", s.describe())
	if err := t.Write(&b, o); err != nil {
		return err
	}
	if more := left - len(t.Rows); more > 0 {
		fmt.Fprintf(&b, "and %s more: --format csv prints them all\n", plain.Plural(more, "row"))
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(Wrapped(s.footnote(), o.Width), "\n"))
	return write(w, "table", b.String())
}

// describe returns the heading of a sweep: its scenario, keys, and numbers of cells, policies and seeds.
func (s sweepView) describe() string {
	var axes []string
	for i := range s.Axes {
		axes = append(axes, fmt.Sprintf("%s (%d)", s.Axes[i].Key, len(s.Axes[i].Values)))
	}
	return fmt.Sprintf("%s  %s: %s × %s × %s", s.Scenario, strings.Join(axes, " × "), plain.Plural(len(s.Cells), "cell"),
		plain.Plural(len(s.Policies), "policy"), plain.Plural(len(s.Seeds), "seed"))
}

// footnote returns the legend of the signs and intervals in the table.
func (s sweepView) footnote() string {
	words := "± 95 % t-interval over the seeds, which are the same in every cell; ≥ the run ended too early to tell"
	if len(s.Seeds) < 2 {
		words = "one seed: no interval"
	}
	if len(s.Objectives) > 0 {
		words += "; the last column: all objectives of the policy"
	}
	return words
}

// table returns the sweep as a table for people. With once, the values of a cell stand only in the first of its rows.
func (s sweepView) table(once bool) Table {
	t := Table{Rule: true}
	for _, key := range append(s.ShortKeys(), "policy") {
		t.Columns = append(t.Columns, Column{Title: key, Key: true})
	}
	t.Columns[len(t.Columns)-1].Least = shortestName
	for _, q := range s.Queries {
		t.Columns = append(t.Columns, Column{Title: q.Label(), Right: true})
	}
	t.Columns = append(t.Columns, Column{})
	for i := range s.Cells {
		for k := range s.Cells[i].Rows {
			r := &s.Cells[i].Rows[k]
			var row []Cell
			for _, value := range s.Values(s.Cells[i].Index) {
				if once && k > 0 {
					value = ""
				}
				row = append(row, Plain(shortened(value)))
			}
			row = append(row, Plain(s.Policies[r.Policy].Label))
			for q := range s.Queries {
				info, _ := measure.Lookup(s.Queries[q].Metric)
				e, half := &r.Estimates[q], ""
				if !math.IsNaN(e.Half) && e.Half > 0 {
					half = results.FormatHalf(e.Half, info)
				}
				row = append(row, Cell{{Text: results.FormatEstimate(e, info)}, {Text: half}})
			}
			t.Rows = append(t.Rows, append(row, Plain(string(r.Outcome()))))
		}
	}
	return t
}

// shortened returns a value cut to the greatest width of a column, keeping its end, because values that begin alike
// often differ there.
func shortened(value string) string {
	const most = 40
	if r := []rune(value); len(r) > most {
		return string(r[:most-14]) + "…" + string(r[len(r)-13:])
	}
	return value
}

// records returns the sweep for a CSV file.
func (s sweepView) records() records {
	header := []string{"cell"}
	for i := range s.Axes {
		header = append(header, s.Axes[i].Key)
	}
	header = append(header, "policy")
	for _, q := range s.Queries {
		name := q.String()
		header = append(header, name, name+" low", name+" high", name+" n", name+" bound")
	}
	all := records{append(header, "objectives", "fingerprint")}
	for i := range s.Cells {
		cell := &s.Cells[i]
		values := s.Values(cell.Index)
		for k := range cell.Rows {
			r := &cell.Rows[k]
			row := append([]string{strconv.Itoa(cell.Index)}, values...)
			row = append(row, s.Policies[r.Policy].Label)
			for q := range r.Estimates {
				e := &r.Estimates[q]
				row = append(row, plain.Number(e.Mean), plain.Number(e.Low), plain.Number(e.High), strconv.Itoa(e.N), e.Bound)
			}
			all = append(all, append(row, string(r.Outcome()), r.Fingerprint))
		}
	}
	return all
}
