package measure

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
	"qsim/results/plain"
)

var rewrite = flag.Bool("rewrite", false, "write what is measured of drawn stories now into testdata")

const (
	drawnFile    = "testdata/drawn.txt"
	drawnStories = 48
)

// TestDrawnStories plays random sequences of events under random settings, and compares all measurements with stored
// fingerprints, one for each story: metrics with all filters, series, histograms and tenants. Stories by hand define
// the metrics; random ones detect any other change, where several things happen together. An intended change rewrites
// the fingerprints with -rewrite, and its commit names the changed metric. With -v, and -run TestDrawnStories/17, the
// measurements are printed.
func TestDrawnStories(t *testing.T) {
	text, err := os.ReadFile(drawnFile)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	want := strings.Fields(string(text))
	var all strings.Builder
	for i := range drawnStories {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			measured := newDrawn(uint64(i)).play()
			h := fnv.New64a()
			fmt.Fprint(h, measured)
			got := fmt.Sprintf("%016x", h.Sum64())
			fmt.Fprintln(&all, got)
			if !*rewrite && (i >= len(want) || got != want[i]) {
				t.Errorf("story %d has another fingerprint", i)
			}
			t.Log(measured)
		})
	}
	if *rewrite && strings.Count(all.String(), "\n") == drawnStories { // all of them ran
		if err := os.WriteFile(drawnFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// drawnJob is one job in a random sequence of events: its state in the store, and its executions.
type drawnJob struct {
	engine.Event // as its latest event has it: ID, kind, tenant, class
	state        engine.State
	enqueued     engine.Time
	since        engine.Time // ready: since when
	due          engine.Time // waiting: until when
	reaper       bool        // a reaper holds the lease
	runs         []drawnRun
}

type drawnRun struct {
	token    engine.Token
	delivery int32
	node     int32
	began    engine.Time
	runs     bool
	done     bool
	err      engine.ErrorKind
}

type drawn struct {
	*rand.Rand
	settings *Settings
	c        *Collector
	now      engine.Time
	heard    []engine.Event
	jobs     []*drawnJob
	ids      engine.JobID
	tokens   engine.Token
	down     [3]bool
	lives    [3]uint32
}

func pick[T any](d *drawn, values ...T) T { return values[d.IntN(len(values))] }

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

func newDrawn(seed uint64) *drawn {
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, 2))}
	s := settings()
	s.Warmup, s.Bucket = pick(d, 0, 10*time.Second), pick(d, 0, 5*time.Second, 10*time.Second)
	s.Classes, s.Nodes, s.Rate = []string{"mail", "sums", "reports"}[:1+d.IntN(3)], 3, pick(d, 2.0, 10)
	s.Guards = []Guard{NoGuard, CheckGuard, AtomicGuard}
	s.StarvedAfter = pick(d, nil, []time.Duration{2 * time.Second, 500 * time.Millisecond})
	s.Loads = pick(d, nil, []Load{{1, time.Second}, {5, 100 * time.Millisecond}})
	s.Burials = pick(d, nil, [][]engine.ErrorKind{{engine.FirstErrorKind + 1}, nil})
	s.Storms = pick(d, s.Storms, nil, []Window{{"first", 20 * time.Second, 30 * time.Second}, {"last", 60 * time.Second, 60 * time.Second}})
	s.Tenants = pick(d, nil, []string{"", "a", "b", "c"}, strings.Split(strings.Repeat("t", 20)+"abcdefghijklmnopqrstuvwxyz", ""))
	for i := range s.Tenants {
		s.Tenants[i] = fmt.Sprint(s.Tenants[i], i)
	}
	if d.chance(40) {
		s.Patience, s.CopyBits = []time.Duration{3 * time.Second, 0, time.Second}, 4
	}
	s.Redrives = d.chance(30)
	s.Policies[0].Entitled, s.Policies[0].Lease = pick(d, 0, 0.5, 0.8), pick(d, 0, 4*time.Second)
	for range 40 {
		m := pick(d, allMetrics...)
		s.Asked = append(s.Asked, d.narrowed(s, &m))
	}
	d.settings, d.c = s, NewCollector(s, 0)
	return d
}

// narrowed returns a query of a metric with random filters.
func (d *drawn) narrowed(s *Settings, m *metric) Query {
	q := Query{Metric: m.Name}
	if m.Filters.Has(NeedsLimit) {
		q.Limit = pick(d, time.Second, 3*time.Second)
	}
	if len(s.Storms) > 0 && m.Filters.Has(ByDuring) && d.chance(30) {
		q.During = pick(d, s.Storms...).Name
	} else if len(s.Storms) > 0 && m.Filters.Has(ByAfter) && d.chance(40) {
		q.After = pick(d, s.Storms...).Name
	}
	if m.Filters.Has(ByClass) && d.chance(40) {
		q.Class = pick(d, s.Classes...)
	}
	if m.Filters.Has(ByTenant) && len(s.Tenants) > 0 && d.chance(40) {
		q.Tenant = pick(d, append(s.Tenants[1:], WorstTenant)...)
	}
	return q
}

// play records random events until 108 s have passed, and returns all that is measured, as text.
func (d *drawn) play() string {
	for d.now < at(108) {
		d.now = d.now.Add(time.Duration(d.ExpFloat64() * float64(30*time.Millisecond)))
		if d.chance(2) {
			d.now = d.now.Add(1500 * time.Millisecond)
		}
		d.step()
	}
	var unresolved []unfinished.Job
	for _, j := range d.jobs {
		if j.state == engine.Ready || j.state == engine.Waiting || j.state == engine.InFlight {
			u := unfinished.Job{ID: j.Job, Kind: j.JobKind, Tenant: j.Tenant, State: j.state, Class: j.Class, Age: d.now.Sub(j.enqueued)}
			if j.state == engine.Ready {
				u.Waited = d.now.Sub(j.since)
			}
			unresolved = append(unresolved, u)
		}
	}
	r := d.c.Finish(d.now, slices.Values(unresolved))
	var out strings.Builder
	fmt.Fprintf(&out, "%d events, %d jobs, %v\n", r.Events, r.Jobs, r.Warnings)
	for _, v := range r.Values {
		fmt.Fprintf(&out, "%s: %.9g %s%s\n", v.Query, v.Value, v.Bound, v.Reason)
	}
	var waits []string
	for i := range r.tenantWaits {
		waits = append(waits, fmt.Sprintf("{%s %s}", textOf(&r.tenantWaits[i].Ended), textOf(&r.tenantWaits[i].Unresolved)))
	}
	means := plain.Map(r.means, func(v Value) any {
		return struct {
			value  float64
			reason string
			bound  bool
		}{v.Value, v.Reason, v.Bound != ""}
	})
	fmt.Fprintf(&out, "%.9g\n%v\n%v\n%v\n", r.Series, r.Tenants, waits, means)
	for i := range r.Histograms {
		h := &r.Histograms[i]
		fmt.Fprintf(&out, "%s %s %s\n", h.Query, textOf(&h.Ended), textOf(&h.Unresolved))
	}
	return out.String()
}

// textOf returns the content of p in the form that the stored fingerprints cover.
func textOf(p *Histogram) string {
	return fmt.Sprintf("{%v %v %d %d %d %d}", p.Buckets, p.Counts, p.SumHigh, p.SumLow, p.Longest, p.N)
}

func (d *drawn) step() {
	for _, j := range d.jobs {
		if j.state == engine.Waiting && j.due <= d.now {
			j.state, j.since = engine.Ready, d.now
			d.record(j, engine.Promoted, nil)
		}
	}
	live := slices.DeleteFunc(slices.Clone(d.jobs), func(j *drawnJob) bool {
		return j.state == engine.Dead && !d.chance(3) || j.state == engine.NoState && len(j.runs) == 0
	})
	switch {
	case d.chance(10) || len(live) == 0:
		d.enqueue()
	case d.chance(2):
		d.machine(live)
	case d.chance(8):
		op := pick(d, engine.OpClaim, engine.OpCommit, engine.OpStats)
		d.hear(&engine.Event{At: d.now, Kind: engine.Called, Op: op, Count: int32(d.IntN(3))})
	default:
		j := live[min(d.IntN(len(live)), d.IntN(len(live)))] // rather an old one
		if i := d.IntN(len(j.runs) + 1); i < len(j.runs) {
			d.goOn(j, i)
		} else {
			d.move(j)
		}
	}
}

// hear passes an event to the collector, and stores it.
func (d *drawn) hear(e *engine.Event) {
	d.heard = append(d.heard, *e)
	d.c.Record(e)
}

// record records an event of the job j, after the function more, if there is one, has set further fields of it.
func (d *drawn) record(j *drawnJob, kind engine.EventKind, more func(e *engine.Event)) {
	e := j.Event
	e.At, e.Kind, e.Age = d.now, kind, d.now.Sub(j.enqueued)
	if more != nil {
		more(&e)
	}
	d.hear(&e)
}

func (d *drawn) enqueue() {
	s := d.settings
	j := &drawnJob{enqueued: d.now, since: d.now, state: engine.Ready}
	d.ids++
	j.Job, j.JobKind = d.ids<<s.CopyBits, engine.Kind(d.IntN(len(s.Classes)))
	if len(s.Tenants) > 0 {
		j.Tenant = engine.TenantID(d.IntN(len(s.Tenants)))
	}
	if n := len(d.jobs); s.CopyBits > 0 && n > 0 && d.chance(20) {
		o := d.jobs[n-1]
		if after := s.Patience[o.JobKind]; after > 0 && o.Job&15 < 14 && d.now <= o.enqueued.Add(after) {
			d.now = o.enqueued.Add(after) // another copy, when its caller gives up
			j.Job, j.JobKind, j.Tenant, j.enqueued, j.since = o.Job+1, o.JobKind, o.Tenant, d.now, d.now
		}
	}
	delay := time.Duration(0)
	if d.chance(10) {
		delay = pick(d, time.Second, 4*time.Second)
		j.state, j.due = engine.Waiting, d.now.Add(delay)
	}
	d.jobs = append(d.jobs, j)
	d.record(j, engine.Enqueued, func(e *engine.Event) { e.Delay = delay })
}

// move changes a job in the store at random: it is claimed, recovered, extended, ended by somebody else, or redriven.
func (d *drawn) move(j *drawnJob) {
	switch {
	case j.state == engine.Ready && d.chance(90):
		d.tokens++
		j.Token, j.state, j.reaper = d.tokens, engine.InFlight, false
		j.Delivery++
		node := int32(d.IntN(len(d.down)))
		j.Holder = engine.NewEngineID(node, d.lives[node])
		d.record(j, engine.Leased, func(e *engine.Event) { e.Waited = d.now.Sub(j.since) })
		j.Class = engine.Retry
		j.runs = append(j.runs, drawnRun{token: j.Token, delivery: j.Delivery, node: node})
	case j.state == engine.InFlight && !j.reaper && d.chance(10):
		d.tokens++
		j.Token, j.reaper = d.tokens, true
		d.record(j, engine.LeaseTaken, nil)
	case j.state == engine.InFlight && j.reaper:
		d.outcome(j, pick(d, engine.Nacked, engine.Returned, engine.Buried), engine.LeaseExpired)
	case j.state == engine.InFlight:
		d.record(j, pick(d, engine.Extended, engine.Extended, engine.LeaseLost), nil)
	case j.state == engine.Dead && d.settings.Redrives:
		j.state, j.since = engine.Ready, d.now
		d.record(j, engine.Redriven, nil)
	case d.chance(5) && (j.state == engine.Ready || j.state == engine.Waiting):
		d.outcome(j, pick(d, engine.Acked, engine.Buried), engine.NoError)
	}
}

// goOn takes execution i of a job one step further: it starts, ends, or its outcome reaches the store.
func (d *drawn) goOn(j *drawnJob, i int) {
	r := &j.runs[i]
	of := func(e *engine.Event) {
		e.Token, e.Delivery, e.Node = r.token, r.delivery, r.node
		if r.runs {
			e.Ran, e.Error = d.now.Sub(r.began), r.err
		}
	}
	switch {
	case d.down[r.node] && r.runs && !r.done:
		d.record(j, engine.Aborted, of)
		j.runs = slices.Delete(j.runs, i, i+1)
	case !r.runs && !d.down[r.node]:
		d.record(j, engine.Started, of)
		r.runs, r.began = true, d.now
	case !r.runs:
		j.runs = slices.Delete(j.runs, i, i+1)
	case !r.done:
		r.err = pick(d, engine.NoError, engine.NoError, engine.NoError, engine.FirstErrorKind, engine.FirstErrorKind+1, engine.Canceled)
		d.record(j, engine.Finished, of)
		r.done = true
	default:
		token, err := r.token, r.err
		j.runs = slices.Delete(j.runs, i, i+1)
		switch {
		case j.state != engine.InFlight || j.Token != token:
			d.record(j, engine.Fenced, func(e *engine.Event) { e.Token = token })
		case err == engine.NoError:
			d.outcome(j, engine.Acked, err)
		case err == engine.Canceled:
			d.outcome(j, engine.Returned, err)
		default:
			d.outcome(j, pick(d, engine.Nacked, engine.Nacked, engine.Buried), err)
		}
	}
}

func (d *drawn) outcome(j *drawnJob, kind engine.EventKind, why engine.ErrorKind) {
	from, delay := j.state, pick(d, 500*time.Millisecond, 3*time.Second)
	d.record(j, kind, func(e *engine.Event) {
		e.From, e.Error, e.Reaped = from, why, why == engine.LeaseExpired && d.chance(30)
		e.Aged = kind == engine.Buried && int(e.JobKind) == len(d.settings.Burials)-1
		if kind == engine.Nacked {
			e.Delay = delay
		}
		if from == engine.Ready {
			e.Waited = d.now.Sub(j.since)
		}
	})
	switch kind {
	case engine.Acked:
		j.state = engine.NoState
	case engine.Buried:
		j.state = engine.Dead
	case engine.Returned:
		j.state, j.since = engine.Ready, d.now
	case engine.Nacked:
		j.state, j.due = engine.Waiting, d.now.Add(delay)
	}
}

// machine makes a process die, with its executions, or start.
func (d *drawn) machine(live []*drawnJob) {
	node := d.IntN(len(d.down))
	d.down[node] = !d.down[node]
	kind := engine.NodeUp
	if d.down[node] {
		kind = engine.NodeDown
		for _, j := range live {
			for i := len(j.runs) - 1; i >= 0; i-- {
				if r := &j.runs[i]; r.node == int32(node) && !r.done {
					d.goOn(j, i)
				}
			}
		}
	} else {
		d.lives[node]++
	}
	d.hear(&engine.Event{At: d.now, Kind: kind, Node: int32(node)})
}
