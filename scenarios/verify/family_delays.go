package verify

import (
	"fmt"
	"math"
	"time"

	"qsim/engine"
	"qsim/policies"
)

// Moments of the delays that retry policies set, to the last digit: a delay is a linear function of each uniform number
// it is made of, so that two nodes of Gauss and Legendre for each give the exact mean and variance.

// exactly returns an experiment whose measurements, by name, are these numbers: nothing is simulated.
func exactly(values map[string]float64) []experiment {
	x := experiment{fixed: true, known: true, measures: map[string]gauge{}}
	for name, v := range values {
		x.measures[name] = same(func(*observer) float64 { return v })
	}
	return []experiment{x}
}

// delayUnit is the Go duration for a delay of 1 in a row, so long that the rounding to nanoseconds does not show.
const delayUnit = 10_000 * time.Second

// nodes holds the points of two-point Gauss-Legendre quadrature on (0, 1), each of weight 1/2.
var nodes = [2]float64{0.5 - 0.5/math.Sqrt(3), 0.5 + 0.5/math.Sqrt(3)}

// nearZero and nearOne are draws so close to 0 and 1 that they give the least and the greatest delay.
const (
	nearZero = 1e-16
	nearOne  = 1 - 1e-16
)

func jitterMoments(p *params) ([]experiment, error) {
	kind, err := policies.ParseJitter(p.text("kind"))
	if err != nil {
		p.wrong("params.kind: %w", err)
		return nil, nil
	}
	if kind.Kind == policies.Decorrelated {
		return decorrelatedMoments(p)
	}
	b := &policies.Backoff{Kind: policies.Exponential, First: scaledUnit(p.positive("base")),
		Factor: p.positive("factor"), Max: scaledUnit(p.positive("cap")), Jitter: kind}
	if err := b.Validate(); err != nil {
		p.wrong("params: %w", err)
		return nil, nil
	}
	j := engine.Job{Failures: int32(p.count("retry")) - 1, Charged: 1}
	delay := func(u float64) float64 {
		_, d := b.Next(&j, engine.FirstErrorKind, u)
		return float64(d) / float64(delayUnit)
	}
	low, high := delay(nodes[0]), delay(nodes[1])
	return exactly(map[string]float64{"mean": (low + high) / 2, "var": (low - high) * (low - high) / 4,
		"min": delay(nearZero), "max": delay(nearOne)}), nil
}

func scaledUnit(v float64) time.Duration { return time.Duration(math.Round(v * float64(delayUnit))) }

// mostNodes is the highest n for which decorrelatedMoments looks at the delay before retry n: that takes 2^n steps.
const mostNodes = 12

// decorrelatedMoments returns an experiment with the exact moments of the delay before retry n under decorrelated
// jitter without a cap, where each delay is drawn from a range given by the one before.
func decorrelatedMoments(p *params) ([]experiment, error) {
	n := p.count("retry")
	if n > mostNodes {
		return nil, fmt.Errorf("retry %d: at most the %dth is looked at", n, mostNodes)
	}
	if p.has("cap") {
		return nil, fmt.Errorf("with a cap a delay is no linear function: see decorr_cap")
	}
	b := &policies.Backoff{Kind: policies.Fixed, First: scaledUnit(p.positive("base")) / 100,
		Jitter: policies.Jitter{Kind: policies.Decorrelated}}
	last := func(u func(i int) float64) float64 {
		j := engine.Job{Charged: 1}
		for i := range n {
			_, j.LastDelay = b.Next(&j, engine.FirstErrorKind, u(i))
			j.Failures++
		}
		return 100 * float64(j.LastDelay) / float64(delayUnit)
	}
	sum, squares := 0.0, 0.0
	for way := range 1 << n {
		v := last(func(i int) float64 { return nodes[way>>i&1] })
		sum, squares = sum+v, squares+v*v
	}
	ways := float64(int(1) << n)
	m := sum / ways
	return exactly(map[string]float64{"mean": m, "var": squares/ways - m*m,
		"min": last(func(int) float64 { return nearZero }), "max": last(func(int) float64 { return nearOne })}), nil
}
