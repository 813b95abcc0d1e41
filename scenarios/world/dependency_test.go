package world

import (
	"fmt"
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// calling is a scenario with one class that calls the dependency api and has one attempt. With a worker for every job,
// calls begin as the jobs arrive.
const calling = `
warmup: 0s
duration: %s
seeds: 4
engine: {workers: 2000, commit: {linger: 0s}, store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s}}
retry: {max-attempts: 1}
dependencies: [{name: api, %s}]
jobs: [{class: mail, arrivals: {process: poisson, rate: %s}, service: %s, calls: api}]
`

// skipIfRaced skips a long computation in one goroutine under the race detector.
func skipIfRaced(t *testing.T) {
	if raced {
		t.Skip("the race detector is on: there is one goroutine, and much to compute")
	}
}

// A limit on the concurrency whose surplus fails at once is M/G/c/c: Erlang's loss formula gives
// the share that is lost, whatever the distribution of the service times.
func TestConcurrencyLimitIsErlangsLoss(t *testing.T) {
	skipIfRaced(t)
	loss := func(c int, load float64) float64 {
		b := 1.0
		for k := 1; k <= c; k++ {
			b = load * b / (float64(k) + load*b)
		}
		return b
	}
	for _, tt := range []struct {
		concurrency int
		rate        float64
		service     string
	}{
		{5, 20, "{dist: exponential, mean: 200ms}"},
		{5, 20, "200ms"},
		{20, 50, "{dist: lognormal, mean: 500ms, cv: 2}"},
		{1, 10, "100ms"},
	} {
		t.Run(fmt.Sprint(tt.concurrency, tt.service), func(t *testing.T) {
			all := runs(t, fmt.Sprintf(calling, "30m", fmt.Sprintf("limit: {concurrency: %d}", tt.concurrency), fmt.Sprintf("%v/s", tt.rate), tt.service))
			load := tt.rate * map[string]float64{"{dist: exponential, mean: 200ms}": 0.2, "200ms": 0.2, "{dist: lognormal, mean: 500ms, cv: 2}": 0.5, "100ms": 0.1}[tt.service]
			// Losses come in clumps: their share deviates by less than √(3p/n).
			want, jobs := loss(tt.concurrency, load), 4*1800*tt.rate
			if got := mean(t, all, "dead.share"); math.Abs(got-want) > 5*math.Sqrt(3*want/jobs) {
				t.Errorf("%.4f are lost, want %.4f", got, want)
			}
		})
	}
}

// A limit on the rate lets through the content of the bucket and the tokens that come into it, and
// no more; below the limit almost no call is refused.
func TestRateLimit(t *testing.T) {
	skipIfRaced(t)
	all := runs(t, fmt.Sprintf(calling, "10m", "limit: {rate: 20/s}", "50/s", "10ms"))
	jobs, dead := mean(t, all, "jobs"), mean(t, all, "dead.count")
	if through := jobs - dead; math.Abs(through-20*601) > 20 {
		t.Errorf("%v of %v calls go through, want 20 a second and 20 at first", through, jobs)
	}
	all = runs(t, fmt.Sprintf(calling, "10m", "limit: {rate: 20/s}", "16/s", "10ms"))
	if share := mean(t, all, "dead.share"); share > 0.01 {
		t.Errorf("%v are refused at 80%% of the limit", share)
	}
	all = runs(t, fmt.Sprintf(calling, "10m", "limit: {rate: 20/s}, over: {fail: 25%}", "50/s", "10ms"))
	if share := mean(t, all, "dead.share"); math.Abs(share-0.25*(1-20*601.0/30_000)) > 0.012 {
		t.Errorf("%v are refused, want a quarter of what is over the limit", share)
	}
}

// An attempt that reads, takes D in all until it writes, and writes, wins if no other has won in
// the D before: a counter with the dead time D, which counts λ/(1+λD) of a Poisson stream.
func TestConflictsAreADeadTime(t *testing.T) {
	skipIfRaced(t)
	for _, rate := range []float64{2, 10, 40} {
		all := runs(t, fmt.Sprintf(calling, "20m", "conflict: {network: 10ms}", fmt.Sprintf("%v/s", rate), "80ms"))
		want, jobs := 1-1/(1+rate*0.1), 4*1200*rate
		if got := mean(t, all, "dead.share"); math.Abs(got-want) > 5*math.Sqrt(want/jobs) {
			t.Errorf("at %v/s %.4f lose, want %.4f", rate, got, want)
		}
		if got := mean(t, all, "sojourn.mean"); math.Abs(got-0.12) > 1e-3 {
			t.Errorf("at %v/s an attempt takes %v s, want its work and four ways", rate, got)
		}
	}
}

// bench is the handlers of a scenario, with executions that a test begins and ends at chosen times.
type bench struct {
	*handlers
	t *testing.T
}

func newBench(t *testing.T, dependency, class, more string) *bench {
	t.Helper()
	text := "warmup: 0s\nduration: 1h\ndependencies: [{name: api, " + dependency + "}]\njobs: [{class: mail, arrivals: {process: constant, rate: 1/s}, calls: api, " + class + "}]\n" + more
	sc, ds := scenarios.Load("test.yaml", []byte(text), nil)
	if sc == nil {
		t.Fatalf("%s", render(t, "test.yaml", []byte(text), ds))
	}
	return &bench{newHandlers(sc, keyed.Rand{Seed: 1}), t}
}

func ms(n int) engine.Time { return engine.Time(time.Duration(n) * time.Millisecond) }

func oneJob(id int) *engine.Job { return &engine.Job{ID: spec.JobID(0, uint64(id)), Delivery: 1} }

// begin starts the first attempt of a job and checks the run time and the error drawn for it.
func (b *bench) begin(at, id int, runs time.Duration, err engine.ErrorKind) sim.Execution {
	b.t.Helper()
	x := b.Begin(ms(at), 0, oneJob(id))
	if x.Runs != runs || x.Error != err {
		b.t.Errorf("job %d at %d ms runs for %v and fails with %d, want %v and %d", id, at, x.Runs, x.Error, runs, err)
	}
	return x
}

// end ends an undecided attempt and checks its error.
func (b *bench) end(at, id int, want engine.ErrorKind) {
	b.t.Helper()
	if got := b.Decide(ms(at), 0, oneJob(id)); got != want {
		b.t.Errorf("job %d ends at %d ms with %d, want %d", id, at, got, want)
	}
	b.End(ms(at), 0, oneJob(id), want, false)
}

func TestDependencyByHand(t *testing.T) {
	const second = time.Second
	t.Run("concurrency", func(t *testing.T) {
		b := newBench(t, "limit: {concurrency: 2}, over: {rejects-in: 20ms}", "service: 1s", "storms: [{name: half, at: 10s, for: 10s, limit: {dependency: api, factor: 0.3}}]")
		b.begin(0, 1, second, engine.NoError)
		b.begin(100, 2, second, engine.NoError)
		b.begin(200, 3, 20*time.Millisecond, engine.Throttled)
		b.End(ms(220), 0, oneJob(3), engine.Throttled, false) // was never in progress
		b.begin(300, 4, 20*time.Millisecond, engine.Throttled)
		b.End(ms(1000), 0, oneJob(1), engine.NoError, false)
		b.begin(1000, 5, second, engine.NoError)
		b.End(ms(1500), 0, oneJob(2), engine.Canceled, true) // its process died
		b.End(ms(1500), 0, oneJob(5), engine.Timeout, false)
		b.begin(10_000, 6, second, engine.NoError) // 2 × 0.3 is rounded up to 1
		b.begin(10_100, 7, 20*time.Millisecond, engine.Throttled)
		b.begin(20_000, 8, second, engine.NoError)
	})
	t.Run("rate", func(t *testing.T) {
		b := newBench(t, "limit: {rate: 2/s}", "service: 1s", "storms: [{name: twice, at: 10s, for: 10s, limit: {dependency: api, factor: 2}}]")
		b.begin(0, 1, second, engine.NoError)
		b.begin(0, 2, second, engine.NoError)
		b.begin(499, 3, 0, engine.Throttled)
		b.begin(500, 4, second, engine.NoError)
		id := 10
		for _, at := range []int{15_000, 25_000} {
			through := 4 // what comes in a second
			if at > 20_000 {
				through = 2
			}
			for range through {
				b.begin(at, id, second, engine.NoError)
				id++
			}
			b.begin(at, id, 0, engine.Throttled)
		}
	})
	t.Run("over is slow", func(t *testing.T) {
		b := newBench(t, "limit: {concurrency: 1}, over: {slow: 3}", "service: 1s", "")
		b.begin(0, 1, second, engine.NoError)
		b.begin(0, 2, 3*second, engine.NoError)
		b.End(ms(1000), 0, oneJob(1), engine.NoError, false)
		b.begin(1000, 3, 3*second, engine.NoError) // the slow one is still in progress
	})
	t.Run("slows", func(t *testing.T) {
		b := newBench(t, "limit: {concurrency: 4}, slows: 100%", "service: 1s", "")
		for i, want := range []time.Duration{1000, 1250, 1500, 1750} {
			b.begin(0, i+1, want*time.Millisecond, engine.NoError)
		}
	})
	t.Run("outage", func(t *testing.T) {
		b := newBench(t, "limit: {concurrency: 1}", "service: 1s, fails: {rate: 100%, takes: 5s, errors: {broken: 100%}}",
			"storms: [{name: out, at: 10s, for: 10s, outage: {dependency: api, error: down, takes: 30ms}, repeat: {every: 30s, times: 2}}]")
		broken := b.begin(9_999, 1, 5*second, engine.FirstErrorKind+1).Error
		down := b.Begin(ms(10_000), 0, oneJob(2))
		if down.Runs != 30*time.Millisecond || down.Error == broken || down.Error == engine.Throttled {
			t.Errorf("during the outage: %+v", down)
		}
		b.begin(20_000, 3, 0, engine.Throttled) // the first is still in progress
		b.begin(45_000, 4, 30*time.Millisecond, down.Error)
		b.begin(75_000, 5, 0, engine.Throttled)
	})
}

func TestConflictByHand(t *testing.T) {
	const network, attempt = "conflict: {network: 10ms}", 140 * time.Millisecond
	t.Run("races", func(t *testing.T) {
		b := newBench(t, network, "service: 100ms", "")
		b.begin(0, 1, attempt, 0)
		b.begin(50, 2, attempt, 0)  // reads at 60, writes at 180; the first wrote at 130
		b.begin(125, 3, attempt, 0) // reads at 135, writes at 255; the second wrote nothing
		b.end(140, 1, engine.NoError)
		b.end(190, 2, engine.Conflict)
		b.end(265, 3, engine.NoError)
	})
	t.Run("reads as another writes", func(t *testing.T) {
		b := newBench(t, network, "service: 100ms", "")
		b.begin(0, 1, attempt, 0)
		b.begin(120, 2, attempt, 0) // reads at 130, behind the write of the first
		b.end(140, 1, engine.NoError)
		b.end(260, 2, engine.NoError)
	})
	t.Run("stopped before it writes", func(t *testing.T) {
		b := newBench(t, network, "service: 100ms", "")
		b.begin(0, 1, attempt, 0)
		b.begin(50, 2, attempt, 0)
		b.End(ms(119), 0, oneJob(1), engine.Timeout, false)
		b.end(190, 2, engine.NoError)
	})
	t.Run("stopped as it writes", func(t *testing.T) {
		b := newBench(t, network, "service: 100ms", "")
		b.begin(0, 1, attempt, 0)
		b.begin(50, 2, attempt, 0)
		b.End(ms(120), 0, oneJob(1), engine.Canceled, true)
		b.end(190, 2, engine.Conflict)
		if row := b.classes[0].calls.row; len(row.attempts) != 0 || len(row.steps) != 0 {
			t.Errorf("%d attempts and %d steps are left", len(row.attempts), len(row.steps))
		}
	})
	t.Run("fails", func(t *testing.T) {
		b := newBench(t, network, "service: 100ms, fails: {rate: 100%}", "")
		x := b.Begin(0, 0, oneJob(1))
		if x.Runs != 120*time.Millisecond || x.Undecided || x.Error == engine.NoError {
			t.Errorf("an attempt that fails: %+v; want it to read, and not to write", x)
		}
	})
}

// Storms on a dependency hit the classes that call it.
func TestStormsHitCallers(t *testing.T) {
	text := `
warmup: 0s
duration: 1h
dependencies: [{name: api}]
jobs:
  - {class: mail, arrivals: {process: constant, rate: 1/s}, service: 1s, calls: api}
  - {class: sums, arrivals: {process: constant, rate: 1/s}, service: 1s}
storms: [{name: s, at: 10s, for: 10s, slow: {hits: [api], factor: 3}}, {name: f, at: 30s, for: 10s, fail: {hits: [api], rate: 100%, error: down}}]
`
	h := newHandlers(load(t, text), keyed.Rand{Seed: 1})
	for kind, want := range []string{"1s 0 3s 0 1s 8", "1s 0 1s 0 1s 0"} {
		got := ""
		for i, at := range []int{0, 15_000, 35_000} {
			x := h.Begin(ms(at), 0, &engine.Job{ID: spec.JobID(kind, uint64(i)), Kind: engine.Kind(kind), Delivery: 1})
			got += fmt.Sprint(x.Runs, " ", x.Error, " ")
		}
		if got != want+" " {
			t.Errorf("class %d: %s, want %s", kind, got, want)
		}
	}
}
