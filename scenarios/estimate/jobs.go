package estimate

import "qsim/scenarios/spec"

// JobsOf returns the expected number of jobs of a class without storms, including all copies by callers; 0 for a trace,
// whose length is not known.
func JobsOf(job *spec.JobClass, duration spec.Duration) float64 {
	a := &job.Arrivals
	count := a.MeanRate() * a.Length(duration).Seconds()
	if a.Process == "batch" && a.Size != nil && count > 0 {
		count += float64(*a.Size) // the first arrival is at the start
	}
	return count * copies(job)
}

// copies returns the highest number of copies of one job that a caller enqueues, the first included.
func copies(job *spec.JobClass) float64 {
	if job.Patience == nil {
		return 1
	}
	return 1 + float64(job.Patience.Resubmits)
}

// BurstJobs returns the number of jobs that a storm adds to the usual arrivals, including copies.
func BurstJobs(sc *spec.Scenario, s *spec.Storm) float64 {
	x := s.Effect()
	class := sc.ClassIndex(x.Class)
	windows, each := s.Windows(), 1.0
	if class >= 0 {
		each = copies(&sc.Jobs[class])
	}
	switch {
	case x.Jobs != nil:
		return float64(*x.Jobs) * windows * each
	case x.Rate != nil && class >= 0:
		return sc.Jobs[class].Arrivals.MeanRate() * float64(*x.Rate) * s.For.Std().Seconds() * windows * each
	}
	return 0
}
