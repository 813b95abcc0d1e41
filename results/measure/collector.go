package measure

import (
	"cmp"
	"qsim/engine"
	"slices"
	"time"
)

// Collector is an engine.Recorder that turns the events of one run into a Run. Its
// memory follows the jobs that are leased and the virtual time, not the number of jobs. A
// Collector must be used from one goroutine and for one run.
type Collector struct {
	settings *Settings
	policy   int
	entitled float64
	lease    time.Duration // see PolicyInfo
	perNode  int64         // workers
	workers  int64         // of all nodes
	now      engine.Time
	end      engine.Time
	left     int64 // jobs unresolved at the end
	all      int64 // jobs enqueued
	events   uint64

	ready       [engine.NumClasses]int64
	waiting     int64
	busy        int64
	capacity    int64   // workers of the nodes that are up
	nodesDown   []bool  // by node
	generations []int64 // by node: how often it died

	known   jobTable
	limbo   limbo
	sets    []jobSet // the first is the whole run
	strange uint64   // executions of jobs no longer known
	tries   int32    // most claims of one job

	boundary   engine.Time // end of the segment, at the latest
	segment    segment
	edges      []engine.Time // of the windows, ascending
	windows    []*clockWindow
	open       []*clockWindow // those that cover now
	starve     starvation
	deficit    deficit
	bucket     bucketSum
	series     Series
	starved    []float64 // s, by bucket: of the long stretches
	fencedLate uint64

	calm        *clockWindow // between warm-up and the first storm; nil: there is no storm
	inCalm      bool
	levels      *backlogLevels // in calm times
	calmBacklog float64        // jobs ready
	drainLevel  int64
	draining    []*stormWatch
	stormy      bool    // the first storm has begun
	excess      float64 // job·ns above calmBacklog since
	storms      []*stormWatch
	tenants     tenantCounts
	resubmitted map[engine.JobID]resubmission // by the first copy; nil: there are none
	dead        map[engine.JobID]engine.Time  // when those were enqueued that may come back; nil: none may
	recoveries  []*recovery                   // those still needed

	questions []question
	parts     []*Collector // of one class or tenant each
	of        *part        // whose this is a part; nil: of all
	acked     uint64
	succeeded uint64
	fenced    uint64
}

// deficit is by how much the fresh claims fall short of the share they are promised.
type deficit struct {
	now, worst float64 // claims; now: over the worst stretch that ends now
}

// question is a query and what it is answered from.
type question struct {
	Query
	metric *metric // nil: there is none of that name
	jobs   int     // index into sets
	clock  *clockWindow
	storm  *stormWatch
	part   *Collector // that has the answer, to its question number index; nil: it is here
	index  int
	reason string // why there is no answer, if not ""
}

// NewCollector returns a collector for a run of Policies[policy] of s, which it
// keeps and does not change.
func NewCollector(s *Settings, policy int) *Collector {
	c := newCollector(s, policy)
	for i := range allMetrics {
		if m := &allMetrics[i]; !m.OnRequest {
			c.ask(Query{Metric: m.Name})
		}
	}
	for _, q := range Queries(s) {
		c.ask(q)
	}
	c.begin()
	for _, p := range c.parts {
		p.begin()
	}
	return c
}

// newCollector returns a collector that has yet to be asked, and to begin.
func newCollector(s *Settings, policy int) *Collector {
	info := &s.Policies[policy]
	nodes, perNode := cmp.Or(info.Nodes, s.Nodes), cmp.Or(info.Workers, s.Workers)
	c := &Collector{
		settings: s, policy: policy, entitled: info.Entitled, lease: info.Lease, known: newJobTable(),
		perNode: int64(perNode), nodesDown: make([]bool, nodes), generations: make([]int64, nodes),
	}
	c.workers = int64(nodes) * c.perNode
	c.capacity = c.workers
	c.starve.hint = starvedAtLeast
	if s.Redrives {
		c.dead = make(map[engine.JobID]engine.Time)
	}
	c.sets = []jobSet{newJobSet(s.Warmup, s.Duration)}
	c.windows = []*clockWindow{{from: engine.Time(s.Warmup), to: engine.Time(s.Duration)}}
	c.watchStorms()
	return c
}

// begin opens the books, when all is asked.
func (c *Collector) begin() {
	if c.of != nil && !slices.ContainsFunc(c.questions, func(q question) bool { return q.Metric == recoveryTime }) {
		c.recoveries = nil // nobody asks
		for _, w := range c.storms {
			w.recovery = nil
		}
	}
	for _, w := range c.windows {
		c.edges = append(c.edges, w.from, w.to)
	}
	for _, w := range c.storms {
		c.edges = append(c.edges, w.over)
	}
	slices.Sort(c.edges)
	c.edges = slices.Compact(c.edges)
	c.bucket.next = engine.Never
	if c.settings.Bucket > 0 {
		c.bucket.next = engine.Time(c.settings.Bucket)
	}
	c.cross(0)
}

// newJobSet returns the set of the jobs enqueued in [from, to).
func newJobSet(from, to time.Duration) jobSet {
	return jobSet{from: engine.Time(from), span: uint64(max(to-from, 0)), kind: -1}
}

// watchStorms prepares what is measured of storms.
func (c *Collector) watchStorms() {
	s := c.settings
	if len(s.Storms) == 0 {
		return
	}
	first := slices.MinFunc(s.Storms, func(a, b Window) int { return int(min(max(a.From-b.From, -1), 1)) })
	c.calm = &clockWindow{from: engine.Time(s.Warmup), to: engine.Time(max(first.From, s.Warmup))}
	c.windows = append(c.windows, c.calm)
	c.levels = new(backlogLevels)
	for _, storm := range s.Storms {
		watch := &stormWatch{name: storm.Name, over: engine.Time(storm.To), drainedAt: -1, candidate: -1, recoveredAt: -1}
		if window := recoveryWindow(s, storm); window > 0 {
			watch.recovery = c.recoveryOf(window)
		}
		c.storms = append(c.storms, watch)
	}
}

// recoveryOf returns the recovery with such windows.
func (c *Collector) recoveryOf(window time.Duration) *recovery {
	for _, r := range c.recoveries {
		if r.window == window {
			return r
		}
	}
	r := newRecovery(c.settings, window)
	c.recoveries = append(c.recoveries, r)
	return r
}

// Record implements engine.Recorder.
func (c *Collector) Record(e *engine.Event) {
	c.events++
	if e.At > c.now {
		if e.At >= c.boundary {
			c.cross(e.At)
		} else {
			c.advance(e.At)
		}
	}
	switch e.Kind {
	case engine.Enqueued:
		c.onEnqueued(e)
	case engine.Promoted:
		c.waiting--
		c.becomeReady(e.Class)
		c.tenants.want(e.Tenant, 1)
	case engine.Leased:
		c.onLeased(e)
	case engine.Started:
		c.onStarted(e)
	case engine.Finished, engine.Aborted:
		c.onEnded(e)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		c.onOutcome(e)
	case engine.Redriven:
		c.onRedriven(e)
	case engine.LeaseTaken:
		c.onLeaseTaken(e)
	case engine.Extended:
		c.onExtended(e)
	case engine.LeaseLost:
		c.onLeaseLost(e)
	case engine.Fenced:
		c.segment.fenced++
		c.fenced++
	case engine.Called:
		c.segment.calls[e.Op]++
		c.segment.rows[e.Op] += uint64(e.Count)
	case engine.NodeUp, engine.NodeDown:
		c.onNode(int(e.Node), e.Kind == engine.NodeDown)
	}
	for _, p := range c.parts {
		p.overhear(e)
	}
}

// reach lets the state stand until t.
func (c *Collector) reach(t engine.Time) {
	switch {
	case t >= c.boundary:
		c.cross(t)
	case t > c.now:
		c.advance(t)
	}
}

// advance lets the state stand until t, which no boundary lies before.
func (c *Collector) advance(t engine.Time) {
	dt := int64(t - c.now)
	area := &c.segment.area
	fresh := c.ready[engine.Fresh]
	ready := fresh + c.ready[engine.Retry]
	area[freshArea] += fresh * dt
	area[retryArea] += c.ready[engine.Retry] * dt
	area[waitingArea] += c.waiting * dt
	area[busyArea] += c.busy * dt
	if ready > 0 {
		area[idleArea] += c.idle() * dt
	}
	if fresh > 0 {
		area[presentArea] += dt
	}
	switch {
	case c.inCalm:
		c.levels.time[bucketOf(max(ready, 0))] += dt
	case c.stormy:
		c.stormGoesOn(ready, dt)
	}
	c.now = t
}

// stormGoesOn measures the backlog from the first storm on.
func (c *Collector) stormGoesOn(ready, dt int64) {
	if above := float64(ready) - c.calmBacklog; above > 0 && c.now < engine.Time(c.settings.Duration) {
		c.excess += float64(above * float64(dt))
	}
	if len(c.draining) > 0 {
		c.checkDrains()
	}
}

// cross advances to t over all boundaries on the way, t included.
func (c *Collector) cross(t engine.Time) {
	for {
		if c.boundary > t {
			break
		}
		c.advance(c.boundary)
		c.onBoundary()
	}
	c.advance(t)
}
