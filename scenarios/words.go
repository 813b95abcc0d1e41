package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

var (
	unknownField = regexp.MustCompile(`(?s)^field (.*) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile(`(?s)^cannot construct (.*) into (\S+?)(?: \(TextUnmarshaler\))?$`)
)

// words returns an error of the YAML library in terms of scenario files, with help. node is the value at fault, and
// around the map that contains it or the misspelt key; either may be nil.
func words(e *yaml.LoadError, node, around *yaml.Node) *quantity.Error {
	if own := (*quantity.Error)(nil); errors.As(e, &own) {
		if near := plain.Nearest(own.Typed, own.Known); near != "" {
			own.Help = "did you mean \"" + near + "\"?"
		}
		return own
	}
	if m := unknownField.FindStringSubmatch(e.Message); m != nil {
		in, key := m[2][strings.LastIndexByte(m[2], '.')+1:], m[1]
		e := language().UnknownKey(in, key, around)
		if key == "kind" && in == "Retry" && PresetNamed(tree.Word(around, key)) != nil {
			e.Help = "write preset: " + tree.Word(around, key)
		}
		return e
	}
	if m := wrongType.FindStringSubmatch(e.Message); m != nil {
		name := m[2][strings.LastIndexAny(m[2], "*.")+1:]
		what := reference.Tables().Types[name].Want
		switch {
		case strings.HasPrefix(m[2], "["):
			what = "a list"
		case strings.HasPrefix(m[2], "map["):
			what = "a map of keys"
		case what == "" && language().KeysIn(name) != nil:
			what = "a map of keys"
		case what == "":
			what = "a single word"
		}
		got := m[1]
		switch {
		case strings.HasPrefix(got, "!!seq"):
			got = "a list"
		case strings.HasPrefix(got, "!!map"):
			got = "a map"
		case node != nil:
			got = tree.Describe(node)
		default: // "!!int `12`"
			_, value, _ := strings.Cut(got, " ")
			got = quantity.Quote(strings.Trim(value, "`"))
		}
		bad := quantity.Errorf("want %s, not %s", what, got)
		if name == "Retry" && node != nil && quantity.IsNumber(node.Value) {
			bad.Help = fmt.Sprintf("write retry: {max-retries: %s}", node.Value)
		}
		return bad
	}
	return diagnostics.SyntaxError(e)
}
