package quantity

import (
	"cmp"
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// Count is a whole number of things, such as jobs or workers: 100, 100k, 1M.
type Count int

// String returns the count in digits.
func (c Count) String() string { return strconv.Itoa(int(c)) }

// UnmarshalText parses a count such as 100k, at most MostCount.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := parseCount(string(text), MostCount, "a whole number")
	*c = Count(n)
	return err
}

// parseCount parses a whole number in [0, most]; wanted describes the accepted values in error messages.
func parseCount(s string, most int64, wanted string) (int64, error) {
	if strings.HasPrefix(s, "-") && IsNumber(s) {
		return 0, Errorf("count %s is negative", Quote(s))
	}
	r, ok := ParseNumber(s)
	if !ok {
		if _, err := strconv.ParseFloat(s, 64); err == nil && IsNumber(s) {
			return 0, Errorf("count %s is out of range (at most %d)", Quote(s), most)
		}
		return 0, &Error{Message: "want " + wanted + ", not " + Quote(s),
			Help: "write " + cmp.Or(withoutCommas(s), "it in digits, such as 8, 100k or 1M")}
	}
	if !r.IsInt() {
		return 0, Errorf("want a whole number, not %s", Quote(s))
	}
	if err := octal(s); err != nil {
		return 0, err
	}
	if r.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, Errorf("count %s is too large (at most %d)", Quote(s), most)
	}
	return r.Num().Int64(), nil
}

// octal returns an error for a whole number with a leading zero, which may be read as octal; nil for any other text.
func octal(s string) error {
	digits := strings.TrimLeft(s, "+-")
	if len(digits) < 2 || digits[0] != '0' || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	plain := cmp.Or(strings.TrimLeft(digits, "0"), "0")
	if s[0] == '-' {
		plain = "-" + plain
	}
	return &Error{Message: s + " begins with a zero, which some programs read as octal", Help: "write " + plain}
}

// CheckDigits returns an error for a whole number that some programs read as another one, or not at all: 0x10, 0o10,
// 010 and 1_000; nil for any other number.
func CheckDigits(s string) error {
	if IsNumber(s) {
		return octal(s)
	}
	e := Errorf("want a whole number in digits, not %s", Quote(s))
	if digits := withoutCommas(s); digits != "" {
		e.Help = "write " + digits
	}
	return e
}

const unlimited = "unlimited"

// Limit is a limit on how often something may happen: a count of at least 0, or -1 for unlimited.
type Limit int32

// String returns the limit in digits, or "unlimited".
func (l Limit) String() string {
	if l < 0 {
		return unlimited
	}
	return strconv.Itoa(int(l))
}

// MarshalYAML returns the value for a YAML encoder: a number, or the word unlimited.
func (l Limit) MarshalYAML() (any, error) {
	if l < 0 {
		return unlimited, nil
	}
	return int(l), nil
}

// UnmarshalText parses a count in [0, MostAttempts], or "unlimited".
func (l *Limit) UnmarshalText(text []byte) error {
	if string(text) == unlimited {
		*l = -1
		return nil
	}
	n, err := parseCount(string(text), MostAttempts, "a whole number or `unlimited`")
	*l = Limit(n)
	return err
}

// Attempts is the most executions of a job, 0 for unlimited, which users write as that word.
type Attempts int32

// limit returns the value as a Limit, in which -1 is unlimited.
func (a Attempts) limit() Limit {
	if a == 0 {
		return -1
	}
	return Limit(a)
}

// String returns the number of attempts in digits, or "unlimited".
func (a Attempts) String() string { return a.limit().String() }

// MarshalYAML returns the value for a YAML encoder: a number, or the word unlimited.
func (a Attempts) MarshalYAML() (any, error) { return a.limit().MarshalYAML() }

// UnmarshalText parses a count in [1, MostAttempts], or "unlimited".
func (a *Attempts) UnmarshalText(text []byte) error {
	var l Limit
	if err := l.UnmarshalText(text); err != nil {
		return err
	}
	if l == 0 {
		return &Error{Message: "0 attempts would run no job at all",
			Help: "1 attempt means no retries; `unlimited` never gives up"}
	}
	*a = Attempts(max(l, 0))
	return nil
}

// Factor is a number to multiply something by, in (0, 10^6].
type Factor float64

// UnmarshalText parses a number in (0, 10^6] without a unit.
func (f *Factor) UnmarshalText(text []byte) error {
	value, err := parsePlain(string(text))
	if err == nil && (value <= 0 || value > 1e6) {
		return Errorf("%s is out of range: want more than 0 and at most 1000000", Quote(string(text)))
	}
	*f = Factor(value)
	return err
}

// Number is a number without a unit, in [0, 10^6].
type Number float64

// UnmarshalText parses a number in [0, 10^6] without a unit.
func (n *Number) UnmarshalText(text []byte) error {
	value, err := parsePlain(string(text))
	if err == nil && (value < 0 || value > 1e6) {
		return Errorf("%s is out of range: want at least 0 and at most 1000000", Quote(string(text)))
	}
	*n = Number(value)
	return err
}

func parsePlain(s string) (float64, error) {
	r, ok := ParseNumber(s)
	if !ok {
		if _, err := strconv.ParseFloat(s, 64); IsNumber(s) && (err == nil || errors.Is(err, strconv.ErrRange)) {
			return 0, Errorf("%s is out of range", Quote(s))
		}
		return 0, Errorf("want a number, not %s", Quote(s))
	}
	value, _ := r.Float64()
	return value, octal(s)
}
