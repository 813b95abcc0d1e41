package common

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"qsim/results"
)

// Waits returns a Part.Sample: the seconds from arrival to first attempt, of each job of the classes (none: all).
func Waits(classes ...string) func(r *Run) []float64 {
	return WaitsOf(0, math.Inf(1), classes...)
}

// WaitsOf returns a Part.Sample: the waits, as of Waits, of jobs that arrive in [from, to).
func WaitsOf(from, to float64, classes ...string) func(r *Run) []float64 {
	return each(classes, func(l *Life) (all []float64) {
		if len(l.Began) > 0 && l.Enqueued >= from && l.Enqueued < to {
			all = append(all, l.Began[0].At-l.Enqueued)
		}
		return all
	})
}

// Delays returns a Part.Sample: the backoff, in seconds, after each job's n-th failure, from 1.
func Delays(n int) func(r *Run) []float64 {
	return each(nil, func(l *Life) (all []float64) {
		if len(l.Delayed) >= n {
			all = append(all, l.delay(n-1))
		}
		return all
	})
}

// delay returns the seconds of backoff after attempt i, from 0: from its end until the job is due or, if no end was
// logged (as by a formula), as logged. Rounding to 0.1 ms keeps equal backoffs equal, whatever time calls take.
func (l *Life) delay(i int) float64 {
	if i >= len(l.Ended) {
		return math.Round(l.Delayed[i].Delay*1e4) / 1e4
	}
	return math.Round((l.Delayed[i].At+l.Delayed[i].Delay-l.Ended[i].At)*1e4) / 1e4
}

// Attempts returns a Part.Sample: the number of attempts of each job of the classes (none: all).
func Attempts(classes ...string) func(r *Run) []float64 {
	return each(classes, func(l *Life) []float64 { return []float64{float64(len(l.Began))} })
}

// Runs returns a Part.Sample: the run times, in seconds, of the ended attempts at jobs of the classes (none: all).
func Runs(classes ...string) func(r *Run) []float64 {
	return each(classes, func(l *Life) (all []float64) {
		for i, e := range l.Ended {
			if i < len(l.Began) {
				all = append(all, e.At-l.Began[i].At)
			}
		}
		return all
	})
}

// Again returns a Part.Sample: the seconds from the start of each attempt to the next's, of jobs of the classes.
func Again(classes ...string) func(r *Run) []float64 {
	return each(classes, func(l *Life) (all []float64) {
		for i := 1; i < len(l.Began); i++ {
			all = append(all, l.Began[i].At-l.Began[i-1].At)
		}
		return all
	})
}

// Pauses returns a Part.Sample: the seconds from a job's n-th failure (0: from any failure) to its next attempt.
func Pauses(n int) func(r *Run) []float64 {
	return each(nil, func(l *Life) (all []float64) {
		for i, e := range l.Ended {
			if i+1 < len(l.Began) && !e.OK && (n == 0 || i == n-1) {
				all = append(all, l.Began[i+1].At-e.At)
			}
		}
		return all
	})
}

// Late is a Part.Sample: the lateness of each retry, the seconds from the end of its backoff until it begins.
var Late = each(nil, func(l *Life) (all []float64) {
	for i, e := range l.Ended {
		if i+1 < len(l.Began) && i < len(l.Delayed) && !e.OK {
			all = append(all, l.Began[i+1].At-e.At-l.delay(i))
		}
	}
	return all
})

// Odd is a Part.Sample: how far each due time of a delayed or failed job is from the nearest whole second.
var Odd = each(nil, func(l *Life) (all []float64) {
	for _, e := range l.Delayed {
		due := e.At + e.Delay
		all = append(all, math.Abs(due-math.Round(due)))
	}
	return all
})

// Lost is a Part.Sample: the seconds from the death of a process to the next attempt of each job that it was running.
func Lost(r *Run) (all []float64) {
	for _, l := range r.Lives() {
		for i, b := range l.Began {
			crash := slices.IndexFunc(r.events, func(e Event) bool {
				return e.Kind == Crashed && e.Node == b.Node && e.At >= b.At && e.At < b.At+r.Class(l.Class).Service.Seconds()
			})
			if crash >= 0 && i+1 < len(l.Began) {
				all = append(all, l.Began[i+1].At-r.events[crash].At)
			}
		}
	}
	return all
}

// AttemptsOfLost is a Part.Sample: the number of attempts of each job that was running when its process died.
var AttemptsOfLost = each(nil, func(l *Life) (all []float64) {
	if len(l.Began) > len(l.Ended) {
		all = append(all, float64(len(l.Began)))
	}
	return all
})

// Share is a Part.Value: the share of all attempts that the busiest node makes.
func Share(r *Run) float64 {
	by, all, most := map[string]int{}, 0, 0
	for _, e := range r.events {
		if e.Kind == Began {
			by[e.Node]++
			all++
			most = max(most, by[e.Node])
		}
	}
	return float64(most) / float64(all)
}

// AtOnce is a Part.Value: the highest number of handlers running at once.
func AtOnce(r *Run) float64 {
	now, most := 0, 0
	for _, e := range r.events {
		switch e.Kind {
		case Began:
			now++
		case Ended:
			now--
		}
		most = max(most, now)
	}
	return float64(most)
}

// Last returns a Part.Value: the share of one class's retried jobs that retry after all first attempts of the other.
func Last(of, other string) func(r *Run) float64 {
	return func(r *Run) float64 {
		last, n, all := 0.0, 0.0, 0.0
		for _, l := range r.Lives() {
			if l.Class == other && len(l.Began) > 0 {
				last = max(last, l.Began[0].At)
			}
		}
		for _, l := range r.Lives() {
			if l.Class == of && len(l.Began) > 1 {
				all++
				if l.Began[1].At > last {
					n++
				}
			}
		}
		return n / all
	}
}

// Executions returns a Part.Value: the number of attempts that begin in [from, to), in seconds from the start.
func Executions(from, to float64) func(r *Run) float64 {
	return func(r *Run) float64 {
		return count(r.events, func(e Event) bool { return e.Kind == Began && e.At >= from && e.At < to })
	}
}

// Dead is a Part.Value: the number of jobs that are given up, without a further attempt.
func Dead(r *Run) float64 {
	return count(r.Lives(), func(l *Life) bool { return !math.IsNaN(l.Died) })
}

func count[T any](list []T, counts func(T) bool) (n float64) {
	for _, one := range list {
		if counts(one) {
			n++
		}
	}
	return n
}

func each(classes []string, of func(l *Life) []float64) func(r *Run) []float64 {
	return func(r *Run) (all []float64) {
		for _, l := range r.Lives() {
			if l.of(classes) {
				all = append(all, of(l)...)
			}
		}
		return all
	}
}

// Mean returns a Part.Value: the mean of a sample, NaN if that is empty.
func Mean(sample func(r *Run) []float64) func(r *Run) float64 {
	return func(r *Run) float64 { return results.MeanOf(sample(r)) }
}

// Quantile returns a Part.Value: the p-quantile of a sample, NaN if that is empty.
func Quantile(p float64, sample func(r *Run) []float64) func(r *Run) float64 {
	return func(r *Run) float64 {
		values := slices.Sorted(slices.Values(sample(r)))
		if len(values) == 0 {
			return math.NaN()
		}
		return values[min(len(values)-1, int(p*float64(len(values))))]
	}
}

// Within returns a Part.Value: the share of a sample that is at most limit, NaN if that is empty.
func Within(limit float64, sample func(r *Run) []float64) func(r *Run) float64 {
	return func(r *Run) float64 {
		values := sample(r)
		return count(values, func(v float64) bool { return v <= limit }) / float64(len(values))
	}
}

// KS returns the two-sided p value of the two-sample Kolmogorov–Smirnov test that a and b are of one distribution:
// Press and others, Numerical Recipes (2007), section 14.3.3. Ties bias it upwards.
func KS(a, b []float64) float64 {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	distance := stat.KolmogorovSmirnov(a, nil, b, nil)
	root := math.Sqrt(float64(len(a)) * float64(len(b)) / float64(len(a)+len(b)))
	lambda := (root + 0.12 + 0.11/root) * distance
	if lambda < 0.2 {
		return 1 // the series converges slowly, to 1
	}
	p, sign := 0.0, 2.0
	for k := 1.0; k <= 100; k++ {
		p += sign * math.Exp(-2*k*k*lambda*lambda)
		sign = -sign
	}
	return min(1, max(0, p))
}
