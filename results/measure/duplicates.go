package measure

import (
	"qsim/engine"
)

// cause is the reason why a job was executed with success more than once (a duplicate execution).
type cause uint8

const (
	noCause     cause = iota // no cause below: a redriven job, or one whose outcome was overruled
	leaseLapsed              // the lease expired while the handler was running in a live process, and it succeeded
	crashed                  // a process died after the handler had succeeded and before its ack was accepted
	ackLost                  // the handler succeeded within its lease, in a live process, but the ack was not accepted
	overran                  // the handler succeeded after its attempt had been given up: an execution timeout
	resubmitted              // a caller enqueued another copy of its job: not part of duplicates.count
	numCauses
)

// blame records, when a job's expired lease is taken away, the cause of a duplicate execution that may follow; alive is
// false if the holder's process has died. If the execution under that lease succeeded, the cause is the lapsed lease
// (success after the expiry), a lost ack or a crash; if it is still running, the lapsed lease.
func (j *knownJob) blame(alive bool) {
	switch x := j.successUnder(j.token); {
	case x != nil && x.late:
		j.cause = leaseLapsed
	case x != nil && alive:
		j.cause = ackLost
	case x != nil:
		j.cause = crashed
	case alive && j.successes == 0:
		j.cause = leaseLapsed
	}
}

// overrun records that the holder of a lease gave the job back (nack) before its handler ended. If its handler runs on,
// or had succeeded meanwhile, a second success of the job is blamed on the overrun.
func (j *knownJob) overrun() {
	if j.successUnder(j.token) != nil || j.runs && j.successes == 0 {
		j.cause = overran
	}
}

// resubmission counts the copies of a caller's job that was enqueued more than once, until none can be executed any
// more.
type resubmission struct {
	open int // copies that are not done and, without redrives, not dead, or whose execution goes on nevertheless
	done int // copies executed with success
}

// callerOf returns the ID of the first copy of a caller's job, which stands for the caller, given the ID of any copy.
func (c *Collector) callerOf(job engine.JobID) engine.JobID {
	return job &^ c.copies
}

// onResubmitted counts a further copy of a job that its caller enqueued again. When the second copy comes, the first is
// open (neither done nor dead), though it may have been executed with success already.
func (c *Collector) onResubmitted(job engine.JobID) {
	caller := c.callerOf(job)
	r := c.resubmitted[caller]
	if r == nil {
		r = &resubmission{open: 1}
		c.resubmitted[caller] = r
		if j := c.known.find(caller); j != nil && j.successes > 0 {
			r.done = 1
		}
	}
	r.open++
}

// onCopyDone counts the first success of a copy of a resubmitted job, as a duplicate if another copy had succeeded.
func (c *Collector) onCopyDone(j *knownJob, kind engine.Kind, tenant engine.TenantID) {
	r := c.resubmitted[c.callerOf(j.id)]
	if r == nil {
		return
	}
	if r.done++; r.done > 1 {
		for s := c.setsOf(c.callerSince(j.id, kind, j.enqueued), kind, tenant); s != nil; s = s.next {
			s.causes[resubmitted]++
		}
	}
}

// onCopyEnded notes that a job, perhaps a copy of a resubmitted one, is done, or dead and not to be redriven, and that
// no execution of it goes on.
func (c *Collector) onCopyEnded(job engine.JobID) {
	caller := c.callerOf(job)
	if r := c.resubmitted[caller]; r != nil {
		if r.open--; r.open == 0 {
			delete(c.resubmitted, caller)
		}
	}
}

// causeMetrics returns the metrics that divide duplicates.count by cause; all but the last add up to it.
func causeMetrics() []metric {
	of := func(name string, why cause, label, doc string) metric {
		return ofJobs(less("duplicates."+name, "executions", label, doc),
			func(q *question) Value { return count(q.jobs.causes[why]) })
	}
	return []metric{
		of("lease", leaseLapsed, "duplicates by a lapsed lease", "duplicates because a lease expired, for its holder or "+
			"the store, while the process that held it was alive and busy with the job"),
		of("crash", crashed, "duplicates by a crash",
			"duplicates because a process died after the handler had succeeded and before the store had the ack"),
		of("ack", ackLost, "duplicates by a lost ack", "duplicates because the ack of a success under a lease that lasted "+
			"did not reach the store in time, though its process lived"),
		of("timeout", overran, "duplicates by a timeout",
			"duplicates because a handler went on, to a success, when its attempt had been given up"),
		of("other", noCause, "other duplicates", "duplicates for another reason, such as a dead job made ready again"),
		of("resubmits", resubmitted, "duplicates by resubmission", "with patience: copies executed with success after "+
			"another copy of the same caller's job had been; not in duplicates.count"),
	}
}
