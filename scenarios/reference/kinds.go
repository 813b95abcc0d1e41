package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// KindTable lists the kinds of one sort of map in scenario files, such as kinds of distributions, and the keys of each.
type KindTable struct {
	what string // noun for the map: "distribution"
	Key  string // key that names the kind: "dist"
	Rows []kindRow
}

// kindRow is a combination of keys that defines a kind, such as mean and cv of a lognormal distribution. A kind may
// have several, one after the other, the first of which has its documentation.
type kindRow struct {
	Kind               string
	Required, Optional []string
	doc, example       string
}

// row returns a combination of keys: required and optional are lists of keys with spaces between them.
func row(kind, required, optional, doc, example string) kindRow {
	return kindRow{kind, strings.Fields(required), strings.Fields(optional), doc, example}
}

// Distributions lists the kinds of distributions of a duration.
var Distributions = KindTable{what: "distribution", Key: "dist", Rows: []kindRow{
	row("constant", "value", "", "always the same; a bare duration says it too", "value: 100ms"),
	row("exponential", "mean", "", "without memory: a short tail, a standard deviation as long as the mean",
		"mean: 100ms"),
	row("uniform", "min max", "", "every duration between two is as likely", "min: 50ms, max: 150ms"),
	row("lognormal", "mean cv", "", "a long tail, as run times of services have", "mean: 100ms, cv: 1.5"),
	row("lognormal", "p50 p99", "", "", "p50: 400ms, p99: 1.5s"),
	row("normal", "mean sd", "", "a bell; of negative values the absolute one", "mean: 10ms, sd: 2ms"),
	row("gamma", "mean cv", "", "between constant (cv below 1) and a long tail (cv above 1)", "mean: 100ms, cv: 2"),
	row("erlang", "mean k", "", "the sum of k exponential phases", "mean: 100ms, k: 3"),
	row("weibull", "mean shape", "", "a tail longer (shape below 1) or shorter (above 1) than exponential",
		"mean: 100ms, shape: 0.7"),
	row("pareto", "min alpha", "", "a heavy tail: a few are very long", "min: 50ms, alpha: 2.5"),
	row("hyperexponential", "mean cv", "", "two exponentials, one short and often, one long and seldom; cv above 1",
		"mean: 100ms, cv: 3"),
	row("empirical", "values", "", "drawn from given durations", "values: [80ms, 95ms, 1.2s]"),
	row("empirical", "file", "", "", "file: durations.txt"),
}}

// Backoffs lists the kinds of delays between the attempts of a job.
var Backoffs = KindTable{what: "backoff", Key: "kind", Rows: []kindRow{
	row("exponential", "first", "factor plus scale max", "first × factor^(n-1) + plus after the n-th failure, at most max",
		"first: 500ms, factor: 2, max: 30s"),
	row("linear", "first step", "max", "first + step × (n-1) after the n-th failure, at most max",
		"first: 1s, step: 5s, max: 1m"),
	row("fixed", "delay", "", "always the same delay", "delay: 30s"),
	row("fibonacci", "first", "max", "first × 1, 1, 2, 3, 5, ..., at most max", "first: 1s, max: 5m"),
	row("polynomial", "power", "less plus max", "(n-less)^power seconds + plus after the n-th failure, at most max",
		"power: 4, plus: 15s"),
	row("table", "delays", "", "one delay after the other; the last repeats", "delays: [1s, 10s, 1m]"),
	row("random", "delay", "", "drawn anew each time", "delay: {dist: uniform, min: 1s, max: 9s}"),
	row("none", "", "", "no delay: due again at once", ""),
}}

// Processes lists the kinds of arrival processes of a class.
var Processes = KindTable{what: "arrival process", Key: "process", Rows: []kindRow{
	row("poisson", "rate", startStop, "independent jobs at a rate: exponential gaps", "rate: 72/s"),
	row("constant", "rate", startStop, "equal gaps", "rate: 90/m"),
	row("gamma", "rate cv", startStop, "gamma gaps: more even (cv below 1) or more bursty (above 1) than poisson",
		"rate: 72/s, cv: 2"),
	row("on-off", "rate on off", startStop, "poisson while on, nothing while off, and again; it starts on",
		"rate: 100/s, on: 1m, off: 30s"),
	row("ramp", "from to", startStop, "poisson at a rate that goes from one to the other in a line",
		"from: 10/s, to: 200/s"),
	row("diurnal", "mean swing period", startStop, "poisson at the rate mean × (1 + swing × sin(2π (t - start) / period))",
		"mean: 50/s, swing: 60%, period: 24h"),
	row("batch", "size every", startStop, "so many at the start and then at equal gaps", "size: 10k, every: 1h"),
	row("trace", "file", "share "+startStop, "recorded arrivals, or a share of them", "file: arrivals.csv"),
}}

const startStop = "start stop only"

// Check returns errors for the keys that a map lacks, or that its kind does not take.
func (t *KindTable) Check(node *yaml.Node) []*yaml.LoadError {
	name := tree.Lookup(node, t.Key)
	if name == nil {
		bad := quantity.Errorf("a map here needs %q", t.Key)
		bad.Help = "want " + quantity.OrList(t.Kinds())
		return []*yaml.LoadError{tree.ErrorAt(node, bad)}
	}
	rows := t.RowsOf(name.Value)
	if len(rows) == 0 {
		return []*yaml.LoadError{t.Unknown(name)}
	}
	given := func(row kindRow) int { return len(row.Required) - len(row.missing(node)) }
	row := slices.MaxFunc(rows, func(a, b kindRow) int { return cmp.Compare(given(a), given(b)) }) // most like the map
	var problems []*yaml.LoadError
	if missing := row.missing(node); len(missing) > 0 {
		bad := quantity.Errorf("%s %s needs %s", t.what, name.Value, strings.Join(missing, " and "))
		if bad.Help = spell(rows); len(rows) > 1 {
			bad.Message = fmt.Sprintf("%s %s is incomplete", t.what, name.Value)
		}
		problems = append(problems, tree.ErrorAt(name, bad))
	}
	for key := range tree.Pairs(node) {
		known := slices.ContainsFunc(t.Rows, func(r kindRow) bool { return r.takes(key.Value) })
		if !known || key.Value == t.Key || row.takes(key.Value) {
			continue // a key that no kind has is reported as an unknown key
		}
		bad := quantity.Errorf("%s %s has no %q", t.what, name.Value, key.Value)
		bad.Help = spell(rows)
		problems = append(problems, tree.ErrorAt(key, bad))
	}
	return problems
}

// Unknown returns the error for a node that names an unknown kind.
func (t *KindTable) Unknown(name *yaml.Node) *yaml.LoadError {
	bad := UnknownName(t.what, name.Value, t.Kinds())
	bad.Message = fmt.Sprintf("unknown %s %s", t.what, quantity.Quote(name.Value))
	if bad.Help == "" || strings.HasPrefix(bad.Help, "there is") {
		bad.Help = "want " + quantity.OrList(t.Kinds())
	}
	return tree.ErrorAt(name, bad)
}

// missing returns the keys that a combination of keys requires and a map does not have.
func (r kindRow) missing(node *yaml.Node) []string {
	return slices.DeleteFunc(slices.Clone(r.Required), func(key string) bool { return tree.Lookup(node, key) != nil })
}

// spell returns a sentence with the keys that a kind takes, for messages; rows are its combinations of keys.
func spell(rows []kindRow) string {
	var ways []string
	for _, row := range rows {
		way := strings.Join(row.Required, ", ")
		if len(row.Optional) > 0 {
			way = strings.TrimPrefix(way+", and if wanted "+strings.Join(row.Optional, ", "), ", ")
		}
		ways = append(ways, cmp.Or(way, "nothing"))
	}
	return rows[0].Kind + " takes " + strings.Join(ways, "; or ")
}

// Kinds returns the names of the kinds, each once, in the order of the table.
func (t *KindTable) Kinds() []string {
	var kinds []string
	for _, row := range t.Rows {
		kinds = append(kinds, row.Kind)
	}
	return slices.Compact(kinds)
}

// RowsOf returns the combinations of keys by which a kind, such as one of distribution, can be given.
func (t *KindTable) RowsOf(kind string) []kindRow {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(row kindRow) bool { return row.Kind != kind })
}

// Doc returns the documentation of a kind, such as a storm or a distribution.
func (t *KindTable) Doc(kind string) string { return t.RowsOf(kind)[0].doc }

// takes reports whether a key may be in this combination of keys.
func (r kindRow) takes(key string) bool {
	return slices.Contains(r.Required, key) || slices.Contains(r.Optional, key)
}
