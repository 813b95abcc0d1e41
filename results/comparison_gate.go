package results

import (
	"math"
	"slices"

	"qsim/results/measure"
)

// sample holds the values of a metric by seed, and the centre about which their variance is taken: their mean, or for a
// quantile that of the pooled jobs of all seeds.
type sample struct {
	values []float64
	centre float64
}

// aboutMean returns a sample of values whose centre is their mean.
func aboutMean(values []float64) sample { return sample{values, MeanOf(values)} }

// contrast returns the difference b − factor·a, the half-width of its 95 % interval and the two-sided p value for no
// difference: of pairs the mean difference, or else the difference of the samples' centres by Welch's t test with the
// degrees of freedom of Satterthwaite. Welch: The generalization of "Student's" problem when several different
// population variances are involved (1947). Half-width and p value are NaN with fewer than 2 values on a side.
func contrast(a, b sample, factor float64, paired bool) (mean, half, p float64) {
	if paired {
		differences := make([]float64, len(a.values))
		for i, v := range a.values {
			differences[i] = b.values[i] - float64(factor*v)
		}
		mean, half = Interval(differences)
		return mean, half, pairedP(mean, half, len(differences))
	}
	mean = b.centre - float64(factor*a.centre)
	n, m := len(a.values), len(b.values)
	if n < 2 || m < 2 {
		return mean, math.NaN(), math.NaN()
	}
	ofA, ofB := variances(a, b, factor)
	switch spread := ofA + ofB; {
	case spread == 0 && mean == 0:
		return 0, 0, 1
	case spread == 0:
		return mean, 0, 0
	default:
		freedom := float64(spread*spread) / (float64(ofA*ofA)/float64(n-1) + float64(ofB*ofB)/float64(m-1))
		half = studentQuantile(freedom, 1-alpha/2) * math.Sqrt(spread)
		return mean, half, studentTails(freedom, math.Abs(mean)/math.Sqrt(spread))
	}
}

// variances returns the variances of factor times the mean of a, and of the mean of b.
func variances(a, b sample, factor float64) (ofA, ofB float64) {
	return float64(factor*factor) * VarianceAbout(a.values, a.centre) / float64(len(a.values)),
		VarianceAbout(b.values, b.centre) / float64(len(b.values))
}

// contrastOf returns the difference b − a of two samples with its interval and p value; NaN if a sample is empty. The
// Query of the result is not set.
func contrastOf(a, b sample, paired bool) Contrast {
	nan := math.NaN()
	c := Contrast{Difference: nan, Low: nan, High: nan, Half: nan, P: nan, Adjusted: nan}
	if len(a.values) > 0 && len(b.values) > 0 {
		c.Difference, c.Half, c.P = contrast(a, b, 1, paired)
		c.Low, c.High = c.Difference-c.Half, c.Difference+c.Half
	}
	return c
}

// judge computes the verdict of a change under the gate, which is the worsening of a metric that counts as no
// regression. It tests by how much the new value is worse than the worst value that the gate allows: the whole interval
// of this excess must lie on one side of 0. (The relative change would divide by the base value, itself an estimate.)
// If less is better and the base value is 0, the worst value allowed is 0.
func (c *Comparison) judge(d *Change) {
	info, known := measure.Lookup(d.Metric)
	if !c.Gate.Set || !known || !info.LessIsBetter && !info.MoreIsBetter || d.Base.Null() && d.New.Null() {
		return
	}
	d.Verdict = Unclear
	if math.IsNaN(d.Difference) {
		return // for the reason that is there
	}
	a, b := c.samples(d)
	sign, allowed := 1.0, 1+c.Gate.Most
	if info.MoreIsBetter {
		sign, allowed = -1, max(1-c.Gate.Most, 0)
	}
	excess, half, p := contrast(a, b, allowed, c.Paired)
	excess *= sign
	single := half // with the degrees of freedom of one side, as seedsToReach takes it
	if !c.Paired && half > 0 {
		ofA, ofB := variances(a, b, allowed)
		single = tQuantile(float64(d.N), alpha) * math.Sqrt(ofA+ofB)
	}
	// The true value is above its bound: surely worse stays so if the new value is a bound where less
	// is better, surely no worse if the base value is one.
	maybeWorse, maybeBetter := d.New.Bound != "", d.Base.Bound != ""
	if info.MoreIsBetter {
		maybeWorse, maybeBetter = maybeBetter, maybeWorse
	}
	noWorse := excess+half <= 0 || float64(sign*d.Difference)+d.Half <= 0 // what is no worse at all is allowed
	switch {
	case math.IsNaN(half):
		d.Reason = "one seed has no interval"
	case noWorse && !maybeWorse:
		d.Verdict = Met
	case excess > 0 && !maybeBetter:
		d.excess, d.excessHalf, d.excessP = excess, single, p // see confirm
	case maybeWorse || maybeBetter:
		d.Reason = "the run ended too early to tell"
	default:
		if d.Seeds = seedsToReach(single, excess, d.N, alpha); d.Seeds == 0 {
			d.Reason = "the change is what is allowed"
		}
	}
}

// decide finishes a comparison: it adjusts the p values of all changes for their number, settles the verdicts, and sets
// the exit code to 1 if some change is worse than the gate (limit) allows or, under strict, unclear.
func (c *Comparison) decide() {
	var all []*Contrast
	for i := range c.Changes {
		all = append(all, &c.Changes[i].Contrast)
	}
	decide(all)
	c.confirm()
	if slices.ContainsFunc(c.Cases(), func(k Case) bool { return k.Failed }) {
		c.Exit = 1
	}
}

// confirm marks the changes that are significantly worse than the gate allows, after Holm's adjustment for the number
// of metrics judged: where nothing is worse than allowed, the whole comparison raises a false alarm with a probability
// of at most 2.5 %. For the other changes it estimates how many seeds would decide if all metrics stayed as they are:
// enough for an interval, at the confidence level that Holm's procedure sets by the rank of the p value, to exclude the
// worst value that is allowed.
func (c *Comparison) confirm() {
	var p []float64
	var judged []*Change
	for i := range c.Changes {
		if d := &c.Changes[i]; d.Verdict != "" {
			judged, p = append(judged, d), append(p, 1)
			if !math.IsNaN(d.excessP) {
				p[len(p)-1] = d.excessP
			}
		}
	}
	levels, least := make([]float64, len(p)), alpha // level of the first that does not reach its own
	for rank, i := range ascending(p) {
		if levels[i] = alpha / float64(len(p)-rank); p[i] >= levels[i] {
			least = min(least, levels[i])
		}
	}
	for i, adjusted := range Holm(p) {
		d := judged[i]
		switch own := levels[i]; {
		case math.IsNaN(d.excessP):
		case adjusted < alpha:
			d.Verdict = Missed
		default:
			if p[i] < own {
				own = least // it waits for one before it
			}
			if d.Seeds = seedsToReach(d.excessHalf, d.excess, d.N, own); d.Seeds == 0 {
				d.Reason = "the change is what is allowed"
			}
		}
	}
}

// Note returns the text printed beside a change: "worse", what would make it clear, or why it has no difference; or "".
func (d *Change) Note() string {
	switch {
	case d.Verdict == Unclear:
		return "unclear; " + toDecide(d.Seeds, d.Reason)
	case d.Verdict == Missed:
		return "worse"
	}
	return d.Reason
}
