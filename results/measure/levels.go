package measure

import "qsim/engine"

// change adds the amount by to one of the levels, numbers of jobs or workers that are integrated over time. A change at
// time t adds by·(b − t) to the integral of a segment of time that ends at b: by·t is subtracted here, and at b the
// level times b is added. Products may overflow, but not the integral: see longestSegment.
func (v *view) change(level int, by int64) {
	v.level[level] += by
	v.segment.area[level] -= by * int64(v.now)
}

// ready returns the number of ready jobs, fresh ones and retries together, among the jobs that the view measures.
func (v *view) ready() int64 { return v.level[freshArea] + v.level[retryArea] }

// changeReady adds by, 1 or −1, to the number of ready fresh jobs or of ready retries that the view measures.
func (v *view) changeReady(class engine.Class, by int64) {
	v.change(int(class), by)
	edge := (by + 1) >> 1 // the number at which there now are some, or no more
	if class == engine.Fresh && v.level[freshArea] == edge {
		v.change(presentArea, by)
	}
	if v.ready() == edge {
		v.countIdle()
	}
	if v.storms.levels != nil {
		v.hold(v.ready() - by)
	}
}

// countIdle updates the number of workers that are idle while a job that the view measures is ready; 0 while none is.
func (v *view) countIdle() {
	idle := int64(0)
	if v.ready() > 0 {
		idle = max(v.workers.capacity-v.workers.busy, 0)
	}
	v.change(idleArea, idle-v.level[idleArea])
}

// changeBusy adds by to the number of busy workers; own is true if the view measures their job.
func (v *view) changeBusy(own bool, by int64) {
	if own {
		v.change(busyArea, by)
	}
	if v.ready() > 0 {
		v.countIdle()
	}
}

// enqueued counts a new job that the view measures: as ready, or as waiting if it is scheduled for later.
func (v *view) enqueued(j *engine.NewJob) {
	if j.Delay > 0 && !v.settings.Held {
		v.becomeWaiting()
	} else {
		v.becomeReady(engine.Fresh, j.Tenant)
	}
}

// becomeReady counts a job that the view measures and that becomes ready now.
func (v *view) becomeReady(class engine.Class, tenant engine.TenantID) {
	v.changeReady(class, 1)
	n := v.level[class]
	v.segment.peak[class] = max(v.segment.peak[class], n)
	if class == engine.Fresh && n == 1 {
		v.gaps.since = v.now
	}
	v.want(tenant, 1)
}

// leaveReady counts a job of the view that is no longer ready for another reason than a claim, such as a burial.
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

// ending describes how an execution ended, and whether that frees a worker.
type ending struct {
	tenant         engine.TenantID
	finished       bool  // its handler returned; false: its process died
	success, first bool  // it ended in success, as the first of its job
	workers        int64 // workers that it frees: 0 if a timeout had freed its worker
}

// onEnded counts the end of an execution; own is true if the view measures its job.
func (v *view) onEnded(own bool, e *ending) {
	v.changeBusy(own, -e.workers)
	if !own {
		return
	}
	if e.finished {
		v.segment.finished++
		if v.tenants != nil {
			reach(&v.tenants.all, e.tenant).served++
		}
	}
	if !e.success {
		v.segment.failures++
	}
	if e.first {
		v.segment.firsts++
	}
}

// outcome counts the outcome (ack, nack, burial, return) of a job that the view measures; r.From is its state before.
func (v *view) outcome(kind engine.EventKind, tenant engine.TenantID, r *engine.Result) {
	switch r.From {
	case engine.InFlight:
		v.want(tenant, -1)
	case engine.Ready:
		v.leaveReady(r.Class)
		v.want(tenant, -1)
	case engine.Waiting:
		v.change(waitingArea, -1)
	}
	switch {
	case kind == engine.Nacked && !v.settings.Held:
		v.becomeWaiting()
	case kind == engine.Nacked, kind == engine.Returned:
		v.becomeReady(engine.Retry, tenant)
	}
}
