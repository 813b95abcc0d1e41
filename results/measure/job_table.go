package measure

import (
	"time"

	"qsim/engine"
)

// knownJob is what must be remembered of a job from its first claim until it is
// settled: it is not leased, none of its executions runs, and it either ended or never
// succeeded.
type knownJob struct {
	id         engine.JobID // 0: the place is free
	place      uint32       // in jobTable
	handle     uint32       // of the store's; 0: it is not known
	enqueued   engine.Time
	readySince engine.Time  // before the latest claim
	token      engine.Token // of the latest claim
	expires    engine.Time  // of the lease of that claim, as far as is known
	taken      engine.Token // of the latest recovery; all earlier leases are void
	acked      engine.Token // whose ack was accepted
	found      engine.Token // of the latest execution that found the work done when it started
	ran        [2]execution // latest executions that ended, while no ack was accepted
	cohort     uint32       // see cohorts
	running    uint16       // executions
	pending    uint16       // claims whose execution has not started, and perhaps never will
	successes  uint16       // executions
	late       [2]bool      // whether the lease of each of ran had expired when it ended
	leased     bool
	lost       bool  // its holder has learned that the lease of the latest claim is gone
	ended      bool  // done or dead
	twice      bool  // its effect was applied more than once
	cause      cause // why it may run again though it has succeeded, or will
}

// execution is one that ended, by its lease.
type execution struct {
	token engine.Token
	ran   time.Duration
}

// remember keeps an execution that may yet be acked, in place of the older one.
func (j *knownJob) remember(token engine.Token, ran time.Duration, now engine.Time) {
	late := token == j.token && (j.lost || now >= j.expires)
	j.ran[0], j.ran[1] = execution{token, ran}, j.ran[0]
	j.late[0], j.late[1] = late, j.late[0]
}

// accept notes that the ack of token was accepted and returns how long its execution
// ran, 0 if it has not ended yet.
func (j *knownJob) accept(token engine.Token) time.Duration {
	j.acked = token
	for _, x := range j.ran {
		if x.token == token {
			return x.ran
		}
	}
	return 0
}

// jobTable holds what is known of jobs: in places that are found by the handle which the store gave the job's
// lease (engine.LeaseKey), or by the job's ID where the events carry no handle or the handle has passed to another
// job. Pointers into it are valid until the next put.
type jobTable struct {
	jobs     []knownJob // place 0 stays free
	free     []uint32   // places
	byHandle []uint32   // place; 0: none
	byID     map[engine.JobID]uint32
	everyID  bool // byID has all jobs, not only those that are not in byHandle
}

func newJobTable(everyID bool) jobTable {
	return jobTable{jobs: make([]knownJob, 1), byID: make(map[engine.JobID]uint32), everyID: everyID}
}

// find returns the job of that ID, whose handle is ref or, if that is 0, not known; nil if the job is not known.
func (t *jobTable) find(ref uint32, id engine.JobID) *knownJob {
	if int(ref) < len(t.byHandle) {
		if j := &t.jobs[t.byHandle[ref]]; j.id == id {
			return j
		}
	}
	if len(t.byID) == 0 {
		return nil
	}
	return t.named(id)
}

// named returns the job of that ID among those in byID; nil if it is not there.
func (t *jobTable) named(id engine.JobID) *knownJob {
	if at, ok := t.byID[id]; ok {
		return &t.jobs[at]
	}
	return nil
}

// put returns the job of that ID and handle, a new one if it was not known.
func (t *jobTable) put(ref uint32, id engine.JobID) *knownJob {
	if j := t.find(ref, id); j != nil {
		return j
	}
	if len(t.free) == 0 {
		t.jobs = append(t.jobs, knownJob{})
		t.free = append(t.free, uint32(len(t.jobs)-1))
	}
	at := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	j := &t.jobs[at]
	*j = knownJob{}
	j.id, j.place, j.handle = id, at, ref
	if ref == 0 || t.everyID {
		t.byID[id] = at
	}
	if ref == 0 {
		return j
	}
	for int(ref) >= len(t.byHandle) {
		t.byHandle = append(t.byHandle, 0)
	}
	if before := &t.jobs[t.byHandle[ref]]; before.id != 0 { // an execution that outlives its job in the store
		t.byID[before.id] = before.place
	}
	t.byHandle[ref] = at
	return j
}

// remove forgets a job.
func (t *jobTable) remove(j *knownJob) {
	if j.handle != 0 && t.byHandle[j.handle] == j.place {
		t.byHandle[j.handle] = 0
	}
	if len(t.byID) > 0 {
		delete(t.byID, j.id)
	}
	j.id = 0
	t.free = append(t.free, j.place)
}

// nameAll has named find every job.
func (t *jobTable) nameAll() {
	for i := range t.jobs {
		if j := &t.jobs[i]; j.id != 0 {
			t.byID[j.id] = j.place
		}
	}
}

// used is how many jobs are known.
func (t *jobTable) used() int { return len(t.jobs) - 1 - len(t.free) }

// limboSize is how many settled jobs are remembered of which a claim was never
// heard of again: should its execution start after all, it is known for a duplicate.
const limboSize = 4096

// limbo is a ring of such jobs, the longest known forgotten first.
type limbo struct {
	jobs []limboJob
	next int
}

type limboJob struct {
	id    engine.JobID
	place uint32
}

// settle forgets j, or leaves it in limbo, if nothing more can come of it.
func (c *Collector) settle(j *knownJob) {
	if !j.settled() {
		return
	}
	if j.pending == 0 {
		c.known.remove(j)
		return
	}
	ring, latest := &c.limbo, limboJob{j.id, j.place}
	if len(ring.jobs) < limboSize {
		ring.jobs = append(ring.jobs, latest)
		return
	}
	oldest := ring.jobs[ring.next]
	ring.jobs[ring.next] = latest
	ring.next = (ring.next + 1) % limboSize
	if old := &c.known.jobs[oldest.place]; old.id == oldest.id && old.settled() {
		c.known.remove(old)
	}
}

// settled reports that j is not leased, does not run, and ended or never succeeded.
func (j *knownJob) settled() bool {
	return !j.leased && j.running == 0 && (j.ended || j.successes == 0)
}
