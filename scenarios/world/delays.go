package world

import (
	"math"
	"time"

	"qsim/policies"
)

// delayBounds returns a function from the least and the highest number of a failure, at least 1, to the shortest and
// the longest delay that a retry policy may give after it. It has formulas of its own: a checker that called the policy
// for the bounds would accept any delay. They are computed in floats, with a tolerance of a billionth.
func delayBounds(b *policies.Backoff) func(least, most int32) (shortest, longest time.Duration) {
	if b.Kind == policies.Random {
		return func(int32, int32) (time.Duration, time.Duration) { return 0, time.Duration(mostDelay(b)) }
	}
	return func(least, most int32) (time.Duration, time.Duration) {
		low, high := jittered(b, float64(least), undisturbed(b, float64(least)))
		for n := least + 1; n <= most; n++ {
			if int(n) > len(b.Delays) { // only a table may go up and down between its ends
				n = most
			}
			shortest, longest := jittered(b, float64(n), undisturbed(b, float64(n)))
			low, high = min(low, shortest), max(high, longest)
		}
		return time.Duration(max(0, low*(1-1e-9)-2)), time.Duration(min(math.MaxInt64/2, high*(1+1e-9)+2))
	}
}

// mostDelay returns the longest backoff of a retry policy, before jitter, in nanoseconds.
func mostDelay(b *policies.Backoff) float64 {
	if b.Max > 0 {
		return min(float64(b.Max), float64(policies.Century))
	}
	return float64(policies.Century)
}

// undisturbed returns the backoff of a retry policy after the n-th failure, before jitter, in nanoseconds.
func undisturbed(b *policies.Backoff, n float64) float64 {
	d := 0.0
	first := float64(b.First)
	switch b.Kind {
	case policies.Exponential:
		if b.Scale > 0 && b.MaxAttempts > b.Scale {
			n = math.Floor(min(n, float64(b.MaxAttempts))*float64(b.Scale)/float64(b.MaxAttempts) + 0.5)
		}
		if first > 0 {
			d = first * math.Pow(b.Factor, n-1)
		}
		d += float64(b.Plus)
	case policies.Linear:
		d = first + (n-1)*float64(b.Step)
	case policies.Fixed:
		d = first
	case policies.Fibonacci:
		if first > 0 { // Binet's formula
			golden := (1 + math.Sqrt(5)) / 2
			d = first * math.Round(math.Pow(golden, n)/math.Sqrt(5))
		}
	case policies.Polynomial:
		d = float64(time.Second)*math.Pow(max(0, n-float64(b.Less)), float64(b.Power)) + float64(b.Plus)
	case policies.Table:
		if len(b.Delays) > 0 {
			d = float64(b.Delays[int(min(n, float64(len(b.Delays))))-1])
		}
	}
	return min(d, mostDelay(b))
}

// jittered returns the shortest and the longest delay, with jitter, for a backoff of d nanoseconds after failure n.
func jittered(b *policies.Backoff, n, d float64) (low, high float64) {
	share := d * b.Jitter.Share.Float()
	switch b.Jitter.Kind {
	case policies.Full:
		return 0, d
	case policies.Equal:
		return d / 2, d
	case policies.Around:
		return d - share, d + share
	case policies.Above:
		return d, d + share
	case policies.Below:
		return d - share, d
	case policies.Added:
		a := b.Jitter.Addend
		if a.Grows == policies.GrowsNot {
			n = 1
		}
		return d, d + min(float64(a.Width)*n, float64(policies.Century))
	case policies.Decorrelated: // at most three times the previous delay, also that of a free failure
		low = undisturbed(b, 1)
		if high = mostDelay(b); len(b.Free) == 0 && low > 0 {
			high = min(high, low*math.Pow(3, n))
		}
		return low, high
	}
	return d, d
}
