package policies

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// heaviest bounds weights, so that their sum and its products are exact.
const heaviest = 1_000_000

func (v *Value) parseQuantum(text string) error {
	if n, err := parseCount(text); err == nil {
		if v.number = n; n == 0 {
			return errors.New("0 is not positive")
		}
		return nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return err
	}
	if v.duration = d; d == 0 {
		return fmt.Errorf("%s is not positive", text)
	}
	return nil
}

// parseByClass reads a mapping in braces; or, of a budget, one duration for all.
func (v *Value) parseByClass(text string) error {
	body, braced := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !braced && v.typ == TypeBudget {
		var err error
		v.duration, err = parseDuration(text)
		return err
	}
	body, closes := strings.CutSuffix(body, "}")
	if !braced || !closes {
		return fmt.Errorf("%q is no mapping of job classes: write {high: 10, low: 5}", text)
	}
	var entries []string
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(body, ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		class, value, found := strings.Cut(entry, ":")
		class, value = strings.TrimSpace(class), strings.TrimSpace(value)
		switch {
		case !found || class == "":
			return fmt.Errorf("%q is no job class and its value", strings.TrimSpace(entry))
		case seen[class]:
			return fmt.Errorf("class %s is given twice", class)
		}
		seen[class] = true
		spelled, err := v.spell(value)
		if err != nil {
			return fmt.Errorf("class %s: %w", class, err)
		}
		entries = append(entries, class+": "+spelled)
	}
	if v.typ == TypeBudget && len(entries) == 0 {
		return errors.New("no class has a budget")
	}
	v.text = "{" + strings.Join(entries, ", ") + "}"
	return nil
}

// spell returns how an entry is spelled.
func (v *Value) spell(value string) (string, error) {
	if v.typ == TypeBudget {
		d, err := parseDuration(value)
		return d.String(), err
	}
	n, err := parseCount(value)
	switch {
	case err != nil:
		return "", err
	case n < 1 || n > heaviest:
		return "", fmt.Errorf("a weight of %d is not in [1, %d]", n, heaviest)
	}
	return fmt.Sprint(n), nil
}

// each visits the entries of a mapping, which is sound.
func (v Value) each(visit func(class, value string)) {
	for entry := range strings.SplitSeq(strings.Trim(v.text, "{}"), ", ") {
		if class, value, found := strings.Cut(entry, ": "); found {
			visit(class, value)
		}
	}
}

// weights returns the weight of each class: 1 for one that is not named.
func (v Value) weights(classes []Class) (byKind []int64, err error) {
	byKind = make([]int64, len(classes))
	for i := range byKind {
		byKind[i] = 1
	}
	var unknown []error
	v.each(func(name, value string) {
		if i := kindOf(classes, name); i >= 0 {
			byKind[i], _ = parseCount(value)
		} else {
			unknown = append(unknown, fmt.Errorf("weights: there is no job class %s", name))
		}
	})
	return byKind, errors.Join(unknown...)
}

// budgets returns the budget of each class. A mapping must name them all.
func (v Value) budgets(classes []Class) (byKind []time.Duration, err error) {
	if v.text == "" {
		return []time.Duration{v.duration}, nil
	}
	byKind = make([]time.Duration, len(classes))
	named := make([]bool, len(classes))
	var problems []error
	v.each(func(name, value string) {
		if i := kindOf(classes, name); i >= 0 {
			byKind[i], _ = parseDuration(value)
			named[i] = true
		} else {
			problems = append(problems, fmt.Errorf("budget: there is no job class %s", name))
		}
	})
	for i, c := range classes {
		if !named[i] {
			problems = append(problems, fmt.Errorf("budget: job class %s has none", c.Name))
		}
	}
	return byKind, errors.Join(problems...)
}

func kindOf(classes []Class, name string) int {
	for i := range classes {
		if classes[i].Name == name {
			return i
		}
	}
	return -1
}
