package policies

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// maxDenominator bounds fractions so that a count of jobs times one fits in 64 bits.
const maxDenominator = 1_000_000_000

// Share is an exact fraction in [0, 1]. The zero Share is 0 %.
type Share struct{ num, den int64 }

// Percent returns the share of percent in a hundred. It panics outside [0, 100].
func Percent(percent int) Share { return Fraction(int64(percent), 100) }

// Fraction returns the share num/den. It panics unless 0 <= num <= den and den is in
// [1, 10^9].
func Fraction(num, den int64) Share {
	if num < 0 || num > den || den < 1 || den > maxDenominator {
		panic(fmt.Sprintf("policies: share %d/%d is not in [0, 1]", num, den))
	}
	d := greatestCommonDivisor(num, den)
	return Share{num / d, den / d}
}

func greatestCommonDivisor(a, b int64) int64 {
	for a != 0 {
		a, b = b%a, a
	}
	return b
}

// Fraction returns the numerator and the denominator of s in lowest terms.
func (s Share) Fraction() (num, den int64) { return s.num, max(1, s.den) }

// Float returns s as the nearest number in [0, 1].
func (s Share) Float() float64 {
	num, den := s.Fraction()
	return float64(num) / float64(den)
}

// Of returns s of n, n at least 0, rounded to the nearest whole, halves up.
func (s Share) Of(n int) int {
	num, den := s.Fraction()
	return int((scale(int64(n), 2*num, den) + 1) / 2)
}

// String returns s as scenarios spell it: "20%", "66.7%". A share that no decimal
// spells exactly is cut after seven places.
func (s Share) String() string {
	num, den := s.Fraction()
	text := strconv.FormatFloat(float64(num*100)/float64(den), 'f', 7, 64)
	return trimZeros(text) + "%"
}

func trimZeros(decimal string) string {
	for decimal[len(decimal)-1] == '0' {
		decimal = decimal[:len(decimal)-1]
	}
	if decimal[len(decimal)-1] == '.' {
		decimal = decimal[:len(decimal)-1]
	}
	return decimal
}

// scale returns n·num/den rounded down, or the largest int64 if it is larger. n and
// num are at least 0, den at least 1.
func scale(n, num, den int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(num))
	if high >= uint64(den) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, uint64(den))
	return int64(min(quotient, math.MaxInt64))
}

// Rate is an exact number of events in a time. The zero Rate is none.
type Rate struct {
	num, den int64
	per      time.Duration
}

// PerSecond returns the rate of count events a second. It panics if count is
// negative.
func PerSecond(count int64) Rate {
	if count < 0 {
		panic(fmt.Sprintf("policies: rate %d/s is negative", count))
	}
	return Rate{count, 1, time.Second}
}

// maxEvents bounds what Rate.In answers, so that it can be multiplied by a
// denominator.
const maxEvents = 1_000_000_000

// In returns how many whole events r makes in d, at most 10^9. d is at least 0.
func (r Rate) In(d time.Duration) int64 {
	if r.num == 0 {
		return 0
	}
	return min(maxEvents, scale(int64(d), r.num, r.den*int64(r.per)))
}

// String returns r as scenarios spell it: "10/s", "0.5/m".
func (r Rate) String() string {
	unit := "s"
	for _, u := range rateUnits {
		if u.per == r.per {
			unit = u.name
		}
	}
	return trimZeros(strconv.FormatFloat(float64(r.num)/float64(max(1, r.den)), 'f', 9, 64)) + "/" + unit
}

var rateUnits = [...]struct {
	name string
	per  time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}}
