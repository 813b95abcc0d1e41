package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/scenarios/tree"
)

// kindTable lists the kinds of a map, such as those of distributions, each with the keys it takes.
type kindTable struct {
	what string // noun for the map: "distribution"
	key  string // key that names the kind: "dist"
	rows []kindRow
}

// kindRow is one combination of keys by which a kind can be given; a kind may have several, the first of which has its
// documentation.
type kindRow struct {
	kind               string
	required, optional []string
	doc, example       string
}

var distributions = kindTable{what: "distribution", key: "dist", rows: []kindRow{
	{kind: "constant", required: []string{"value"},
		doc: "always the same; a bare duration says it too", example: "value: 100ms"},
	{kind: "exponential", required: []string{"mean"},
		doc: "without memory: a short tail, a standard deviation as long as the mean", example: "mean: 100ms"},
	{kind: "uniform", required: []string{"min", "max"},
		doc: "every duration between two is as likely", example: "min: 50ms, max: 150ms"},
	{kind: "lognormal", required: []string{"mean", "cv"},
		doc: "a long tail, as run times of services have", example: "mean: 100ms, cv: 1.5"},
	{kind: "lognormal", required: []string{"p50", "p99"}, example: "p50: 400ms, p99: 1.5s"},
	{kind: "normal", required: []string{"mean", "sd"},
		doc: "a bell; of negative values the absolute one", example: "mean: 10ms, sd: 2ms"},
	{kind: "gamma", required: []string{"mean", "cv"},
		doc: "between constant (cv below 1) and a long tail (cv above 1)", example: "mean: 100ms, cv: 2"},
	{kind: "erlang", required: []string{"mean", "k"},
		doc: "the sum of k exponential phases", example: "mean: 100ms, k: 3"},
	{kind: "weibull", required: []string{"mean", "shape"},
		doc:     "a tail longer (shape below 1) or shorter (above 1) than exponential",
		example: "mean: 100ms, shape: 0.7"},
	{kind: "pareto", required: []string{"min", "alpha"},
		doc: "a heavy tail: a few are very long", example: "min: 50ms, alpha: 2.5"},
	{kind: "hyperexponential", required: []string{"mean", "cv"},
		doc:     "two exponentials, one short and often, one long and seldom; cv above 1",
		example: "mean: 100ms, cv: 3"},
	{kind: "empirical", required: []string{"values"},
		doc: "drawn from given durations", example: "values: [80ms, 95ms, 1.2s]"},
	{kind: "empirical", required: []string{"file"}, example: "file: durations.txt"},
}}

var backoffs = kindTable{what: "backoff", key: "kind", rows: []kindRow{
	{kind: "exponential", required: []string{"first"}, optional: []string{"factor", "plus", "scale", "max"},
		doc: "first × factor^(n-1) + plus after the n-th failure, at most max", example: "first: 500ms, factor: 2, max: 30s"},
	{kind: "linear", required: []string{"first", "step"}, optional: []string{"max"},
		doc: "first + step × (n-1) after the n-th failure, at most max", example: "first: 1s, step: 5s, max: 1m"},
	{kind: "fixed", required: []string{"delay"}, doc: "always the same delay", example: "delay: 30s"},
	{kind: "fibonacci", required: []string{"first"}, optional: []string{"max"},
		doc: "first × 1, 1, 2, 3, 5, ..., at most max", example: "first: 1s, max: 5m"},
	{kind: "polynomial", required: []string{"power"}, optional: []string{"less", "plus", "max"},
		doc: "(n-less)^power seconds + plus after the n-th failure, at most max", example: "power: 4, plus: 15s"},
	{kind: "table", required: []string{"delays"},
		doc: "one delay after the other; the last repeats", example: "delays: [1s, 10s, 1m]"},
	{kind: "random", required: []string{"delay"},
		doc: "drawn anew each time", example: "delay: {dist: uniform, min: 1s, max: 9s}"},
	{kind: "none", doc: "no delay: due again at once"},
}}

var processes = kindTable{what: "arrival process", key: "process", rows: []kindRow{
	{kind: "poisson", required: []string{"rate"}, optional: startStop,
		doc: "independent jobs at a rate: exponential gaps", example: "rate: 72/s"},
	{kind: "constant", required: []string{"rate"}, optional: startStop, doc: "equal gaps", example: "rate: 90/m"},
	{kind: "gamma", required: []string{"rate", "cv"}, optional: startStop,
		doc:     "gamma gaps: more even (cv below 1) or more bursty (above 1) than poisson",
		example: "rate: 72/s, cv: 2"},
	{kind: "on-off", required: []string{"rate", "on", "off"}, optional: startStop,
		doc:     "poisson while on, nothing while off, and again; it starts on",
		example: "rate: 100/s, on: 1m, off: 30s"},
	{kind: "ramp", required: []string{"from", "to"}, optional: startStop,
		doc: "poisson at a rate that goes from one to the other in a line", example: "from: 10/s, to: 200/s"},
	{kind: "diurnal", required: []string{"mean", "swing", "period"}, optional: startStop,
		doc: "poisson at the rate mean × (1 + swing × sin(2π (t - start) / period))", example: "mean: 50/s, swing: 60%, period: 24h"},
	{kind: "batch", required: []string{"size", "every"}, optional: startStop,
		doc: "so many at the start and then at equal gaps", example: "size: 10k, every: 1h"},
	{kind: "trace", required: []string{"file"}, optional: append([]string{"share"}, startStop...),
		doc: "recorded arrivals, or a share of them", example: "file: arrivals.csv"},
}}

var startStop = []string{"start", "stop", "only"}

// check returns errors for keys of a map that its kind does not take.
func (t *kindTable) check(node *yaml.Node) []*yaml.LoadError {
	name := tree.Lookup(node, t.key)
	if name == nil {
		bad := quantity.Errorf("a map here needs %q", t.key)
		bad.Help = "want " + quantity.OrList(t.kinds())
		return []*yaml.LoadError{tree.ErrorAt(node, bad)}
	}
	rows := t.rowsOf(name.Value)
	if len(rows) == 0 {
		return []*yaml.LoadError{t.unknown(name)}
	}
	row := closestRow(rows, node)
	var problems []*yaml.LoadError
	var missing []string
	for _, key := range row.required {
		if tree.Lookup(node, key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		problems = append(problems, tree.ErrorAt(name, t.missing(rows, missing)))
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Value == t.key || slices.Contains(row.required, key.Value) || slices.Contains(row.optional, key.Value) || !t.has(key.Value) {
			continue // a key that no kind has is reported as an unknown key
		}
		bad := quantity.Errorf("%s %s has no %q", t.what, name.Value, key.Value)
		bad.Help = spell(rows)
		problems = append(problems, tree.ErrorAt(key, bad))
	}
	return problems
}

// unknown returns the error for a node that names an unknown kind.
func (t *kindTable) unknown(name *yaml.Node) *yaml.LoadError {
	bad := unknownName(t.what, name.Value, t.kinds())
	bad.Message = fmt.Sprintf("unknown %s %s", t.what, quantity.Quote(name.Value))
	if bad.Help == "" || strings.HasPrefix(bad.Help, "there is") {
		bad.Help = "want " + quantity.OrList(t.kinds())
	}
	return tree.ErrorAt(name, bad)
}

func (t *kindTable) missing(rows []kindRow, keys []string) *quantity.Error {
	bad := quantity.Errorf("%s %s needs %s", t.what, rows[0].kind, strings.Join(keys, " and "))
	if len(rows) > 1 {
		bad.Message = fmt.Sprintf("%s %s is incomplete", t.what, rows[0].kind)
	}
	bad.Help = spell(rows)
	return bad
}

// closestRow returns, among several combinations of keys for a kind, the one most similar to the map.
func closestRow(rows []kindRow, node *yaml.Node) kindRow {
	best, most := rows[0], -1
	for _, row := range rows {
		n := 0
		for _, key := range row.required {
			if tree.Lookup(node, key) != nil {
				n++
			}
		}
		if n > most {
			best, most = row, n
		}
	}
	return best
}

// spell returns the keys of a kind of map as text.
func spell(rows []kindRow) string {
	var ways []string
	for _, row := range rows {
		way := strings.Join(row.required, ", ")
		if len(row.optional) > 0 {
			way = strings.TrimPrefix(way+", and if wanted "+strings.Join(row.optional, ", "), ", ")
		}
		if way == "" {
			way = "nothing"
		}
		ways = append(ways, way)
	}
	return rows[0].kind + " takes " + strings.Join(ways, "; or ")
}

func (t *kindTable) kinds() []string {
	var kinds []string
	for _, row := range t.rows {
		if !slices.Contains(kinds, row.kind) {
			kinds = append(kinds, row.kind)
		}
	}
	return kinds
}

// rowsOf returns the combinations of keys by which a kind, such as one of distribution, can be given.
func (t *kindTable) rowsOf(kind string) []kindRow {
	var rows []kindRow
	for _, row := range t.rows {
		if row.kind == kind {
			rows = append(rows, row)
		}
	}
	return rows
}

// doc returns the documentation of a kind, such as a storm or a distribution.
func (t *kindTable) doc(kind string) string { return t.rowsOf(kind)[0].doc }

func (t *kindTable) has(key string) bool {
	for _, row := range t.rows {
		if slices.Contains(row.required, key) || slices.Contains(row.optional, key) {
			return true
		}
	}
	return false
}

// Dist returns the distribution to draw values from, in seconds.
func (d *Distribution) Dist() dist.Dist { return d.dist }

// build returns the distribution for package dist. The error names the parameter at fault.
func (d *Distribution) build() (dist.Dist, error) {
	seconds := func(v *Duration) float64 { return v.Std().Seconds() }
	switch {
	case d.Kind == "constant":
		return dist.Constant(seconds(d.Value))
	case d.Kind == "exponential":
		return dist.Exponential(seconds(d.Mean))
	case d.Kind == "uniform":
		return dist.Uniform(seconds(d.Min), seconds(d.Max))
	case d.Kind == "lognormal" && d.P50 != nil:
		return dist.LogNormalQuantiles(seconds(d.P50), seconds(d.P99))
	case d.Kind == "lognormal":
		return dist.LogNormalMeanCV(seconds(d.Mean), float64(*d.CV))
	case d.Kind == "normal":
		return dist.Normal(seconds(d.Mean), seconds(d.SD))
	case d.Kind == "gamma":
		return dist.Gamma(seconds(d.Mean), float64(*d.CV))
	case d.Kind == "erlang":
		return dist.Erlang(seconds(d.Mean), int(*d.K))
	case d.Kind == "weibull":
		return dist.Weibull(seconds(d.Mean), float64(*d.Shape))
	case d.Kind == "pareto":
		return dist.Pareto(seconds(d.Min), float64(*d.Alpha))
	case d.Kind == "hyperexponential":
		return dist.HyperExponential(seconds(d.Mean), float64(*d.CV))
	}
	return dist.Empirical(inSeconds(d.Values))
}

func inSeconds(values []Duration) []float64 {
	seconds := make([]float64, len(values))
	for i := range values {
		seconds[i] = values[i].Std().Seconds()
	}
	return seconds
}

// buildAt sets the distribution for package dist from a checked map; errors are at node.
func (d *Distribution) buildAt(node *yaml.Node) error {
	built, err := d.build()
	if err == nil {
		d.dist = built
		return nil
	}
	at := node
	bad := quantity.Errorf("%s", err)
	if own := (*dist.Error)(nil); errors.As(err, &own) {
		if value := tree.Lookup(node, own.Parameter); value != nil {
			at = value
		}
	}
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{tree.ErrorAt(at, bad)}}
}

// retryPolicy returns the backoff policy with the settings of r.
func (r *Retry) retryPolicy(errorKind func(string) engine.ErrorKind) (*policies.Backoff, error) {
	kind, err := policies.ParseBackoffKind(r.Backoff.Kind)
	if err != nil {
		return nil, err
	}
	b := &policies.Backoff{Kind: kind, First: r.Backoff.First.Std(), Factor: float64(r.Backoff.Factor), Step: r.Backoff.Step.Std(),
		Power: int(r.Backoff.Power), Less: int(r.Backoff.Less), Plus: r.Backoff.Plus.Std(), Scale: int(r.Backoff.Scale), Max: r.Backoff.Max.Std(), Jitter: r.Jitter,
		MaxAttempts: int(r.MaxAttempts), Count: r.Count.Value(), Deadline: r.Deadline.Std()}
	if delay := r.Backoff.Delay; delay != nil && kind == policies.Fixed {
		b.First = delay.Dist().Duration(0.5)
	} else if delay != nil {
		b.Distribution = delay.Dist()
	}
	for _, d := range r.Backoff.Delays {
		b.Delays = append(b.Delays, d.Std())
	}
	b.Never, b.Free, b.FreeMax = kindsOf(r.Never, errorKind), kindsOf(r.Free, errorKind), int(r.FreeMax)
	return b, b.Validate()
}

// kindsOf returns the error kinds of the given names, without those that no attempt can fail with.
func kindsOf(names []string, errorKind func(string) engine.ErrorKind) []engine.ErrorKind {
	var kinds []engine.ErrorKind
	for _, name := range names {
		if kind := errorKind(name); kind != engine.NoError {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
