package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"qsim/results"
	"qsim/scenarios"
)

// Axis is a key of a scenario with the values that it takes in a study.
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

// lists maps each list in a scenario file to the key that names its elements in paths.
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
	if name, isList := lists[words[0]]; isList {
		switch {
		case len(words) == 1:
			return Axis{}, fmt.Errorf("%s cannot vary as a whole: name one of them, such as %s.NAME.KEY", key, key)
		case len(words) == 3 && words[2] == name:
			return Axis{}, fmt.Errorf("%s cannot vary: the cells of a sweep have the same names", key)
		}
	}
	r, err := parseRange(values)
	if err != nil {
		return Axis{}, fmt.Errorf("%s: %w", key, err)
	}
	return Axis{text, key, r}, nil
}

// override returns the scenario override that gives the axis's key the value with that index.
func (a *Axis) override(value int) scenarios.Override {
	return scenarios.Override{Path: a.Key, Value: a.Range.Values[value].Text}
}

// place returns the column and width of a value within the axis's Text, in characters from 1.
func (a *Axis) place(value int) (column, width int) {
	before, _, _ := strings.Cut(a.Text, "=")
	v := a.Range.Values[value]
	return utf8.RuneCountInString(before) + 1 + v.Column, v.Width
}

// result returns the axis in the form of package results.
func (a *Axis) result() results.Axis {
	r := results.Axis{Key: a.Key, Values: a.Range.Texts(), Log: a.Range.Log}
	if a.Range.Numeric {
		for _, v := range a.Range.Values {
			r.Numbers = append(r.Numbers, v.Number)
		}
	}
	return r
}

const (
	mostAxes = 8
	// MostCells is the highest number of cells of a study, and so of values of a range.
	MostCells = 10_000
)

// wording holds the messages of one kind of study (sweep, map, tune) for axes that exclude each other.
type wording struct{ none, twice, wider, set, many string }

var (
	ofSweep = wording{"a sweep varies at least one key", "%s is varied twice: give all its values at once", "vary",
		"%s is both varied and set",
		"%[1]s make more than %[2]d cells, the most that a sweep has: take fewer values, or several sweeps"}
	ofTuning = wording{"there is no key to tune", "%s is there twice: give all its values at once", "give",
		"%s is both searched and set",
		"the keys have more than %[2]d settings: take fewer values"}
)

// checkAxes returns an error if two axes overlap, sets fix the key of an axis, there are no axes, or their cells are
// too many.
func checkAxes(axes []Axis, sets []scenarios.Override, say *wording) error {
	if len(axes) == 0 {
		return errors.New(say.none)
	}
	var shapes []string
	size := 1
	for i := range axes {
		key := axes[i].Key
		for k := range axes[:i] {
			switch earlier := axes[k].Key; {
			case earlier == key:
				return fmt.Errorf(say.twice, key)
			case strings.HasPrefix(earlier, key+"."):
				return fmt.Errorf("%s would undo %s: %s the wider key first", key, earlier, say.wider)
			}
		}
		if slices.ContainsFunc(sets, func(o scenarios.Override) bool { return o.Path == key }) {
			return fmt.Errorf(say.set, key)
		}
		shapes = append(shapes, fmt.Sprint(len(axes[i].Range.Values)))
		size = min(size*len(axes[i].Range.Values), MostCells+1)
	}
	if size > MostCells {
		return fmt.Errorf(say.many, strings.Join(shapes, " × "), MostCells)
	}
	return nil
}
