package results

import "qsim/results/measure"

// Tuning is the result of a search for the best setting of some scenario keys: the goal, the settings tried, and the
// best setting for each policy.
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

// Trial is the result of one setting that a search tried.
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

// storedTuning is the search for a setting: the settings that were tried and the answer for each policy.
type storedTuning struct {
	Version    int           `json:"version"`    // version of this format: 1
	Scenario   string        `json:"scenario"`   // name of the scenario
	Config     string        `json:"config"`     // digest of the scenario, the keys, the objectives and the goal
	Program    string        `json:"program"`    // version of the program
	Goal       string        `json:"goal"`       // goal in words: smallest engine.workers
	Objectives []string      `json:"objectives"` // objectives that a setting must meet, in words
	Confidence float64       `json:"confidence"` // confidence of all answers about one policy together
	Axes       []storedAxis  `json:"axes"`       // keys with the values that were searched
	Policies   []storedTuned `json:"policies"`   // policies in the order of the scenario
}

// storedAxis is a key with the values that were searched.
type storedAxis struct {
	Key    string   `json:"key"`    // key of the scenario
	Values []string `json:"values"` // values as a scenario writes them
}

// storedTuned is the answer for one policy.
type storedTuned struct {
	Label   string        `json:"label"`                  // label of the policy
	Outcome Outcome       `json:"outcome"`                // met, missed or unclear
	Decided bool          `json:"decided"`                // nothing better meets the objectives, or nothing does
	Best    valuesOrNull  `json:"best"`                   // values of the answer, by key; null: there is none
	Misses  []string      `json:"nearest_miss,omitempty"` // nearest better values that miss
	Runs    int           `json:"runs"`                   // simulations
	Grid    int           `json:"grid_runs"`              // simulations that all settings would take
	Said    []string      `json:"said"`                   // answer as sentences
	Trials  []storedTrial `json:"trials"`                 // settings that were tried
}

// valuesOrNull maps each key to its value in a setting; nil, written as null, if no setting is the best.
type valuesOrNull []string

// storedTrial is a setting that was tried.
type storedTrial struct {
	Values  []string `json:"values"`             // values by key
	Seeds   int      `json:"seeds"`              // seeds that it was given
	Mean    *Float   `json:"mean"`               // metric of the goal, mean over seeds; null: there is no value
	Half    *Float   `json:"half"`               // half-width of its 95 % interval; null: fewer than 2 seeds
	Margin  *Float   `json:"margin"`             // least margin of all objectives; null: there is none
	Outcome Outcome  `json:"objectives"`         // outcome of the objectives: met, missed or unclear; empty: none
	Why     string   `json:"given_up,omitempty"` // why it was given up
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
