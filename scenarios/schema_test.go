package scenarios

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios/spec"
)

// TestSchemaHasKeys checks that the JSON schema has all keys of the structs and no others.
func TestSchemaHasKeys(t *testing.T) {
	type object struct {
		Properties map[string]any `json:"properties"`
	}
	var s struct {
		object
		Definitions map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	s.Definitions["Scenario"] = s.object
	s.Definitions["distributionMap"] = s.Definitions["DistributionMap"]
	keys := map[string][]string{}
	collectKeys(reflect.TypeFor[Scenario](), keys)
	collectKeys(reflect.TypeFor[distributionMap](), keys)
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		have := s.Definitions[name].Properties
		if len(have) == 0 {
			continue // a type that reads its own text
		}
		want := map[string]bool{}
		for _, key := range keys[name] {
			want[key] = true
			if have[key] == nil {
				t.Errorf("%s: the schema lacks %s: run go generate", name, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if !want[key] {
				t.Errorf("%s: the schema has %s: run go generate", name, key)
			}
		}
	}
	for i := range reflect.TypeFor[Scenario]().NumField() {
		if key := reflect.TypeFor[Scenario]().Field(i).Tag.Get("yaml"); key != "" && s.Properties[strings.Split(key, ",")[0]] == nil {
			t.Errorf("the schema lacks %s: run go generate", key)
		}
	}
}

// TestSchemaIsAboutScenarios checks that every key in the JSON schema has a description of its own, that types have
// none, and that nothing of the YAML library is in it.
func TestSchemaIsAboutScenarios(t *testing.T) {
	type object struct {
		Description string `json:"description"`
		Properties  map[string]struct {
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
			Examples    []any           `json:"examples"`
		} `json:"properties"`
	}
	var s struct {
		object
		ID          string            `json:"$id"`
		Definitions map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	if s.ID == "" {
		t.Error("no $id")
	}
	defaults, examples := 0, 0
	for name, d := range s.Definitions {
		if strings.Contains(name, "Node") && name != "Nodes" || strings.Contains(name, "Stream") {
			t.Errorf("%s is of the YAML library", name)
		}
		if d.Description != "" {
			t.Errorf("%s: %q would stand in place of what its keys say", name, d.Description)
		}
		for key, p := range d.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", name, key)
			}
			if p.Default != nil {
				defaults++
			}
			if len(p.Examples) > 0 {
				examples++
			}
		}
	}
	if defaults < 80 || examples < 120 {
		t.Errorf("%d defaults and %d examples", defaults, examples)
	}
}

// collectKeys adds the YAML keys of a struct, and of those in it, to keys, by the name of their Go type.
func collectKeys(t reflect.Type, keys map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || keys[t.Name()] != nil || t == reflect.TypeFor[yaml.Node]() {
		return
	}
	keys[t.Name()] = []string{}
	if t == reflect.TypeFor[Storm]() {
		for _, kind := range Troubles() {
			keys[t.Name()] = append(keys[t.Name()], kind)
			collectKeys(reflect.TypeOf(spec.NewTrouble(kind)), keys)
		}
	}
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "" && key != "-" {
			keys[t.Name()] = append(keys[t.Name()], key)
		}
		if t.Field(i).IsExported() {
			collectKeys(t.Field(i).Type, keys)
		}
	}
}
