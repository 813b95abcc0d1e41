package reference

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// Key is the documentation, for users, of one key of scenario files.
type Key struct {
	Path     string   `json:"path"`               // path, with capitals for names of list elements: jobs.CLASS.service
	Value    string   `json:"value"`              // description of the values: duration, late | early, map
	Default  string   `json:"default,omitempty"`  // default as YAML; empty: Doc describes it
	Required bool     `json:"required,omitempty"` // the map with the key must contain it
	Doc      string   `json:"doc"`                // meaning of the key
	Examples []string `json:"examples,omitempty"` // examples of values, as YAML

	Least, Most int `json:"-"` // bounds of a count; both 0: the key is no count, or has none
}

// Kind is the documentation, for users, of one kind of a map, such as the exponential distribution or the crash storm.
type Kind struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Keys    []Key  `json:"keys"`    // keys of the kind; their paths begin at its map
	Example string `json:"example"` // example of the map, as YAML
}

// Kinds holds the documentation of all kinds of storms, arrival processes, distributions and backoffs.
type Kinds struct{ Storms, Arrivals, Distributions, Backoffs []Kind }

// Language is the documentation of scenario files: of all keys, a map before the keys in it, and all kinds of maps.
type Language struct {
	Keys  []Key
	Kinds Kinds

	root, defs *yaml.Node // the schema, and its definitions by Go type
}

// KeysIn returns the keys of the map that is decoded to the Go type called in, such as "Retry"; nil if there is none.
func (l *Language) KeysIn(in string) (keys []string) {
	of := tree.Lookup(l.defs, in)
	switch in {
	case "Scenario":
		of = l.root
	case "plainDistribution":
		of = tree.Lookup(l.defs, "DistributionMap")
	}
	for key := range tree.Pairs(tree.Lookup(of, "properties")) {
		keys = append(keys, key.Value)
	}
	return keys
}

// KeyOf returns the documentation of the key at a path in a scenario: for jobs.mail.timeout that of jobs.CLASS.timeout,
// for a class's retry keys that of retry, and for keys in a policy's `with:` that of the keys that they override.
func (l *Language) KeyOf(path string) (Key, bool) {
	if policy, rest, found := strings.Cut(path, ".with."); found && strings.HasPrefix(policy, "policies.") {
		path = rest
	}
	if class, rest, found := strings.Cut(path, ".retry."); found && strings.HasPrefix(class, "jobs.") {
		path = "retry." + rest
	}
	if strings.HasPrefix(path, "policies.") && strings.Count(path, ".") > 2 { // of a label with dots
		path = "policies.LABEL" + path[strings.LastIndexByte(path, '.'):]
	}
	for _, k := range l.Keys {
		if Matches(starred(k.Path), path) {
			return k, true
		}
	}
	return Key{}, false
}

// DefinitionsAt is the prefix of a JSON schema's "$ref" to one of its own definitions; the definition's name follows.
const DefinitionsAt = "#/$defs/"

// Read returns the documentation in the JSON schema of scenario files, whose descriptions were made from Go comments;
// storms are the kinds of storm, of which the schema may lack new ones. It panics if it cannot parse the schema.
func Read(schema []byte, storms []string) *Language {
	root, problems := tree.Parse(schema) // JSON is YAML, so the parser keeps the order of the values
	if len(problems) > 0 {
		panic("reference: " + problems[0].Error())
	}
	l := &Language{root: root, defs: tree.Lookup(root, "$defs")}
	l.Keys = l.walk("", root)
	l.Kinds.Arrivals = l.ofTable(&Tables().Processes, "Arrivals")
	l.Kinds.Distributions = l.ofTable(&Tables().Distributions, "DistributionMap")
	l.Kinds.Backoffs = l.ofTable(&Tables().Backoffs, "Backoff")
	for _, name := range storms {
		p := tree.Lookup(tree.Lookup(tree.Lookup(l.defs, "Storm"), "properties"), name)
		if p == nil {
			l.Kinds.Storms = append(l.Kinds.Storms, Kind{Name: name, Doc: "not in the schema: run go generate ./scenarios"})
			continue
		}
		kind := Kind{Name: name, Doc: tree.Word(p, "description"), Keys: l.walk("", l.resolved(p))}
		if example := tree.LookupAt(tree.Lookup(p, "examples"), 0); example != nil {
			kind.Example = "{name: " + name + ", at: 10m, for: 5m, " + name + ": " + tree.OneLine(tree.Plain(example)) + "}"
		}
		l.Kinds.Storms = append(l.Kinds.Storms, kind)
	}
	return l
}

// walk returns the documentation of all keys below a path, where s is the JSON schema of that map. The costs per row,
// which are the same for each kind of store call, are returned once, with CALL in their paths.
func (l *Language) walk(path string, s *yaml.Node) []Key {
	var all []Key
	properties, rows := tree.Lookup(s, "properties"), tree.Lookup(l.defs, "RowCosts")
	for i := 0; i+1 < len(properties.Content); i += 2 {
		key, p := properties.Content[i].Value, properties.Content[i+1]
		at, inner := tree.Join(path, key), l.resolved(p)
		all = append(all, l.key(at, p, has(tree.Lookup(s, "required"), key)))
		switch items := l.resolved(tree.Lookup(inner, "items")); {
		case at == "jobs.CLASS.retry", inner == rows && i+2 < len(properties.Content):
		case inner == rows:
			all = append(all, l.walk(tree.Join(path, "CALL"), inner)...)
		case tree.Lookup(inner, "properties") != nil:
			all = append(all, l.walk(at, inner)...)
		case tree.Lookup(items, "properties") != nil:
			all = append(all, l.walk(tree.Join(at, Tables().Lists[key].Placeholder), items)...)
		}
	}
	return all
}

// long returns the JSON schema of the long form of a value, a map or list, if s allows a short form, too; otherwise s.
func long(s *yaml.Node) *yaml.Node {
	first := tree.LookupAt(tree.Lookup(s, "anyOf"), 0)
	if tree.Lookup(first, "$ref") != nil || tree.Lookup(first, "items") != nil {
		return first
	}
	return s
}

// resolved returns the JSON schema definition that s refers to or, without a reference, s, after the choice by long.
func (l *Language) resolved(s *yaml.Node) *yaml.Node {
	s = long(s)
	if name, isRef := strings.CutPrefix(tree.Word(s, "$ref"), DefinitionsAt); isRef {
		return tree.Lookup(l.defs, name)
	}
	return s
}

// key returns the documentation of the scenario key at a path, from its JSON schema s and the table of keys.
func (l *Language) key(path string, s *yaml.Node, required bool) Key {
	k := Key{Path: path, Value: l.value(s), Required: required, Doc: tree.Word(s, "description"), Default: Because(path)}
	if usual := tree.Lookup(s, "default"); usual != nil {
		k.Default = tree.OneLine(tree.Plain(usual))
	}
	pattern := starred(path)
	for _, known := range Tables().Keys {
		if known.Path == pattern {
			k.Default, k.Least, k.Most = cmp.Or(known.Unsaid, k.Default), known.Least, known.Most
		}
	}
	if examples := tree.Lookup(s, "examples"); examples != nil {
		k.Examples = plain.Map(examples.Content, func(one *yaml.Node) string { return tree.OneLine(tree.Plain(one)) })
	}
	return k
}

// value returns what values the JSON schema s allows, in words for users, such as "duration", "late | early" or "map".
func (l *Language) value(s *yaml.Node) string {
	s = long(s)
	if name, isRef := strings.CutPrefix(tree.Word(s, "$ref"), DefinitionsAt); isRef {
		return cmp.Or(Tables().Types[name].Notation, "map")
	}
	words, items := tree.Lookup(s, "enum"), long(tree.Lookup(s, "items"))
	switch typ := tree.Word(s, "type"); {
	case words != nil && len(words.Content) <= 12:
		return strings.Join(plain.Map(words.Content, func(w *yaml.Node) string { return w.Value }), " | ")
	case words != nil, tree.Lookup(s, "anyOf") != nil:
		return "word"
	case typ == "array" && tree.Word(items, "$ref") == "":
		return "list of words"
	case typ == "array":
		return "list of " + l.value(items) + "s"
	case typ == "boolean":
		return "true | false"
	case typ == "integer":
		return "whole number"
	case typ == "object":
		return "map of keys by path"
	}
	return "text"
}

// ofTable returns the documentation of the kinds in a table, with that of their keys from the schema's definition def.
func (l *Language) ofTable(table *KindTable, def string) []Kind {
	var kinds []Kind
	all := l.walk("", tree.Lookup(l.defs, def))
	for _, name := range table.Kinds() {
		rows := table.RowsOf(name)
		kind := Kind{Name: name, Doc: rows[0].Doc}
		for _, k := range all {
			k.Required = !slices.ContainsFunc(rows, func(row kindRow) bool { return !slices.Contains(row.Required, k.Path) })
			if slices.ContainsFunc(rows, func(row kindRow) bool { return row.takes(k.Path) }) {
				kind.Keys = append(kind.Keys, k)
			}
		}
		for i, row := range rows {
			example := "{" + strings.TrimSuffix(table.Key+": "+name+", "+row.Example, ", ") + "}"
			if i > 0 {
				example = kind.Example + " or " + example
			}
			kind.Example = example
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// has reports whether a YAML list, which may be nil, has a word as an element.
func has(list *yaml.Node, w string) bool {
	return list != nil && slices.ContainsFunc(list.Content, func(item *yaml.Node) bool { return item.Value == w })
}

// Because returns, in words, the default of a key that depends on other keys: "the duration" for drain; "" for others.
func Because(path string) string {
	if strings.HasPrefix(path, "policies.") && strings.HasSuffix(path, ".label") {
		return "the kind"
	}
	return map[string]string{"name": "the file's name", "warmup": "2m, or a tenth of the duration if that is less",
		"drain": "the duration", "baseline": "the first policy"}[path]
}
