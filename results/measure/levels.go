package measure

import (
	"math"

	"qsim/engine"
)

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
	if v.storms.levels != nil {
		v.hold(v.ready())
	}
	v.change(int(class), by)
	edge := (by + 1) >> 1 // the number at which there now are some, or no more
	if class == engine.Fresh && v.level[freshArea] == edge {
		v.change(presentArea, by)
	}
	if v.ready() == edge { // by·(idle time from now on) is added to the integral, as in change
		v.segment.area[idleArea] -= by * v.workers.idleTime(v.now)
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

// died stands for the error of an execution that ended because its process died.
const died = math.MaxUint16

// ended counts the end of an execution of a job that the view measures, which frees workers, 1 or 0, with the error of
// its handler, or died.
func (v *view) ended(tenant engine.TenantID, err engine.ErrorKind, workers int64) {
	v.change(busyArea, -workers)
	if err != died {
		v.segment.finished++
		if v.tenants != nil {
			reach(&v.tenants.all, tenant).served++
		}
	}
	if err != engine.NoError {
		v.segment.failures++
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
