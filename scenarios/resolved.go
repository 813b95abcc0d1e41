package scenarios

import (
	"crypto/sha256"
	"encoding/hex"

	"go.yaml.in/yaml/v4"
)

// Resolved returns the scenario as YAML with every key and its value in the order of
// the language. It loads to an equal scenario; equal scenarios are equal bytes,
// however their files were written.
func (sc *Scenario) Resolved() []byte {
	out, err := yaml.Dump(sc.canonical(), yaml.WithIndent(2), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic("scenarios: " + err.Error()) // every value came from YAML
	}
	return out
}

// canonical returns sc with the free-form parts of it in a fixed order.
func (sc *Scenario) canonical() *Scenario {
	plain := *sc
	plain.Jobs = append([]JobClass(nil), sc.Jobs...)
	for i := range plain.Jobs {
		plain.Jobs[i].RetryKeys = *ordered(&plain.Jobs[i].RetryKeys)
	}
	plain.Policies = append([]Policy(nil), sc.Policies...)
	for i := range plain.Policies {
		plain.Policies[i].With = orderedAll(plain.Policies[i].With)
		plain.Policies[i].Params = orderedAll(plain.Policies[i].Params)
	}
	return &plain
}

func orderedAll(m map[string]yaml.Node) map[string]yaml.Node {
	if m == nil {
		return nil
	}
	result := make(map[string]yaml.Node, len(m))
	for _, key := range sortedKeys(m) {
		value := m[key]
		result[key] = *ordered(&value)
	}
	return result
}

// ordered returns node without positions and styles, its keys in order.
func ordered(node *yaml.Node) *yaml.Node {
	plain := &yaml.Node{Kind: node.Kind, Tag: node.Tag, Value: node.Value}
	if node.Kind != yaml.MappingNode {
		for _, c := range node.Content {
			plain.Content = append(plain.Content, ordered(c))
		}
		return plain
	}
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		values[node.Content[i].Value] = ordered(node.Content[i+1])
	}
	for _, key := range sortedKeys(values) {
		plain.Content = append(plain.Content, scalar(key), values[key])
	}
	return plain
}

// ConfigHash returns 8 hex digits that are equal for equal scenarios.
func (sc *Scenario) ConfigHash() string {
	sum := sha256.Sum256(sc.Resolved())
	return hex.EncodeToString(sum[:4])
}
