package play

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/estimate"
	"qsim/scenarios/origins"
	"qsim/scenarios/world"
)

// scene is the first line of every answer: the scenario under the request's settings, for the form of the page.
type scene struct {
	Problems []problem `json:"problems"`
	Knobs    []knob    `json:"knobs,omitempty"` // settings of the form; empty: the scenario does not load
	Policies []policy  `json:"policies,omitempty"`
	Storms   []offer   `json:"storms,omitempty"`  // kinds of storms that can be added
	Kinds    []offer   `json:"kinds,omitempty"`   // kinds of policies that can be added
	Columns  []column  `json:"columns,omitempty"` // columns that the table can have
	Begun    *ask      `json:"begun,omitempty"`   // settings and policies that the page begins with
	YAML     string    `json:"yaml,omitempty"`    // resolved scenario
	Duration string    `json:"duration,omitempty"`
	About    string    `json:"description,omitempty"`
}

// problem is an error or a warning about the scenario, with the request's setting or the place in the file at fault.
type problem struct {
	Set     int    `json:"set"`   // index of the setting at fault; -1: none
	Place   string `json:"place"` // position in the scenario's text; empty: the fault is in a setting
	Error   bool   `json:"error"` // otherwise it is a warning
	Message string `json:"message"`
	Help    string `json:"help,omitempty"`
}

// knob is a key of the scenario that the user can change on the page, with its present and its possible values.
type knob struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Usual  string `json:"usual"` // initial value
	Origin string `json:"origin"`
	Doc    string `json:"doc"`
	Takes  string `json:"takes,omitempty"` // description of the values: duration, late | early
	Least  int    `json:"least"`
	Most   int    `json:"most"`  // bounds of a number; both 0: none
	Front  bool   `json:"front"` // shown before any search
}

// policy is one of the scenario's policies in the form of the page, where it can be switched on and off.
type policy struct {
	Label string `json:"label"`
	On    bool   `json:"on"`
	Begun bool   `json:"begun"` // shown where none is chosen
}

// offer is a kind of storm or policy that the user can add on the page; Map has the keys of such a storm in YAML.
type offer struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Map  string `json:"map"`
}

// column is a metric that the user can add to the page's table as a column.
type column struct {
	Metric string `json:"metric"` // name of the metric, in the syntax of --metric
	Label  string `json:"label"`
}

// columns returns the metrics to offer as columns: that of the table's first column, and waits of the first few
// classes, in each storm and in the whole run, that the table lacks.
func columns(sc *scenarios.Scenario) (all []column) {
	settings := world.Settings(sc)
	have := results.TableQueries(&settings)
	all = []column{{have[0].String(), have[0].Label()}}
	for _, window := range append(settings.Storms, measure.Window{}) {
		for _, q := range measure.UsualWaits(&settings) {
			if q.During = window.Name; !slices.Contains(have, q) {
				all = append(all, column{q.String(), q.Label()})
			}
		}
	}
	return all
}

// inFront matches the paths of keys that the page shows without a search, if their values match numeric: workers, lease
// TTL, retries, loads, and keys of storms. Parameters of policies are shown as well.
var (
	inFront = regexp.MustCompile(`^(engine\.(nodes|workers|lease\.ttl)|` +
		`retry\.(max-attempts|backoff\.(first|max|delay))|jobs\.[^.]+\.arrivals\.rate|jobs\.[^.]+\.fails\.rate|` +
		`storms\.[^.]+\.(at|for)|storms\.[^.]+\.[^.]+\.(rate|factor|count|share|lose|skew|slow|error))$`)
	numeric = regexp.MustCompile(`^[0-9.]+(%|[a-zµ]+|/[smh])?([0-9.]+[a-zµ]+)*$`)
)

// loaded returns the page's scenario with the overrides of a request, nil if it has errors, and its diagnostics.
func (s *stage) loaded(sets []set) (*scenarios.Scenario, diagnostics.List) {
	return scenarios.Load(s.o.Name, s.o.Source, s.overrides(sets))
}

func (s *stage) overrides(sets []set) []scenarios.Override {
	return slices.Concat(s.o.Sets, plain.Map(sets, func(own set) scenarios.Override {
		return scenarios.Override{Path: own.Path, Value: own.Value, NoFile: true}
	}))
}

// load returns the scenario to simulate for a request, with its policies and metrics, and the first line of the answer.
// The scenario is nil if it has errors or is too large, as the problems in that line explain.
func (s *stage) load(a *ask) (*scenarios.Scenario, *scene) {
	sc, found := s.loaded(a.Sets)
	seen := &scene{Problems: s.problems(a.Sets, found)}
	if sc == nil {
		return nil, seen
	}
	seen.Columns = columns(sc) // before those asked for are there, so that the list stays as it is
	chosen, err := s.chosen(sc, a)
	for i := 0; i < len(a.Metrics) && err == nil; i++ {
		var q measure.Query
		if q, err = measure.ParseQuery(a.Metrics[i]); err == nil {
			err = chosen.Measure([]measure.Query{q})
		}
	}
	if err != nil {
		seen.Problems = append(seen.Problems, problem{Set: -1, Error: true, Message: err.Error()})
		return nil, seen
	}
	begun, err := s.chosen(sc, &ask{})
	for i := range sc.Policies {
		label := sc.Policies[i].Label
		seen.Policies = append(seen.Policies, policy{label, has(chosen, label), err == nil && has(begun, label)})
	}
	seen.Begun = &ask{Sets: []set{}, Policies: append([]string{}, s.o.Policies...)}
	for _, o := range s.o.Sets {
		seen.Begun.Sets = append(seen.Begun.Sets, set{o.Path, o.Value})
	}
	seen.Knobs, seen.About = s.knobs(sc, chosen, a.Sets), sc.Description
	seen.Storms, seen.YAML, seen.Duration = s.storms, string(chosen.Resolved()), chosen.Duration.String()
	for _, k := range scenarios.PolicyKinds() {
		doc, _, _ := strings.Cut(k.Doc, ". ")
		seen.Kinds = append(seen.Kinds, offer{Name: k.Name, Doc: doc})
	}
	if err := s.fits(chosen); err != nil {
		seen.Problems = append(seen.Problems, problem{Set: s.blamed(a), Error: true, Message: err.Error()})
		return nil, seen
	}
	return chosen, seen
}

// chosen returns the scenario with the policies that a request names or, if it names none, those the page begins with.
func (s *stage) chosen(sc *scenarios.Scenario, a *ask) (*scenarios.Scenario, error) {
	switch {
	case len(a.Policies) > 0:
		return sc.Select(a.Policies)
	case len(s.o.Policies) > 0:
		return sc.Select(s.o.Policies)
	}
	return sc, nil
}

// blamed returns the index of the last setting in a request without which the scenario is valid; -1: there is none.
func (s *stage) blamed(a *ask) int {
	for i := range slices.Backward(a.Sets) {
		if sc, _ := s.loaded(slices.Delete(slices.Clone(a.Sets), i, i+1)); sc != nil {
			if chosen, err := s.chosen(sc, a); err == nil && s.fits(chosen) == nil {
				return i
			}
		}
	}
	return -1
}

// fits returns an error for a scenario whose simulation takes too long, or too much memory, for a page.
func (s *stage) fits(sc *scenarios.Scenario) error {
	size := estimate.Of(sc)
	switch {
	case len(sc.Policies) > mostPolicies:
		return fmt.Errorf("the page shows %d policies at once, and here are %d: take some away", mostPolicies,
			len(sc.Policies))
	case size.All > mostJobs:
		return fmt.Errorf("%s brings most of %s jobs in one simulation, and the page takes %s at most: lower the load or "+
			"the duration, or use qsim run", size.Key, plain.Grouped(plain.Digits(size.All, 2)),
			plain.Grouped(plain.Digits(mostJobs, 2)))
	}
	return s.o.Fits(sc)
}

// mostBytes is the most memory that a simulation may take in a browser, whose web workers have 4 GB at most.
const mostBytes = 1 << 30

func fitsBrowser(sc *scenarios.Scenario) error {
	if f := estimate.Of(sc); f.Bytes > mostBytes {
		return fmt.Errorf("%s, for which a browser has not the memory: lower it, add workers, or use qsim run", f.Cause())
	}
	return nil
}

// problems returns diagnostics in the form of the page, each with the index in sets of the setting at fault, or -1.
func (s *stage) problems(sets []set, found diagnostics.List) []problem {
	all := []problem{}
	overrides := s.overrides(sets)
	for _, d := range found {
		message := d.Message + plain.When(d.Note != "", " ("+d.Note+")")
		p := problem{Set: -1, Error: d.Severity == diagnostics.Error, Message: message, Help: d.Help}
		if d.Set != "" {
			p.Set = slices.IndexFunc(overrides, func(o scenarios.Override) bool { return o.String() == d.Set }) - len(s.o.Sets)
		} else if d.Line > 0 {
			p.Place = fmt.Sprintf("%s:%d:%d", s.o.Name, d.Line, d.Col)
		}
		p.Set = max(p.Set, -1)
		all = append(all, p)
	}
	return all
}

// knobs returns all keys that the page can change. Those of policies that are switched off appear in a search only.
func (s *stage) knobs(sc, chosen *scenarios.Scenario, sets []set) []knob {
	var all []knob
	for _, setting := range origins.Of(sc, s.overrides(sets)) {
		if strings.HasPrefix(setting.Path, "objectives.") {
			continue // which no path of an override reaches
		}
		words := sc.Words(setting.Path)
		key, known := s.keys[setting.Path]
		usual := s.usual[setting.Path]
		if !known {
			key, _ = scenarios.KeyOf(setting.Path)
			usual = setting.Value
		}
		doc, takes := key.Doc, key.Value
		if len(words) == 3 && words[0] == "policies" {
			doc, takes = parameterDoc(sc, words[1], words[2], doc, takes)
		}
		front := (inFront.MatchString(setting.Path) || words[0] == "policies" && len(words) == 3 && words[2] != "label") &&
			numeric.MatchString(setting.Value) || strings.Contains(setting.Path, ".with.")
		front = front && (words[0] != "policies" || len(words) < 2 || has(chosen, words[1]))
		all = append(all, knob{setting.Path, setting.Value, usual, setting.Origin, doc, takes, key.Least, key.Most, front})
	}
	return all
}

func has(sc *scenarios.Scenario, label string) bool {
	return slices.ContainsFunc(sc.Policies, func(p scenarios.Policy) bool { return p.Label == label })
}

// parameterDoc returns the documentation and the values of a policy's parameter; doc and takes if there is none.
func parameterDoc(sc *scenarios.Scenario, label, name, doc, takes string) (string, string) {
	found := sc.PoliciesNamed(label)
	for _, k := range scenarios.PolicyKinds() {
		for _, p := range k.Params {
			if len(found) > 0 && sc.Policies[found[0]].Kind == k.Name && p.Name == name {
				return p.Doc, strings.Join(append([]string{p.Type}, p.Choices...), " | ")
			}
		}
	}
	return doc, takes
}

// exampleDependency and exampleClass match the names in examples of storms that offers replaces by the scenario's own.
var (
	exampleDependency = regexp.MustCompile(`\b(payments-api|mailer)\b`)
	exampleClass      = regexp.MustCompile(`\b(mail|post|payments)\b`)
)

// offers returns the kinds of storms that can be added to the scenario, with its own class and dependency in the keys.
func (s *stage) offers(sc *scenarios.Scenario) (all []offer) {
	for _, k := range scenarios.AllKinds().Storms {
		_, keys, _ := strings.Cut(strings.TrimSuffix(k.Example, "}"), ", "+k.Name+": ")
		if len(sc.Dependencies) > 0 {
			keys = exampleDependency.ReplaceAllLiteralString(keys, sc.Dependencies[0].Name)
		}
		keys = exampleClass.ReplaceAllLiteralString(keys, sc.Jobs[0].Class)
		storm := set{"storms.+", fmt.Sprintf("{name: qsim-offer, at: 0s, for: %s, %s: %s}", sc.Duration, k.Name, keys)}
		if fits, _ := s.loaded([]set{storm}); fits != nil {
			all = append(all, offer{k.Name, k.Doc, keys})
		}
	}
	return all
}
