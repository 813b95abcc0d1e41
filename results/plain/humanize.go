// Package plain writes numbers, durations and counts for people, joins words and lists, and makes untrusted names
// harmless for terminals and spreadsheets.
package plain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"qsim/engine/quantity"
)

// Missing is the text that stands for a missing value in tables.
const Missing = "–"

// Duration returns seconds as text with two to three significant digits: 11m52s, 1m41s, 8.8s, 120ms, 3.2µs; NaN as "–".
func Duration(seconds float64) string {
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return Missing
	}
	size := math.Abs(seconds)
	sign := When(seconds < 0, "−")
	switch {
	case size < 5e-10:
		return "0s"
	case size < 999.5e-9:
		return sign + Digits(size*1e9, 3) + "ns"
	case size < 999.5e-6:
		return sign + Digits(size*1e6, 2) + "µs"
	case size < 999.5e-3:
		return sign + Digits(size*1e3, 2) + "ms"
	case size < 59.95:
		return sign + strconv.FormatFloat(size, 'f', 1, 64) + "s"
	case size > 9e9: // beyond what a time.Duration holds
		return sign + Digits(size/(365.25*86400), 2) + "y"
	}
	return sign + clock(time.Duration(math.Round(size))*time.Second)
}

// clock returns a duration of a minute or more as text: 4m13s, 1h02m, 3d04h.
func clock(d time.Duration) string {
	pair := func(big time.Duration, bigUnit string, small time.Duration, smallUnit string) string {
		d = d.Round(small)
		return fmt.Sprintf("%d%s%02d%s", d/big, bigUnit, d%big/small, smallUnit)
	}
	switch {
	case d < time.Hour:
		return pair(time.Minute, "m", time.Second, "s")
	case d.Round(time.Minute) < 24*time.Hour:
		return pair(time.Hour, "h", time.Minute, "m")
	}
	return pair(24*time.Hour, "d", time.Hour, "h")
}

// Setting returns a duration, at least 0, as scenario files write it: 30m, 1h30m, 500ms.
func Setting(d time.Duration) string {
	return quantity.Duration(d).String()
}

// Span returns a window of virtual time as text: "10m–15m", or "at 2m5s" if both ends are equal.
func Span(from, to time.Duration) string {
	if from == to {
		return "at " + Setting(from)
	}
	return Setting(from) + "–" + Setting(to)
}

// Digits returns a number as decimal text, rounded to n significant digits but never before the point; trailing zeros
// after the point are dropped.
func Digits(v float64, n int) string {
	decimals := 0
	if v != 0 {
		decimals = max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return Fixed(v, min(decimals, 9))
}

// Amount returns a count, which may be a mean, as text with a unit prefix: 0.4, 12, 980, 4.7k, 24k, 1.34M.
func Amount(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Missing
	case size < 99.5:
		return Digits(v, 2)
	case size < 999.5:
		return Digits(v, 3)
	case size < 99500:
		return Digits(v/1e3, 2) + "k"
	case size < 999500:
		return Digits(v/1e3, 3) + "k"
	case size < 999.5e6:
		return Digits(v/1e6, 3) + "M"
	}
	return Digits(v/1e9, 3) + "G"
}

// Fixed returns a number as decimal text with at most that many digits after the point; trailing zeros are dropped.
func Fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Shorten returns a text cut to limit characters, with … in its middle: names often differ at the start or the end.
func Shorten(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	tail := limit / 3
	return string(runes[:limit-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// Grouped returns a number's decimal text with commas between the thousands: 12,345.67.
func Grouped(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	start := 0
	if strings.HasPrefix(whole, "-") {
		start = 1
	}
	for i := len(whole) - 3; i > start; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + When(point, "."+fraction)
}

// Arrivals returns an arrival rate as text, such as "100 jobs/s", or per minute or hour if it is below one.
func Arrivals(perSecond float64) string {
	switch {
	case perSecond >= 1:
		return Jobs(perSecond, 3) + "/s"
	case perSecond*60 >= 1:
		return Jobs(perSecond*60, 3) + "/min"
	}
	return Jobs(perSecond*3600, 3) + "/h"
}

// Jobs returns a mean number of jobs as text, rounded to digits: "1 job", "1,200 jobs".
func Jobs(n float64, digits int) string {
	number := Grouped(Digits(n, digits))
	return number + Either(number == "1", " job", " jobs")
}

// When returns words if holds is true, else "": for optional parts of a sentence.
func When(holds bool, words string) string {
	return Either(holds, words, "")
}

// Either returns one if holds is true, else other.
func Either[T any](holds bool, one, other T) T {
	if holds {
		return one
	}
	return other
}

// Joined returns the texts that are not empty, joined with between.
func Joined(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), between)
}

// Lines returns words joined by spaces to lines, at least one, for which fits is true; a long word has its own line.
func Lines(words []string, fits func(line string) bool) []string {
	lines := []string{""}
	for _, word := range words {
		last := &lines[len(lines)-1]
		switch longer := *last + " " + word; {
		case *last == "":
			*last = word
		case fits(longer):
			*last = longer
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Plural returns a number with its noun: "1 seed", "1,200 seeds", "2 policies".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "cy"); ok {
		noun = stem + "cie"
	}
	return fmt.Sprintf("%s %ss", Grouped(fmt.Sprint(n)), noun)
}

// Runs returns ascending numbers as texts, those without a gap as one: 1, 2, 3, 7 are "1-3" and "7", if dash is "-".
func Runs[T int | uint64](numbers []T, dash string) (runs []string) {
	for from := 0; from < len(numbers); {
		to := from
		for to+1 < len(numbers) && numbers[to+1] == numbers[to]+1 {
			to++
		}
		run := fmt.Sprint(numbers[from]) + When(to > from, dash+fmt.Sprint(numbers[to]))
		runs, from = append(runs, run), to+1
	}
	return runs
}

// Capital returns a text with its first letter in upper case.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Number returns a number as text in full precision; "" for NaN and infinities.
func Number(v float64) string {
	return When(!math.IsNaN(v) && !math.IsInf(v, 0), strconv.FormatFloat(v, 'g', -1, 64))
}

// Numbers returns each of the values as Number does.
func Numbers(values ...float64) []string { return Map(values, Number) }

// SettingSeconds returns a number of seconds as scenario files write durations: 30m, 1h30m, 500ms.
func SettingSeconds(seconds float64) string {
	return Setting(time.Duration(math.Round(seconds * 1e9)))
}
