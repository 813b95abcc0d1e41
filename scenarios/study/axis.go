package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/pool"
)

// Axis is a key of a scenario that a study varies, with the values that it takes.
type Axis struct {
	Text  string // text from which the axis was parsed: KEY=RANGE
	Key   string // path of the key, as in scenarios.Override
	Range Range
}

// fixed maps each scenario key that cannot vary between the cells of a study to the reason.
var fixed = map[string]string{
	"seed":        "every cell has the same seeds, so that cells can be compared; --seed sets the first one",
	"seeds":       "every cell has the same seeds, so that cells can be compared; --seeds sets how many",
	"name":        "it names the sweep",
	"version":     "it is that of the language",
	"description": "it changes no number",
	"baseline":    "it changes no number of a cell",
	"objectives":  "every cell is held to the same objectives; one file may have several bounds on one metric",
}

// lists maps each list in a scenario file to the key whose values name its elements in paths, as in jobs.CLASS.KEY.
var lists = map[string]string{"jobs": "class", "storms": "name", "dependencies": "name", "policies": "label"}

// ParseAxes parses the KEY=RANGE texts of a command-line flag into axes. The error lists every wrong one.
func ParseAxes(flag string, texts []string) ([]Axis, error) {
	var axes []Axis
	var problems []error
	for _, text := range texts {
		axis, err := ParseAxis(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", flag, err))
		}
		axes = append(axes, axis)
	}
	return axes, errors.Join(problems...)
}

// ParseAxis parses KEY=RANGE into an axis; see Range for the syntax of RANGE.
func ParseAxis(text string) (Axis, error) {
	key, values, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Axis{}, fmt.Errorf("%s: want KEY=VALUES, as engine.workers=40,80,160 or retry.backoff.first=1s..1m*2", text)
	}
	words := strings.Split(key, ".")
	if why := fixed[words[0]]; why != "" {
		return Axis{}, fmt.Errorf("%s cannot vary: %s", key, why)
	}
	switch name, isList := lists[words[0]]; {
	case isList && len(words) == 1:
		return Axis{}, fmt.Errorf("%s cannot vary as a whole: name one of them, such as %s.NAME.KEY", key, key)
	case isList && len(words) == 3 && words[2] == name:
		return Axis{}, fmt.Errorf("%s cannot vary: the cells of a sweep have the same names", key)
	}
	r, err := parseRange(values)
	if err != nil {
		return Axis{}, fmt.Errorf("%s: %w", key, err)
	}
	return Axis{text, key, r}, nil
}

// override returns the scenario override that gives the axis's key the value with the given index.
func (a *Axis) override(value int) scenarios.Override {
	return scenarios.Override{Path: a.Key, Value: a.Range.Values[value].Text}
}

// place returns the column and width of a value within the axis's Text, in characters from 1.
func (a *Axis) place(value int) (column, width int) {
	before, _, _ := strings.Cut(a.Text, "=")
	v := a.Range.Values[value]
	return utf8.RuneCountInString(before) + 1 + v.Column, v.Width
}

func (a Axis) result() results.Axis {
	r := results.Axis{Key: a.Key, Values: a.Range.Texts(), Log: a.Range.Log}
	if a.Range.Numeric {
		r.Numbers = plain.Map(a.Range.Values, func(v Value) float64 { return v.Number })
	}
	return r
}

const (
	mostAxes = 8
	// MostCells is the highest number of cells of a study, and so of values of a range.
	MostCells = 10_000
)

// checkAxes returns an error if there are no axes, two of them overlap, an override in sets fixes the key of one, or
// they have more cells than most.
func checkAxes(axes []Axis, sets []scenarios.Override, most int) error {
	if len(axes) == 0 {
		return errors.New("there is no key to vary")
	}
	for i := range axes {
		key := axes[i].Key
		for k := range axes[:i] {
			switch earlier := axes[k].Key; {
			case earlier == key:
				return fmt.Errorf("%s is there twice: vary each key once, with all its values", key)
			case strings.HasPrefix(earlier, key+"."):
				return fmt.Errorf("%s would undo %s: give the wider key first", key, earlier)
			}
		}
		if slices.ContainsFunc(sets, func(o scenarios.Override) bool { return o.Path == key }) {
			return fmt.Errorf("%s is both varied and set", key)
		}
	}
	if _, ok := results.Size(plain.Map(axes, Axis.result), most); !ok {
		shapes := plain.Map(axes, func(a Axis) string { return fmt.Sprint(len(a.Range.Values)) })
		return fmt.Errorf("%s values make more than %d combinations: take fewer values", strings.Join(shapes, " × "), most)
	}
	return nil
}

// Wrong is the error for a study with invalid cells: it lists their problems. No cell has been simulated.
type Wrong struct {
	plan     *Plan
	problems []problem
	combined bool // the problems come from combinations of values; each value alone is valid
}

// problem is an error or a warning about the scenario with the values of one or more cells of a study.
type problem struct {
	diagnostics.Diagnostic
	cell  int
	axis  int // index of the axis whose value is at fault; -1: none
	value int // index of the value in Range.Values of the axis
	count int // number of cells with the problem
}

// Error returns the number of problems and the first one; Text returns them all.
func (w *Wrong) Error() string {
	return fmt.Sprintf("%d problems, the first in %s: %s", len(w.problems), w.plan.cellName(w.problems[0].cell),
		w.problems[0].Message)
}

// Text returns all problems for a person, each with the input at fault: an axis, or a scenario line. Flags are those
// that give the axes; the last one gives all further ones.
func (w *Wrong) Text(flags ...string) (all string) {
	for i := range w.problems {
		p := &w.problems[i]
		d, name, text := p.Diagnostic, w.plan.Source.Name, w.plan.Source.Text
		if p.axis >= 0 {
			axis := &w.plan.Axes[p.axis]
			d.Set, d.Line = "", 1
			d.Col, d.Width = axis.place(p.value)
			name, text = flags[min(p.axis, len(flags)-1)], []byte(axis.Text)
			if w.ofKey(p) {
				if p.value > 0 {
					continue // already written
				}
				d.Col, d.Width = 1, utf8.RuneCountInString(axis.Key)
			}
		}
		if d.Note == "" && (p.axis < 0 || w.combined && len(w.plan.Axes) > 1) {
			d.Note = "with " + w.plan.cellName(p.cell)
		}
		all += diagnostics.List{d}.Text(name, text)
	}
	return all
}

// ofKey reports whether a problem is with an axis's key rather than a value: it occurs with every value, and it
// quotes a part of the key.
func (w *Wrong) ofKey(p *problem) bool {
	axis := &w.plan.Axes[p.axis]
	alike := plain.Count(w.problems, func(q problem) bool { return q.axis == p.axis && q.Message == p.Message })
	quoted := func(word string) bool {
		return strings.Contains(p.Message, strconv.Quote(word)) || strings.HasSuffix(p.Message, " named "+word)
	}
	return alike == len(axis.Range.Values) && (alike > 1 || slices.ContainsFunc(strings.Split(axis.Key, "."), quoted))
}

// Note is a warning about the scenario that one or more cells of a study have.
type Note struct {
	Text  string `json:"text"`  // warning as a sentence
	Cells int    `json:"cells"` // number of cells with the warning
	Cell  int    `json:"first"` // number of the first such cell
	First string `json:"-"`     // values of that cell
}

// Check loads a study's cells, which ascend, without simulating them. It returns the warnings that the unchanged
// scenario does not have, and a *Wrong for cells with errors or, under strict, warnings. Mistakes in single values are
// found first.
func (p *Plan) Check(ctx context.Context, cells []int, strict bool) ([]Note, error) {
	var wrong, notes []problem
	few := p.few()
	rest := slices.DeleteFunc(slices.Clone(cells), func(cell int) bool { return slices.Contains(few, cell) })
	for i, list := range [][]int{few, rest} {
		loaded := make([]diagnostics.List, len(list))
		err := pool.Each(ctx, pool.Width(p.Source.Parallel), len(list), func(_ context.Context, k int) (err error) {
			if _, loaded[k], err = p.Load(list[k]); err != nil {
				return &SettingError{p.Overrides(list[k]), err}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for k, cell := range list {
			for _, d := range loaded[k] {
				switch {
				case d.Severity == diagnostics.Error || strict:
					wrong = withProblem(wrong, p.problemOf(cell, d))
				case !p.known[d.Message]:
					notes = withProblem(notes, p.problemOf(cell, d))
				}
			}
		}
		if len(wrong) > 0 {
			return nil, &Wrong{p, wrong, i > 0}
		}
	}
	slices.SortStableFunc(notes, func(a, b problem) int { return a.cell - b.cell }) // those of few came first
	note := func(n problem) Note { return Note{n.Message, n.count, n.cell, p.cellName(n.cell)} }
	return plain.Map(notes, note), nil
}

// problemOf returns the problem for a diagnostic of the scenario of a cell, with the axis whose value is at fault.
func (p *Plan) problemOf(cell int, d diagnostics.Diagnostic) problem {
	found := problem{Diagnostic: d, cell: cell, axis: -1, count: 1}
	position := p.Sweep.Position(cell)
	for i, o := range p.Overrides(cell) {
		if d.Set == o.String() {
			found.axis, found.value = i, position[i]
		}
	}
	return found
}

// withProblem adds the problem of one more cell to a list, or counts it with an equal problem that the list has.
func withProblem(list []problem, p problem) []problem {
	for i := range list {
		q := &list[i]
		if q.axis == p.axis && q.value == p.value && q.Message == p.Message && q.Line == p.Line && q.Col == p.Col {
			q.count++
			q.cell = min(q.cell, p.cell)
			return list
		}
	}
	if len(list) >= mostProblems {
		return list
	}
	return append(list, p)
}

// mostProblems is the highest number of different problems that the error about a study's invalid cells lists.
const mostProblems = 100

// few returns, ascending, the cells in which at most one axis does not have its first value, to find mistakes in single
// values first.
func (p *Plan) few() []int {
	var cells []int
	for cell := range p.Size() {
		if plain.Count(p.Sweep.Position(cell), func(value int) bool { return value > 0 }) <= 1 {
			cells = append(cells, cell)
		}
	}
	return cells
}
