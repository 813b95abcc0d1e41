package scenarios

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

// origin holds the YAML nodes from which a scenario was decoded.
type origin struct {
	given *yaml.Node // file with the overrides applied
	full  *yaml.Node // given, completed by presets and defaults
	*layers
}

// decode turns a plain YAML tree into a Scenario, as far as it is valid, and returns the errors.
func decode(given *yaml.Node, files *folder) (*Scenario, []*yaml.LoadError) {
	l := &layers{}
	full, problems := withDefaults(given, l)
	sc := &Scenario{tree: &origin{given, full, l}, files: files}
	problems = append(problems, tree.Errors(full.Load(sc, tree.Strict...))...)
	problems = append(problems, notInDigits(full)...)
	sc.fill()
	problems = append(problems, sc.decodeRetry()...)
	problems = append(problems, sc.readValues()...)
	return sc, append(problems, l.problems...)
}

// notInDigits returns an error for each whole number that is not written in plain digits, among those that the YAML
// library parses: it reads 010 as 8, a Count as 10.
func notInDigits(full *yaml.Node) (problems []*yaml.LoadError) {
	nodes := []*yaml.Node{tree.Lookup(full, "version"), tree.Lookup(full, "seed")}
	if jobs := tree.Lookup(full, "jobs"); jobs != nil {
		for _, job := range jobs.Content {
			nodes = append(nodes, tree.Lookup(job, "priority"))
		}
	}
	for _, node := range nodes {
		if node == nil || node.ShortTag() != "!!int" && node.ShortTag() != "!!float" {
			continue // a mistake of another kind
		}
		if bad := (*quantity.Error)(nil); errors.As(quantity.CheckDigits(node.Value), &bad) {
			problems = append(problems, tree.ErrorAt(node, bad))
		}
	}
	return problems
}

// decodeRetry fills in the retry settings of each class: those of the scenario, overridden by the class's own.
func (sc *Scenario) decodeRetry() []*yaml.LoadError {
	base := tree.Lookup(sc.tree.full, "retry")
	var problems []*yaml.LoadError
	sc.retry = make([]Retry, len(sc.Jobs))
	for i := range sc.Jobs {
		sc.retry[i] = sc.Retry
		own := sc.Jobs[i].RetryKeys
		if own.IsZero() || base == nil || base.Kind != yaml.MappingNode {
			continue
		}
		if own.Kind != yaml.MappingNode {
			problems = append(problems, tree.ErrorAt(&own, quantity.Errorf("want a map of keys such as max-attempts: 8, not %s", tree.Describe(&own))))
			continue
		}
		var r Retry
		problems = append(problems, tree.Errors(tree.Merged(sc.tree.class(base, &own), &own).Load(&r, tree.Strict...))...)
		r.normalize()
		sc.retry[i] = r
	}
	return problems
}

// normalize converts retry settings to one form: of the limit on attempts, of no jitter for a random delay, and of a
// factor for a backoff that grows linearly.
func (r *Retry) normalize() {
	if r.Backoff.Kind == "exponential" && r.Backoff.Factor == 0 {
		r.Backoff.Factor = 2
	}
	if r.Backoff.Kind == "random" {
		r.Jitter = Jitter{}
	}
	if r.MaxRetries == nil {
		return
	}
	r.MaxAttempts = 0
	if *r.MaxRetries >= 0 {
		r.MaxAttempts = Attempts(*r.MaxRetries) + 1
	}
	r.MaxRetries = nil
}

// longestWarmup is the default warm-up of long scenarios; for short ones it is a tenth of the duration.
const longestWarmup = Duration(2 * time.Minute)

// fill sets the defaults that depend on other values of the scenario.
func (sc *Scenario) fill() {
	sc.Retry.normalize()
	if tree.Lookup(sc.tree.full, "drain") == nil {
		sc.Drain = sc.Duration
	}
	if tree.Lookup(sc.tree.full, "warmup") == nil {
		sc.Warmup = min(longestWarmup, sc.Duration/10)
	}
	if p := &sc.Engine.Promoter; p.First != nil && p.First.same(&p.Every) {
		p.First = nil
	}
	for i := range sc.Policies {
		if p := &sc.Policies[i]; p.Label == "" {
			p.Label = p.Kind
		}
	}
	for i := range sc.Objectives {
		if at := tree.LookupAt(tree.Lookup(sc.tree.full, "objectives"), i); at != nil {
			sc.Objectives[i].line = max(0, at.Line) // that of an override is negative
		}
	}
	if sc.Baseline == "" && len(sc.Policies) > 0 {
		sc.Baseline = sc.Policies[0].Label
	}
	for i := range sc.Jobs {
		if j := &sc.Jobs[i]; j.Idempotent != nil {
			if *j.Idempotent {
				j.Guard = "check"
			}
			j.Idempotent = nil
		}
		if f := &sc.Jobs[i].Fails; len(f.Errors) == 0 {
			f.Errors = ErrorShares{{defaultError, quantity.Percent(100)}}
		}
	}
	for i := range sc.Storms {
		sc.Storms[i].fill()
	}
	for i := range sc.Dependencies {
		sc.Dependencies[i].fill()
	}
	for i := range sc.Jobs {
		if t := &sc.Jobs[i].Tenants; len(t.Names) > 0 && tree.Lookup(tree.Lookup(tree.LookupAt(tree.Lookup(sc.tree.given, "jobs"), i), "tenants"), "count") == nil {
			t.Count = Count(len(t.Names))
		}
	}
}

func (d *Dependency) fill() {
	if d.Over.Slow != nil {
		return
	}
	if d.Over.Fail == nil {
		d.Over.Fail = &Share{Num: 1, Den: 1}
	}
	if d.Over.RejectsIn == nil {
		none := constantNone
		d.Over.RejectsIn = &none
	}
}

// constantNone is the constant distribution 0s.
var constantNone = func() Distribution {
	d := Distribution{Kind: "constant", Value: new(Duration)}
	if err := d.buildAt(&yaml.Node{}); err != nil {
		panic("scenarios: " + err.Error())
	}
	return d
}()

var (
	unknownField = regexp.MustCompile(`(?s)^field (.*) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile(`(?s)^cannot construct (.*) into (\S+?)(?: \(TextUnmarshaler\))?$`)
)

// wanted maps each Go type to a description of its values, for messages.
var wanted = map[string]string{
	"Duration": "a duration such as 30s", "Count": "a whole number", "Share": "a share such as 20%", "Rate": "a rate such as 120/s",
	"Attempts": "a whole number or `unlimited`", "Jitter": "a word or a share such as ±20%",
	"Factor": "a number", "Bound": "a single value such as 10s", "CountOrShare": "a count or a share", "Wake": "a single word",
	"string": "text", "bool": "true or false", "int": "a whole number", "int16": "a whole number from -32768 to 32767", "uint64": "a whole number of at least 0", "float64": "a number",
	"Number": "a number", "Limit": "a whole number or `unlimited`", "Offset": "a duration such as 30s or -30s",
}

// words rewords an error of the YAML library for the author of the file: node is the scalar with the mistake, around
// the map of which it is a key; either may be nil.
func words(e *yaml.LoadError, node, around *yaml.Node) *quantity.Error {
	if own := (*quantity.Error)(nil); errors.As(e, &own) {
		if near := closest(own.Typed, own.Known); near != "" {
			own.Help = "did you mean \"" + near + "\"?"
		}
		return own
	}
	if m := unknownField.FindStringSubmatch(e.Message); m != nil {
		return unknownKeyIn(m[2], m[1], around)
	}
	if m := wrongType.FindStringSubmatch(e.Message); m != nil {
		name := m[2][strings.LastIndexAny(m[2], "*.")+1:]
		what, found := wanted[name]
		switch {
		case strings.HasPrefix(m[2], "["):
			what = "a list"
		case strings.HasPrefix(m[2], "map["):
			what = "a map of keys"
		case !found && knownKeys()["scenarios."+name] != nil:
			what = "a map of keys"
		case !found:
			what = "a single word"
		}
		got := m[1]
		switch {
		case strings.HasPrefix(got, "!!seq"):
			got = "a list"
		case strings.HasPrefix(got, "!!map"):
			got = "a map"
		case node != nil:
			got = tree.Describe(node)
		default: // "!!int `12`"
			_, value, _ := strings.Cut(got, " ")
			got = quantity.Quote(strings.Trim(value, "`"))
		}
		bad := quantity.Errorf("want %s, not %s", what, got)
		if name == "Retry" && node != nil && quantity.IsNumber(node.Value) {
			bad.Help = fmt.Sprintf("write retry: {max-retries: %s}", node.Value)
		}
		return bad
	}
	return diagnostics.SyntaxError(e)
}

// knownKeys returns the keys of every struct of a scenario, by the name of the type.
var knownKeys = sync.OnceValue(func() map[string][]string {
	keys := map[string][]string{}
	collectKeys(reflect.TypeFor[Scenario](), keys)
	collectKeys(reflect.TypeFor[plainDistribution](), keys)
	return keys
})

func collectKeys(t reflect.Type, keys map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || keys[t.String()] != nil || t == reflect.TypeFor[yaml.Node]() {
		return
	}
	keys[t.String()] = []string{}
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "" {
			keys[t.String()] = append(keys[t.String()], key)
		}
		if t.Field(i).IsExported() {
			collectKeys(t.Field(i).Type, keys)
		}
	}
}
