package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/results/plain"
)

// fewSeeds is the number of seeds below which a t-interval is too uncertain to rely on.
const fewSeeds = 5

// warn adds the warnings to a summary. grid holds the runs by policy, then seed; asked is the number of seeds
// requested.
func (s *Summary) warn(grid [][]*measure.Run, asked int) {
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	n := len(s.Seeds)
	if s.Partial {
		add("partial: %d of %s finished under every policy", n, plain.Plural(max(asked, n), "seed"))
	}
	switch {
	case n == 1 && slices.ContainsFunc(s.Objectives, func(v Verdict) bool { return v.Outcome != Unclear }):
		add("one seed: no intervals, no comparisons, and no verdicts but on counts that must be 0")
	case n == 1:
		add("one seed: no intervals, no verdicts and no comparisons")
	case n < fewSeeds:
		add("%d seeds are few: intervals are wide", n)
	}
	s.warnOfWarmUp(grid, add)
	for i := range s.Policies {
		s.warnOfRuns(i, grid[i], add)
		s.warnOfOverload(i, grid[i], add)
		s.warnOfRelapse(i, grid[i], add)
		s.warnOfGaps(&s.Policies[i], add)
	}
	s.warnOfStorms(add)
	s.warnOfUnclear(add)
}

// warnOfStorms warns of storms in which not retries, but fresh jobs alone overload the workers: those that come bring
// more work, each tried once, than all workers can do.
func (s *Summary) warnOfStorms(add func(string, ...any)) {
	var texts []string
	policies := map[string][]string{} // labels of the policies of each text
	for _, o := range s.Settings.Overloads {
		text := fmt.Sprintf("fresh jobs alone overload the workers during %s: each tried once, they bring %s%% of the "+
			"work that the workers can do then", o.Storm, plain.Digits(100*o.Load, 3))
		texts, policies[text] = append(texts, text), append(policies[text], s.Policies[o.Policy].Label)
	}
	for _, text := range plain.Distinct(texts) {
		of := plain.When(len(policies[text]) < len(s.Policies), strings.Join(policies[text], ", ")+": ")
		add("%s%s", of, text)
	}
}

// mostUnclear is the highest number of unclear objectives with a warning each; if there are more, one warning counts
// them.
const mostUnclear = 3

// warnOfUnclear warns of unclear objectives: of each if they are few, else with their number and how many seeds would
// settle them. With one seed another warning says already that there are no verdicts.
func (s *Summary) warnOfUnclear(add func(string, ...any)) {
	unclear := slices.DeleteFunc(slices.Clone(s.Objectives), func(v Verdict) bool {
		return v.Outcome != Unclear || len(s.Seeds) == 1 && v.Reason == oneSeed
	})
	if len(unclear) > mostUnclear {
		words := ToDecide(unclear)
		add("%d of %d objectives are unclear%s", len(unclear), len(s.Objectives), plain.When(words != "", "; "+words))
		return
	}
	for _, v := range unclear {
		add("%s: %s %s is %s", v.Policy, v.Query, v.Limit(), v.Note())
	}
}

// Note returns the text printed beside a verdict's sign, such as "as expected" or how many seeds would decide; or "".
func (v *Verdict) Note() string {
	switch {
	case v.Outcome == Unclear:
		return "unclear; " + toDecide(v.Seeds, v.Reason)
	case v.Expect && v.Outcome == Missed:
		return "as expected"
	case v.Expect:
		return "expected to be missed"
	}
	return ""
}

// ToDecide returns what would decide unclear verdicts: how many seeds, and for how many of the verdicts if not for all,
// or the reason why none would; "" if there are several reasons.
func ToDecide(unclear []Verdict) string {
	seeds, open := 0, 0
	for _, v := range unclear {
		seeds, open = max(seeds, v.Seeds), open+min(v.Seeds, 1)
	}
	reasons := plain.Distinct(plain.Map(unclear, func(v Verdict) string { return v.Reason }))
	return toDecide(seeds, plain.When(len(reasons) == 1, cmp.Or(reasons...))) +
		plain.When(open > 0 && open < len(unclear), fmt.Sprintf(" for %d of them", open))
}

// toDecide returns what would decide an unclear verdict: how many seeds, or the reason why none would.
func toDecide(seeds int, reason string) string {
	return plain.Either(seeds > 0, fmt.Sprintf("run about %s seeds", plain.Grouped(fmt.Sprint(seeds))), reason)
}

// warnOfRuns warns of unfinished jobs, growing backlogs and the warnings of the runs of a policy.
func (s *Summary) warnOfRuns(i int, runs []*measure.Run, add func(string, ...any)) {
	label, all := s.Policies[i].Label, plain.Plural(len(runs), "seed")
	left, seeds := 0.0, 0
	grew := plain.Count(runs, func(run *measure.Run) bool {
		return growing(&run.Series, s.Settings, i)
	})
	var texts []string
	for _, run := range runs {
		if v := run.Find(measure.Query{Metric: "unfinished.count"}); !v.Null && v.Value > 0 {
			left += v.Value
			seeds++
		}
		texts = append(texts, run.Warnings...)
	}
	if seeds > 0 {
		were := plain.Either(left == 1, "1 job was", plain.Grouped(plain.Digits(left, 1))+" jobs were")
		add("%s: %s neither done nor dead at the end, in %d of %s; values that they make bounds are marked ≥",
			label, were, seeds, all)
	}
	if grew > 0 {
		add("%s: the backlog was still growing when arrivals stopped, in %d of %s", label, grew, all)
	}
	for _, text := range plain.Distinct(texts) {
		seen := plain.Count(texts, func(other string) bool { return other == text })
		add("%s: %s, in %d of %s", label, text, seen, all)
	}
}

// relapse is the share of a run's length for which fresh jobs must starve again for a warning that a recovery did not
// last, and the share of the time before the first storm up to which they may starve for it to be the storm's doing.
const relapse = 0.01

// warnOfRelapse warns of storms from which policy i recovered, but not for good: recovery.time ends when waits have
// been back to normal for a while, even if jobs that the policy held back are still to come.
func (s *Summary) warnOfRelapse(i int, runs []*measure.Run, add func(string, ...any)) {
	set, storms := s.Settings, s.Settings.StormsOf(i)
	for _, storm := range storms {
		first, end := storm.From, time.Duration(math.MaxInt64)
		for _, next := range storms {
			first = min(first, next.From)
			if next.To > storm.To {
				end = min(end, next.From)
			}
		}
		again, seeds := 0.0, 0
		for _, run := range runs {
			back := run.Find(measure.Query{Metric: "recovery.time", After: storm.Name})
			calm := starvedWithin(run, set, set.Warmup, first)
			if back.Null || back.Bound != "" || calm > relapse*(first-set.Warmup).Seconds() {
				continue
			}
			from := storm.To + time.Duration(back.Value*float64(time.Second)) + set.Bucket
			if starved := starvedWithin(run, set, from, end); starved > relapse*set.Duration.Seconds() {
				again, seeds = again+starved, seeds+1
			}
		}
		if 2*seeds > len(runs) {
			add("%s: waits are back to normal after %s, but fresh jobs starve after that, for %s in %d of %s: "+
				"recovery.time ends at the first return", s.Policies[i].Label, storm.Name,
				plain.Duration(again/float64(seeds)), seeds, plain.Plural(len(runs), "seed"))
		}
	}
}

// starvedWithin returns for how many seconds fresh jobs starved in a run between two times, in whole buckets of Series.
func starvedWithin(run *measure.Run, set *measure.Settings, from, to time.Duration) float64 {
	starved := 0.0
	for i, share := range run.Series.Starved {
		if at := time.Duration(i) * set.Bucket; at >= from && at+set.Bucket <= to && share > 0 {
			starved += float64(share * set.Bucket.Seconds())
		}
	}
	return starved
}

// warnOfGaps warns of metrics of the results table that have no value in some or all seeds.
func (s *Summary) warnOfGaps(p *PolicySummary, add func(string, ...any)) {
	for _, q := range TableQueries(s.Settings) {
		e := p.Find(q)
		switch {
		case e == nil:
		case e.Null():
			add("%s: %s has no value: %s", p.Label, q, e.Reason)
		case e.N < len(s.Seeds):
			add("%s: %s has a value in %d of %s only", p.Label, q, e.N, plain.Plural(len(s.Seeds), "seed"))
		}
	}
}

// workersOf returns the number of workers that policy i has on all nodes.
func workersOf(s *measure.Settings, i int) float64 {
	p := &s.Policies[i]
	return float64(cmp.Or(p.Nodes, s.Nodes)) * float64(cmp.Or(p.Workers, s.Workers))
}

// jobsOf returns the arrival rate of jobs outside storms under policy i, and their mean service time.
func jobsOf(s *measure.Settings, i int) (rate float64, service time.Duration) {
	if p := &s.Policies[i]; p.Rate != 0 || p.Service != 0 {
		return p.Rate, p.Service
	}
	return s.Rate, s.Service
}

// offered returns the offered load outside storms under policy i: arrival rate × mean service time ÷ number of workers.
func offered(s *measure.Settings, i int) float64 {
	rate, service := jobsOf(s, i)
	if workers := workersOf(s, i); workers > 0 {
		return rate * service.Seconds() / workers
	}
	return 0
}

// warmUpMultiple is the least length of a warm-up, in relaxation times 1 ÷ (cμ(1 − √ρ)²) of a queue with c workers: the
// effect of the empty start is then below e⁻⁵. Cohen: The Single Server Queue (1982), for one server; c of them are
// taken for one that is c times as fast.
const warmUpMultiple = 5

// settles returns the time that a queue with the given workers takes to forget its empty start at a load below 1.
func settles(service time.Duration, workers, load float64) time.Duration {
	gap := 1 - math.Sqrt(load)
	return time.Duration(min(warmUpMultiple*float64(service)/(workers*gap*gap), math.MaxInt64/2))
}

// warnOfWarmUp warns of policies whose warm-up ends before the queue has settled: at the offered load, or at the load
// measured before the first storm if that is higher, because retries are work too. Policies with the same number of
// workers get one warning between them, for the one that takes longest. grid holds the runs by policy.
func (s *Summary) warnOfWarmUp(grid [][]*measure.Run, add func(string, ...any)) {
	set := s.Settings
	var said []float64 // numbers of workers
	for i := range s.Policies {
		workers := workersOf(set, i)
		if slices.Contains(said, workers) {
			continue
		}
		said = append(said, workers)
		load, kind, needed := 0.0, "load", time.Duration(0)
		for j := i; j < len(s.Policies); j++ {
			own, seen := offered(set, j), utilizationSeen(set, j, grid[j])
			if workersOf(set, j) != workers || seen >= busyWhenOverloaded || own >= 1 || max(own, seen) <= 0 {
				continue // it never settles, or nothing comes by itself
			}
			_, service := jobsOf(set, j)
			if takes := settles(service, workers, max(own, seen)); takes > needed {
				needed, load, kind = takes, max(own, seen), plain.Either(seen > own, "load, retries and all,", "load")
			}
		}
		about := plain.Duration(needed.Seconds())
		if set.Warmup < needed && plain.Duration(set.Warmup.Seconds()) != about { // as long as is advised is enough
			add("the warm-up of %s is too short: at a %s of %s%% on %s the queue takes about %s to settle",
				plain.Setting(set.Warmup), kind, plain.Digits(100*load, 2), plain.Plural(int(workers), "worker"), about)
		}
	}
}

// utilizationSeen returns the measured utilization of the workers under a policy from the warm-up to the first storm, a
// mean over runs; 0 if no time lies between.
func utilizationSeen(s *measure.Settings, policy int, runs []*measure.Run) float64 {
	from, to := calmBuckets(s, policy)
	sum, n := 0.0, 0
	for _, run := range runs {
		for i := from; i < min(to, len(run.Series.Utilization)); i++ {
			sum += run.Series.Utilization[i]
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// calmBuckets returns the range [from, to) of time series buckets between the warm-up and the first storm under a
// policy or, without storms, the end of arrivals.
func calmBuckets(s *measure.Settings, policy int) (from, to int) {
	if s.Bucket <= 0 {
		return 0, 0
	}
	end := s.Duration
	for _, storm := range s.StormsOf(policy) {
		end = min(end, storm.From)
	}
	return int((s.Warmup + s.Bucket - 1) / s.Bucket), int(end / s.Bucket)
}

// busyWhenOverloaded is the least utilization of overloaded workers: below 1, since workers wait for the store between
// two jobs.
const busyWhenOverloaded = 0.97

// warnOfOverload warns if policy i cannot keep up even without a storm: by the offered load, or, because retries are
// work too, by the measured load.
func (s *Summary) warnOfOverload(i int, runs []*measure.Run, add func(string, ...any)) {
	label := s.Policies[i].Label
	if load := offered(s.Settings, i); load >= 1 {
		amount := plain.Digits(100*load, 3) + "% of the work that the workers can do"
		if _, service := jobsOf(s.Settings, i); service >= quantity.Longest {
			amount = "more work than any number of workers can do, as the mean service time is infinite"
		}
		add("%s: overload without a storm: jobs bring %s", label, amount)
		return
	}
	seen := plain.Count(runs, func(run *measure.Run) bool { return overloaded(&run.Series, s.Settings, i) })
	if 2*seen > len(runs) {
		add("%s: overload without a storm: the workers were busy all the time and the backlog grew, in %d of %s",
			label, seen, plain.Plural(len(runs), "seed"))
	}
}

// fewestCalmBuckets is the least number of time series buckets before the first storm that allows a test for a trend.
const fewestCalmBuckets = 8

// overloaded reports whether, between the warm-up and the first storm under a policy, the backlog grew and the workers
// were busy on average over the later half.
func overloaded(s *measure.Series, settings *measure.Settings, policy int) bool {
	from, to := calmBuckets(settings, policy)
	if to = min(to, len(s.FreshReady)); to-from < fewestCalmBuckets {
		return false
	}
	busy, middle := 0.0, (from+to)/2 // after it the empty start is forgotten
	for i := middle; i < to; i++ {
		busy += s.Utilization[i] / float64(to-middle)
	}
	return busy >= busyWhenOverloaded && rises(s, settings, policy, from, to)
}

// warnOfError warns if some interval's relative error is still above g after all seeds; with g = 0 it never warns.
func (s *Summary) warnOfError(g float64) {
	if g == 0 {
		return
	}
	if text := s.Widest(g); text != "" {
		of := func(share float64) string { return plain.Digits(100*share, 2) }
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s are not enough for intervals of ±%s%%, which takes ±%s%% of the "+
			"measured value: %s", plain.Plural(len(s.Seeds), "seed"), of(g), of(g/(1+g)), text))
	}
}

// A backlog counts as growing if the straight line through it rises by more than chance would let it: by more than
// walkDeviations standard deviations of the backlog of a queue that is neither overloaded nor idle, and by more than
// ownDeviations of its own scatter about the line.
//
// The first condition: where as many jobs come as go, both at rate λ and each as by a Poisson process, the backlog is a
// random walk, whose change over a time T has the variance 2λT; that of a queue with room to spare is less. So chance
// lets it rise by more than two standard deviations with a probability of at most 2.3 %, and in a queue at a load of
// 0.9, over more time than it takes to settle, hardly ever. The second condition allows for arrivals and service times
// that vary more, as the backlog then scatters more about the line.
const (
	walkDeviations = 2
	ownDeviations  = 3
)

// growing reports whether a run's backlog grew over the last three tenths of the time in which jobs arrive.
func growing(s *measure.Series, settings *measure.Settings, policy int) bool {
	if settings.Bucket <= 0 {
		return false
	}
	end := int(settings.Duration / settings.Bucket)
	return rises(s, settings, policy, end-3*max(end/10, 1), end)
}

// rises reports whether the number of ready jobs under a policy grew between two buckets by at least one per worker and
// not by chance.
func rises(s *measure.Series, settings *measure.Settings, policy, from, to int) bool {
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
	rate, _ := jobsOf(settings, policy)
	walk := math.Sqrt(2 * max(flow, rate) * settings.Bucket.Seconds() * (n - 1))
	return rise > max(workersOf(settings, policy), 1) && rise > walkDeviations*walk && rise > ownDeviations*math.Sqrt(own)
}
