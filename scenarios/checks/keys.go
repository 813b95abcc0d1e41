package checks

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/reference"
)

// CheckKeys checks every key of a scenario, a pointer to the struct that it was decoded into, against its rule.
func (c *Checker) CheckKeys(scenario any) {
	for i := range reference.Table {
		if reference.Table[i].Rule != (reference.Rule{}) {
			c.hold(reflect.ValueOf(scenario).Elem(), reference.Table[i].Rule, nil, strings.Split(reference.Table[i].Path, "."))
		}
	}
}

// hold checks against the rule r all keys below path that match the pattern rest.
func (c *Checker) hold(scenario reflect.Value, r reference.Rule, path []any, rest []string) {
	switch list := c.Node(path...); {
	case len(rest) == 0:
		c.holdOne(valueAt(scenario, path), r, path)
	case rest[0] != "*":
		c.hold(scenario, r, append(path[:len(path):len(path)], rest[0]), rest[1:])
	case list != nil && list.Kind == yaml.SequenceNode:
		for i := range list.Content {
			c.hold(scenario, r, append(path[:len(path):len(path)], i), rest[1:])
		}
	}
}

func (c *Checker) holdOne(value any, r reference.Rule, path []any) {
	if r.Required && !c.Required(path...) {
		return
	}
	switch v := value.(type) {
	case string:
		if bad := BadName(v); r.Name != "" && bad != "" && c.Sound(path...) {
			c.Errorf(c.Near(path...), "bad %s name %s: %s", r.Name, quantity.Quote(v), bad)
		}
	case quantity.Duration:
		if r.Positive {
			c.Positive(v, path...)
		}
	case interface{ Average() quantity.Duration }: // a distribution
		if r.Positive {
			c.Positive(v.Average(), path...)
		}
	case quantity.Count:
		c.Count(v, r.Least, r.Most, r.Why, path...)
	}
}

// valueAt returns the Go value that the key at path of a scenario was decoded into; nil if the scenario does not have it.
func valueAt(v reflect.Value, path []any) any {
	for _, step := range path {
		if index, ok := step.(int); ok {
			if index >= v.Len() {
				return nil
			}
			v = v.Index(index)
		} else {
			v = fieldOf(v, step.(string))
		}
		if v.Kind() == reflect.Pointer {
			v = v.Elem() // zero Value for nil
		}
		if !v.IsValid() {
			return nil
		}
	}
	return v.Interface()
}

// fieldOf returns the field of the struct v that a key is decoded into; the zero Value if there is none.
func fieldOf(v reflect.Value, key string) reflect.Value {
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); name == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
