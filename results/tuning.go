package results

import "qsim/results/measure"

// Tuning is the result of a search for the best setting of some scenario keys: the goal, the settings tried, and the
// best setting for each policy.
type Tuning struct {
	Scenario   string
	ConfigHash string // hash of scenario, axes, objectives and goals, 8 hex digits
	Version    string
	Goal       string // goal in words: smallest engine.workers, minimize fresh.wait.p99
	Objectives []string
	Axes       []Axis
	Query      measure.Query // metric to minimize or maximize; without Metric it is the margin
	Margin     bool          // the goal is the largest least margin of all objectives
	Confidence float64       // confidence of all statements about one policy together, in (0, 1)
	Policies   []TunedPolicy
}

// TunedPolicy is the result of the search for one policy.
type TunedPolicy struct {
	Label   string
	Index   int // index of the policy in the scenario
	Outcome Outcome
	Decided bool     // known for certain: no better setting meets the objectives, or no setting at all
	Misses  []string // by bisection: values of the nearest better setting that certainly misses; nil: none
	Best    int      // index of the best trial in Trials; -1: no setting is known to meet the objectives
	Trials  []Trial
	Runs    int      // number of simulations
	Grid    int      // number of simulations of all settings with as many seeds as the trial with the most
	Said    []string // sentences: the answer, its confidence, the settings not tried
	Checked []Verdict
}

// Trial is the result of one setting that a search tried.
type Trial struct {
	Setting int      // number of the setting in the product of the axes, of which the last one varies fastest
	Values  []string // values of the keys, by axis
	Number  float64  // value of the first key; its index where values are words
	Seeds   int
	Mean    float64 // mean over seeds of Query, or of the margin; NaN: no value
	Half    float64 // half-width of its 95 % interval; NaN: fewer than 2 seeds
	Margin  float64 // mean of the least margin of all objectives: 0.1 is a tenth of its bound away; NaN: none
	Half2   float64 // half-width of the margin's 95 % interval
	Outcome Outcome // joint outcome of the objectives
	Why     string  // reason why the search gave the setting up
}

// storedTuning is the result of a search for a setting: the settings tried and the best one for each policy.
type storedTuning struct {
	Version    int           `json:"version"`    // version of this format: 1
	Scenario   string        `json:"scenario"`   // name of the scenario
	Config     string        `json:"config"`     // digest of the scenario, the keys, the objectives and the goal
	Program    string        `json:"program"`    // version of the program
	Goal       string        `json:"goal"`       // goal in words: smallest engine.workers
	Objectives []string      `json:"objectives"` // objectives that a setting must meet, in words
	Confidence float64       `json:"confidence"` // confidence of all statements about one policy together
	Axes       []storedAxis  `json:"axes"`       // keys with the values that were searched
	Policies   []storedTuned `json:"policies"`   // policies in the order of the scenario
}

// storedAxis is a scenario key with the values searched.
type storedAxis struct {
	Key    string   `json:"key"`    // key of the scenario
	Values []string `json:"values"` // values as a scenario writes them
}

// storedTuned is the result of the search for one policy.
type storedTuned struct {
	Label   string        `json:"label"`                  // label of the policy
	Outcome Outcome       `json:"outcome"`                // met, missed or unclear
	Decided bool          `json:"decided"`                // certain: no better setting meets the objectives, or none
	Best    valuesOrNull  `json:"best"`                   // values of the best setting, by key; null: none
	Misses  []string      `json:"nearest_miss,omitempty"` // nearest better values that miss
	Runs    int           `json:"runs"`                   // number of simulations
	Grid    int           `json:"grid_runs"`              // number of simulations that all settings would need
	Said    []string      `json:"said"`                   // result in sentences
	Trials  []storedTrial `json:"trials"`                 // settings tried
}

// valuesOrNull maps each key to its value in a setting; nil, written as null, if no setting is the best.
type valuesOrNull []string

// storedTrial is the result of one setting tried.
type storedTrial struct {
	Values  []string `json:"values"`             // values by key
	Seeds   int      `json:"seeds"`              // number of seeds simulated
	Mean    *Float   `json:"mean"`               // metric of the goal, mean over seeds; null: there is no value
	Half    *Float   `json:"half"`               // half-width of its 95 % interval; null: fewer than 2 seeds
	Margin  *Float   `json:"margin"`             // mean of the least margin of all objectives; null: there is none
	Outcome Outcome  `json:"objectives"`         // outcome of the objectives: met, missed or unclear; empty: none
	Why     string   `json:"given_up,omitempty"` // reason why the setting was given up
}

// MarshalJSON returns the content of tune.json, with null for missing values.
func (t *Tuning) MarshalJSON() ([]byte, error) {
	out := storedTuning{Version: 1, Scenario: t.Scenario, Config: t.ConfigHash, Program: t.Version, Goal: t.Goal,
		Objectives: orEmpty(t.Objectives), Confidence: t.Confidence}
	for i := range t.Axes {
		out.Axes = append(out.Axes, storedAxis{t.Axes[i].Key, t.Axes[i].Values})
	}
	for i := range t.Policies {
		p := &t.Policies[i]
		one := storedTuned{Label: p.Label, Outcome: p.Outcome, Decided: p.Decided, Misses: p.Misses, Runs: p.Runs,
			Grid: p.Grid,
			Said: orEmpty(p.Said), Trials: []storedTrial{}}
		if p.Best >= 0 {
			one.Best = p.Trials[p.Best].Values
		}
		for k := range p.Trials {
			r := &p.Trials[k]
			one.Trials = append(one.Trials, storedTrial{r.Values, r.Seeds, orNull(r.Mean), orNull(r.Half), orNull(r.Margin),
				r.Outcome, r.Why})
		}
		out.Policies = append(out.Policies, one)
	}
	return MarshalLines(out)
}
