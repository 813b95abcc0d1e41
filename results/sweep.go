package results

import (
	"fmt"
	"slices"
	"strings"

	"qsim/results/measure"
)

// Sweep holds the results of a scenario under several values of some of its keys: a cell for each combination of
// values, with the same seeds in every cell.
type Sweep struct {
	Scenario   string
	ConfigHash string // hash of scenario, axes and queries, 8 hex digits
	Version    string // version of the program that computed it
	Seeds      []uint64
	Duration   float64 // duration of the scenario without the axes' values, in seconds
	Axes       []Axis
	Policies   []measure.PolicyInfo
	Baseline   int             // index of the baseline in Policies
	Queries    []measure.Query // metrics of each row's estimates
	Objectives []measure.Objective
	Cells      []Cell // results in order of Index
}

// Axis is one scenario key of a sweep and the values that it takes.
type Axis struct {
	Key    string
	Values []string // values as a scenario writes them
	// Numbers holds the values in seconds, per second, shares of 1 or plain; nil: they are words.
	Numbers []float64
	Log     bool // values form a geometric series
}

// Cell holds the results of a scenario under one combination of a sweep's values.
type Cell struct {
	Index    int // number of the cell in the product of the axes, of which the last one varies fastest
	Rows     []CellRow
	Warnings []string
}

// CellRow holds the results of one policy in a cell of a sweep.
type CellRow struct {
	Policy      int        // index of the policy in Policies
	Fingerprint string     // digest of all events of all seeds, 16 hex digits
	Seeds       int        // number of finished seeds
	Estimates   []Estimate // estimates by Queries, without their Values
	Verdicts    []Verdict  // verdicts of the objectives that apply to the policy, in their order
}

// Size returns the number of cells that the axes of a sweep span; ok is false if there are more than most.
func Size(axes []Axis, most int) (size int, ok bool) {
	size = 1
	for i := range axes {
		if size *= len(axes[i].Values); size > most {
			return size, false
		}
	}
	return size, true
}

// Position returns, for each axis, the index of its value in the cell with that index.
func (s *Sweep) Position(index int) []int {
	position := make([]int, len(s.Axes))
	for i := len(s.Axes) - 1; i >= 0; i-- {
		n := len(s.Axes[i].Values)
		position[i], index = index%n, index/n
	}
	return position
}

// Values returns, for each axis, its value in the cell with that index.
func (s *Sweep) Values(index int) []string {
	values := make([]string, len(s.Axes))
	for i, at := range s.Position(index) {
		values[i] = s.Axes[i].Values[at]
	}
	return values
}

// ShortKeys returns the last words of the axes' keys, or the whole keys where the last words are the same.
func (s *Sweep) ShortKeys() []string {
	short, seen := make([]string, len(s.Axes)), map[string]int{}
	for i := range s.Axes {
		short[i] = s.Axes[i].Key[strings.LastIndexByte(s.Axes[i].Key, '.')+1:]
		seen[short[i]]++
	}
	for i := range short {
		if seen[short[i]] > 1 {
			short[i] = s.Axes[i].Key
		}
	}
	return short
}

// AddCell adds to the sweep the estimates and verdicts of the summary of one cell. It fails if the policies of sum are
// not those of s.
func (s *Sweep) AddCell(index int, sum *Summary) error {
	cell := Cell{Index: index, Warnings: sum.Warnings}
	if len(sum.Policies) != len(s.Policies) {
		return fmt.Errorf("add cell %d: it has %d policies, not %d", index, len(sum.Policies), len(s.Policies))
	}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		if p.Label != s.Policies[i].Label {
			return fmt.Errorf("add cell %d: policy %d is %s, not %s", index, i, p.Label, s.Policies[i].Label)
		}
		row := CellRow{Policy: i, Fingerprint: p.Fingerprint, Seeds: len(sum.Seeds)}
		for _, q := range s.Queries {
			row.Estimates = append(row.Estimates, estimateOf(p, q))
		}
		for k := range sum.Objectives {
			if v := &sum.Objectives[k]; v.Policy == p.Label {
				row.Verdicts = append(row.Verdicts, *v)
			}
		}
		cell.Rows = append(cell.Rows, row)
	}
	at, found := slices.BinarySearchFunc(s.Cells, index, func(c Cell, index int) int { return c.Index - index })
	if found {
		return fmt.Errorf("add cell %d: it is there already", index)
	}
	s.Cells = slices.Insert(s.Cells, at, cell)
	return nil
}

// estimateOf returns the policy's estimate for the query q, without the values of the seeds.
func estimateOf(p *PolicySummary, q measure.Query) Estimate {
	e := estimate(q, nil, nil)
	e.Reason = "it was not measured"
	if found := p.Find(q); found != nil {
		e = *found
		e.Values = nil
	}
	return e
}

// Outcome joins the outcomes of all objectives of a policy in a cell: missed if one is, else unclear if one is, else
// met; empty if there is none.
func (r *CellRow) Outcome() Outcome {
	var worst Outcome
	for i := range r.Verdicts {
		switch o := r.Verdicts[i].Outcome; {
		case o == Missed, worst == "", o == Unclear && worst == Met:
			worst = o
		}
	}
	return worst
}
