package quantity

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// What authors write that other tools take: durations with other units, as a clock shows them, or as ISO 8601 has them;
// rates per another time; commas in numbers.

// otherUnits maps names of units of time in other tools to their lengths, for suggestions in errors.
var otherUnits = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"msec": time.Millisecond, "millis": time.Millisecond, "millisecond": time.Millisecond,
	"milliseconds": time.Millisecond, "ms": time.Millisecond,
	"usec": time.Microsecond, "micros": time.Microsecond, "microsecond": time.Microsecond,
	"microseconds": time.Microsecond, "us": time.Microsecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}

var (
	numberAndUnit = regexp.MustCompile(`^([0-9][0-9.]*) *([A-Za-z]+)$`)
	ofClock       = regexp.MustCompile(`^(?:([0-9]{1,3}):)?([0-9]{1,2}):([0-9]{2})$`)
	ofISO         = regexp.MustCompile(`^P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?$`)
	withCommas    = regexp.MustCompile(`^([0-9]{1,3}(?:[,_'][0-9]{3})+)(.*)$`)
	perTime       = regexp.MustCompile(`^([0-9][0-9.]*) *(?:/| per ) *(?:([0-9]+) *)?([A-Za-z]+)$`)
)

// meantDuration returns "2 days", PT48H or 48:00:00 as 48h, for an error's suggestion; "" for any other text.
func meantDuration(s string) string {
	if plain := withoutCommas(s); plain != "" && unknownUnit(plain) == "" {
		return plain
	}
	if m := numberAndUnit.FindStringSubmatch(s); m != nil && otherUnits[strings.ToLower(m[2])] > 0 {
		if number, ok := ParseNumber(m[1]); ok {
			return durationOf(number, otherUnits[strings.ToLower(m[2])])
		}
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	m := ofClock.FindStringSubmatch(s)
	if m == nil {
		units = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
		if m = ofISO.FindStringSubmatch(s); m == nil || len(s) < 3 {
			return ""
		}
	}
	sum := time.Duration(0)
	for i, unit := range units {
		n, err := strconv.ParseInt(m[i+1], 10, 32)
		if err == nil {
			sum += time.Duration(n) * unit
		}
	}
	if sum < 0 || sum > Longest {
		return ""
	}
	return Duration(sum).String()
}

func durationOf(number *big.Rat, unit time.Duration) string {
	exact := new(big.Rat).Mul(number, big.NewRat(int64(unit), 1))
	if !exact.IsInt() || !exact.Num().IsInt64() || time.Duration(exact.Num().Int64()) > Longest {
		return ""
	}
	return Duration(exact.Num().Int64()).String()
}

// meantRate returns "300 per min" or "5 rps" as 5/s, for an error's suggestion; "" for any other text.
func meantRate(s string) string {
	if plain := withoutCommas(s); plain != "" {
		s = plain
		if _, unit, found := strings.Cut(s, "/"); found && perUnit[strings.TrimSpace(unit)] > 0 {
			return s
		}
	}
	for _, unit := range []string{"rps", "qps", "tps", "hz", "req/s", "jobs/s", "requests/s"} {
		if number, found := strings.CutSuffix(strings.ToLower(s), unit); found && IsNumber(strings.TrimSpace(number)) {
			return strings.TrimSpace(number) + "/s"
		}
	}
	m := perTime.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	number, ok := ParseNumber(m[1])
	per := otherUnits[strings.ToLower(m[3])]
	if !ok || per == 0 {
		return ""
	}
	if n, err := strconv.ParseInt(m[2], 10, 32); err == nil && n > 0 {
		per *= time.Duration(n)
	}
	for _, unit := range []string{"s", "m", "h"} { // the first in which it is a short number
		rate := new(big.Rat).Mul(number, big.NewRat(int64(perUnit[unit]), int64(per)))
		if thousandths := new(big.Rat).Mul(rate, big.NewRat(1000, 1)); rate.Sign() > 0 && thousandths.IsInt() {
			return Decimal(rate, 3) + "/" + unit
		}
	}
	return ""
}

// withoutCommas returns a text without the commas between the thousands of the number at its start; "" if it has none.
func withoutCommas(s string) string {
	m := withCommas.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return strings.NewReplacer(",", "", "_", "", "'", "").Replace(m[1]) + m[2]
}
