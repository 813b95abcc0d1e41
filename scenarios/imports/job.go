package imports

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"qsim/results/plain"
)

// job holds all recorded facts about one job and its attempts.
type job struct {
	key       key
	at        sourcePos
	class     uint16
	tenant    uint32
	most      int32 // declared limit on attempts; 0: none declared
	enqueued  timestamp
	ready     timestamp // earliest start; unknown: times of the attempts replace the enqueue time
	tries     []try
	unseen    int32  // attempts that failed and of which no more is known
	unseenFor uint16 // error kind of these attempts
	done      bool
	dead      bool // the records call it dead, or it had all its attempts
	putBack   bool // it had all its attempts and waits for another
}

// mostRows is the highest number of rows of one job.
const mostRows = 100_000

// assemble builds the job j from all records of it, which must be sorted by compareRecords.
func (r *reader) assemble(list []record, j *job) error {
	*j = job{key: list[0].key, at: list[0].at, enqueued: unknown, ready: unknown, tries: j.tries[:0]}
	for i := range list {
		rec := &list[i]
		if i > 0 && rec.same(&list[i-1]) {
			r.repairs.add(twice, rec.at)
			continue
		}
		j.at = min(j.at, rec.at)
		j.class, j.tenant, j.most = cmp.Or(j.class, rec.class), max(j.tenant, rec.tenant), max(j.most, rec.most)
		j.enqueued = earlier(j.enqueued, rec.enqueued)
		// Rows about one attempt cannot differ.
		if before := len(j.tries) - 1; i > 0 && before >= 0 && rec.number > 0 && rec.number == list[i-1].number &&
			rec.sort == ofAttempt && list[i-1].sort == ofAttempt {
			return r.badJob(rec, fmt.Errorf("the job of this row had its attempt %d in line %d already, with other times: "+
				"is another column the id? --columns id=COLUMN", rec.number, j.tries[before].at.line()))
		}
		r.take(j, rec)
	}
	slices.SortStableFunc(j.tries, func(a, b try) int { return int(a.number - b.number) })
	j.number()
	enqueued := j.enqueued.known()
	j.settle(list)
	r.gaps(j, list, enqueued)
	r.checkTimes(j)
	return nil
}

func (r *reader) badJob(rec *record, err error) error {
	return &LineError{r.files[rec.at.file()].Name, rec.at.line(), err}
}

// earlier returns the earlier of two times; unknown ones do not count.
func earlier(a, b timestamp) timestamp {
	if !a.known() || b.known() && b < a {
		return b
	}
	return a
}

// final reports whether a state (of a job or an attempt) means that an attempt has ended.
func (s jobState) final() bool { return s == stateDone || s == stateDead || s == stateFailed }

// take adds the facts of a record (times, state, attempts) to a job.
func (r *reader) take(j *job, rec *record) {
	t, last := rec.try, len(j.tries)-1
	switch rec.sort {
	case ofAttempt:
		r.takeAttempt(j, rec, t)
		return
	case ofJob:
		j.unseen, j.unseenFor = max(j.unseen, rec.number), max(j.unseenFor, rec.failure)
		if rec.due.known() && rec.number <= 0 {
			j.ready = rec.due
		}
		switch {
		case rec.state == stateDone || rec.started.known():
			t.number, t.failure, t.ended = rec.number+1, 0, rec.state == stateDone
		case slices.ContainsFunc(j.tries, func(own try) bool {
			return own.failure != 0 && rec.finished.since(own.finished).Abs() < time.Second
		}):
			return // a log has that failure
		case rec.finished.known() && rec.number > 0:
			t.started, t.due, t.ended, t.failure = unknown, unknown, true, max(1, t.failure)
			j.unseen--
		default:
			return
		}
	case ofEnd:
		t.ended = true
		if last >= 0 && !j.tries[last].ended && !j.tries[last].finished.known() {
			j.tries = j.tries[:last] // its start had a line of its own
		}
	case ofCause:
		for i := last; i >= 0; i-- {
			if j.tries[i].ended && j.tries[i].finished <= rec.finished && j.tries[i].failure == 1 {
				j.tries[i].failure = rec.failure
				break
			}
		}
		return
	}
	j.tries = append(j.tries, t)
}

// takeAttempt adds an attempt that has a record of its own to a job.
func (r *reader) takeAttempt(j *job, rec *record, t try) {
	if r.zeroBased {
		t.number++
	}
	t.ended = rec.finished.known() || rec.failure != 0 || rec.state.final()
	if rec.state == stateDone {
		j.unseenFor, t.failure = max(j.unseenFor, t.failure), 0
	} else if t.failure == 0 && rec.state.final() {
		t.failure = 1
	}
	if t.when().known() || t.ended || t.due.known() && t.number > 1 || rec.state == stateRunning {
		j.tries = append(j.tries, t)
	} else if t.due.known() {
		j.ready = t.due // it waits for its first attempt
	}
}

// number gives a job's attempts numbers by time if they have none; else it counts missing numbers as failed attempts.
func (j *job) number() {
	if len(j.tries) == 0 || j.tries[0].number <= 0 {
		slices.SortStableFunc(j.tries, func(a, b try) int { return cmp.Compare(a.when(), b.when()) })
		for i := range j.tries {
			j.tries[i].number = int32(i + 1)
			j.unseen = 0 // the attempts themselves are there
		}
		return
	}
	seen, highest, failure := int32(0), int32(0), uint16(0)
	for i := range j.tries {
		if j.tries[i].number != highest {
			seen++
		}
		highest, failure = j.tries[i].number, max(failure, j.tries[i].failure)
	}
	j.unseen, j.unseenFor = max(0, highest-seen), cmp.Or(j.unseenFor, failure)
}

// when returns the begin of an attempt or, if that is not known, its end.
func (t *try) when() timestamp {
	return plain.Either(t.started.known(), t.started, t.finished)
}

// settle determines when a recorded job arrived (enqueued, ready) and how it ended, if it did.
func (j *job) settle(list []record) {
	if n := len(j.tries); n > 0 {
		last := &j.tries[n-1]
		j.done = last.ended && last.failure == 0
		j.dead = last.failure != 0 && j.most > 0 && last.number >= j.most
	}
	for i := range list {
		switch list[i].state {
		case stateDead:
			j.dead, j.putBack = !j.done, false
		case stateWaiting, stateRunning:
			if i == len(list)-1 || list[i].sort == ofJob { // else of an earlier attempt
				j.dead, j.putBack = false, j.dead || j.putBack
			}
		}
	}
	if len(j.tries) > 0 && j.tries[0].number == 1 && j.tries[0].due.known() {
		j.ready = j.tries[0].due
	}
	switch {
	case j.enqueued.known():
		j.ready = max(j.ready, j.enqueued)
	case j.ready.known():
		j.enqueued = j.ready
	default:
		for i := range j.tries {
			j.enqueued = earlier(j.enqueued, j.tries[i].when())
		}
	}
}

func (r *reader) checkTimes(j *job) {
	for i := range j.tries {
		t := &j.tries[i]
		if t.started.known() && t.finished.known() && t.finished < t.started {
			r.repairs.add(endsBeforeStart, t.at)
			t.finished = unknown
		}
		if !t.started.known() {
			continue
		}
		due := plain.Either(t.number == 1, j.ready, t.due)
		switch {
		case !due.known() || t.started >= due:
		case due.since(t.started) <= 1e9:
			r.repairs.add(startsBitBeforeDue, t.at)
			if t.started = due; t.finished.known() {
				t.finished = max(t.finished, t.started)
			}
		default:
			r.repairs.add(startsBeforeDue, t.at)
			if t.due = unknown; t.number == 1 {
				j.ready = unknown
			}
		}
		if i > 0 && j.tries[i-1].finished.known() && t.started < j.tries[i-1].finished {
			r.repairs.add(laterAttemptsFirst, t.at)
			j.tries[i-1].finished = unknown
		}
	}
}

// gaps counts, as repairs, the times missing in the rows of a job; enqueued is true if any row has the enqueue time. It
// checks only csv, as other formats leave out times as a rule.
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
