package study

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"qsim/engine/quantity"
)

// sort is the dimension of a number in a range: duration, rate, share and so on.
type sort uint8

const (
	aNumber   sort = iota
	aDuration      // base unit: seconds
	aRate          // base unit: per hour, so that rates per second, minute and hour are exact
	aShare         // base unit: 1
)

// unit is a unit in which numbers in a range are written, such as /s or %, with its dimension.
type unit struct {
	sort   sort
	suffix string
	size   *big.Rat // size of the unit in base units
}

// units lists the units that have one suffix each. The last one, of plain numbers, has the empty suffix, with which all
// texts end. Durations are not listed: they may have several suffixes, as 1m30s.
var (
	units = []unit{{aRate, "/s", big.NewRat(3600, 1)}, {aRate, "/m", big.NewRat(60, 1)}, {aRate, "/h", big.NewRat(1, 1)},
		{aShare, "%", big.NewRat(1, 100)}, {aNumber, "", big.NewRat(1, 1)}}
	bare      = units[len(units)-1]
	inSeconds = unit{sort: aDuration}
)

// typedNumber is a number with its unit, as typed in a range.
type typedNumber struct {
	typed string
	value *big.Rat // number in base units
	unit  unit
	whole bool
}

func (n typedNumber) text() string {
	text, _ := write(n.value, n.unit)
	return text
}

// numberAtStart matches the longest number, with its unit, that a text begins with.
var numberAtStart = regexp.MustCompile(`^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?` +
	`(?:[kM]|%|/[smh]\b|(?:ns|us|µs|ms|s|m|h)(?:[0-9.]+(?:ns|us|µs|ms|s|m|h))*)?`)

// nanosecond is the smallest time step, in seconds.
var nanosecond = big.NewRat(1, 1_000_000_000)

// numberAndSteps parses the end of a range and returns it with the text after it: steps that begin with / or *.
func numberAndSteps(text string) (n typedNumber, steps string, ok bool) {
	text = strings.TrimSpace(text)
	typed := numberAtStart.FindString(text)
	if n, ok = readNumber(typed); !ok {
		return n, "", false
	}
	steps = strings.TrimSpace(text[len(typed):])
	return n, steps, steps == "" || len(steps) > 1 && (steps[0] == '/' || steps[0] == '*')
}

// readNumber parses text that is a number with an optional unit, neither enormous nor tiny; false for any other text.
func readNumber(text string) (typedNumber, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 60 || numberAtStart.FindString(text) != text {
		return typedNumber{}, false
	}
	u := units[slices.IndexFunc(units, func(u unit) bool { return strings.HasSuffix(text, u.suffix) })]
	if value, ok := quantity.ParseNumber(strings.TrimSuffix(text, u.suffix)); ok {
		whole := u.sort == aNumber && value.IsInt() && (strings.ContainsAny(text, "kM") || !strings.Contains(text, "."))
		return typedNumber{text, value.Mul(value, u.size), u, whole}, true
	}
	var length quantity.Offset
	if u.sort != aNumber || length.UnmarshalText([]byte(text)) != nil {
		return typedNumber{}, false
	}
	return typedNumber{text, big.NewRat(int64(length), int64(time.Second)), inSeconds, false}, true
}

// write returns a number of base units in a scenario's syntax, and the number with that text: rounded to four digits if
// its decimals are endless, and durations to nanoseconds.
func write(exact *big.Rat, u unit) (text string, written *big.Rat) {
	if u.sort == aDuration {
		if !isDecimal(exact, 9) {
			exact = round(exact, 4)
		}
		nanoseconds := toWhole(new(big.Rat).Quo(exact, nanosecond))
		if d := nanoseconds.Num(); d.IsInt64() {
			return quantity.Offset(d.Int64()).String(), nanoseconds.Mul(nanoseconds, nanosecond)
		}
		return quantity.Decimal(exact, 9) + "s", exact // too long a number, which the scenario will refuse
	}
	shown := new(big.Rat).Quo(exact, u.size)
	if !isDecimal(shown, 12) {
		shown = round(shown, 4)
	}
	return quantity.Decimal(shown, 18) + u.suffix, shown.Mul(shown, u.size)
}

// isDecimal reports whether a number has at most the given number of digits behind the decimal point.
func isDecimal(x *big.Rat, most int) bool {
	digits, exact := x.FloatPrec()
	return exact && digits <= most
}

// round returns x rounded to digits significant digits.
func round(x *big.Rat, digits int) *big.Rat {
	f, _ := x.Float64()
	rounded, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', digits-1, 64))
	return rounded
}

// toWhole rounds x to the nearest whole number, halves away from 0.
func toWhole(x *big.Rat) *big.Rat {
	rounded, _ := new(big.Rat).SetString(x.FloatString(0))
	return rounded
}

// part is one element of a comma-separated list of values, without the space around it.
type part struct {
	text   string
	column int // position in the list, in characters, from 1
}

// split splits a list of values at its commas, except those in brackets and quotes.
func split(text string) (parts []part, err error) {
	var open []rune
	quote, begun := rune(0), 0
	add := func(end int) error {
		own := strings.TrimSpace(text[begun:end])
		if own == "" {
			return fmt.Errorf("%s: a value is missing", shorten(text))
		}
		space := strings.Index(text[begun:], own)
		parts = append(parts, part{own, 1 + utf8.RuneCountInString(text[:begun+space])})
		return nil
	}
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'':
			quote = c
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		case c == ',' && len(open) == 0:
			if err := add(i); err != nil {
				return nil, err
			}
			begun = i + 1
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("%s: a %c is not closed", shorten(text), quote)
	case len(open) > 0:
		return nil, fmt.Errorf("%s: a %c is missing", shorten(text), open[len(open)-1])
	}
	return parts, add(len(text))
}

// shorten returns the user's text cut to one short line for a message, in quotes if it has unusual characters.
func shorten(text string) string {
	text = quantity.Cut(text, 60)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '"' }) {
		return strconv.Quote(text)
	}
	return text
}
