// Package apply translates the settings of a scenario, which describes a simulated job queue, into the configuration of
// a real job system such as River or SQS, by the table systems.yaml.
package apply

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/origins"
	"qsim/scenarios/tree"
)

// Line is a row of a translation: a key of a scenario, or map of keys, its value, and the job system's setting for it.
type Line struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Setting string `json:"setting,omitempty"`
	Cannot  string `json:"cannot,omitempty"` // reason why there is no Setting
}

// Result is a scenario, under one of its policies, as the settings of a job system: those for keys whose values differ
// from the system's defaults (the values of its preset), and those that every user of the system must set.
type Result struct {
	System   string `json:"system"`
	Scenario string `json:"scenario"`
	Policy   string `json:"policy"` // label of the policy
	Preset   string `json:"preset"` // source of the defaults of the system
	// Approximates lists how the preset, with which the scenario was compared, differs from the system.
	Approximates []string `json:"approximates"`
	Docs         string   `json:"docs"` // URL of the documentation of the system's settings
	Settings     []Line   `json:"settings"`
	Alike        int      `json:"alike"` // number of keys with the value of the preset
}

// sheet is a Result that is being made from one scenario, with what the steps of the translation look up.
type sheet struct {
	*Result
	system *System
	sc     *scenarios.Scenario // scenario with the overrides of the policy
	mine   map[string]string   // the scenario's values, by path
	base   map[string]string   // the system's default values (those of its preset), by path
	done   map[string]bool     // whether a row has been translated, by scope ("jobs.NAME." or "") and key
}

// To translates a scenario, loaded with overrides, into a job system's settings, under the policy with the given index.
func To(system *System, sc *scenarios.Scenario, policy int, sets []scenarios.Override) *Result {
	preset := scenarios.PresetNamed(system.Name)
	t := &sheet{system: system, sc: sc.Variant(policy),
		mine: map[string]string{}, base: map[string]string{}, done: map[string]bool{},
		Result: &Result{System: system.Title, Scenario: sc.Name, Policy: sc.Policies[policy].Label,
			Preset: preset.Source, Approximates: preset.Approximates, Docs: system.Docs}}
	bare, problems := scenarios.Load("preset", fmt.Appendf(nil, "engine: {preset: %s}\n"+
		"jobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]", preset.Name), nil)
	if bare == nil {
		panic(fmt.Sprintf("apply: preset %s: %v", preset.Name, problems))
	}
	usual := origins.Of(bare, nil)
	for _, s := range usual {
		t.base[s.Path] = s.Value
	}
	settings := origins.Of(t.sc, sets)
	for _, s := range settings {
		t.mine[s.Path] = s.Value
	}
	for _, s := range settings {
		t.key(&s)
	}
	for _, s := range usual { // such as the bound of a backoff that has none
		if _, there := t.mine[s.Path]; !there && below(s.Path, "engine", "retry") {
			t.key(&scenarios.Setting{Path: s.Path, Value: "none"})
		}
	}
	t.policy(&sc.Policies[policy])
	return t.Result
}

// below reports whether a path is one of the given keys, or a key inside one of them.
func below(path string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return path == k || strings.HasPrefix(path, k+".") })
}

// Find returns the row of a job system's table that translates a scenario's key into a setting or, if the table gives
// one, the reason why the system cannot do it. For other keys, among them those of WorldKeys, it returns neither.
func Find(system *System, key string) (row *Translation, cannot string) {
	row = plain.Find(system.Translations, func(s *Translation) bool {
		return below(key, s.Key) || slices.Contains(s.With, key)
	})
	if c := plain.Find(system.Cannot, func(c *Missing) bool { return below(key, c.Keys...) }); row == nil && c != nil {
		cannot = c.Why
	}
	return row, cannot
}

// key adds the system's setting for a key of the scenario to the result, once, unless it may be left at the default.
func (t *sheet) key(s *scenarios.Setting) {
	key, scope, class := s.Path, "", -1
	if k, known := scenarios.KeyOf(s.Path); known {
		key = k.Path
	}
	differs := t.base[key] != s.Value
	if first, rest, _ := strings.Cut(s.Path, "."); first == "jobs" {
		name, own, _ := strings.Cut(rest, ".")
		scope, class = "jobs."+name+".", t.sc.ClassIndex(name)
		if differs = t.base["jobs.a."+own] != s.Value; strings.HasPrefix(key, "retry.") {
			differs = t.mine[key] != s.Value // whether the class's value differs from that for all classes
		}
	}
	if below(key, WorldKeys()...) {
		return
	}
	if key == "jobs.CLASS.priority" { // a class without one stands somewhere among those that have one
		differs = slices.ContainsFunc(t.sc.Jobs, func(j scenarios.JobClass) bool { return j.Priority != 0 })
	}
	row, cannot := Find(t.system, key)
	if row != nil && (row.OverTimeouts || row.Paced) { // which a value can break that is none of its own
		differs = differs || (&values{t: t, row: row, scope: scope, class: class}).presumed(row.As, s.Value) != nil
	}
	switch {
	case !differs && (row == nil || !row.Always && !(row.Several && t.mine["engine.nodes"] != "1")):
		t.Alike++
	case row == nil:
		cannot = cmp.Or(cannot, "there is no setting for it")
		t.Settings = append(t.Settings, Line{Key: s.Path, Value: s.Value, Cannot: cannot})
	case !t.done[scope+row.Key]:
		t.done[scope+row.Key] = true
		t.translate(row, scope, class)
	}
}

// translate adds the setting by a row of the system's table, for a job class (scope "jobs.NAME.") or for all ("", -1).
func (t *sheet) translate(row *Translation, scope string, class int) {
	v := &values{t: t, row: row, scope: scope, class: class}
	value, _ := v.of(row.Key) // none of a map
	line := Line{Key: scope + strings.TrimPrefix(row.Key, "jobs.CLASS."), Value: value}
	if parts := v.joined(); parts != "" {
		line.Value = strings.TrimPrefix(value+", "+parts, ", ")
	}
	setting, err := v.setting(value)
	if line.Setting = setting; err != nil {
		line.Setting, line.Cannot = "", err.Error()
	}
	t.Settings = append(t.Settings, line)
}

// policy adds the system's setting for a fetch policy to the result, or a line with the nearest one; FIFO needs none.
func (t *sheet) policy(p *scenarios.Policy) {
	if p.Kind == "fifo" {
		return
	}
	var params, weights []string
	for _, s := range origins.Of(t.sc, nil) {
		if name, ok := strings.CutPrefix(s.Path, "policies."+p.Label+"."); ok && !below(name, "kind", "label", "with") {
			params = append(params, name+": "+s.Value)
			weights = append(weights, strconv.Quote(strings.TrimPrefix(name, "weights."))+": "+s.Value)
		}
	}
	line := Line{Key: "policies." + p.Label, Value: strings.Join(append([]string{p.Kind}, params...), ", ")}
	if as, there := t.system.Policies[p.Kind]; there {
		line.Setting = strings.NewReplacer("{params}", strings.Join(params, ", "),
			"{weights}", strings.Join(weights, ", ")).Replace(as)
	} else {
		line.Cannot = fmt.Sprintf("no %s: %s has none; nearest: %s", p.Kind, t.system.Title, t.system.Nearest)
	}
	t.Settings = append(t.Settings, line)
}

// System is a real job system such as River, with its settings for keys of scenarios; systems.yaml explains the fields.
type System struct {
	Name         string            `yaml:"name"` // name of the system and of its preset
	Title        string            `yaml:"title"`
	Unit         string            `yaml:"unit"` // unit of durations: go, s, whole, ms
	Docs         string            `yaml:"docs"` // URL of the documentation of the settings
	Translations []Translation     `yaml:"translations"`
	Cannot       []Missing         `yaml:"cannot"`
	Policies     map[string]string `yaml:"policies"` // settings of policies, by kind
	Nearest      string            `yaml:"nearest"`  // nearest policy for kinds that the system does not have
}

// Translation is a row of a System's table: the setting that has the effect of a scenario's key, or of a map of keys.
type Translation struct {
	Key   string            `yaml:"key"`
	With  []string          `yaml:"with"`  // further keys that the setting covers
	As    string            `yaml:"as"`    // text of the setting, with placeholders such as {value:ms}
	When  map[string]string `yaml:"when"`  // settings by value of the key, in place of As
	Kinds map[string]string `yaml:"kinds"` // settings by the kind of the map, in place of As
	Least float64           `yaml:"least"` // lowest value, in seconds for a duration; 0: no bound
	Most  float64           `yaml:"most"`  // highest value; 0: no bound
	// Leasts are lower bounds by the names of keys below the key.
	Leasts map[string]float64 `yaml:"leasts"`
	// Needs holds, for other keys, the only values with which the setting has the effect of the key.
	Needs        map[string]string `yaml:"needs"`
	OverTimeouts bool              `yaml:"over-timeouts"` // the value is at least the longest timeout of a job
	Paced        bool              `yaml:"paced"`         // the poll is at least the cooldown
	Always       bool              `yaml:"always"`        // also set if the value is the preset's
	Several      bool              `yaml:"several"`       // also set with more than one node, if the value is the preset's
}

// Missing lists keys of scenarios, each with all keys inside it, that a System has no setting for, and the reason.
type Missing struct {
	Keys []string `yaml:"keys"`
	Why  string   `yaml:"why"`
}

//go:embed systems.yaml
var systemText []byte

var systems = tree.Builtin[struct {
	World   []string `yaml:"world"`
	Systems []System `yaml:"systems"`
}]("systems.yaml", systemText)

// Systems returns the job systems that qsim apply can translate a scenario for. The caller must not change them.
func Systems() []System { return systems().Systems }

// WorldKeys returns the keys, each with all keys inside it, for which no job system has settings: they describe what
// surrounds it (load, store, storms) or the run.
func WorldKeys() []string { return systems().World }
