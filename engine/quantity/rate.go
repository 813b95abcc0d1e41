package quantity

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Rate is an exact number of events, Num/Den, in a unit of time, Per: 120/s, 3/m, 10/h, 0.5/s.
type Rate struct { // the zero Rate is none
	Num, Den int64
	Per      time.Duration // a second, a minute or an hour
}

var perUnit = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// PerSecond returns the rate in events per second.
func (r Rate) PerSecond() float64 {
	if r.Den == 0 {
		return 0
	}
	return float64(r.Num) / float64(r.Den) / r.Per.Seconds()
}

// String returns the rate as text with the unit of time that it was read with, such as 3/m.
func (r Rate) String() string {
	unit := cmp.Or(map[time.Duration]string{time.Minute: "/m", time.Hour: "/h"}[r.Per], "/s")
	return Decimal(big.NewRat(r.Num, max(1, r.Den)), 18) + unit
}

// MarshalText returns the rate as text in the form of String, such as 3/m.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses a rate: a number and a unit of time, such as 3/m.
func (r *Rate) UnmarshalText(text []byte) error {
	s := string(text)
	meant := meantRate(s)
	bad := &Error{Message: "bad rate " + Quote(s),
		Help: "write " + cmp.Or(meant, "a number and a unit of time, such as 120/s, 3/m or 10/h")}
	number, unit, found := strings.Cut(s, "/")
	number, unit = strings.TrimSpace(number), strings.TrimSpace(unit)
	if !found {
		if IsNumber(s) {
			if strings.HasPrefix(s, "-") {
				return Errorf("rate %s is negative", Quote(s))
			}
			return Errorf("rate %s has no unit: write %[1]s/s, %[1]s/m or %[1]s/h", Quote(s))
		}
		return bad
	}
	per, known := perUnit[unit]
	if !known {
		e := Errorf("bad rate %s: unknown unit %s (want s, m or h)", Quote(s), Quote(unit))
		if meant != "" {
			e.Help = bad.Help
		}
		return e
	}
	if f, err := strconv.ParseFloat(number, 64); IsNumber(number) && (err != nil || math.Abs(f) >= 1e18) {
		return Errorf("rate %s is too high (at most %d/s)", Quote(s), int64(Fastest))
	}
	value, ok := ParseNumber(number)
	if !ok || !value.Num().IsInt64() || !value.Denom().IsInt64() {
		return bad
	}
	if value.Sign() < 0 {
		return Errorf("rate %s is negative", Quote(s))
	}
	rate := Rate{Num: value.Num().Int64(), Den: value.Denom().Int64(), Per: per}
	if rate.PerSecond() > Fastest {
		return Errorf("rate %s is too high (at most %d/s)", Quote(s), int64(Fastest))
	}
	*r = rate
	return nil
}
