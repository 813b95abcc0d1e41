package common

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"qsim/results"
	"qsim/results/plain"
)

// Rule is a behaviour of a real system that its preset should reproduce: figures, with tolerances chosen beforehand.
type Rule struct {
	Name    string   // name of the rule for users
	Keys    []string // keys of the preset that the rule checks, with the keys below them
	Case    string
	Parts   []Part   // all must hold
	Fault   string   // KEY=VALUE of the preset: it breaks this rule, and otherwise only rules of which the key is one
	Patient bool     // two seeds are not enough to see its fault
	Load    bool     // the rule compares whole loads, which depend on every key: it counts as a check of no key
	Metrics []string // metrics of qsim that are wrong if the rule is missed, with the metrics below them
	Cause   string   // cause for users if the rule is missed: the system's behaviour, and its place in the source
	// begin of the preset's `approximates` line whose size the rule measures
	Approximates string
}

// Part is one figure of a rule: either a value of each run, whose difference between system and simulation is judged
// over the seeds, or a sample, which is judged by a Kolmogorov-Smirnov (KS) test.
type Part struct {
	Name   string
	Value  func(r *Run) float64
	Sample func(r *Run) []float64
	Share  float64 // tolerance: share of the real value,
	Least  float64 // least tolerance, if above the relative one
	Unit   string  // s: a time; else a number
}

// Holds and the constants below are verdicts on a rule, from good to bad.
const (
	Holds = "holds"
	Near  = "near"
	Off   = "off"
)

// Verdict is the result of judging one figure (part) of a rule, with the figure in the system and in simulations.
type Verdict struct {
	Part                  *Part
	Word                  string
	Real, Simulated       float64 // means over the seeds
	Half                  float64 // half-width of the 95 % interval of the real mean
	Difference, Uncertain float64 // simulated less real, and the half-width of its 95 % interval, at least that of chance
	P                     float64 // p value of the KS test
	Count                 int     // size of the real sample; 0: it is none
}

// sure and surest are bounds of a KS test's p value: a sample above sure holds, one at or below surest is off, one
// between is near. Of samples from one distribution 1 % do not hold, and 1 in 100,000 is off.
const sure, surest = 0.01, 1e-5

// judge returns the verdict on one figure of a rule. real has a run for each seed, simulated several for each. others
// is the number of samples in the rule (Bonferroni correction).
func (p *Part) judge(real []*Run, simulated [][]*Run, others int) Verdict {
	v := Verdict{Part: p, Word: Near}
	if p.Sample != nil {
		var a, b []float64
		for i, r := range real {
			a = append(a, p.Sample(r)...)
			for _, s := range simulated[i] {
				b = append(b, p.Sample(s)...)
			}
		}
		v.Real, v.Simulated, v.Count = results.MeanOf(a), results.MeanOf(b), len(a)
		v.P = KS(a, b)
		switch family := float64(others); {
		case !(v.P*family > surest):
			v.Word = Off
		case v.P*family > sure:
			v.Word = Holds
		}
		return v
	}
	var a, b, variances []float64
	for i, r := range real {
		var values []float64
		for _, s := range simulated[i] {
			if v := p.Value(s); !math.IsNaN(v) { // of no lost job there is no recovery
				values = append(values, v)
			}
		}
		a, b = append(a, p.Value(r)), append(b, results.MeanOf(values))
		if len(values) > 1 {
			variances = append(variances, stat.Variance(values, nil)*(1+1/float64(len(values))))
		}
	}
	v.Real, v.Half = results.Interval(a)
	v.Simulated, _ = results.Interval(b)
	difference := results.Against(a, b, true)
	v.Difference, v.Uncertain = difference.Difference, difference.Half
	if len(variances) > 0 { // two seeds may be equal by chance: what simulations of one seed differ by is known better
		v.Uncertain = max(v.Uncertain, 1.96*math.Sqrt(results.MeanOf(variances)/float64(len(a))))
	}
	v.Word = p.word(&v)
	return v
}

// tolerance returns the largest difference between the real and the simulated mean with which the figure holds.
func (p *Part) tolerance(v *Verdict) float64 { return max(p.Least, p.Share*math.Abs(v.Real)) }

// moves reports whether a planted fault, in the faulty runs, changes a simulated figure of the rule by more than its
// tolerance, or some figure is a sample. Otherwise a verdict of off is chance, since seeds are few.
func (rule *Rule) moves(c *sides, faulty [][]*Run) bool {
	return slices.ContainsFunc(rule.Parts, func(p Part) bool {
		before, after := p.judge(c.real, c.simulated, 1), p.judge(c.real, faulty, 1)
		return p.Sample != nil || !(math.Abs(after.Simulated-before.Simulated) <= p.tolerance(&before))
	})
}

// red reports whether the verdict shows a planted fault: it is off or, with two seeds, whose intervals may hide any
// fault, the difference exceeds twice the tolerance.
func (v *Verdict) red(seeds int) bool {
	return v.Word == Off || seeds == 2 && v.Part.Sample == nil && math.Abs(v.Difference) > 2*v.Part.tolerance(v)
}

// word returns the verdict on the difference in v: holds if its interval is within the tolerance, or covers 0 and has a
// half-width of at most twice the tolerance; off if the interval is wholly beyond the tolerance; else near.
func (p *Part) word(v *Verdict) string {
	size, tolerance := math.Abs(v.Difference), p.tolerance(v)
	switch {
	case math.IsNaN(size) || size-v.Uncertain > tolerance: // where there is nothing to see, nothing holds
		return Off
	case size+v.Uncertain <= tolerance || size <= v.Uncertain && v.Uncertain <= 2*tolerance:
		return Holds
	}
	return Near
}

// worst returns the verdict that decides a rule: the worst of its parts', and of such that with the largest difference.
func worst(all []Verdict) Verdict {
	rank := func(v *Verdict) float64 {
		relative := math.Abs(v.Difference) / max(math.Abs(v.Real), 1e-9)
		return float64(strings.Index(Holds+Near+Off, v.Word)) + min(relative, 1)
	}
	decides := all[0]
	for _, v := range all[1:] {
		if rank(&v) > rank(&decides) {
			decides = v
		}
	}
	return decides
}

// number returns a value of the figure as text, with its unit.
func (p *Part) number(v float64) string {
	if p.Unit == "s" {
		return plain.Duration(v)
	}
	return plain.Digits(v, 3)
}

// RealText returns the figure in the real system as text: "2.0s ± 38ms", or "2.0s (mean of 300)" for a sample.
func (v *Verdict) RealText() string {
	if v.Count > 0 {
		return fmt.Sprintf("%s (mean of %d)", v.Part.number(v.Real), v.Count)
	}
	if v.Half == 0 || math.IsNaN(v.Half) {
		return v.Part.number(v.Real)
	}
	return v.Part.number(v.Real) + " ± " + v.Part.number(v.Half)
}

// OffText returns how far the simulated figure is off, as text: "−24 %" or "30 times"; the p value for a sample.
func (v *Verdict) OffText() string {
	switch {
	case v.Count > 0 && v.Word != Holds:
		return fmt.Sprintf("another distribution, Kolmogorov-Smirnov p %.2g", v.P)
	case v.Count > 0:
		return fmt.Sprintf("Kolmogorov-Smirnov p %.2g", v.P)
	case v.Real == 0 || math.IsNaN(v.Real) || math.IsNaN(v.Simulated):
		return ""
	}
	if ratio := v.Simulated / v.Real; ratio > 20 {
		return plain.Digits(ratio, 3) + " times"
	}
	return strings.Replace(fmt.Sprintf("%+.3g %%", 100*(v.Simulated-v.Real)/math.Abs(v.Real)), "-", "−", 1)
}
