package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/policies"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

// Setting is one key of a scenario with its value and its origin: a line, a preset, an override or a default.
type Setting struct {
	Path   string `json:"path"`   // path as for --set: jobs.mail.service; objectives by number from 1
	Value  string `json:"value"`  // value as YAML on one line
	Origin string `json:"origin"` // source: line 12, preset river (line 5), --set ..., or default with a reason
}

// Explain returns every key with an effect in sc, in the order of the language, with its value and its origin. sets are
// the overrides that sc was loaded with. Keys that depend on a kind, such as the parameters of a distribution, are
// returned for that kind only.
func (sc *Scenario) Explain(sets []Override) []Setting {
	plain := sc.canonical()
	for i := range plain.Policies {
		plain.Policies[i].With = orderedAll(sc.Policies[i].With)
	}
	root := tree.Dumped(plain)
	e := explainer{sc: sc, sets: sets}
	e.walk("", &root, sc.tree.full)
	return e.settings
}

// ExplainPolicy returns the settings of Explain that policy i overrides in its `with:`.
func (sc *Scenario) ExplainPolicy(i int, sets []Override) []Setting {
	v := sc.Variant(i)
	if v == sc {
		return nil
	}
	base := map[string]string{}
	for _, s := range sc.Explain(sets) {
		base[s.Path] = s.Value
	}
	var others []Setting
	for _, s := range v.Explain(sets) {
		if value, there := base[s.Path]; !there || value != s.Value {
			others = append(others, s)
		}
	}
	return others
}

// Settings returns the values of a preset as keys of a scenario. Their Origin is empty.
func (p *Preset) Settings() []Setting {
	var all []Setting
	if p.Engine != nil {
		all = flatten(all, "engine", p.Engine)
	}
	if p.Retry != nil {
		all = flatten(all, "retry", p.Retry)
	}
	return all
}

func flatten(all []Setting, path string, value *yaml.Node) []Setting {
	if value.Kind != yaml.MappingNode || tree.Lookup(value, "dist") != nil {
		return append(all, Setting{Path: path, Value: tree.OneLine(value)})
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		all = flatten(all, join(path, value.Content[i].Value), value.Content[i+1])
	}
	return all
}

// explainer collects the settings of a scenario with their origins.
type explainer struct {
	sc       *Scenario
	sets     []Override
	settings []Setting
}

// walk adds the settings within a YAML value; given is the node of the file that the value was decoded from, or nil.
func (e *explainer) walk(path string, value, given *yaml.Node) {
	if !branches(value) {
		e.add(path, value, given)
		return
	}
	if value.Kind == yaml.SequenceNode {
		e.list(path, value, given)
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, child := value.Content[i].Value, value.Content[i+1]
		switch {
		case e.ofClass(path) && key == "retry":
			continue // comes below, with what it stands upon
		case strings.HasSuffix(path, ".with"):
			e.add(join(path, key), child, tree.Lookup(given, key))
		default:
			e.walk(join(path, key), child, e.source(given, key))
		}
	}
	e.unsaid(path, value)
}

// branches reports whether the parts of a value are separate settings. A distribution is one value, and so is a map of
// error shares.
func branches(value *yaml.Node) bool {
	switch value.Kind {
	case yaml.MappingNode:
		return tree.Lookup(value, "dist") == nil && (len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0 || tree.Lookup(value, "ahead") != nil)
	case yaml.SequenceNode:
		return len(value.Content) > 0 && value.Content[0].Kind == yaml.MappingNode
	}
	return false
}

// source returns the YAML node in the file's map given from which the value of key was decoded.
func (e *explainer) source(given *yaml.Node, key string) *yaml.Node {
	node := tree.Lookup(given, key)
	switch {
	case node == nil && key == "max-attempts":
		return tree.Lookup(given, "max-retries")
	case node == nil && key == "guard":
		return tree.Lookup(given, "idempotent")
	}
	return node
}

// list adds the settings of the elements of a list of maps, each under the element's name.
func (e *explainer) list(path string, value, given *yaml.Node) {
	for i, item := range value.Content {
		name := strconv.Itoa(i + 1)
		for _, key := range namesOf[path] {
			if n := tree.Lookup(item, key); n != nil && n.Value != "" {
				name = n.Value
				break
			}
		}
		at := tree.LookupAt(given, i)
		if path == "policies" {
			at = e.policy(item)
		}
		e.walk(join(path, name), item, at)
		if path == "jobs" {
			e.retry(join(join(path, name), "retry"), i)
		}
	}
}

// policy returns the YAML node that a policy was decoded from. It is found by the label, since Select may have changed
// the indexes.
func (e *explainer) policy(item *yaml.Node) *yaml.Node {
	list := tree.Lookup(e.sc.tree.full, "policies")
	for i := 0; tree.LookupAt(list, i) != nil; i++ {
		own := list.Content[i]
		label := tree.Lookup(own, "label")
		if label == nil {
			label = tree.Lookup(own, "kind")
		}
		if label != nil && label.Value == tree.Lookup(item, "label").Value {
			return own
		}
	}
	return nil
}

// retry adds the retry settings of a class that overrides some.
func (e *explainer) retry(path string, class int) {
	own := &e.sc.Jobs[class].RetryKeys
	base := tree.Lookup(e.sc.tree.full, "retry")
	if own.IsZero() || base == nil {
		return
	}
	retry := tree.Dumped(&e.sc.retry[class])
	below := e.sc.tree.class(base, own)
	first := len(e.settings)
	e.walk(path, &retry, tree.Merged(below, own))
	inherited := explainer{sc: e.sc, sets: e.sets}
	inherited.walk(path, &retry, base)
	for i := range e.settings[first:] {
		if s := &e.settings[first+i]; i < len(inherited.settings) && *s == inherited.settings[i] {
			s.Origin = "as retry"
		}
	}
}

// ofClass reports whether path names a job class.
func (e *explainer) ofClass(path string) bool {
	name, found := strings.CutPrefix(path, "jobs.")
	return found && e.sc.ClassIndex(name) >= 0
}

// add adds one setting: its path, its value, and the origin (line, preset, override or default) of the node given.
func (e *explainer) add(path string, value, given *yaml.Node) {
	e.settings = append(e.settings, Setting{path, tree.OneLine(value), e.origin(path, given)})
}

// origin returns the place from which the value of a node comes, in words: a line, a preset, an override or a default.
func (e *explainer) origin(path string, node *yaml.Node) string {
	if node == nil || node.Line == 0 {
		if why := because(path); why != "" {
			return "default: " + why
		}
		return "default"
	}
	place := fmt.Sprintf("line %d", node.Line)
	if set := -1 - node.Line; set >= 0 {
		place = "an override"
		if set < len(e.sets) {
			place = diagnostics.Cut(e.sets[set].String())
		}
	}
	if preset := e.sc.tree.preset[node]; preset != "" {
		return fmt.Sprintf("preset %s (%s)", preset, place)
	}
	return place
}

// because returns the rule, in words, for a default that depends on other keys; "" if it is a constant.
func because(path string) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case path == "name":
		return "the file's name"
	case path == "warmup":
		return "2m, or a tenth of the duration if that is less"
	case path == "drain":
		return "the duration"
	case path == "baseline":
		return "the first policy"
	case strings.HasPrefix(path, "policies.") && last == "label":
		return "the kind"
	}
	return ""
}

// unsaid adds the keys left out below path with their default behaviour, and the default parameters of a policy.
func (e *explainer) unsaid(path string, value *yaml.Node) {
	for _, k := range keys {
		dot := strings.LastIndexByte(k.path, '.')
		if k.unsaid == "" || k.path == "jobs.*.idempotent" || !matches(k.path[:dot], path) || tree.Lookup(value, k.path[dot+1:]) != nil {
			continue
		}
		own := Setting{join(path, k.path[dot+1:]), k.unsaid, "default"}
		if class := e.sc.ClassIndex(strings.TrimPrefix(path, "jobs.")); k.path == "jobs.*.starved-after" && class >= 0 {
			own.Value, own.Origin = Duration(e.sc.Jobs[class].StarvesAfter()).String(), "default: "+k.unsaid
		}
		e.settings = append(e.settings, own)
	}
	if !strings.HasPrefix(path, "policies.") || strings.HasSuffix(path, ".with") {
		return
	}
	for _, kind := range policies.Kinds() {
		if name := tree.Lookup(value, "kind"); name == nil || name.Value != kind.Name {
			continue
		}
		for _, p := range kind.Params {
			if tree.Lookup(value, p.Name) == nil {
				e.settings = append(e.settings, Setting{join(path, p.Name), p.Default, "default"})
			}
		}
	}
}

// matches reports whether path matches a pattern, in which * stands for any part.
func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(path, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != "*" && want[i] != have[i] {
			return false
		}
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
