package imports

// noteTimes records which columns of times the file fills at all, so that an empty one counts as a gap.
func (r *reader) noteTimes(rec *record) {
	r.told.enqueued = r.told.enqueued || rec.enqueued.known()
	r.told.started = r.told.started || rec.started.known()
	r.told.finished = r.told.finished || rec.finished.known()
	r.latest = max(r.latest, rec.enqueued, rec.started, rec.finished)
	if rec.started.known() && rec.finished.known() {
		r.longest = max(r.longest, rec.finished-rec.started)
	}
}

// gaps counts the times missing in the rows of a job; enqueued is true if any row has the enqueue time. Formats other
// than csv leave out times as a rule.
func (r *reader) gaps(j *job, list []record, enqueued bool) {
	if r.options.From != "csv" {
		return
	}
	for i := range list {
		rec := &list[i]
		if rec.sort != ofAttempt || i > 0 && rec.same(&list[i-1]) {
			continue
		}
		switch began, ended := rec.started.known(), rec.finished.known(); {
		case r.told.started && ended && !began && (rec.state != stateDead || rec.failure != 0):
			r.repairs.add(noStart, rec.at)
		case r.told.finished && began && !ended && (i < len(list)-1 || r.over(rec)):
			r.repairs.add(noFinish, rec.at)
		}
	}
	if r.told.enqueued && !enqueued && j.ready.known() {
		r.repairs.add(dueForEnqueued, j.at)
	}
}

// over reports whether an attempt whose end is missing must have ended: its row has a failure or final state, or it
// began longer before the last recorded time than any attempt takes.
func (r *reader) over(rec *record) bool {
	switch {
	case rec.failure != 0 || rec.state.final():
		return true
	case rec.state != stateUnknown:
		return false
	}
	return r.longest > 0 && r.latest-rec.started > r.longest
}
