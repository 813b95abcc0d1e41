package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/live/metrics"
)

// status is the state of one worker process for its read-only status page.
type status struct {
	process *process
	stats   func(ctx context.Context) (engine.Stats, error) // returns the store's counts of jobs
	metrics http.Handler                                    // handler of /metrics, for Prometheus
	schema  string
	began   time.Time
	running atomic.Int64 // number of running executions

	mutex    sync.Mutex
	kinds    map[engine.ErrorKind]int64
	failures []failureJSON // latest failures, oldest first
}

// mostFailures is the number of latest failures, at most, that the status page lists.
const mostFailures = 20

// statusJSON is the state of a worker process and of its queue: the body of /status.json, and the data of the page.
type statusJSON struct {
	Schema     string           `json:"schema"`
	Node       int32            `json:"node"`
	UpSeconds  float64          `json:"up_s"`
	Running    int64            `json:"running"` // number of executions in this process
	Executions int64            `json:"executions"`
	Failed     map[string]int64 `json:"failed"` // number of failures, by error kind
	Failures   []failureJSON    `json:"latest_failures"`
	Queue      *queueJSON       `json:"queue"` // jobs of all processes; null: the store did not answer
	Trouble    string           `json:"trouble,omitempty"`
}

// queueJSON holds the number of jobs of the queue in each state; counting stops at AtLeast.
type queueJSON struct {
	Ready    int     `json:"ready"`
	Waiting  int     `json:"waiting"`
	InFlight int     `json:"in_flight"` // number of leased jobs
	Dead     int     `json:"dead"`
	Oldest   float64 `json:"oldest_ready_s"`
	AtLeast  int     `json:"counted_up_to"`
}

type failureJSON struct {
	At    time.Time `json:"at"`
	Job   uint64    `json:"job,string"` // ID of the job, as text since a float cannot hold it
	Kind  string    `json:"kind"`
	Error string    `json:"error"`
}

// newStatus returns the status of a process, and changes the configuration of its engines so that they report to it.
func newStatus(p *process, f *workerFlags, c *live.Config) *status {
	m := metrics.New(c.Store, metrics.Options{Classes: p.classes, ErrorName: p.errorName,
		Workers: c.Engine.Workers * c.Engines})
	s := &status{process: p, stats: m.Stats, schema: f.schema, began: time.Now(), kinds: map[engine.ErrorKind]int64{}}
	c.Handler, c.OnFailure, c.Recorder, c.OnCall = c.Handler.With(s.watch), s.failed, m.Recorder, m.OnCall
	speed := prometheus.NewGauge(prometheus.GaugeOpts{Name: "qsim_speed",
		Help: "Seconds of the scenario that pass in one second."})
	speed.Set(float64(f.speed.Num) / float64(f.speed.Den))
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, speed, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return s
}

// watch is a live.Hook that counts running executions.
func (s *status) watch(next live.Handler) live.Handler {
	return func(ctx context.Context, j *engine.Job) error {
		s.running.Add(1)
		defer s.running.Add(-1)
		return next(ctx, j)
	}
}

// failed records a failed execution, for live.Config.OnFailure, and logs it if it panicked.
func (s *status) failed(j *engine.Job, kind engine.ErrorKind, err error) {
	if p, ok := err.(*live.PanicError); ok {
		s.process.log.Error("worker: "+p.Error(), "job", uint64(j.ID), "stack", string(p.Stack))
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.kinds[kind]++
	if len(s.failures) == mostFailures {
		s.failures = slices.Delete(s.failures, 0, 1)
	}
	s.failures = append(s.failures, failureJSON{time.Now(), uint64(j.ID), s.process.errorName(kind), err.Error()})
}

// snapshot returns the state that the status page shows. It queries the store before it locks the mutex: handlers that
// fail lock the mutex, too, and must not wait for a slow store.
func (s *status) snapshot(ctx context.Context) statusJSON {
	j := statusJSON{Schema: s.schema, Node: s.process.node, UpSeconds: time.Since(s.began).Seconds(),
		Running: s.running.Load(), Executions: s.process.executions.Load(), Failed: map[string]int64{}}
	if got, err := s.stats(ctx); err != nil {
		j.Trouble = err.Error()
	} else {
		j.Queue = &queueJSON{Ready: total(got.Ready), Waiting: total(got.Waiting), InFlight: total(got.InFlight),
			Dead: got.Dead, Oldest: slices.Max(got.OldestReady[:]).Seconds(), AtLeast: metrics.MostCounted}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	j.Failures = slices.Clone(s.failures)
	slices.Reverse(j.Failures)
	for kind, n := range s.kinds {
		j.Failed[s.process.errorName(kind)] = n
	}
	return j
}

// ServeHTTP answers requests for the status page, /status.json and /metrics, from this machine only.
func (s *status) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !ui.IsLocal((&url.URL{Host: r.Host}).Hostname()): // a foreign host name that resolves to this machine
		http.Error(w, "the page is for this machine alone", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "the page is for reading only", http.StatusMethodNotAllowed)
	case r.URL.Path == "/status.json":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.snapshot(r.Context())) // the client may have gone
	case r.URL.Path == "/metrics":
		s.metrics.ServeHTTP(w, r)
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = statusPage.Execute(w, s.snapshot(r.Context()))
	default:
		http.NotFound(w, r)
	}
}

// checkStatus returns an error for a --status address that is malformed or not local; empty means no status page.
func checkStatus(address string) error {
	if address == "" {
		return nil
	}
	host, err := ui.Listening("status", address)
	if err == nil && !ui.IsLocal(host) {
		return ui.UsageError("--status %s: want an address of this machine alone: 127.0.0.1, [::1] or localhost", address)
	}
	return err
}

// serve serves the status page at an address of this machine until ctx is done.
func (s *status) serve(ctx context.Context, address string) (net.Addr, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, ui.Fail(ui.ExitIO, fmt.Errorf("show the status page: %w", err))
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.process.log.Error("worker: status page: " + err.Error())
		}
	}()
	return listener.Addr(), nil
}

//go:embed status.html
var statusText string

var statusPage = template.Must(template.New("status").Funcs(template.FuncMap{"seconds": seconds}).Parse(statusText))
