package policies

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The types of parameters.
const (
	TypeShare        = "share"          // "80%", in [0%, 100%]
	TypeCountOrShare = "count-or-share" // of the engine's workers: "20" or "20%"
	TypeDuration     = "duration"       // "1.5s", at least 0
	TypeBool         = "bool"           // "true" or "false"
	TypeNumber       = "number"         // "500" or "10k", whole, at least 0
	TypeRate         = "rate"           // "10/s", at least 0; units s, m, h
	TypeChoice       = "choice"         // one of Param.Choices
	TypeQuantum      = "quantum"        // of service time or of jobs: "100ms" or "1", above 0; "mean": the mean cost of a job
	TypeWeights      = "weights"        // by job class: "{high: 10, low: 5}", whole, in [1, 10^6]
	TypeBudget       = "budget"         // "30s", or by job class: "{payments: 5s, mail: 1m}"
)

// Value is a parsed parameter. Values are comparable; the zero Value is none.
type Value struct {
	typ      string
	share    Share // TypeShare; TypeCountOrShare if isShare
	isShare  bool
	number   int64 // TypeNumber; TypeCountOrShare unless isShare
	duration time.Duration
	truth    bool
	rate     Rate
	text     string // TypeChoice; TypeWeights and TypeBudget by class, as String returns it
}

// TakesMapping reports whether values of a type may be mappings from job classes, which
// ParseValue reads in braces.
func TakesMapping(typ string) bool { return typ == TypeWeights || typ == TypeBudget }

// ParseValue reads text as a value of type typ, one of the Type constants. Its errors
// are about text alone; the caller adds where it stands.
func ParseValue(typ, text string) (Value, error) {
	v := Value{typ: typ}
	var err error
	switch typ {
	case TypeShare:
		v.share, err = ParseShare(text)
	case TypeCountOrShare:
		if v.isShare = strings.HasSuffix(text, "%"); v.isShare {
			v.share, err = ParseShare(text)
		} else {
			v.number, err = parseCount(text)
		}
	case TypeDuration:
		v.duration, err = parseDuration(text)
	case TypeBool:
		v.truth = text == "true"
		if !v.truth && text != "false" {
			err = fmt.Errorf("%q is not true or false", text)
		}
	case TypeNumber:
		v.number, err = parseCount(text)
	case TypeRate:
		v.rate, err = ParseRate(text)
	case TypeChoice:
		v.text = text
	case TypeQuantum:
		if v.text = text; text != meanQuantum {
			v.text = ""
			err = v.parseQuantum(text)
		}
	case TypeWeights, TypeBudget:
		err = v.parseByClass(text)
	default:
		err = fmt.Errorf("unknown parameter type %q", typ)
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// meanQuantum stands for the mean of what a job of each class costs.
const meanQuantum = "mean"

// Type returns the type that v was parsed as.
func (v Value) Type() string { return v.typ }

// String returns v as ParseValue reads it.
func (v Value) String() string {
	switch {
	case v.typ == TypeShare || v.isShare:
		return v.share.String()
	case v.text != "":
		return v.text
	case v.typ == TypeDuration || v.typ == TypeBudget || v.duration > 0:
		return v.duration.String()
	case v.typ == TypeBool:
		return strconv.FormatBool(v.truth)
	case v.typ == TypeRate:
		return v.rate.String()
	case v.typ == "":
		return ""
	}
	return strconv.FormatInt(v.number, 10)
}

// of returns the count that v, a count or share, is of workers: a share rounded to
// the nearest whole, but at least one unless it is 0 %.
func (v Value) of(workers int) int {
	switch num, _ := v.share.Fraction(); {
	case !v.isShare:
		return int(v.number)
	case num == 0:
		return 0
	}
	return max(1, v.share.Of(workers))
}

// ParseShare reads a share such as "20%" or "66.7%", in [0%, 100%], of at most seven
// decimals.
func ParseShare(text string) (Share, error) {
	body, isPercent := strings.CutSuffix(text, "%")
	num, den, err := parseDecimal(body, 7)
	switch {
	case err != nil:
		return Share{}, fmt.Errorf("bad share %q: %w", text, err)
	case num < 0:
		return Share{}, fmt.Errorf("%s is negative", text)
	case !isPercent && num <= den:
		return Share{}, fmt.Errorf("share %s has no unit: write %s", text, Fraction(num, den))
	case !isPercent && num <= 100*den:
		return Share{}, fmt.Errorf("share %s has no unit: write %s%%", text, text)
	case !isPercent:
		return Share{}, fmt.Errorf("share %s has no unit: write 80%%", text)
	case num > 100*den:
		return Share{}, fmt.Errorf("%s is more than 100%%", text)
	}
	return Fraction(num, 100*den), nil
}

// ParseRate reads a rate such as "10/s", "0.5/m" or "120/h".
func ParseRate(text string) (Rate, error) {
	body, unit, hasUnit := strings.Cut(text, "/")
	num, den, err := parseDecimal(strings.TrimSpace(body), 3)
	switch {
	case err != nil:
		return Rate{}, fmt.Errorf("bad rate %q: %w", text, err)
	case num < 0:
		return Rate{}, fmt.Errorf("%s is negative", text)
	case !hasUnit:
		return Rate{}, fmt.Errorf("rate %s has no unit: write %s/s", text, text)
	}
	for _, u := range rateUnits {
		if u.name == strings.TrimSpace(unit) {
			return Rate{num, den, u.per}, nil
		}
	}
	return Rate{}, fmt.Errorf("bad rate %q: unknown unit %q (want s, m or h)", text, unit)
}

func parseDuration(text string) (time.Duration, error) {
	if _, _, err := parseDecimal(text, 9); err == nil && text != "" {
		if text == "0" {
			return 0, errors.New("duration 0 has no unit: write 0s")
		}
		return 0, fmt.Errorf("duration %s has no unit: write %ss or %sms", text, text, text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("bad duration %q: want a number and a unit (ms, s, m, h), such as 1.5s or 1h30m", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s is negative", text)
	}
	return d, nil
}

// parseCount reads "500" or "10k". The largest is 2^31-1.
func parseCount(text string) (int64, error) {
	body, thousands := strings.CutSuffix(text, "k")
	num, den, err := parseDecimal(body, 3)
	if thousands {
		num *= 1000
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("bad count %q: %w", text, err)
	case num < 0:
		return 0, fmt.Errorf("%s is negative", text)
	case num%den != 0:
		return 0, fmt.Errorf("count %s is not a whole number", text)
	case num/den > math.MaxInt32:
		return 0, fmt.Errorf("count %s is too large: the most is %d", text, math.MaxInt32)
	}
	return num / den, nil
}

// parseDecimal reads a decimal number of at most places digits after the point as the
// exact fraction num/den, den a power of ten.
func parseDecimal(text string, places int) (num, den int64, err error) {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	digits := strings.TrimPrefix(whole, "-") + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" || hasPoint && fraction == "" {
		return 0, 1, errors.New("want a number such as 20 or 2.5")
	}
	if len(fraction) > places {
		return 0, 1, fmt.Errorf("at most %d digits may stand after the point", places)
	}
	if num, err = strconv.ParseInt(digits, 10, 64); err != nil || num > math.MaxInt64/1_000_000 {
		return 0, 1, errors.New("the number is too large")
	}
	den = 1
	for range fraction {
		den *= 10
	}
	if strings.HasPrefix(whole, "-") {
		num = -num
	}
	return num, den, nil
}
