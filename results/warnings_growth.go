package results

import (
	"math"

	"qsim/results/measure"
)

// A backlog grows in a stretch of time if the straight line through it rises by more than chance would let it: by more
// than walkDeviations standard deviations of the backlog of a queue that is neither overloaded nor idle, and by more
// than ownDeviations of its own scatter about the line.
//
// For the first: where as many jobs come as go, both at rate λ and each as by a Poisson process, the backlog is a random
// walk, whose change over a time T has the variance 2λT; that of a queue with room to spare is less. So two of them are
// exceeded, in that direction, with a probability of at most 2.3 %, and by a queue at a load of 0.9 that is watched for
// longer than it takes to settle hardly ever. Arrivals and services that vary more than that show in the second.
const (
	walkDeviations = 2
	ownDeviations  = 3
)

// growing reports whether a run's backlog grew over the last three tenths of the arrival period.
func growing(s *measure.Series, settings *measure.Settings, workers float64) bool {
	if settings.Bucket <= 0 {
		return false
	}
	end := int(settings.Duration / settings.Bucket)
	return rises(s, settings, end-3*max(end/10, 1), end, workers)
}

// rises reports whether the number of ready jobs grew from bucket from to bucket to: by at least one per worker, and by
// more than chance.
func rises(s *measure.Series, settings *measure.Settings, from, to int, workers float64) bool {
	if from < 0 || to-from < 3 || len(s.FreshReady) < to {
		return false
	}
	n := float64(to - from)
	ready := func(i int) float64 { return s.FreshReady[i] + s.RetryReady[i] }
	mean, flow := 0.0, 0.0
	for i := from; i < to; i++ {
		mean += ready(i) / n
		if i < len(s.FreshClaims) {
			flow += (s.FreshClaims[i] + s.RetryClaims[i]) / n
		}
	}
	slope, squares, middle := 0.0, 0.0, (n-1)/2
	for i := from; i < to; i++ {
		at := float64(i-from) - middle
		slope += float64(at * (ready(i) - mean))
		squares += float64(at * at)
	}
	slope /= squares
	own := 0.0
	for i := from; i < to; i++ {
		off := ready(i) - mean - float64(slope*(float64(i-from)-middle))
		own += float64(off*off) / n
	}
	rise := slope * (n - 1) // from the middle of the first bucket to that of the last
	walk := math.Sqrt(2 * max(flow, settings.Rate) * settings.Bucket.Seconds() * (n - 1))
	return rise > max(workers, 1) && rise > walkDeviations*walk && rise > ownDeviations*math.Sqrt(own)
}
