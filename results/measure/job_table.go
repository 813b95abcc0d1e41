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
	held       engine.Time  // since when that lease has run: its claim, or the latest known heartbeat
	next       *knownJob    // the next job of the same hash, or the next free entry, see jobTable
	sets       *membership  // the job sets that count the job
	running    uint16       // executions under way
	pending    uint16       // claims whose execution has not started, and perhaps never will
	successes  uint16       // executions that ended in success
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

// execution is an execution of a job that ended in success.
type execution struct {
	token engine.Token // fencing token of its lease
	ran   time.Duration
	late  bool // that lease, if it was the latest of the job, had expired when the execution ended
}

// lapsed reports whether the lease of the claim with that number was recovered, rather than ended by an outcome. It is
// presumed so of claims 32 or more before the latest of which it is known.
func (j *knownJob) lapsed(delivery int32) bool {
	later := j.lapsedAt - delivery
	return later >= 32 || later >= 0 && j.lapses>>later&1 == 1
}

// successUnder returns the execution that ended in success under the lease with that fencing token, nil if there was
// none, or it is no longer among the latest two.
func (j *knownJob) successUnder(token engine.Token) *execution {
	for i := range j.ran {
		if x := &j.ran[i]; x.token == token {
			return x
		}
	}
	return nil
}

// commit records an outcome that the store applied, and returns the run time of the execution if it was acked; 0 if it
// was not, or the run time is unknown.
func (j *knownJob) commit(kind engine.EventKind, o *engine.Outcome) (ran time.Duration) {
	j.leased = false
	switch kind {
	case engine.Acked:
		j.ended, j.acked = true, o.Token
		if x := j.successUnder(o.Token); x != nil {
			return x.ran
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

// jobTable is a hash table of jobs by ID: lists of the jobs of equal hash, whose entries are reused. It has four lists
// for each entry, so that most jobs are alone in theirs. A pointer to a job is valid until the job is removed.
type jobTable struct {
	heads   []*knownJob // by hash, the first job, linked by next; nil: none
	free    *knownJob   // the first free entry, linked by next; nil: none
	entries int         // jobs in the lists, and free entries
	shift   uint        // 64 − log2(len(heads))
}

func newJobTable() jobTable { return jobTable{heads: make([]*knownJob, 512), shift: 64 - 9} }

// list returns the list of the jobs whose hash is that of a job ID, by Fibonacci hashing.
func (t *jobTable) list(id engine.JobID) **knownJob {
	return &t.heads[uint64(id)*0x9e3779b97f4a7c15>>(t.shift&63)]
}

// find returns the job with that ID, nil if the table has none.
func (t *jobTable) find(id engine.JobID) *knownJob {
	j := *t.list(id)
	for j != nil && j.id != id {
		j = j.next
	}
	return j
}

// put returns the job with that ID, a new entry if the table had none.
func (t *jobTable) put(id engine.JobID) *knownJob {
	list := t.list(id)
	for j := *list; j != nil; j = j.next {
		if j.id == id {
			return j
		}
	}
	j := t.free
	if j == nil {
		j = new(knownJob)
		if t.entries++; 4*t.entries > len(t.heads) {
			t.grow()
			list = t.list(id)
		}
	}
	t.free = j.next
	*j = knownJob{}
	j.id, j.next, *list = id, *list, j
	return j
}

// grow doubles the number of lists.
func (t *jobTable) grow() {
	lists := t.heads
	t.heads, t.shift = make([]*knownJob, 2*len(lists)), t.shift-1
	for _, j := range lists {
		for j != nil {
			next, list := j.next, t.list(j.id)
			j.next, *list = *list, j
			j = next
		}
	}
}

// remove deletes a job of the table.
func (t *jobTable) remove(j *knownJob) {
	link := t.list(j.id)
	for *link != j {
		link = &(*link).next
	}
	*link = j.next
	j.next, t.free = t.free, j
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
	c.known.remove(j)
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
