package scenarios

import (
	"strconv"
	"strings"
	"time"
)

// Limit is how often something may be: a count of at least 0, or -1 for unlimited.
type Limit int32

// String writes l as a number or "unlimited".
func (l Limit) String() string {
	if l < 0 {
		return "unlimited"
	}
	return strconv.Itoa(int(l))
}

// MarshalYAML writes l as String does; numbers stay numbers.
func (l Limit) MarshalYAML() (any, error) {
	if l < 0 {
		return "unlimited", nil
	}
	return int(l), nil
}

// UnmarshalText reads a count or "unlimited".
func (l *Limit) UnmarshalText(text []byte) error {
	return (*Retries)(l).UnmarshalText(text)
}

// Number is a plain number in [0, 10^6].
type Number float64

// UnmarshalText reads a plain number.
func (n *Number) UnmarshalText(text []byte) error {
	s := string(text)
	r, ok := parseNumber(s)
	if !ok {
		return badValue("want a number, not %s", Quoted(s))
	}
	value, _ := r.Float64()
	if value < 0 || value > 1e6 {
		return badValue("%s is out of range: want at least 0 and at most 1000000", Quoted(s))
	}
	*n = Number(value)
	return nil
}

// Offset is a length of time forward, or with a minus sign backward: 30s, -30s.
type Offset time.Duration

// Std returns o for use with the rest of Go.
func (o Offset) Std() time.Duration { return time.Duration(o) }

// String writes o as a scenario does.
func (o Offset) String() string {
	if o < 0 {
		return "-" + Duration(-o).String()
	}
	return Duration(o).String()
}

// MarshalText writes o as String does.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a duration with its unit, and perhaps a sign.
func (o *Offset) UnmarshalText(text []byte) error {
	rest, back := strings.CutPrefix(string(text), "-")
	value, err := parseDuration(strings.TrimPrefix(rest, "+"))
	if err != nil {
		return err
	}
	if *o = Offset(value); back {
		*o = -*o
	}
	return nil
}
