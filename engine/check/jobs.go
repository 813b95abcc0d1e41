package check

import (
	"time"

	"qsim/engine"
)

// job is the checker's state of a live or dead job.
type job struct {
	id        engine.JobID
	token     engine.Token // under which it was last claimed or taken
	dropped   engine.Token // under which its holder says nothing to the store
	committed engine.Token // under which an outcome last took effect
	enqueued  engine.Time
	ready     engine.Time // since when it is, or was last; Waiting: when it is due
	claimed   engine.Time // the last time, or taken by a reaper
	started   engine.Time // its latest delivery, while that is current
	finished  engine.Time // that delivery; 0: it runs, or has not begun
	renewed   engine.Time // in flight: when its lease began, or was last extended
	asked     engine.Time // in flight: when its holder last asked for longer
	since     engine.Time // ready: when it came to be so; of what follows, how it was then
	idled     float64     // load.idled
	others    int64       // load.begun
	// Of its last 64 deliveries, by number modulo 64: those that a handler began, that
	// ended well and that failed.
	begun, succeeded, failed uint64

	prev, next ref // of jobs in flight, by renewed
	tenant     engine.TenantID
	delivery   int32
	charged    span
	failures   span
	last       span  // charged at its latest claim, that one included
	peak       int32 // the most that charged may ever have been
	snoozes    int32
	recoveries int32       // that count towards Reaper.BuryAt
	recovered  engine.Time // the first of them
	counted    span        // how many its reaper may have found
	most       int32       // the most that any may have found
	vague      bool        // it may have started over
	node       int32       // that claimed it
	life       uint32      // which of the node
	owed       uint32      // that life, while an execution of it has ended and the store does not know; else 0
	turn       uint32      // see owing
	kind       engine.Kind
	state      engine.State
	class      engine.Class // as which it stands there
	reaped     bool         // a reaper holds it
	line       line         // where it stands in line
	forgotten  bool         // the record of its lease is lost
	untimed    bool         // its lease may have been extended for longer than usual
	asks       asks
	before     engine.JobID // the one that its serial key makes it wait for; 0: none
}

// line is the position of a job among the ready jobs: its ready key, and the rule for the next one.
type line struct {
	key    engine.Time     // ready: its place
	stood  engine.Time     // when it was ready last by the store's rule
	reaper engine.EngineID // that ended its lease last
	stand  engine.Place    // where that wants it when it is ready next
}

// asks is the latest call of a retry policy for one job.
type asks struct {
	delay    time.Duration // of its latest failure, as the store has it
	draw     float64       // the latest uniform draw
	delivery int32         // that it was for; 0: none
}

// span is a count of which only a lower and an upper bound are known: an attempt may have cost nothing.
type span struct{ least, most int32 }

func (s *span) add(n int32) { s.least, s.most = s.least+n, s.most+n }

// ref is the index of a job's state in the table, from 1.
type ref uint32

const (
	noRef  ref = 0
	isDone ref = 1<<32 - 1 // in the index: the job is done
)

// jobs is the table of the state of each unfinished or dead job, with the IDs of the done ones.
type jobs struct {
	// rows begin with one that is no job: the ends of the list of those in flight, whose
	// lease was renewed longest ago first.
	rows []job
	free []ref
	keys []engine.JobID // open addressing, a power of two long; 0 is no job
	refs []ref
	used int
}

func (t *jobs) at(r ref) *job { return &t.rows[r] }

// place returns the position of an ID in the index, or where it would be inserted.
func (t *jobs) place(id engine.JobID) int {
	mask := len(t.keys) - 1
	// The multiplier is that of Fibonacci hashing, 2^64 divided by the golden ratio.
	for i := int(uint64(id)*0x9e3779b97f4a7c15>>32) & mask; ; i = (i + 1) & mask {
		if t.keys[i] == id || t.keys[i] == 0 {
			return i
		}
	}
}

// find returns the ref of a job: noRef if it was never enqueued, isDone if it is done.
func (t *jobs) find(id engine.JobID) ref {
	if len(t.keys) == 0 {
		return noRef
	}
	return t.refs[t.place(id)] // of no job: noRef
}

// add returns the ref of a new state for an ID, which is not 0 and has none.
func (t *jobs) add(id engine.JobID) ref {
	if t.used*4 >= len(t.keys)*3 {
		t.grow()
	}
	if n := len(t.free); n == 0 {
		t.rows = append(t.rows, job{})
		t.free = append(t.free, ref(len(t.rows)-1))
	}
	r := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	*t.at(r) = job{id: id}
	i := t.place(id)
	t.keys[i], t.refs[i] = id, r
	t.used++
	return r
}

func (t *jobs) grow() {
	keys, refs := t.keys, t.refs
	size := max(64, 2*len(keys))
	t.keys, t.refs = make([]engine.JobID, size), make([]ref, size)
	for i, id := range keys {
		if id != 0 {
			at := t.place(id)
			t.keys[at], t.refs[at] = id, refs[i]
		}
	}
}

// finish marks a job as done and frees its state.
func (t *jobs) finish(r ref) {
	t.refs[t.place(t.at(r).id)] = isDone
	t.at(r).state = engine.NoState
	t.free = append(t.free, r)
}

// enlist moves a job in flight to the end of the list ordered by renewal.
func (t *jobs) enlist(r ref, now engine.Time) {
	j, ends := t.at(r), t.at(noRef)
	j.renewed, j.prev, j.next = now, ends.prev, noRef
	t.at(ends.prev).next, ends.prev = r, r
}

func (t *jobs) delist(r ref) {
	j := t.at(r)
	t.at(j.prev).next, t.at(j.next).prev = j.next, j.prev
}

// bit returns the bit that stands for a delivery in a job's masks.
func bit(delivery int32) uint64 { return 1 << (uint32(delivery) & 63) }

// ended returns when a job's lease ends by the rules: d.ttl after it was renewed.
func (j *job) ended(d *derived) engine.Time { return j.renewed.Add(d.ttl) }

// lapsed reports whether the lease of a job has lapsed (expired without a recovery).
func (j *job) lapsed(d *derived, now engine.Time) bool {
	return d.lapse != engine.Forever && now >= j.ended(d).Add(d.lapse)
}

// mayLapse reports whether a job's lease may have lapsed, also where the end of leases is not known.
func (j *job) mayLapse(d *derived, now engine.Time) bool {
	return d.lapse != engine.Forever && (!d.timed || j.untimed || j.lapsed(d, now))
}
