package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"qsim/results/plain"
	"qsim/results/text"
)

// Options are the options of Check.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// MostJobs is how many jobs are simulated at the most for one experiment before an interval that is still too wide is
	// given up; 0: 400 million.
	MostJobs float64
}

// Result is the outcome of checking one verify row: its verdict, with the measurements of its quantities.
type Result struct {
	Row
	Quantities []Quantity `json:"quantities"`
	Verdict    Verdict    `json:"verdict"`
	Reason     string     `json:"reason,omitempty"` // reason why the row was left out
	Jobs       int64      `json:"jobs"`             // number of jobs simulated
}

// Check measures the expected values of a verify row by simulation and compares. A row that scenarios cannot express is
// left out, with a reason. The error is for an invalid row, a simulation that cannot run, or the end of ctx.
func Check(ctx context.Context, row Row, o Options) (Result, error) {
	result := Result{Row: row}
	m, problems := build(row)
	if len(problems) > 0 {
		return result, fmt.Errorf("check %s: %w", row.ID, errors.Join(problems...))
	}
	if m.leftOut != "" {
		result.Verdict, result.Reason = LeftOut, m.leftOut
		return result, nil
	}
	for i := range m.experiments {
		x := &m.experiments[i]
		if len(x.answers) == 0 {
			continue
		}
		err := x.run(ctx, o)
		var apart disagreement
		if errors.As(err, &apart) {
			result.Verdict, result.Reason = Missed, err.Error()
			return result, nil
		}
		if err != nil {
			return result, fmt.Errorf("check %s: %w", row.ID, err)
		}
		result.Jobs += int64(x.jobs)
	}
	result.conclude(m)
	return result, nil
}

// severity ranks verdicts, worse ones higher: a verify row has the worst verdict of its quantities.
var severity = map[Verdict]int{LeftOut: 0, Met: 1, Wide: 2, Missed: 3}

// conclude fills in Quantities and Verdict from the measurements in m, the row's model.
func (r *Result) conclude(m *model) {
	r.Verdict = LeftOut
	for i, it := range m.expected {
		q := Quantity{Name: it.path, Expected: it.value, Verdict: LeftOut}
		switch a := m.answers[i]; {
		case a != nil:
			q = a.quantity()
		case boundOf(it.path) != "":
			q.Reason = "a bound on " + boundOf(it.path)
		default:
			q.Reason = cmp.Or(facts[it.path], "nothing measures it")
		}
		r.Quantities = append(r.Quantities, q)
		if severity[q.Verdict] > severity[r.Verdict] {
			r.Verdict = q.Verdict
		}
	}
	if r.Verdict == LeftOut {
		r.Reason = "nothing measures what it expects"
	}
}

// Summary holds the results of all verify rows that were checked, with counts: the output of qsim verify.
type Summary struct {
	Version int      `json:"version"`
	Rows    []Result `json:"rows"`
	Met     int      `json:"met"` // number of rows met
	Failed  int      `json:"failed"`
	LeftOut int      `json:"left_out"`
	Exit    int      `json:"exit"` // 1: a row failed; else 0
}

// Summarize returns the Summary of a list of results: it counts their verdicts.
func Summarize(list []Result) *Summary {
	s := &Summary{Version: 1, Rows: list}
	for i := range list {
		switch list[i].Verdict {
		case Missed, Wide:
			s.Failed, s.Exit = s.Failed+1, 1
		case LeftOut:
			s.LeftOut++
		default:
			s.Met++
		}
	}
	return s
}

// Table returns a table of all quantities as text in the format of o; except in CSV also notes on the rows left out,
// the failures, and the probability of a false alarm.
func (s *Summary) Table(o text.TableOptions) string {
	rows := s.cells(o.Format != text.CSV)
	if o.Format == text.Text { // a model's name stands in its first line only
		for i := len(rows) - 1; i > 0; i-- {
			if rows[i][0] == rows[i-1][0] {
				rows[i][0] = ""
			}
		}
	}
	table := text.Cells([]string{"model", "quantity", "expected", "measured", "half-width", "verdict"}, rows, 2, o)
	if o.Format == text.CSV {
		return table
	}
	return table + s.notes()
}

// cells returns a line of cells for each quantity, and for each verify row without any. For people numbers are short,
// and an interval that may be wider than usual says so.
func (s *Summary) cells(people bool) (rows [][]string) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', plain.Either(people, 5, -1), 64) }
	for _, r := range s.Rows {
		if len(r.Quantities) == 0 {
			rows = append(rows, []string{r.ID, "", "", "", "", string(r.Verdict)})
		}
		for _, q := range r.Quantities {
			half := plain.When(q.Half > 0, "±"+number(q.Half))
			verdict := string(q.Verdict)
			if expected, ok := q.Expected.(float64); ok && q.Loose && people {
				verdict += fmt.Sprintf(", ±%.2g%% allowed", 100*q.Allowed/math.Abs(expected))
			}
			verdict += plain.When(q.Repeated, " (measured twice)")
			rows = append(rows, []string{r.ID, q.Name, written(q.Expected, number), written(q.Measured, number), half, verdict})
		}
	}
	return rows
}

// written returns an expected or measured value as text: a float64 as number writes it, – for nil.
func written(v any, number func(v float64) string) string {
	switch v := v.(type) {
	case nil:
		return plain.Missing
	case float64:
		return number(v)
	}
	return fmt.Sprint(v)
}

// notes returns the lines below the table: counts of verdicts, probability of a false alarm, and reasons with rows.
func (s *Summary) notes() string {
	var reasons []string // in the order in which they are first given
	given := map[string][]string{}
	note := func(what, reason string) {
		if given[reason] == nil {
			reasons = append(reasons, reason)
		}
		given[reason] = append(given[reason], what)
	}
	measured, passedOver := 0, 0
	for _, r := range s.Rows {
		note(r.ID, r.Reason)
		for _, q := range r.Quantities {
			if q.Half > 0 {
				measured++
			}
			if q.Verdict == LeftOut {
				passedOver++
			}
			note(r.ID+" "+q.Name, q.Reason)
		}
	}
	notes := fmt.Sprintf("\n%s: %d met, %d failed, %d left out", plain.Plural(len(s.Rows), "row"), s.Met, s.Failed,
		s.LeftOut) + plain.When(passedOver == 1, "; of the others 1 quantity is left out") +
		plain.When(passedOver > 1, fmt.Sprintf("; of the others %d quantities are left out", passedOver)) +
		fmt.Sprintf(". Half-widths are at 99.9 %%; what is missed is measured twice,\n"+
			"so that %d drawn quantities make %s false alarms a run.\n", measured, plain.Digits(float64(measured)*1e-6, 1))
	for _, reason := range reasons {
		if reason != "" {
			notes += "  " + reason + ": " + strings.Join(given[reason], ", ") + "\n"
		}
	}
	return notes
}
