package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// Verdict is the result of comparing a quantity of a verify row (a case with known values, see Row), or the whole row.
type Verdict string

// Met and the constants below are the verdicts; a verify row has the worst verdict of its quantities.
const (
	Met     Verdict = "met"      //
	Missed  Verdict = "missed"   // expected and measured differ
	Wide    Verdict = "wide"     // the interval did not become as narrow as it must be, so that a match means little
	LeftOut Verdict = "left out" // there is nothing to measure it by, for Reason
)

// confidence is the level of the two-sided confidence intervals, which use Student's t at the quantile 0.9995.
const confidence = 0.999

// Quantity is one known value of a verify row beside its measurement by simulation, in the unit of the row.
type Quantity struct {
	Name         string  `json:"quantity"`
	Expected     any     `json:"expected"`        // expected value: a number, true or false, text, or nil
	Measured     any     `json:"measured"`        // measured value of the same type; nil: none
	Half         float64 `json:"half_width"`      // half-width of the interval at 99.9 %; 0: all replications were equal
	Allowed      float64 `json:"allowed"`         // largest Half allowed; in exact and model rows: largest error
	Loose        bool    `json:"loose,omitempty"` // Allowed is above 1 % of Expected, 2 % for a 99th percentile
	Replications int     `json:"replications"`
	Repeated     bool    `json:"repeated,omitempty"` // a first measurement missed, and this is the second
	Verdict      Verdict `json:"verdict"`
	Reason       string  `json:"reason,omitempty"`
}

// answer collects the measurements of one expected value of a verify row, over all replications of an experiment.
type answer struct {
	item
	gauge
	kind     string // kind of the row
	slack    float64
	busy     bool // the load is high: intervals may be wider
	heavy    bool // rare values dominate: wider intervals are allowed for second moments
	repeated bool
	measured
}

// measured holds what answer.add has collected: the values of one quantity in the replications so far.
type measured struct {
	values  []float64
	texts   []string
	pooled  durations
	nothing int // replications without a value
	seen    int
	tries   float64 // trials, in all replications
}

func (a *answer) add(o *observer, run *measure.Run) {
	a.seen++
	switch {
	case a.text != nil:
		if t := a.text(o); len(a.texts) == 0 || a.texts[0] != t {
			a.texts = append(a.texts, t)
		}
		return
	case a.distribution != nil:
		var d durations
		for i := range o.class {
			if a.class < 0 && (o.counted == nil || o.counted[i]) || a.class == i {
				d.merge(a.distribution(&o.class[i]))
			}
		}
		a.pooled.merge(&d)
		a.values = append(a.values, d.quantile(a.quantile))
		return
	}
	v, known := 0.0, false
	if a.metric != "" && a.kind != "exact" && o.counted == nil {
		v, known = valueOf(run, a.metric)
	}
	if !known {
		v = a.of(o)
	}
	if math.IsNaN(v) {
		a.nothing++
	} else {
		a.values = append(a.values, v)
		if a.trials != nil {
			a.tries += a.trials(o)
		}
	}
}

// centre returns the measured value of the quantity, about which its confidence interval lies; NaN if there is none.
func (a *answer) centre() float64 {
	switch {
	case len(a.values) == 0:
		return math.NaN()
	case a.distribution != nil:
		return a.pooled.quantile(a.quantile)
	case a.shape == ofLeast:
		return slices.Min(a.values)
	case a.shape == ofMost:
		return slices.Max(a.values)
	}
	return results.MeanOf(a.values)
}

// half returns the half-width of the quantity's confidence interval: 0 if all replications have the same value, but for
// a share at least the bound on the probability of an event that was never seen.
func (a *answer) half() float64 {
	if a.shape == ofLeast || a.shape == ofMost || a.text != nil {
		return 0
	}
	half := 0.0
	if slices.ContainsFunc(a.values, func(v float64) bool { return v != a.values[0] }) {
		half = results.HalfWidth(a.values, a.centre(), confidence)
	}
	if a.tries > 0 {
		// Without an event in n trials its probability p is at most -ln((1-confidence)/2)/n: (1-p)^n ≤ e^-np.
		half = max(half, -math.Log((1-confidence)/2)/a.tries)
	}
	return half
}

// allowed returns the largest half-width of the confidence interval for a verdict, by the rule in the package comment.
func (a *answer) allowed() float64 {
	expected, _ := a.value.(float64)
	expected = math.Abs(expected)
	if a.kind == "model" {
		return 0.02 * expected
	}
	switch a.shape {
	case ofShare:
		return max(0.01*expected, min(0.002, max(expected/2, rare)))
	case atLeast, ofLimit:
		return 0.002
	case ofCurve:
		return min(0.01*a.peak, 0.04*expected)
	case ofSame:
		return 1e-9 * cmp.Or(expected, 1)
	case ofTail:
		return max(a.relative()*expected, negligible)
	}
	return a.relative() * expected
}

// relative returns the largest half-width allowed for the quantity, as a share of its expected value.
func (a *answer) relative() float64 {
	switch {
	case a.busy && a.shape == ofMoment:
		return 0.10
	case a.busy && a.shape != ofLeast && a.shape != ofMost:
		return 0.04
	case a.heavy && a.shape == ofMoment:
		return 0.05
	case a.shape == ofTail:
		return 0.02
	}
	return 0.01
}

// loose reports whether more than 1 % of the expected value, 2 % for a 99th percentile, is allowed as half-width.
func (a *answer) loose() bool {
	switch a.shape {
	case ofMean, ofLeast, ofMost, ofMoment, ofTail:
		return a.kind != "model" && a.relative() > plain.Either(a.shape == ofTail, 0.02, 0.01)
	case ofCurve:
		expected, _ := a.value.(float64)
		return a.allowed() > 0.01*math.Abs(expected)
	}
	return false
}

// rare is the smallest probability that a measurement is required to distinguish from 0.
const rare = 1e-5

// wants returns an estimate of how many replications make the quantity's confidence interval as narrow as allowed.
func (a *answer) wants() int {
	n := len(a.values)
	half, allowed := a.half(), a.allowed()
	if n < 2 || a.shape == ofSame || half <= allowed || allowed == 0 {
		return n // as many as there are
	}
	return int(min(math.Ceil(float64(n)*half/allowed*half/allowed*1.1)+1, 4*float64(n)))
}

// judge returns the verdict on the quantity: measured compared with expected value, in the way its gauge's shape says.
func (a *answer) judge() Verdict {
	expected, isNumber := a.value.(float64)
	centre, half := a.centre(), a.half()
	switch {
	case a.text != nil:
		return met(len(a.texts) == 1 && a.texts[0] == fmt.Sprint(a.value))
	case a.value == nil:
		return met(len(a.values) == 0 && a.nothing > 0) // there is none, as expected
	case !isNumber || math.IsNaN(centre) || a.nothing > 0:
		return Missed
	}
	distance := max(math.Abs(centre-expected)-a.slack, 0)
	allowed := a.allowed()
	switch {
	case a.shape == ofSame:
		return met(half == 0 && distance <= allowed)
	case a.shape == ofLimit:
		if a.sharp && half > allowed {
			return Wide
		}
		return met(a.sharp && math.Abs(centre-a.law) <= half)
	case a.shape == atLeast && half > allowed, a.shape != atLeast && half > allowed && expected != 0:
		return Wide
	case a.shape == atLeast:
		return met(centre >= a.bound-half)
	case a.shape == ofLeast:
		return met(centre >= expected && distance <= allowed)
	case a.shape == ofMost:
		return met(centre <= expected && distance <= allowed)
	case expected == 0:
		return met(math.Abs(centre) < negligible)
	case a.kind == "model":
		return met(distance <= allowed)
	}
	return met(distance <= half+1e-12*math.Abs(expected))
}

func met(ok bool) Verdict { return plain.Either(ok, Met, Missed) }

// quantity returns what the answer has measured, with its verdict, for the Result of the row.
func (a *answer) quantity() Quantity {
	q := Quantity{Name: a.path, Expected: a.value, Half: a.half(), Allowed: a.allowed(), Loose: a.loose(),
		Replications: a.seen, Repeated: a.repeated, Verdict: a.judge()}
	switch centre := a.centre(); {
	case a.text != nil && len(a.texts) > 0:
		q.Measured = a.texts[0]
		if len(a.texts) > 1 {
			q.Reason = fmt.Sprintf("one replication says %s, another %s", a.texts[0], a.texts[1])
		}
	case !math.IsNaN(centre):
		q.Measured = centre
	}
	switch {
	case a.shape == atLeast:
		least := strconv.FormatFloat(a.bound, 'f', -1, 64)
		q.Reason = "measured: the share of those up to it, which must be at least " + least
	case a.shape == ofLimit && a.sharp:
		q.Reason = "measured: the share that keeps the limit; the law of the coin says " +
			strconv.FormatFloat(a.law, 'f', 6, 64)
	case a.shape == ofLimit:
		q.Reason = "by the law of the coin another limit is the tightest"
	}
	if a.nothing > 0 && len(a.values) > 0 {
		q.Reason = fmt.Sprintf("%d of the replications had no value", a.nothing)
	}
	return q
}
