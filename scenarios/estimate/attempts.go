package estimate

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/policies"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// mostTries is the limit on attempts above which a job counts, in estimates, as one that may be tried without a limit.
const mostTries = 1000

// failing is one cause, such as a storm or a timeout, for which attempts of a job class fail.
type failing struct {
	kinds spec.ErrorShares
	again float64     // share of the failures that are retried: not of a kind that buries at once, be it as timeouts
	share float64     // share of the attempts, in (0, 1]
	jobs  float64     // number of jobs that may fail in this way
	takes float64     // mean seconds of such an attempt
	lasts float64     // number of seconds of the run in which attempts fail in this way
	storm *spec.Storm // the storm that is the cause; nil: another cause
	over  bool        // the cause is that a dependency is over its limit
	// adds is by how much longer such an attempt is than the mean of all, which contains those that a timeout ends.
	adds float64
}

// Attempts estimates the highest number of attempts in one run that fail for a single cause, such as a storm, of the
// class with that index, with the mean seconds of one, and the number of jobs that may fail so. most is +Inf if no time
// passes between attempts, and 0 if jobs soon use up their attempts.
func Attempts(sc *spec.Scenario, class int) (most, takes, jobs float64) {
	r := sc.RetryOf(class)
	b, err := sc.RetryPolicy(class)
	if err != nil {
		return 0, 0, 0 // an error has already been reported
	}
	for _, f := range failings(sc, class, &sc.Jobs[class]) {
		if times := attempts(sc, &f, &r, b); times > most {
			most, takes, jobs = times, f.takes, f.jobs
		}
	}
	return most, takes, jobs
}

// attempts returns what Attempts does for one cause f, with retry settings given as r and, for the engine, as b.
func attempts(sc *spec.Scenario, f *failing, r *spec.Retry, b *policies.Backoff) float64 {
	most := 0.0
	for _, e := range f.kinds {
		var delay float64
		switch free := slices.Contains(r.Free, e.Kind) && (r.FreeMax < 0 || r.FreeMax > mostTries); {
		case slices.Contains(r.Never, e.Kind), e.Share.Num == 0:
			continue
		case free:
			delay = freeDelay(b)
		case r.MaxAttempts == 0 || r.MaxAttempts > mostTries:
			delay = lateDelay(b, sc.Longest().Seconds())
		default:
			continue
		}
		cycle := delay + f.takes + overhead(sc, f.jobs)
		if cycle == 0 {
			return math.Inf(1)
		}
		workers := float64(sc.Engine.Nodes) * float64(sc.Engine.Workers)
		times := f.lasts / cycle * min(workers, f.jobs)
		if f.share < 1 {
			times = min(times, f.jobs/(1-f.share))
		}
		most = max(most, times)
	}
	return most
}

// overhead returns the mean seconds that store calls put between a failed attempt and the next one, with the linger of
// commits unless so many jobs fail that they fill batches. Backoff and waiting for a worker are not included.
func overhead(sc *spec.Scenario, jobs float64) float64 {
	e := &sc.Engine
	time := 2 * (e.Store.Claim.Dist().Mean() + e.Store.Commit.Dist().Mean() + 2*e.Store.PerJob.Dist().Mean())
	if jobs >= float64(e.Commit.Batch) || e.Commit.Eager {
		return time // a full batch does not linger, nor need an eager one
	}
	return time + e.Commit.Linger.Std().Seconds()
}

// lateDelay returns the mean backoff, in seconds, that a job has reached after failing for total seconds.
func lateDelay(b *policies.Backoff, total float64) float64 {
	delay, passed := 0.0, 0.0
	for n := int32(1); n <= 1<<20 && passed <= total; n *= 2 {
		delay = meanDelay(b, n)
		passed += delay * float64(n)
	}
	return delay
}

// freeDelay returns the shortest mean backoff, in seconds: a job whose failures cost no attempt may have it each time.
func freeDelay(b *policies.Backoff) float64 {
	delay, most := math.Inf(1), 32
	if b.MaxAttempts > 0 {
		most = min(most, b.MaxAttempts)
	}
	for n := 1; n <= most; n++ {
		delay = min(delay, meanDelay(b, int32(n)))
	}
	return delay
}

// meanDelay returns the mean delay, in seconds, after a job's n-th failure under the backoff b, jitter included.
func meanDelay(b *policies.Backoff, n int32) float64 {
	if d, ok := b.Distribution.(dist.Dist); ok && b.Kind == policies.Random {
		mean := d.Mean()
		if b.Max > 0 {
			mean = min(mean, b.Max.Seconds())
		}
		return mean
	}
	forgiving := *b
	forgiving.Count, forgiving.Never = policies.CountClaim, nil
	job := engine.Job{Failures: n - 1, LastDelay: b.Delay(1)}
	const draws = 16
	sum := 0.0
	for i := range draws {
		_, delay := forgiving.Next(&job, engine.NoError, (float64(i)+0.5)/draws)
		sum += delay.Seconds()
	}
	return sum / draws
}

// failings returns the causes for which attempts of job, the class with index i, fail: by itself, timeouts, storms etc.
func failings(sc *spec.Scenario, i int, job *spec.JobClass) []failing {
	jobs, whole := mostJobsOf(sc, job), sc.Longest().Seconds()
	var all []failing
	limit := FreedAt(sc, i)
	busy := func(d *spec.Distribution) float64 { return upTo(cmp.Or(d, &job.Service).Dist(), limit) }
	mean := busy(nil)
	never := sc.RetryOf(i).Never
	retried := func(kinds spec.ErrorShares) (share float64) {
		for _, e := range kinds {
			if !slices.Contains(never, e.Kind) {
				share += e.Share.Float()
			}
		}
		return share
	}
	alone := func(kind string) spec.ErrorShares {
		return spec.ErrorShares{{Kind: kind, Share: spec.Share{Num: 1, Den: 1}}}
	}
	timeout, timeouts := sc.TimeoutOf(i).Seconds(), alone(engine.Timeout.Name())
	late := func(d *spec.Distribution) float64 { // share of the attempts that fail as timeouts
		if timeout == 0 || job.IgnoresCancel && sc.Engine.OnTimeout.Value().WaitOut {
			return 0
		}
		return above(cmp.Or(d, &job.Service).Dist(), timeout)
	}
	add := func(f failing, takes *spec.Distribution) {
		if f.share > 0 {
			f.takes, f.adds = cmp.Or(f.takes, busy(takes)), busy(takes)-mean
			f.again, f.lasts = retried(f.kinds), min(f.lasts, whole)
			f.again += late(takes) * (retried(timeouts) - f.again)
			all = append(all, f)
		}
	}
	own := job.Fails.Errors
	add(failing{kinds: own, share: job.Fails.Rate.Float(), jobs: jobs, lasts: whole}, job.Fails.Takes)
	if poison := job.Poison.Float(); poison > 0 {
		add(failing{kinds: own, share: 1, jobs: max(1, jobs*poison), lasts: whole}, job.Fails.Takes)
	}
	add(failing{kinds: timeouts, share: late(nil), jobs: jobs, takes: max(timeout, mean), lasts: whole}, nil)
	for k := range sc.Dependencies {
		d := &sc.Dependencies[k]
		if d.Name != job.Calls || d.Limit == nil || d.Over.Slow != nil {
			continue
		}
		add(failing{kinds: alone(engine.Throttled.Name()), share: d.Over.Fail.Float(), jobs: jobs, lasts: whole,
			over: true}, d.Over.RejectsIn)
	}
	for k := range sc.Storms {
		s := &sc.Storms[k]
		x := s.Effect()
		hit := x.Dependency == job.Calls
		if x.Dependency == "" {
			hit = slices.Contains(sc.ClassesHit(x.Hits), i)
		}
		if hit && x.Error != "" {
			add(failing{kinds: alone(x.Error), share: x.Fails, jobs: jobs, lasts: s.For.Std().Seconds() * s.Windows(),
				storm: s}, x.Takes)
		}
	}
	return all
}

// with returns two causes as one, with weighted means: second fails attempts that f does not.
func (f failing) with(second failing) failing {
	left := (1 - f.share) * second.share
	share := f.share + left
	mix := func(a, b float64) float64 { return (a*f.share + b*left) / share }
	f.again, f.takes, f.adds = mix(f.again, second.again), mix(f.takes, second.takes), mix(f.adds, second.adds)
	f.share = share
	return f
}

// mostJobsOf returns the expected number of jobs of a class in one run, bursts included, but at least 1; for a trace,
// of unknown length, reference.MostJobs.
func mostJobsOf(sc *spec.Scenario, job *spec.JobClass) float64 {
	if job.Arrivals.Process == "trace" {
		return reference.MostJobs
	}
	jobs := JobsOf(job, sc.Duration)
	for k := range sc.Storms {
		if s := &sc.Storms[k]; s.Effect().Class == job.Class {
			jobs += BurstJobs(sc, s)
		}
	}
	return max(1, jobs)
}

// FreedAt returns the seconds after which an execution timeout frees the worker of an attempt of the class with that
// index; +Inf if there is no timeout, or the worker waits for the handler.
func FreedAt(sc *spec.Scenario, class int) float64 {
	timeout := sc.TimeoutOf(class)
	if timeout == 0 || sc.Jobs[class].IgnoresCancel && !sc.Engine.OnTimeout.Value().Free {
		return math.Inf(1)
	}
	return timeout.Seconds()
}

// Service estimates the mean seconds for which an attempt of the class with that index occupies its worker, if no cause
// but a timeout fails it; +Inf if that has no mean, and no timeout frees the worker.
func Service(sc *spec.Scenario, class int) float64 {
	return upTo(sc.Jobs[class].Service.Dist(), FreedAt(sc, class))
}

// upTo returns the mean of min(X, limit) in seconds, where X is drawn from a distribution, to about 0.1 %. Its products
// are rounded, as results hold it.
func upTo(d dist.Dist, limit float64) float64 {
	over := above(d, limit)
	if over == 0 {
		return d.Mean()
	}
	// Midpoints of v in u = 1 - (1-v)^4, which brings most of them to the largest draws.
	const draws = 1000
	step, sum := (1-math.Sqrt(math.Sqrt(over)))/draws, 0.0
	for i := range draws {
		rest := 1 - float64(step*(float64(i)+0.5))
		sum += float64(min(limit, d.Sample(1-float64(rest*rest*rest*rest))) * 4 * rest * rest * rest * step)
	}
	return sum + float64(over*limit)
}

// above returns the probability that a draw from a distribution exceeds limit, in seconds, to 1e-9.
func above(d dist.Dist, limit float64) float64 {
	const all = 1 << 30
	return float64(all-1-sort.Search(all-1, func(i int) bool { return d.Sample(float64(i+1)/all) > limit })) / (all - 1)
}

// JobsOf returns the expected number of jobs that arrive in a run of that duration for one class, without bursts but
// with all copies that impatient callers may enqueue; 0 for a trace, whose length is not known.
func JobsOf(job *spec.JobClass, duration spec.Duration) float64 {
	a := &job.Arrivals
	count := a.MeanRate() * a.Length(duration).Seconds()
	if a.Process == "batch" && a.Size != nil && count > 0 {
		count += float64(*a.Size) // the first arrival is at the start
	}
	return count * copies(job)
}

// copies returns how often the caller of one job may enqueue it: once, and once for each allowed resubmission.
func copies(job *spec.JobClass) float64 {
	if job.Patience == nil {
		return 1
	}
	return 1 + float64(job.Patience.Resubmits)
}

// BurstJobs returns the highest number of jobs, with copies by impatient callers, that all windows of a burst enqueue;
// for one that multiplies the arrival rate, all arrivals in its windows count.
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
