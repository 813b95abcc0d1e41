package scenarios

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Rate is Num/Den events per Per, exactly: 120/s, 3/m, 10/h, 0.5/s.
type Rate struct {
	Num, Den int64
	Per      time.Duration // a second, a minute or an hour
}

// PerSecond returns the rate in events per second.
func (r Rate) PerSecond() float64 {
	if r.Den == 0 {
		return 0
	}
	return float64(r.Num) / float64(r.Den) / r.Per.Seconds()
}

// String writes r as a scenario does.
func (r Rate) String() string {
	unit := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[r.Per]
	return decimal(r.Num, r.Den) + "/" + unit
}

// MarshalText writes r as String does.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a number and a unit of time.
func (r *Rate) UnmarshalText(text []byte) error {
	s := string(text)
	number, unit, found := strings.Cut(s, "/")
	number, unit = strings.TrimSpace(number), strings.TrimSpace(unit)
	if !found {
		if isNumber(s) {
			return badValue("rate %s has no unit: write %[1]s/s, %[1]s/m or %[1]s/h", Quoted(s))
		}
		return &valueError{message: "bad rate " + Quoted(s), help: "write a number and a unit of time, such as 120/s, 3/m or 10/h"}
	}
	var per time.Duration
	switch unit {
	case "s":
		per = time.Second
	case "m":
		per = time.Minute
	case "h":
		per = time.Hour
	default:
		return badValue("bad rate %s: unknown unit %s (want s, m or h)", Quoted(s), Quoted(unit))
	}
	if f, err := strconv.ParseFloat(number, 64); isNumber(number) && (err != nil || math.Abs(f) >= 1e18) {
		return badValue("rate %s is too high (at most %d/s)", Quoted(s), int64(fastest))
	}
	value, ok := parseNumber(number)
	if !ok || !value.Num().IsInt64() || !value.Denom().IsInt64() {
		return &valueError{message: "bad rate " + Quoted(s), help: "write a number and a unit of time, such as 120/s, 3/m or 10/h"}
	}
	if value.Sign() < 0 {
		return badValue("rate %s is negative", Quoted(s))
	}
	rate := Rate{Num: value.Num().Int64(), Den: value.Denom().Int64(), Per: per}
	if rate.PerSecond() > fastest {
		return badValue("rate %s is too high (at most %d/s)", Quoted(s), int64(fastest))
	}
	*r = rate
	return nil
}

// Share is the exact fraction Num/Den in [0, 1], written as a percentage: 20%, 33.3%.
type Share struct{ Num, Den int64 }

// Float returns s as a number in [0, 1].
func (s Share) Float() float64 {
	if s.Den == 0 {
		return 0
	}
	return float64(s.Num) / float64(s.Den)
}

// String writes s as a scenario does.
func (s Share) String() string {
	if s.Den == 0 {
		return "0%"
	}
	percent := new(big.Rat).Mul(big.NewRat(s.Num, s.Den), big.NewRat(100, 1))
	return decimal(percent.Num().Int64(), percent.Denom().Int64()) + "%"
}

// MarshalText writes s as String does.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a percentage.
func (s *Share) UnmarshalText(text []byte) error {
	word := string(text)
	number, found := strings.CutSuffix(word, "%")
	if !found {
		if f, err := strconv.ParseFloat(word, 64); err == nil && isNumber(word) {
			if f > 0 && f <= 1 {
				return badValue("share %s has no percent sign: write %s%%", word, strconv.FormatFloat(f*100, 'g', 10, 64))
			}
			return badValue("share %s has no percent sign: write %[1]s%%", Quoted(word))
		}
		return &valueError{message: "bad share " + Quoted(word), help: "write a percentage, such as 20% or 2.5%"}
	}
	value, ok := parseNumber(strings.TrimSpace(number))
	if !ok || strings.HasSuffix(number, "k") || strings.HasSuffix(number, "M") {
		if _, err := strconv.ParseFloat(number, 64); isNumber(number) && err == nil && !strings.HasPrefix(number, "-") {
			return badValue("share %s is out of range (0%% to 100%%)", Quoted(word))
		}
		return &valueError{message: "bad share " + Quoted(word), help: "write a percentage, such as 20% or 2.5%"}
	}
	if value.Sign() < 0 {
		return badValue("share %s is negative", Quoted(word))
	}
	if value.Cmp(big.NewRat(100, 1)) > 0 {
		return badValue("share %s is over 100%%", Quoted(word))
	}
	value.Quo(value, big.NewRat(100, 1))
	// 10^-9 is finer than any run can tell, and keeps the products of two shares in an int64.
	if !value.Denom().IsInt64() || value.Denom().Int64() > 1_000_000_000 {
		return badValue("share %s has too many digits (at most 7 after the point)", Quoted(word))
	}
	*s = Share{value.Num().Int64(), value.Denom().Int64()}
	return nil
}

// CountOrShare is either a count or a share of something.
type CountOrShare struct {
	Count   Count
	Share   Share
	IsShare bool
}

// Of returns how many of n are meant: the count itself, or the share rounded up,
// and never more than n.
func (c CountOrShare) Of(n int) int {
	if c.IsShare {
		return int((int64(n)*c.Share.Num + c.Share.Den - 1) / c.Share.Den)
	}
	return min(int(c.Count), n)
}

// String writes c as a scenario does.
func (c CountOrShare) String() string {
	if c.IsShare {
		return c.Share.String()
	}
	return c.Count.String()
}

// UnmarshalText reads a count or a percentage.
func (c *CountOrShare) UnmarshalText(text []byte) error {
	if strings.HasSuffix(string(text), "%") {
		c.IsShare = true
		return c.Share.UnmarshalText(text)
	}
	c.IsShare = false
	err := c.Count.UnmarshalText(text)
	if e, ok := err.(*valueError); ok && e.help != "" {
		return &valueError{message: fmt.Sprintf("want a count or a share, not %s", Quoted(string(text))), help: "write 20 or 20%"}
	}
	return err
}

// decimal writes num/den, whose den divides a power of ten, without loss.
func decimal(num, den int64) string {
	if den == 0 {
		return "0"
	}
	s := big.NewRat(num, den).FloatString(18)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
