package measure

import (
	"qsim/engine"
	"slices"
	"time"
)

// What is integrated over time. The first three have peaks too.
const (
	freshArea   = int(engine.Fresh) // jobs ready, as fresh
	retryArea   = int(engine.Retry) // jobs ready, as retries
	waitingArea = 2
	busyArea    = 3 // busy workers
	idleArea    = 4 // idle workers, while a job is ready
	presentArea = 5 // 1 while a fresh job is ready
	numAreas    = 6
	numPeaks    = 3
)

// segment counts what happens between two boundaries of the clock.
type segment struct {
	from       engine.Time
	area       [numAreas]int64 // value × ns; a segment is too short for this to overflow
	peak       [numPeaks]int64
	claims     [engine.NumClasses]uint64
	freshWaits uint64 // ns, of the fresh jobs claimed
	finished   uint64
	failures   uint64
	firsts     uint64 // first successes
	fenced     uint64
	answered   uint64 // callers
	calls      [engine.NumOps]uint64
	rows       [engine.NumOps]uint64
}

// longestSegment keeps a segment's integers from overflowing.
const longestSegment = time.Minute

// clockWindow adds up the segments of a window of time.
type clockWindow struct {
	from, to   engine.Time
	span       time.Duration // so far
	area       [numAreas]float64
	peak       [numPeaks]int64
	claims     [engine.NumClasses]uint64
	freshWaits float64 // ns
	finished   uint64
	firsts     uint64
	fenced     uint64
	answered   uint64 // callers
	calls      [engine.NumOps]uint64
	rows       [engine.NumOps]uint64

	longest time.Duration // without a claim of a fresh job while one was ready
	streak  uint64        // consecutive claims of retries, likewise
	folded  *Histogram    // of the lengths of stretches within the window that are no longer kept one by one; nil: there are none
	shares  *tenantShares // nil: nobody asks
	skip    uint64        // so many claims of the streak under way were before the window
}

// stretch is a time in which a fresh job was ready and none was claimed.
type stretch struct{ from, to engine.Time }

// covers reports whether a segment that begins at t belongs to w.
func (w *clockWindow) covers(t engine.Time) bool { return t >= w.from && t < w.to }

// add counts the segment s, which ends at until and lies in w.
func (w *clockWindow) add(s *segment, until engine.Time) {
	w.span += until.Sub(s.from)
	for i, a := range s.area {
		w.area[i] += float64(a)
	}
	for i, p := range s.peak {
		w.peak[i] = max(w.peak[i], p)
	}
	for i, n := range s.claims {
		w.claims[i] += n
	}
	for i := range s.calls {
		w.calls[i] += s.calls[i]
		w.rows[i] += s.rows[i]
	}
	w.freshWaits += float64(s.freshWaits)
	w.finished += s.finished
	w.firsts += s.firsts
	w.fenced += s.fenced
	w.answered += s.answered
}

// note counts the stretch that ends or is interrupted at until.
func (w *clockWindow) note(from, until engine.Time) {
	from, until = max(from, w.from), min(until, w.to)
	if until <= from {
		return
	}
	w.longest = max(w.longest, until.Sub(from))
}

// meanFreshWait is that of the fresh jobs claimed in w, 0 if there were none.
func (w *clockWindow) meanFreshWait() time.Duration {
	if w.claims[engine.Fresh] == 0 {
		return 0
	}
	return time.Duration(w.freshWaits / float64(w.claims[engine.Fresh]))
}

// starvation follows the stretches in which fresh jobs are passed over.
type starvation struct {
	since  engine.Time // when the stretch under way began: a fresh job is ready
	streak uint64      // consecutive claims of retries while a fresh job was ready
	long   []stretch   // over a second, of the whole run, but for those that windows have folded
	hint   time.Duration
}

// endStretch ends the stretch under way, if a fresh job was ready.
func (c *Collector) endStretch() {
	length := c.now.Sub(c.starve.since)
	if length <= c.starve.hint {
		return
	}
	c.noteStretch(c.starve.since)
	if length > starvedAtLeast {
		c.chartStretch(c.starve.since)
		if len(c.starve.long) == mostStretches {
			c.foldStretches()
		}
		c.starve.long = append(c.starve.long, stretch{c.starve.since, c.now})
	}
}

// chartStretch adds the stretch that lasted until now to the buckets that it lies in.
func (c *Collector) chartStretch(since engine.Time) {
	bucket := engine.Time(c.settings.Bucket)
	if bucket <= 0 {
		return
	}
	for i := since / bucket; i*bucket < c.now; i++ {
		for int(i) >= len(c.starved) {
			c.starved = append(c.starved, 0)
		}
		c.starved[i] += min((i+1)*bucket, c.now).Sub(max(i*bucket, since)).Seconds()
	}
}

// mostStretches is how many long stretches are kept one by one, so that a run may be as long
// as it likes.
const mostStretches = 4096

// foldStretches keeps of the stretches only how long they were, but for those across the edge
// of a window: their part in it depends on where they lie.
func (c *Collector) foldStretches() {
	kept := c.starve.long[:0]
	for _, s := range c.starve.long {
		across := slices.ContainsFunc(c.windows, func(w *clockWindow) bool {
			return s.from < w.from && s.to > w.from || s.from < w.to && s.to > w.to
		})
		if across {
			kept = append(kept, s)
			continue
		}
		for _, w := range c.windows {
			if s.from >= w.from && s.to <= w.to {
				if w.folded == nil {
					w.folded = new(Histogram)
				}
				w.folded.Record(s.to.Sub(s.from))
			}
		}
	}
	c.starve.long = kept
}

// noteStretch tells the windows of a stretch that lasted until now.
func (c *Collector) noteStretch(since engine.Time) {
	shortest := starvedAtLeast
	for _, w := range c.open {
		w.note(since, c.now)
		shortest = min(shortest, w.longest)
	}
	c.starve.hint = shortest
}

// passOver counts a claim of a retry while a fresh job is ready.
func (c *Collector) passOver() {
	c.starve.streak++
	for _, w := range c.open {
		w.streak = max(w.streak, c.starve.streak-w.skip)
	}
}

// endStreak ends the consecutive claims of retries.
func (c *Collector) endStreak() {
	if c.starve.streak == 0 {
		return
	}
	c.starve.streak = 0
	for _, w := range c.open {
		w.skip = 0
	}
}

const (
	starvedAtLeast  = time.Second
	starvedMultiple = 10 // of the mean fresh wait in calm times
)

// starvedShare is the share of the time with fresh jobs ready in which the latest
// claim of one, or the time since which one was ready, lay further back than the threshold.
func (a *answer) starvedShare() number {
	present := a.clock.area[presentArea]
	if present == 0 {
		if a.clock.claims[engine.Fresh] == 0 {
			return none("no fresh job was ready")
		}
		return some(0)
	}
	calm := a.calm
	if calm == nil || calm.span == 0 {
		calm = a.windows[0]
	}
	threshold := max(starvedAtLeast, starvedMultiple*calm.meanFreshWait())
	starved := time.Duration(0)
	for _, s := range a.starve.long {
		from, to := max(s.from.Add(threshold), a.clock.from), min(s.to, a.clock.to)
		if to > from {
			starved += to.Sub(from)
		}
	}
	sum := float64(starved)
	for _, b := range a.clock.folded.Buckets() {
		if over := b.Low + (b.High-b.Low)/2 - threshold; over > 0 {
			sum += float64(float64(b.Count) * float64(over))
		}
	}
	return some(sum / present)
}
