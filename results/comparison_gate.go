package results

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// contrast returns the mean of b less factor times that of a, the half-width of its 95 %
// interval and the two-sided p value of its being 0: of pairs, or else by Welch's t test with
// the degrees of freedom of Satterthwaite. Welch: The generalization of "Student's" problem
// when several different population variances are involved (1947). NaN for a side with fewer than 2 values.
func contrast(a, b []float64, factor float64, paired bool) (mean, half, p float64) {
	if paired {
		differences := make([]float64, len(a))
		for i := range a {
			differences[i] = b[i] - float64(factor*a[i])
		}
		mean, half = meanInterval(differences)
		return mean, half, pairedP(mean, half, len(differences))
	}
	meanA, varianceA := meanVariance(a)
	meanB, varianceB := meanVariance(b)
	mean = meanB - float64(factor*meanA)
	if len(a) < 2 || len(b) < 2 {
		return mean, math.NaN(), math.NaN()
	}
	ofA, ofB := float64(factor*factor)*varianceA/float64(len(a)), varianceB/float64(len(b))
	switch spread := ofA + ofB; {
	case spread == 0 && mean == 0:
		return 0, 0, 1
	case spread == 0:
		return mean, 0, 0
	default:
		freedom := float64(spread*spread) / (float64(ofA*ofA)/float64(len(a)-1) + float64(ofB*ofB)/float64(len(b)-1))
		student := distuv.StudentsT{Sigma: 1, Nu: freedom}
		half = student.Quantile(1-alpha/2) * math.Sqrt(spread)
		return mean, half, min(1, 2*student.Survival(math.Abs(mean)/math.Sqrt(spread)))
	}
}

// meanVariance is exact for equal values.
func meanVariance(values []float64) (mean, variance float64) {
	mean, half := meanInterval(values)
	if half == 0 {
		return mean, 0
	}
	return stat.MeanVariance(values, nil)
}

// judge holds a change against the gate. It does not judge the difference as a share of
// the base value, which is itself an estimate, but by how much the new value exceeds
// what the gate allows, which is a difference again and has an interval: the whole of it must
// lie on one side. A metric that may be at most 0 and is not is beyond any share.
func (c *Comparison) judge(d *Change) {
	info, known := Lookup(d.Metric)
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
	// A bound says that the true value is higher: surely worse stays so if the new value
	// is a bound where less is better, surely no worse if the base value is one.
	maybeWorse, maybeBetter := d.New.Bound != "", d.Base.Bound != ""
	if info.MoreIsBetter {
		maybeWorse, maybeBetter = maybeBetter, maybeWorse
	}
	switch {
	case math.IsNaN(half):
		d.Reason = "one seed has no interval"
	case excess-half > 0 && !maybeBetter:
		d.Verdict, d.excess, d.Seeds = Missed, p, seedsToTell(half, excess, d.N)
	case excess+half <= 0 && !maybeWorse:
		d.Verdict = Met
	case maybeWorse || maybeBetter:
		d.Reason = "the run ended too early to tell"
	default:
		if d.Seeds = seedsToTell(half, excess, d.N); d.Seeds == 0 {
			d.Reason = "the change is what is allowed"
		}
	}
}

// decide adjusts the p values for the number of comparisons, and sums up. What no seed
// shows any difference in is not tested.
func (c *Comparison) decide() {
	p := make([]float64, len(c.Changes))
	for i := range c.Changes {
		d := &c.Changes[i]
		if p[i] = d.P; d.Low == 0 && d.High == 0 {
			p[i] = math.NaN()
		}
	}
	for i, adjusted := range holm(p) {
		d := &c.Changes[i]
		if d.Adjusted = adjusted; math.IsNaN(adjusted) && !math.IsNaN(d.P) {
			d.Adjusted = 1
		}
		d.Shown = adjusted < alpha && sure(d.Difference, d.New.Bound, d.Base.Bound)
	}
	c.confirm()
	for i := range c.Changes {
		d := &c.Changes[i]
		if d.Verdict == Missed || d.Verdict == Unclear && c.Gate.Strict {
			c.Exit = 1
		}
	}
}

// confirm lets a regression stand only if it is one after Holm's adjustment for the number of
// metrics judged: where nothing is worse than the gate allows, the whole comparison raises a
// false alarm with a probability of at most 2.5 %.
func (c *Comparison) confirm() {
	var p []float64
	var judged []*Change
	for i := range c.Changes {
		d := &c.Changes[i]
		if d.Verdict == "" {
			continue
		}
		judged = append(judged, d)
		p = append(p, 1)
		if d.Verdict == Missed {
			p[len(p)-1] = d.excess
		}
	}
	for i, adjusted := range holm(p) {
		switch d := judged[i]; {
		case d.Verdict != Missed:
		case adjusted >= alpha:
			d.Verdict = Unclear
		default:
			d.Seeds = 0
		}
	}
}

// note says in words what there is to say of a verdict, or why there is no difference.
func (d *Change) note() string {
	switch {
	case d.Verdict == Unclear && d.Seeds > 0:
		return fmt.Sprintf("unclear; about %d seeds would tell", d.Seeds)
	case d.Verdict == Unclear:
		return "unclear; " + d.Reason
	case d.Verdict == Missed:
		return "worse"
	}
	return d.Reason
}
