package spec

import (
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

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
