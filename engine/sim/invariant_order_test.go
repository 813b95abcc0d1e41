package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
	"qsim/engine/sim"
	"qsim/policies"
)

// calm is a random world without delays or faults of calls; only attempts fail, and during a storm more of them.
type calm struct {
	Seed            uint64
	Jobs            uint64
	Nodes, Workers  int // workers: of each node
	Batch           int
	Load            float64 // load of the workers, including retries without faults
	Fails, Storm    float64 // share of the attempts, at rest and in the storm
	StormAt, StormS int     // seconds
	Backoff         float64 // mean, seconds
	Law             int     // distribution of the run times, whose mean is 1 s
}

var calms = rapid.Custom(func(t *rapid.T) calm {
	return calm{
		Seed: rapid.Uint64().Draw(t, "seed"), Jobs: rapid.Uint64Range(30, 150).Draw(t, "jobs"),
		Nodes: rapid.IntRange(1, 3).Draw(t, "nodes"), Workers: rapid.IntRange(1, 5).Draw(t, "workers"), Batch: rapid.IntRange(1, 6).Draw(t, "batch"),
		Load: rapid.Float64Range(0.5, 1.5).Draw(t, "load"), Fails: rapid.Float64Range(0.05, 0.5).Draw(t, "fails"), Storm: rapid.Float64Range(0.5, 1).Draw(t, "storm"),
		StormAt: rapid.IntRange(0, 20).Draw(t, "storm at"), StormS: rapid.IntRange(1, 20).Draw(t, "storm for"),
		Backoff: rapid.Float64Range(0.1, 10).Draw(t, "backoff"), Law: rapid.IntRange(0, 2).Draw(t, "law"),
	}
})

// world returns that world, with FIFO and iid exponential backoffs of unlimited attempts. Its draws
// are keyed by (job, delivery).
func (c calm) world(t testing.TB) *world {
	must := drawn(t)
	workers := c.Nodes * c.Workers
	w := newWorld(t, c.Seed, c.Jobs, c.Load*float64(workers)*(1-c.Fails))
	w.nodes, w.node.Workers = c.Nodes, c.Workers
	w.node.Fetch = engine.FetchConfig{Batch: c.Batch, Poll: time.Minute}
	w.node.Commit = engine.CommitConfig{Batch: c.Batch, Calls: 2, Timeout: time.Hour}
	w.node.Lease = engine.LeaseConfig{TTL: 10000 * time.Hour}
	w.node.Reaper.Every = 10000 * time.Hour
	backoff := must(dist.Exponential(c.Backoff))
	w.node.Kinds = []engine.KindConfig{{Retry: &policies.Backoff{Kind: policies.Random, Distribution: &backoff}}}
	for op := range w.links.OneWay {
		w.links.OneWay[op] = must(dist.Constant(0))
	}
	switch c.Law {
	case 0:
		w.flaky.service = must(dist.Exponential(1))
	case 1:
		w.flaky.service = must(dist.LogNormalMeanCV(1, 2))
	default:
		w.flaky.service = must(dist.Constant(1))
	}
	w.flaky.fail, w.flaky.stormFail = c.Fails, c.Storm
	w.flaky.from = engine.Time(c.StormAt) * second
	w.flaky.until = w.flaky.from + engine.Time(c.StormS)*second
	w.silent = true
	return w
}

// use gives every node a separate policy.
func (w *world) use(policy func() engine.Policy) {
	w.config.Policy = func(int32) engine.Policy { return policy() }
}

// alike are policies that leave no worker idle while a job is ready, and consider only the class of a job.
var alike = []struct {
	name   string
	policy func() engine.Policy
}{
	{"fifo", func() engine.Policy { return policies.FIFO{} }},
	{"fresh-first", func() engine.Policy { return policies.FreshFirst{} }},
	{"retry-first", func() engine.Policy { return policies.RetryFirst{} }},
	{"weighted 2:1", func() engine.Policy { return &policies.Weighted{Fresh: quantity.Fraction(2, 3)} }},
	{"weighted 10%", func() engine.Policy { return &policies.Weighted{Fresh: quantity.Percent(10)} }},
}

type delivered struct {
	job    engine.JobID
	number int32
}

// byClaim is handlers and a retry policy whose draws are keyed by the claim's number among all claims, whichever job it
// returns.
type byClaim struct {
	*flaky
	backoff dist.Dist
	claims  uint64
	claim   map[delivered]uint64

	limit int32 // highest number of attempts; 0: no limit
	grows bool  // the backoff with the attempts
}

func (h *byClaim) Begin(now engine.Time, _ int32, j *engine.Job) sim.Execution {
	h.claims++
	h.claim[delivered{j.ID, j.Delivery}] = h.claims
	x := sim.Execution{Runs: h.service.Duration(h.rand.Uniform(keyed.ForRunTime, h.claims, 0, 0))}
	p := h.fail
	if now >= h.from && now < h.until {
		p = h.stormFail
	}
	if h.rand.Uniform(keyed.ForFailure, h.claims, 0, 0) < p {
		x.Error = engine.FirstErrorKind
	}
	return x
}

func (h *byClaim) Next(j *engine.Job, _ engine.ErrorKind, _ float64) (engine.Verb, time.Duration) {
	d := h.backoff.Duration(h.rand.Uniform(keyed.ForJitter, h.claim[delivered{j.ID, j.Delivery}], 0, 0))
	switch {
	case h.limit > 0 && j.Delivery >= h.limit:
		return engine.Bury, 0
	case h.grows:
		d *= time.Duration(j.Delivery)
	}
	return engine.Nack, d
}

// level is the number of jobs in queue or running, and of jobs waiting for their retry, from an instant on.
type level struct {
	at            engine.Time
	queue, orbits int
}

// levels records the levels at the end of every instant.
type levels struct{ all []level }

func (l *levels) Record(e *engine.Event) {
	queue, orbits := 0, 0
	switch e.Kind {
	case engine.Enqueued:
		queue = 1
	case engine.Promoted:
		queue, orbits = 1, -1
	case engine.Nacked:
		queue, orbits = -1, 1
	case engine.Acked, engine.Buried:
		queue = -1
	default:
		return
	}
	now := level{at: e.At}
	if n := len(l.all); n > 0 {
		now.queue, now.orbits = l.all[n-1].queue, l.all[n-1].orbits
		if l.all[n-1].at == e.At {
			l.all = l.all[:n-1]
		}
	}
	now.queue, now.orbits = now.queue+queue, now.orbits+orbits
	l.all = append(l.all, now)
}

// levelsOf runs c under a policy with draws keyed by claim.
func (c calm) levelsOf(t testing.TB, policy func() engine.Policy, change func(h *byClaim)) []level {
	w := c.world(t)
	h := &byClaim{flaky: w.flaky, backoff: drawn(t)(dist.Exponential(c.Backoff)), claim: map[delivered]uint64{}}
	if change != nil {
		change(h)
	}
	seen := &levels{}
	w.use(policy)
	w.handlers, w.recorder, w.silent = h, seen, false
	w.node.Kinds = []engine.KindConfig{{Retry: h}}
	w.start().Run()
	return seen.all
}

// differs returns the first difference between two courses as text; "" if they are equal.
func differs(a, b []level) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("at step %d %+v against %+v", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d steps against %d", len(a), len(b))
	}
	return ""
}

// TestOrderChangesNoCount: which of the ready jobs is claimed next changes neither how many are in queue
// and running nor how many are waiting, at any instant, also through a storm, if attempts are
// alike: run times, failures and backoffs drawn by the number of the claim, and no limit.
func TestOrderChangesNoCount(t *testing.T) {
	skipIfRaced(t)
	steps := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := calms.Draw(rt, "world")
		want := c.levelsOf(t, alike[0].policy, nil)
		steps += len(want)
		for _, p := range alike[1:] {
			if d := differs(c.levelsOf(t, p.policy, nil), want); d != "" {
				rt.Fatalf("%s against %s: %s", p.name, alike[0].name, d)
			}
		}
	})
	if steps == 0 {
		t.Error("nothing happened")
	}
}

// TestOrderChangesCountsWhereAttemptsDiffer: where attempts are not alike, or workers idle, the same
// comparison finds differences: it can fail.
func TestOrderChangesCountsWhereAttemptsDiffer(t *testing.T) {
	skipIfRaced(t)
	const worlds = 20
	capped := func() engine.Policy { return policies.InFlightCap{Retries: 1} }
	for _, tt := range []struct {
		name   string
		change func(h *byClaim)
		policy func() engine.Policy // policy to compare; nil: all with the same order
	}{
		{"an attempt limit", func(h *byClaim) { h.limit = 3 }, nil},
		{"a backoff that grows", func(h *byClaim) { h.grows = true }, nil},
		{"a cap on retries in flight", nil, capped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := 0
			for seed := range worlds {
				c := calms.Example(seed)
				want := c.levelsOf(t, alike[0].policy, tt.change)
				different := false
				for _, p := range alike[1:] {
					if tt.policy != nil {
						p.policy = tt.policy
					}
					different = different || differs(c.levelsOf(t, p.policy, tt.change), want) != ""
				}
				if different {
					found++
				}
			}
			if found < worlds/4 {
				t.Errorf("found in %d of %d worlds", found, worlds)
			}
		})
	}
}

// course is a summary of a run with draws keyed by (job, delivery).
type course [4]float64 // mean wait of all claims, s; jobs in queue and running at three instants

// courseOf runs a world and returns its course, measured at the begin and the end of its storm and some time later.
func courseOf(t testing.TB, seed uint64, policy func() engine.Policy, attempts int) (c course) {
	w := calm{Seed: seed, Jobs: 60, Nodes: 1, Workers: 2, Batch: 2, Load: 0.8, Fails: 0.2, Storm: 0.9, StormAt: 10, StormS: 10, Backoff: 2}.world(t)
	w.node.Kinds[0].Retry.(*policies.Backoff).MaxAttempts = attempts
	seen := &levels{}
	waits, claims := time.Duration(0), 0
	w.use(policy)
	w.ledger.perTime = func(e *engine.Event) {
		seen.Record(e)
		if e.Kind == engine.Leased {
			waits += e.Waited
			claims++
		}
	}
	w.silent = false
	w.start().Run()
	c[0] = waits.Seconds() / float64(claims)
	for _, l := range seen.all {
		for i, at := range []engine.Time{10 * second, 20 * second, 30 * second} {
			if l.at <= at {
				c[i+1] = float64(l.queue)
			}
		}
	}
	return c
}

// furthest returns the largest |t| of paired differences between the courses of two policies, and its quantity.
func furthest(a, b []course) (largest float64, of int) {
	for k := range len(course{}) {
		n, sum, squares := float64(len(a)), 0.0, 0.0
		for i := range a {
			d := a[i][k] - b[i][k]
			sum += d
			squares += d * d
		}
		mean := sum / n
		if sd := math.Sqrt((squares - n*mean*mean) / (n - 1)); sd > 0 {
			if t := math.Abs(mean) / sd * math.Sqrt(n); t > largest {
				largest, of = t, k
			}
		}
	}
	return largest, of
}

// TestOrderChangesNoMean: with draws keyed by (job, delivery), runs under the same policies differ one by
// one, but not in distribution: the mean wait of all claims, and the mean number in queue and running
// at any time of a storm, are the same. Seeds are fixed; with fresh ones the test would fail wrongly
// with p < 1e-5, since it looks at 16 paired differences and wants |t| < 5.2.
func TestOrderChangesNoMean(t *testing.T) {
	skipIfRaced(t)
	const most = 5.2
	const seeds = 400
	coursesOf := func(policy func() engine.Policy, attempts int) (all []course) {
		for seed := range seeds {
			all = append(all, courseOf(t, uint64(seed+1), policy, attempts))
		}
		return all
	}
	fifo := coursesOf(alike[0].policy, 0)
	for _, p := range alike[1:] {
		if d, of := furthest(coursesOf(p.policy, 0), fifo); d > most || d == 0 {
			t.Errorf("%s against %s: |t| = %.1f of statistic %d, want it above 0 and at most %v", p.name, alike[0].name, d, of, most)
		}
	}
	capped := func() engine.Policy { return policies.InFlightCap{Retries: 1} }
	if d, _ := furthest(coursesOf(capped, 0), fifo); d < most {
		t.Errorf("a cap on retries in flight: |t| = %.1f, want it found", d)
	}
	if d, _ := furthest(coursesOf(alike[2].policy, 2), coursesOf(alike[1].policy, 2)); d < most {
		t.Errorf("a limit of two attempts: |t| = %.1f between retry-first and fresh-first, want it found", d)
	}
}
