package imports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/policies"
	"qsim/scenarios"
)

// jitter is what pauses after the same number of failures show: they are uniform between
// low and high times the base delay.
type spread struct {
	text string
	base func(low, high float64) float64 // of a pause that runs from low to high
}

// backoffOf makes the retry policy that keys describe.
func backoffOf(keys []string) (*policies.Backoff, error) {
	text := "name: a\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\nretry: {" + strings.Join(keys, ", ") + "}\npolicies: [{kind: fifo}]\n"
	sc, problems := scenarios.Load("a.yaml", []byte(text), nil)
	if sc == nil {
		return nil, fmt.Errorf("%s", problems.Errors()[0].Message)
	}
	return sc.RetryPolicy(0)
}

// ends are those of the uniform distribution with these percentiles.
func ends(p *Pause) (low, high float64) {
	width := (p.Recorded[2] - p.Recorded[0]) / 0.9
	return max(0, p.Recorded[0]-0.05*width), p.Recorded[2] + 0.05*width
}

// spreadOf tells none, full, equal and ±x% apart by the ratio of the shortest to the longest
// pause, which does not depend on the delay. Jitter that only adds or only takes away is, with
// another base, the same distribution as ±x%.
func spreadOf(pauses []Pause, blur float64) spread {
	// The pauses weigh as their numbers do, those blurred least by waits most.
	sum, weight, seen, blurred := 0.0, 0.0, int64(0), 0.0
	for i := range pauses {
		p := &pauses[i]
		low, high := ends(p)
		if high <= 0 {
			continue
		}
		seen, blurred = seen+p.Seen, max(blurred, blur/high)
		w := math.Sqrt(float64(p.Seen)) * high / (high + 4*blur)
		sum, weight = sum+w*low/high, weight+w
	}
	ratio := 1.0
	if weight > 0 {
		ratio = sum / weight
	}
	// Half of the delay is also nearly that of ±30%: chance and waits say how near is the same.
	halved := min(0.06, 0.015+0.3/math.Sqrt(float64(max(seen, 1)))+blurred)
	middle := func(low, high float64) float64 { return (low + high) / 2 }
	top := func(_, high float64) float64 { return high }
	switch {
	case ratio < 0.12:
		return spread{"full", top}
	case math.Abs(ratio-0.5) < halved:
		return spread{"equal", top}
	case ratio > 0.97:
		return spread{"none", middle}
	}
	share := (1 - ratio) / (1 + ratio)
	percent := math.Round(100 * share)
	if near := 5 * math.Round(percent/5); math.Abs(near-100*share) <= 1.5 && near > 0 {
		percent = near
	}
	return spread{"±" + strconv.Itoa(int(percent)) + "%", middle}
}

// familyOf writes the backoff that gives the base delays; false: a table of them. Where too few
// delays differ to tell, alike are the families that fit, the one written first.
func familyOf(pauses []Pause, bases []float64) (text string, family bool, alike []string) {
	numbers := make([]int, len(pauses))
	for i := range pauses {
		numbers[i] = pauses[i].N
	}
	tolerance := func(i int) float64 { return closeEnough + 1/math.Sqrt(float64(pauses[i].Seen)) }
	fits := func(formula func(n int) float64) bool {
		for i, n := range numbers {
			if want := formula(n); math.Abs(want-bases[i]) > tolerance(i)*math.Max(want, 1e-9) {
				return false
			}
		}
		return true
	}
	first, firstN := bases[0], numbers[0]
	highest := 0.0
	for _, b := range bases {
		highest = math.Max(highest, b)
	}
	if first <= 0 {
		if highest <= 1e-3 {
			return "{kind: none}", true, nil
		}
		first = 1e-9
	}
	if mean := weighted(pauses, bases); fits(func(int) float64 { return mean }) {
		return "{kind: fixed, delay: " + spellRound(mean) + "}", true, nil
	}
	if len(bases) > 1 && firstN == 1 {
		fitting := growing(numbers, bases, highest, fits)
		if len(fitting) > 0 && differing(pauses, bases) < 3 {
			// Exponential is the usual family; linear is what any two delays are.
			slices.SortStableFunc(fitting, func(a, b fitted) int { return cmp.Compare(a.unusual(), b.unusual()) })
			for _, f := range fitting {
				alike = append(alike, f.kind)
			}
		}
		if len(fitting) > 0 {
			return fitting[0].text, true, alike
		}
	}
	var delays []string
	for n := 1; n <= numbers[len(numbers)-1]; n++ {
		at := 0
		for at+1 < len(numbers) && numbers[at] < n {
			at++
		}
		delays = append(delays, spellRound(bases[at]))
	}
	return "{kind: table, delays: [" + strings.Join(delays, ", ") + "]}", false, nil
}

// fitted is a family of backoffs with parameters that give the delays.
type fitted struct{ kind, text string }

// unusual orders families by how seldom they are met.
func (f fitted) unusual() int {
	return slices.Index([]string{"exponential", "linear", "fibonacci", "polynomial"}, f.kind)
}

// differing is how many delays there are that are not alike.
func differing(pauses []Pause, bases []float64) int {
	sorted := slices.Sorted(slices.Values(bases))
	n := 1
	for i := 1; i < len(sorted); i++ {
		if sorted[i] > sorted[i-1]*(1+closeEnough+1/math.Sqrt(float64(pauses[len(pauses)-1].Seen))) {
			n++
		}
	}
	return n
}

// growing lists the families that grow and fit, the one that fits first first: the simplest
// ones are tried first, each without a bound and then bounded by the longest delay.
func growing(numbers []int, bases []float64, highest float64, fits func(func(int) float64) bool) (found []fitted) {
	add := func(kind, format string, arguments ...any) {
		if !slices.ContainsFunc(found, func(f fitted) bool { return f.kind == kind }) {
			found = append(found, fitted{kind, "{kind: " + kind + ", " + fmt.Sprintf(format, arguments...) + "}"})
		}
	}
	// Steps and factors come from the second delay, and from the last one below the bound
	// which says it more exactly; both are tried.
	for _, at := range []int{len(bases) - 1, 1} {
		for _, bound := range []float64{0, highest} {
			k := at
			for bound > 0 && k > 1 && bases[k] > 0.9*bound {
				k--
			}
			cut := func(v float64) float64 {
				if bound > 0 {
					return math.Min(v, bound)
				}
				return v
			}
			span := float64(numbers[k] - 1)
			maximum := ""
			if bound > 0 {
				maximum = ", max: " + spellRound(bound)
			}
			first := spellNumber(bases[0])
			step := spellNumber((bases[k] - first) / span)
			if step > 0 && fits(func(n int) float64 { return cut(first + step*float64(n-1)) }) {
				add("linear", "first: %s, step: %s%s", spellRound(first), spellRound(step), maximum)
			}
			factor := niceFactor(math.Pow(bases[k]/bases[0], 1/span))
			if factor > 1 && fits(func(n int) float64 { return cut(first * math.Pow(factor, float64(n-1))) }) {
				add("exponential", "first: %s, factor: %s%s", spellRound(first), strconv.FormatFloat(factor, 'g', 4, 64), maximum)
			}
			if len(bases) > 2 && fits(func(n int) float64 { return cut(first * fibonacci(n)) }) {
				add("fibonacci", "first: %s%s", spellRound(first), maximum)
			}
			for power := 2; power <= 5; power++ {
				for less := 0; less <= 1; less++ {
					plus := math.Max(0, spellNumber(bases[0]-math.Pow(float64(1-less), float64(power))))
					if plus < 0.05 {
						plus = 0
					}
					if fits(func(n int) float64 { return cut(math.Pow(float64(n-less), float64(power)) + plus) }) {
						add("polynomial", "power: %d, less: %d, plus: %s%s", power, less, spellRound(plus), maximum)
					}
				}
			}
		}
	}
	return found
}

func fibonacci(n int) float64 {
	a, b := 0.0, 1.0
	for range n {
		a, b = b, a+b
	}
	return a
}

func weighted(pauses []Pause, bases []float64) float64 {
	sum, weight := 0.0, 0.0
	for i := range bases {
		w := float64(pauses[i].Seen)
		sum, weight = sum+w*bases[i], weight+w
	}
	return sum / weight
}

// spellNumber rounds to the digits that people choose where that changes little: 0.998 is 1.
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

func spellRound(seconds float64) string { return spell(spellNumber(seconds)) }

// niceFactor is the nearest half, if it is near.
func niceFactor(f float64) float64 {
	if rounded := math.Round(2*f) / 2; math.Abs(rounded-f) <= 0.05*f && rounded > 1 {
		return rounded
	}
	return math.Round(f*1000) / 1000
}
