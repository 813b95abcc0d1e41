package imports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
)

// closeEnough is the largest relative error, beyond chance, of a backoff formula that counts as fitting the records.
const closeEnough = 0.06

// usualFamilies lists the kinds of backoff whose delays grow, the commonest first, which is preferred if several fit.
var usualFamilies = []policies.BackoffKind{policies.Exponential, policies.Linear, policies.Fibonacci,
	policies.Polynomial}

// family is a backoff formula of one kind (linear, exponential and so on), with its parameters in scenario syntax.
type family struct {
	policies.Backoff
	text string // parameters: "first: 1s, factor: 2"
}

// familyOf returns, in scenario syntax, the backoff formula that fits the recorded retry delays without jitter or, with
// found false, a table of the delays. If too few delays differ to decide, alike lists all kinds of formulas that fit,
// the returned one first.
func familyOf(pauses []Pause, bases []float64) (text string, found bool, alike []string) {
	fits := func(b *policies.Backoff) bool {
		for i, p := range pauses {
			want, tolerance := b.Delay(int64(p.N)).Seconds(), closeEnough+1/math.Sqrt(float64(p.Seen))
			if math.Abs(want-bases[i]) > tolerance*math.Max(want, 1e-9) {
				return false
			}
		}
		return true
	}
	if bases[0] <= 0 && slices.Max(bases) <= 1e-3 {
		return "{kind: none}", true, nil
	}
	mean := weighted(pauses, bases)
	if fits(&policies.Backoff{Kind: policies.Fixed, First: inSeconds(mean)}) {
		return "{kind: fixed, delay: " + spellRound(mean) + "}", true, nil
	}
	if len(bases) > 1 && pauses[0].N == 1 {
		all := slices.DeleteFunc(growing(pauses, bases), func(f family) bool { return !fits(&f.Backoff) })
		if len(all) > 0 && differing(pauses, bases) < 3 {
			slices.SortStableFunc(all, func(a, b family) int {
				return cmp.Compare(slices.Index(usualFamilies, a.Kind), slices.Index(usualFamilies, b.Kind))
			})
			alike = plain.Distinct(plain.Map(all, func(f family) string { return f.Kind.String() }))
		}
		if len(all) > 0 {
			return "{kind: " + all[0].Kind.String() + ", " + all[0].text + "}", true, alike
		}
	}
	var delays []string
	for at, n := 0, 1; n <= pauses[len(pauses)-1].N; n++ {
		for pauses[at].N < n {
			at++
		}
		delays = append(delays, spellRound(bases[at]))
	}
	return "{kind: table, delays: [" + strings.Join(delays, ", ") + "]}", false, nil
}

// differing returns how many of the recorded retry delays, taken without their jitter, are distinct beyond chance.
func differing(pauses []Pause, bases []float64) int {
	sorted, n := slices.Sorted(slices.Values(bases)), 1
	for i := 1; i < len(sorted); i++ {
		if sorted[i] > sorted[i-1]*(1+closeEnough+1/math.Sqrt(float64(pauses[len(pauses)-1].Seen))) {
			n++
		}
	}
	return n
}

// growing returns backoff formulas of every kind whose delays grow, fitted to the recorded delays: each with and
// without a maximum. Its step or factor is estimated from the last delay below the maximum, which shows it most
// exactly, and once more from the second delay.
func growing(pauses []Pause, bases []float64) (all []family) {
	base := spellNumber(bases[0])
	first, firstText := inSeconds(base), spellRound(base)
	for _, at := range []int{len(bases) - 1, 1} {
		for _, bound := range []float64{0, slices.Max(bases)} {
			k, maximum, most := at, "", math.Inf(1)
			if bound > 0 {
				maximum, most = ", max: "+spellRound(bound), bound
			}
			for k > 1 && bases[k] > 0.9*most {
				k--
			}
			add := func(possible bool, b policies.Backoff, format string, arguments ...any) {
				if b.Max = inSeconds(bound); possible {
					all = append(all, family{b, fmt.Sprintf(format, arguments...) + maximum})
				}
			}
			span := float64(pauses[k].N - 1)
			step := spellNumber((bases[k] - base) / span)
			add(step > 0, policies.Backoff{Kind: policies.Linear, First: first, Step: inSeconds(step)},
				"first: %s, step: %s", firstText, spellRound(step))
			factor := niceFactor(math.Pow(bases[k]/bases[0], 1/span))
			add(factor > 1, policies.Backoff{Kind: policies.Exponential, First: first, Factor: factor},
				"first: %s, factor: %s", firstText, strconv.FormatFloat(factor, 'g', 4, 64))
			add(len(bases) > 2, policies.Backoff{Kind: policies.Fibonacci, First: first}, "first: %s", firstText)
			for power := 2; power <= 5; power++ {
				for less := range 2 {
					plus := math.Max(0, spellNumber(bases[0]-math.Pow(float64(1-less), float64(power))))
					if plus < 0.05 {
						plus = 0
					}
					b := policies.Backoff{Kind: policies.Polynomial, Power: power, Less: less, Plus: inSeconds(plus)}
					add(true, b, "power: %d, less: %d, plus: %s", power, less, spellRound(plus))
				}
			}
		}
	}
	return all
}

// weighted returns the mean of a value of each pause, weighted by how often the pause is recorded.
func weighted(pauses []Pause, values []float64) float64 {
	return stat.Mean(values, plain.Map(pauses, func(p Pause) float64 { return float64(p.Seen) }))
}

// whole returns the whole number nearest to v, of two the higher, also for sums that the rounding of a machine, or an
// order of adding, left a little below the middle: imports have the same bytes everywhere.
func whole(v float64) float64 { return math.Floor(v + 0.5 + 1e-6) }

// spellNumber rounds a number to few digits, as people choose them, if that changes it little: 0.998 becomes 1.
func spellNumber(v float64) float64 {
	if v <= 0 {
		return v
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, parts := range []float64{1, 2, 10, 20} {
		if rounded := whole(v/power*parts) / parts * power; math.Abs(rounded-v) <= 0.025*v {
			return rounded
		}
	}
	return v
}

// spellRound returns seconds, rounded as people choose delays, as a duration in scenario syntax.
func spellRound(seconds float64) string { return spellDigits(spellNumber(seconds), 3) }

// spellDigits returns seconds as a duration in scenario syntax, with the given number of significant digits.
func spellDigits(seconds float64, digits int) string {
	if seconds <= 0 {
		return "0s"
	}
	unit := math.Pow(10, math.Floor(math.Log10(seconds))-float64(digits-1))
	return scenarios.Duration(inSeconds(whole(seconds/unit) * unit)).String()
}

func inSeconds(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// niceFactor rounds a backoff's factor to the nearest half, if it is near, else to three decimals.
func niceFactor(f float64) float64 {
	if rounded := whole(2*f) / 2; math.Abs(rounded-f) <= 0.05*f && rounded > 1 {
		return rounded
	}
	return whole(f*1000) / 1000
}
