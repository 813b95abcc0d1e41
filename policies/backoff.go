package policies

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// BackoffKind is a formula for the delay of a retry after a job's n-th failure; the names are fields of Backoff.
type BackoffKind uint8

const (
	NoBackoff   BackoffKind = iota // delay 0
	Exponential                    // delay First · Factor^(n-1) + Plus
	Linear                         // delay First + (n-1) · Step
	Fixed                          // delay First
	Fibonacci                      // delay First · 1, 1, 2, 3, 5, 8...
	Polynomial                     // delay (n-Less)^Power seconds + Plus
	Table                          // delay Delays[n-1]; the last repeats
	Random                         // quantile of Distribution at the job's uniform draw
	numBackoffKinds
)

var backoffKindNames = [numBackoffKinds]string{
	"none", "exponential", "linear", "fixed", "fibonacci", "polynomial", "table", "random",
}

// String returns the name of the backoff kind in scenarios, such as "linear".
func (k BackoffKind) String() string { return backoffKindNames[k] }

// ParseBackoffKind returns the backoff kind with the name s in scenarios, such as "linear".
func ParseBackoffKind(s string) (BackoffKind, error) {
	i := slices.Index(backoffKindNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("unknown backoff %q: want one of %v", s, backoffKindNames)
	}
	return BackoffKind(i), nil
}

// CountRule is the unit in which a job's attempts are counted against Backoff.MaxAttempts: claims or failures.
type CountRule uint8

const (
	CountClaim   CountRule = iota // claims (deliveries) count: a crash uses up an attempt
	CountFailure                  // failures count: a job that crashes its process every time is tried for ever
	numCountRules
)

// String returns the name of the rule in scenarios: "claim" or "failure", what counts against MaxAttempts.
func (r CountRule) String() string { return [numCountRules]string{"claim", "failure"}[r] }

// Quantile is a distribution of delays, given by its quantile function: Duration(u), for u in (0, 1), is the delay
// below which a share u of all delays lies.
type Quantile interface {
	Duration(u float64) time.Duration
}

// Century is the longest delay of a retry, 100 years: the cap of a Backoff without Max, and the highest Max allowed.
const Century = 36525 * 24 * time.Hour

// Backoff is the retry policy: it buries a job that has used up its attempts or that failed for good, and gives any
// other a delay that depends on n, its failures so far, this one included (1 on the first). It is pure, so one value
// serves all engines, and its delays are the same on every processor: whole nanoseconds, powers by multiplication.
type Backoff struct {
	Kind   BackoffKind
	First  time.Duration   // Exponential, Linear, Fixed, Fibonacci: the delay after the first failure
	Factor float64         // Exponential: the growth from one delay to the next, above 0
	Step   time.Duration   // Linear: the growth from one delay to the next
	Power  int             // Polynomial: the exponent, at least 0
	Less   int             // Polynomial: subtracted from n (never below 0), at least 0
	Plus   time.Duration   // Exponential, Polynomial: a constant added to each delay
	Delays []time.Duration // Table: the delay after each failure, at least one; the last repeats
	// Scale, of Exponential alone, stretches the growth of delays over more attempts: with MaxAttempts above Scale,
	// n·Scale÷MaxAttempts, rounded, replaces n (0 gives a Factor below First). 0: no scaling.
	Scale int
	// Distribution is that of the delays of a Random backoff. It uses up the job's one draw: no Jitter goes with it.
	Distribution Quantile
	// Max bounds the delay before jitter is applied; 0 means Century. A jitter of ±20 % may exceed it by a fifth: if it
	// were cut off, the jobs at the bound would come back all at once. Decorrelated jitter stays below it.
	Max    time.Duration
	Jitter Jitter

	MaxAttempts int                // most executions of a job; 0: unlimited
	Count       CountRule          // unit of MaxAttempts: claims or failures
	Never       []engine.ErrorKind // error kinds that bury a job at once
	// Free lists error kinds whose failures cost no attempt, the first FreeMax times in a job's life
	// (-1: always). Such a failure does not count towards n: the delay stays as it is.
	Free    []engine.ErrorKind
	FreeMax int
}

// Validate returns a joined error for every field of a retry policy that is out of range, nil if there is none.
func (b *Backoff) Validate() error {
	var all problems
	all.add(b.First < 0, "first: %v is negative", b.First)
	all.add(b.Step < 0, "step: %v is negative", b.Step)
	all.add(b.Plus < 0, "plus: %v is negative", b.Plus)
	all.add(b.Max < 0, "max: %v is negative", b.Max)
	for i, d := range b.Delays {
		all.add(d < 0, "delays[%d]: %v is negative", i, d)
	}
	all.add(b.Max > Century, "max: %v is more than a hundred years", b.Max)
	all.add(b.Kind >= numBackoffKinds, "kind: %d is no backoff", b.Kind)
	positive := b.Factor > 0 && b.Factor <= math.MaxFloat64
	all.add(b.Kind == Exponential && !positive, "factor: %v is not a positive number", b.Factor)
	all.add(b.Power < 0, "power: %d is negative", b.Power)
	all.add(b.Less < 0, "less: %d is negative", b.Less)
	all.add(b.Scale < 0, "scale: %d is negative", b.Scale)
	all.add(b.Kind == Table && len(b.Delays) == 0, "delays: the table is empty")
	all.add(b.Kind == Random && b.Distribution == nil, "delay: random needs a distribution")
	all.add(b.Kind == Random && b.Jitter.Kind != NoJitter,
		"jitter: %v does not go with a random backoff, which is drawn already", b.Jitter)
	all.add(b.MaxAttempts < 0, "max-attempts: %d is negative", b.MaxAttempts)
	all.add(b.FreeMax < -1, "free-max: %d is negative", b.FreeMax)
	all.add(b.Count >= numCountRules, "count: %d is no rule", b.Count)
	return errors.Join(all...)
}

// Next returns what becomes of job j after a failure of kind e: Bury, or Nack after a delay, or Snooze after a delay if
// e is in Free. u in (0, 1) is the job's uniform random draw, for jitter.
func (b *Backoff) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	failures := max(1, int64(j.Failures)+1)
	counted := int64(j.Charged)
	if b.Count == CountFailure {
		counted = failures
	}
	verb := engine.Nack
	switch {
	case slices.Contains(b.Never, e):
		return engine.Bury, 0
	case slices.Contains(b.Free, e) && (b.FreeMax < 0 || int64(j.Snoozes) < int64(b.FreeMax)):
		verb = engine.Snooze
	case b.MaxAttempts > 0 && counted >= int64(b.MaxAttempts):
		return engine.Bury, 0
	}
	return verb, b.draw(failures, j.LastDelay, u)
}

// draw returns the delay after the n-th failure with jitter, by a random draw u from (0, 1). last is the delay before.
func (b *Backoff) draw(n int64, last time.Duration, u float64) time.Duration {
	switch {
	case b.Kind == Random:
		return max(0, min(b.Distribution.Duration(u), b.limit()))
	case b.Jitter.Kind == Decorrelated:
		return min(decorrelate(b.Delay(1), last, u), b.limit())
	}
	return b.Jitter.apply(b.Delay(n), n, u)
}

// Delay returns the delay after a job's n-th failure, n at least 1, before jitter. For Random it is the median.
func (b *Backoff) Delay(n int64) time.Duration {
	limit := b.limit()
	switch b.Kind {
	case Exponential:
		return min(saturate(exponential(b.First, b.Factor, b.scaled(n)-1, limit), b.Plus), limit)
	case Linear:
		return min(saturate(b.First, multiply(b.Step, n-1)), limit)
	case Fixed:
		return min(b.First, limit)
	case Fibonacci:
		return fibonacci(b.First, n, limit)
	case Polynomial:
		return min(saturate(multiply(time.Second, power(max(n-int64(b.Less), 0), b.Power)), b.Plus), limit)
	case Table:
		if len(b.Delays) > 0 {
			return min(b.Delays[min(n, int64(len(b.Delays)))-1], limit)
		}
	case Random:
		return max(0, min(b.Distribution.Duration(0.5), limit))
	}
	return 0
}

// scaled returns the number of failures to use in the exponential formula in place of n: n itself or, with MaxAttempts
// above Scale, n·Scale÷MaxAttempts rounded to the nearest, half upwards.
func (b *Backoff) scaled(n int64) int64 {
	most := int64(b.MaxAttempts)
	if b.Scale == 0 || most <= int64(b.Scale) {
		return n
	}
	return (2*min(n, most)*int64(b.Scale) + most) / (2 * most)
}

func (b *Backoff) limit() time.Duration {
	if b.Max > 0 {
		return min(b.Max, Century)
	}
	return Century
}

// exponential returns first·factor^exponent, rounded to the nearest nanosecond, at most limit; the exponent is at least
// -1. Powers are taken by squaring: float multiplication gives the same bits on all processors, unlike math.Pow.
func exponential(first time.Duration, factor float64, exponent int64, limit time.Duration) time.Duration {
	if first <= 0 {
		return 0
	}
	result := float64(first)
	if exponent < 0 {
		result, exponent = float64(result/factor), 0
	}
	for {
		if exponent&1 != 0 {
			result = float64(result * factor)
		}
		if exponent >>= 1; exponent == 0 {
			break
		}
		factor = float64(factor * factor)
	}
	if result >= float64(limit) {
		return limit
	}
	return time.Duration(math.Round(result))
}

// fibonacci returns first times the n-th Fibonacci number (1, 1, 2, 3...), at most limit.
func fibonacci(first time.Duration, n int64, limit time.Duration) time.Duration {
	previous, current := time.Duration(0), min(first, limit)
	for ; n > 1 && 0 < current && current < limit; n-- {
		previous, current = current, min(previous+current, limit)
	}
	return current
}

// power returns n^exponent, or the largest int64 if it is larger. n is at least 0; 0^0 is 1.
func power(n int64, exponent int) int64 {
	if n == 0 && exponent > 0 {
		return 0
	}
	result := int64(1)
	for ; n > 1 && exponent > 0 && result < math.MaxInt64; exponent-- {
		result = int64(multiply(time.Duration(result), n))
	}
	return result
}

// multiply returns d·n, or math.MaxInt64 if the product is larger. Both are at least 0.
func multiply(d time.Duration, n int64) time.Duration {
	return time.Duration(quantity.Scale(int64(d), n, 1))
}

// saturate returns a+b, or math.MaxInt64 if the sum is larger. Both are at least 0.
func saturate(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
