package imports

import (
	"fmt"
	"slices"
)

// try is one attempt at a job.
type try struct {
	number   int32
	at       place
	due      moment // when it was to begin; for the first one: later than enqueued, or unknown
	started  moment
	finished moment
	failure  uint16 // 0: none that is known
	ended    bool   // how is known
	node     uint32
}

// job is all that is recorded of one.
type job struct {
	key       key
	at        place
	class     uint16
	tenant    uint32
	most      int32 // attempts; 0: not said
	enqueued  moment
	ready     moment // when it could first begin; unknown: a time of the attempts stands in for enqueued
	tries     []try
	unseen    int32 // attempts that failed and of which no more is known
	unseenFor uint16
	done      bool
	dead      bool // said to be
	open      bool // neither
}

// mostRows is how many rows one job may have.
const mostRows = 100_000

// assemble makes a job of its records, which are in order.
func (r *reader) assemble(list []record, j *job) error {
	*j = job{key: list[0].key, at: list[0].at, enqueued: unknown, ready: unknown, tries: j.tries[:0]}
	for i := range list {
		rec := &list[i]
		if i > 0 && rec.same(&list[i-1]) {
			r.repairs.add(twice, rec.at)
			continue
		}
		j.at = earlierPlace(j.at, rec.at)
		if j.class == 0 {
			j.class = rec.class
		}
		j.tenant = max(j.tenant, rec.tenant)
		j.most = max(j.most, rec.most)
		if rec.enqueued.known() && (!j.enqueued.known() || rec.enqueued < j.enqueued) {
			j.enqueued = rec.enqueued
		}
		if err := r.take(j, rec, i > 0 && sameAttempt(&list[i-1], rec)); err != nil {
			return err
		}
	}
	slices.SortStableFunc(j.tries, func(a, b try) int { return int(a.number - b.number) })
	j.number()
	enqueued := j.enqueued.known()
	j.settle(list)
	r.holes(j, list, enqueued)
	r.checkTimes(j)
	return nil
}

func earlierPlace(a, b place) place {
	if b.before(a) {
		return b
	}
	return a
}

// same reports whether two rows are equal word for word.
func (r *record) same(other *record) bool {
	a, b := *r, *other
	a.at, b.at = place{}, place{}
	return a == b
}

// sameAttempt reports whether two rows are about one attempt.
func sameAttempt(a, b *record) bool {
	return a.sort == ofAttempt && b.sort == ofAttempt && a.number == b.number && a.number > 0
}

// take adds what a record says to a job.
func (r *reader) take(j *job, rec *record, again bool) error {
	t := try{number: rec.number, at: rec.at, due: rec.due, started: rec.started, finished: rec.finished, failure: rec.failure, node: rec.node}
	switch rec.sort {
	case ofAttempt:
		last := len(j.tries) - 1
		if again && last >= 0 {
			first := j.tries[last].at
			return &LineError{r.files[rec.at.file].Name, int64(rec.at.line), fmt.Errorf("the job of this row had its attempt %d in line %d already, with other times: is another column the id? --columns id=COLUMN", rec.number, first.line)}
		}
		if r.zeroBased {
			t.number++
		}
		t.ended = rec.finished.known() || rec.failure != 0 || rec.state == stateDone || rec.state == stateDead || rec.state == stateFailed
		if rec.state == stateDone {
			j.unseenFor, t.failure = max(j.unseenFor, t.failure), 0
		} else if t.failure == 0 && (rec.state == stateFailed || rec.state == stateDead) {
			t.failure = 1
		}
		if t.started.known() || t.finished.known() || t.ended || t.due.known() && t.number > 1 || rec.state == stateRunning {
			j.tries = append(j.tries, t)
		} else if t.due.known() {
			j.ready = t.due // it waits for its first attempt
		}
	case ofJob:
		j.unseen, j.unseenFor = max(j.unseen, rec.number), max(j.unseenFor, rec.failure)
		if rec.due.known() && rec.number <= 0 {
			j.ready = rec.due
		}
		if rec.state == stateDone || rec.started.known() {
			t.number, t.failure, t.ended = rec.number+1, 0, rec.state == stateDone
			j.tries = append(j.tries, t)
		} else if rec.finished.known() && rec.number > 0 {
			t.number, t.started, t.due, t.ended = rec.number, unknown, unknown, true
			t.failure = max(1, t.failure)
			j.tries = append(j.tries, t)
			j.unseen--
		}
	case ofStart:
		j.tries = append(j.tries, t)
	case ofEnd:
		t.ended = true
		if last := len(j.tries) - 1; last >= 0 && !j.tries[last].ended && !j.tries[last].finished.known() {
			j.tries = j.tries[:last] // its start had a line of its own
		}
		j.tries = append(j.tries, t)
	case ofCause:
		for i := len(j.tries) - 1; i >= 0; i-- {
			if j.tries[i].ended && j.tries[i].finished <= rec.finished && j.tries[i].failure == 1 {
				j.tries[i].failure = rec.failure
				break
			}
		}
	}
	return nil
}

// number numbers attempts that have none by their times, and counts those that must have
// failed before.
func (j *job) number() {
	numbered := len(j.tries) > 0 && j.tries[0].number > 0
	if !numbered {
		slices.SortStableFunc(j.tries, func(a, b try) int {
			if a.when() < b.when() {
				return -1
			}
			if a.when() > b.when() {
				return 1
			}
			return 0
		})
		for i := range j.tries {
			j.tries[i].number = int32(i + 1)
		}
		if len(j.tries) > 0 {
			j.unseen = 0 // the attempts themselves are there
		}
		return
	}
	seen, highest := int32(0), int32(0)
	for i := range j.tries {
		if j.tries[i].number != highest {
			seen++
		}
		highest = j.tries[i].number
	}
	j.unseen = max(0, highest-seen)
	if j.unseenFor == 0 {
		for i := range j.tries {
			j.unseenFor = max(j.unseenFor, j.tries[i].failure)
		}
	}
}

func (t *try) when() moment {
	if t.started.known() {
		return t.started
	}
	return t.finished
}

// settle finds out when the job was there and how it ended.
func (j *job) settle(list []record) {
	if n := len(j.tries); n > 0 {
		last := &j.tries[n-1]
		j.done = last.ended && last.failure == 0
		j.open = !last.ended
	} else {
		j.open = true
	}
	for i := range list {
		switch list[i].state {
		case stateDead:
			j.dead = !j.done
		case stateWaiting, stateReady, stateRunning:
			j.open = !j.done
		}
	}
	if len(j.tries) > 0 && j.tries[0].number == 1 && j.tries[0].due.known() {
		j.ready = j.tries[0].due
	}
	if j.enqueued.known() {
		if !j.ready.known() || j.ready < j.enqueued {
			j.ready = j.enqueued
		}
		return
	}
	if j.ready.known() {
		j.enqueued = j.ready
		return
	}
	for i := range j.tries {
		if at := j.tries[i].when(); at.known() && (!j.enqueued.known() || at < j.enqueued) {
			j.enqueued = at
		}
	}
}

// checkTimes repairs what runs backwards.
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
		due := t.due
		if t.number == 1 {
			due = j.ready
		}
		if due.known() && t.started < due {
			if due.since(t.started) <= 1e9 {
				r.repairs.add(startsBitBeforeDue, t.at)
				t.started = due
				if t.finished.known() {
					t.finished = max(t.finished, t.started)
				}
			} else {
				r.repairs.add(startsBeforeDue, t.at)
				if t.due = unknown; t.number == 1 {
					j.ready = unknown
				}
			}
		}
		if i > 0 && j.tries[i-1].finished.known() && t.started < j.tries[i-1].finished {
			r.repairs.add(laterAttemptsFirst, t.at)
			j.tries[i-1].finished = unknown
		}
	}
}
