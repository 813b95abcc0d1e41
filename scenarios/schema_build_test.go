package scenarios

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"qsim/policies"
	"qsim/results/measure"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/validate"
)

// TestSchemaFile checks that scenario.schema.json is what buildSchema makes; -rewrite writes it.
func TestSchemaFile(t *testing.T) {
	out, err := json.MarshalIndent(buildSchema(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "scenario.schema.json", append(out, '\n'))
}

// buildSchema returns the JSON schema of scenario files. Keys and descriptions come from the structs of package spec
// and their comments, keys of a kind from its table, and required keys and bounds from the checker.
func buildSchema(t *testing.T) *jsonschema.Schema {
	r := &jsonschema.Reflector{FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, Mapper: mapType}
	r.AdditionalFields = troubleFields
	if err := r.AddGoComments("qsim/scenarios", "./spec"); err != nil {
		t.Fatal(err)
	}
	root := r.Reflect(&Scenario{})
	root.Title = "qsim scenario"
	plain := *r
	plain.LookupComment = func(of reflect.Type, field string) string {
		return r.CommentMap["qsim/scenarios/spec.Distribution"+strings.TrimSuffix("."+field, ".")]
	}
	root.Definitions["DistributionMap"] = plain.Reflect(&distributionMap{})
	root.Definitions["DistributionMap"].Version = ""
	maps.Copy(root.Definitions, valueSchemas())
	root.ID = "urn:qsim:scenario:1"
	b := schemaBuilder{root: root}
	b.kinds("DistributionMap", &reference.Tables().Distributions)
	b.kinds("Backoff", &reference.Tables().Backoffs)
	b.kinds("Arrivals", &reference.Tables().Processes)
	b.policies()
	b.storms()
	b.names()
	b.together()
	b.rules(t)
	b.describe()
	b.defaults()
	b.examples(t)
	b.short()
	return root
}

// troubleFields returns, for type Storm, a struct field for each kind of storm with its settings; nil for other types.
func troubleFields(t reflect.Type) (fields []reflect.StructField) {
	if t != reflect.TypeFor[Storm]() {
		return nil
	}
	for _, kind := range Troubles() {
		of := reflect.TypeOf(spec.NewTrouble(kind))
		fields = append(fields, reflect.StructField{Name: of.Elem().Name(), Type: of, Tag: reflect.StructTag(`yaml:"` + kind + `,omitempty"`)})
	}
	return fields
}

// schemaBuilder adds to the JSON schema made from the structs what these do not express.
type schemaBuilder struct{ root *jsonschema.Schema }

func (b *schemaBuilder) def(name string) *jsonschema.Schema {
	if s := b.root.Definitions[name]; s != nil {
		return s
	}
	panic("no definition of " + name)
}

func property(s *jsonschema.Schema, key string) *jsonschema.Schema {
	p, found := s.Properties.Get(key)
	if !found {
		panic("no property " + key)
	}
	return p
}

// distributionMap is Distribution in its long form, a map, for which the JSON schema has a definition of its own.
type distributionMap Distribution

// kinds adds to a definition of the JSON schema which keys a map of each kind may have, by the kind's table.
func (b *schemaBuilder) kinds(name string, table *reference.KindTable) {
	s := b.def(name)
	for _, kind := range table.Kinds() {
		choice(property(s, table.Key), kind, table.RowsOf(kind)[0].Doc)
		var ways []*jsonschema.Schema
		for _, row := range table.Rows {
			if row.Kind == kind {
				keys := slices.Concat([]string{table.Key}, row.Required, row.Optional)
				ways = append(ways, &jsonschema.Schema{Required: row.Required, PropertyNames: &jsonschema.Schema{Enum: enum(keys)}})
			}
		}
		then := ways[0]
		if len(ways) > 1 {
			then = anyOf(ways...)
		}
		s.AllOf = append(s.AllOf, when(table.Key, kind, then))
	}
}

// policies adds to the JSON schema which parameters a policy of each kind may have.
func (b *schemaBuilder) policies() {
	s := b.def("Policy")
	s.AdditionalProperties = nil // the parameters
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		if !slices.Contains([]string{"kind", "label", "with"}, pair.Key) {
			s.Properties.Delete(pair.Key)
		}
	}
	s.Properties.Set("with", &jsonschema.Schema{Type: "object", Description: property(s, "with").Description,
		PropertyNames: &jsonschema.Schema{Pattern: "^(" + strings.Join(overridable, "|") + `)(\.[^.]+)*$`}})
	for _, kind := range policies.Kinds() {
		choice(property(s, "kind"), kind.Name, kind.Doc)
		s.AllOf = append(s.AllOf, kindSchema(&kind))
	}
	longest := uint64(40)
	property(s, "label").MaxLength = &longest
}

// storms adds to the JSON schema that a storm has the key of one kind, and there one of keys that exclude each other.
func (b *schemaBuilder) storms() {
	s := b.def("Storm")
	repeat := property(s, "repeat")
	s.Properties.Delete("repeat")
	s.Properties.Set("repeat", repeat) // after the kinds
	b.exactlyOne("Storm", Troubles()...)
	for _, kind := range Troubles() {
		keys := reflect.TypeOf(spec.NewTrouble(kind)).Elem()
		own := b.def(keys.Name())
		var either []string
		for i := range keys.NumField() {
			key, _, _ := strings.Cut(keys.Field(i).Tag.Get("yaml"), ",")
			p, rule := property(own, key), keys.Field(i).Tag.Get("rule")
			if rule == "either" {
				either = append(either, key)
			}
			if rule == "stall" {
				own.Required = append(own.Required, key)
			}
			switch value := keys.Field(i).Type; {
			case value.Kind() == reflect.Bool && rule != "":
				p.Const = true
			case value.Kind() == reflect.String && key == "error":
				p.Pattern = "^" + nameText + "$"
			case key == "ops":
				p.Items.Enum = enum(spec.Calls)
			}
		}
		b.exactlyOne(keys.Name(), either...)
	}
}

// names adds to the JSON schema the syntax of names, and the names that come from outside the file, such as metrics.
func (b *schemaBuilder) names() {
	var underscores [2][]string // names with underscores
	engine, retry, metric := property(b.def("Engine"), "preset"), property(b.def("Retry"), "preset"), property(b.def("Objective"), "metric")
	for _, p := range Presets() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			for i, part := range []*yaml.Node{&p.Engine, &p.Retry} {
				if part.IsZero() {
					continue
				}
				choice([]*jsonschema.Schema{engine, retry}[i], name, p.Doc)
				if strings.Contains(name, "-") {
					underscores[i] = append(underscores[i], strings.ReplaceAll(name, "-", "_"))
				}
			}
		}
	}
	for i, preset := range []*jsonschema.Schema{engine, retry} {
		spelled := text("(" + strings.Join(underscores[i], "|") + ")")
		preset.AnyOf = []*jsonschema.Schema{{Enum: preset.Enum, Extras: preset.Extras}, spelled}
		preset.Enum, preset.Extras = nil, nil
	}
	for _, m := range measure.Metrics() {
		choice(metric, m.Name, m.Doc)
	}
	property(b.root, "name").Pattern = `^[a-z0-9-]{1,64}$`
	for _, at := range [][2]string{{"JobClass", "class"}, {"Storm", "name"}, {"Dependency", "name"}} {
		property(b.def(at[0]), at[1]).Pattern = "^" + nameText + "$"
	}
	property(b.def("Storm"), "op").Enum, property(b.def("Storm"), "on").Enum = enum(spec.Calls), enum(spec.Events)
	property(b.def("Tenants"), "names").Items.Pattern = "^" + nameText + "$"
	property(b.root, "version").Enum = []any{1}
	seed := property(b.root, "seed")
	seed.Minimum, seed.Maximum = "1", "9223372036854775807"
	priority := property(b.def("JobClass"), "priority")
	priority.Minimum, priority.Maximum = "-32768", "32767"
	property(b.def("JobClass"), "retry").Ref = reference.DefinitionsAt + "Retry"
	one := uint64(1)
	for key, list := range reference.Tables().Lists {
		if most := uint64(list.Most); most > 0 {
			property(b.root, key).MaxItems = &most
		}
	}
	property(b.root, "jobs").MinItems = &one
	property(b.root, "policies").MinItems = &one
	property(b.def("Backoff"), "delays").MinItems = &one
	b.root.Required = []string{"jobs"}
}

// together adds to the JSON schema which keys exclude, and which require, each other.
func (b *schemaBuilder) together() {
	b.exactlyOne("Objective", "below", "above")
	b.exactlyOne("DependencyLimit", "rate", "concurrency")
	b.def("Retry").Not = &jsonschema.Schema{Required: []string{"max-attempts", "max-retries"}}
	b.def("JobClass").Not = &jsonschema.Schema{Required: []string{"guard", "idempotent"}}
	b.def("Over").Not = &jsonschema.Schema{Required: []string{"slow"}, AnyOf: []*jsonschema.Schema{{Required: []string{"fail"}}, {Required: []string{"rejects-in"}}}}
	b.def("Arrivals").Required = []string{"process"}
}

// exactlyOne adds to the definition called name that a map has exactly one of these keys.
func (b *schemaBuilder) exactlyOne(name string, keys ...string) {
	s := b.def(name)
	for _, key := range keys {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{key}})
	}
}

// everything returns the YAML text of a scenario with every key: testdata/good/everything.yaml, with storms added of
// the kinds whose examples are in tags.
func everything(t *testing.T) string {
	src, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	storms := "\nstorms:\n"
	for _, name := range Troubles() {
		var keys []string
		for _, key := range reflect.VisibleFields(reflect.TypeOf(spec.NewTrouble(name)).Elem()) {
			if example, has := key.Tag.Lookup("example"); has {
				keys = append(keys, strings.TrimSuffix(key.Tag.Get("yaml"), ",omitempty")+": "+example)
			}
		}
		if len(keys) > 0 {
			storms += "  - {name: " + name + ", at: 10m, for: 5m, " + name + ": {" + strings.Join(keys, ", ") + "}}\n"
		}
	}
	return strings.Replace(string(src), "\nstorms:\n", storms, 1)
}

// rules adds to the JSON schema required keys and bounds of values: it records which rules the checker applies to a
// scenario with every key.
func (b *schemaBuilder) rules(t *testing.T) {
	sc := load(t, everything(t))
	c := checks.New(sc.Origin().Full, sc.Origin().Preset, nil, nil)
	c.Asked = func(r reference.Rule, path []any) {
		parent := b.at(path[:len(path)-1])
		key, named := path[len(path)-1].(string)
		if !named || parent.Properties == nil {
			return
		}
		p := property(parent, key)
		switch {
		case r.Required && !slices.Contains(parent.Required, key):
			parent.Required = append(parent.Required, key)
		case r.Positive:
			p.Not = &jsonschema.Schema{Pattern: nothingAtAll, Type: "string"}
		case !r.Required:
			p.Minimum, p.Maximum = decimalNumber(float64(r.Least)), decimalNumber(float64(r.Most))
		}
	}
	validate.Scenario(c, sc, validate.NoPolicy)
}

// at returns the JSON schema of the map at a path of keys and indexes in a scenario.
func (b *schemaBuilder) at(path []any) *jsonschema.Schema {
	s := b.root
	for _, step := range path {
		switch step := step.(type) {
		case int:
			s = s.Items
		case string:
			s = property(s, step)
		}
		if name, isRef := strings.CutPrefix(s.Ref, reference.DefinitionsAt); isRef {
			s = b.def(name)
		}
	}
	return s
}

// TestSchemaIsShort limits the size of the JSON schema, which editors read as a whole at every keystroke.
func TestSchemaIsShort(t *testing.T) {
	if len(schema) < 10_000 || len(schema) > 200_000 || !bytes.Contains(schema, []byte("draft/2020-12")) {
		t.Errorf("%d bytes", len(schema))
	}
}
