package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios/tree"
)

// rewriting is a function that returns what replaces a short form in a scenario's YAML; nil drops the node.
type rewriting = func(node *yaml.Node) *yaml.Node

// expand returns the YAML tree of a scenario with its short forms written out: one policy or one class hit becomes a
// list, the kind of a policy a policy, a rate Poisson arrivals, and the text of an objective a map.
func expand(given *yaml.Node) (*yaml.Node, []*yaml.LoadError) {
	e := expander{}
	job := keys(map[string]rewriting{"arrivals": word(func(rate *yaml.Node) *yaml.Node {
		return tree.MapOf(rate, "process", "poisson", "rate", rate)
	})})
	trouble := keys(map[string]rewriting{"hits": word(func(class *yaml.Node) *yaml.Node {
		return tree.ListOf(class, class)
	})})
	storm := map[string]rewriting{}
	for _, kind := range Troubles() {
		storm[kind] = trouble
	}
	result := keys(map[string]rewriting{
		"policies":     e.list("kind", word(func(kind *yaml.Node) *yaml.Node { return tree.MapOf(kind, "kind", kind) })),
		"objectives":   e.list("metric", word(e.objective)),
		"jobs":         e.list("class", job),
		"storms":       e.list("name", keys(storm)),
		"dependencies": e.list("name", nil),
	})(given)
	return result, e.problems
}

type expander struct{ problems []*yaml.LoadError }

// word returns a rewriting that applies of to values that are a single word, and leaves maps and lists as they are.
func word(of rewriting) rewriting {
	return func(node *yaml.Node) *yaml.Node {
		if node.Kind != yaml.ScalarNode {
			return node
		}
		return of(node)
	}
}

// keys returns a rewriting of a YAML map that applies, to the value of each key in of, that key's rewriting.
func keys(of map[string]rewriting) rewriting {
	return func(node *yaml.Node) *yaml.Node {
		if node.Kind != yaml.MappingNode {
			return node
		}
		result := *node
		result.Content = nil
		for key, value := range tree.Pairs(node) {
			if f := of[key.Value]; f != nil {
				value = f(value)
			}
			if value != nil {
				result.Content = append(result.Content, key, value)
			}
		}
		return &result
	}
}

// list returns a rewriting of a top-level list of a scenario: one word becomes a list of one, and item, if not nil,
// rewrites each element. A map in place of the list is an error; its help names the key that elements start with.
func (e *expander) list(name string, item rewriting) rewriting {
	return func(list *yaml.Node) *yaml.Node {
		if list.Kind == yaml.MappingNode && len(list.Content) > 0 {
			bad := quantity.Errorf("want a list, not a map")
			bad.Help = fmt.Sprintf("write each as an item: - %s: %s", name, list.Content[0].Value)
			if own := tree.Lookup(list, name); own != nil {
				bad.Help = fmt.Sprintf("put a hyphen before its first key: - %s: %s", name, own.Value)
			}
			e.problems = append(e.problems, tree.ErrorAt(list, bad))
			return tree.ListOf(list)
		}
		if item == nil || list.Kind == yaml.MappingNode {
			return list
		}
		if list.Kind == yaml.ScalarNode {
			list = tree.ListOf(list, list)
		}
		result := *list
		result.Content = nil
		for _, element := range list.Content {
			if element = item(element); element != nil {
				result.Content = append(result.Content, element)
			}
		}
		return &result
	}
}

// objective returns the map that an objective given as text stands for; after adding an error, nil for an invalid text.
func (e *expander) objective(node *yaml.Node) *yaml.Node {
	q, word, bound, err := ParseObjective(node.Value)
	if err != nil {
		bad := quantity.Errorf("bad objective %s", quantity.Quote(node.Value))
		bad.Help = err.Error()
		e.problems = append(e.problems, tree.ErrorAt(node, bad))
		return nil
	}
	pairs := []any{"metric", q.Metric}
	for _, part := range q.Parts() {
		if *part.Value != "" {
			pairs = append(pairs, part.Word, *part.Value)
		}
	}
	if q.Limit > 0 {
		pairs = append(pairs, "limit", Duration(q.Limit).String())
	}
	return tree.MapOf(node, append(pairs, word, bound)...)
}

// ParseObjective splits "fresh.wait.p99 during payments-down below 10s" into the query (metric and filters), the word
// below or above, and the text of the bound. Whether the metric and the storm exist is not checked.
func ParseObjective(text string) (q measure.Query, word, bound string, err error) {
	at := -1
	for _, w := range []string{"below", "above"} {
		if i := strings.LastIndex(text, " "+w+" "); i > at {
			at, word = i, w
		}
	}
	if at < 0 {
		return q, "", "", errors.New("want METRIC below BOUND or METRIC above BOUND, " +
			"such as fresh.wait.p99 during STORM below 10s")
	}
	bound = strings.TrimSpace(text[at+len(word)+2:])
	if bound == "" || strings.ContainsAny(bound, "{}[]#&*!|>'\"\\,:\n\t ") {
		return q, "", "", fmt.Errorf("want a bound behind %s, such as 10s, 20%% or 5", word)
	}
	q, err = measure.ParseQuery(text[:at])
	return q, word, bound, err
}
