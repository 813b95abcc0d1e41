package results

import (
	"fmt"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Sweep holds the results of a scenario under several values of some of its keys (parameters): a cell for each
// combination of values, with the same seeds in every cell.
type Sweep struct {
	Scenario   string   `json:"scenario"`   // name of the scenario
	ConfigHash string   `json:"config"`     // digest of the scenario, the keys with their values and the metrics
	Version    string   `json:"program"`    // version of the program
	Seeds      []uint64 `json:"seeds"`      // seeds, the same in every cell
	Duration   float64  `json:"duration_s"` // virtual time in seconds of the unchanged scenario

	Axes       []Axis               `json:"vary"` // keys with their values
	Policies   []measure.PolicyInfo `json:"-"`
	Baseline   int                  `json:"-"` // index of the baseline in Policies
	Queries    []measure.Query      `json:"-"` // metrics of each row's estimates
	Objectives []measure.Objective  `json:"-"`
	Cells      []Cell               `json:"-"` // results in order of Index
}

// Axis is a scenario key that a sweep or search varies, with its values.
type Axis struct {
	Key     string    `json:"key"`               // key of the scenario
	Values  []string  `json:"values"`            // values as a scenario writes them
	Numbers []float64 `json:"numbers,omitempty"` // values in seconds, per second, shares of 1 or plain; missing: words
	Log     bool      `json:"log,omitzero"`      // values form a geometric series
}

// Cell holds the results of a scenario under one combination of a sweep's values.
type Cell struct {
	Index    int // number of the cell in the product of the axes, of which the last one varies fastest
	Rows     []CellRow
	Warnings []string
}

// CellRow holds the results of one policy in a cell of a sweep.
type CellRow struct {
	Policy      int        `json:"-"`           // index of the policy in Policies
	Fingerprint string     `json:"fingerprint"` // digest of all events of all seeds, 16 hex digits
	Seeds       int        `json:"seeds"`       // number of finished seeds
	Estimates   []Estimate `json:"-"`           // estimates by Queries, without their Values
	Verdicts    []Verdict  `json:"-"`           // verdicts of the objectives that apply to the policy, in their order
}

// Size returns the number of cells that the axes of a sweep span; ok is false if it exceeds the limit most.
func Size(axes []Axis, most int) (size int, ok bool) {
	size = 1
	for i := range axes {
		if size *= len(axes[i].Values); size > most {
			return size, false
		}
	}
	return size, true
}

// Position returns, for each axis of a sweep, the index of its value in the cell with the given index.
func (s *Sweep) Position(index int) []int {
	position := make([]int, len(s.Axes))
	for i := len(s.Axes) - 1; i >= 0; i-- {
		n := len(s.Axes[i].Values)
		position[i], index = index%n, index/n
	}
	return position
}

// Values returns, for each axis of a sweep, its value in the cell with the given index.
func (s *Sweep) Values(index int) []string {
	values := make([]string, len(s.Axes))
	for i, at := range s.Position(index) {
		values[i] = s.Axes[i].Values[at]
	}
	return values
}

// ShortKeys returns headings for the axes: the last word of each key, or the whole key where last words are the same.
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

// CellOf returns the cell of a sweep with the results of one combination of values, summarized in sum. It fails if the
// policies of sum are not those of the sweep.
func (s *Sweep) CellOf(index int, sum *Summary) (*Cell, error) {
	cell := &Cell{Index: index, Warnings: sum.Warnings}
	if len(sum.Policies) != len(s.Policies) {
		return nil, fmt.Errorf("add cell %d: it has %d policies, not %d", index, len(sum.Policies), len(s.Policies))
	}
	for i, p := range sum.Policies {
		if p.Label != s.Policies[i].Label {
			return nil, fmt.Errorf("add cell %d: policy %d is %s, not %s", index, i, p.Label, s.Policies[i].Label)
		}
		row := CellRow{Policy: i, Fingerprint: p.Fingerprint, Seeds: len(sum.Seeds)}
		row.Estimates = plain.Map(s.Queries, p.estimateOf)
		for _, v := range sum.Objectives {
			if v.Policy == p.Label {
				row.Verdicts = append(row.Verdicts, v)
			}
		}
		cell.Rows = append(cell.Rows, row)
	}
	return cell, nil
}

// estimateOf returns a policy's estimate for a query (a metric with its filters), without the values of single seeds.
func (p *PolicySummary) estimateOf(q measure.Query) Estimate {
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
func (r *CellRow) Outcome() Outcome { return r.OutcomeOf(func(*Verdict) bool { return true }) }

// OutcomeOf is the outcome of some objectives of a policy in a cell, joined as by Outcome.
func (r *CellRow) OutcomeOf(these func(v *Verdict) bool) Outcome {
	if worst := Worst(plain.Where(r.Verdicts, these)); worst != nil {
		return worst.Outcome
	}
	return ""
}

// Tuning is the result of a search for the best setting, a combination of values of scenario keys (parameters): the
// settings tried and the best one, for each policy.
type Tuning struct {
	Scenario   string        `json:"scenario"`   // name of the scenario
	ConfigHash string        `json:"config"`     // digest of the scenario, the keys, the objectives and the goal
	Version    string        `json:"program"`    // version of the program
	Goal       string        `json:"goal"`       // goal in words: smallest engine.workers
	Objectives []string      `json:"objectives"` // objectives that a setting must meet, in words
	Confidence float64       `json:"confidence"` // confidence of all statements about one policy together
	Axes       []Axis        `json:"axes"`       // keys with the values that were searched
	Policies   []TunedPolicy `json:"policies"`   // policies in the order of the scenario

	Query  measure.Query `json:"-"` // metric to minimize or maximize; no Metric: the margin, see below
	Margin bool          `json:"-"` // the goal is the largest margin: least distance of an objective's metric to its bound
}

// TunedPolicy is the result, for one policy, of a search for the best setting (combination of values of scenario keys).
type TunedPolicy struct {
	Label   string   `json:"label"`                  // label of the policy
	Outcome Outcome  `json:"outcome"`                // met, missed or unclear
	Decided bool     `json:"decided"`                // certain: no better setting meets the objectives, or none
	Best    []string `json:"best,format:emitnull"`   // values of the best setting, in the order of axes; null: none
	Misses  []string `json:"nearest_miss,omitempty"` // nearest better values that miss
	Runs    int      `json:"runs"`                   // number of simulations
	Grid    int      `json:"grid_runs"`              // number of simulations that all settings would need
	Said    []string `json:"said"`                   // result in sentences
	Trials  []Trial  `json:"trials"`                 // settings tried

	Checked []Verdict `json:"-"` // verdicts on the best setting with fresh seeds
}

// Trial is the result of one setting (combination of values of scenario keys) that a search for the best one tried.
type Trial struct {
	Values  []string `json:"values"`             // values of the keys, in the order of axes
	Seeds   int      `json:"seeds"`              // number of seeds simulated
	Mean    float64  `json:"mean"`               // metric of the goal, mean over seeds; null: there is no value
	Half    float64  `json:"half"`               // half-width of its 95 % interval; null: fewer than 2 seeds
	Bound   string   `json:"bound"`              // ">=": mean is a lower bound, as runs ended too early; else empty
	Margin  float64  `json:"margin"`             // mean of the least margin of all objectives; null: there is none
	Outcome Outcome  `json:"objectives"`         // outcome of the objectives: met, missed or unclear; empty: none
	Why     string   `json:"given_up,omitempty"` // reason why the setting was given up

	Setting    int     `json:"-"` // number of the setting in the product of the axes, of which the last one varies fastest
	Number     float64 `json:"-"` // value of the first key; its index where values are words
	MarginHalf float64 `json:"-"` // half-width of the margin's 95 % interval
}

// storedTuning is the content of tune.json: the result of a search for the best setting (combination of values of
// scenario keys), with the settings tried and the best one for each policy.
type storedTuning struct {
	Version int `json:"version"` // version of this format: 1
	*Tuning
}

// MarshalTuning returns the content of tune.json, the result of a search for a setting, with null for missing values.
func MarshalTuning(t *Tuning) ([]byte, error) { return MarshalLines(storedTuning{1, t}) }
