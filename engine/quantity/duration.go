package quantity

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of virtual time: at least 0 and at most ten years, written
// with a unit, as in 500ms, 1.5s, 2m, 1h30m.
type Duration time.Duration

// Std returns the duration as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns the duration exactly, without parts that are zero: 1h30m.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	text, rest := "", d.Std()
	if n := rest / time.Hour; n > 0 {
		text, rest = fmt.Sprintf("%dh", n), rest%time.Hour
	}
	if n := rest / time.Minute; n > 0 {
		text, rest = fmt.Sprintf("%s%dm", text, n), rest%time.Minute
	}
	if rest > 0 { // under a minute it is one number and one unit
		text += strings.Replace(rest.String(), "µ", "u", 1)
	}
	return text
}

// MarshalText returns the duration as text in the form of String, such as 1h30m.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a duration such as 1h30m.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(value)
	return nil
}

// ParseDuration parses a duration with a unit, such as 1h30m, in [0, Longest]. Its *Error suggests what may be meant.
func ParseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil && IsNumber(s) {
		if strings.HasPrefix(s, "-") {
			return 0, Errorf("duration %s is negative", Quote(s))
		}
		if s == "0" {
			return 0, Errorf("duration 0 has no unit: write 0s")
		}
		return 0, Errorf("duration %s has no unit: write %[1]ss or %[1]sms", s)
	}
	value, err := time.ParseDuration(s)
	bad := &Error{Message: "bad duration " + Quote(s)}
	if meant := meantDuration(s); err != nil && meant != "" {
		bad.Help = "write " + meant
		if together := strings.ReplaceAll(s, " ", ""); together != s && unknownUnit(together) == "" {
			bad.Message, bad.Help = bad.Message+": a space in it", "no space: write "+together
		} else if unit := unknownUnit(s); unit != "" && unit != ":" && unit != "," {
			bad.Message += ": unknown unit " + Quote(unit)
		}
		return 0, bad
	}
	switch unit := unknownUnit(s); {
	case err != nil && unit != "":
		return 0, Errorf("bad duration %s: unknown unit %s (want us, ms, s, m or h)", Quote(s), Quote(unit))
	case err != nil && !(startsWithNumber(s) && unitsOnly(s)):
		bad.Help = "write a number and a unit, such as 500ms, 1.5s, 2m or 1h30m"
		return 0, bad
	case err == nil && value < 0:
		return 0, Errorf("duration %s is negative", Quote(s))
	case err != nil || value > Longest:
		return 0, Errorf("duration %s is too long (at most 10 years, 87600h)", Quote(s))
	}
	return value, nil
}

func startsWithNumber(s string) bool {
	s = strings.TrimLeft(s, "+-.")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// unknownUnit returns the first unit of time in a text that durations do not have; "" if there is none.
func unknownUnit(s string) string {
	if !startsWithNumber(s) {
		return ""
	}
	for _, unit := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("+-.0123456789", r) }) {
		switch unit {
		case "ns", "us", "µs", "μs", "ms", "s", "m", "h":
		default:
			return strings.TrimSpace(unit)
		}
	}
	return ""
}

// unitsOnly reports whether every number in a text has a unit, so that an error of time.ParseDuration can only mean
// that the duration is too large.
func unitsOnly(s string) bool {
	return strings.Trim(s, "0123456789.") != "" && strings.HasSuffix(strings.TrimRight(s, "0123456789."), s[len(s)-1:])
}

// Offset is a signed length of time, such as the error of a clock: 30s is forward, -30s backward.
type Offset time.Duration

// Std returns the offset as a time.Duration.
func (o Offset) Std() time.Duration { return time.Duration(o) }

// String returns the offset as a Duration is written, after a minus sign if it is negative: -30s.
func (o Offset) String() string {
	if o < 0 {
		return "-" + Duration(-o).String()
	}
	return Duration(o).String()
}

// MarshalText returns the offset as text in the form of String, such as -30s.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText parses a duration with an optional sign, such as -30s.
func (o *Offset) UnmarshalText(text []byte) error {
	rest, back := strings.CutPrefix(string(text), "-")
	value, err := ParseDuration(strings.TrimPrefix(rest, "+"))
	if err != nil {
		return err
	}
	if *o = Offset(value); back {
		*o = -*o
	}
	return nil
}
