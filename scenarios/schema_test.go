package scenarios

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestSchemaHasKeys: the schema has the keys of every struct, and no others.
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
	s.Definitions["plainDistribution"] = s.Definitions["DistributionMap"]
	keys := knownKeys()
	for _, name := range sortedKeys(keys) {
		have := s.Definitions[strings.TrimPrefix(name, "scenarios.")].Properties
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
		for _, key := range sortedKeys(have) {
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
