package spec

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// layers merges the YAML of a scenario from three layers: the defaults, over them the presets that it names, and on top
// its own values, of the file and its overrides.
type layers struct {
	Preset   map[*yaml.Node]string // name of the preset that a node comes from
	problems []*yaml.LoadError
}

// base returns the YAML that a scenario's own values overlay: the defaults, overlaid by the presets that it names for
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

// Class returns the retry settings that a class's own ones overlay: base, overlaid by the class's preset, if any.
func (l *layers) Class(base, own *yaml.Node) *yaml.Node {
	at := tree.Lookup(own, "preset")
	if p := l.retry(at); p != nil {
		return tree.Merged(base, l.placed(p.Retry, at, p.Name))
	}
	return base
}

// retry returns the preset that a YAML node names, if that has retry settings; else it adds an error and returns nil.
func (l *layers) retry(at *yaml.Node) *Preset {
	p := l.named(at)
	if p != nil && p.Retry == nil {
		l.problems = append(l.problems, tree.Errorf(at, "preset %s has no retry policy", p.Name))
		return nil
	}
	return p
}

// named returns the preset that a YAML node names; if there is none of that name, it adds an error and returns nil.
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

// overlaid returns the YAML base with a key's value overlaid by a preset's; errors in that are shown at the node at.
func (l *layers) overlaid(base *yaml.Node, key string, value, at *yaml.Node, name string) *yaml.Node {
	return tree.Merged(base, tree.MapOf(&yaml.Node{}, key, l.placed(value, at, name)))
}

// placed returns a copy of a preset's node with the file position of at, the node that names the preset: errors in the
// copy are shown there.
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
