package measure

import (
	"slices"

	"qsim/engine"
)

// filter selects the jobs of a class, of a tenant, or of a class and a tenant, for measurements.
type filter struct {
	kind   int32           // class; −1: any
	tenant engine.TenantID // tenant; 0: any
}

// has reports whether a job of that class and tenant passes the filter.
func (f filter) has(kind engine.Kind, tenant engine.TenantID) bool {
	return (f.kind < 0 || f.kind == int32(kind)) && (f.tenant == 0 || f.tenant == tenant)
}

// view is the state of the queue over time (backlog, busy workers, gaps), restricted to the jobs of one filter: all
// jobs, or the class or tenant of a query. Ready jobs, claim gaps and the calm state are those of the filter's jobs
// alone. Workers serve all jobs: idleness and utilization count all workers' time, and starved.claims counts claims of
// any retry before a fresh job of the filter, up to the next claim of any fresh job.
//
// Integrals of the state over time go into a segment, which ends at the next boundary: the edge of a window, of a bucket
// of the series, of a step of a recovery. They are added up where a level changes, not at every event: see change.
type view struct {
	filter
	settings *Settings
	workers  *machines
	rest     Load    // load of the filter's jobs outside storms
	entitled float64 // share of claims guaranteed to fresh jobs; 0: no guarantee, or not for these jobs
	now      engine.Time
	left     int64 // jobs unresolved at the end

	level [numAreas]int64 // present levels, see freshArea

	boundary   engine.Time // latest end of the segment under way
	alarm      engine.Time // time from which advance has more to do than to set now, see followBacklog
	segment    segment
	edges      []engine.Time  // future begins and ends of windows, ascending
	windows    []*clockWindow // the first is the whole run
	open       []*clockWindow // windows that contain the present time
	fencedLate uint64

	gaps    claimGaps
	deficit deficit
	storms  stormState
	series  *seriesSum    // time series; nil: not kept for this filter
	tenants *tenantCounts // counts by tenant; nil: no query needs them
}

// newView returns a view of the jobs that pass filter f; queries then add windows of time to it.
func newView(c *Collector, f filter) *view {
	s := c.settings
	v := &view{filter: f, settings: s, workers: &c.machines, rest: Load{s.Rate, s.Service}}
	if f.kind >= 0 && int(f.kind) < len(s.Loads) {
		v.rest = s.Loads[f.kind]
	}
	v.gaps.hint = gapAtLeast
	v.windows = []*clockWindow{{from: engine.Time(s.Warmup), to: engine.Time(s.Duration)}}
	v.watchStorms()
	return v
}

// window returns the view's window [from, to) of virtual time, creating it if there is none.
func (v *view) window(from, to engine.Time) *clockWindow {
	return among(&v.windows, func(w *clockWindow) bool { return w.from == from && w.to == to },
		func() *clockWindow { return &clockWindow{from: from, to: to} })
}

// among returns the first element of list for which is holds, or else appends one that it makes.
func among[T any](list *[]*T, is func(one *T) bool, makeOne func() *T) *T {
	if i := slices.IndexFunc(*list, is); i >= 0 {
		return (*list)[i]
	}
	one := makeOne()
	*list = append(*list, one)
	return one
}

// begin sorts the edges of all windows of time and starts the view at time 0.
func (v *view) begin() {
	for _, w := range v.windows {
		v.edges = append(v.edges, w.from, w.to)
	}
	for _, w := range v.storms.watches {
		v.edges = append(v.edges, w.over)
	}
	slices.Sort(v.edges)
	v.edges = slices.Compact(v.edges)
	v.advance(0)
}

// change adds by to one of the levels. Until the end of the segment, the level's area lacks the present level times the
// time since the segment's start: a change in between takes from the area what that product then has too much.
func (v *view) change(level int, by int64) {
	v.level[level] += by
	v.segment.area[level] -= by * int64(v.now-v.segment.from)
}

// ready returns the number of the view's ready jobs of both classes.
func (v *view) ready() int64 { return v.level[freshArea] + v.level[retryArea] }

// advance brings the view to the time t, and ends a segment at each boundary up to t, t included. Nothing changes if t
// is not ahead.
func (v *view) advance(t engine.Time) {
	if t >= v.alarm {
		v.onAlarm(t)
	}
	v.now = max(v.now, t)
}

// onAlarm ends the segments with a boundary up to t, and follows the backlog after storms until t.
func (v *view) onAlarm(t engine.Time) {
	if t <= v.now && t < v.boundary {
		return // a further event of this instant
	}
	for v.boundary <= t {
		v.stormGoesOn(v.boundary)
		v.now = v.boundary
		v.onBoundary()
	}
	v.stormGoesOn(t)
}

// endSegment completes the areas of the segment that lasted until now.
func (v *view) endSegment() {
	length := int64(v.now - v.segment.from)
	for i, level := range v.level {
		v.segment.area[i] += level * length
	}
}

// onBoundary ends the segment of time that lasted until now and begins the next one.
func (v *view) onBoundary() {
	v.endSegment()
	for _, w := range v.open {
		w.add(&v.segment, v.now)
	}
	if v.segment.from >= v.windows[0].to {
		v.fencedLate += v.segment.fenced
	}
	next := engine.Never
	if v.series != nil {
		next = v.series.add(&v.segment, v.now, v.workers)
	}
	v.segment = segment{from: v.now, peak: [numPeaks]int64(v.level[:numPeaks])}
	v.stepRecoveries()
	if len(v.edges) > 0 && v.edges[0] == v.now {
		v.edges = v.edges[1:]
		v.onEdge()
	}
	v.boundary = min(v.now.Add(longestSegment), next)
	if len(v.edges) > 0 {
		v.boundary = min(v.boundary, v.edges[0])
	}
	for _, r := range v.storms.recoveries {
		v.boundary = min(v.boundary, r.next)
	}
	v.followBacklog()
}

// onEdge opens and closes the windows of time that have an edge now.
func (v *view) onEdge() {
	if v.level[freshArea] > 0 {
		v.noteStretch(v.gaps.since)
	}
	was := slices.Clone(v.open)
	v.open = v.open[:0]
	for _, w := range v.windows {
		if w.shares != nil && v.now == w.to {
			w.shares.end(v.tenants)
		}
		if !w.covers(v.now) {
			continue
		}
		v.open = append(v.open, w)
		if !slices.Contains(was, w) {
			w.skip = v.gaps.streak
			v.gaps.hint = 0
			if w.shares != nil {
				w.shares.begin(v.tenants)
			}
		}
	}
	v.onStormEdge()
}

// stop integrates the view's levels until end, the end of the run, and closes the claim gap and storm measurements.
func (v *view) stop(end engine.Time) {
	v.advance(end)
	v.checkDrains()
	if v.level[freshArea] > 0 {
		v.endStretch()
	}
}

// close ends the windows of time still open when the run stops; if no job is left, they extend to the end of arrivals.
func (v *view) close(nothing bool) {
	end := v.now
	v.onBoundary()
	for _, w := range v.windows {
		if w.to == engine.Never {
			w.to = end
		}
	}
	v.open = slices.DeleteFunc(v.open, func(w *clockWindow) bool { return !w.covers(v.now) })
	if rest := engine.Time(v.settings.Duration); rest > end && nothing {
		v.advance(rest) // no more events, but the windows of time go on
	}
	if v.series != nil {
		v.series.closeBucket(v.workers)
	}
	for _, w := range v.windows {
		if w.shares != nil {
			w.shares.end(v.tenants)
		}
	}
	v.windows[0].fenced += v.fencedLate
}

// changeReady adds by, 1 or −1, to the view's ready jobs of a class.
func (v *view) changeReady(class engine.Class, by int64) {
	v.change(int(class), by)
	edge := max(by, 0) // the number at which there now are some, or no more
	if class == engine.Fresh && v.level[freshArea] == edge {
		v.change(presentArea, by)
	}
	if v.ready() == edge {
		v.countIdle()
	}
	switch {
	case v.storms.inCalm:
		v.storms.levels.hold(v.ready()-by, v.now)
	case v.storms.begun:
		v.followBacklog()
	}
}

// countIdle brings the level of idle workers beside ready jobs up to date.
func (v *view) countIdle() {
	idle := int64(0)
	if v.ready() > 0 {
		idle = max(v.workers.capacity-v.workers.busy, 0)
	}
	v.change(idleArea, idle-v.level[idleArea])
}

// changeBusy adds by to the busy workers; own: their job is one of the view's.
func (v *view) changeBusy(own bool, by int64) {
	if own {
		v.change(busyArea, by)
	}
	if v.ready() > 0 {
		v.countIdle()
	}
}

// becomeReady counts a job of the view that becomes ready now.
func (v *view) becomeReady(class engine.Class, tenant engine.TenantID) {
	v.changeReady(class, 1)
	n := v.level[class]
	v.segment.peak[class] = max(v.segment.peak[class], n)
	if class == engine.Fresh && n == 1 {
		v.gaps.since = v.now
	}
	if v.tenants != nil {
		v.tenants.want(tenant, 1)
	}
}

// leaveReady counts a job that is no longer ready, without having been claimed.
func (v *view) leaveReady(class engine.Class) {
	v.changeReady(class, -1)
	if class == engine.Fresh && v.level[freshArea] == 0 {
		v.endStretch()
		v.endStreak()
		v.deficit.now = 0
	}
}

func (v *view) becomeWaiting() {
	v.change(waitingArea, 1)
	v.segment.peak[waitingArea] = max(v.segment.peak[waitingArea], v.level[waitingArea])
}

// claimed counts a claim of one of the view's jobs after a wait of waited ns, which lies in that histogram bucket.
func (v *view) claimed(class engine.Class, waited int64, bucket int) {
	v.segment.claims[class]++
	if v.entitled != 0 {
		v.weighClaim(class)
	}
	v.changeReady(class, -1)
	if class == engine.Retry {
		v.claimedElsewhere(class)
		return
	}
	v.endStretch()
	v.endStreak()
	v.gaps.since = v.now
	v.segment.freshWaits += uint64(waited)
	if v.series != nil {
		v.series.waits.recordAt(bucket, waited)
	}
	if r := v.storms.recoveries; len(r) > 0 && v.now >= v.storms.calm.from { // not before the end of the warm-up
		for _, r := range r {
			r.claimed(bucket)
		}
	}
}

// claimedElsewhere counts a claim of a job outside the view, which passes over the view's ready fresh jobs, if any.
func (v *view) claimedElsewhere(class engine.Class) {
	if class == engine.Retry && v.level[freshArea] > 0 {
		v.passOver()
	} else {
		v.endStreak()
	}
}

// deficit is the number of claims by which fresh jobs fall short of the share that the policy guarantees them.
type deficit struct {
	now, worst float64 // claims over the worst stretch that ends now
}

// weighClaim adds a claim, under a policy with a guarantee, to the deficit over the worst stretch of claims with fresh jobs ready throughout: the running
// sum, reset to zero whenever it turns negative.
func (v *view) weighClaim(class engine.Class) {
	if v.level[freshArea] == 0 || !v.windows[0].covers(v.now) {
		return
	}
	d := &v.deficit
	d.now = max(d.now, 0) + v.entitled
	if class == engine.Fresh {
		d.now--
	}
	d.worst = max(d.worst, d.now)
	if class == engine.Fresh && v.level[freshArea] == 1 {
		d.now = 0 // the last claim ended the stretch
	}
}
