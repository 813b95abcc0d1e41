package scenarios

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
	"qsim/scenarios/validate"
)

// Load parses and checks the YAML text src of a scenario, with sets replacing values in it. name is the path of its
// file, for messages and for files that it names. Load returns all errors and warnings at once; the scenario is nil if
// any is an error. No text can make it panic, or use much time or memory.
func Load(name string, src []byte, sets []Override) (*Scenario, diagnostics.List) {
	if len(src) > tree.MostBytes {
		bad := quantity.Errorf("the file is too large (at most %d KiB)", tree.MostBytes>>10)
		bad.Help = "a scenario is a page of YAML; this is something else"
		return nil, diagnostics.List{diagnostics.Of(bad, yaml.Mark{})}
	}
	src = []byte(strings.TrimPrefix(string(src), "\ufeff"))
	if problems := diagnostics.CheckText(src); len(problems) > 0 {
		return nil, problems
	}
	l := loader{sets: sets, files: folderOf(name), source: diagnostics.NewSource(src)}
	file, problems := tree.Parse(src)
	if file != nil && file.Kind != yaml.MappingNode {
		bad := tree.Errorf(file, "a scenario is a map of keys such as `jobs:`, not %s", tree.Describe(file))
		problems = append(problems, bad)
		file = nil
	}
	if file == nil {
		l.add(problems, "")
		return nil, l.source.Alike(l.found).Sorted()
	}
	l.source.Index(file, "")
	l.add(problems, "")
	given := l.expand(named(file, name), "")
	for i, set := range sets {
		given = l.expand(l.override(given, i, set), "") // at once: the next one may lead into it
	}
	return l.finish(given)
}

// named returns a scenario's YAML tree with a key name: if it has none, its file's base name, if that is valid.
func named(file *yaml.Node, path string) *yaml.Node {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if tree.Lookup(file, "name") != nil || checks.BadTitle(base) != "" {
		return file
	}
	own := tree.MapOf(&yaml.Node{}, "name", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: base})
	own.Line, own.Column = file.Line, file.Column
	return tree.Merged(file, own)
}

// expand returns a scenario's YAML tree with its short forms, such as arrivals: 5/s, written out; it collects errors.
func (l *loader) expand(given *yaml.Node, policy string) *yaml.Node {
	whole, problems := expand(given)
	l.add(problems, policy)
	l.failed = append(l.failed, problems...)
	return whole
}

// loader holds the overrides, the source text and the diagnostics found so far while Load reads one scenario.
type loader struct {
	sets   []Override
	files  *spec.Folder
	source *diagnostics.Source
	found  diagnostics.List
	failed []*yaml.LoadError // short forms that could not be expanded
}

// override returns a scenario's YAML tree with set applied, the override with that index. If set is wrong, the tree
// stays as it is, and an error is added.
func (l *loader) override(given *yaml.Node, index int, set Override) *yaml.Node {
	value, problems := parse(set, index)
	l.add(problems, "")
	if value == nil || len(problems) > 0 {
		return given
	}
	at := position(index)
	next, bad := apply(given, at, set.Path, value)
	if set.NoFile && namesFile(set.Path, value) {
		bad = quantity.Errorf("no file can be named here, only in the scenario itself")
	}
	if bad != nil {
		l.addOne(tree.ErrorAt(at, bad), diagnostics.Error, "")
		return given
	}
	if storm, found := strings.CutPrefix(set.Path, "storms."); found && value.Value == noStorm {
		rest, gone, of := withoutObjectives(next, at, storm)
		if gone > 0 {
			warning := tree.Errorf(at, "objectives about this storm go with it: %d of %d", gone, of)
			l.addOne(warning, diagnostics.Warning, "")
		}
		return rest
	}
	return next
}

// finish decodes and checks the YAML tree of a scenario with all overrides applied and, for each policy with a `with:`,
// once more the tree under that policy. It returns what Load returns.
func (l *loader) finish(given *yaml.Node) (*Scenario, diagnostics.List) {
	sc := l.check(given, "", validate.NoPolicy)
	variants := make([]*Scenario, len(sc.Policies))
	for i := range sc.Policies {
		if len(sc.Policies[i].With) == 0 {
			continue
		}
		seen, problems := withPolicy(given, i)
		l.add(problems, "")
		variants[i] = l.check(l.expand(seen, sc.Policies[i].Label), sc.Policies[i].Label, i)
	}
	ds := l.found.Sorted()
	if len(ds.Errors()) > 0 {
		return nil, ds
	}
	sc.Finish(variants)
	return sc, ds
}

// check decodes a scenario's YAML tree and adds its problems to the diagnostics. A policy label that is not empty means
// that the tree includes the `with:` of that policy, whose index is number: problems found without it are not repeated.
func (l *loader) check(given *yaml.Node, policy string, number int) *Scenario {
	sc, problems := spec.Decode(given, l.files)
	l.add(problems, policy)
	failed, unknown := map[yaml.Mark]bool{}, map[yaml.Mark]bool{}
	for _, p := range problems {
		failed[p.Mark] = true
		unknown[p.Mark] = unknownField.MatchString(p.Message)
	}
	for _, p := range l.failed {
		failed[p.Mark] = true
	}
	c := checks.New(sc.Origin().Full, sc.Origin().Preset, failed, unknown)
	c.Cut = sc.Origin().Cut
	validate.Scenario(c, sc, number)
	for _, p := range c.Problems {
		l.addOne(p.Error, p.Severity, policy)
	}
	return sc
}

func (l *loader) add(problems []*yaml.LoadError, policy string) {
	for _, p := range problems {
		l.addOne(p, diagnostics.Error, policy)
	}
}

// addOne adds one error or warning to the diagnostics of a scenario, reworded from that of the YAML library for the
// author of the file. policy is the label of the policy under which it occurs, "" for the file itself.
func (l *loader) addOne(e *yaml.LoadError, severity diagnostics.Severity, policy string) {
	if len(l.found) >= mostFound {
		return
	}
	node, around := l.source.At(e.Mark)
	text, mark := words(e, node, around), e.Mark
	if e.Stage == yaml.ScannerStage && l.source.CharacterAt(e.Mark) == '\t' {
		text = &quantity.Error{Message: "a tab in the indentation", Help: "YAML is indented by spaces only"}
	}
	if cause := l.source.Cause(e, &mark); cause != nil && severity == diagnostics.Error {
		text, node = cause, nil
	}
	d := diagnostics.Of(text, mark)
	d.Severity = severity
	if node != nil {
		d.Width = diagnostics.WidthOf(node)
	}
	if e.Mark.Line < 0 {
		d.Set = l.sets[-1-e.Mark.Line].String()
		d.Line, d.Col = 0, 0
	}
	again := func(earlier diagnostics.Diagnostic) bool {
		return earlier.Line == d.Line && earlier.Col == d.Col && earlier.Set == d.Set && earlier.Message == d.Message
	}
	if (policy != "" || node == nil && mark != e.Mark) && slices.ContainsFunc(l.found, again) {
		return
	}
	if policy != "" && d.Note == "" {
		d.Note = fmt.Sprintf("under policy %q", policy)
	}
	l.found = append(l.found, d)
}

// mostFound is the highest number of diagnostics that Load returns for one file; the rest is dropped.
const mostFound = 1000

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
