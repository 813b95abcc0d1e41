package measure

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// drainQuantile defines when a backlog has drained after a storm: once the number of ready jobs is at most this
// quantile of what it was, over time, before the first storm.
const drainQuantile = 0.95

// stormWatch measures, for one storm, how long afterwards the backlog takes to drain and the waits take to recover.
type stormWatch struct {
	name        string
	over        engine.Time // end of the storm
	drainedAt   engine.Time // time at which the backlog had drained; −1: not yet
	recovery    *recovery   // sliding windows of waits; nil: the load gives no length for them
	candidate   engine.Time // time since which the p95 is back in range; −1: it is not
	recoveredAt engine.Time // time at which the waits had recovered; −1: not yet
}

// drained returns the value of drain.time for the storm, a lower bound if its backlog had not drained by end.
func (w *stormWatch) drained(end engine.Time) Value {
	if w.drainedAt < 0 {
		return atLeast(end.Sub(w.over).Seconds(), true)
	}
	return some(w.drainedAt.Sub(w.over).Seconds())
}

// recovered returns the value of recovery.time for the storm, a lower bound if waits had not recovered by end. left is
// true if jobs are left in the store: if not, nothing can undo a recovery that was still to be confirmed.
func (w *stormWatch) recovered(end engine.Time, left bool) Value {
	switch {
	case w.recovery == nil:
		return none("the mean service time and the arrival rate are not known")
	case w.recovery.windows < fewestWindows:
		return none("there are fewer than 20 windows before the first storm")
	case w.recoveredAt >= 0:
		return some(w.recoveredAt.Sub(w.over).Seconds())
	case w.candidate < 0 && w.recovery.blind > 0:
		return atLeast(max(w.recovery.blind.Sub(w.over), 0).Seconds(), true)
	case w.candidate < 0:
		return atLeast(end.Sub(w.over).Seconds(), true)
	}
	return atLeast(w.candidate.Sub(w.over).Seconds(), left)
}

// stormState holds the backlog and the waits from before the first storm, and measures how long they take to return to
// that level after each storm.
type stormState struct {
	calm       *clockWindow   // window between warm-up and the first storm; nil: no storm
	levels     *backlogLevels // numbers of ready jobs before the first storm; nil: no query is for what follows
	backlog    float64        // mean number of ready jobs before the first storm
	drainLevel int64
	excess     float64     // backlog above its earlier mean since the first storm, in job·ns
	since      engine.Time // latest change of the number of ready jobs, or edge of a window
	watches    []*stormWatch
	draining   []*stormWatch
	recoveries []*recovery // sliding windows still needed
}

// watchStorms sets the time before the first storm and the end of each storm of the scenario.
func (v *view) watchStorms() {
	s := v.settings
	if len(s.Storms) == 0 {
		return
	}
	first := slices.MinFunc(s.Storms, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	v.storms.calm = &clockWindow{stretch: stretch{engine.Time(s.Warmup), engine.Time(max(first.From, s.Warmup))}}
	v.windows = append(v.windows, v.storms.calm)
	for _, storm := range s.Storms {
		watch := &stormWatch{name: storm.Name, over: engine.Time(storm.To), drainedAt: -1, candidate: -1, recoveredAt: -1}
		v.storms.watches = append(v.storms.watches, watch)
	}
}

// follow makes the view measure how its backlog and, if waits is set, its waits return to normal after each storm.
func (v *view) follow(waits bool) {
	for i, watch := range v.storms.watches {
		made(&v.storms.levels)
		if window := recoveryWindow(v.rest, v.settings.Storms[i]); waits && window > 0 {
			watch.recovery = among(&v.storms.recoveries, func(r *recovery) bool { return r.window == window },
				func() *recovery { return newRecovery(v.settings, window) })
		}
	}
}

// stormOf returns the measurements of the storm of the given name, of the last one if that is ""; nil: there is none.
func (v *view) stormOf(name string) *stormWatch {
	at := len(v.storms.watches) - 1
	if name != "" {
		at = slices.IndexFunc(v.storms.watches, func(w *stormWatch) bool { return w.name == name })
	}
	if at < 0 {
		return nil
	}
	return v.storms.watches[at]
}

// hold accounts for the time since the number of ready jobs became what it is given as: before the first storm in the
// numbers that count as normal, from then on in the drains and in excess, the integral of the ready jobs above their
// normal mean.
func (v *view) hold(ready int64) {
	s := &v.storms
	span := v.now - s.since
	if span <= 0 {
		return
	}
	switch {
	case s.since < s.calm.from:
	case s.since < s.calm.to:
		s.levels[bucketOf(max(ready, 0))] += int64(span)
	default:
		if len(s.draining) > 0 {
			v.checkDrains(ready)
		}
		if above := float64(ready) - s.backlog; above > 0 && s.since < engine.Time(v.settings.Duration) {
			s.excess += float64(above * float64(span))
		}
	}
	s.since = v.now
}

// onStormEdge handles the beginning of the first storm and the end of any storm, if they are followed: it starts to
// measure the drain and the recovery of those that end. The backlog is judged once time goes on: the jobs of a burst of
// an instant come only after its end.
func (v *view) onStormEdge() {
	s := &v.storms
	if s.levels == nil {
		return
	}
	v.hold(v.ready())
	if v.now == s.calm.to {
		v.onCalmOver()
	}
	for _, w := range s.watches {
		if w.over != v.now {
			continue
		}
		s.draining = append(s.draining, w)
		if w.recovery != nil && w.recovery.back {
			w.candidate = v.now
		}
	}
}

// backlogLevels is a histogram, over time, of the number of ready jobs: the time, by the bucket of their number.
type backlogLevels [bucketCount]int64

// quantile returns the smallest number of ready jobs that was not exceeded for the share q of the time.
func (l *backlogLevels) quantile(q float64) int64 {
	rest := float64(plain.Sum(l[:], func(t int64) int64 { return t })) * q
	for i, t := range l {
		if rest -= float64(t); rest <= 0 {
			return bucketMiddle(i)
		}
	}
	return 0
}

const (
	fewestWindows  = 20   // with fewer windows before the first storm, recovery.time has no value
	windowSteps    = 10   // a window slides by a tenth of its length
	windowServices = 30   // a window lasts this many mean service times
	windowArrivals = 200  // a window lasts this many arrivals, if that is longer
	stayWindows    = 3    // the p95 must stay in its normal range for the time of this many windows
	mostSteps      = 1e5  // most steps of a run
	windowQuantile = 0.95 // quantile of the fresh waits in a window
	calmQuantile   = 0.99 // quantile of that over the windows before the first storm
)

// recovery tracks the p95 of the waits of fresh jobs in a sliding window of claims, before and after storms.
type recovery struct {
	window, step time.Duration
	next         engine.Time // end of the step under way

	slots  [][]uint16 // histogram buckets of the waits, by step of the window
	slot   int        // index of the step under way
	counts [bucketCount]uint32
	total  int
	top    int // highest histogram bucket in use

	windows   int         // number of windows before the first storm
	calm      dense       // p95 of the windows before the first storm
	joined    dense       // the same with unclaimed jobs, see p95Joined
	threshold int64       // highest p95 that counts as recovered, in ns
	longest   int64       // highest one with unclaimed jobs, in ns; at least threshold
	back      bool        // the latest window's p95 is at or below threshold, and with unclaimed jobs at or below longest
	blind     engine.Time // time after the end of arrivals since which no fresh job is left to wait; 0: some are
}

// recoveryWindow returns the length of the sliding window of waits that shows the recovery after a storm, given the
// load outside storms; 0 if that is unknown.
func recoveryWindow(rest Load, storm Window) time.Duration {
	window, length := windowServices*min(rest.Service, math.MaxInt64/windowServices), storm.To-storm.From
	switch {
	case rest.Rate > 0:
		arrivals := windowArrivals / rest.Rate * float64(time.Second)
		window = max(window, time.Duration(min(arrivals, float64(engine.Forever/2))))
	case length > 0:
		return length
	}
	if length > 0 { // a storm of an instant sets no least length
		window = min(window, length)
	}
	return window
}

func newRecovery(s *Settings, window time.Duration) *recovery {
	step := max(window/windowSteps, (s.Duration+s.Drain)/mostSteps, 1)
	slots := max(int((window+step-1)/step), 1)
	return &recovery{window: window, step: step, next: engine.Time(s.Warmup).Add(step), slots: make([][]uint16, slots)}
}

// claimed adds the wait of a fresh job, at its claim, to the sliding window that shows when waits have recovered.
func (r *recovery) claimed(bucket int) {
	r.slots[r.slot] = append(r.slots[r.slot], uint16(bucket))
	r.counts[bucket]++
	r.total++
	r.top = max(r.top, bucket)
}

// slide moves the sliding window of waits on by one step: the waits of its oldest step leave it.
func (r *recovery) slide() {
	r.slot = (r.slot + 1) % len(r.slots)
	for _, bucket := range r.slots[r.slot] {
		r.counts[bucket]--
	}
	r.total -= len(r.slots[r.slot])
	r.slots[r.slot] = r.slots[r.slot][:0]
	r.next = r.next.Add(r.step)
}

// p95 returns the 95th percentile, in ns, of the waits in the sliding window, of which there must be at least one, and
// of so many longer ones that have not ended.
func (r *recovery) p95(unclaimed int) int64 {
	above := r.total - int(rankOf(windowQuantile, uint64(r.total+unclaimed)))
	if above < 0 {
		return math.MaxInt64
	}
	for r.top > 0 && r.counts[r.top] == 0 {
		r.top--
	}
	seen := 0
	for i := r.top; ; i-- {
		if seen += int(r.counts[i]); seen > above {
			return bucketMiddle(i)
		}
	}
}

// stepRecoveries evaluates the sliding windows of waits that end now, to find when waits have recovered from a storm.
func (v *view) stepRecoveries() {
	for i := len(v.storms.recoveries) - 1; i >= 0; i-- {
		if r := v.storms.recoveries[i]; r.next == v.now {
			v.onStep(r)
		}
	}
}

// onStep evaluates the p95 of the fresh waits in a sliding window that ends now: before the first storm it adds to the
// normal range of the p95, later it is compared with that.
func (v *view) onStep(r *recovery) {
	calm := v.storms.calm
	switch {
	case v.now <= calm.to:
		if v.now.Sub(calm.from) >= r.window && r.total > 0 {
			r.windows++
			p95 := r.p95(0)
			r.calm.record(bucketOf(p95), p95)
			p95 = v.p95Joined(r)
			r.joined.record(bucketOf(p95), p95)
		}
	case r.total > 0:
		r.back, r.blind = v.isNormal(r), 0
	case v.now > engine.Time(v.settings.Duration) && v.level[freshArea] == 0:
		r.blind = cmp.Or(r.blind, v.now)
	default: // no fresh job was claimed in this step
		r.back, r.blind = v.level[freshArea] == 0 || int64(v.now.Sub(v.gaps.since)) <= r.threshold, 0
	}
	pending := false
	for _, w := range v.storms.watches {
		if w.recovery == r {
			w.judge(v.now)
			pending = pending || w.recoveredAt < 0
		}
	}
	r.slide()
	if !pending {
		v.storms.recoveries = slices.DeleteFunc(v.storms.recoveries, func(other *recovery) bool { return other == r })
	}
}

// isNormal reports whether the p95 wait of the window's claims is back at its level from before the storms, and so is
// that with the jobs that nobody has claimed.
func (v *view) isNormal(r *recovery) bool {
	return r.p95(0) <= r.threshold && r.p95(v.unclaimed(r, r.longest)) <= r.longest
}

// unclaimed returns the number of fresh jobs that became ready in the window and, unclaimed, have waited for longer
// than a time, in ns, by now.
func (v *view) unclaimed(r *recovery, longer int64) (jobs int) {
	v.starving.join(v.now)
	for kind := range v.starving.lanes {
		if v.kind < 0 || int(v.kind) == kind {
			jobs += v.starving.lanes[kind].within(v.now.Add(-r.window), v.now-engine.Time(longer))
		}
	}
	return jobs
}

// p95Joined returns the p95 wait, in ns, of the window's claims joined by its unclaimed jobs: the least that is not
// exceeded if those that have waited for longer than it count.
func (v *view) p95Joined(r *recovery) int64 {
	least := r.p95(0)
	if v.unclaimed(r, least) == 0 {
		return least
	}
	from := bucketOf(least)
	return bucketMiddle(from + sort.Search(bucketCount-1-from, func(i int) bool {
		middle := bucketMiddle(from + i)
		return r.p95(v.unclaimed(r, middle)) <= middle
	}))
}

// judge sets a storm's recovery time once the p95 wait has stayed within its range from before the storms long enough.
func (w *stormWatch) judge(now engine.Time) {
	switch {
	case now < w.over || w.recoveredAt >= 0:
	case !w.recovery.back:
		w.candidate = -1
	case w.candidate < 0:
		w.candidate = now
	case now.Sub(w.candidate) >= stayWindows*w.recovery.window:
		w.recoveredAt = w.candidate
	}
}

// onCalmOver fixes, when the first storm begins, the levels of backlog and waits that later count as recovered.
func (v *view) onCalmOver() {
	if v.storms.calm.span == 0 {
		return
	}
	v.storms.backlog = (v.storms.calm.area[freshArea] + v.storms.calm.area[retryArea]) / float64(v.storms.calm.span)
	v.storms.drainLevel = v.storms.levels.quantile(drainQuantile)
	for _, r := range v.storms.recoveries {
		r.threshold = int64(v.storms.calm.meanFreshWait() + v.rest.Service/10)
		if r.windows > 0 {
			r.threshold = max(r.threshold, int64(quantileOf(calmQuantile, &r.calm)))
		}
		r.longest = max(r.threshold, int64(quantileOf(calmQuantile, &r.joined)))
		r.back = r.total == 0 || v.isNormal(r)
	}
}

// checkDrains records the time since which the backlog is back at its level from before the storms, if it is, as the
// drain time of the storms that are over.
func (v *view) checkDrains(ready int64) {
	if ready > v.storms.drainLevel {
		return
	}
	for _, w := range v.storms.draining {
		w.drainedAt = v.storms.since
	}
	v.storms.draining = slices.Delete(v.storms.draining, 0, len(v.storms.draining))
}
