package measure

import (
	"time"

	"qsim/engine"
)

// freshArea and the constants below are the indexes of the levels (numbers of jobs or workers) that are integrated over
// time. Of the first three the maximum is kept too.
const (
	freshArea   = int(engine.Fresh) // number of ready fresh jobs
	retryArea   = int(engine.Retry) // number of ready retries
	waitingArea = 2
	busyArea    = 3 // number of busy workers
	idleArea    = 4 // number of idle workers, while a job is ready; integrated from machines.idleTime
	presentArea = 5 // 1 while a fresh job is ready
	numAreas    = 6
	numPeaks    = 3
)

// tally holds the counts of events in a stretch of virtual time: a segment, or a window of several.
type tally struct {
	claims   [engine.NumClasses]uint64
	finished uint64 // executions whose handler returned
	failures uint64 // executions that did not end in success
	firsts   uint64 // first successful executions of jobs
	fenced   uint64 // stale commits refused
	answered uint64 // callers who got a first success before giving up
	calls    [engine.NumOps]uint64
	rows     [engine.NumOps]uint64 // jobs in the replies to these calls
}

// add adds the event counts of another stretch of virtual time to these counts.
func (t *tally) add(other *tally) {
	for i, n := range other.claims {
		t.claims[i] += n
	}
	for i := range other.calls {
		t.calls[i] += other.calls[i]
		t.rows[i] += other.rows[i]
	}
	t.finished += other.finished
	t.failures += other.failures
	t.firsts += other.firsts
	t.fenced += other.fenced
	t.answered += other.answered
}

// segment holds event counts and integrals of levels (jobs ready and so on) between two times; windows add them up.
type segment struct {
	tally
	from       engine.Time
	area       [numAreas]int64 // integral of each level in units × ns, once the segment has ended, see change
	peak       [numPeaks]int64
	freshWaits uint64 // sum of the waits of the fresh jobs claimed, in ns
}

// longestSegment is the longest virtual time of one segment, so short that the segment's integer sums cannot overflow.
const longestSegment = time.Minute

// clockWindow holds the counts and integrals over one window of virtual time, summed from the segments in it.
type clockWindow struct {
	tally
	stretch
	span       time.Duration // virtual time summed so far
	area       [numAreas]float64
	peak       [numPeaks]int64
	freshWaits float64 // sum of the waits of the fresh jobs claimed, in ns

	longest time.Duration // longest time without a claim of a fresh job while one was ready
	streak  uint64        // most consecutive claims of retries while a fresh job was ready
	folded  Histogram     // lengths of the claim gaps within the window that are no longer kept one by one
	shares  *tenantShares // executions by tenant; nil: not needed
	skip    uint64        // claims of the streak under way that were made before the window
}

// add adds the counts of a segment of time, which ends at until, to a window, in which the segment must lie.
func (w *clockWindow) add(s *segment, until engine.Time) {
	w.span += until.Sub(s.from)
	for i, a := range s.area {
		w.area[i] += float64(a)
	}
	for i, p := range s.peak {
		w.peak[i] = max(w.peak[i], p)
	}
	w.tally.add(&s.tally)
	w.freshWaits += float64(s.freshWaits)
}

// meanFreshWait returns the mean wait of the fresh jobs claimed in a window of time, 0 if there were none.
func (w *clockWindow) meanFreshWait() time.Duration {
	if w.claims[engine.Fresh] == 0 {
		return 0
	}
	return time.Duration(w.freshWaits / float64(w.claims[engine.Fresh]))
}
