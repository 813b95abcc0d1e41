package metrics

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// troubled is a scenario in which jobs fail, processes die with theirs, and one is frozen past its leases.
const troubled = `
name: troubled
duration: 3m
drain: 10m
warmup: 0s
seeds: 1
engine: {nodes: 2, workers: 10, lease: {ttl: 5s, heartbeat: 0s}}
retry: {max-attempts: 3, backoff: {kind: exponential, first: 500ms, max: 4s}}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 40/s}
    service: {dist: exponential, mean: 250ms}
    fails: {rate: 20%}
    kills: 0.1%
  - {class: sums, arrivals: {process: poisson, rate: 4/s}, service: 1s, fails: {rate: 5%}}
storms:
  - {name: frozen, at: 1m, for: 20s, pause: {nodes: 1}}
`

// both is a recorder that passes events to two.
type both struct{ one, other engine.Recorder }

func (b both) Record(e *engine.Event) { b.one.Record(e); b.other.Record(e) }

// TestNamesMeanTheSame passes the events of a simulation to its own metrics and to those for Prometheus: counts are
// equal, and each quantile lies in the right bucket, for all jobs and each class.
func TestNamesMeanTheSame(t *testing.T) {
	sc, problems := scenarios.Load("troubled.yaml", []byte(troubled), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	var asked []measure.Query
	for _, class := range []string{"mail", "sums"} {
		for name := range same {
			asked = append(asked, measure.Query{Metric: name, Class: class})
		}
	}
	if err := sc.Measure(asked); err != nil {
		t.Fatal(err)
	}
	m := New(nil, Options{Classes: world.Settings(sc).Classes})
	runs, err := world.Run(t.Context(), sc, world.Options{Parallel: 1, Alter: func(_ int, _ uint64, c *sim.Config) {
		c.Recorder = both{c.Recorder, m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, compared := gather(t, m), 0
	for _, v := range runs[0].Values {
		of := same[v.Metric]
		if of == nil || v.Query != (measure.Query{Metric: v.Metric, Class: v.Class}) {
			continue
		}
		if v.Null || v.Value == 0 && v.Class == "" {
			t.Errorf("%v: %v, %s: nothing to compare with", v.Query, v.Value, v.Reason)
		}
		compared++
		low, high := of(got, v.Class)
		// the simulation's own histograms are 1 % wide
		if v.Value < low/1.01-1e-9 || v.Value > high*1.01+1e-9 {
			t.Errorf("%v: %v, Prometheus has %v to %v", v.Query, v.Value, low, high)
		}
	}
	if want := 3 * len(same); compared != want {
		t.Errorf("%d figures compared, want %d", compared, want)
	}
}

// same holds, for each metric of a simulation that Prometheus has, how it is read: the bounds within which it lies.
var same = map[string]func(f figures, class string) (low, high float64){
	"attempts.mean": attempts, "retries.total": counted("qsim_retries_total"),
	"retries.succeeded": counted("qsim_retries_succeeded_total"), "deaths.count": counted("qsim_deaths_total"),
	"leases.expired": counted("qsim_leases_expired_total"), "stale.commits": counted("qsim_stale_commits_total"),
	"fresh.wait.p50": quantile("qsim_fresh_wait_seconds", .5), "fresh.wait.p99": quantile("qsim_fresh_wait_seconds", .99),
	"retry.wait.p50": quantile("qsim_retry_wait_seconds", .5), "retry.wait.p99": quantile("qsim_retry_wait_seconds", .99),
	"start.wait.p50": quantile("qsim_start_wait_seconds", .5), "start.wait.p99": quantile("qsim_start_wait_seconds", .99),
	"sojourn.p50": quantile("qsim_sojourn_seconds", .5), "sojourn.p99": quantile("qsim_sojourn_seconds", .99),
	"retry.delay.p99": quantile("qsim_retry_delay_seconds", .99), "retry.delay.mean": mean("qsim_retry_delay_seconds"),
	"sojourn.mean": mean("qsim_sojourn_seconds"), "fresh.wait.mean": mean("qsim_fresh_wait_seconds"),
}

// figures are metrics by name.
type figures map[string]*dto.MetricFamily

func gather(t *testing.T, m *Metrics) figures {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry) // without the queue's, which ask a store
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := figures{}
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all
}

// of yields the series of a metric for a class; empty: all of them.
func (f figures) of(name, class string) func(yield func(*dto.Metric) bool) {
	return func(yield func(*dto.Metric) bool) {
		for _, m := range f[name].GetMetric() {
			if class != "" && m.GetLabel()[0].GetValue() != class {
				continue
			}
			if !yield(m) {
				return
			}
		}
	}
}

func counted(name string) func(f figures, class string) (low, high float64) {
	return func(f figures, class string) (float64, float64) {
		sum := 0.0
		for m := range f.of(name, class) {
			sum += m.GetCounter().GetValue()
		}
		return sum, sum
	}
}

// attempts returns claims by job.
func attempts(f figures, class string) (low, high float64) {
	claims, _ := counted("qsim_claims_total")(f, class)
	jobs := 0.0
	for m := range f.of("qsim_fresh_wait_seconds", class) {
		jobs += float64(m.GetHistogram().GetSampleCount())
	}
	return claims / jobs, claims / jobs
}

func mean(name string) func(f figures, class string) (low, high float64) {
	return func(f figures, class string) (float64, float64) {
		sum, n := 0.0, 0.0
		for m := range f.of(name, class) {
			sum, n = sum+m.GetHistogram().GetSampleSum(), n+float64(m.GetHistogram().GetSampleCount())
		}
		return sum / n, sum / n
	}
}

// quantile returns the bounds of the bucket that holds a quantile.
func quantile(name string, q float64) func(f figures, class string) (low, high float64) {
	return func(f figures, class string) (low, high float64) {
		upTo, all := make([]float64, len(buckets)), 0.0
		for m := range f.of(name, class) {
			all += float64(m.GetHistogram().GetSampleCount())
			for i, b := range m.GetHistogram().GetBucket() {
				upTo[i] += float64(b.GetCumulativeCount())
			}
		}
		for i, n := range upTo {
			if n >= math.Ceil(q*all) {
				return low, buckets[i]
			}
			low = buckets[i]
		}
		return low, math.Inf(1)
	}
}

// TestNamesAreKnown checks that help texts begin with the name of a metric of the simulation, or part of one.
func TestNamesAreKnown(t *testing.T) {
	var names []string
	for _, m := range measure.Metrics() {
		names = append(names, m.Name)
	}
	all := "\n" + strings.Join(names, "\n")
	found := 0
	for name, f := range gather(t, New(nil, Options{})) {
		if known, _, ok := strings.Cut(f.GetHelp(), ": "); ok {
			if found++; !strings.Contains(all, "\n"+known) {
				t.Errorf("%s: the simulation knows no %s", name, known)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d metrics of the simulation", found)
	}
}

// TestRepeated checks the counters of outcomes whose first answer was lost, of failed calls, and of errors by name.
func TestRepeated(t *testing.T) {
	m := New(nil, Options{})
	c := &engine.Call{Op: engine.OpCommit}
	c.Batch.Outcomes = []engine.Outcome{{Verb: engine.Ack, Delivery: 2}, {Verb: engine.Bury}, {Verb: engine.Nack},
		{Verb: engine.Return}, {Verb: engine.Ack}, {Verb: engine.Ack}}
	again := engine.Result{Status: engine.Applied.Again(), Age: time.Second}
	c.Results = []engine.Result{again, again, again, again, {Status: engine.Applied}, {Status: engine.Stale.Again()}}
	m.OnCall(0, c, &c.Reply, 0, 0, engine.Time(time.Second))
	m.OnCall(0, &engine.Call{Op: engine.OpClaim}, &engine.Reply{Err: errors.New("lost")}, 0, 0, engine.Time(time.Second))
	for kind, n := range map[engine.ErrorKind]int{engine.Timeout: 1, engine.FirstErrorKind + 3: 2} {
		for range n {
			m.Record(&engine.Event{Kind: engine.Finished, Error: kind, JobKind: 9, Ran: 2 * time.Second})
		}
	}
	f := gather(t, m)
	for name, want := range map[string]float64{"qsim_retries_succeeded_total": 1, "qsim_deaths_total": 1,
		"qsim_stale_commits_total": 1,
		"qsim_executions_total":    3, "qsim_busy_seconds_total": 6, "qsim_store_rows_total": 6,
		"qsim_store_errors_total": 1} {
		if got, _ := counted(name)(f, ""); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]uint64{"qsim_sojourn_seconds": 1, "qsim_retry_delay_seconds": 1,
		"qsim_store_calls_seconds": 2} {
		got := uint64(0)
		for h := range f.of(name, "") {
			got += h.GetHistogram().GetSampleCount()
		}
		if got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	errors := map[string]float64{}
	for x := range f.of("qsim_executions_total", "jobs") {
		errors[x.GetLabel()[1].GetValue()] = x.GetCounter().GetValue()
	}
	if len(errors) != 3 || errors["timeout"] != 1 || errors["10"] != 2 {
		t.Errorf("executions by error: %v", errors)
	}
}

// TestFreed checks that a worker freed by a timeout is busy until then only, and one that waits for its handler until
// that ends.
func TestFreed(t *testing.T) {
	m := New(nil, Options{})
	for _, e := range []engine.Event{
		{Kind: engine.TimedOut, Job: 1, Token: 1, Ran: 2 * time.Second, Freed: true},
		{Kind: engine.TimedOut, Job: 2, Token: 1, Ran: 2 * time.Second},
		{Kind: engine.Finished, Job: 1, Token: 2, Ran: time.Second}, // a later claim, finished earlier
		{Kind: engine.Finished, Job: 1, Token: 1, Ran: time.Minute, Error: engine.Timeout},
		{Kind: engine.Finished, Job: 2, Token: 1, Ran: 5 * time.Second, Error: engine.Timeout},
	} {
		m.Record(&e)
	}
	f := gather(t, m)
	if got, _ := counted("qsim_busy_seconds_total")(f, ""); got != 2+1+5 {
		t.Errorf("busy for %v s, want 8", got)
	}
	if got, _ := counted("qsim_executions_total")(f, ""); got != 3 {
		t.Errorf("%v executions, want 3", got)
	}
}

// asked is a store that counts Stats calls, and refuses the first.
type asked struct {
	engine.Store
	times atomic.Int32
}

func (a *asked) Stats(context.Context, int) (engine.Stats, error) {
	if a.times.Add(1) == 1 {
		return engine.Stats{}, errors.New("away")
	}
	return engine.Stats{Ready: [2]int{3, 4}, Waiting: [2]int{5, 6}, InFlight: [2]int{7, 8}, Dead: 9,
		OldestReady: [2]time.Duration{time.Second, 2 * time.Second}}, nil
}

// TestStats checks that the store's counts are read at most once a second, are missing while the store does not
// answer, and return with it.
func TestStats(t *testing.T) {
	store := &asked{}
	m := New(store, Options{})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	queue := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]float64{}
		for _, f := range families {
			if strings.Contains(f.GetHelp(), "Of the whole queue") {
				found[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		return found
	}
	if found := queue(); len(found) != 0 || len(queue()) != 0 || store.times.Load() != 1 {
		t.Errorf("no answer: %v, asked %d times", found, store.times.Load())
	}
	m.asked = time.Time{}
	found := queue()
	for name, want := range map[string]float64{"backlog_fresh": 3, "backlog_retry": 4, "waiting": 11, "in_flight": 15,
		"dead": 9, "oldest_ready_seconds": 2} {
		if got := found["qsim_"+name]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if len(found) != len(gauges) || store.times.Load() != 2 {
		t.Errorf("%v, asked %d times", found, store.times.Load())
	}
}

// life holds the events of one job that succeeds at its first attempt.
var life = []engine.Event{{Kind: engine.Leased, Waited: 3 * time.Millisecond},
	{Kind: engine.Started, Waited: 4 * time.Millisecond},
	{Kind: engine.Finished, Job: 1 << 20, Token: 3, Ran: time.Millisecond},
	{Kind: engine.Acked, Age: 6 * time.Millisecond}}

// TestRecordAllocates checks that recording a job does not allocate.
func TestRecordAllocates(t *testing.T) {
	m := New(nil, Options{})
	if n := testing.AllocsPerRun(100, func() {
		for i := range life {
			m.Record(&life[i])
		}
	}); n != 0 {
		t.Errorf("%v allocations for a job", n)
	}
}

// BenchmarkRecord measures the cost of all events of a job.
func BenchmarkRecord(b *testing.B) {
	m := New(nil, Options{})
	b.ReportAllocs()
	for b.Loop() {
		for i := range life {
			m.Record(&life[i])
		}
	}
}
