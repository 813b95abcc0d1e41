package results

import (
	"encoding/json"

	"qsim/results/measure"
)

// Tuning is the search for a setting of some keys: what was asked, what was tried, and for
// each policy what came of it.
type Tuning struct {
	Scenario   string
	ConfigHash string // 8 hex digits: equal for equal scenarios, axes, objectives and goals
	Version    string
	Goal       string // in words: smallest engine.workers, minimize fresh.wait.p99
	Objectives []string
	Axes       []Axis
	Query      measure.Query // what is minimized or maximized; without Metric it is the margin
	Margin     bool          // the least margin of all objectives is what counts
	Confidence float64       // of all that is said of one policy together
	Policies   []TunedPolicy
}

// TunedPolicy is the result of the search for one policy.
type TunedPolicy struct {
	Label   string
	Index   int // in the scenario
	Outcome Outcome
	Decided bool     // it is known that nothing better meets the objectives, or that nothing does
	Misses  []string // by bisection: values of the nearest better setting that is known to miss; nil: none is
	Best    int      // of Trials; -1: no setting is known to do. Met: it does, and nothing better is known to
	Trials  []Trial
	Runs    int      // simulations
	Grid    int      // simulations of all settings with as many seeds as the one that took most
	Said    []string // sentences: the answer, how sure it is, what was not tried
	Checked []Verdict
}

// Trial is one setting that was tried.
type Trial struct {
	Setting int      // index in the product of the axes, of which the last one varies fastest
	Values  []string // by axis
	Number  float64  // along the first axis; its index where values are words
	Seeds   int
	Mean    float64 // over seeds, of Query or of the margin; NaN: no value
	Half    float64 // half-width of its 95 % interval; NaN: fewer than 2 seeds
	Margin  float64 // mean of the least margin of all objectives: 0.1 is a tenth of its bound away; NaN: there is none
	Half2   float64 // half-width of its interval
	Outcome Outcome // of the objectives
	Why     string  // it was given up
}

// MarshalJSON writes t with null for what has no value.
func (t *Tuning) MarshalJSON() ([]byte, error) {
	type axis struct {
		Key    string   `json:"key"`
		Values []string `json:"values"`
	}
	type trial struct {
		Values  []string `json:"values"`
		Seeds   int      `json:"seeds"`
		Mean    *float64 `json:"mean"`
		Half    *float64 `json:"half"`
		Margin  *float64 `json:"margin"`
		Outcome string   `json:"objectives"`
		Why     string   `json:"given_up,omitempty"`
	}
	type policy struct {
		Label   string   `json:"label"`
		Outcome string   `json:"outcome"`
		Decided bool     `json:"decided"`
		Best    []string `json:"best"`
		Misses  []string `json:"nearest_miss,omitempty"` // what lies between it and the best one is not known
		Runs    int      `json:"runs"`
		Grid    int      `json:"grid_runs"`
		Said    []string `json:"said"`
		Trials  []trial  `json:"trials"`
	}
	out := struct {
		Version    int      `json:"version"`
		Scenario   string   `json:"scenario"`
		Config     string   `json:"config"`
		Program    string   `json:"program"`
		Goal       string   `json:"goal"`
		Objectives []string `json:"objectives"`
		Confidence float64  `json:"confidence"`
		Axes       []axis   `json:"axes"`
		Policies   []policy `json:"policies"`
	}{Version: 1, Scenario: t.Scenario, Config: t.ConfigHash, Program: t.Version, Goal: t.Goal, Objectives: t.Objectives, Confidence: t.Confidence}
	for i := range t.Axes {
		out.Axes = append(out.Axes, axis{t.Axes[i].Key, t.Axes[i].Values})
	}
	for i := range t.Policies {
		p := &t.Policies[i]
		one := policy{Label: p.Label, Outcome: string(p.Outcome), Decided: p.Decided, Misses: p.Misses, Runs: p.Runs, Grid: p.Grid, Said: p.Said, Trials: []trial{}}
		if p.Best >= 0 {
			one.Best = p.Trials[p.Best].Values
		}
		for k := range p.Trials {
			r := &p.Trials[k]
			one.Trials = append(one.Trials, trial{r.Values, r.Seeds, (*float64)(orNull(r.Mean)), (*float64)(orNull(r.Half)), (*float64)(orNull(r.Margin)), string(r.Outcome), r.Why})
		}
		out.Policies = append(out.Policies, one)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return append(text, '\n'), err
}
