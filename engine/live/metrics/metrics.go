// Package metrics exports what engines do on the wall clock to Prometheus, under the names of the same figures in a
// simulation: fresh.wait is the histogram qsim_fresh_wait_seconds, retries.total the counter qsim_retries_total.
//
//	m := metrics.New(store, metrics.Options{Workers: 100})
//	prometheus.MustRegister(m)
//	err := live.Run(ctx, live.Config{Store: store, Recorder: m.Recorder, OnCall: m.OnCall, ...})
//
// Package live does not import it, so that the client of Prometheus is a dependency only of programs that use it.
// OpenTelemetry reads the same registry through its Prometheus bridge, go.opentelemetry.io/contrib/bridges/prometheus:
// NewMetricProducer(WithGatherer(registry)).
package metrics

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"qsim/engine"
)

// Options are the options of New: names of job classes and error kinds, and the number of workers.
type Options struct {
	// Classes holds the names of the job classes by engine.Kind; a kind beyond them counts as the last. Empty: one
	// class, named jobs.
	Classes []string
	// ErrorName returns the name of an error kind; nil: the reserved names, and numbers for the kinds of programs.
	ErrorName func(engine.ErrorKind) string
	Workers   int // number of workers of all engines of the process
}

// Metrics is a prometheus.Collector that counts the events and store calls of all engines of a process. Its methods may
// be called from any goroutine.
type Metrics struct {
	options    Options
	store      engine.Store
	registry   *prometheus.Registry // holds all metrics but those of the store's counts
	classes    []class
	executions *prometheus.CounterVec // executions, by class and error
	running    prometheus.Gauge
	ops        [engine.NumOps]struct {
		took         prometheus.Observer
		rows, failed prometheus.Counter
	}

	freed sync.Map // keys of leases whose execution timed out and goes on without a worker

	asking sync.Mutex
	asked  time.Time // time of the latest Stats call to the store
	stats  engine.Stats
	err    error
}

// class holds the Prometheus time series of one job class.
type class struct {
	waits  [numWaits]prometheus.Observer
	counts [numCounts]prometheus.Counter
	done   prometheus.Counter // executions that ended in success
}

// freshWait and the constants below are the histograms of a job class; the first two have the numbers of engine.Class.
const (
	freshWait = iota
	retryWait
	startWait
	sojourn
	retryDelay
	numWaits
)

var waits = [numWaits]struct{ name, help string }{
	freshWait:  {"fresh_wait", "fresh.wait: from ready to the first claim of a job."},
	retryWait:  {"retry_wait", "retry.wait: from due to a later claim of a job."},
	startWait:  {"start_wait", "start.wait: from ready or due until the handler starts."},
	sojourn:    {"sojourn", "sojourn: from enqueued to done."},
	retryDelay: {"retry_delay", "retry.delay: delay that the retry policy set."},
}

// claims and the constants below number the counters of a job class, such as those of retries and deaths.
const (
	claims = iota
	retries
	succeeded
	deaths
	expired
	stale
	busy
	numCounts
)

var counts = [numCounts]struct{ name, help string }{
	claims:    {"claims", "claims: jobs claimed."},
	retries:   {"retries", "retries.total: claims of jobs claimed before."},
	succeeded: {"retries_succeeded", "retries.succeeded: jobs done by a later claim than their first."},
	deaths:    {"deaths", "deaths.count: jobs buried."},
	expired:   {"leases_expired", "leases.expired: leases that expired and that this process recovered."},
	stale: {"stale_commits", "stale.commits: commits refused because the lease had passed to another or the job had " +
		"ended."},
	busy: {"busy_seconds", "utilization: time that workers were busy with executions that have ended; its rate over " +
		"qsim_workers is the utilization."},
}

// gauges holds the gauges read from the store's counts at each scrape; they cover all processes.
var gauges = []struct {
	desc *prometheus.Desc
	of   func(s *engine.Stats) float64
}{
	{gauge("backlog_fresh", "backlog.fresh: jobs ready and never claimed before."),
		func(s *engine.Stats) float64 { return float64(s.Ready[engine.Fresh]) }},
	{gauge("backlog_retry", "backlog.retry: jobs ready again."),
		func(s *engine.Stats) float64 { return float64(s.Ready[engine.Retry]) }},
	{gauge("waiting", "waiting: jobs that wait for their due time."),
		func(s *engine.Stats) float64 { return float64(s.Waiting[engine.Fresh] + s.Waiting[engine.Retry]) }},
	{gauge("in_flight", "Jobs leased."),
		func(s *engine.Stats) float64 { return float64(s.InFlight[engine.Fresh] + s.InFlight[engine.Retry]) }},
	{gauge("dead", "dead.count: jobs dead."), func(s *engine.Stats) float64 { return float64(s.Dead) }},
	{gauge("oldest_ready_seconds", "How long the oldest ready job has been ready."),
		func(s *engine.Stats) float64 { return slices.Max(s.OldestReady[:]).Seconds() }},
}

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("qsim_"+name, help+" Of the whole queue, up to a bound.", nil, nil)
}

// buckets holds the bounds of all histograms, ten to a decade from 100 µs to 10,000 s: a quantile read from them is off
// by at most 26 %, the width of a bucket, and mostly by a few percent. Native histograms are finer, but a Prometheus
// without them cannot answer the queries that they need.
var buckets = prometheus.ExponentialBucketsRange(100e-6, 1e4, 81)

// New returns the metrics of a process whose engines use that store.
func New(store engine.Store, o Options) *Metrics {
	if len(o.Classes) == 0 {
		o.Classes = []string{"jobs"}
	}
	if o.ErrorName == nil {
		o.ErrorName = func(k engine.ErrorKind) string { return cmp.Or(k.Name(), strconv.Itoa(int(k))) }
	}
	m := &Metrics{options: o, store: store, registry: prometheus.NewRegistry(),
		classes: make([]class, len(o.Classes))}
	m.running = m.gauge("running", "Executions under way in this process.")
	m.gauge("workers", "Workers of this process.").Set(float64(o.Workers))
	m.executions = m.counter("executions", "throughput: executions finished, by the kind of their error; none: success.",
		"class", "error")
	for i, name := range o.Classes {
		m.classes[i].done = m.executions.WithLabelValues(name, "")
	}
	for w, about := range waits {
		vector := m.histogram(about.name, about.help, "class")
		for i, name := range o.Classes {
			m.classes[i].waits[w] = vector.WithLabelValues(name)
		}
	}
	for n, about := range counts {
		vector := m.counter(about.name, about.help, "class")
		for i, name := range o.Classes {
			m.classes[i].counts[n] = vector.WithLabelValues(name)
		}
	}
	took := m.histogram("store_calls", "store.calls: duration of calls to the store.", "op")
	rows := m.counter("store_rows", "store.rows: jobs that calls brought or changed.", "op")
	failed := m.counter("store_errors", "Calls that the store refused or did not answer in time.", "op")
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		of, name := &m.ops[op], op.String()
		of.took, of.rows, of.failed = took.WithLabelValues(name), rows.WithLabelValues(name), failed.WithLabelValues(name)
	}
	return m
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	return promauto.With(m.registry).NewGauge(prometheus.GaugeOpts{Name: "qsim_" + name, Help: help})
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	o := prometheus.CounterOpts{Name: "qsim_" + name + "_total", Help: help}
	return promauto.With(m.registry).NewCounterVec(o, labels)
}

func (m *Metrics) histogram(name, help, label string) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: "qsim_" + name + "_seconds", Help: help, Buckets: buckets}
	return promauto.With(m.registry).NewHistogramVec(o, []string{label})
}

// Recorder returns m, which counts the events of every node, for live.Config.Recorder.
func (m *Metrics) Recorder(int32) engine.Recorder { return m }

// Record adds an event of an engine to the metrics, for the interface engine.Recorder.
func (m *Metrics) Record(e *engine.Event) {
	at := min(int(e.JobKind), len(m.classes)-1)
	c := &m.classes[at]
	switch e.Kind {
	case engine.Leased:
		c.counts[claims].Inc()
		c.waits[e.Class].Observe(e.Waited.Seconds())
		if e.Class == engine.Retry {
			c.counts[retries].Inc()
		}
	case engine.Started:
		m.running.Inc()
		c.waits[startWait].Observe(e.Waited.Seconds())
	case engine.TimedOut:
		if e.Freed {
			c.counts[busy].Add(e.Ran.Seconds())
			m.freed.Store(engine.LeaseKey{Job: e.Job, Token: e.Token}, nil)
		}
	case engine.Finished:
		m.running.Dec()
		if _, freed := m.freed.LoadAndDelete(engine.LeaseKey{Job: e.Job, Token: e.Token}); !freed {
			c.counts[busy].Add(e.Ran.Seconds())
		}
		if e.Error == engine.NoError {
			c.done.Inc()
			break
		}
		m.executions.WithLabelValues(m.options.Classes[at], m.options.ErrorName(e.Error)).Inc()
	case engine.Acked:
		c.waits[sojourn].Observe(e.Age.Seconds())
		if e.Delivery > 1 {
			c.counts[succeeded].Inc()
		}
	case engine.Nacked:
		c.waits[retryDelay].Observe(e.Delay.Seconds())
	case engine.Buried:
		c.counts[deaths].Inc()
	case engine.Fenced:
		c.counts[stale].Inc()
	case engine.LeaseTaken:
		c.counts[expired].Inc()
	}
}

// repeated maps the verb of an outcome to the event to count if the store confirms it only after a resend.
var repeated = map[engine.Verb]engine.EventKind{engine.Ack: engine.Acked, engine.Nack: engine.Nacked,
	engine.Snooze: engine.Nacked, engine.Bury: engine.Buried}

// OnCall counts a call to the store, for live.Config.OnCall, and outcomes whose first answer was lost, which have no
// event. An outcome whose first answer was only late, and came after it had been sent again, counts twice.
func (m *Metrics) OnCall(_ int32, c *engine.Call, r *engine.Reply, _, began, ended engine.Time) {
	of := &m.ops[c.Op]
	of.took.Observe(ended.Sub(began).Seconds())
	if r.Err != nil {
		of.failed.Inc()
		return
	}
	of.rows.Add(float64(r.Rows()))
	for i := range r.Results {
		switch o := &c.Batch.Outcomes[i]; r.Results[i].Status {
		case engine.Applied.Again():
			m.Record(&engine.Event{Kind: repeated[o.Verb], JobKind: o.Kind, Delivery: o.Delivery, Delay: o.Delay,
				Age: r.Results[i].Age})
		case engine.Stale.Again():
			m.Record(&engine.Event{Kind: engine.Fenced, JobKind: o.Kind})
		}
	}
}
