package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qsim/results/plain"
)

// family is a function that builds the experiments for a verify row of one queueing model from the row's parameters. An
// error is the reason why scenarios cannot express the row; mistakes in the row are added to p.problems.
type family func(p *params) ([]experiment, error)

// facts maps names of expected values that describe how the values were computed, and are not measured, to a reason.
var facts = map[string]string{
	"states":    "the size of the numerical solution",
	"edge_mass": "the error of the numerical solution",
}

// model is a verify row with the experiments that measure its expected values.
type model struct {
	expected    []item
	experiments []experiment
	answers     []*answer // by item, its measurement; nil: none
	leftOut     string    // why it cannot be expressed, "" if it can
}

// Problems returns the mistakes in a verify row that show without a simulation; nil if Check accepts the row.
func Problems(row Row) []error {
	_, problems := build(row)
	return problems
}

// build returns the model of a verify row, or all mistakes in the row.
func build(row Row) (*model, []error) {
	m := &model{}
	var err error
	if m.expected, err = items(json.NewDecoder(bytes.NewReader(row.Expected)), ""); err != nil {
		return nil, []error{fmt.Errorf("read expected: %w", err)}
	}
	if m.leftOut = wordless[row.Family()]; m.leftOut != "" {
		return m, nil
	}
	construct := families[row.Family()]
	if construct == nil {
		known := slices.Concat(slices.Sorted(maps.Keys(families)), slices.Sorted(maps.Keys(wordless)))
		return nil, []error{unknown("family", row.Family(), known)}
	}
	p := &params{expected: m.expected}
	if err := json.Unmarshal(row.Params, &p.values); err != nil {
		return nil, []error{fmt.Errorf("read params: %w", err)}
	}
	m.experiments, err = construct(p)
	if p.misspelt(); len(p.problems) > 0 {
		return nil, p.problems
	}
	if err != nil {
		m.leftOut = err.Error()
		return m, nil
	}
	m.answers = make([]*answer, len(m.expected))
	var problems []error
	for i := range m.experiments {
		x := &m.experiments[i]
		x.ask(&row, m.expected, m.answers)
		if len(x.answers) == 0 || x.known {
			continue
		}
		if err := x.prepare(); err != nil {
			problems = append(problems, err)
		}
	}
	for i, it := range m.expected {
		if m.answers[i] == nil && boundOf(it.path) == "" && facts[it.path] == "" {
			problems = append(problems, unknown("quantity", it.path, m.quantities()))
		}
	}
	if len(m.expected) == 0 {
		problems = append(problems, errors.New("it expects nothing"))
	}
	return m, problems
}

// quantities returns the names of what the model's experiments measure, for suggestions, without quantiles.
func (m *model) quantities() []string {
	var names []string
	for _, x := range m.experiments {
		if names = slices.AppendSeq(names, maps.Keys(x.measures)); x.others {
			names = slices.AppendSeq(names, maps.Keys(usualGauges))
		}
	}
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, "[")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unknown returns the error "there is no WHAT NAME", with the most similar of the known names as a suggestion.
func unknown(what, name string, known []string) error {
	near := plain.Nearest(name, known)
	return fmt.Errorf("there is no %s %s%s", what, name, plain.When(near != "", "; did you mean "+near+"?"))
}

// ask gives the experiment those expected values to measure that it can, and that have no answer in answers yet.
func (x *experiment) ask(row *Row, expected []item, answers []*answer) {
	for i, it := range expected {
		if answers[i] != nil || boundOf(it.path) != "" {
			continue
		}
		m, ok := x.measures[it.path]
		if !ok && x.others {
			m, ok = usualMeasure(it.path, it.value, &x.plan)
		}
		if !ok {
			continue
		}
		answers[i] = &answer{item: it, gauge: m, kind: row.Kind, busy: x.load > highLoad, heavy: x.heavy,
			slack: slack(it.path, expected)}
		x.answers = append(x.answers, answers[i])
	}
}

// boundOf returns NAME if a path is NAME_bounds[...], that of a bound on the expected value NAME; otherwise "".
func boundOf(path string) string {
	name, _, is := strings.Cut(path, "_bounds[")
	return plain.When(is, name)
}

// slack returns by how much the expected value at a path may be off: half the width of its bounds in the row, or 0.
func slack(path string, expected []item) float64 {
	var bounds []float64
	for _, it := range expected {
		if v, ok := it.value.(float64); ok && boundOf(it.path) == path {
			bounds = append(bounds, v)
		}
	}
	if len(bounds) < 2 {
		return 0
	}
	return (slices.Max(bounds) - slices.Min(bounds)) / 2
}

// families maps the family in a verify row's ID, its queueing model, to the function that builds the experiments.
var families = map[string]family{
	"mmc":      plainQueue(exponentialService, true),
	"md1":      plainQueue(constantService("D"), false),
	"mdc":      plainQueue(constantService("D"), false),
	"mg1_logn": plainQueue(variedService("lognormal"), false),
	"mh2_1":    plainQueue(variedService("hyperexponential"), false),
	"prio_mmc": priorities,
	"prio_mg1": prioritiesByMoments,

	"attempts":       independentFailures(func(p *params) (float64, int) { return p.share("p"), p.limit("max_attempts") }),
	"three_retries":  independentFailures(func(p *params) (float64, int) { return p.share("failure"), 4 }),
	"feedback":       feedback,
	"feedback_mg1":   feedbackAtOnce,
	"decorr_cap":     decorrelatedDrawn,
	"overload_retry": overload,
	"token_bucket":   tokenBucket,

	"fresh_first":      freshFirst,
	"fresh_first_mmc":  freshFirstOrbit,
	"chain_open":       openChain,
	"chain_retry":      policyChain,
	"weighted_sat":     saturated,
	"weighted_sat_mg1": saturatedByMoments,
	"bern":             coins,
	"wrr":              frames,
	"poll":             polling,

	"lease_exp":  lapsing(exponentialService),
	"lease_logn": lapsing(variedService("lognormal")),
	"hb_fixed":   heartbeats(constantService("service")),
	"hb_exp":     heartbeats(exponentialService),
	"crash":      crashes,

	"storm":            transientStorm,
	"hotos21":          metastable,
	"collapse":         congested,
	"goodput_collapse": staleWork,
	"budget_threshold": retryBudget,
	"occ_lockstep":     lockstep,

	"jitter": jitterMoments,
	"decorr": decorrelatedMoments,

	"trace.fifo":           traceFIFO,
	"trace.retry_order":    traceRetryOrder,
	"trace.wrr":            frames,
	"trace.lease_unfenced": traceLease,
	"trace.poll":           tracePolling,
}

// wordless maps families of verify rows that no scenario can express to the reason.
var wordless = map[string]string{
	"mmck":    "a queue here refuses no job: there is no bound on how many may be in it",
	"shuffle": "there is no shuffle sharding: every worker may run every job",
}
