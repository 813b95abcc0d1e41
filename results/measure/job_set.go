package measure

import (
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// jobSet holds the counts and waits of the jobs enqueued in one window of time: of all, or of one class or tenant.
type jobSet struct {
	filter
	stretch // the window of enqueueing

	recorded [numFamilies]*dense // waits that ended, by family; nil: not needed, or in waits, see jobSet.wait
	waits    [numFamilies]Waits  // waits by family at the end of the run
	delays   *dense              // backoffs set by the retry policy; nil: not needed
	limits   []limitCount

	starved, starvedClaimed uint64 // fresh jobs that waited beyond their class's threshold; those that were claimed

	enqueued, revived, claims, retries, retriesDone, deaths, nacks, unresolved uint64
	deathsBy                                                                   [numDeaths]uint64

	callerCounts

	triesMax                   int32             // most claims of a retried job
	delaySum                   float64           // ns
	duplicates, lapsed         uint64            // executions: not the first success of a job; ended after their lease
	causes                     [numCauses]uint64 // duplicates by cause; resubmissions are not duplicates
	doubled                    uint64            // jobs whose side effect was applied more than once
	busy, accepted             float64           // ns in handlers; of these, in executions whose ack was accepted
	leasesExpired, leasesFalse uint64            // leases recovered; of these, from a process that was alive
}

// callerCounts counts the callers whose first copy of a job is in a job set: those with patience (they give up or
// enqueue a copy after some time), and of these the ones answered in time and those still undecided at the end.
type callerCounts struct {
	patient, answered, undecided uint64
	further                      uint64 // jobs of the set that are further copies
	copies                       int64  // claims of all copies of the callers' jobs, less the claims of the set's jobs
}

// limitCount counts the fresh jobs claimed within a wait limit, and those claimed later or never.
type limitCount struct {
	limit        time.Duration
	within, late uint64
}

// newJobSet returns a job set, still without counts, for the jobs that pass filter f and are enqueued in [from, to).
func newJobSet(f filter, from, to time.Duration) *jobSet {
	return &jobSet{filter: f, stretch: stretch{engine.Time(from), engine.Time(max(from, to))}}
}

// has reports whether the set counts a job with the given enqueue time, class and tenant.
func (s *jobSet) has(enqueued engine.Time, kind engine.Kind, tenant engine.TenantID) bool {
	return s.covers(enqueued) && s.filter.has(kind, tenant)
}

// want makes a job set collect what a metric is computed from: histograms or counts; limit is the query's wait limit.
func (s *jobSet) want(m *metric, limit time.Duration) {
	keep := func(f family) { made(&s.recorded[f]) }
	switch {
	case m.family == attemptWait:
		keep(freshWait)
		keep(retryWait)
	case m.family != noFamily:
		keep(m.family)
	case m.Name == slowdown:
		keep(freshWait)
	case m.Name == "fresh.within":
		s.limits = append(s.limits, limitCount{limit: limit})
	case m.Name == "retry.delay.p99":
		made(&s.delays)
	}
}

// wait returns the distribution of one family of waits, collected for a metric, at the end of the run. The waits of all
// claims are joined from those of fresh jobs and of retries when they are first needed.
func (s *jobSet) wait(f family) *Waits {
	w := &s.waits[f]
	if d := s.recorded[f]; d != nil {
		w.Ended, s.recorded[f] = d.histogram(), nil
	}
	if f == attemptWait && w.Count() == 0 {
		w.merge(s.wait(freshWait))
		w.merge(s.wait(retryWait))
	}
	return w
}

// claimed counts a claim of a job of the set, with its wait.
func (s *jobSet) claimed(k *claim) {
	s.claims++
	family := retryWait
	if k.class == engine.Fresh {
		family = freshWait
		s.firstClaim(k)
	} else {
		s.retries++
		s.triesMax = max(s.triesMax, k.Delivery)
	}
	s.recorded[family].record(k.bucket, k.waited)
}

// firstClaim counts the first claim of a job by whether its wait was within its class's threshold and the wait limits.
func (s *jobSet) firstClaim(k *claim) {
	if k.starved {
		s.starved++
		s.starvedClaimed++
	}
	for i := range s.limits {
		if k.waited <= int64(s.limits[i].limit) {
			s.limits[i].within++
		} else {
			s.limits[i].late++
		}
	}
}

// timely returns the number of fresh jobs claimed within the threshold of their class.
func (s *jobSet) timely() uint64 { return s.claims - s.retries - s.starvedClaimed }

// attemptsMax returns the most claims of any job of the set.
func (s *jobSet) attemptsMax() int64 { return max(int64(s.triesMax), int64(min(s.claims, 1))) }

// nacked counts a failed attempt of a job, which then waits for delay.
func (s *jobSet) nacked(delay time.Duration) {
	s.nacks++
	s.delaySum += float64(delay)
	v := max(int64(delay), 0)
	s.delays.record(bucketOf(v), v)
}

// leftOver counts a job unresolved at the end of the run; unstarted is how long it waits for a handler, −1: not so.
func (s *jobSet) leftOver(u *unfinished.Job, unstarted time.Duration, starved bool) {
	s.unresolved++
	age := func(f family, d time.Duration) {
		if s.recorded[f] != nil {
			s.waits[f].Unresolved.Record(d)
		}
	}
	age(sojourn, u.Age)
	if unstarted >= 0 {
		age(startWait, unstarted)
	}
	switch {
	case u.Class == engine.Fresh && u.State != engine.InFlight:
		if starved {
			s.starved++
		}
		age(freshWait, u.Waited) // one that is not yet due has waited for nothing so far
		for i := range s.limits {
			if u.Waited > s.limits[i].limit {
				s.limits[i].late++
			}
		}
	case u.State == engine.Ready, u.State == engine.Waiting && u.Waited > 0:
		age(retryWait, u.Waited)
	}
}

// within returns the value of fresh.within: the share of fresh jobs claimed within a wait limit. It leaves out
// unclaimed jobs that have waited for less when the run ends.
func (s *jobSet) within(limit time.Duration) Value {
	for i := range s.limits {
		if l := &s.limits[i]; l.limit == limit {
			return ratio(float64(l.within), float64(l.within+l.late), "no fresh job was ready")
		}
	}
	return none("no limit was set")
}
