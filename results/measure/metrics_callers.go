package measure

import (
	"qsim/engine"
	"qsim/results/plain"
)

// slowdown is the name of the metric that compares waits with those of a run of the same seed without storms.
const slowdown = "slowdown"

// callerMetrics returns the metrics about callers: they enqueue jobs and may give up or enqueue a copy.
func callerMetrics() []metric {
	const noCallers, noPatience = "no caller came", "no caller gives up"
	return []metric{
		ofJobs(less("amplification", "1", "claims per caller",
			"claims of all copies of their jobs ÷ callers; a caller with patience may enqueue several copies"),
			func(q *question) Value {
				return ratio(float64(int64(q.jobs.claims)+q.jobs.copies), float64(q.jobs.enqueued-q.jobs.further), noCallers)
			}),
		ofJobs(share(more("answered.share", "1", "callers answered in time",
			"with patience: share of the callers of whose job a copy was done in time")),
			func(q *question) Value {
				n := ratio(float64(q.jobs.answered), float64(q.jobs.patient), noCallers)
				n.Bound = plain.When(!n.Null && q.jobs.undecided > 0, ">=")
				return n.unless(!q.anyPatience(q.Class), noPatience)
			}),
		ofClock(more("answered.rate", "1/s", "callers answered per second",
			"with patience: callers answered in time, per second"), func(q *question) Value {
			n := ratio(float64(q.clock.answered), q.clock.span.Seconds(), noTime)
			return n.unless(!q.anyPatience(q.Class), noPatience)
		}),
	}
}

// anyPatience reports whether callers of a class give up after a time; of any class if class is empty.
func (c *Collector) anyPatience(class string) bool {
	for kind, after := range c.settings.Patience {
		if after > 0 && (class == "" || kind < len(c.settings.Classes) && c.settings.Classes[kind] == class) {
			return true
		}
	}
	return false
}

// copyOf returns the number of a copy, from 0, among the copies that its caller enqueued of one job, given its ID.
func (c *Collector) copyOf(job engine.JobID) uint64 {
	return uint64(job & c.copies)
}

// callerSince returns when a caller enqueued the first copy of a job, given when it enqueued this copy.
func (c *Collector) callerSince(job engine.JobID, kind engine.Kind, enqueued engine.Time) engine.Time {
	if n := c.copyOf(job); n > 0 {
		return enqueued - engine.Time(n)*engine.Time(element(c.settings.Patience, kind))
	}
	return enqueued
}

// onCopyClaimed updates the numbers of claims per caller: a claim of a further copy of a job moves from the job sets
// that count this copy to those that count the caller's first copy.
func (c *Collector) onCopyClaimed(k *claim, sets *membership) {
	for s := sets; s != nil; s = s.next {
		s.copies--
	}
	for s := c.setsOf(c.callerSince(k.ID, k.Kind, k.enqueued), k.Kind, k.Tenant); s != nil; s = s.next {
		s.copies++
	}
}

// onAnswer counts a caller who gets the first success of a job before giving up.
func (c *Collector) onAnswer(at engine.Time, o *engine.Outcome, r *engine.Result) {
	if after := element(c.settings.Patience, o.Kind); after <= 0 || r.Age > after {
		return
	}
	for _, v := range c.views {
		if v.has(o.Kind, o.Tenant) {
			v.segment.answered++
		}
	}
	for s := c.setsOf(c.callerSince(o.Job, o.Kind, at-engine.Time(r.Age)), o.Kind, o.Tenant); s != nil; s = s.next {
		s.answered++
	}
}

// slowdownMetric returns the metric slowdown, without a value until CompareWithCalm has that of a run without storms.
func slowdownMetric() metric {
	info := less(slowdown, "1", "slowdown by the storms",
		"mean fresh wait ÷ that of the same seeds with all storms removed; asked for, it takes a second run")
	info.OnRequest = true
	return ofJobs(info, func(*question) Value { return none("the seed was not run without storms") })
}

// CompareWithCalm sets the slowdowns of r, given the run calm of the same policy, seed and settings but without storms.
func (r *Run) CompareWithCalm(calm *Run) {
	k := 0
	for i := range r.Values {
		v := &r.Values[i]
		if v.Metric != slowdown || k >= len(r.means) || k >= len(calm.means) {
			continue
		}
		q := v.Query
		*v = slowdownBy(r.means[k], calm.means[k])
		v.Query = q
		k++
	}
}

// slowdownBy returns the value of slowdown: the mean fresh wait of a run with storms ÷ that of the run without them.
func slowdownBy(stormy, quiet Value) Value {
	switch {
	case stormy.Null:
		return stormy
	case quiet.Null:
		return none(quiet.Reason + " without the storms")
	case quiet.Bound != "":
		return none("without the storms, too, jobs were unclaimed at the end")
	case quiet.Value == 0:
		return none("without the storms no fresh job waits")
	}
	return Value{Value: stormy.Value / quiet.Value, Bound: stormy.Bound}
}
