package check

import (
	"time"

	"qsim/engine"
)

// job is the checker's record of a live or dead job. It fills four lines of a processor's cache, of 64 bytes each: what
// most events read, what those of jobs in flight use, what those of ready jobs use, and what few use.
type job struct {
	id        engine.JobID
	token     engine.Token // fencing token of the latest claim or recovery
	tenant    engine.TenantID
	delivery  int32
	kind      engine.Kind
	state     engine.State
	class     engine.Class // class in which it is ready or waiting
	reaped    bool         // a reaper holds its lease
	forgotten bool         // the store has lost its lease record
	untimed   bool         // its lease may have been extended beyond the TTL
	stand     engine.Place // place rule of its latest recovery for the next time it is ready
	claimed   engine.Time  // time of the latest claim or recovery
	// begun, succeeded and failed are bit masks of its last 64 deliveries, by number modulo 64, whose handler did so.
	begun, succeeded, failed uint64

	renewed    engine.Time // in flight: start or last extension of its lease
	asked      engine.Time // in flight: time at which its holder last requested an extension
	started    engine.Time // start of its latest delivery's execution, while that delivery is current
	finished   engine.Time // end of that execution; 0: it runs, or has not begun
	prev, next ref         // neighbours in the list of jobs in flight, ordered by renewed
	node       int32       // node that claimed it
	life       uint32      // life of that node
	owed       uint32      // that life, while the outcome of an ended execution is not committed; else 0
	turn       uint32      // number of the claim, see owing
	failures   span

	enqueued engine.Time
	ready    engine.Time // time since which it is, or was last, ready; Waiting: due time
	key      engine.Time // ready key: its position among the ready jobs, if the job is ready
	stood    engine.Time // ready key when it was last ready by the store's rule
	charged  span        // attempts charged
	since    engine.Time // ready: time at which it became ready; the next fields are as of then
	idled    int64       // value of load.idled
	others   uint32      // value of load.begun
	drawn    int32       // always: delivery of the draw below; 0: none

	committed engine.Token // token of the latest outcome that took effect and did not end it as done
	// unfenced holds, without a fence by token, the least attempts charged at the latest claim, included; the most ever.
	unfenced span
	snoozes  int32
	swept    uint32        // number of the latest Checker.Sweep in which the store had it
	dropped  engine.Token  // token under which the holder will commit nothing any more
	delay    time.Duration // delay of its latest failure, as stored
	// passed is an upper bound on the part of delay that was over at the commit, if delays run from before their commit or
	// are rounded to a grain.
	passed time.Duration
	draw   float64         // latest uniform draw for jitter
	wrote  engine.EngineID // holder of the lease under which that outcome took effect
}

// recoveries counts the recoveries of a job's lease, which ReaperConfig.BuryAt limits.
type recoveries struct {
	reaper  engine.EngineID // reaper that last recovered the lease
	wrote   engine.Token    // token under which a reaper last committed its outcome
	gaveUp  engine.Token    // token under which a reaper last gave up committing it
	n       int32           // recoveries counted, since at
	most    int32           // upper bound of those counted by any reaper
	at      engine.Time     // time of the first
	counted span            // bounds of those counted by its reaper
	vague   bool            // the job's attempts may have started over
}

// span holds the bounds of a count of a job, such as attempts charged, that the events do not determine exactly.
type span struct{ least, most int32 }

func (s *span) add(n int32) { s.least, s.most = s.least+n, s.most+n }

// ref is the index of a job's record in the table jobs, from 1.
type ref uint32

const noRef ref = 0

// jobs is the table of the records of all unfinished or dead jobs, by index (ref), with the IDs of the done ones.
type jobs struct {
	// rows holds the records in chunks, which never move. The first is no job: head and tail of the list of jobs in
	// flight, whose leases were renewed longest ago first.
	rows  [][]job
	size  ref    // entries in use, or free
	free  ref    // first of the free entries, linked by next
	index []page // hash table with open addressing, its length a power of two; done jobs stay in it
	used  int    // pages in use
	// recent holds the latest job found of those whose IDs have the same hash: most events are about jobs in
	// flight, which are found here without the index, in memory that stays in a processor's cache.
	recent [1 << recentBits]ref
	swept  uint32 // number of sweeps, see job.swept

	recoveries map[ref]recoveries // of jobs whose leases were recovered
}

const chunkSize, recentBits = 256, 10

// page is an entry of the index from job IDs to their states: it covers the 64 IDs that differ only in the six bits
// from slotShift on. In scenarios those are the IDs of jobs that arrive one after the other.
type page struct {
	rest uint64   // their other bits
	refs *[64]ref // nil: the entry is empty
}

// fibonacci is the multiplier of Fibonacci hashing, 2^64 divided by the golden ratio.
const slotShift, fibonacci = 8, 0x9e3779b97f4a7c15

func slot(id engine.JobID) int { return int(id >> slotShift & 63) }

func rest(id engine.JobID) uint64 { return uint64(id) &^ (63 << slotShift) }

// at returns the record of the job with a table index. Chunks are slices, since Go reads the first byte of an array to
// see that its pointer is not nil, and a processor's cache would have to hold that line, too.
func (t *jobs) at(r ref) *job { return &t.rows[r/chunkSize][r%chunkSize] }

// page returns the entry of the index that covers a job ID, or the empty entry where it would be inserted.
func (t *jobs) page(id engine.JobID) *page {
	mask, rest := len(t.index)-1, rest(id)
	for i := int(rest * fibonacci >> 32); ; i++ {
		if p := &t.index[i&mask]; p.rest == rest || p.refs == nil {
			return p
		}
	}
}

// find returns the table index of a job, noRef if it was never enqueued, and its record: nil if it was not, or is done.
func (t *jobs) find(id engine.JobID) (ref, *job) {
	recent := &t.recent[uint64(id)*fibonacci>>(64-recentBits)]
	if j := t.at(*recent); j.id == id {
		return *recent, j
	}
	p := t.page(id)
	if p.refs == nil {
		return noRef, nil
	}
	r := p.refs[slot(id)]
	if j := t.at(r); j.id == id {
		*recent = r
		return r, j
	}
	return r, nil
}

// add adds a record for a new job, whose ID must not be 0, and returns it with its table index; nil: it is not new.
func (t *jobs) add(id engine.JobID) (ref, *job) {
	if t.used*4 >= len(t.index)*3 {
		t.grow()
	}
	p := t.page(id)
	if p.refs == nil {
		*p = page{rest(id), new([64]ref)}
		t.used++
	} else if p.refs[slot(id)] != noRef {
		return noRef, nil
	}
	r := t.free
	if r == noRef {
		r = t.extend()
	}
	j := t.at(r)
	t.free = j.next
	*j = job{id: id}
	delete(t.recoveries, r)
	p.refs[slot(id)] = r
	return r, j
}

// extend adds a free record to the table of jobs and returns its index.
func (t *jobs) extend() ref {
	if t.size%chunkSize == 0 {
		t.rows = append(t.rows, make([]job, chunkSize))
	}
	t.size++
	return t.size - 1
}

func (t *jobs) grow() {
	old := t.index
	t.index = make([]page, max(64, 2*len(old)))
	for _, p := range old {
		if p.refs != nil {
			*t.page(engine.JobID(p.rest)) = p
		}
	}
}

// finish marks a job as done and frees its record.
func (t *jobs) finish(r ref, j *job) {
	j.id, j.state, j.next, t.free = 0, engine.NoState, t.free, r
}

// enlist appends a job to the list of jobs in flight, ordered by the latest grant or extension of their leases.
func (t *jobs) enlist(r ref, j *job, now engine.Time) {
	ends := t.at(noRef)
	j.renewed, j.prev, j.next = now, ends.prev, noRef
	t.at(ends.prev).next, ends.prev = r, r
}

func (t *jobs) delist(j *job) {
	t.at(j.prev).next, t.at(j.next).prev = j.next, j.prev
}

// bit returns the bit of a delivery in a mask of 64 bits, one for each of a job's last 64 deliveries.
func bit(delivery int32) uint64 { return 1 << (uint32(delivery) & 63) }

// ended returns the time at which a job's lease ends: its TTL after it was granted or last extended.
func (j *job) ended(d *derived) engine.Time { return j.renewed.Add(d.ttl) }

// lapsed reports whether a job's lease has lapsed: expired StoreOptions.LapseAfter ago, and so void without a recovery.
func (j *job) lapsed(d *derived, now engine.Time) bool {
	return d.lapse != engine.Forever && now >= j.ended(d).Add(d.lapse)
}

// mayLapse reports whether a job's lease may have lapsed: it has, or the time at which it ends is not known.
func (j *job) mayLapse(d *derived, now engine.Time) bool {
	return d.lapse != engine.Forever && (!d.timed || j.untimed || j.lapsed(d, now))
}
