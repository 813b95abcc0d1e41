package scenarios

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// describe gives every key of the JSON schema a description of its own, since editors would otherwise show its type's.
// A key without a comment gets that of its map.
func (b *schemaBuilder) describe() {
	schemas := []*jsonschema.Schema{b.root}
	for _, name := range slices.Sorted(maps.Keys(b.root.Definitions)) {
		schemas = append(schemas, b.root.Definitions[name])
	}
	for _, s := range schemas {
		if s.Properties == nil {
			continue
		}
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			if of := strings.TrimPrefix(p.Value.Ref, reference.DefinitionsAt); p.Value.Description == "" && of != "" {
				_, p.Value.Description, _ = strings.Cut(b.def(of).Description, " ") // without the name of the type
			}
			p.Value.Description = strings.TrimSuffix(plainWords(p.Value.Description), ".")
		}
	}
	for _, s := range schemas {
		s.Description = ""
	}
	b.root.Description = "a load, trouble and policies for a job queue, as qsim runs them"
}

// defaults adds to the JSON schema the default value of each key.
func (b *schemaBuilder) defaults() {
	for list, values := range tree.Pairs(&reference.Tables().Defaults) {
		s := b.root
		if list.Value != "scenario" {
			s = b.resolved(property(s, list.Value).Items)
		}
		b.each(s, values, false, func(p *jsonschema.Schema, value *yaml.Node) { p.Default = asJSON(value) })
	}
	own := []any{&Storm{}, &spec.Arrivals{}}
	for _, kind := range Troubles() {
		trouble := spec.NewTrouble(kind)
		if f, ok := trouble.(interface{ Fill() }); ok {
			f.Fill()
		}
		own = append(own, trouble)
	}
	for _, zero := range own { // what is left out of them is zero, or filled in
		s := b.def(reflect.TypeOf(zero).Elem().Name())
		values := tree.Dumped(zero)
		b.each(s, &values, false, func(p *jsonschema.Schema, value *yaml.Node) {
			if p.Default == nil && (value.Value != "" || value.Kind == yaml.SequenceNode) {
				p.Default = asJSON(value)
			}
		})
		for _, key := range s.Required {
			property(s, key).Default = nil
		}
	}
	property(b.def("Policy"), "kind").Default, property(b.def("Backoff"), "factor").Default = nil, 2
}

// examples adds to the JSON schema, as examples, the values that keys have in the scenario of everything.
func (b *schemaBuilder) examples(t *testing.T) {
	values, _ := tree.Parse([]byte(everything(t)))
	b.each(b.root, values, true, func(p *jsonschema.Schema, value *yaml.Node) {
		if element := tree.LookupAt(value, 0); len(p.Enum) > 0 || p.Type == "boolean" || element != nil && element.Kind == yaml.MappingNode {
			return
		}
		example := asJSON(value)
		same := func(other any) bool { return reflect.DeepEqual(other, example) }
		if len(p.Examples) < 5 && !slices.ContainsFunc(p.Examples, same) {
			p.Examples = append(p.Examples, example)
		}
	})
}

// each calls f for the schema of every key of values, a map of s, whose value is not a map of keys: a map of a kind is
// one value, but f is also called for its keys.
func (b *schemaBuilder) each(s *jsonschema.Schema, values *yaml.Node, inside bool, f func(p *jsonschema.Schema, value *yaml.Node)) {
	for i := 0; i+1 < len(values.Content); i += 2 {
		key, value := values.Content[i].Value, values.Content[i+1]
		p, found := s.Properties.Get(key)
		if !found || slices.Contains([]string{"name", "description", "baseline", "label", "with"}, key) {
			continue // a parameter of a policy, or free
		}
		inner := b.resolved(p)
		whole := tree.Lookup(value, "kind") != nil || tree.Lookup(value, "process") != nil || s == b.def("Storm") && slices.Contains(Troubles(), key)
		if whole || value.Kind != yaml.MappingNode || inner.Properties == nil {
			f(p, value)
		}
		switch {
		case value.Kind == yaml.MappingNode && inner.Properties != nil && (inside || !whole):
			b.each(inner, value, inside, f)
		case value.Kind == yaml.SequenceNode && inner.Items != nil && b.resolved(inner.Items).Properties != nil:
			for _, item := range value.Content {
				b.each(b.resolved(inner.Items), item, inside, f)
			}
		}
	}
}

// asJSON returns a YAML tree as JSON text, with the keys in their order.
func asJSON(node *yaml.Node) json.RawMessage {
	var b strings.Builder
	writeJSON(&b, node)
	return json.RawMessage(b.String())
}

func writeJSON(b *strings.Builder, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		ends, step := "{}", 2
		if node.Kind == yaml.SequenceNode {
			ends, step = "[]", 1
		}
		b.WriteString(ends[:1])
		for i, child := range node.Content {
			if i > 0 {
				b.WriteString([]string{",", ":"}[i%step])
			}
			writeJSON(b, child)
		}
		b.WriteString(ends[1:])
	default:
		var value any
		if node.Load(&value) != nil || node.Tag == "!!str" {
			value = node.Value
		}
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // a word
		}
		b.Write(text)
	}
}

// short adds to the JSON schema the short forms of values, such as a rate in place of an arrival process.
func (b *schemaBuilder) short() {
	kind := &jsonschema.Schema{Enum: property(b.def("Policy"), "kind").Enum}
	objective := text(`\S+ .*(below|above) +\S+`)
	either := func(p, or *jsonschema.Schema) {
		long := &jsonschema.Schema{Ref: p.Ref, Type: p.Type, Items: p.Items, MinItems: p.MinItems, MaxItems: p.MaxItems}
		p.Ref, p.Type, p.Items, p.MinItems, p.MaxItems = "", "", nil, nil, nil
		p.AnyOf = []*jsonschema.Schema{long, or}
	}
	for key, or := range map[string]*jsonschema.Schema{"policies": kind, "objectives": objective} {
		list := property(b.root, key)
		list.Items = anyOf(list.Items, or)
		either(list, or)
	}
	either(property(b.def("JobClass"), "arrivals"), ref("Rate"))
	for _, kind := range Troubles() {
		if hits, has := b.resolved(property(b.def("Storm"), kind)).Properties.Get("hits"); has {
			either(hits, &jsonschema.Schema{Type: "string"})
		}
	}
}

// resolved returns the definition that the JSON schema s refers to or, without a reference, s.
func (b *schemaBuilder) resolved(s *jsonschema.Schema) *jsonschema.Schema {
	if name, isRef := strings.CutPrefix(s.Ref, reference.DefinitionsAt); isRef {
		return b.def(name)
	}
	return s
}

var (
	seeGo  = regexp.MustCompile(`;? see [A-Z][A-Za-z.]*\b(\([a-z]*\))?`)
	spaces = regexp.MustCompile(`\s+`)
)

// plainWords returns a Go comment reworded as a description for authors of scenarios.
func plainWords(comment string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(seeGo.ReplaceAllString(comment, ""), " "))
}
