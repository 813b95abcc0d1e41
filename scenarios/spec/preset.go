package spec

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Preset holds the settings of a known job system or design, for `engine: {preset: NAME}` and `retry: {preset: NAME}`.
type Preset struct {
	Name         string    `yaml:"name"`         // name: a-z 0-9 -
	Family       string    `yaml:"family"`       // technology of the system, such as Redis
	Aliases      []string  `yaml:"aliases"`      // other names
	Doc          string    `yaml:"doc"`          // description with the system's guarantees, in a few sentences
	Source       string    `yaml:"source"`       // source of the values
	Unchecked    string    `yaml:"unchecked"`    // reason why the system cannot be run; empty: it can
	Approximates []string  `yaml:"approximates"` // differences from the system that the language cannot express
	Retry        yaml.Node `yaml:"retry"`        // a map of keys of `retry`; zero: none
	Engine       yaml.Node `yaml:"engine"`       // a map of keys of `engine`; zero: none
}

//go:embed presets.yaml
var presetText []byte

var presets = tree.Builtin[[]Preset]("presets.yaml", presetText)

// Presets returns the settings of all known job systems, as listed in presets.yaml. Do not change their YAML nodes.
func Presets() []Preset { return slices.Clone(presets()) }

// PresetNamed returns the preset with that name or alias, nil if there is none. In name _ may stand for -.
func PresetNamed(name string) *Preset {
	if name == "" {
		return nil // before the presets are read, which takes 3 ms
	}
	name = strings.ReplaceAll(name, "_", "-")
	for _, p := range presets() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return &p
		}
	}
	return nil
}

// Setting is a key of a scenario with its value and the source of that: a line, a preset, an override or a default.
type Setting struct {
	Path   string `json:"path"`   // path as for --set: jobs.mail.service; objectives by number from 1
	Value  string `json:"value"`  // value as YAML on one line
	Origin string `json:"origin"` // source: line 12, preset river (line 5), --set ..., or default with a reason
}

// Settings returns the keys that the preset sets, with paths such as engine.lease.ttl, and their values; no Origin.
func (p *Preset) Settings() []Setting {
	return flatten(flatten(nil, "engine", &p.Engine), "retry", &p.Retry)
}

// flatten appends the keys inside the YAML value of the key at a path, with their values; a distribution is one value.
func flatten(all []Setting, path string, value *yaml.Node) []Setting {
	switch {
	case value.IsZero():
		return all
	case value.Kind != yaml.MappingNode || tree.Lookup(value, "dist") != nil:
		return append(all, Setting{Path: path, Value: tree.OneLine(value)})
	}
	for key, child := range tree.Pairs(value) {
		all = flatten(all, tree.Join(path, key.Value), child)
	}
	return all
}

// Origin holds the YAML nodes, with positions, that a scenario was decoded from. They are merged from three layers: the
// defaults, over them the presets that the scenario names, and on top its own values: its file with the overrides.
type Origin struct {
	Given    *yaml.Node            // file with the overrides applied
	Full     *yaml.Node            // given, completed by presets and defaults
	Preset   map[*yaml.Node]string // name of the preset that a node comes from
	Cut      bool                  // Full lacks the last elements of a list that is too long
	problems []*yaml.LoadError     // errors about presets
}

// base returns the YAML tree beneath a scenario's own values: the defaults, with the presets that it names over them.
// If retry names no preset, the retry policy of the engine's preset is used.
func (o *Origin) base() *yaml.Node {
	base := reference.Defaults("scenario")
	engine := tree.Lookup(tree.Lookup(o.Given, "engine"), "preset")
	retry := tree.Lookup(tree.Lookup(o.Given, "retry"), "preset")
	if p := o.named(engine); p != nil {
		if p.Engine.IsZero() {
			e := quantity.Errorf("preset %s has no engine", p.Name)
			e.Help = fmt.Sprintf("it is a retry policy: write retry: {preset: %s}", p.Name)
			o.problems = append(o.problems, tree.ErrorAt(engine, e))
		} else {
			base = o.overlaid(base, "engine", &p.Engine, engine, p.Name)
		}
		if !p.Retry.IsZero() && retry == nil {
			base = o.overlaid(base, "retry", &p.Retry, engine, p.Name)
		}
	}
	if p := o.retry(retry); p != nil {
		base = o.overlaid(base, "retry", &p.Retry, retry, p.Name)
	}
	return base
}

// class returns the retry settings, as YAML, beneath those of a job class (own): base, with the preset of own over it.
func (o *Origin) class(base, own *yaml.Node) *yaml.Node {
	at := tree.Lookup(own, "preset")
	if p := o.retry(at); p != nil {
		return tree.Merged(base, o.placed(&p.Retry, at, p.Name))
	}
	return base
}

// retry returns the preset that the value of a key `preset` names; after adding an error, nil if it lacks retry keys.
func (o *Origin) retry(at *yaml.Node) *Preset {
	p := o.named(at)
	if p != nil && p.Retry.IsZero() {
		o.problems = append(o.problems, tree.Errorf(at, "preset %s has no retry policy", p.Name))
		return nil
	}
	return p
}

// named returns the preset whose name is the value of the YAML node at; after adding an error, nil if there is none.
func (o *Origin) named(at *yaml.Node) *Preset {
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil // a value that is no word is reported when it is decoded
	}
	if p := PresetNamed(at.Value); p != nil {
		return p
	}
	names := plain.Map(Presets(), func(p Preset) string { return p.Name })
	e := reference.UnknownWord("preset", at.Value, names, "`qsim list presets` prints them all")
	o.problems = append(o.problems, tree.ErrorAt(at, e))
	return nil
}

// overlaid returns the YAML tree base with a preset's value laid over that of one key; at and name are as for placed.
func (o *Origin) overlaid(base *yaml.Node, key string, value, at *yaml.Node, name string) *yaml.Node {
	return tree.Merged(base, tree.MapOf(&yaml.Node{}, key, o.placed(value, at, name)))
}

// placed returns a deep copy of a preset's YAML node with the position of at, the node that names the preset, so that
// errors in it are shown there, and records in Preset that the copy comes from the preset called name.
func (o *Origin) placed(node, at *yaml.Node, name string) *yaml.Node {
	own := tree.Copied(node, at)
	for _, child := range node.Content {
		own.Content = append(own.Content, o.placed(child, at, name))
	}
	o.Preset[own] = name
	return own
}

// complete stores Full: Given with presets and defaults filled in. Elements of lists of maps that are no maps, or that
// are too many, are returned as errors and left out, so that indexes in Full are those of the decoded Scenario.
func (o *Origin) complete() (problems []*yaml.LoadError) {
	root := tree.Merged(o.base(), o.Given)
	o.Full = root
	for _, list := range []string{"jobs", "storms", "dependencies", "objectives", "policies"} {
		i := tree.Position(root, list)
		if i < 0 || root.Content[i+1].Kind != yaml.SequenceNode {
			continue
		}
		items := *root.Content[i+1]
		items.Content = nil
		for _, item := range root.Content[i+1].Content {
			if item.Kind != yaml.MappingNode {
				problems = append(problems, tree.Errorf(item, "want a map of keys, not %s", tree.Describe(item)))
				continue
			}
			items.Content = append(items.Content, tree.Merged(reference.Defaults(list), item))
		}
		if l, n := reference.Tables().Lists[list], len(items.Content); l.Most > 0 && n > l.Most {
			bad := tree.Errorf(items.Content[l.Most], "%d %s are too many: at most %d", n, l.Plural, l.Most)
			problems, items.Content, o.Cut = append(problems, bad), items.Content[:l.Most], true
		}
		root.Content[i+1] = &items // root is ours: merged made it
	}
	return problems
}
