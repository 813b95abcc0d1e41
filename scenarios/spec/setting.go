package spec

import (
	"go.yaml.in/yaml/v4"

	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

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
	for i := 0; i+1 < len(value.Content); i += 2 {
		all = flatten(all, reference.Join(path, value.Content[i].Value), value.Content[i+1])
	}
	return all
}
