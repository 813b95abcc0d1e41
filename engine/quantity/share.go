package quantity

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxDenominator is the largest denominator of a share: 10^-9 is finer than any run can show, and products of a share
// with a count of jobs, or with another share, fit in an int64.
const maxDenominator = 1_000_000_000

// Share is the exact fraction Num/Den in [0, 1], written as a percentage: 20%, 33.3%.
type Share struct{ Num, Den int64 } // the zero Share is 0%

// Percent returns the share of that many per cent. It panics for a number outside [0, 100].
func Percent(percent int) Share { return Fraction(int64(percent), 100) }

// Fraction returns the share num/den in lowest terms. It panics unless 0 <= num <= den and den is
// in [1, 10^9].
func Fraction(num, den int64) Share {
	if num < 0 || num > den || den < 1 || den > maxDenominator {
		panic(fmt.Sprintf("quantity: share %d/%d is not in [0, 1]", num, den))
	}
	r := big.NewRat(num, den)
	return Share{r.Num().Int64(), r.Denom().Int64()}
}

// Fraction returns the numerator and the denominator of the share; the zero Share is 0/1.
func (s Share) Fraction() (num, den int64) { return s.Num, max(1, s.Den) }

// Float returns the share as the nearest float in [0, 1].
func (s Share) Float() float64 {
	num, den := s.Fraction()
	return float64(num) / float64(den)
}

// Of returns this share of a number n, which is at least 0, rounded to the nearest whole number, halves up.
func (s Share) Of(n int) int {
	num, den := s.Fraction()
	return int((Scale(int64(n), 2*num, den) + 1) / 2)
}

// String returns the share as a percentage. A share without an exact decimal is rounded to seven places.
func (s Share) String() string {
	num, den := s.Fraction()
	return Decimal(new(big.Rat).Mul(big.NewRat(num, den), big.NewRat(100, 1)), 7) + "%"
}

// MarshalText returns the share as text in the form of String, such as 20%.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses a percentage in [0%, 100%], such as 33.3%.
func (s *Share) UnmarshalText(text []byte) error {
	word := string(text)
	bad := &Error{Message: "bad share " + Quote(word), Help: "write a percentage, such as 20% or 2.5%"}
	number, found := strings.CutSuffix(word, "%")
	if !found {
		if f, err := strconv.ParseFloat(word, 64); err == nil && IsNumber(word) {
			if f < 0 {
				return Errorf("share %s is negative", Quote(word))
			}
			if f > 0 && f <= 1 {
				return Errorf("share %s has no percent sign: write %s%%", word, strconv.FormatFloat(f*100, 'g', 10, 64))
			}
			return Errorf("share %s has no percent sign: write %[1]s%%", Quote(word))
		}
		return bad
	}
	value, ok := ParseNumber(strings.TrimSpace(number))
	if !ok || strings.HasSuffix(number, "k") || strings.HasSuffix(number, "M") {
		if _, err := strconv.ParseFloat(number, 64); IsNumber(number) && err == nil && !strings.HasPrefix(number, "-") {
			return Errorf("share %s is out of range (0%% to 100%%)", Quote(word))
		}
		return bad
	}
	if value.Sign() < 0 {
		return Errorf("share %s is negative", Quote(word))
	}
	if value.Cmp(big.NewRat(100, 1)) > 0 {
		return Errorf("share %s is over 100%%", Quote(word))
	}
	value.Quo(value, big.NewRat(100, 1))
	if !value.Denom().IsInt64() || value.Denom().Int64() > maxDenominator {
		return Errorf("share %s has too many digits (at most 7 after the point)", Quote(word))
	}
	*s = Share{value.Num().Int64(), value.Denom().Int64()}
	return nil
}

// CountOrShare is either a count or a share of some total: 20 or 20%.
type CountOrShare struct {
	Count   Count
	Share   Share
	IsShare bool
}

// Of returns the number that the value stands for in a total of n: a count, but at most n, or a share of n, rounded up.
func (c CountOrShare) Of(n int) int {
	if c.IsShare {
		num, den := c.Share.Fraction()
		return int((int64(n)*num + den - 1) / den)
	}
	return min(int(c.Count), n)
}

// String returns the count in digits or the share as a percentage.
func (c CountOrShare) String() string {
	if c.IsShare {
		return c.Share.String()
	}
	return c.Count.String()
}

// MarshalText returns the value as text in the form of String: 20 or 20%.
func (c CountOrShare) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a count or a percentage: 20 or 20%.
func (c *CountOrShare) UnmarshalText(text []byte) error {
	*c = CountOrShare{IsShare: strings.HasSuffix(string(text), "%")}
	if c.IsShare {
		return c.Share.UnmarshalText(text)
	}
	err := c.Count.UnmarshalText(text)
	if e, ok := err.(*Error); ok && e.Help != "" {
		return &Error{Message: "want a count or a share, not " + Quote(string(text)), Help: "write 20 or 20%"}
	}
	return err
}
