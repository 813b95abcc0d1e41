package scenarios

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Bounds of single values. They keep every product that a run computes inside an
// int64 of nanoseconds and every run inside the memory of one machine.
const (
	LongestDuration = 10 * 365 * 24 * time.Hour // a duration
	fastest         = 1_000_000_000             // events per second
	mostAttempts    = 1_000_000
	mostCount       = 1_000_000_000
)

// valueError is what is wrong with one value, in words for its author.
type valueError struct {
	message, help, note string
}

// Error returns the message without its help.
func (e *valueError) Error() string { return e.message }

func badValue(format string, arguments ...any) *valueError {
	return &valueError{message: fmt.Sprintf(format, arguments...)}
}

// Duration is a length of virtual time: at least 0 and at most ten years, written
// with a unit, as in 500ms, 1.5s, 2m, 1h30m.
type Duration time.Duration

// Std returns d for use with the rest of Go.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String writes d as a scenario does, exactly, without parts that are zero.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	rest := time.Duration(d)
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}} {
		if n := rest / unit.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit.name)
			rest %= unit.size
		}
	}
	if rest > 0 {
		// Under a minute it is one number and one unit.
		b.WriteString(strings.Replace(rest.String(), "µ", "u", 1))
	}
	return b.String()
}

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration with its unit.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	value, err := parseDuration(s)
	if err != nil {
		return err
	}
	*d = Duration(value)
	return nil
}

func parseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil && isNumber(s) {
		if strings.HasPrefix(s, "-") {
			return 0, badValue("duration %s is negative", Quoted(s))
		}
		if s == "0" {
			return 0, badValue("duration 0 has no unit: write 0s")
		}
		return 0, badValue("duration %s has no unit: write %[1]ss or %[1]sms", s)
	}
	value, err := time.ParseDuration(s)
	if err != nil {
		if unit := unknownUnit(s); unit != "" {
			return 0, badValue("bad duration %s: unknown unit %s (want us, ms, s, m or h)", Quoted(s), Quoted(unit))
		}
		if startsWithNumber(s) && unitsOnly(s) {
			return 0, badValue("duration %s is too long (at most 10 years, 87600h)", Quoted(s))
		}
		return 0, &valueError{message: fmt.Sprintf("bad duration %s", Quoted(s)), help: "write a number and a unit, such as 500ms, 1.5s, 2m or 1h30m"}
	}
	if value < 0 {
		return 0, badValue("duration %s is negative", Quoted(s))
	}
	if value > LongestDuration {
		return 0, badValue("duration %s is too long (at most 10 years, 87600h)", Quoted(s))
	}
	return value, nil
}

// isNumber tells plain decimals from what ParseFloat takes besides: hexadecimals,
// infinities, NaN.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "+-.0123456789eE") == "" && strings.ContainsAny(s, "0123456789")
}

func startsWithNumber(s string) bool {
	s = strings.TrimLeft(s, "+-.")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// unknownUnit returns the first unit in s that durations do not have.
func unknownUnit(s string) string {
	if !startsWithNumber(s) {
		return ""
	}
	for _, unit := range strings.FieldsFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune("+-.", r) }) {
		switch unit {
		case "ns", "us", "µs", "μs", "ms", "s", "m", "h":
		default:
			return strings.TrimSpace(unit)
		}
	}
	return ""
}

// unitsOnly reports whether every number of s has a unit, so that ParseDuration can
// only have found it too large.
func unitsOnly(s string) bool {
	return strings.Trim(s, "0123456789.") != "" && strings.HasSuffix(strings.TrimRight(s, "0123456789."), s[len(s)-1:])
}

// parseNumber reads a plain decimal number, exactly, with an optional k or M.
func parseNumber(s string) (*big.Rat, bool) {
	digits, scale := s, int64(1)
	switch {
	case strings.HasSuffix(s, "k"):
		digits, scale = s[:len(s)-1], 1000
	case strings.HasSuffix(s, "M"):
		digits, scale = s[:len(s)-1], 1_000_000
	}
	if !isNumber(digits) || len(digits) > 40 {
		return nil, false
	}
	// An exponent of many digits would make SetString build a number of as many.
	if f, err := strconv.ParseFloat(digits, 64); err != nil || f != 0 && (math.Abs(f) > 1e18 || math.Abs(f) < 1e-18) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, false
	}
	return r.Mul(r, big.NewRat(scale, 1)), true
}

// Count is a whole number of things: 100, 100k, 1M.
type Count int

// String writes c in digits.
func (c Count) String() string { return strconv.Itoa(int(c)) }

// UnmarshalText reads a count.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := parseCount(string(text), mostCount)
	if err != nil {
		return err
	}
	*c = Count(n)
	return nil
}

func parseCount(s string, most int64) (int64, error) {
	if strings.HasPrefix(s, "-") && isNumber(s) {
		return 0, badValue("count %s is negative", Quoted(s))
	}
	r, ok := parseNumber(s)
	if !ok {
		if _, err := strconv.ParseFloat(s, 64); err == nil && isNumber(s) {
			return 0, badValue("count %s is out of range (at most %d)", Quoted(s), most)
		}
		return 0, &valueError{message: fmt.Sprintf("want a whole number, not %s", Quoted(s)), help: "write it in digits, such as 8, 100k or 1M"}
	}
	if !r.IsInt() {
		return 0, badValue("want a whole number, not %s", Quoted(s))
	}
	if r.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, badValue("count %s is too large (at most %d)", Quoted(s), most)
	}
	return r.Num().Int64(), nil
}

// Attempts is a limit on executions; 0 means unlimited, and is written so.
type Attempts int32

// String writes a as a number or "unlimited".
func (a Attempts) String() string {
	if a == 0 {
		return "unlimited"
	}
	return strconv.Itoa(int(a))
}

// MarshalYAML writes a as String does; numbers stay numbers.
func (a Attempts) MarshalYAML() (any, error) {
	if a == 0 {
		return "unlimited", nil
	}
	return int(a), nil
}

// Retries is a limit on executions after the first: -1 means unlimited.
type Retries int32

// UnmarshalText reads a count or "unlimited".
func (r *Retries) UnmarshalText(text []byte) error {
	if string(text) == "unlimited" {
		*r = -1
		return nil
	}
	n, err := parseLimit(string(text))
	*r = Retries(n)
	return err
}

// UnmarshalText reads a count of at least 1, or "unlimited".
func (a *Attempts) UnmarshalText(text []byte) error {
	if string(text) == "unlimited" {
		*a = 0
		return nil
	}
	n, err := parseLimit(string(text))
	if err != nil {
		return err
	}
	if n == 0 {
		return &valueError{message: "0 attempts would run no job at all", help: "1 attempt means no retries; `unlimited` never gives up"}
	}
	*a = Attempts(n)
	return nil
}

func parseLimit(s string) (int64, error) {
	n, err := parseCount(s, mostAttempts)
	if e, ok := err.(*valueError); ok && e.help != "" {
		e.message = fmt.Sprintf("want a whole number or `unlimited`, not %s", Quoted(s))
	}
	return n, err
}

// Factor is a multiple of something, in (0, 10^6].
type Factor float64

// UnmarshalText reads a plain number.
func (f *Factor) UnmarshalText(text []byte) error {
	s := string(text)
	r, ok := parseNumber(s)
	if !ok {
		return badValue("want a number, not %s", Quoted(s))
	}
	value, _ := r.Float64()
	if value <= 0 || value > 1e6 {
		return badValue("%s is out of range: want more than 0 and at most 1000000", Quoted(s))
	}
	*f = Factor(value)
	return nil
}

// Quoted writes what a user typed, short enough for one line.
func Quoted(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if isNumber(s) {
		return s
	}
	return strconv.Quote(s)
}
