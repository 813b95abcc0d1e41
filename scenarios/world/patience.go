package world

import (
	"time"

	"qsim/engine"
	"qsim/engine/heap"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// callers is a workload with impatient callers: a caller whose job is not done in time enqueues another copy. As a
// recorder it sees all events and passes them on.
//
// A caller's time runs from when its copy is enqueued. A copy done at the very end of it counts, and a dead copy is an
// answer, too: a copy in any other state is resubmitted. The resubmission takes no time on the way to the store.
// Callers go on after the end of arrivals, up to their limit.
type callers struct {
	*workload
	next    engine.Recorder
	delay   enqueueDelay // enqueue delay of first copies; nil: none
	classes []patience

	waiting map[engine.JobID]struct{} // copies whose callers still wait
	ends    heap.Heap[deadline]       // times at which callers give up
	order   uint64

	ahead   engine.NewJob // the next arrival, if it is not a resubmission
	aheadAt engine.Time   // its time; engine.Never: there are no more arrivals
}

// enqueueDelay is a function that returns the time from a job's arrival until it is enqueued.
type enqueueDelay = func(at engine.Time, j *engine.NewJob) time.Duration

// patience holds the settings of impatient callers of a class (after how long they enqueue another copy; nil: they wait
// for ever), and the numbers of jobs and of resubmitted copies so far.
type patience struct {
	of              *spec.Patience
	firsts, further uint64
}

// pays reports whether the budget of a class's callers allows them to resubmit one more copy.
func (p *patience) pays() bool {
	share := p.of.Budget
	return share == nil || share.Num > 0 && (p.further+1)*uint64(share.Den) <= p.firsts*uint64(share.Num)
}

// deadline is the time at which the caller of a job stops waiting for the copy of it that was enqueued last.
type deadline struct {
	at    engine.Time
	order uint64 // tie-breaker at one instant: the order in which the waits began
	copy  engine.NewJob
}

var _ sim.Revoker = (*callers)(nil)

// patienceOf returns, by class, how long callers wait before they give up (0: for ever), or nil if no callers give up.
func patienceOf(sc *scenarios.Scenario) []time.Duration {
	var all []time.Duration
	for i := range sc.Jobs {
		if p := sc.Jobs[i].Patience; p != nil {
			all = append(all, make([]time.Duration, i+1-len(all))...)
			all[i] = p.After.Std()
		}
	}
	return all
}

// newCallers returns the workload w with impatient callers, or nil if no class of sc has any.
func newCallers(sc *scenarios.Scenario, w *workload, next engine.Recorder, delay enqueueDelay) *callers {
	if patienceOf(sc) == nil {
		return nil
	}
	c := &callers{workload: w, next: next, delay: delay, classes: make([]patience, len(sc.Jobs)),
		waiting: map[engine.JobID]struct{}{}}
	for i := range sc.Jobs {
		c.classes[i].of = sc.Jobs[i].Patience
	}
	c.fetch()
	return c
}

func (c *callers) fetch() {
	var ok bool
	if c.aheadAt, ok = c.workload.Next(&c.ahead); !ok {
		c.aheadAt = engine.Never
	}
}

// Next returns the next arrival or, if that is earlier, the next possible resubmission. Comes decides later whether the
// resubmission happens.
func (c *callers) Next(j *engine.NewJob) (engine.Time, bool) {
	for len(c.ends) > 0 && c.ends[0].at <= c.aheadAt {
		d := c.ends.Pop()
		if _, waits := c.waiting[d.copy.ID]; !waits {
			continue
		}
		if int(d.copy.ID&spec.CopyMask) >= int(c.classes[d.copy.Kind].of.Resubmits) {
			delete(c.waiting, d.copy.ID)
			continue
		}
		d.copy.ID++
		*j = d.copy
		return d.at, true
	}
	if c.aheadAt == engine.Never {
		return 0, false
	}
	at := c.aheadAt
	*j = c.ahead
	c.fetch()
	if p := c.classes[j.Kind].of; p != nil {
		enqueued := at
		if c.delay != nil {
			enqueued = at.Add(c.delay(at, j))
		}
		c.wait(enqueued.Add(p.After.Std()), *j)
	}
	return at, true
}

// wait schedules the time at which a caller gives up on a copy of its job that is not done.
func (c *callers) wait(until engine.Time, j engine.NewJob) {
	c.waiting[j.ID] = struct{}{}
	c.ends.Push(deadline{until, c.order, j})
	c.order++
}

// Comes reports whether an arriving job is enqueued: a resubmitted copy only if the copy before it has not ended in the
// meantime, and the budget pays for it.
func (c *callers) Comes(now engine.Time, j *engine.NewJob) bool {
	p := &c.classes[j.Kind]
	if j.ID&spec.CopyMask == 0 {
		p.firsts++
		return true
	}
	if _, waits := c.waiting[j.ID-1]; !waits {
		return false
	}
	delete(c.waiting, j.ID-1)
	if !p.pays() {
		return false
	}
	p.further++
	c.wait(now.Add(p.of.After.Std()), *j)
	return true
}

// Record ends the wait of the caller of a copy that was acked or buried, and passes the event on.
func (c *callers) Record(e *engine.Event) {
	if e.Kind == engine.Acked || e.Kind == engine.Buried {
		delete(c.waiting, e.Job)
	}
	c.next.Record(e)
}

// Before reports whether one caller gives up before another: by time, then in the order in which the waits began.
func (a deadline) Before(b deadline) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}
