package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/quantity"
	"qsim/policies"
)

// kindTable says which parameters go with which kind of something.
type kindTable struct {
	what string // "distribution"
	key  string // "dist": the key that names the kind
	rows []kindRow
}

// kindRow is one way of giving a kind; a kind may have several.
type kindRow struct {
	kind               string
	required, optional []string
}

var distributions = kindTable{what: "distribution", key: "dist", rows: []kindRow{
	{kind: "constant", required: []string{"value"}},
	{kind: "exponential", required: []string{"mean"}},
	{kind: "uniform", required: []string{"min", "max"}},
	{kind: "lognormal", required: []string{"mean", "cv"}},
	{kind: "lognormal", required: []string{"p50", "p99"}},
	{kind: "normal", required: []string{"mean", "sd"}},
	{kind: "gamma", required: []string{"mean", "cv"}},
	{kind: "erlang", required: []string{"mean", "k"}},
	{kind: "weibull", required: []string{"mean", "shape"}},
	{kind: "pareto", required: []string{"min", "alpha"}},
	{kind: "hyperexponential", required: []string{"mean", "cv"}},
	{kind: "empirical", required: []string{"values"}},
	{kind: "empirical", required: []string{"file"}},
}}

var backoffs = kindTable{what: "backoff", key: "kind", rows: []kindRow{
	{kind: "exponential", required: []string{"first"}, optional: []string{"factor", "plus", "scale", "max"}},
	{kind: "linear", required: []string{"first", "step"}, optional: []string{"max"}},
	{kind: "fixed", required: []string{"delay"}},
	{kind: "fibonacci", required: []string{"first"}, optional: []string{"max"}},
	{kind: "polynomial", required: []string{"power"}, optional: []string{"less", "plus", "max"}},
	{kind: "table", required: []string{"delays"}},
	{kind: "random", required: []string{"delay"}},
	{kind: "none"},
}}

var processes = kindTable{what: "arrival process", key: "process", rows: []kindRow{
	{kind: "poisson", required: []string{"rate"}, optional: startStop},
	{kind: "constant", required: []string{"rate"}, optional: startStop},
	{kind: "gamma", required: []string{"rate", "cv"}, optional: startStop},
	{kind: "on-off", required: []string{"rate", "on", "off"}, optional: startStop},
	{kind: "ramp", required: []string{"from", "to"}, optional: startStop},
	{kind: "diurnal", required: []string{"mean", "swing", "period"}, optional: startStop},
	{kind: "batch", required: []string{"size", "every"}, optional: startStop},
	{kind: "trace", required: []string{"file"}, optional: startStop},
}}

var startStop = []string{"start", "stop", "only"}

// check compares a map with the table.
func (t *kindTable) check(node *yaml.Node) []*yaml.LoadError {
	name := lookup(node, t.key)
	if name == nil {
		bad := quantity.Errorf("a map here needs %q", t.key)
		bad.Help = "want " + quantity.OrList(t.kinds())
		return []*yaml.LoadError{errorAt(node, bad)}
	}
	var rows []kindRow
	for _, row := range t.rows {
		if row.kind == name.Value {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		bad := unknownName(t.what, name.Value, t.kinds())
		bad.Message = fmt.Sprintf("unknown %s %s", t.what, quantity.Quote(name.Value))
		if bad.Help == "" || strings.HasPrefix(bad.Help, "there is") {
			bad.Help = "want " + quantity.OrList(t.kinds())
		}
		return []*yaml.LoadError{errorAt(name, bad)}
	}
	row := closestRow(rows, node)
	var problems []*yaml.LoadError
	var missing []string
	for _, key := range row.required {
		if lookup(node, key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		problems = append(problems, errorAt(name, t.missing(rows, missing)))
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Value == t.key || contains(row.required, key.Value) || contains(row.optional, key.Value) || !t.has(key.Value) {
			continue // what no kind has is an unknown key, and reported as one
		}
		bad := quantity.Errorf("%s %s has no %q", t.what, name.Value, key.Value)
		bad.Help = spell(rows)
		problems = append(problems, errorAt(key, bad))
	}
	return problems
}

func (t *kindTable) missing(rows []kindRow, keys []string) *quantity.Error {
	bad := quantity.Errorf("%s %s needs %s", t.what, rows[0].kind, strings.Join(keys, " and "))
	if len(rows) > 1 {
		bad.Message = fmt.Sprintf("%s %s is incomplete", t.what, rows[0].kind)
	}
	bad.Help = spell(rows)
	return bad
}

// closestRow returns the row that most of the map's keys belong to.
func closestRow(rows []kindRow, node *yaml.Node) kindRow {
	best, most := rows[0], -1
	for _, row := range rows {
		n := 0
		for _, key := range row.required {
			if lookup(node, key) != nil {
				n++
			}
		}
		if n > most {
			best, most = row, n
		}
	}
	return best
}

// spell says what goes with a kind.
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
		if !contains(kinds, row.kind) {
			kinds = append(kinds, row.kind)
		}
	}
	return kinds
}

func (t *kindTable) has(key string) bool {
	for _, row := range t.rows {
		if contains(row.required, key) || contains(row.optional, key) {
			return true
		}
	}
	return false
}

// Dist returns d ready to be drawn from, in seconds.
func (d *Distribution) Dist() dist.Dist { return d.dist }

// build makes the engine's distribution. The error names the parameter at fault.
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

// buildAt makes the engine's distribution of a map that check found nothing wrong with.
func (d *Distribution) buildAt(node *yaml.Node) error {
	built, err := d.build()
	if err == nil {
		d.dist = built
		return nil
	}
	at := node
	bad := quantity.Errorf("%s", err)
	if own := (*dist.Error)(nil); errors.As(err, &own) {
		if value := lookup(node, own.Parameter); value != nil {
			at = value
		}
	}
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{errorAt(at, bad)}}
}

// retryPolicy makes the policy that r describes.
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

// kindsOf returns the error kinds of those names that some attempt may fail with.
func kindsOf(names []string, errorKind func(string) engine.ErrorKind) []engine.ErrorKind {
	var kinds []engine.ErrorKind
	for _, name := range names {
		if kind := errorKind(name); kind != engine.NoError {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
