package measure

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// starving measures when fresh jobs starve: from the moment a job's wait reaches the threshold of its class until it is
// claimed. How long it starved is known from its wait at the claim; claims of other jobs meanwhile are counted when
// they are made, by looking at the queues of ready jobs.
type starving struct {
	lanes    []lane      // queues of ready fresh jobs, by kind; the last one is of all kinds that the settings lack
	hungers  []*hunger   // spells of starvation by filter; the first is of all jobs
	byTenant [][]*hunger // spells by the tenant of their filter; 0: those of filters without a tenant
	crowded  []*hunger   // spells during which claims of other jobs are counted
	calm     engine.Time // no due job starves before this time
	// scheduled holds, with Settings.Promoted, the times at which delayed fresh jobs will be due, when they join the
	// queues: waits count from then, however late a job is promoted.
	scheduled heap.Heap[dueAt]
}

// dueAt is the time at which a delayed fresh job of a class and tenant is due.
type dueAt struct {
	at     engine.Time
	kind   engine.Kind
	tenant engine.TenantID
}

// Before reports whether a job is due before another.
func (d dueAt) Before(other dueAt) bool { return d.at < other.at }

// starvedByDefault is the wait from which fresh jobs starve if the settings have no threshold for their class.
const starvedByDefault = time.Second

func newStarving(s *Settings) starving {
	kinds := len(s.Classes) + 1
	b := starving{lanes: make([]lane, kinds)}
	for kind := range b.lanes {
		b.lanes[kind].after = starvedByDefault
		if kind < len(s.StarvedAfter) {
			b.lanes[kind].after = s.StarvedAfter[kind]
		}
	}
	return b
}

// of returns the starvation record (hunger) for the jobs that pass a filter, a new one if there is none. If crowding is
// set, it also counts claims made while such jobs starve.
func (b *starving) of(f filter, crowding bool) *hunger {
	h := among(&b.hungers, func(h *hunger) bool { return h.filter == f }, func() *hunger {
		h, list := &hunger{filter: f}, reach(&b.byTenant, f.tenant)
		*list = append(*list, h)
		return h
	})
	if !crowding || h.lanes != nil {
		return h
	}
	b.crowded = append(b.crowded, h)
	for kind := range b.lanes {
		switch {
		case f.kind >= 0 && int(f.kind) != kind:
		case f.tenant == 0:
			h.lanes = append(h.lanes, &b.lanes[kind])
		default:
			own := reach(&b.lanes[kind].own, f.tenant)
			if *own == nil {
				*own = &lane{after: b.lanes[kind].after}
			}
			h.lanes = append(h.lanes, *own)
		}
	}
	return h
}

// lane returns the queue of ready fresh jobs of a class.
func (b *starving) lane(kind engine.Kind) *lane { return &b.lanes[min(int(kind), len(b.lanes)-1)] }

// ready counts a fresh job that becomes ready now, for measuring starvation.
func (b *starving) ready(now engine.Time, kind engine.Kind, tenant engine.TenantID) {
	if len(b.scheduled) > 0 {
		b.join(now)
	}
	b.push(now, kind, tenant)
}

// wait counts a fresh job that will be due at the given time, from when on it counts as ready.
func (b *starving) wait(until engine.Time, kind engine.Kind, tenant engine.TenantID) {
	b.scheduled.Push(dueAt{until, kind, tenant})
	b.calm = min(b.calm, until)
}

// join adds the scheduled jobs that are due by now to the queues of ready jobs.
func (b *starving) join(now engine.Time) {
	for len(b.scheduled) > 0 && b.scheduled[0].at <= now {
		d := b.scheduled.Pop()
		b.push(d.at, d.kind, d.tenant)
	}
}

func (b *starving) push(at engine.Time, kind engine.Kind, tenant engine.TenantID) {
	l := b.lane(kind)
	if l.push(at); l.live == 1 {
		b.calm = min(b.calm, at.Add(l.after))
	}
	if own := element(l.own, tenant); own != nil {
		own.push(at)
	}
}

// judge counts a claim for starved.crowding, the share of claims that pass over starving jobs, if some job may starve.
func (b *starving) judge(now engine.Time, k *claim) {
	b.join(now)
	for _, h := range b.crowded {
		h.judge(now, now-engine.Time(k.waited), k.class)
	}
	b.calm = engine.Never
	for i := range b.lanes {
		if l := &b.lanes[i]; l.live > 0 {
			b.calm = min(b.calm, l.queue[l.first].at.Add(l.after))
		}
	}
	if len(b.scheduled) > 0 {
		b.calm = min(b.calm, b.scheduled[0].at)
	}
}

// left removes a fresh job that is no longer ready from the ready queues, and reports whether it starved: whether it
// waited too long.
func (b *starving) left(now engine.Time, kind engine.Kind, tenant engine.TenantID, waited time.Duration) bool {
	l := b.lane(kind)
	if len(b.scheduled) > 0 {
		b.join(now)
	}
	since := now - engine.Time(waited)
	l.leave(since)
	if own := element(l.own, tenant); own != nil {
		own.leave(since)
	}
	return waited > l.after && b.starved(now, kind, tenant, waited)
}

// starved records the spell for which a fresh job has starved by now, given its wait; false if it has not starved.
func (b *starving) starved(now engine.Time, kind engine.Kind, tenant engine.TenantID, waited time.Duration) bool {
	hungry := waited - b.lane(kind).after
	if hungry <= 0 {
		return false
	}
	from := now.Add(-hungry)
	for i, id := range [...]engine.TenantID{0, tenant} {
		if int(id) >= len(b.byTenant) || i > 0 && id == 0 {
			break
		}
		for _, h := range b.byTenant[id] {
			if h.kind < 0 || h.kind == int32(kind) {
				h.add(from, now)
			}
		}
	}
	return true
}

// close adds all remaining spells of starvation to the windows of time, which it cuts off at end, the end of the run.
func (b *starving) close(end engine.Time) {
	for _, h := range b.hungers {
		h.settle(len(h.spells))
		for _, w := range h.windows {
			w.to = min(w.to, end)
		}
	}
}

// hunger records the starvation of all fresh jobs, or those of a class or tenant: the spells of time in which at least
// one of them starves, and the claims of other jobs during these spells.
type hunger struct {
	filter
	// spells are disjoint, and ascend. A job that is claimed later may have starved since before the last of them,
	// which then are one.
	spells  []stretch
	settled engine.Time // spells up to this time are already added to the windows
	windows []*hungerWindow
	lanes   []*lane    // ready times of the filter's jobs, by kind; nil: no query needs crowding
	series  *seriesSum // time series of starvation; nil: none
}

// hungerWindow adds up, for a window of time, the spells in which fresh jobs starved.
type hungerWindow struct {
	stretch
	starved, longest time.Duration
	claims, crowded  uint64 // claims while a job starved; crowded: those of retries and of jobs ready later
}

// mostSpells is the highest number of spells of starvation kept one by one; beyond it the older half is added to the
// windows for good. Of a job that began to starve before the last of these spells ended, only the time after that end
// is added later.
const mostSpells = 1 << 13

// window returns the sums of starvation over a window of virtual time, creating them if there are none.
func (h *hunger) window(of stretch) *hungerWindow {
	return among(&h.windows, func(w *hungerWindow) bool { return w.stretch == of },
		func() *hungerWindow { return &hungerWindow{stretch: of} })
}

// add adds a spell of starvation [from, to), joined with earlier ones that it overlaps, none of which ends after to.
func (h *hunger) add(from, to engine.Time) {
	from = max(from, h.settled)
	n := len(h.spells)
	for n > 0 && h.spells[n-1].to >= from {
		n--
		from = min(from, h.spells[n].from)
	}
	if h.spells = append(h.spells[:n], stretch{from, to}); n+1 == mostSpells {
		h.settle(mostSpells / 2)
	}
}

// settle adds the first n spells of starvation to the windows, and deletes them.
func (h *hunger) settle(n int) {
	for _, s := range h.spells[:n] {
		for _, w := range h.windows {
			if part := w.part(s); part > 0 {
				w.starved += part
				w.longest = max(w.longest, part)
			}
		}
		if h.series != nil {
			h.series.chartStretch(s)
		}
		h.settled = s.to
	}
	h.spells = h.spells[:copy(h.spells, h.spells[n:])]
}

// judge counts a claim made now, of a job that became ready at the given time, if a fresh job that passes the filter
// starves, and whether the claim passes over that job: it is of a retry, or of a job that became ready later.
func (h *hunger) judge(now, ready engine.Time, class engine.Class) {
	starves, passed := false, false
	for _, l := range h.lanes {
		if l.live == 0 {
			continue
		}
		if oldest := l.queue[l.first].at; now.Sub(oldest) > l.after {
			starves = true
			passed = passed || class == engine.Retry || oldest < ready
		}
	}
	if !starves {
		return
	}
	for _, w := range h.windows {
		if w.covers(now) {
			w.claims++
			if passed {
				w.crowded++
			}
		}
	}
}

// lane is a queue of the times, ascending, at which the fresh jobs that are due and not claimed were ready or due.
type lane struct {
	after time.Duration
	queue []readied
	first int     // index of the earliest time with jobs, if live > 0
	live  int     // jobs in the queue
	empty int     // entries behind first whose jobs have all left
	own   []*lane // queues of the same class by tenant; nil: no query needs crowding by that tenant
}

// readied is the number of fresh jobs that became ready at one instant.
type readied struct {
	at   engine.Time
	jobs int
}

// compare compares the instant with a time, for binary searches.
func (r readied) compare(at engine.Time) int { return cmp.Compare(r.at, at) }

// push counts a fresh job that became ready now, or when it was due, at the end of the queue.
func (l *lane) push(now engine.Time) {
	l.live++
	if n := len(l.queue); n > 0 && l.queue[n-1].at == now && l.queue[n-1].jobs > 0 {
		l.queue[n-1].jobs++
		return
	}
	l.queue = append(l.queue, readied{now, 1})
}

// leave removes a fresh job from the queue of ready times, given the time since which it was ready.
func (l *lane) leave(since engine.Time) {
	if l.live == 0 {
		return
	}
	if l.live--; l.live == 0 {
		l.queue, l.first, l.empty = l.queue[:0], 0, 0
		return
	}
	at := l.first
	if l.queue[at].at < since {
		at = l.find(since)
	}
	if l.queue[at].jobs--; l.queue[at].jobs == 0 {
		l.empty++
	}
	for l.queue[l.first].jobs == 0 {
		l.first++
		l.empty--
	}
	if gone := l.first + l.empty; gone >= fewestGone && 2*gone >= len(l.queue) {
		l.queue = slices.DeleteFunc(l.queue, func(r readied) bool { return r.jobs == 0 })
		l.first, l.empty = 0, 0
	}
}

// within returns how many jobs in the queue became ready at a time in [from, to).
func (l *lane) within(from, to engine.Time) (jobs int) {
	at, _ := slices.BinarySearchFunc(l.queue, from, readied.compare)
	for ; at < len(l.queue) && l.queue[at].at < to; at++ {
		jobs += l.queue[at].jobs
	}
	return jobs
}

// find returns the index, in a queue of ready times, of the entry for the time since or, if none with jobs is there, of
// the next later entry with jobs, or else of the last one with jobs.
func (l *lane) find(since engine.Time) int {
	at, _ := slices.BinarySearchFunc(l.queue, since, readied.compare)
	if later := slices.IndexFunc(l.queue[at:], func(r readied) bool { return r.jobs > 0 }); later >= 0 {
		return at + later
	}
	for at--; l.queue[at].jobs == 0; at-- {
	}
	return at
}

// fewestGone is the number of entries without jobs from which on a queue of ready times is compacted, once they are
// half of the queue.
const fewestGone = 1024

// starvingMetrics returns the metrics of starvation: fresh jobs that wait beyond the threshold of their class.
func starvingMetrics() []metric {
	const who = "; a fresh job starves from when it has waited for as long as starved-after of its class says " +
		"until it is claimed"
	ofHunger := func(info MetricInfo, of func(q *question, span time.Duration) Value) metric {
		return metric{MetricInfo: info, basis: onHunger, of: func(q *question) Value {
			if span := q.hungry.to.Sub(q.hungry.from); span > 0 {
				return of(q, span)
			}
			return none(noTime)
		}}
	}
	return []metric{
		ofJobs(share(less("starved.jobs", "1", "starved jobs",
			"share of the fresh jobs that starved, unclaimed ones once they do"+who)), func(q *question) Value {
			return ratio(float64(q.jobs.starved), float64(q.jobs.starved+q.jobs.timely()), "no fresh job was ready")
		}),
		ofHunger(share(less("starved.share", "1", "time in starvation",
			"share of the time in which some fresh job starved"+who)), func(q *question, span time.Duration) Value {
			return some(float64(q.hungry.starved) / float64(span))
		}),
		ofHunger(less("starved.longest", "s", "longest starvation", "longest stretch in which some fresh job starved"+who),
			func(q *question, _ time.Duration) Value { return some(q.hungry.longest.Seconds()) }),
		ofHunger(share(less(crowding, "1", "claims that went past starved jobs", "of the claims made while some fresh job "+
			"starved, the share that went to retries and to jobs ready later"+who)),
			func(q *question, _ time.Duration) Value {
				return ratio(float64(q.hungry.crowded), float64(q.hungry.claims), "no job starved while another was claimed")
			}),
	}
}

// crowding is the name of the metric for which claims of other jobs are counted while a fresh job starves.
const crowding = "starved.crowding"
