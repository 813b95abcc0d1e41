package sim_test

import (
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/policies"
)

// poisson is a workload of n jobs at a rate per second.
type poisson struct {
	rand keyed.Rand
	gap  dist.Dist
	n, i uint64
	at   engine.Time
}

func (w *poisson) Next(j *engine.NewJob) (engine.Time, bool) {
	if w.i == w.n {
		return 0, false
	}
	w.i++
	w.at = w.at.Add(w.gap.Duration(w.rand.Uniform(keyed.ForArrival, w.i, 0, 0)))
	*j = engine.NewJob{ID: engine.JobID(w.i)}
	return w.at, true
}

// flaky is a Handlers with drawn run times and a probability of failure that a storm raises.
type flaky struct {
	rand           keyed.Rand
	service        dist.Dist
	fail           float64
	from, until    engine.Time
	stormFail      float64
	kill           float64
	ignoresCancel  bool
	begun, ended   int
	aborted        int
	succeeded      map[engine.JobID]int
	runningByJob   map[engine.JobID]int
	mostConcurrent int
}

func (h *flaky) Begin(now engine.Time, _ int32, j *engine.Job) sim.Execution {
	h.begun++
	if h.runningByJob != nil {
		h.runningByJob[j.ID]++
		h.mostConcurrent = max(h.mostConcurrent, h.runningByJob[j.ID])
	}
	x := sim.Execution{Runs: h.service.Duration(h.rand.Uniform(keyed.ForRunTime, uint64(j.ID), uint64(j.Delivery), 0)), IgnoresCancel: h.ignoresCancel}
	p := h.fail
	if now >= h.from && now < h.until {
		p = h.stormFail
	}
	if h.rand.Uniform(keyed.ForFailure, uint64(j.ID), uint64(j.Delivery), 0) < p {
		x.Error = engine.FirstErrorKind
	}
	x.Kills = h.kill > 0 && h.rand.Uniform(keyed.ForKill, uint64(j.ID), uint64(j.Delivery), 0) < h.kill
	return x
}

func (h *flaky) End(_ engine.Time, _ int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	h.ended++
	if aborted {
		h.aborted++
	}
	if h.runningByJob != nil {
		h.runningByJob[j.ID]--
		if err == engine.NoError && !aborted {
			h.succeeded[j.ID]++
		}
	}
}

// ledger is a recorder that counts events and the ends of each job.
type ledger struct {
	n       [engine.NumEventKinds]int
	jobs    [engine.NumEventKinds]map[engine.JobID]int
	waits   []time.Duration // waits of fresh jobs
	detail  bool
	perTime func(e *engine.Event)
}

func (l *ledger) Record(e *engine.Event) {
	l.n[e.Kind]++
	if l.perTime != nil {
		l.perTime(e)
	}
	if !l.detail {
		return
	}
	if l.jobs[e.Kind] == nil {
		l.jobs[e.Kind] = map[engine.JobID]int{}
	}
	l.jobs[e.Kind][e.Job]++
	if e.Kind == engine.Leased && e.Class == engine.Fresh {
		l.waits = append(l.waits, e.Waited)
	}
}

func drawn(t testing.TB) func(d dist.Dist, err error) dist.Dist {
	return func(d dist.Dist, err error) dist.Dist {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return d
	}
}

// world holds the whole configuration of a run, to be varied by a test before start.
type world struct {
	config sim.Config
	node   engine.Config
	nodes  int
	store  engine.StoreOptions
	links  *sim.Links
	jobs   *poisson
	flaky  *flaky
	ledger *ledger
	memory *memstore.Store
	// What stands in for jobs, flaky, links and ledger; nil: those.
	workload sim.Workload
	handlers sim.Handlers
	network  sim.Network
	recorder engine.Recorder
	silent   bool                            // nobody records
	wrap     func(*memstore.Store) sim.Store // wraps the store; nil: no wrapper

	// What a swarm says of jobs, and of those that it may leave.
	free       engine.ErrorKind // costs no attempt, three times; NoError: none
	serialKeys uint32
	delayed    time.Duration // every third job, by so much
	lost       lostJobs
	sheds      time.Duration // its policy buries jobs that have been ready for longer; 0: none
}

// varied is a workload that gives jobs a serial key and a delay.
type varied struct {
	*poisson
	keys    uint32 // number of serial keys; 0: none
	delayed time.Duration
}

func serialKey(j engine.JobID, keys uint32) uint32 { return 1 + uint32(j)*7%keys }

func (v *varied) Next(j *engine.NewJob) (engine.Time, bool) {
	at, ok := v.poisson.Next(j)
	j.Tenant = engine.TenantID(j.ID % 7)
	if v.keys > 0 {
		j.Serial = serialKey(j.ID, v.keys)
	}
	if j.ID%3 == 0 {
		j.Delay = v.delayed
	}
	return at, ok
}

// freeOf is a retry policy for which one kind of error costs no attempt, three times.
type freeOf struct {
	engine.RetryPolicy
	free engine.ErrorKind
}

func (f freeOf) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	if e == f.free && j.Snoozes < 3 {
		return engine.Snooze, time.Second
	}
	return f.RetryPolicy.Next(j, e, u)
}

func newWorld(t testing.TB, seed uint64, jobs uint64, rate float64) *world {
	must := drawn(t)
	rand := keyed.Rand{Seed: seed}
	w := &world{nodes: 1, store: engine.StoreOptions{LapseAfter: -1}, ledger: &ledger{},
		jobs:  &poisson{rand: rand, gap: must(dist.Exponential(1 / rate)), n: jobs},
		flaky: &flaky{rand: rand, service: must(dist.LogNormalQuantiles(0.4, 1.5)), fail: 0.02},
		links: &sim.Links{Rand: rand},
	}
	for op := range w.links.OneWay {
		w.links.OneWay[op] = must(dist.Constant(500e-6))
	}
	w.node = engine.Config{Workers: 100, Rand: rand, CallTimeout: 5 * time.Second,
		Fetch:  engine.FetchConfig{Batch: 100, Poll: 100 * time.Millisecond},
		Commit: engine.CommitConfig{Batch: 100, Linger: 5 * time.Millisecond, Calls: 2, Timeout: 5 * time.Second, Backpressure: 10000},
		Lease:  engine.LeaseConfig{TTL: 30 * time.Second, Heartbeat: 10 * time.Second},
		Reaper: engine.ReaperConfig{Every: time.Second, Batch: 100, OnStart: true},
		Leader: struct{ TTL, Renew time.Duration }{10 * time.Second, 5 * time.Second},
		Kinds: []engine.KindConfig{{Timeout: 5 * time.Minute, Retry: &policies.Backoff{MaxAttempts: 8, Kind: policies.Exponential,
			First: 500 * time.Millisecond, Factor: 2, Max: 30 * time.Second, Jitter: policies.Jitter{Kind: policies.Full}}}},
	}
	w.config.Policy = func(int32) engine.Policy { return policies.FIFO{} }
	return w
}

func (w *world) start() *sim.Sim {
	c := w.config
	for range w.nodes {
		c.Nodes = append(c.Nodes, w.node)
	}
	c.Network, c.Handlers, c.Workload, c.Recorder = w.links, w.flaky, w.jobs, w.ledger
	if w.workload != nil {
		c.Workload = w.workload
	}
	if w.handlers != nil {
		c.Handlers = w.handlers
	}
	if w.network != nil {
		c.Network = w.network
	}
	if w.recorder != nil {
		c.Recorder = w.recorder
	}
	if w.silent {
		c.Recorder = nil
	}
	c.Store = func(clock func() engine.Time) sim.Store {
		w.memory = memstore.NewSingle(clock, w.store)
		if w.wrap != nil {
			return w.wrap(w.memory)
		}
		return w.memory
	}
	if c.Until == 0 {
		c.Until = engine.Never
	}
	return sim.New(c)
}

func (w *world) summary(s *sim.Sim) string {
	l := w.ledger
	return fmt.Sprintf("%v: %d events, enqueued %d leased %d acked %d nacked %d buried %d returned %d fenced %d taken %d lost %d call-timeouts %d aborted %d fingerprint %016x",
		time.Duration(s.Now()), s.Events(), l.n[engine.Enqueued], l.n[engine.Leased], l.n[engine.Acked], l.n[engine.Nacked], l.n[engine.Buried], l.n[engine.Returned],
		l.n[engine.Fenced], l.n[engine.LeaseTaken], l.n[engine.LeaseLost], l.n[engine.CallTimedOut], l.n[engine.Aborted], uint64(s.Digest()))
}

var _ sim.Store = (*memstore.Store)(nil)
