package spec

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Preset holds the settings of a known system or design, as keys of a scenario.
type Preset struct {
	Name         string     `yaml:"name"`         // name: a-z 0-9 -
	Family       string     `yaml:"family"`       // technology of the system, such as Redis
	Aliases      []string   `yaml:"aliases"`      // other names
	Doc          string     `yaml:"doc"`          // description with the system's guarantees, in a few sentences
	Source       string     `yaml:"source"`       // source of the values
	Approximates []string   `yaml:"approximates"` // differences from the system that the language cannot express
	Retry        *yaml.Node `yaml:"retry"`        // a map of keys of `retry`; nil: none
	Engine       *yaml.Node `yaml:"engine"`       // a map of keys of `engine`; nil: none
}

//go:embed presets.yaml
var presetText []byte

// presets parses the built-in list of presets once, and panics if it is invalid.
var presets = sync.OnceValue(func() []Preset {
	list, problems := tree.Parse(presetText)
	if len(problems) > 0 {
		panic("spec: presets: " + problems[0].Error())
	}
	var all []Preset
	for _, node := range list.Content {
		var p Preset
		keys := *node
		keys.Content = nil
		for key, value := range tree.Pairs(node) {
			switch key.Value {
			case "retry":
				p.Retry = value
			case "engine":
				p.Engine = value
			default:
				keys.Content = append(keys.Content, key, value)
			}
		}
		if err := keys.Load(&p, tree.Strict...); err != nil {
			panic(fmt.Sprintf("spec: presets, line %d: %v", node.Line, err))
		}
		all = append(all, p)
	}
	return all
})

// Presets returns all presets in the order in which they are listed. The caller must not change their nodes.
func Presets() []Preset { return slices.Clone(presets()) }

// PresetNamed returns the preset with that name or alias, in which _ may stand for -; nil if there is none.
func PresetNamed(name string) *Preset {
	name = strings.ReplaceAll(name, "_", "-")
	for _, p := range presets() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return &p
		}
	}
	return nil
}

// Setting is one key of a scenario with its value and its origin: a line, a preset, an override or a default.
type Setting struct {
	Path   string `json:"path"`   // path as for --set: jobs.mail.service; objectives by number from 1
	Value  string `json:"value"`  // value as YAML on one line
	Origin string `json:"origin"` // source: line 12, preset river (line 5), --set ..., or default with a reason
}

// Settings returns the values of a preset as keys of a scenario. Their Origin is empty.
func (p *Preset) Settings() []Setting {
	var all []Setting
	if p.Engine != nil {
		all = flatten(all, "engine", p.Engine)
	}
	if p.Retry != nil {
		all = flatten(all, "retry", p.Retry)
	}
	return all
}

func flatten(all []Setting, path string, value *yaml.Node) []Setting {
	if value.Kind != yaml.MappingNode || tree.Lookup(value, "dist") != nil {
		return append(all, Setting{Path: path, Value: tree.OneLine(value)})
	}
	for key, child := range tree.Pairs(value) {
		all = flatten(all, reference.Join(path, key.Value), child)
	}
	return all
}

// layers overlays the defaults with the presets named in a scenario, and those with the scenario's own values. A preset
// lies below everything that the file and its overrides set.
type layers struct {
	Preset   map[*yaml.Node]string // name of the preset that a node comes from
	problems []*yaml.LoadError
}

// base returns the YAML values that the scenario given does not set itself: the defaults, overlaid by the presets for
// engine and retry. The retry policy of the engine's preset counts unless retry names its own.
func (l *layers) base(given *yaml.Node) *yaml.Node {
	base := reference.DefaultTrees()[""]
	engine := tree.Lookup(tree.Lookup(given, "engine"), "preset")
	retry := tree.Lookup(tree.Lookup(given, "retry"), "preset")
	if p := l.named(engine); p != nil {
		if p.Engine == nil {
			e := quantity.Errorf("preset %s has no engine", p.Name)
			e.Help = fmt.Sprintf("it is a retry policy: write retry: {preset: %s}", p.Name)
			l.problems = append(l.problems, tree.ErrorAt(engine, e))
		} else {
			base = l.overlaid(base, "engine", p.Engine, engine, p.Name)
		}
		if p.Retry != nil && retry == nil {
			base = l.overlaid(base, "retry", p.Retry, engine, p.Name)
		}
	}
	if p := l.retry(retry); p != nil {
		base = l.overlaid(base, "retry", p.Retry, retry, p.Name)
	}
	return base
}

// Class returns the retry settings that a class does not set itself: base, overlaid by the preset of the class.
func (l *layers) Class(base, own *yaml.Node) *yaml.Node {
	at := tree.Lookup(own, "preset")
	if p := l.retry(at); p != nil {
		return tree.Merged(base, l.placed(p.Retry, at, p.Name))
	}
	return base
}

// retry returns the preset of a node's name if it has retry settings, nil otherwise.
func (l *layers) retry(at *yaml.Node) *Preset {
	p := l.named(at)
	if p != nil && p.Retry == nil {
		l.problems = append(l.problems, tree.Errorf(at, "preset %s has no retry policy", p.Name))
		return nil
	}
	return p
}

// named returns the preset of a node's name; if there is none, nil after adding an error.
func (l *layers) named(at *yaml.Node) *Preset {
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil // a value that is no word is reported when it is decoded
	}
	if p := PresetNamed(at.Value); p != nil {
		return p
	}
	names := plain.Map(Presets(), func(p Preset) string { return p.Name })
	e := reference.UnknownWord("preset", at.Value, names, "`qsim list presets` prints them all")
	l.problems = append(l.problems, tree.ErrorAt(at, e))
	return nil
}

// overlaid returns base with a preset's value of a key over its own, placed where the preset is named.
func (l *layers) overlaid(base *yaml.Node, key string, value, at *yaml.Node, name string) *yaml.Node {
	return tree.Merged(base, tree.MapOf(&yaml.Node{}, key, l.placed(value, at, name)))
}

// placed returns a copy of a preset's node with the position of at, the node with the preset's name, where errors in it
// are shown.
func (l *layers) placed(node, at *yaml.Node, name string) *yaml.Node {
	own := tree.Copied(node, at)
	for _, child := range node.Content {
		own.Content = append(own.Content, l.placed(child, at, name))
	}
	l.Preset[own] = name
	return own
}

// withDefaults returns the YAML of a scenario with the values of its presets and the defaults filled in. Elements of
// lists that are not maps are reported and left out, so that indexes agree with those of the Scenario.
func withDefaults(given *yaml.Node, l *layers) (*yaml.Node, []*yaml.LoadError) {
	var problems []*yaml.LoadError
	root := tree.Merged(l.base(given), given)
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
			items.Content = append(items.Content, tree.Merged(reference.DefaultTrees()[list], item))
		}
		root.Content[i+1] = &items // root is ours: merged made it
	}
	return root, problems
}

// Origin holds the YAML nodes from which a scenario was decoded.
type Origin struct {
	Given *yaml.Node // file with the overrides applied
	Full  *yaml.Node // given, completed by presets and defaults
	*layers
}
