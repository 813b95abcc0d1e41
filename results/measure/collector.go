package measure

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// Collector is an engine.Recorder that turns the events of one run into a Run (its metrics). Its memory grows with the
// number of jobs that are leased and with the virtual time, not with the number of jobs. A Collector must be used from
// one goroutine and for one run.
//
// Metrics over time (backlog, utilization) are kept in views: one for each class or tenant that queries name, with
// windows of time. Metrics of jobs (waits, attempts) are kept in job sets: one for each class or tenant and window of
// enqueue times. An event is counted in the views and the sets that its job belongs to.
type Collector struct {
	settings *Settings
	policy   int
	lease    time.Duration // lease TTL, see PolicyInfo; engine.Forever: unlimited
	machines machines
	events   uint64
	jobs     int64 // jobs enqueued
	end      engine.Time

	clock
	cohorts
	views     []*view // whole, then narrowed and those that follow it
	whole     *view   // view of all jobs
	narrowed  *view   // the first view of a class or tenant in queries, see view.next; nil: none
	starving  starving
	sets      []*jobSet // sets of jobs by enqueue time; the first is of the whole run
	questions []question

	known   jobTable
	limbo   []engine.JobID // jobs with an outcome that may still be executed again, see limboSize
	strange uint64         // executions of jobs that the collector no longer remembers
	tries   int32          // most claims of any one retried job

	copies      engine.JobID                   // mask of the job ID's bits that number the copies of a caller's job
	byTenant    bool                           // waits are also measured for each tenant
	impatient   bool                           // callers of some class give up
	resubmitted map[engine.JobID]*resubmission // resubmitted jobs, by the ID of the first copy
	dead        map[engine.JobID]engine.Time   // enqueue times of the dead jobs that may be redriven; nil: none may
	freed       map[workerSlot]bool            // executions that timed out and go on without a worker

	acked, succeeded, fenced uint64
}

// NewCollector returns a collector for a run under Policies[policy] of the settings s, which it keeps and does not
// change.
func NewCollector(s *Settings, policy int) *Collector {
	info := &s.Policies[policy]
	c := &Collector{
		settings: s, policy: policy, copies: 1<<s.CopyBits - 1, known: newJobTable(),
		lease:    cmp.Or(info.Lease, engine.Forever),
		byTenant: len(s.Tenants) > 2, resubmitted: map[engine.JobID]*resubmission{}, freed: map[workerSlot]bool{},
		machines: newMachines(cmp.Or(info.Nodes, s.Nodes), cmp.Or(info.Workers, s.Workers)),
	}
	if s.Redrives {
		c.dead = make(map[engine.JobID]engine.Time)
	}
	all := newView(c, filter{kind: -1})
	all.entitled = info.Entitled
	if s.Bucket > 0 {
		all.series = &seriesSum{bucket: s.Bucket, next: engine.Time(s.Bucket), lowest: bucketCount}
		if n := len(s.Classes); n > 1 && n <= MostClassSeries {
			all.series.Classes = make([][]float64, n)
		}
		for range len(all.series.Classes) + 1 {
			all.series.waits = append(all.series.waits, new(dense))
		}
	}
	c.whole, c.views = all, []*view{all}
	c.starving = newStarving(s)
	c.starving.of(c.filterOf(s.Charted()), false).series = all.series
	c.sets = []*jobSet{newJobSet(all.filter, s.Warmup, s.Duration)}
	for i := range allMetrics {
		if m := &allMetrics[i]; !m.OnRequest {
			c.questions = append(c.questions, c.question(Query{Metric: m.Name}))
		}
	}
	for _, q := range Queries(s) {
		c.questions = append(c.questions, c.question(q))
	}
	if c.byTenant && len(s.Tenants) <= mostDense+1 {
		all.tenants.dense = make([]dense, len(s.Tenants))
	}
	c.impatient = c.anyPatience("")
	c.cohorts = newCohorts(c.sets)
	for _, v := range slices.Backward(c.views[1:]) {
		v.next, c.narrowed = c.narrowed, v
	}
	for _, v := range c.views {
		v.begin()
	}
	return c
}

// Finish ends the measurements at time end, after all events, and returns the Run without its Seed and Fingerprint.
// unresolved yields the jobs that the store still holds, or is nil. The collector must not be used any more.
func (c *Collector) Finish(end engine.Time, unresolved iter.Seq[unfinished.Job]) Run {
	c.end = max(end, c.now)
	for _, v := range c.views {
		v.stop(c.end)
	}
	if unresolved != nil {
		for u := range unresolved {
			c.leave(&u)
		}
	}
	last := c.end
	if c.whole.left == 0 { // if arrivals were to go on, so do the windows, so that their idle time counts
		last = max(last, engine.Time(c.settings.Duration))
	}
	c.starving.close(last)
	for _, v := range c.views {
		c.now = c.end // the clock is shared, and closing a view may go on to the end of arrivals
		v.close(last)
	}
	return c.run()
}

// leave counts a job that the store still holds at the end of the run, with its waits so far as lower bounds.
func (c *Collector) leave(u *unfinished.Job) {
	for _, v := range c.views {
		if v.has(u.Kind, u.Tenant) {
			v.left++
		}
	}
	unstarted := time.Duration(-1)
	switch {
	case u.State == engine.Ready, u.State == engine.Waiting && (u.Class == engine.Fresh || u.Waited > 0):
		unstarted = u.Waited
	case u.State == engine.InFlight:
		if j := c.known.find(u.ID); j != nil && !j.started && j.taken < j.token {
			unstarted = c.end.Sub(j.readySince)
		}
	}
	starved := u.Class == engine.Fresh && c.starving.starved(c.end, u.Kind, u.Tenant, u.Waited)
	enqueued := c.end - engine.Time(u.Age)
	sets := c.setsOf(enqueued, u.Kind, u.Tenant)
	for s := sets; s != nil; s = s.next {
		s.leftOver(u, unstarted, starved)
	}
	if u.Class == engine.Fresh && u.State != engine.InFlight && c.byTenant && sets != nil {
		c.whole.tenants.leftOver(u.Tenant, u.Waited)
	}
	if element(c.settings.Patience, u.Kind) > u.Age {
		for s := c.setsOf(c.callerSince(u.ID, u.Kind, enqueued), u.Kind, u.Tenant); s != nil; s = s.next {
			s.undecided++
		}
	}
}

// Totals are counts of a whole run, kept for every run, so that checks can compare them with counts of their own.
type Totals struct {
	Jobs, Acked, Fenced int64 // jobs enqueued; jobs done; commits refused
	Claims, Deaths      int64 // counts over jobs enqueued between the end of the warm-up and the end of arrivals
}

// Totals returns the counts of the run up to now.
func (c *Collector) Totals() Totals {
	whole := c.sets[0]
	return Totals{c.jobs, int64(c.acked), int64(c.fenced), int64(whole.claims), int64(whole.deaths)}
}
