package measure

import (
	"time"

	"qsim/engine"
)

// knownJob is the state that a collector keeps of a job from its first claim until it is settled: it then has no lease
// and no running execution, and is done, dead or was never executed with success.
type knownJob struct {
	id         engine.JobID
	enqueued   engine.Time
	readySince engine.Time  // start of the wait that the latest claim ended
	token      engine.Token // fencing token of the latest claim
	expires    engine.Time  // latest known expiry of that lease
	next       uint32       // index of the next job of the same hash, or of the next free entry, see jobTable
	cohort     uint32       // index of the job's cohort, see cohorts
	running    uint16       // executions under way
	pending    uint16       // claims whose execution has not started, and perhaps never will
	successes  uint16       // executions that ended in success
	late       [2]bool      // whether the lease of each of ran had expired when its execution ended
	leased     bool         // it has had no outcome since its latest claim
	started    bool         // an execution under the lease of the latest claim has begun
	runs       bool         // that execution is under way
	lost       bool         // the holder knows that the lease of the latest claim is gone
	ended      bool         // done or dead
	twice      bool         // the effect of the job was applied more than once
	cause      cause        // why the job may be executed again despite a success
	taken      engine.Token // token at the latest recovery; all earlier leases are void
	acked      engine.Token // token of the accepted ack
	found      engine.Token // token of the latest execution that began after another had succeeded
	ran        [2]execution // the latest two executions that ended in success, newest first
	lapsedAt   int32        // number of the latest claim whose lease was recovered
	lapses     uint32       // by the number of claims before that one, whether the lease of that claim was
}

// execution is an execution of a job that ended in success: the fencing token of its lease, and how long it ran.
type execution struct {
	token engine.Token
	ran   time.Duration
}

// lapsed reports whether the lease of the claim with that number was recovered, rather than ended by an outcome. It is
// presumed so of claims 32 or more before the latest of which it is known.
func (j *knownJob) lapsed(delivery int32) bool {
	later := j.lapsedAt - delivery
	return later >= 32 || later >= 0 && j.lapses>>later&1 == 1
}

// remember keeps the run time of a successful execution until its ack is accepted; of each job the latest two are kept.
func (j *knownJob) remember(token engine.Token, ran time.Duration, now engine.Time) {
	late := j.lost || now >= j.expires // of the latest lease, for which alone it is asked
	j.ran[0], j.ran[1] = execution{token, ran}, j.ran[0]
	j.late[0], j.late[1] = late, j.late[0]
}

// commit records an outcome that the store applied, and returns the run time of the execution if it was acked; 0 if it
// was not, or the run time is unknown.
func (j *knownJob) commit(kind engine.EventKind, o *engine.Outcome) (ran time.Duration) {
	j.leased = false
	switch kind {
	case engine.Acked:
		j.ended, j.acked = true, o.Token
		for i := range j.ran {
			if x := &j.ran[i]; x.token == o.Token {
				return x.ran
			}
		}
		return 0
	case engine.Buried:
		j.ended = true
		return 0
	}
	if o.Token == j.token && j.taken < j.token { // by its holder
		j.overrun()
	}
	if kind == engine.Returned && o.Error != engine.LeaseExpired && j.pending > 0 {
		j.pending-- // handed back by who claimed it, not run, and not by a reaper
	}
	return 0
}

// jobTable is a hash table of jobs by ID. The jobs lie in a list whose free places are reused, the latest first, and
// are linked by hash: at most one job for four hashes, so that most are alone. Pointers to jobs are valid until the
// next put or remove.
type jobTable struct {
	jobs  []knownJob // from index 1 on; the first entry is no job
	free  uint32     // index of the first free entry in jobs, linked by next; 0: none
	heads []uint32   // by hash, index of the first job, linked by next; 0: none
	shift uint       // 64 − log2(len(heads))
}

func newJobTable() jobTable {
	return jobTable{jobs: make([]knownJob, 1), heads: make([]uint32, 512), shift: 64 - 9}
}

// hash returns the hash of a job ID, an index in heads, by Fibonacci hashing.
func (t *jobTable) hash(id engine.JobID) int {
	return int(uint64(id) * 0x9e3779b97f4a7c15 >> (t.shift & 63))
}

// find returns the job with that ID, nil if the table has none.
func (t *jobTable) find(id engine.JobID) *knownJob {
	for at := t.heads[t.hash(id)]; at != 0; {
		j := &t.jobs[at]
		if j.id == id {
			return j
		}
		at = j.next
	}
	return nil
}

// put returns the job with that ID, a new entry if the table had none.
func (t *jobTable) put(id engine.JobID) *knownJob {
	if j := t.find(id); j != nil {
		return j
	}
	at := t.free
	if at == 0 {
		at = uint32(len(t.jobs))
		if 4*len(t.jobs) > len(t.heads) {
			t.grow()
		}
		t.jobs = append(t.jobs, knownJob{})
	}
	j, head := &t.jobs[at], &t.heads[t.hash(id)]
	t.free = j.next
	*j = knownJob{}
	j.id, j.next, *head = id, *head, at
	return j
}

// grow doubles the hash table, while no entry of the list of jobs is free.
func (t *jobTable) grow() {
	t.heads, t.shift = make([]uint32, 2*len(t.heads)), t.shift-1
	for at := 1; at < len(t.jobs); at++ {
		j := &t.jobs[at]
		head := &t.heads[t.hash(j.id)]
		j.next, *head = *head, uint32(at)
	}
}

// remove deletes the job with that ID from the hash table, if it is there.
func (t *jobTable) remove(id engine.JobID) {
	for link := &t.heads[t.hash(id)]; *link != 0; link = &t.jobs[*link].next {
		if at := *link; t.jobs[at].id == id {
			*link, t.jobs[at].next, t.free = t.jobs[at].next, t.free, at
			return
		}
	}
}

// limboSize is the number of jobs remembered after their outcome because one of their claims was neither started nor
// given back: if its execution starts after all, it counts as a duplicate.
const limboSize = 4096

// forget removes a job that can have no further events from the table. A job with a claim that was never started stays
// longer (see limboSize), as it may still be executed; a dead one that has succeeded stays while it may be redriven,
// since a further success then is a duplicate.
func (c *Collector) forget(j *knownJob) {
	if j.successes > 0 && c.isDead(j) {
		return
	}
	if j.pending == 0 {
		c.drop(j)
		return
	}
	if c.limbo = append(c.limbo, j.id); len(c.limbo) <= limboSize {
		return
	}
	oldest := c.limbo[0]
	c.limbo = c.limbo[1:]
	if old := c.known.find(oldest); old != nil && old.settled() {
		c.drop(old)
	}
}

// drop removes a job from the table of known jobs: no execution of it is expected any more.
func (c *Collector) drop(j *knownJob) {
	if len(c.resubmitted) > 0 && j.ended && !c.isDead(j) {
		c.onCopyEnded(j.id)
	}
	c.known.remove(j.id)
}

// isDead reports whether a job is dead and may be redriven.
func (c *Collector) isDead(j *knownJob) bool {
	if c.dead == nil {
		return false
	}
	_, dead := c.dead[j.id]
	return dead
}

// settled reports whether no event is expected of j: it is not leased, does not run, and has ended or never succeeded.
func (j *knownJob) settled() bool {
	return !j.leased && j.running == 0 && (j.ended || j.successes == 0)
}
