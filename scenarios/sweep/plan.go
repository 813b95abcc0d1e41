package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// Source is a scenario that can be loaded again with other values.
type Source struct {
	Name     string // as it is shown; the files that the scenario names are beside it
	Text     []byte
	Sets     []scenarios.Override // laid upon it, before those of a cell
	Policies []string             // labels or kinds; none: all
	Queries  []results.Query      // measured beside what the objectives are about
}

// Load loads the scenario with more laid upon it. It is nil if a diagnostic is an error or
// err is not nil.
func (s *Source) Load(more []scenarios.Override) (*scenarios.Scenario, scenarios.Diagnostics, error) {
	sc, found := scenarios.Load(s.Name, s.Text, slices.Concat(s.Sets, more))
	if sc == nil {
		return nil, found, nil
	}
	if len(s.Policies) > 0 {
		selected, err := sc.Select(s.Policies)
		if err != nil {
			return nil, found, err
		}
		sc = selected
	}
	if err := sc.Measure(s.Queries); err != nil {
		return nil, found, err
	}
	return sc, found, nil
}

// Plan is a sweep before it is computed.
type Plan struct {
	Source Source
	Axes   []Axis
	// Sweep is what there will be, without its cells.
	Sweep results.Sweep

	scenario []byte // with its own values, resolved
	known    map[string]bool
}

// New plans a sweep: version is that of the program. The scenario with its own values must
// be free of errors; those of its cells are found by Check.
func New(source Source, axes []Axis, version string) (*Plan, error) {
	if err := checkAxes(axes, source.Sets); err != nil {
		return nil, err
	}
	base, found, err := source.Load(nil)
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("load %s: %s", source.Name, found.Errors()[0].Message)
	}
	settings := world.Settings(base)
	p := &Plan{Source: source, Axes: axes, scenario: base.Resolved(), known: map[string]bool{}}
	for _, d := range found {
		p.known[d.Message] = true
	}
	p.Sweep = results.Sweep{
		Scenario: settings.Scenario, Version: version, Duration: settings.Duration.Seconds(), Policies: settings.Policies,
		Baseline: settings.Baseline, Queries: queriesOf(&settings), Objectives: settings.Objectives,
	}
	for seed := range uint64(base.Seeds) {
		p.Sweep.Seeds = append(p.Sweep.Seeds, base.Seed+seed)
	}
	for i := range axes {
		p.Sweep.Axes = append(p.Sweep.Axes, axes[i].result())
	}
	p.Sweep.ConfigHash, err = p.hash(base)
	return p, err
}

// queriesOf are those that a sweep reports: what the objectives are about and what is asked
// for, or where there is neither those of the usual table.
func queriesOf(s *results.Settings) []results.Query {
	var queries []results.Query
	for i := range s.Objectives {
		queries = append(queries, s.Objectives[i].Query)
	}
	queries = append(queries, s.Asked...)
	if len(queries) == 0 {
		return results.TableQueries(s)
	}
	var once []results.Query
	for _, q := range queries {
		if !slices.Contains(once, q) {
			once = append(once, q)
		}
	}
	return once
}

// hash is equal for plans that give equal results under one version.
func (p *Plan) hash(base *scenarios.Scenario) (string, error) {
	sum := sha256.New()
	part := func(text string) { fmt.Fprintf(sum, "%d:%s;", len(text), text) }
	part(string(p.scenario))
	for i := range p.Axes {
		part(p.Axes[i].Key)
		part(strings.Join(p.Axes[i].Range.Texts(), "\x00"))
	}
	for _, q := range p.Sweep.Queries {
		part(q.String())
	}
	if err := HashFiles(sum, &p.Source, base, p.Axes); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Size is the number of cells.
func (p *Plan) Size() int {
	size, _ := results.Size(p.Sweep.Axes, MostCells)
	return size
}

// Simulations is how many there are in each cell.
func (p *Plan) Simulations() int { return len(p.Sweep.Seeds) * len(p.Sweep.Policies) }

// Overrides are what a cell lays upon the scenario.
func (p *Plan) Overrides(cell int) []scenarios.Override {
	var overrides []scenarios.Override
	for axis, value := range p.Sweep.Position(cell) {
		overrides = append(overrides, p.Axes[axis].override(value))
	}
	return overrides
}

// CellName writes the values of a cell: engine.workers=40 retry.jitter=none.
func (p *Plan) CellName(cell int) string {
	var words []string
	for _, o := range p.Overrides(cell) {
		words = append(words, o.Path+"="+o.Value)
	}
	return strings.Join(words, " ")
}

// Load loads the scenario of a cell.
func (p *Plan) Load(cell int) (*scenarios.Scenario, scenarios.Diagnostics, error) {
	sc, found, err := p.Source.Load(p.Overrides(cell))
	if sc == nil || err != nil {
		return nil, found, err
	}
	for i := range sc.Policies {
		if i >= len(p.Sweep.Policies) || sc.Policies[i].Label != p.Sweep.Policies[i].Label {
			return nil, found, fmt.Errorf("policy %s: the policies of all cells have the labels they have in the scenario; give the policy a label", sc.Policies[i].Label)
		}
	}
	return sc, found, nil
}
