package spec

import (
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// KeysOfTypes returns the keys of every struct of a scenario, by the name of the type without its package.
var KeysOfTypes = sync.OnceValue(func() map[string][]string {
	keys := map[string][]string{}
	collectKeys(reflect.TypeFor[Scenario](), keys)
	collectKeys(reflect.TypeFor[plainDistribution](), keys)
	return keys
})

func collectKeys(t reflect.Type, keys map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || keys[t.Name()] != nil || t == reflect.TypeFor[yaml.Node]() {
		return
	}
	keys[t.Name()] = []string{}
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "" {
			keys[t.Name()] = append(keys[t.Name()], key)
		}
		if t.Field(i).IsExported() {
			collectKeys(t.Field(i).Type, keys)
		}
	}
}
