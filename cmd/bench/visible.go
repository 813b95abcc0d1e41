package bench

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// visibility holds the time, after the end of an enqueue call, from which on claims find its jobs, if a claim takes
// effect halfway through its call, and the share of the enqueue call that the store counts as the jobs' wait. A store
// may read its clock and look for jobs at any time of a call.
type visibility struct {
	after   time.Duration // time from the end of an enqueue call until claims find its jobs; negative: before that end
	counted float64       // wait that the store counts up to the end of the enqueue call, as a share of it, in [0, 1]
}

// taking holds when a job that was ready at once was claimed: times since the end of its enqueue call.
type taking struct {
	before, at   time.Duration // middle of the last claim that did not take the job, and of the one that did
	waited, call time.Duration // wait by the store's clock, and duration of the enqueue call
}

// claimed holds when a claim began and when it took effect, taken to be halfway through the call.
type claimed struct{ began, middle time.Duration }

// takings returns, for each job that was ready as soon as it was enqueued, the claim that took it. It leaves out a job
// that some claim did not take which began after the job's enqueue call: that claim could see it, and had another
// reason. stalls are those of the store, and perJob is the duration that each further job adds to a claim.
func (r *recording) takings(jobs []fed, stalls []world.Span, perJob time.Duration) (all []taking) {
	enqueued := make(map[engine.JobID]fed, len(jobs))
	for _, j := range jobs {
		enqueued[j.job] = j
	}
	of := func(s callSample) claimed { return claimed{s.began(), s.began() + s.net(stalls, perJob)/2} }
	byMiddle := func(a, b claimed) int { return cmp.Compare(a.middle, b.middle) }
	var claims []claimed
	for _, p := range r.probes {
		claims = append(claims, plain.Map(p.samples[engine.OpClaim], of)...)
	}
	slices.SortFunc(claims, byMiddle)
	for _, p := range r.probes {
		for sample, e := range p.leased {
			claim := of(sample)
			n, _ := slices.BinarySearchFunc(claims, claim, byMiddle)
			j, known := enqueued[e.Job]
			if end := j.at + j.late; known && e.Waited == e.Age && n > 0 && claims[n-1].began <= end {
				all = append(all, taking{claims[n-1].middle - end, claim.middle - end, e.Waited, j.call})
			}
		}
	}
	return all
}

// leased yields the event of each claimed job, with the claim that took it.
func (p *probe) leased(yield func(claim callSample, e *engine.Event) bool) {
	claims := 0
	for _, events := range p.chunks {
		for i := range events {
			switch e := &events[i]; {
			case e.Kind == engine.Called && e.Op == engine.OpClaim:
				claims++
			case e.Kind == engine.Leased && !yield(p.samples[engine.OpClaim][claims-1], e):
				return
			}
		}
	}
}

// visibilityOf estimates from when on claims find enqueued jobs: the time that contradicts the fewest claims, those
// that took a job before and those that did not after; of several that nearest to the end of the enqueue call. The
// share that counts as wait is a median.
func visibilityOf(all []taking) (v visibility) {
	if len(all) == 0 {
		return v
	}
	before := plain.Map(all, func(t taking) time.Duration { return t.before })
	taken := plain.Map(all, func(t taking) time.Duration { return t.at })
	shares := plain.Map(all, func(t taking) float64 { return float64(t.waited-t.at) / float64(max(1, t.call)) })
	slices.Sort(before)
	slices.Sort(taken)
	slices.Sort(shares)
	v.counted = min(1, max(0, shares[len(shares)/2]))
	least := len(all) + 1
	for _, after := range slices.Concat([]time.Duration{0}, taken, before) {
		early, _ := slices.BinarySearch(taken, after)
		fine, _ := slices.BinarySearch(before, after+1)
		if wrong := early + len(all) - fine; wrong < least || wrong == least && after.Abs() < v.after.Abs() {
			least, v.after = wrong, after
		}
	}
	return v
}
