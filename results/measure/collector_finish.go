package measure

import (
	"fmt"
	"iter"
	"qsim/engine"
	"qsim/results/plain"
	"slices"
	"strings"
	"time"
)

// Unresolved is a job that a store still holds when a run ends: it is neither done nor dead.
type Unresolved struct {
	Job      engine.JobID
	Kind     engine.Kind
	Tenant   engine.TenantID
	State    engine.State  // Ready, Waiting or InFlight
	Class    engine.Class  // Fresh: never claimed
	Age      time.Duration // since it was enqueued
	ReadyFor time.Duration // Ready: since it became ready (a retry: since it was due)
}

// Finish closes the books at end, which no event lies behind, and returns all of the Run
// but Seed and Fingerprint. unresolved yields what the store still holds; nil: nothing. The
// collector must not be used any more.
func (c *Collector) Finish(end engine.Time, unresolved iter.Seq[Unresolved]) Run {
	end = max(end, c.now)
	c.stop(end)
	for _, p := range c.parts {
		p.stop(end)
	}
	if unresolved != nil {
		c.leaveAll(unresolved)
	}
	c.close(c.left == 0)
	for _, p := range c.parts {
		p.close(c.left == 0)
	}
	return c.run()
}

// stop lets the state stand until end, where nothing more happens.
func (c *Collector) stop(end engine.Time) {
	c.end = end
	c.cross(end)
	if c.stormy && len(c.draining) > 0 {
		c.checkDrains()
	}
	if c.ready[engine.Fresh] > 0 {
		c.endStretch()
	}
}

// close ends what was open when the run stopped; nothing was left over in all of it.
func (c *Collector) close(nothing bool) {
	c.onBoundary()
	for _, w := range c.windows {
		if w.to == engine.Never {
			w.to = c.end
		}
	}
	c.open = slices.DeleteFunc(c.open, func(w *clockWindow) bool { return !w.covers(c.now) })
	if rest := engine.Time(c.settings.Duration); rest > c.end && nothing {
		c.cross(rest) // nothing happens any more, but the windows of time go on
		c.onBoundary()
	}
	c.closeBucket()
	for _, w := range c.windows {
		if w.shares != nil {
			w.shares.end(&c.tenants)
		}
	}
	c.windows[0].fenced += c.fencedLate
}

// leave counts a job that is left over.
func (c *Collector) leave(u *Unresolved) {
	c.left++
	unstarted := time.Duration(-1)
	switch u.State {
	case engine.Ready:
		unstarted = u.ReadyFor
	case engine.InFlight:
		if j := c.known.find(u.Job); j != nil && j.pending > 0 && j.running == 0 && j.taken < j.token {
			unstarted = c.end.Sub(j.readySince)
		}
	}
	enqueued := c.end - engine.Time(u.Age)
	for i := range c.sets {
		if s := &c.sets[i]; s.has(enqueued, u.Kind, u.Tenant) {
			s.leftOver(u, unstarted)
		}
	}
	if u.Class == engine.Fresh && u.State != engine.InFlight && len(c.settings.Tenants) > 2 && c.sets[0].has(enqueued, u.Kind, u.Tenant) {
		c.tenants.leftOver(u.Tenant, u.ReadyFor)
	}
	if c.patience(u.Kind) > u.Age {
		c.ofCaller(u.Job, u.Kind, u.Tenant, enqueued, func(s *jobSet) { s.undecided++ })
	}
}

// run answers all questions.
func (c *Collector) run() Run {
	r := Run{Policy: c.policy, Events: int64(c.events), Jobs: c.all, Series: c.series, Tenants: c.tenants.counted(len(c.settings.Tenants), c.windows[0].shares)}
	if r.Tenants != nil {
		r.tenantWaits = c.tenants.distributions(len(r.Tenants))
	}
	r.Series.Starved = make([]float64, len(c.series.FreshReady))
	for i := range r.Series.Starved {
		if i < len(c.starved) {
			r.Series.Starved[i] = min(c.starved[i]/c.settings.Bucket.Seconds(), 1)
		}
	}
	for i := range c.questions {
		q := &c.questions[i]
		v := Value{Query: q.Query}
		n := none(q.reason)
		switch {
		case q.reason != "":
		case q.part != nil:
			n = q.part.answer(&q.part.questions[q.index])
		default:
			n = c.answer(q)
		}
		v.Value, v.Null, v.Reason = n.value, n.reason != "", n.reason
		if n.bound && !v.Null {
			v.Bound = ">="
		}
		r.Values = append(r.Values, v)
		if q.reason == "" && q.Metric == slowdown {
			r.means = append(r.means, c.sets[q.jobs].meanFreshWait())
		}
		if m := q.metric; q.reason == "" && m.family != noFamily {
			r.addHistogram(histogramQuery(m, q.Query), c.sets[q.jobs].wait(m.family))
		}
	}
	r.Warnings = c.warnings()
	return r
}

// answer answers q, which has one.
func (c *Collector) answer(q *question) number {
	return q.metric.of(&answer{c, q.Query, &c.sets[q.jobs], q.clock, q.storm})
}

// histogramQuery is the query of the histogram that q is a statistic of.
func histogramQuery(m *metric, q Query) Query {
	q.Metric = familyName(m.family)
	return q
}

// addHistogram adds the distribution of q unless it is there.
func (r *Run) addHistogram(q Query, w wait) {
	for i := range r.Histograms {
		if r.Histograms[i].Query == q {
			return
		}
	}
	r.Histograms = append(r.Histograms, RunHistogram{q.String(), q, w.ended.Pack(), w.ages.Pack()})
}

// String writes q as objectives do: "fresh.wait.p99 during payments-down".
func (q Query) String() string {
	var b strings.Builder
	b.WriteString(q.Metric)
	for _, part := range []struct{ word, value string }{{"during", q.During}, {"after", q.After}, {"class", q.Class}, {"tenant", q.Tenant}} {
		if part.value != "" {
			b.WriteString(" " + part.word + " " + part.value)
		}
	}
	if q.Limit != 0 {
		b.WriteString(" limit " + plain.Setting(q.Limit))
	}
	return b.String()
}

// endlessTries is how often a job is claimed that is thought never to end.
const endlessTries = 1000

// warnings says what makes the numbers of this run doubtful.
func (c *Collector) warnings() []string {
	var list []string
	if c.succeeded > 0 && c.acked == 0 && c.fenced > 0 {
		list = append(list, "livelock: executions succeed, but no ack is accepted: every lease lapses before its execution ends")
	}
	if c.tries >= endlessTries && c.left > 0 {
		list = append(list, fmt.Sprintf("livelock: jobs are tried again and again, more than %s times, and do not end: bound max-attempts, or let them wait longer", plain.Grouped(fmt.Sprint(endlessTries))))
	}
	if c.strange > 0 {
		list = append(list, "executions of jobs that were settled long before are left out of the duplicates")
	}
	return list
}
