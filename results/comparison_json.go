package results

// comparisonVersion is that of the JSON of comparisons.
const comparisonVersion = 1

type storedComparison struct {
	Scenario string         `json:"scenario"`
	Base     storedSide     `json:"base"`
	New      storedSide     `json:"new"`
	Paired   bool           `json:"paired"`
	Within   *Float         `json:"same_within"`
	Most     *Float         `json:"max_regression"`
	Changes  []storedChange `json:"changes"`
	Warnings []string       `json:"warnings"`
	Exit     int            `json:"exit"`
}

type storedSide struct {
	Name    string   `json:"name"`
	Config  string   `json:"config"`
	Seeds   []uint64 `json:"seeds"`
	Partial bool     `json:"partial"`
	Version string   `json:"made_by,omitempty"`
}

type storedChange struct {
	Policy     string       `json:"policy"`
	Metric     string       `json:"metric"`
	Filter     storedFilter `json:"filter"`
	Unit       string       `json:"unit"`
	Base       *Float       `json:"base"`
	BaseBound  string       `json:"base_bound"`
	New        *Float       `json:"new"`
	NewBound   string       `json:"new_bound"`
	Difference *Float       `json:"difference"`
	Low        *Float       `json:"low"`
	High       *Float       `json:"high"`
	Relative   *Float       `json:"relative"`
	N          int          `json:"n"`
	P          *Float       `json:"p"`
	Shown      bool         `json:"shown"`
	Same       bool         `json:"same"`
	Tell       int          `json:"seeds_to_tell,omitempty"`
	Verdict    Outcome      `json:"verdict"`
	Seeds      int          `json:"seeds,omitempty"`
	Reason     string       `json:"reason,omitempty"`
}

// MarshalComparisons returns comparisons with one base as JSON: keys in a fixed order, a
// change to a line. Equal comparisons give equal bytes. exit is the worst of all.
func MarshalComparisons(list []*Comparison) ([]byte, error) {
	all := struct {
		Version     int                `json:"version"`
		Comparisons []storedComparison `json:"comparisons"`
		Exit        int                `json:"exit"`
	}{Version: comparisonVersion, Comparisons: []storedComparison{}}
	for _, c := range list {
		all.Comparisons = append(all.Comparisons, c.stored())
		all.Exit = max(all.Exit, c.Exit)
	}
	return marshalLines(all)
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
