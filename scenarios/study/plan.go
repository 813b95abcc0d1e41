package study

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/world"
)

// Source is a scenario's text with overrides, ready to be loaded with further overrides.
type Source struct {
	Name     string // display name; files named in the scenario are in its folder
	Text     []byte
	Sets     []scenarios.Override // overrides of the scenario, applied before those of a cell
	Policies []string             // labels or kinds of the policies to use; none: all
	Queries  []measure.Query      // metrics measured in addition to the objectives'
	Parallel int                  // highest number of simulations at once; 0: one per core that Go uses
	Version  string               // version of the program, by which results are told apart
	// Fits returns an error for settings that are too large to simulate; nil: no limit. It is not called for the
	// unchanged scenario, which only studies without axes simulate.
	Fits func(*scenarios.Scenario) error
}

// Load loads the scenario with more overrides. The scenario is nil if a diagnostic is an error or err is not nil.
func (s *Source) Load(more []scenarios.Override) (*scenarios.Scenario, diagnostics.List, error) {
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
	err := sc.Measure(s.Queries)
	if err == nil && s.Fits != nil && len(more) > 0 {
		err = s.Fits(sc)
	}
	if err != nil {
		return nil, found, err
	}
	return sc, found, nil
}

// setting loads the scenario with more overrides. An error of the scenario is a *SettingError that wraps an *invalid.
func (s *Source) setting(more []scenarios.Override) (*scenarios.Scenario, error) {
	sc, found, err := s.Load(more)
	if err == nil && sc == nil {
		err = &invalid{found.Errors()}
	}
	if err != nil {
		return nil, &SettingError{more, err}
	}
	return sc, nil
}

// invalid is the error for a scenario that does not load: it has its diagnostics, at least one of them an error.
type invalid struct{ Found diagnostics.List }

// Error returns the message of the first diagnostic, with its position if that is in the scenario's file.
func (e *invalid) Error() string {
	d := e.Found[0]
	return plain.When(d.Set == "" && d.Line > 0, fmt.Sprintf("%d:%d: ", d.Line, d.Col)) + d.Message
}

// SettingError is the error for a scenario that cannot be simulated with some values of its keys.
type SettingError struct {
	Sets []scenarios.Override // values of the keys
	Err  error
}

// Error returns the values of the scenario's keys with which it cannot be simulated, and the error.
func (e *SettingError) Error() string {
	return strings.TrimPrefix(fmt.Sprintf("%s: %v", strings.Join(e.Values(), " "), e.Err), ": ")
}

// Unwrap returns the error without the values.
func (e *SettingError) Unwrap() error { return e.Err }

// Values returns the values of the keys in the syntax of --set.
func (e *SettingError) Values() []string {
	return plain.Map(e.Sets, func(o scenarios.Override) string { return o.Path + "=" + o.Value })
}

// Plan is a scenario with the keys that a sweep varies: what to simulate, before any simulation.
type Plan struct {
	Source Source
	Axes   []Axis
	// Sweep is the future result, without its cells.
	Sweep results.Sweep

	base  *scenarios.Scenario // unchanged scenario
	known map[string]bool     // messages of the warnings about base
}

// New plans a sweep. The unchanged scenario must be free of errors; Check finds the errors of cells.
func New(source Source, axes []Axis) (*Plan, error) {
	if len(axes) > mostAxes {
		return nil, fmt.Errorf("%d keys vary: at most %d can", len(axes), mostAxes)
	}
	p, err := newPlan(source, axes, MostCells)
	if err != nil {
		return nil, err
	}
	var parts []string
	for i := range axes {
		parts = append(parts, axes[i].Key, strings.Join(axes[i].Range.Texts(), "\x00"))
	}
	p.Sweep.ConfigHash, err = p.hash(append(parts, plain.Map(p.Sweep.Queries, measure.Query.String)...))
	return p, err
}

// newPlan plans a study of at most so many cells.
func newPlan(source Source, axes []Axis, most int) (*Plan, error) {
	if err := checkAxes(axes, source.Sets, most); err != nil {
		return nil, err
	}
	base, found, err := source.Load(nil)
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("load %s: %w", source.Name, &invalid{found.Errors()})
	}
	settings := world.Settings(base)
	p := &Plan{Source: source, Axes: axes, base: base, known: map[string]bool{}}
	for _, d := range found {
		p.known[d.Message] = true
	}
	p.Sweep = results.Sweep{
		Scenario: settings.Scenario, Version: source.Version, Duration: settings.Duration.Seconds(),
		Policies: settings.Policies,
		Baseline: settings.Baseline, Queries: plain.Distinct(settings.Asked), Objectives: settings.Objectives,
		Axes: plain.Map(axes, Axis.result),
	}
	if len(settings.Objectives) > 0 || len(settings.Asked) == 0 {
		p.Sweep.Queries = results.TableQueries(&settings) // with those asked for in addition to the objectives'
	}
	for seed := range uint64(base.Seeds) {
		p.Sweep.Seeds = append(p.Sweep.Seeds, base.Seed+seed)
	}
	return p, nil
}

// Size returns the number of cells of the sweep.
func (p *Plan) Size() int {
	size, _ := results.Size(p.Sweep.Axes, math.MaxInt)
	return size
}

// Simulations returns the number of simulations for each cell of a sweep.
func (p *Plan) Simulations() int { return len(p.Sweep.Seeds) * len(p.Sweep.Policies) }

// Overrides returns the scenario overrides of a cell: those that give its keys their values.
func (p *Plan) Overrides(cell int) []scenarios.Override {
	var overrides []scenarios.Override
	for axis, value := range p.Sweep.Position(cell) {
		overrides = append(overrides, p.Axes[axis].override(value))
	}
	return overrides
}

// cellName returns the values of a cell as text: engine.workers=40 retry.jitter=none.
func (p *Plan) cellName(cell int) string {
	return strings.Join(setsOf(p.Sweep.Axes, p.Sweep.Values(cell)), " ")
}

// setsOf returns the keys of axes with a value of each in the syntax of --set.
func setsOf(axes []results.Axis, values []string) (sets []string) {
	for i, value := range values {
		sets = append(sets, axes[i].Key+"="+value)
	}
	return sets
}

// Load loads the scenario with the values of a cell, which may not change the policies' labels: see Source.Load.
func (p *Plan) Load(cell int) (*scenarios.Scenario, diagnostics.List, error) {
	sc, found, err := p.Source.Load(p.Overrides(cell))
	if sc == nil || err != nil {
		return nil, found, err
	}
	for i := range sc.Policies {
		if i >= len(p.Sweep.Policies) || sc.Policies[i].Label != p.Sweep.Policies[i].Label {
			return nil, found, fmt.Errorf("policy %s: the policies of all cells have the labels they have in the scenario; "+
				"give the policy a label", sc.Policies[i].Label)
		}
	}
	return sc, found, nil
}

// hash returns a hash of all input that the results of a study depend on under one version: the scenario, the parts,
// texts for everything else, and the names and contents of all files that the scenario reads with any value of an axis,
// by name. A file that only an axis names and that cannot be read is left out: settings that name it do not load.
func (p *Plan) hash(parts []string) (string, error) {
	sum := sha256.New()
	for _, text := range append([]string{string(p.base.Resolved())}, parts...) {
		fmt.Fprintf(sum, "%d:%s;", len(text), text)
	}
	own := p.base.Files()
	all := slices.Clone(own)
	for i := range p.Axes {
		for value := range p.Axes[i].Range.Values {
			named, err := p.filesWith(i, value)
			if err != nil {
				return "", err
			}
			all = append(all, named...)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if err := p.base.HashFile(sum, name); err != nil && slices.Contains(own, name) {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

// filesWith returns the files that the scenario names with one value of an axis, alone or with the first values of the
// others: none unless the key ends with `file`, or the value has that word, perhaps written with escapes.
func (p *Plan) filesWith(axis, value int) ([]string, error) {
	var names []string
	text := p.Axes[axis].Range.Values[value].Text
	switch {
	case strings.HasSuffix(p.Axes[axis].Key, ".file"):
		names = append(names, text)
	case !strings.Contains(text, "file") && !strings.Contains(text, `\`):
		return nil, nil
	}
	beside := p.Overrides(0)
	beside[axis] = p.Axes[axis].override(value)
	for _, more := range [][]scenarios.Override{beside[axis : axis+1], beside} {
		sc, _, err := p.Source.Load(more)
		if err != nil {
			return nil, err
		}
		if sc != nil {
			names = append(names, sc.Files()...)
		}
	}
	return names, nil
}
