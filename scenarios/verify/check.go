package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Options of Check.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// MostJobs is how many jobs are simulated at the most for one experiment before an
	// interval that is still too wide is given up; 0: 400 million.
	MostJobs float64
}

func (o *Options) mostJobs() float64 { return cmp.Or(o.MostJobs, 400e6) }

// Result is what became of a row.
type Result struct {
	Row
	Quantities []Quantity `json:"quantities"`
	Verdict    Verdict    `json:"verdict"`
	Reason     string     `json:"reason,omitempty"` // why it was left out
	Jobs       int64      `json:"jobs"`             // simulated
}

// Failed reports whether the simulator and the row do not agree, or not well enough to
// tell.
func (r *Result) Failed() bool { return r.Verdict == Missed || r.Verdict == Wide }

// family builds the experiments that answer the rows of a family.
type family func(p *params) ([]experiment, error)

// facts are items that are no property of the model, with the reason.
var facts = map[string]string{
	"states":    "the size of the numerical solution",
	"edge_mass": "the error of the numerical solution",
}

// Check measures what row expects. A row that the simulator cannot express is left out,
// with a reason. An error says that the row is wrong, a simulation broke, or ctx is done.
func Check(ctx context.Context, row Row, o Options) (Result, error) {
	result := Result{Row: row}
	expected, err := items(row.Expected)
	if err != nil {
		return result, fmt.Errorf("check %s: read expected: %w", row.ID, err)
	}
	if reason := inexpressible(row.Family()); reason != "" {
		return result.leaveOut(reason), nil
	}
	build := families[row.Family()]
	if build == nil {
		return result.leaveOut("there is no family " + row.Family()), nil
	}
	p, err := newParams(row.Params)
	if err != nil {
		return result, fmt.Errorf("check %s: %w", row.ID, err)
	}
	p.expected = expected
	experiments, err := build(p)
	if len(p.problems) > 0 {
		return result, fmt.Errorf("check %s: %w", row.ID, p.problems[0])
	}
	if err != nil {
		return result.leaveOut(err.Error()), nil
	}
	asked := make([]*experiment, len(expected)) // by item
	for i := range experiments {
		experiments[i].ask(&row, expected, asked)
	}
	for i := range experiments {
		x := &experiments[i]
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
	result.conclude(expected, asked)
	return result, nil
}

func (r Result) leaveOut(reason string) Result {
	r.Verdict, r.Reason = LeftOut, reason
	return r
}

// ask finds out which items x answers that nobody before it does.
func (x *experiment) ask(row *Row, expected []item, asked []*experiment) {
	for i, it := range expected {
		if asked[i] != nil || boundOf(it.path) != "" {
			continue
		}
		m, ok := x.measures[it.path]
		if !ok && x.others {
			m, ok = usualMeasure(it.path, it.value, x.setup.workers, &x.plan)
		}
		if !ok {
			continue
		}
		asked[i] = x
		x.plan.waits = x.plan.waits || m.distribution != nil
		a := &answer{item: it, measure: m, kind: row.Kind, busy: x.load > highLoad, slack: slack(it.path, expected)}
		x.answers = append(x.answers, a)
	}
}

// boundOf is the quantity that an item bounds, "" if it is none of the ends of a range.
func boundOf(path string) string {
	at := strings.Index(path, "_bounds[")
	if at < 0 {
		return ""
	}
	return path[:at]
}

// slack is how far from its expected value a quantity may be by what is known of it.
func slack(path string, expected []item) float64 {
	var bounds []float64
	for _, it := range expected {
		if v, ok := it.value.(float64); ok && boundOf(it.path) == path {
			bounds = append(bounds, v)
		}
	}
	if len(bounds) < 2 {
		return 0
	}
	return (slices.Max(bounds) - slices.Min(bounds)) / 2
}

// severity ranks verdicts: a row is as its worst quantity, and left out if all are.
var severity = map[Verdict]int{LeftOut: 0, Met: 1, Wide: 2, Missed: 3}

// conclude puts the answers together.
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
