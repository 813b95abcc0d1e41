package results

// comparisonVersion is the version of the JSON format of comparisons.
const comparisonVersion = 1

// storedComparisons holds the comparisons of one result with several others of the same scenario.
type storedComparisons struct {
	Version     int                `json:"version"`     // version of this format: 1
	Comparisons []storedComparison `json:"comparisons"` // one for each new result
	Exit        int                `json:"exit"`        // exit code: the highest of all comparisons
}

// storedComparison holds the changes of every metric from one result to another.
type storedComparison struct {
	Scenario string     `json:"scenario"`    // name of the scenario
	Base     storedSide `json:"base"`        // the earlier result
	New      storedSide `json:"new"`         // the later result
	Paired   bool       `json:"paired"`      // both have the same seeds: differences are paired by seed
	Within   *Float     `json:"same_within"` // share of the base value within which a difference counts as none
	// Share of the base value by which a metric may get worse; null: no change is judged
	Most     *Float         `json:"max_regression"`
	Changes  []storedChange `json:"changes"`  // one for each policy and metric
	Warnings []string       `json:"warnings"` // warnings as sentences
	Exit     int            `json:"exit"`     // exit code: 0 nothing is worse than allowed, 1 something is
}

// storedSide is one of the results compared.
type storedSide struct {
	Name    string   `json:"name"`              // folder or scenario, as the command line names it
	Config  string   `json:"config"`            // digest of the whole configuration
	Seeds   []uint64 `json:"seeds"`             // seeds that every policy finished
	Partial bool     `json:"partial"`           // the run was interrupted
	Version string   `json:"made_by,omitempty"` // version of the program that ran it
}

// storedChange is the change of one metric under one policy.
type storedChange struct {
	Policy string       `json:"policy"` // label of the policy
	Metric string       `json:"metric"` // name of the metric
	Filter storedFilter `json:"filter"` // filter of the metric
	// S, 1 (a share or ratio), 1/s, or a name of what is counted
	Unit       string `json:"unit"`
	Base       *Float `json:"base"`       // value of the earlier result; null: there is none
	BaseBound  string `json:"base_bound"` // ">=": base is a lower bound; else empty
	New        *Float `json:"new"`        // value of the later result; null: there is none
	NewBound   string `json:"new_bound"`  // ">=": new is a lower bound; else empty
	Difference *Float `json:"difference"` // new minus base; paired: the mean over seeds
	Low        *Float `json:"low"`        // lower end of its 95 % interval
	High       *Float `json:"high"`       // upper end of its 95 % interval
	Relative   *Float `json:"relative"`   // difference as a share of the base value
	N          int    `json:"n"`          // seeds, of the side with fewer
	P          *Float `json:"p"`          // two-sided p value, adjusted by Holm
	Shown      bool   `json:"shown"`      // the difference is significant: p is below 0.05
	// The whole interval lies within same_within of the base value
	Same bool `json:"same"`
	// Where neither a change nor equivalence is shown: about how many seeds would decide
	Tell    int     `json:"seeds_to_tell,omitempty"`
	Verdict Outcome `json:"verdict"`          // with max_regression: met, missed or unclear; else empty
	Seeds   int     `json:"seeds,omitempty"`  // of an unclear verdict: about how many seeds would decide
	Reason  string  `json:"reason,omitempty"` // reason why the verdict is unclear
}

// MarshalComparisons returns comparisons with one base as JSON: keys in a fixed order, a
// change to a line. Equal comparisons give equal bytes. exit is the worst of all.
func MarshalComparisons(list []*Comparison) ([]byte, error) {
	all := storedComparisons{Version: comparisonVersion, Comparisons: []storedComparison{}}
	for _, c := range list {
		all.Comparisons = append(all.Comparisons, c.stored())
		all.Exit = max(all.Exit, c.Exit)
	}
	return MarshalLines(all)
}

func (c *Comparison) stored() storedComparison {
	stored := storedComparison{Scenario: c.Scenario, Base: c.Base.stored(), New: c.New.stored(), Paired: c.Paired, Within: orNull(c.SameWithin),
		Changes: []storedChange{}, Warnings: orEmpty(c.Warnings), Exit: c.Exit}
	if c.Gate.Set {
		stored.Most = orNull(c.Gate.Most)
	}
	for i := range c.Changes {
		d := &c.Changes[i]
		stored.Changes = append(stored.Changes, storedChange{Policy: d.Policy, Metric: d.Metric, Filter: filterOf(d.Query), Unit: d.Unit,
			Base: orNull(d.Base.Mean), BaseBound: d.Base.Bound, New: orNull(d.New.Mean), NewBound: d.New.Bound,
			Difference: orNull(d.Difference), Low: orNull(d.Low), High: orNull(d.High), Relative: orNull(d.Relative()),
			N: d.N, P: orNull(d.P), Shown: d.Shown, Same: d.Same, Tell: d.Tell, Verdict: d.Verdict, Seeds: d.Seeds, Reason: d.Reason})
	}
	return stored
}

func (s *Side) stored() storedSide {
	return storedSide{Name: s.Name, Config: s.ConfigHash, Seeds: orEmpty(s.Seeds), Partial: s.Partial, Version: s.Version}
}
