package world

import (
	"math/big"
	"math/bits"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// Speed is the ratio of scenario time to wall-clock time: Num/Den, exactly, both in [1, 10^6]. The zero Speed is no
// speed.
type Speed struct{ Num, Den int64 }

// mostSpeed is the largest Speed; its inverse is the smallest.
const mostSpeed = 1_000_000

// ParseSpeed parses a speed such as 20x, 7.5x or 0.5x.
func ParseSpeed(text string) (Speed, error) {
	body, found := strings.CutSuffix(strings.TrimSpace(text), "x")
	if !found {
		body, found = strings.CutSuffix(body, "×")
	}
	if !found && quantity.IsNumber(body) {
		return Speed{}, quantity.Errorf("speed %s has no unit: write %[1]sx", quantity.Quote(text))
	}
	value, ok := quantity.ParseNumber(body)
	if !found || !ok || strings.ContainsAny(body, "kM") {
		return Speed{}, quantity.Errorf("bad speed %s: want how many times as fast as the scenario, such as 20x or 0.5x",
			quantity.Quote(text))
	}
	limit := big.NewRat(mostSpeed, 1)
	if value.Sign() <= 0 || value.Cmp(limit) > 0 || value.Cmp(new(big.Rat).Inv(limit)) < 0 {
		return Speed{}, quantity.Errorf("speed %s is out of range: want 0.000001x to %dx", quantity.Quote(text), mostSpeed)
	}
	if !value.IsInt() && (value.Num().Cmp(limit.Num()) > 0 || value.Denom().Cmp(limit.Num()) > 0) {
		return Speed{}, quantity.Errorf("speed %s has too many digits", quantity.Quote(text))
	}
	return Speed{value.Num().Int64(), value.Denom().Int64()}, nil
}

// String returns the speed in the form that ParseSpeed parses.
func (s Speed) String() string { return quantity.Decimal(big.NewRat(s.Num, s.Den), 18) + "x" }

// Float returns the speed as a number.
func (s Speed) Float() float64 { return float64(s.Num) / float64(s.Den) }

// Real converts a duration of the scenario to the wall clock, to the nearest nanosecond, and to at least one if d is
// above 0. Forever stays as it is, and so does a negative duration, which has another meaning.
func (s Speed) Real(d time.Duration) time.Duration {
	if d <= 0 || d == engine.Forever {
		return d
	}
	return max(1, ratioOf(d, s.Den, s.Num))
}

// Virtual converts a duration of the wall clock to the scenario's time, to the nearest nanosecond.
func (s Speed) Virtual(d time.Duration) time.Duration {
	if d == engine.Forever {
		return d
	}
	if d < 0 {
		return -ratioOf(-d, s.Num, s.Den)
	}
	return ratioOf(d, s.Num, s.Den)
}

// At returns the time of the scenario at a reading of the wall clock.
func (s Speed) At(t engine.Time) engine.Time { return engine.Time(s.Virtual(time.Duration(t))) }

// ratioOf returns d × num / den to the nearest whole number, at most the longest finite duration. d is at least 0.
func ratioOf(d time.Duration, num, den int64) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	if hi += carry; hi >= uint64(den) {
		return engine.Forever - 1
	}
	quotient, _ := bits.Div64(hi, lo, uint64(den))
	return time.Duration(min(quotient, uint64(engine.Forever-1)))
}
