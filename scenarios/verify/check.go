package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Options are the options of Check.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// MostJobs is how many jobs are simulated at the most for one experiment before an interval that is still too wide is
	// given up; 0: 400 million.
	MostJobs float64
}

func (o *Options) mostJobs() float64 { return cmp.Or(o.MostJobs, 400e6) }

// Result is the verdict on a verify row, with all its measurements.
type Result struct {
	Row
	Quantities []Quantity `json:"quantities"`
	Verdict    Verdict    `json:"verdict"`
	Reason     string     `json:"reason,omitempty"` // reason why the row was left out
	Jobs       int64      `json:"jobs"`             // number of jobs simulated
}

// Failed reports whether the simulator contradicts the row, or the interval is too wide to decide.
func (r *Result) Failed() bool { return r.Verdict == Missed || r.Verdict == Wide }

// Check measures by simulation the expected quantities of row. A row that the simulator cannot express is left out,
// with a reason. It returns an error for an invalid row, a broken simulation, or when ctx is done.
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
		var apart *disagreement
		if errors.As(err, &apart) {
			result.Verdict, result.Reason = Missed, err.Error()
			return result, nil
		}
		if err != nil {
			return result, fmt.Errorf("check %s: %w", row.ID, err)
		}
		result.Jobs += int64(x.jobs)
	}
	result.conclude(m.expected, m.asked)
	return result, nil
}

// severity ranks verdicts, the worst highest: a verify row has the verdict of its worst quantity.
var severity = map[Verdict]int{LeftOut: 0, Met: 1, Wide: 2, Missed: 3}

// conclude fills in the quantities and the verdict of a verify row from the measurements.
func (r *Result) conclude(expected []item, asked []*experiment) {
	r.Verdict = LeftOut
	for i, it := range expected {
		q := Quantity{Name: it.path, Expected: it.value, Verdict: LeftOut}
		switch x := asked[i]; {
		case boundOf(it.path) != "":
			q.Reason = "a bound on " + boundOf(it.path)
		case x == nil && facts[it.path] != "":
			q.Reason = facts[it.path]
		case x == nil:
			q.Reason = "nothing measures it"
		default:
			for _, a := range x.answers {
				if a.path == it.path {
					q = a.quantity()
				}
			}
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
