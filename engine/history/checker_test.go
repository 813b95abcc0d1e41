package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qsim/engine"
)

// sighting is one job in a call.
type sighting struct {
	call *Call
	item *Item
}

func (s sighting) String() string { return s.call.tell(s.item) }

// accepted reports whether a commit is known to have taken effect, by this call or by an
// earlier copy.
func (s sighting) accepted() bool {
	return s.call.Answer == Answered && (s.item.Status == engine.Applied || s.item.Status == engine.Applied.Again())
}

// possible reports whether a commit may have taken effect.
func (s sighting) possible() bool { return s.accepted() || s.call.Answer == Unknown }

// ends reports whether a commit is about the end of the job.
func (s sighting) ends() bool { return s.item.Verb == engine.Ack || s.item.Verb == engine.Bury }

// jobHistory holds all recorded calls about one job.
type jobHistory struct {
	id        engine.JobID
	enqueues  []sighting // enqueue calls that were not refused
	effective bool       // one of them took effect
	leases    []sighting // granted by claims and recoveries, in the order in which they began
	extends   []sighting // extensions that the store granted
	commits   []sighting
	promotes  []sighting // promotions in the order in which they began
	redrives  []sighting // redrives with a known answer
	shed      bool       // a claim buried it
	left      bool
	common    *common
}

// Check verifies the recorded calls of all processes, and the jobs left in the store, against the contract of
// engine.Store under engine.FenceToken. It keeps pointers into calls. IDs of jobs must not be reused, even when the
// answer was lost. left excludes dead jobs, if the store keeps them; leaders renew with equal TTLs.
func Check(calls []Call, left []engine.JobID) *Report {
	r := &Report{Calls: map[Op]Tally{}, history: map[engine.JobID][]sighting{}}
	jobs, shared := map[engine.JobID]*jobHistory{}, newCommon(calls)
	of := func(id engine.JobID) *jobHistory {
		j := jobs[id]
		if j == nil {
			j = &jobHistory{id: id, common: shared}
			jobs[id] = j
		}
		return j
	}
	for _, id := range left {
		of(id).left = true
	}
	for i := range calls {
		c := &calls[i]
		r.count(c)
		for k := range c.Items {
			s := sighting{c, &c.Items[k]}
			r.history[s.item.Job] = append(r.history[s.item.Job], s)
			of(s.item.Job).add(s)
		}
	}
	settle(calls, jobs)
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		r.checkJob(jobs[id])
	}
	r.checkLeaders(calls)
	return r
}

// count adds a call to the numbers of the report.
func (r *Report) count(c *Call) {
	t := r.Calls[c.Op]
	switch c.Answer {
	case Answered:
		t.Answered++
	case Refused:
		t.Refused++
	default:
		t.Unknown++
	}
	r.Calls[c.Op] = t
	switch {
	case c.Op == Claim:
		r.Leases += len(c.Items)
	case c.Op == Recover:
		r.Taken += len(c.Items)
	case c.Op == Promote:
		r.Promoted += len(c.Items)
	case c.Op == Redrive:
		r.Redriven += len(c.Items)
	case c.Op == ExtendNode:
		r.Extended += c.Granted
	case c.Op == Lead:
		r.Led += c.Granted
	case c.Op == Commit && c.Answer == Answered:
		for i := range c.Items {
			switch c.Items[i].Status {
			case engine.Stale, engine.Stale.Again():
				r.Stale++
			case engine.Applied.Again():
				r.Repeated++
			}
		}
	}
}

// add appends a sighting to the list of its kind.
func (j *jobHistory) add(s sighting) {
	switch s.call.Op {
	case Enqueue:
		if s.call.Answer != Refused {
			j.enqueues = append(j.enqueues, s)
			j.effective = j.effective || s.call.Answer == Answered
		}
	case Claim, Recover:
		if s.item.Verb == engine.Bury {
			j.shed = true
			return
		}
		j.leases = append(j.leases, s)
	case Extend:
		if s.call.Answer == Answered && s.item.Status == engine.Applied {
			j.extends = append(j.extends, s)
		}
	case Commit:
		j.commits = append(j.commits, s)
	case Promote:
		j.promotes = append(j.promotes, s)
	case Redrive:
		j.redrives = append(j.redrives, s)
	}
}

// settle finds the unanswered enqueue calls that took effect: one of their jobs was seen, so all were enqueued, as it
// is all or none.
func settle(calls []Call, jobs map[engine.JobID]*jobHistory) {
	for i := range calls {
		c := &calls[i]
		if c.Op != Enqueue || c.Answer != Unknown {
			continue
		}
		seen := slices.ContainsFunc(c.Items, func(item Item) bool {
			j := jobs[item.Job]
			return j.seen()
		})
		for k := range c.Items {
			j := jobs[c.Items[k].Job]
			j.effective = j.effective || seen
		}
	}
}

// seen reports whether there is proof that the store had the job.
func (j *jobHistory) seen() bool {
	return len(j.leases) > 0 || len(j.promotes) > 0 || len(j.redrives) > 0 || j.shed || j.left
}

func byBegin(a, b sighting) int { return cmp.Compare(a.call.Began, b.call.Began) }

// checkJob checks all rules for one job.
func (r *Report) checkJob(j *jobHistory) {
	slices.SortStableFunc(j.leases, byBegin)
	slices.SortStableFunc(j.promotes, byBegin)
	switch {
	case j.effective:
		r.Jobs++
	case len(j.enqueues) > 0:
		r.Maybe++
	}
	found := func(k Kind, format string, arguments ...any) {
		r.Anomalies = append(r.Anomalies, Anomaly{k, j.id, fmt.Sprintf(format, arguments...)})
	}
	ended := slices.IndexFunc(j.commits, func(s sighting) bool { return s.ends() && s.accepted() })
	if ended >= 0 {
		r.Acked++
	}
	revived := j.lastRevived()
	perhaps := j.shed || slices.ContainsFunc(j.commits, func(s sighting) bool { return s.ends() && s.possible() && s.call.Ended >= revived })
	switch {
	case j.effective && !perhaps && !j.left:
		found(Lost, "enqueued, never ended, and not there")
	case j.left && ended >= 0 && !j.mayLive(j.commits[ended], engine.Never):
		found(Redelivered, "there still, after %v", j.commits[ended])
	}
	j.checkExpected(found)
	j.checkEnds(found)
	j.checkStale(found)
	j.checkLeases(found)
	j.checkPromotions(found)
	j.checkRedrives(found)
}

type finder func(k Kind, format string, arguments ...any)

// checkExpected checks that the job's enqueue call had begun before the job was handed out.
func (j *jobHistory) checkExpected(found finder) {
	if len(j.enqueues) == 0 {
		if j.seen() {
			found(Unexpected, "nobody enqueued it")
		}
		return
	}
	first := engine.Never
	for _, s := range j.enqueues {
		first = min(first, s.call.Began)
	}
	for _, l := range slices.Concat(j.leases, j.promotes, j.redrives) {
		if l.call.Ended < first {
			found(Unexpected, "%v before it was enqueued", l)
		}
	}
}

// checkEnds checks that exactly one batch ended the job, and that only a redrive came after it.
func (j *jobHistory) checkEnds(found finder) {
	var ends []sighting
	for _, s := range j.commits {
		if !s.ends() || !s.accepted() {
			continue
		}
		i := slices.IndexFunc(ends, func(e sighting) bool {
			again := e.call.Batch == s.call.Batch && e.item.Status == engine.Applied && s.item.Status == engine.Applied
			return again || e.call.Batch != s.call.Batch && !j.mayLive(e, s.call.Ended) && !j.mayLive(s, e.call.Ended)
		})
		if i >= 0 {
			found(AckedTwice, "%v; and %v", ends[i], s)
		}
		ends = append(ends, s)
		for _, l := range j.leases {
			switch {
			case j.mayLive(s, l.call.Ended):
			case l.call.Began >= s.call.Ended:
				found(Redelivered, "%v, after %v", l, s)
			case l.item.Token > s.item.Token:
				found(StaleAccepted, "%v, but there is %v", s, l) // or it was handed out afterwards
			}
		}
	}
}

// checkStale checks fencing: no commit took effect under a token if a later token had been granted before the commit
// was made.
func (j *jobHistory) checkStale(found finder) {
	for _, s := range j.commits {
		if s.ends() || s.call.Answer != Answered || s.item.Status != engine.Applied {
			continue
		}
		for _, l := range j.leases {
			if l.item.Token > s.item.Token && l.call.Ended <= s.call.Began {
				found(StaleAccepted, "%v, after %v", s, l)
			}
		}
	}
}
