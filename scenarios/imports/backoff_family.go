package imports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results/plain"
	"qsim/scenarios"
)

// closeEnough is the largest relative error, beyond chance, of a backoff formula that counts as fitting the records.
const closeEnough = 0.06

// usualFamilies lists the kinds of backoff whose delays grow, the commonest first, which is preferred if several fit.
var usualFamilies = []string{"exponential", "linear", "fibonacci", "polynomial"}

// family is a backoff formula of one kind (linear, exponential and so on), with its parameters.
type family struct {
	kind, text string
	delay      func(n float64) float64 // s, after n failures
}

// familyOf returns, in scenario syntax, the backoff formula that fits the recorded retry delays without jitter or, with
// found false, a table of the delays. If too few delays differ to decide, alike lists all kinds of formulas that fit,
// the returned one first.
func familyOf(pauses []Pause, bases []float64) (text string, found bool, alike []string) {
	fits := func(f family) bool {
		for i, p := range pauses {
			want, tolerance := f.delay(float64(p.N)), closeEnough+1/math.Sqrt(float64(p.Seen))
			if math.Abs(want-bases[i]) > tolerance*math.Max(want, 1e-9) {
				return false
			}
		}
		return true
	}
	if bases[0] <= 0 && slices.Max(bases) <= 1e-3 {
		return "{kind: none}", true, nil
	}
	mean := weighted(pauses, func(i int) float64 { return bases[i] })
	if fits(family{delay: func(float64) float64 { return mean }}) {
		return "{kind: fixed, delay: " + spellRound(mean) + "}", true, nil
	}
	if len(bases) > 1 && pauses[0].N == 1 {
		all := slices.DeleteFunc(growing(pauses, bases), func(f family) bool { return !fits(f) })
		if len(all) > 0 && differing(pauses, bases) < 3 {
			slices.SortStableFunc(all, func(a, b family) int {
				return cmp.Compare(slices.Index(usualFamilies, a.kind), slices.Index(usualFamilies, b.kind))
			})
			alike = plain.Distinct(plain.Map(all, func(f family) string { return f.kind }))
		}
		if len(all) > 0 {
			return "{kind: " + all[0].kind + ", " + all[0].text + "}", true, alike
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
	first := spellNumber(bases[0])
	for _, at := range []int{len(bases) - 1, 1} {
		for _, bound := range []float64{0, slices.Max(bases)} {
			k, maximum, most := at, "", math.Inf(1)
			if bound > 0 {
				maximum, most = ", max: "+spellRound(bound), bound
			}
			for k > 1 && bases[k] > 0.9*most {
				k--
			}
			add := func(kind string, possible bool, delay func(n float64) float64, format string, arguments ...any) {
				bounded := func(n float64) float64 { return math.Min(delay(n), most) }
				if possible {
					all = append(all, family{kind, fmt.Sprintf(format, arguments...) + maximum, bounded})
				}
			}
			span := float64(pauses[k].N - 1)
			step := spellNumber((bases[k] - first) / span)
			add("linear", step > 0, func(n float64) float64 { return first + step*(n-1) },
				"first: %s, step: %s", spellRound(first), spellRound(step))
			factor := niceFactor(math.Pow(bases[k]/bases[0], 1/span))
			add("exponential", factor > 1, func(n float64) float64 { return first * math.Pow(factor, n-1) },
				"first: %s, factor: %s", spellRound(first), strconv.FormatFloat(factor, 'g', 4, 64))
			add("fibonacci", len(bases) > 2, func(n float64) float64 { return first * fibonacci(int(n)) },
				"first: %s", spellRound(first))
			for power := 2.0; power <= 5; power++ {
				for less := 0.0; less <= 1; less++ {
					plus := math.Max(0, spellNumber(bases[0]-math.Pow(1-less, power)))
					if plus < 0.05 {
						plus = 0
					}
					add("polynomial", true, func(n float64) float64 { return math.Pow(n-less, power) + plus },
						"power: %.0f, less: %.0f, plus: %s", power, less, spellRound(plus))
				}
			}
		}
	}
	return all
}

func fibonacci(n int) float64 {
	a, b := 0.0, 1.0
	for range n {
		a, b = b, a+b
	}
	return a
}

// weighted returns the mean of a value of each pause, of(i) for the i-th, weighted by how often the pause is recorded.
func weighted(pauses []Pause, of func(i int) float64) float64 {
	sum, weight := 0.0, 0.0
	for i := range pauses {
		w := float64(pauses[i].Seen)
		sum, weight = sum+w*of(i), weight+w
	}
	return sum / weight
}

// spellNumber rounds a number to few digits, as people choose them, if that changes it little: 0.998 becomes 1.
func spellNumber(v float64) float64 {
	if v <= 0 {
		return v
	}
	for digits := 0; digits < 3; digits++ {
		unit := math.Pow(10, math.Floor(math.Log10(v))-float64(digits))
		for _, part := range []float64{1, 0.5} {
			if rounded := math.Round(v/(unit*part)) * unit * part; math.Abs(rounded-v) <= 0.025*v {
				return rounded
			}
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
	return scenarios.Duration(time.Duration(math.Round(math.Round(seconds/unit) * unit * 1e9))).String()
}

// niceFactor rounds a backoff's factor to the nearest half, if it is near, else to three decimals.
func niceFactor(f float64) float64 {
	if rounded := math.Round(2*f) / 2; math.Abs(rounded-f) <= 0.05*f && rounded > 1 {
		return rounded
	}
	return math.Round(f*1000) / 1000
}
