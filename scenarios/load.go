package scenarios

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// Load parses and checks the scenario src, called name in messages, with the overrides sets. It returns all problems at
// once; the scenario is nil if any of them is an error. No src makes it panic or use much time or memory.
func Load(name string, src []byte, sets []Override) (*Scenario, Diagnostics) {
	if len(src) > tree.MostBytes {
		return nil, Diagnostics{{Severity: Error, Message: fmt.Sprintf("the file is too large (at most %d KiB)", tree.MostBytes>>10),
			Help: "a scenario is a page of YAML; this is something else"}}
	}
	src = []byte(strings.TrimPrefix(string(src), "\ufeff"))
	if problems := checkText(src); len(problems) > 0 {
		return nil, problems
	}
	if problems := checkEntries(src); len(problems) > 0 {
		return nil, problems
	}
	l := loader{sets: sets, files: folderOf(name), src: src, lines: splitLines(src), width: map[yaml.Mark]*yaml.Node{},
		around: map[*yaml.Node]*yaml.Node{}, paths: map[yaml.Mark]string{}}
	file, problems := tree.Parse(src)
	if file != nil && file.Kind != yaml.MappingNode {
		problems = append(problems, tree.ErrorAt(file, quantity.Errorf("a scenario is a map of keys such as `jobs:`, not %s", tree.Describe(file))))
		file = nil
	}
	if file == nil {
		l.add(problems, "")
		l.addAlike()
		return nil, l.found.sorted()
	}
	l.index(file, "")
	l.add(problems, "")
	given := l.expand(named(file, name), "")
	for i, set := range sets {
		given = l.override(given, i, set)
	}
	return l.finish(l.expand(given, ""))
}

// checkEntries returns errors for text that would take the parser too long. It counts separators of entries, wherever
// they are; the depth of nesting has a limit of its own.
func checkEntries(src []byte) Diagnostics {
	n, line := 0, 1
	for _, c := range src {
		switch c {
		case '\n':
			line++
			n++
		case ',', ':', '?':
			n++
		}
		if n > 2*tree.MostEntries {
			return Diagnostics{{Line: line, Col: 1, Width: 1, Severity: Error, Message: fmt.Sprintf("too many entries (at most %d)", tree.MostEntries)}}
		}
	}
	return nil
}

// named returns file with a name added if it has none: that of the file path.
func named(file *yaml.Node, path string) *yaml.Node {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if tree.Lookup(file, "name") != nil || checkName(base) != "" || strings.Contains(base, "_") {
		return file
	}
	over := &yaml.Node{Kind: yaml.MappingNode, Line: file.Line, Column: file.Column, Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: "name"}, {Kind: yaml.ScalarNode, Tag: "!!str", Value: base}}}
	return tree.Merged(file, over)
}

// expand returns the YAML of a scenario with its short forms replaced by long ones.
func (l *loader) expand(given *yaml.Node, policy string) *yaml.Node {
	whole, problems := expand(given)
	l.add(problems, policy)
	for _, p := range problems {
		l.failed = append(l.failed, p.Mark)
	}
	return whole
}

// loader collects the diagnostics while one scenario is loaded.
type loader struct {
	sets   []Override
	files  *folder
	src    []byte
	lines  []string
	found  Diagnostics
	failed []yaml.Mark               // positions of short forms that could not be expanded
	width  map[yaml.Mark]*yaml.Node  // scalars of the file, by position
	around map[*yaml.Node]*yaml.Node // maps of the file, by their keys
	paths  map[yaml.Mark]string      // paths of the file's values, by position
	last   lastLine
}

// index records the positions of the file's scalars, and the paths of their keys.
func (l *loader) index(node *yaml.Node, path string) {
	mark := yaml.Mark{Line: node.Line, Column: node.Column}
	if node.Kind == yaml.ScalarNode {
		l.width[mark] = node
	}
	if l.paths[mark] == "" || node.Kind == yaml.ScalarNode {
		l.paths[mark] = path
	}
	for i, c := range node.Content {
		at := path
		switch {
		case node.Kind == yaml.SequenceNode:
			at = join(path, cmp.Or(tree.Word(c, "class"), tree.Word(c, "name"), tree.Word(c, "label"), tree.Word(c, "kind"), strconv.Itoa(i+1)))
		case i%2 == 0:
			l.around[c] = node
		default:
			at = join(path, node.Content[i-1].Value)
		}
		l.index(c, at)
	}
}

// override returns the YAML of a scenario after one override.
func (l *loader) override(given *yaml.Node, index int, set Override) *yaml.Node {
	value, problems := set.parse(index)
	l.add(problems, "")
	if value == nil || len(problems) > 0 {
		return given
	}
	at := set.position(index)
	if set.NoFile && namesFile(set.Path, value) {
		l.add([]*yaml.LoadError{tree.ErrorAt(at, quantity.Errorf("no file can be named here, only in the scenario itself"))}, "")
		return given
	}
	next, bad := apply(given, at, set.Path, value)
	if bad != nil {
		l.add([]*yaml.LoadError{tree.ErrorAt(at, bad)}, "")
		return given
	}
	if storm, found := strings.CutPrefix(set.Path, "storms."); found && value.Value == noStorm {
		return l.withoutObjectives(next, at, storm)
	}
	return next
}

// finish decodes and checks the YAML of a scenario, and a variant for each policy with overrides.
func (l *loader) finish(given *yaml.Node) (*Scenario, Diagnostics) {
	sc := l.check(given, "", noPolicy)
	sc.variants = make([]*Scenario, len(sc.Policies))
	for i := range sc.Policies {
		if len(sc.Policies[i].With) == 0 {
			continue
		}
		seen, problems := withPolicy(given, i)
		l.add(problems, "")
		sc.variants[i] = l.check(l.expand(seen, sc.Policies[i].Label), sc.Policies[i].Label, i)
	}
	ds := l.found.sorted()
	if len(ds.Errors()) > 0 {
		return nil, ds
	}
	sc.nameErrors()
	sc.numberTenants()
	sc.spell()
	return sc, ds
}

// check decodes the scenario given and adds its problems. If policy is not empty, given has the overrides of that
// policy, which has the index number: problems found without the overrides are not repeated.
func (l *loader) check(given *yaml.Node, policy string, number int) *Scenario {
	sc, problems := decode(given, l.files)
	l.add(problems, policy)
	failed, unknown := map[yaml.Mark]bool{}, map[yaml.Mark]bool{}
	for _, p := range problems {
		failed[p.Mark] = true
		unknown[p.Mark] = unknownField.MatchString(p.Message)
	}
	for _, mark := range l.failed {
		failed[mark] = true
	}
	c := checker{sc: sc, failed: failed, unknown: unknown, policy: number}
	c.all()
	for _, p := range c.problems {
		l.addOne(p.error, p.severity, policy)
	}
	return sc
}

func (l *loader) add(problems []*yaml.LoadError, policy string) {
	for _, p := range problems {
		l.addOne(p, Error, policy)
	}
}

// addOne turns an error with a position into a diagnostic and adds it.
func (l *loader) addOne(e *yaml.LoadError, severity Severity, policy string) {
	if len(l.found) >= mostFound {
		return
	}
	node := l.width[e.Mark]
	text, mark := words(e, node, l.around[node]), e.Mark
	if e.Stage == yaml.ScannerStage && l.character(e.Mark) == '\t' {
		text = &quantity.Error{Message: "a tab in the indentation", Help: "YAML is indented by spaces only"}
	}
	if cause := l.cause(e, &mark); cause != nil && severity == Error {
		text, node = cause, nil
	}
	d := Diagnostic{Line: mark.Line, Col: mark.Column, Width: 1, Severity: severity, Message: text.Message, Help: text.Help, Note: text.Note}
	if node != nil {
		d.Width = writtenWidth(node)
	}
	if e.Mark.Line < 0 {
		d.Set = l.sets[-1-e.Mark.Line].String()
		d.Line, d.Col = 0, 0
	}
	for _, earlier := range l.found {
		if (policy != "" || node == nil && mark != e.Mark) && earlier.Line == d.Line && earlier.Col == d.Col && earlier.Set == d.Set && earlier.Message == d.Message {
			return
		}
	}
	if policy != "" && d.Note == "" {
		d.Note = fmt.Sprintf("under policy %q", policy)
	}
	l.found = append(l.found, d)
}

// character returns the character at a position of the file, 0 if there is none.
func (l *loader) character(at yaml.Mark) rune {
	if at.Line < 1 || at.Line > len(l.lines) {
		return 0
	}
	column := 0
	for _, r := range l.lines[at.Line-1] {
		if column++; column == at.Column {
			return r
		}
	}
	return 0
}

// mostFound is the highest number of diagnostics of one file.
const mostFound = 1000

// writtenWidth returns the width in characters of a scalar in the file: with its quotes, and only of its first line.
func writtenWidth(node *yaml.Node) int {
	first, _, _ := strings.Cut(node.Value, "\n")
	width := utf8.RuneCountInString(first)
	if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		width += 2
	}
	return max(1, width)
}

// Variant returns the scenario with the overrides of policy i (its `with:`). It is sc itself if there are none.
func (sc *Scenario) Variant(i int) *Scenario {
	if i < len(sc.variants) && sc.variants[i] != nil {
		return sc.variants[i]
	}
	return sc
}
