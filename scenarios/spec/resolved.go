package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// Resolved returns YAML text with every key of the scenario and its value, defaults included, in the order of the
// language. It loads to an equal scenario, and equal scenarios give equal text, however their files were written.
func (sc *Scenario) Resolved() []byte {
	return plain.Must(yaml.Dump(sc.Canonical(), yaml.WithIndent(2), yaml.WithLineWidth(-1),
		yaml.WithQuotePreference(yaml.QuoteDouble))) // every value came from YAML
}

// Canonical returns a copy of a scenario with free-form maps, such as `with:`, sorted: equal ones give equal YAML.
func (sc *Scenario) Canonical() *Scenario {
	same := *sc
	preset := PresetNamed(sc.Engine.Preset)
	first := preset != nil && tree.Lookup(tree.Lookup(&preset.Engine, "promoter"), "first") != nil
	if first && same.Engine.Promoter.First == nil {
		same.Engine.Promoter.First = new(same.Engine.Promoter.Every) // says the same, and the preset no more
	}
	same.Jobs = slices.Clone(sc.Jobs)
	for i := range same.Jobs {
		same.Jobs[i].RetryKeys = *tree.InOrder(&same.Jobs[i].RetryKeys)
	}
	same.Policies = slices.Clone(sc.Policies)
	for i := range same.Policies {
		same.Policies[i].With = tree.AllInOrder(same.Policies[i].spelled)
		same.Policies[i].Params = tree.AllInOrder(same.Policies[i].Params)
	}
	return &same
}

// spell stores in every policy, of all variants, the form of its `with:` that Resolved writes: see spelled.
func (sc *Scenario) spell() {
	for i := range sc.Policies {
		spelled := sc.spelled(i)
		for _, v := range sc.all() {
			v.Policies[i].spelled = spelled
		}
	}
}

// spelled returns the `with:` of policy i with presets replaced by all values of engine and retry: in Resolved's text
// each key has a value, over which a preset in `with:` would have no effect.
func (sc *Scenario) spelled(i int) map[string]yaml.Node {
	with, names := sc.Policies[i].With, false
	for _, section := range []string{"engine", "retry"} {
		_, there := with[section+".preset"]
		whole := with[section]
		names = names || there || tree.Lookup(&whole, "preset") != nil
	}
	if !names {
		return with
	}
	v := sc.Variant(i)
	engine := v.Engine
	if engine.Promoter.First == nil && sc.Engine.Promoter.First != nil {
		engine.Promoter.First = &engine.Promoter.Every // says the same, and drops the other
	}
	spelled := map[string]yaml.Node{"engine": tree.Dumped(&engine), "retry": tree.Dumped(&v.Retry)}
	for _, path := range slices.Sorted(maps.Keys(with)) {
		if first, _, _ := strings.Cut(path, "."); first != "engine" && first != "retry" {
			spelled[path] = with[path]
		}
	}
	return spelled
}

// ConfigHash returns 8 hex digits of a hash of Resolved's text and the data files, which are equal for equal scenarios;
// "unknown" if one of these files cannot be read any more.
func (sc *Scenario) ConfigHash() string {
	sum := sha256.New()
	sum.Write(sc.Resolved())
	for _, name := range sc.Files() {
		if sc.HashFile(sum, name) != nil {
			return "unknown"
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}
