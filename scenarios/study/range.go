package study

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"qsim/results/plain"
)

// Range is a list of values for a key, at least one, and none twice, as `--vary KEY=RANGE` gives them:
//
//	8,16,32              a list, of anything that a scenario can say
//	none,full,"±20%"     quotes and brackets keep their commas
//	10s..60s/10s         from, to and step: 10s 20s 30s 40s 50s 1m
//	10s..60s/6           six values with equal distances; for numbers without a
//	8..64/4points        unit, where /4 would be a step, with the word points
//	1s..8m*2             log steps, each twice the one before: 1s 2s 4s ... 4m16s
//	1s..10m*5points      five values with equal ratios
//	1..8                 every whole number
//	1,2,4..16*4          a list may hold ranges
//
// Numbers are written as values in a scenario file: durations with their unit, rates as 72/s, shares as
// 20%, counts as 100k. Arithmetic is exact: 0.1..0.3/0.1 ends with 0.3.
type Range struct {
	Values []Value
	// Numeric reports whether all values are numbers of one dimension, with other numbers between them.
	Numeric bool
	// Log reports whether the values form a geometric series: the value between two is their geometric mean.
	Log bool
	// Short is a warning about ranges whose steps end before their end: 250ms..16s*3 ends with 6.75s.
	Short []string

	unit  unit
	whole bool // the values are whole numbers: none lies between 1 and 2
}

// Value is one value of a Range, as text and as a number.
type Value struct {
	Text   string   // text in the spelling of scenarios
	Number float64  // number in seconds, per second, shares of 1, or plain, if the range is Numeric; else the index
	exact  *big.Rat // exact number in base units, if the range is Numeric

	// Column and Width are the position of the value's part of the text, in characters from 1; 0 for a
	// value made by Between.
	Column, Width int
}

// parseRange parses the text of a range of values, such as 10s..60s/10s. Its errors show a correct form.
func parseRange(text string) (Range, error) {
	r := Range{Numeric: true, whole: true, unit: bare}
	parts, err := split(text)
	if err != nil {
		return Range{}, err
	}
	for _, part := range parts {
		begun := len(r.Values)
		if err := r.append(part.text); err != nil {
			return Range{}, err
		}
		for k := begun; k < len(r.Values); k++ {
			r.Values[k].Column, r.Values[k].Width = part.column, utf8.RuneCountInString(part.text)
		}
		if len(r.Values) > MostCells {
			return Range{}, fmt.Errorf("%s has more than %d values", shorten(text), MostCells)
		}
	}
	r.settle()
	seen := map[string]bool{}
	for _, v := range r.Values {
		if seen[v.Text] {
			return Range{}, fmt.Errorf("%s is there twice in %s", shorten(v.Text), shorten(text))
		}
		seen[v.Text] = true
	}
	return r, nil
}

// Texts returns the values in the spelling of scenarios.
func (r Range) Texts() []string { return plain.Map(r.Values, func(v Value) string { return v.Text }) }

// ascending reports whether every value is larger than the one before, as the axis of a map needs. Values that are not
// numbers count as ascending in the order given.
func (r Range) ascending() bool {
	for i := 1; i < len(r.Values); i++ {
		if r.Values[i].Number <= r.Values[i-1].Number {
			return false
		}
	}
	return true
}

// Between returns the value halfway between a and b of a Numeric range: their mean, or geometric mean if the range is
// Log, rounded if the rounded value still lies between them. It returns false if no value lies between, as for 1 and 2
// workers.
func (r Range) Between(a, b Value) (Value, bool) {
	if !r.Numeric {
		return Value{}, false
	}
	middle := new(big.Rat).Add(a.exact, b.exact)
	middle.Mul(middle, big.NewRat(1, 2))
	if r.Log {
		middle = power(a.exact, b.exact, 1, 2)
	}
	v := r.value(middle)
	if v.exact.Cmp(a.exact) == 0 || v.exact.Cmp(b.exact) == 0 || v.Text == a.Text || v.Text == b.Text {
		return Value{}, false
	}
	return v, true
}

// append adds the values of one part of a comma-separated list, a single value or a range, to the list.
func (r *Range) append(part string) error {
	from, rest, isRange := strings.Cut(part, "..")
	if !isRange {
		return r.appendOne(part)
	}
	a, ok := readNumber(from)
	if !ok {
		return fmt.Errorf("%s: want a number before .., such as 10s, 72/s, 20%% or 8, not %s", shorten(part), shorten(from))
	}
	b, steps, ok := numberAndSteps(rest)
	if !ok {
		return fmt.Errorf("%s: want a number after .., such as %s, not %s", shorten(part), a.text(), shorten(rest))
	}
	switch {
	case a.unit.sort != b.unit.sort:
		return fmt.Errorf("%s: %s and %s are not of one sort: give both ends a unit, or none", shorten(part), a.typed,
			b.typed)
	case a.value.Cmp(b.value) >= 0:
		return fmt.Errorf("%s: %s is not below %s; ranges go up", shorten(part), a.typed, b.typed)
	}
	r.join(a)
	r.whole = r.whole && b.whole
	return r.appendSteps(part, a, b, steps)
}

func (r *Range) appendOne(part string) error {
	if from, to, hyphen := strings.Cut(part, "-"); hyphen && from != "" && to != "" {
		a, one := readNumber(from)
		if b, other := readNumber(to); one && other {
			return fmt.Errorf("%s: a range is written %s..%s", shorten(part), a.typed, b.typed)
		}
	}
	n, ok := readNumber(part)
	if ok {
		r.join(n)
	}
	r.Numeric = r.Numeric && ok
	// Until it is known that all of the list are numbers, it is what was written.
	r.Values = append(r.Values, Value{Text: part, exact: n.value})
	return nil
}

// join updates whether all numbers of a list have one dimension and are whole; the first gives the list its unit.
func (r *Range) join(n typedNumber) {
	if len(r.Values) == 0 {
		r.unit = n.unit
	}
	r.Numeric = r.Numeric && n.unit.sort == r.unit.sort
	r.whole = r.whole && n.whole
}

// appendSteps adds the values of a range from a to b. steps begin with / or *, or are empty.
func (r *Range) appendSteps(part string, a, b typedNumber, steps string) error {
	if steps == "" {
		if a.unit.sort != aNumber || !a.whole || !b.whole {
			return fmt.Errorf("%s: say the steps: %[1]s/STEP, %[1]s/9points or, for log steps, %[1]s*2", shorten(part))
		}
		steps = "/1"
	}
	log, step := steps[0] == '*', strings.TrimSpace(steps[1:])
	count, isCount, err := points(part, step, !log && a.unit.sort != aNumber)
	if err != nil {
		return err
	}
	if log && a.value.Sign() <= 0 {
		return fmt.Errorf("%s: log steps begin above 0, not at %s", shorten(part), a.typed)
	}
	r.Log = r.Log || log
	if isCount {
		return r.appendPoints(part, a, b, count, log)
	}
	n, ok := readNumber(step)
	switch {
	case !ok && log, log && n.unit.sort != aNumber:
		return fmt.Errorf("%s: want a factor above 1 after *, such as 2, not %s", shorten(part), shorten(step))
	case !ok:
		return fmt.Errorf("%s: want a step after /, such as %s, not %s", shorten(part), a.text(), shorten(step))
	case log && n.value.Cmp(big.NewRat(1, 1)) <= 0:
		return fmt.Errorf("%s: the factor %s is not above 1", shorten(part), n.typed)
	case !log && n.unit.sort != a.unit.sort:
		return fmt.Errorf("%s: the step %s is not of the sort of %s", shorten(part), n.typed, a.typed)
	case n.value.Sign() <= 0:
		return fmt.Errorf("%s: the step %s is not above 0", shorten(part), n.typed)
	}
	r.whole = r.whole && (n.whole || log)
	at, begun := new(big.Rat).Set(a.value), len(r.Values)
	for at.Cmp(b.value) <= 0 {
		if r.add(at); len(r.Values) > MostCells {
			return fmt.Errorf("%s has more than %d values", shorten(part), MostCells)
		}
		next := new(big.Rat)
		if log {
			// Rounded, or its denominator would grow without end.
			next = round(next.Mul(at, n.value), 12)
		} else {
			next.Add(at, n.value)
		}
		at = next
	}
	if len(r.Values) == begun+1 {
		return fmt.Errorf("%s: one step goes beyond %s", shorten(part), b.typed)
	}
	if last := r.Values[len(r.Values)-1]; last.Text != r.value(b.value).Text {
		r.Short = append(r.Short, fmt.Sprintf("%s ends with %s", shorten(part), last.Text))
	}
	return nil
}

// appendPoints adds count values from a to b, both included, at equal distances or, if log is set, equal ratios.
func (r *Range) appendPoints(part string, a, b typedNumber, count int, log bool) error {
	begun := len(r.Values)
	for i := range count {
		switch {
		case i == count-1:
			r.add(b.value)
		case log:
			r.add(power(a.value, b.value, i, count-1))
		default:
			at := new(big.Rat).Sub(b.value, a.value)
			r.add(at.Mul(at, big.NewRat(int64(i), int64(count-1))).Add(at, a.value))
		}
		if last := len(r.Values) - 1; last > begun && r.Values[last].Text == r.Values[last-1].Text {
			return fmt.Errorf("%s: there are not %d values from %s to %s", shorten(part), count, a.typed, b.typed)
		}
	}
	return nil
}

func (r *Range) add(exact *big.Rat) { r.Values = append(r.Values, r.value(exact)) }

// settle spells all values of a list in one way and sets their numbers, once the whole list is parsed.
func (r *Range) settle() {
	for i := range r.Values {
		v := &r.Values[i]
		if r.Numeric {
			at := *v
			*v = r.value(v.exact)
			v.Column, v.Width = at.Column, at.Width
		} else {
			v.Number, v.exact = float64(i), nil
		}
	}
	r.Log, r.whole = r.Log && r.Numeric, r.whole && r.Numeric
}

// value returns the Value for an exact number, rounded if it has too many digits for its text.
func (r *Range) value(exact *big.Rat) Value {
	if r.whole && r.unit.sort == aNumber {
		exact = toWhole(exact)
	}
	text, exact := write(exact, r.unit)
	number, _ := exact.Float64()
	if r.unit.sort == aRate {
		number /= 3600
	}
	return Value{Text: text, Number: number, exact: exact}
}

// power returns the i-th of n steps with equal ratios from a to b, a × (b÷a)^(i÷n), to four digits.
func power(a, b *big.Rat, i, n int) *big.Rat {
	from, _ := a.Float64()
	to, _ := b.Float64()
	exponent := float64(i) / float64(n)
	x := math.Exp(math.Log(from) + exponent*(math.Log(to)-math.Log(from)))
	return round(new(big.Rat).SetFloat64(x), 4)
}

// points parses a number of points, such as 9points or, if bare is set because the range's steps have a unit, 9.
func points(part, step string, bare bool) (count int, ok bool, err error) {
	digits, named := strings.CutSuffix(step, "points")
	if !named && !bare {
		return 0, false, nil
	}
	count, failed := strconv.Atoi(strings.TrimSpace(digits))
	switch {
	case failed != nil && !named:
		return 0, false, nil
	case failed != nil || count < 2 || count > MostCells:
		return 0, false, fmt.Errorf("%s: want 2 to %d points, not %s", shorten(part), MostCells, shorten(step))
	}
	return count, true, nil
}
