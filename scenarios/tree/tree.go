// Package tree parses YAML to plain trees: maps with string keys, lists and scalars, each with its position, without
// aliases and merges. Merged overlays one tree by another; of the scenario language it knows only which keys replace or
// exclude others. ErrorAt makes an error with the position of a node.
package tree

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"qsim/engine/quantity"
)

// MostBytes and the constants below limit the text of a scenario: its length, keys and values, and levels. The largest
// scenario shipped has a tenth of the first two; a long table of values belongs in a file of its own.
const (
	MostBytes   = 256 << 10
	MostEntries = 20_000
	MostDepth   = 32
)

// reader copies a parsed YAML document as a plain tree (maps with string keys, lists and scalars, without aliases,
// merges or empty values) and collects the errors.
type reader struct {
	problems []*yaml.LoadError
	nodes    int
	open     map[*yaml.Node]bool // nodes being copied, to detect aliases of themselves
	full     bool                // there were too many nodes: the rest is not read
}

func (r *reader) report(at *yaml.Node, e *quantity.Error) {
	r.problems = append(r.problems, ErrorAt(at, e))
}

// Parse parses one YAML document to a plain tree, see the package comment, without what is wrong in it, and returns all
// errors. The tree is nil if the text is no YAML, is empty, or exceeds MostEntries.
func Parse(src []byte) (*yaml.Node, []*yaml.LoadError) {
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(MostDepth)))
	loader, err := yaml.NewLoader(strings.NewReader(string(src)), limits)
	if err != nil {
		return nil, Errors(err)
	}
	var document, second yaml.Node
	if err := loader.Load(&document); err != nil {
		if err.Error() == "EOF" {
			return nil, []*yaml.LoadError{ErrorAt(&yaml.Node{Line: 1, Column: 1}, nothingHere())}
		}
		return nil, Errors(err)
	}
	if err := loader.Load(&second); err == nil {
		bad := &quantity.Error{Message: "a second document starts here", Help: "write one scenario per file"}
		return nil, []*yaml.LoadError{ErrorAt(&second, bad)}
	} else if err.Error() != "EOF" {
		return nil, Errors(err)
	}
	r := reader{open: map[*yaml.Node]bool{}}
	node := &document
	if node.Kind == yaml.DocumentNode {
		node = node.Content[0]
	}
	if isNull(node) {
		return nil, []*yaml.LoadError{ErrorAt(node, nothingHere())}
	}
	plain := r.copy(node)
	if r.full {
		plain = nil // half a tree would only cause false errors
	}
	return plain, r.problems
}

func nothingHere() *quantity.Error {
	return &quantity.Error{Message: "there is nothing in it", Help: "a scenario needs at least `jobs`"}
}

// copy returns a plain copy of a YAML node, without aliases, merges and values that are wrong; nil if the node is.
func (r *reader) copy(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		if r.open[node.Alias] {
			r.report(node, quantity.Errorf("alias *%s stands inside what it names", node.Value))
			return nil
		}
		return r.copy(node.Alias)
	}
	if r.nodes++; r.nodes > MostEntries {
		if !r.full {
			r.report(node, quantity.Errorf("too many entries (at most %d, aliases counted as often as they stand)", MostEntries))
		}
		r.full = true
		return nil
	}
	r.open[node] = true
	defer delete(r.open, node)
	plain := Copied(node, node)
	switch node.Kind {
	case yaml.ScalarNode:
		return r.copyScalar(plain)
	case yaml.SequenceNode:
		for _, item := range node.Content {
			if isNull(item) {
				r.report(item, quantity.Errorf("an item of this list is empty"))
			} else if c := r.copy(item); c != nil {
				plain.Content = append(plain.Content, c)
			}
		}
	case yaml.MappingNode:
		r.copyMapping(node, plain)
	}
	return plain
}

func (r *reader) copyScalar(plain *yaml.Node) *yaml.Node {
	switch plain.Tag {
	case "", "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!null":
	case "!!merge": // << as a value, which the YAML library would pass over
		plain.Tag = "!!str"
	default:
		r.report(plain, quantity.Errorf("unknown tag %s", quantity.Quote(plain.Tag)))
		return nil
	}
	if plain.Style&yaml.TaggedStyle != 0 {
		r.report(plain, &quantity.Error{Message: "unexpected tag " + quantity.Quote(plain.Tag),
			Help: "leave it out: the key says what its value is"})
		return nil
	}
	return plain
}

func (r *reader) copyMapping(node, plain *yaml.Node) {
	first := map[string]*yaml.Node{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(node.Content) && !r.full; i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			r.report(key, quantity.Errorf("a key must be a word"))
			continue
		case key.ShortTag() == "!!merge":
			merges = append(merges, value)
			continue
		case first[key.Value] != nil:
			r.report(key, &quantity.Error{Message: "key " + quantity.Quote(key.Value) + " is given twice",
				Note: fmt.Sprintf("first on line %d", first[key.Value].Line)})
			continue
		}
		first[key.Value] = key
		if n := len(plain.Content); n > 0 && isNull(value) && afterComma(plain.Content[n-1], key) {
			before := plain.Content[n-1]
			r.report(key, &quantity.Error{Message: "a comma ends a value here", Help: "write " + before.Value + key.Value})
			before.Value, before.Tag = before.Value+key.Value, "!!str" // the entry is otherwise correct
			continue
		}
		if isNull(value) {
			r.report(key, &quantity.Error{Message: "key " + quantity.Quote(key.Value) + " has no value",
				Help: "write one, or leave the key out for its default"})
			continue
		}
		r.nodes++
		name := Copied(key, key)
		name.Tag = "!!str"
		if c := r.copy(value); c != nil {
			plain.Content = append(plain.Content, name, c)
		}
	}
	for _, m := range merges {
		r.merge(m, plain, first)
	}
}

// thousands matches what follows the comma in a number such as 1,000/s: three digits, and perhaps a unit.
var thousands = regexp.MustCompile(`^[0-9]{3}(\D.*)?$`)

// afterComma reports whether a value and the next key are a number such as 1,000 that YAML has split at its comma.
func afterComma(value, key *yaml.Node) bool {
	return value.Kind == yaml.ScalarNode && quantity.IsNumber(value.Value) && thousands.MatchString(key.Value) &&
		key.Line == value.Line && key.Column == value.Column+len(value.Value)+1
}

// merge adds the keys of a YAML merge, `<<: source`, to the map plain, except those in have, which are there already.
func (r *reader) merge(source, plain *yaml.Node, have map[string]*yaml.Node) {
	c := r.copy(source) // nil if it is wrong
	maps, at := []*yaml.Node{c}, source
	if c != nil && c.Kind == yaml.SequenceNode {
		maps = c.Content
	}
	for _, m := range maps {
		if m != c {
			at = m // in the list
		}
		if m != nil && m.Kind != yaml.MappingNode {
			r.report(at, quantity.Errorf("`<<` wants a map, or a list of maps"))
		}
		for key, value := range Pairs(m) {
			if have[key.Value] == nil {
				have[key.Value] = key
				plain.Content = append(plain.Content, key, value)
			}
		}
	}
}

// Replacing lists the keys that name the kind of a map. A map with one replaces, in Merged, all of the map under it.
var Replacing = []string{"kind", "dist", "process"}

// exclusive lists pairs of keys of which a map has one at most: in Merged, the one in over drops the other from base.
var exclusive = [][2]string{{"max-attempts", "max-retries"}, {"below", "above"}, {"guard", "idempotent"}}

// Merged returns a YAML map with the keys of base and over, nested maps alike; in both, over's value wins. It shares
// nodes with base and over, which stay unchanged.
func Merged(base, over *yaml.Node) *yaml.Node { return MergedAt("", base, over) }

// MergedAt returns the value of a key by its values base and over: both merged, or over if one is no map or replaces.
func MergedAt(key string, base, over *yaml.Node) *yaml.Node {
	if base == nil || base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode || replaces(key, base, over) {
		return over
	}
	result := Copied(over, over)
	for key, value := range Pairs(base) {
		if j := Position(over, key.Value); j >= 0 {
			key, value = over.Content[j], MergedAt(key.Value, value, over.Content[j+1])
		} else if overruled(key.Value, over) {
			continue
		}
		result.Content = append(result.Content, key, value)
	}
	for key, value := range Pairs(over) {
		if Position(base, key.Value) < 0 {
			result.Content = append(result.Content, key, value)
		}
	}
	return result
}

// replaces reports whether, as the value of a key, the map over replaces base as a whole instead of key by key: if it
// has a key of Replacing, or is the shares of errors, which must add up to 100%.
func replaces(key string, base, over *yaml.Node) bool {
	for _, k := range Replacing {
		belongs := key == "backoff" && k == "kind" || key == "arrivals" && k == "process" || Lookup(base, k) != nil
		if belongs && Lookup(over, k) != nil {
			return true
		}
	}
	return key == "errors"
}

// overruled reports whether the map over has a key that excludes the given one, as max-retries excludes max-attempts.
func overruled(key string, over *yaml.Node) bool {
	for _, pair := range exclusive {
		if key == pair[0] && Lookup(over, pair[1]) != nil || key == pair[1] && Lookup(over, pair[0]) != nil {
			return true
		}
	}
	return false
}
