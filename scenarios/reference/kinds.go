package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// KindTable lists, for one sort of map in scenario files such as a distribution, its kinds and which keys each takes.
type KindTable struct {
	Noun string    // noun for the map: "distribution"
	Key  string    // key that names the kind: "dist"
	Rows []kindRow `yaml:"kinds"`
}

// kindRow is one combination of keys by which a kind can be given, such as mean and cv for the lognormal distribution.
// A kind with several has them in a row, the first with its documentation.
type kindRow struct {
	Kind               string
	Required, Optional []string
	Doc, Example       string
}

// Check returns errors for a map, with its kind at Key, that lacks a key of its kind, or has one of another kind only.
func (t *KindTable) Check(node *yaml.Node) []*yaml.LoadError {
	name := tree.Lookup(node, t.Key)
	if name == nil {
		for key := range tree.Pairs(node) {
			if nearest(key.Value, []string{t.Key}) != "" && !t.takes(key.Value) {
				return nil // it is reported as an unknown key
			}
		}
		bad := quantity.Errorf("a map here needs %q", t.Key)
		bad.Help = "want " + quantity.OrList(t.Kinds())
		return []*yaml.LoadError{tree.ErrorAt(node, bad)}
	}
	rows := t.RowsOf(name.Value)
	if len(rows) == 0 {
		return []*yaml.LoadError{t.Unknown(name)}
	}
	given := func(row kindRow) int { return len(row.Required) - len(row.missing(node)) }
	row := slices.MaxFunc(rows, func(a, b kindRow) int { return cmp.Compare(given(a), given(b)) }) // most like the map
	var problems []*yaml.LoadError
	if missing := row.missing(node); len(missing) > 0 {
		bad := quantity.Errorf("%s %s needs %s", t.Noun, name.Value, strings.Join(missing, " and "))
		if bad.Help = spell(rows); len(rows) > 1 {
			bad.Message = fmt.Sprintf("%s %s is incomplete", t.Noun, name.Value)
		}
		problems = append(problems, tree.ErrorAt(name, bad))
	}
	for key := range tree.Pairs(node) {
		if !t.takes(key.Value) || key.Value == t.Key || row.takes(key.Value) {
			continue // a key that no kind has is reported as an unknown key
		}
		bad := quantity.Errorf("%s %s has no %q", t.Noun, name.Value, key.Value)
		bad.Help = spell(rows)
		problems = append(problems, tree.ErrorAt(key, bad))
	}
	return problems
}

// Unknown returns the error, with help, for a YAML node that gives as the kind of a map a word that the table lacks.
func (t *KindTable) Unknown(name *yaml.Node) *yaml.LoadError {
	bad := quantity.Errorf("unknown %s %s", t.Noun, quantity.Quote(name.Value))
	bad.Help = cmp.Or(nearest(name.Value, t.Kinds()), "want "+quantity.OrList(t.Kinds()))
	return tree.ErrorAt(name, bad)
}

// missing returns the required keys of the combination r that a YAML map does not have.
func (r kindRow) missing(node *yaml.Node) []string {
	return slices.DeleteFunc(slices.Clone(r.Required), func(key string) bool { return tree.Lookup(node, key) != nil })
}

// spell returns, for error messages, the combinations of keys of one kind: "lognormal takes p50, p99; or mean, cv".
func spell(rows []kindRow) string {
	var ways []string
	for _, row := range rows {
		way := strings.Join(row.Required, ", ")
		if len(row.Optional) > 0 {
			way = strings.TrimPrefix(way+", and if wanted "+strings.Join(row.Optional, ", "), ", ")
		}
		ways = append(ways, cmp.Or(way, "nothing"))
	}
	return rows[0].Kind + " takes " + strings.Join(ways, "; or ")
}

// Kinds returns the names of all kinds in the table, such as exponential, each once, in the table's order.
func (t *KindTable) Kinds() []string {
	return slices.Compact(plain.Map(t.Rows, func(row kindRow) string { return row.Kind }))
}

// RowsOf returns the combinations of keys by which the kind of that name can be given; none if the table lacks it.
func (t *KindTable) RowsOf(kind string) []kindRow {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(row kindRow) bool { return row.Kind != kind })
}

// takes reports whether a key is one of any kind in the table.
func (t *KindTable) takes(key string) bool {
	return slices.ContainsFunc(t.Rows, func(r kindRow) bool { return r.takes(key) })
}

// takes reports whether a key is among the required or optional keys of the combination r.
func (r kindRow) takes(key string) bool {
	return slices.Contains(r.Required, key) || slices.Contains(r.Optional, key)
}
