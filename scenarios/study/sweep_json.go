package study

import (
	"embed"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// sweepJSON is the result of a sweep: a row for each combination of values of its keys and each policy.
type sweepJSON struct {
	Version int `json:"version"` // version of this format: 1
	*results.Sweep
	Cells      int             `json:"cells"`      // number of cells
	Policies   []policyJSON    `json:"policies"`   // policies in the order of the scenario
	Metrics    []queryJSON     `json:"metrics"`    // metrics estimated in each row
	Objectives []objectiveJSON `json:"objectives"` // objectives of the scenario
	Rows       []sweepRow      `json:"rows"`       // one for each cell and policy
	Warnings   []Note          `json:"warnings"`   // warnings of all cells, each text once
}

// policyJSON is a policy of the scenario.
type policyJSON struct {
	Name     string `json:"name"`     // kind of policy
	Label    string `json:"label"`    // label, unique within the scenario
	Baseline bool   `json:"baseline"` // the other policies are compared with this one
}

// queryJSON is a metric, narrowed to a part of the run.
type queryJSON struct {
	Name   string `json:"name"`   // metric with its filters
	Metric string `json:"metric"` // name of the metric
	results.Filter
	Unit string `json:"unit"` // s (seconds), 1 (a share or ratio), 1/s, or what is counted
}

// objectiveJSON is an objective of the scenario.
type objectiveJSON struct {
	queryJSON
	Bound  float64 `json:"bound"`  // bound in the unit of the metric
	Above  bool    `json:"above"`  // the metric must be at least the bound; else at most
	Text   string  `json:"text"`   // bound as the scenario writes it
	Policy string  `json:"policy"` // label or kind of policy; empty: every policy
	Expect string  `json:"expect"` // outcome that the scenario expects: met or missed
}

// sweepRow holds the estimates and verdicts of one policy in one cell of a sweep.
type sweepRow struct {
	Cell   int               `json:"cell"`   // number of the cell; the last key varies fastest
	Set    map[string]string `json:"set"`    // values of the keys
	Policy string            `json:"policy"` // label of the policy
	*results.CellRow
	Metrics    map[string]sweepCell `json:"metrics"`    // estimates by metric
	Objectives []sweepVerdict       `json:"objectives"` // verdicts of the objectives about the policy
	Verdict    results.Outcome      `json:"verdict"`    // worst of the verdicts; empty: there is none
}

// sweepCell is the estimate of a metric over the seeds.
type sweepCell struct {
	// Mean, or a quantile of the jobs of all seeds; null: there is no value
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`              // lower end of the 95 % interval; null: one seed has none
	High   float64 `json:"high"`             // upper end of the 95 % interval; null: one seed has none
	N      int     `json:"n"`                // seeds with a value
	Bound  string  `json:"bound"`            // ">=": the value is a lower bound; else empty
	Reason string  `json:"reason,omitempty"` // reason why there is no value
}

// sweepVerdict is the verdict on an objective for the policy of a row.
type sweepVerdict struct {
	Metric  string          `json:"metric"`  // metric with its filters
	Limit   string          `json:"limit"`   // bound in words, inclusive: below 10s
	Value   float64         `json:"value"`   // value of the metric; null: there is none
	Low     float64         `json:"low"`     // lower end of its 95 % interval; null: there is none
	High    float64         `json:"high"`    // upper end of its 95 % interval; null: there is none
	Bound   string          `json:"bound"`   // ">=": the value is a lower bound; else empty
	Verdict results.Outcome `json:"verdict"` // met, missed or unclear
	Expect  string          `json:"expect"`  // outcome that the scenario expects: met or missed
}

// MarshalSweep returns sweep.json: the sweep's keys and metrics, then its rows, one per line. Equal sweeps give equal
// bytes.
func MarshalSweep(s *results.Sweep) ([]byte, error) {
	out := sweepJSON{Version: 1, Sweep: s, Cells: len(s.Cells), Metrics: plain.Map(s.Queries, jsonOf),
		Warnings: Warnings(s)}
	for i, p := range s.Policies {
		out.Policies = append(out.Policies, policyJSON{p.Kind, p.Label, i == s.Baseline})
	}
	for _, o := range s.Objectives {
		out.Objectives = append(out.Objectives,
			objectiveJSON{jsonOf(o.Query), o.Bound, o.Above, o.Text, o.Policy, expectation(o.Expect)})
	}
	for i := range s.Cells {
		for k := range s.Cells[i].Rows {
			out.Rows = append(out.Rows, rowOf(s, &s.Cells[i], &s.Cells[i].Rows[k]))
		}
	}
	return results.MarshalLines(out)
}

func jsonOf(q measure.Query) queryJSON {
	info, _ := measure.Lookup(q.Metric)
	return queryJSON{q.String(), q.Metric, results.Filter(q), info.Unit}
}

func expectation(missed bool) string {
	return string(plain.Either(missed, results.Missed, results.Met))
}

func rowOf(s *results.Sweep, cell *results.Cell, row *results.CellRow) sweepRow {
	out := sweepRow{Cell: cell.Index, Policy: s.Policies[row.Policy].Label, CellRow: row, Set: map[string]string{},
		Metrics: map[string]sweepCell{}, Verdict: row.Outcome()}
	for i, value := range s.Values(cell.Index) {
		out.Set[s.Axes[i].Key] = value
	}
	for _, e := range row.Estimates {
		out.Metrics[e.Query.String()] = sweepCell{e.Mean, e.Low, e.High, e.N, e.Bound, e.Reason}
	}
	for _, v := range row.Verdicts {
		out.Objectives = append(out.Objectives, sweepVerdict{v.Query.String(), v.Text, v.Value, v.Low, v.High, v.Bound,
			v.Outcome, expectation(v.Expect)})
	}
	return out
}

// Schemas holds the JSON schemas (draft 2020-12) of sweep.json and doctor.json, NAME.schema.json for each.
//
//go:embed *.schema.json
var Schemas embed.FS
