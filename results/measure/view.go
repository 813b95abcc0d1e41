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

// has reports whether a job of the given class and tenant passes the filter.
func (f filter) has(kind engine.Kind, tenant engine.TenantID) bool {
	return (f.kind < 0 || f.kind == int32(kind)) && (f.tenant == 0 || f.tenant == tenant)
}

// view measures the state of the queue over time (backlog, busy workers, claim gaps) for the jobs of one filter: all
// jobs, or the class or tenant of a query. Ready jobs, claim gaps and normal levels are those of the filter's jobs
// alone. Workers serve all jobs: idleness and utilization count all workers' time, and starved.claims counts claims of
// any retry before a fresh job of the filter, up to the next claim of any fresh job.
//
// Integrals of the state over time go into a segment, which ends at the next boundary: the edge of a window, of a
// bucket of the series, of a step of a recovery. They are summed where a level changes, not at every event: see change.
type view struct {
	filter
	*clock
	settings *Settings
	workers  *machines
	starving *starving // queues of the ready fresh jobs
	rest     Load      // load of the filter's jobs outside storms
	entitled float64   // share of claims guaranteed to fresh jobs; 0: no guarantee, or not for these jobs
	left     int64     // jobs unresolved at the end

	level [numAreas]int64 // present levels, see freshArea

	boundary engine.Time // latest end of the segment under way
	segment  segment
	edges    []engine.Time  // future begins and ends of windows, ascending
	windows  []*clockWindow // the first is the whole run
	open     []*clockWindow // windows that contain the present time
	measured bool           // whether the first of windows does

	gaps    claimGaps
	deficit deficit
	storms  stormState
	next    *view         // the next of Collector.narrowed; nil: none
	series  *seriesSum    // time series; nil: not kept for this filter
	tenants *tenantCounts // counts by tenant; nil: no query needs them
}

// newView returns a view, which measures the queue over time, for the jobs that pass a filter; queries then add windows
// of time to it.
func newView(c *Collector, f filter) *view {
	s := c.settings
	v := &view{filter: f, clock: &c.clock, settings: s, workers: &c.machines, starving: &c.starving,
		rest: Load{s.Rate, s.Service}}
	if f.kind >= 0 && int(f.kind) < len(s.Loads) {
		v.rest = s.Loads[f.kind]
	}
	v.gaps.hint = gapAtLeast
	v.windows = []*clockWindow{{stretch: stretch{engine.Time(s.Warmup), engine.Time(s.Duration)}}}
	v.watchStorms()
	return v
}

// window returns the view's counts over a window of virtual time, creating them if there are none.
func (v *view) window(of stretch) *clockWindow {
	return among(&v.windows, func(w *clockWindow) bool { return w.stretch == of },
		func() *clockWindow { return &clockWindow{stretch: of} })
}

// among returns the first element of a list that meets a condition, or else appends a new one and returns that.
func among[T any](list *[]*T, is func(one *T) bool, makeOne func() *T) *T {
	if i := slices.IndexFunc(*list, is); i >= 0 {
		return (*list)[i]
	}
	one := makeOne()
	*list = append(*list, one)
	return one
}

// made returns a pointer that a variable holds; if that is nil, it first sets it to a new zero value.
func made[T any](variable **T) *T {
	if *variable == nil {
		*variable = new(T)
	}
	return *variable
}

// index is a number by which lists are indexed: of a class, of a tenant, or of a bucket of time.
type index interface {
	int | engine.Kind | engine.TenantID | engine.Time
}

// reach returns a pointer to an element of a list, which it lengthens as needed.
func reach[T any, I index](list *[]T, i I) *T {
	if int(i) >= len(*list) {
		*list = append(*list, make([]T, int(i)+1-len(*list))...)
	}
	return &(*list)[i]
}

// element returns an element of a list, the zero value if the list ends before it.
func element[T any, I index](list []T, i I) (one T) {
	if int(i) < len(list) {
		one = list[i]
	}
	return one
}

// begin sorts the edges of all windows of measurement and starts to measure at time 0.
func (v *view) begin() {
	for _, w := range v.windows {
		v.edges = append(v.edges, w.from, w.to)
	}
	for _, w := range v.storms.watches {
		v.edges = append(v.edges, w.over)
	}
	slices.Sort(v.edges)
	v.edges = slices.Compact(v.edges)
	v.cross(0)
}

// cross ends a segment of measurement at each boundary up to the time t, inclusive, and sets the clock to the last one.
func (v *view) cross(t engine.Time) {
	for v.boundary <= t {
		v.now = v.boundary
		v.onBoundary()
	}
}

// onBoundary ends the interval of measurement (segment) that lasted until now and begins the next one.
func (v *view) onBoundary() {
	for i, level := range v.level {
		v.segment.area[i] += level * int64(v.now)
	}
	idle := int64(0)
	if v.ready() > 0 {
		idle = v.workers.idleTime(v.now)
	}
	v.segment.area[idleArea] += idle
	for _, w := range v.open {
		w.add(&v.segment, v.now)
	}
	if whole := v.windows[0]; v.segment.from >= whole.to { // stale commits count to the end of the run
		whole.fenced += v.segment.fenced
	}
	next := engine.Never
	if v.series != nil {
		next = v.series.add(&v.segment, v.now, v.workers)
	}
	v.segment = segment{from: v.now, peak: [numPeaks]int64(v.level[:numPeaks])}
	for i, level := range v.level {
		v.segment.area[i] = -level * int64(v.now)
	}
	v.segment.area[idleArea] = -idle
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
}

// onEdge opens and closes the windows of measurement that have an edge now.
func (v *view) onEdge() {
	if v.level[freshArea] > 0 {
		v.noteStretch(v.gaps.since)
	}
	v.open, v.measured = v.open[:0], v.windows[0].covers(v.now)
	for _, w := range v.windows {
		if w.shares != nil && v.now == w.to {
			w.shares.end(v.tenants)
		}
		if !w.covers(v.now) {
			continue
		}
		v.open = append(v.open, w)
		if v.now == w.from {
			w.skip = v.gaps.streak
			v.gaps.hint = 0
			if w.shares != nil {
				w.shares.begin(v.tenants)
			}
		}
	}
	v.onStormEdge()
}

// stop continues the measurements up to the end of the run, and completes those of claim gaps and drain times.
func (v *view) stop(end engine.Time) {
	v.cross(end)
	v.now = end
	if v.storms.levels != nil {
		v.hold(v.ready())
		v.checkDrains(v.ready())
	}
	if v.level[freshArea] > 0 {
		v.endStretch()
	}
}

// close ends, when the run stops, all windows of time at end, no earlier than now: no more events come meanwhile.
func (v *view) close(end engine.Time) {
	v.onBoundary()
	for _, w := range v.windows {
		if w.to == engine.Never {
			w.to = end
		}
	}
	v.open = slices.DeleteFunc(v.open, func(w *clockWindow) bool { return !w.covers(v.now) })
	v.cross(end)
	if v.series != nil {
		v.series.closeBucket(v.workers)
	}
	for _, w := range v.windows {
		if w.shares != nil {
			w.shares.end(v.tenants)
		}
	}
}

// claimed counts a claim of a job that the view measures: it is no longer ready, and a fresh one ends a claim gap.
func (v *view) claimed(k *claim) {
	v.segment.claims[k.class]++
	if v.entitled != 0 {
		v.weighClaim(k.class)
	}
	v.changeReady(k.class, -1)
	if k.class == engine.Retry {
		v.claimedElsewhere(k.class)
		return
	}
	v.endStretch()
	v.endStreak()
	v.gaps.since = v.now
	v.segment.freshWaits += uint64(k.waited)
	if v.series != nil {
		v.series.claimed(k)
	}
	if r := v.storms.recoveries; len(r) > 0 && v.now >= v.storms.calm.from { // not before the end of the warm-up
		for _, r := range r {
			r.claimed(k.bucket)
		}
	}
}

// claimedElsewhere counts a claim of any job but a fresh one measured by the view. A claim of a retry while such fresh
// jobs are ready passes over them; any other claim ends the streak of such claims.
func (v *view) claimedElsewhere(class engine.Class) {
	if class == engine.Retry && v.level[freshArea] > 0 {
		v.passOver()
	} else {
		v.endStreak()
	}
}

// deficit is the number of claims by which fresh jobs fall short of the share that the policy guarantees them.
type deficit struct {
	now, worst float64 // claims, over the worst stretch that ends now and over the worst of the run
}

// weighClaim updates, at a claim, by how many claims fresh jobs fall short of the share that the policy guarantees
// them, over the worst stretch of claims with fresh jobs ready throughout: a running sum, reset to 0 when it turns
// negative.
func (v *view) weighClaim(class engine.Class) {
	if v.level[freshArea] == 0 || !v.measured {
		return
	}
	d := &v.deficit
	if d.now < 0 {
		d.now = 0
	}
	d.now += v.entitled
	if class == engine.Fresh {
		d.now--
	}
	if d.now > d.worst {
		d.worst = d.now
	}
	if class == engine.Fresh && v.level[freshArea] == 1 {
		d.now = 0 // the last claim ended the stretch
	}
}
