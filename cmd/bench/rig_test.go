package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/perf/benchfmt"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// lame is a store with an injected fault. It implements only engine.Store and live.Announcer.
type lame struct {
	*memstore.Store
	swallows atomic.Int64          // number of jobs that it accepts and loses
	stalls   atomic.Int64          // nanoseconds by which the next enqueue call takes longer
	refuses  atomic.Pointer[error] // error that commits return
}

func (s *lame) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if d := s.stalls.Swap(0); d > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(d)):
		}
	}
	if s.swallows.Load() > 0 && len(jobs) > 0 {
		s.swallows.Add(-1)
		jobs = jobs[1:]
	}
	return s.Store.Enqueue(ctx, jobs)
}

func (s *lame) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	if err := s.refuses.Load(); err != nil {
		return nil, *err
	}
	return s.Store.Commit(ctx, b, dst)
}

// runLame runs a synthetic load on a store with the fault that prepare sets.
func runLame(t *testing.T, l *load, prepare func(*lame)) (*loaded, error) {
	t.Helper()
	return runAround(t, l, func(s *memstore.Store) engine.Store {
		store := &lame{Store: s}
		prepare(store)
		return store
	})
}

// runAround runs a synthetic load on a store in memory, wrapped by the function around.
func runAround(t *testing.T, l *load, around func(*memstore.Store) engine.Store) (*loaded, error) {
	t.Helper()
	sc, err := policyScenario(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	stores := &stores{around: func(s engine.Store) engine.Store { return around(s.(*memstore.Store)) }}
	return runLoad(t.Context(), l, sc, playOptions{seed: 1, store: memory}, stores)
}

// openWall returns a synthetic load as a Wall (a scenario on the wall clock), which is closed when the test ends.
func openWall(t *testing.T, l *load) *world.Wall {
	t.Helper()
	sc, err := policyScenario(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	wall, err := world.OnWallClock(sc, 0, 1, world.Speed{Num: 1, Den: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wall.Close() })
	return wall
}

func smallLoad(jobs int) *load {
	return &load{jobs: scenarios.Count(jobs), workers: 8, engines: 1, batch: 100}
}

func perSecond(jobs int64) scenarios.Rate { return scenarios.Rate{Num: jobs, Den: 1, Per: time.Second} }

// TestNoLoss: no job is lost on a store without a fault, with failing attempts and two engines.
func TestNoLoss(t *testing.T) {
	l := smallLoad(3000)
	l.fails, l.engines = scenarios.Share{Num: 1, Den: 5}, 2
	r, err := runLame(t, l, func(*lame) {})
	if err != nil {
		t.Fatal(err)
	}
	if r.jobs != 3000 || r.done != 3000 || r.lost != 0 || r.duplicates != 0 || r.left != 0 {
		t.Errorf("enqueued %d, done %d, lost %d, duplicates %d, left %d", r.jobs, r.done, r.lost, r.duplicates, r.left)
	}
	if r.execute.rows < 3300 { // one in five attempts fails
		t.Errorf("%d executions of 3000 jobs", r.execute.rows)
	}
}

// TestLossIsFound has a store forget two of the jobs that it took.
func TestLossIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := runLame(t, smallLoad(3000), func(s *lame) { s.swallows.Store(2) })
		if err != nil {
			t.Fatal(err)
		}
		if r.lost != 2 || r.done != 2998 {
			t.Errorf("lost %d, done %d, want 2 and 2998", r.lost, r.done)
		}
		s := &session{console: &ui.Console{}, flags: &runFlags{}}
		s.count(&candidate{}, &r.endedRun)
		var f *ui.Failure
		if err := s.settle(ui.ExitMet, nil); !errors.As(err, &f) || f.Exit != ui.ExitInvariant {
			t.Errorf("the command ends with %v, want exit %d", err, ui.ExitInvariant)
		}
	})
}

// TestShedIsDead has a policy bury jobs as it claims others: they count as dead, not as lost, and have no sojourn. Of a
// run without a job after the warmup no latency is known.
func TestShedIsDead(t *testing.T) {
	const ms = scenarios.Duration(time.Millisecond)
	l := smallLoad(0)
	l.rate, l.lasts, l.workers, l.work = perSecond(400), 300*ms, 1, 5*ms
	sc, err := policyScenario(l, []string{"{kind: codel, target: 20ms, interval: 20ms, then: bury}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, warmup := range []scenarios.Duration{0, l.lasts} {
		l.warmup = warmup
		r, err := runLoad(t.Context(), l, sc, playOptions{seed: 1, store: memory}, &stores{})
		if err != nil {
			t.Fatal(err)
		}
		latencies, sojourns := 4, r.done
		if warmup > 0 {
			latencies, sojourns = 0, 0
		}
		for _, m := range r.metrics() {
			if strings.HasSuffix(m.name, "pickup-sec") || strings.HasSuffix(m.name, "sojourn-sec") {
				latencies--
			}
		}
		if r.lost != 0 || r.dead < 10 || r.done+r.dead != r.jobs || r.sojourn.Count() != sojourns || latencies != 0 {
			t.Errorf("warmup %v: of %d jobs %d done, %d dead, %d lost, %d sojourns, %d latencies too few", warmup.Std(), r.jobs, r.done, r.dead, r.lost, r.sojourn.Count(), latencies)
		}
	}
}

// dropper is a store that loses its first answer to a claim that sheds jobs.
type dropper struct {
	*memstore.Store
	lost int64 // number of jobs shed in that answer
}

func (s *dropper) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	leases, next, err := s.Store.Claim(ctx, holder, p, ttl, dst)
	shed := int64(plain.Count(leases, func(l engine.Lease) bool { return l.Shed }))
	if shed == 0 || s.lost > 0 {
		return leases, next, err
	}
	s.lost = shed
	return dst, engine.Forever, context.DeadlineExceeded
}

// TestShedUnanswered loses the answer to a claim that shed jobs, in a run of a load and in one of a scenario: the store
// tells afterwards that they are dead, and none counts as lost.
func TestShedUnanswered(t *testing.T) {
	const ms = scenarios.Duration(time.Millisecond)
	l := smallLoad(0)
	l.rate, l.lasts, l.workers, l.work = perSecond(400), 300*ms, 1, 5*ms
	sc, err := policyScenario(l, []string{"{kind: codel, target: 20ms, interval: 20ms, then: bury}"})
	if err != nil {
		t.Fatal(err)
	}
	sc.Engine.Lease.TTL, sc.Engine.Lease.Heartbeat, sc.Engine.Reaper.Every = 500*ms, 100*ms, 100*ms // what it claimed comes back
	for name, run := range map[string]func(*stores) (account, error){
		"load": func(s *stores) (account, error) {
			r, err := runLoad(t.Context(), l, sc, playOptions{seed: 1, store: memory}, s)
			if err != nil {
				return account{}, err
			}
			return r.account, nil
		},
		"scenario": func(s *stores) (account, error) {
			p, err := play(t.Context(), sc, playOptions{seed: 1, speed: world.Speed{Num: 1, Den: 1}, store: memory}, s)
			if err != nil {
				return account{}, err
			}
			return p.account, nil
		},
	} {
		var store *dropper
		a, err := run(&stores{around: func(s engine.Store) engine.Store {
			store = &dropper{Store: s.(*memstore.Store)}
			return store
		}})
		if err != nil {
			t.Fatal(err)
		}
		if store.lost == 0 || a.dead < store.lost || a.lost != 0 || a.untold != 0 || a.done+a.dead+a.left != a.jobs {
			t.Errorf("%s: %d jobs are shed without an answer: %+v", name, store.lost, a)
		}
	}
}

// mute is a store that answers no commit before its timeout, and executes it or not (deaf); with twice, only the first
// call of each commit goes unanswered.
type mute struct {
	*memstore.Store
	deaf, twice bool
	sent        sync.Map
}

func (s *mute) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) (results []engine.Result, err error) {
	until, _ := ctx.Deadline()
	limited := time.Until(until) < answerFor/2 || time.Until(until) > answerFor // else it is asked after the run
	_, before := s.sent.LoadOrStore(b.ID, true)
	if !limited || !s.deaf {
		results, err = s.Store.Commit(ctx, b, dst)
	}
	if limited && !(before && s.twice) {
		<-ctx.Done()
		return dst, ctx.Err()
	}
	return results, err
}

// TestUnansweredEnds runs a scenario on a store that answers no commit, each of which is sent many times or just once, or
// answers it the second time: jobs that ended count as such, once, and none as lost.
func TestUnansweredEnds(t *testing.T) {
	for _, tt := range []struct {
		timeout     string
		drain       string // without any answer a run takes all of it; with one, as long as the machine takes
		deaf, twice bool
	}{{"1s", "1m", false, false}, {"1s", "1m", true, false}, {"1h", "1m", false, false}, {"1s", "2h", false, true}} {
		t.Run(fmt.Sprintf("%s, deaf %v, twice %v", tt.timeout, tt.deaf, tt.twice), func(t *testing.T) {
			t.Parallel()
			sc, wrong := scenarios.Load("mute", []byte(`
duration: 1m
drain: `+tt.drain+`
warmup: 0s
engine: {workers: 8, commit: {timeout: `+tt.timeout+`}}
jobs: [{class: mail, arrivals: {process: constant, rate: 20/s}, service: 200ms, fails: {rate: 50%}}]
retry: {max-attempts: 1}
policies: [{kind: fifo}]
`), nil)
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			stores := &stores{around: func(s engine.Store) engine.Store {
				return &mute{Store: s.(*memstore.Store), deaf: tt.deaf, twice: tt.twice}
			}}
			p, err := play(t.Context(), sc, playOptions{seed: 1, speed: world.Speed{Num: 60, Den: 1}, store: memory}, stores)
			if err != nil {
				t.Fatal(err)
			}
			if tt.deaf != (p.done+p.dead == 0) || p.lost != 0 || p.untold != 0 || p.done+p.dead+p.left != p.jobs || p.duplicates != 0 || tt.twice && p.left > 0 {
				t.Errorf("of %d jobs %d done, %d dead, %d left, %d lost, %d untold", p.jobs, p.done, p.dead, p.left, p.lost, p.untold)
			}
		})
	}
}

// TestCutOff runs a scenario whose last jobs outlast it: what runs at its end is in flight, as in a simulation, although
// the engines hand it back when they are stopped, and so no job is a retry that waits.
func TestCutOff(t *testing.T) {
	t.Parallel()
	sc, wrong := scenarios.Load("cut-off", []byte(`
duration: 30s
drain: 0s
warmup: 0s
engine: {workers: 4}
jobs: [{class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 25s}]
policies: [{kind: fifo}]
`), nil)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	o := playOptions{seed: 1, speed: world.Speed{Num: 20, Den: 1}, store: memory}
	p, err := play(t.Context(), sc, o, &stores{})
	if err != nil {
		t.Fatal(err)
	}
	if waits := p.run.Find(measure.Query{Metric: "retry.wait.mean"}); !waits.Null || p.left == 0 || p.lost != 0 {
		t.Errorf("%d of %d jobs left, %d lost; retries have waited %vs", p.left, p.jobs, p.lost, waits.Value)
	}
}

// TestCommitCopies answers copies of a commit of two jobs in several orders: its jobs count once, and it is asked about
// after the run only if no copy was answered, and the engine has not given it up.
func TestCommitCopies(t *testing.T) {
	const seq, fails = 7, engine.Unapplied // fails stands for a call that was not answered
	told, again := engine.Applied, engine.Applied.Again()
	for _, tt := range []struct {
		answers []engine.Status
		slow    bool
		settled uint64 // of the last call, which is of a later commit; 0: there is none
		ended   int64
		doubts  int
	}{
		{[]engine.Status{told}, false, 0, 2, 0},
		{[]engine.Status{told, again}, true, 0, 2, 0},
		{[]engine.Status{fails, told, again}, false, 0, 2, 0},
		{[]engine.Status{again, again, fails}, false, 0, 2, 0},
		{[]engine.Status{fails, fails}, false, seq - 1, 0, 1},
		{[]engine.Status{fails}, false, seq, 0, 0},
	} {
		r, doubts := &rig{}, map[engine.BatchID]*doubt{}
		call := func(seq, settled uint64, s engine.Status, n int) {
			reply := &engine.Reply{Results: slices.Repeat([]engine.Result{{Status: s}}, n)}
			if s == fails && n > 0 {
				reply = &engine.Reply{Err: context.DeadlineExceeded}
			}
			r.onCommit(doubts, &engine.Batch{ID: engine.BatchID{Seq: seq}, Settled: settled, Outcomes: slices.Repeat([]engine.Outcome{{Verb: engine.Ack}}, n)}, reply, tt.slow, 1)
		}
		for _, s := range tt.answers {
			call(seq, 0, s, 2)
		}
		if tt.settled > 0 {
			call(seq+1, tt.settled, told, 0)
		}
		open := 0
		for _, d := range doubts {
			if d != nil {
				open++
			}
		}
		if got := r.ended.Load(); got != tt.ended || open != tt.doubts {
			t.Errorf("%v, slow %v: %d jobs ended, %d commits in doubt, want %d and %d", tt.answers, tt.slow, got, open, tt.ended, tt.doubts)
		}
	}
}

// lasting is a store whose calls take a given time, and a given time more for each job.
type lasting struct {
	*memstore.Store
	enqueue, claim, commit, perClaim, perCommit time.Duration
}

func (s *lasting) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	time.Sleep(s.enqueue)
	return s.Store.Enqueue(ctx, jobs)
}

func (s *lasting) Claim(ctx context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	leases, next, err := s.Store.Claim(ctx, holder, p, ttl, dst)
	time.Sleep(s.claim + time.Duration(len(leases)-len(dst))*s.perClaim)
	return leases, next, err
}

func (s *lasting) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	time.Sleep(s.commit + time.Duration(len(b.Outcomes))*s.perCommit)
	return s.Store.Commit(ctx, b, dst)
}

// TestPhases measures a load in which each phase takes a different time, on a clock that does not
// depend on the machine: each measured duration is right.
func TestPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		l := smallLoad(200)
		l.work = scenarios.Duration(5 * ms)
		r, err := runAround(t, l, func(s *memstore.Store) engine.Store {
			return &lasting{Store: s, enqueue: 2 * ms, claim: 10 * ms, commit: 30 * ms}
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.done != 200 || r.lost != 0 {
			t.Errorf("done %d, lost %d", r.done, r.lost)
		}
		for _, tt := range []struct {
			name string
			got  *phase
			took time.Duration
			rows int64
		}{{"enqueue", &r.enqueue, 2 * ms, 200}, {"claim", &r.claim, 10 * ms, 200}, {"execute", &r.execute, 5 * ms, 200}, {"commit", &r.commit, 30 * ms, 200}} {
			if longest := tt.got.calls.Max(); longest != tt.took || tt.got.rows != tt.rows || tt.got.total != time.Duration(tt.got.calls.Count())*tt.took {
				t.Errorf("%s took %v for %d jobs, in all %v; want %v for %d", tt.name, longest, tt.got.rows, tt.got.total, tt.took, tt.rows)
			}
		}
	})
}

// TestPerJob keeps what is less than a nanosecond for each job of a call.
func TestPerJob(t *testing.T) {
	var p phase
	p.add(time.Microsecond, 400)
	if got := p.perJob(); math.Abs(got-2.5e-9) > 1e-15 {
		t.Errorf("%v s for a job, want 2.5e-09", got)
	}
}

// TestCosts measures the time for each job of a call on a virtual clock, and leaves no job in the store.
func TestCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const us = time.Microsecond
		s := &lasting{Store: memstore.New(live.Clock(time.Now()), engine.StoreOptions{}), enqueue: 200 * us, claim: 1700 * us, commit: 2 * time.Millisecond, perClaim: 300 * us, perCommit: 70 * us}
		perJob, err := measureCosts(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if perJob[engine.OpClaim] != 300*us || perJob[engine.OpCommit] != 70*us {
			t.Errorf("each job takes %v, want 300µs of a claim and 70µs of a commit", perJob)
		}
		if n := s.Live(); n != 0 {
			t.Errorf("%d jobs were left in the store", n)
		}
	})
}

// TestDuplicatesAreCounted executes one job three times.
func TestDuplicatesAreCounted(t *testing.T) {
	l := smallLoad(20)
	run := &loadRun{load: l, records: make([]jobRecord, 20)}
	run.rig = &rig{clock: live.Clock(time.Now()), store: memstore.New(live.Clock(time.Now()), engine.StoreOptions{})}
	for _, id := range []engine.JobID{3, 5, 5, 5, 16} {
		if err := run.handle(t.Context(), &engine.Job{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := run.result(t.Context())
	if err != nil || r.duplicates != 2 {
		t.Errorf("%d duplicates, %v, want 2", r.duplicates, err)
	}
}

// TestNoCoordinatedOmission makes one enqueue take 400 ms, while three feeders go on, and then
// blocks all four at once: the jobs due meanwhile waited, and their latencies include that.
func TestNoCoordinatedOmission(t *testing.T) {
	const stall = 400 * time.Millisecond
	l := smallLoad(0)
	l.rate, l.lasts = perSecond(500), scenarios.Duration(600*time.Millisecond)
	r, err := runLame(t, l, func(s *lame) { s.stalls.Store(int64(stall)) })
	if err != nil {
		t.Fatal(err)
	}
	if worst := r.pickup.Max(); worst < stall*9/10 {
		t.Errorf("the longest pickup took %v, but a job was under way to the store for %v", worst, stall)
	}
	if worst := r.sojourn.Max(); worst < stall*9/10 {
		t.Errorf("the longest sojourn took %v, but a job was under way to the store for %v", worst, stall)
	}
	if r.lost != 0 || r.done != r.jobs {
		t.Errorf("lost %d, done %d of %d", r.lost, r.done, r.jobs)
	}
	if p50 := r.pickup.Quantile(.5); p50 > stall/2 {
		t.Errorf("half of the pickups took %v: one feeder held up the others", p50)
	}
}

// TestStoreErrorEndsRun checks that a store's error ends the run at once.
func TestStoreErrorEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the disk is on fire")
		began := time.Now()
		_, err := runLame(t, smallLoad(100), func(s *lame) { s.refuses.Store(&broken) })
		if !errors.Is(err, broken) || err.Error() != "commit: the disk is on fire" {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		var f *ui.Failure
		if e := failed("fifo", memory, err); !errors.As(e, &f) || f.Exit != ui.ExitIO {
			t.Errorf("the command ends with %v, want exit %d", e, ui.ExitIO)
		}
	})
}

// TestBenchFormat reads the output as benchstat does, whatever the policies' names.
func TestBenchFormat(t *testing.T) {
	var text bytes.Buffer
	w := &benchWriter{out: &text}
	labels := []string{"fifo", `a "b" / c = d`, "<script>alert(1)</script>", "😀 über", strings.Repeat("x", 200), "-8"}
	r := &loaded{endedRun: endedRun{took: time.Second, account: account{jobs: 10, done: 10}}}
	r.claim.add(time.Millisecond, 10)
	for _, label := range labels {
		w.result(benchName("Burndown", "policy", label, "store", memory), r.done, r.took, append(r.metrics(), metric{"none", "s", math.NaN()}))
	}
	reader := benchfmt.NewReader(&text, "test")
	n := 0
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", reader.Result())
		}
		if v, ok := result.Value("jobs/s"); !ok || v != 10 {
			t.Errorf("%s: jobs/s is %v", result.Name, v)
		}
		if v, ok := result.Value("lost"); !ok || v != 0 {
			t.Errorf("%s: lost is %v, %v", result.Name, v, ok)
		}
		if _, ok := result.Value("none"); ok {
			t.Errorf("%s: a value that there is not was written", result.Name)
		}
		if base, parts := result.Name.Parts(); string(base) != "Burndown" || len(parts) != 3 {
			t.Errorf("%s has %d parts", result.Name, len(parts))
		}
		n++
	}
	if reader.Err() != nil || n != len(labels) {
		t.Errorf("%d lines, %v, want %d", n, reader.Err(), len(labels))
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{{0, "0"}, {1234567.25, "1234567"}, {12345.678, "12345.7"}, {1.5e-7, "1.5e-07"}, {100, "100"}} {
		if got := number(tt.v); got != tt.want {
			t.Errorf("%v is written %s, want %s", tt.v, got, tt.want)
		}
	}
}

// keeper is a store that accepts jobs at once and answers late.
type keeper struct {
	*memstore.Store
	slow time.Duration
}

func (s *keeper) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if err := s.Store.Enqueue(ctx, jobs); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.slow):
		return nil
	}
}

// TestTimeUp ends a run while jobs are still being enqueued: the store and the feeders agree on the
// number accepted, and the others are counted.
func TestTimeUp(t *testing.T) {
	l := smallLoad(0)
	l.rate, l.lasts, l.work = perSecond(1000), scenarios.Duration(2*time.Second), scenarios.Duration(time.Millisecond)
	wall := openWall(t, l)
	run := &loadRun{load: l}
	run.rig = newRig(wall, &keeper{memstore.New(live.Clock(time.Now()), wall.Options), 100 * time.Millisecond})
	next, err := run.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run.rig.onEnd = run.onEnd
	if err := run.rig.run(t.Context(), run.handle, run.rig.feed(next, nil), 800*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	r, err := run.result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.jobs == 0 || r.lost != 0 || r.untold != 0 {
		t.Errorf("enqueued %d: lost %d, untold %d", r.jobs, r.lost, r.untold)
	}
	if kept := len(run.rig.feeding.jobs) + len(run.rig.feeding.made); kept != 0 {
		t.Errorf("%d times are kept that only a scenario's delays are computed from", kept)
	}
	if unfed := run.rig.unfed.Load(); unfed == 0 || r.jobs+unfed != int64(len(run.records)) {
		t.Errorf("enqueued %d, never %d, of %d", r.jobs, unfed, len(run.records))
	}
}

// TestAccounts judges runs one by one: a job too many in one is not one that another lost.
func TestAccounts(t *testing.T) {
	var a account
	for _, tt := range []struct{ unresolved, left, duplicates int64 }{{5, 3, 4}, {5, 7, 3}} {
		run := account{duplicates: tt.duplicates}
		run.reconcile(tt.unresolved, tt.left)
		a.add(run)
	}
	if a.lost != 2 || a.untold != 2 || a.duplicates != 7 {
		t.Errorf("lost %d, untold %d, duplicates %d, want 2, 2 and 7", a.lost, a.untold, a.duplicates)
	}
	s := &session{console: &ui.Console{}, flags: &runFlags{}, jobs: account{jobs: 5, untold: 2}}
	if err := s.settle(ui.ExitMet, nil); err != nil {
		t.Errorf("more jobs than were told of: %v", err)
	}
	s.jobs = account{}
	if err := s.settle(ui.ExitMet, nil); err != nil {
		t.Errorf("no job came: %v", err)
	}
	var f *ui.Failure
	if err := s.settle(ui.ExitMet, context.Canceled); !errors.As(err, &f) || f.Exit != ui.ExitInterrupted || f.Err != nil {
		t.Errorf("interrupted: %v", err)
	}
}

// TestMeasureAll reports what was measured also after an interrupt, but not after an error, and counts lost jobs whatever
// else went wrong, of which nothing is dropped.
func TestMeasureAll(t *testing.T) {
	broken, full := ui.Fail(ui.ExitIO, errors.New("the store broke")), ui.Fail(ui.ExitIO, errors.New("the disk is full"))
	for _, tt := range []struct {
		name               string
		measured, reported error
		lost               int64
		exit               ui.Exit // want
		reports            bool
		says               string
	}{
		{"missed", nil, nil, 0, ui.ExitMissed, true, ""},
		{"not written", nil, full, 0, ui.ExitIO, true, "the disk is full"},
		{"failed", broken, nil, 0, ui.ExitIO, false, "the store broke"},
		{"interrupted", context.Canceled, nil, 0, ui.ExitInterrupted, true, ""},
		{"interrupted and not written", context.Canceled, full, 0, ui.ExitInterrupted, true, "the disk is full"},
		{"interrupted and not read", context.Canceled, ui.Fail(ui.ExitIO, nil), 0, ui.ExitInterrupted, true, ""},
		{"lost", nil, nil, 2, ui.ExitInvariant, true, "2 jobs were lost"},
		{"failed and lost", broken, nil, 2, ui.ExitInvariant, false, "2 jobs were lost\nthe store broke"},
		{"interrupted and lost", context.Canceled, nil, 2, ui.ExitInvariant, true, "2 jobs were lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &session{console: &ui.Console{}, flags: &runFlags{}, jobs: account{jobs: 5, lost: tt.lost}}
			reports := false
			err := s.measureAll([]*candidate{{store: memory}}, 1, func(int, *candidate) error { return tt.measured },
				func() (ui.Exit, error) { reports = true; return ui.ExitMissed, tt.reported })
			var f *ui.Failure
			if !errors.As(err, &f) || f.Exit != tt.exit || reports != tt.reports {
				t.Fatalf("got %#v, reported: %v; want exit %d, %v", err, reports, tt.exit, tt.reports)
			}
			if f.Err == nil && tt.says != "" || f.Err != nil && f.Err.Error() != tt.says {
				t.Errorf("got %v, want %q", f.Err, tt.says)
			}
		})
	}
}

// TestPlanStops: drawing the arrivals of a load ends early when its context is canceled.
func TestPlanStops(t *testing.T) {
	l := smallLoad(0)
	l.rate, l.lasts = perSecond(1_000_000), scenarios.Duration(40*time.Second)
	wall := openWall(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&loadRun{load: l, rig: newRig(wall, nil)}).plan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestCloseReports closes rigs: it reports the schema that could not be dropped, also after another error, which stays,
// and after an interrupt.
func TestCloseReports(t *testing.T) {
	l := smallLoad(0)
	l.rate, l.lasts = perSecond(1000), scenarios.Duration(time.Second)
	lost, left := errors.New("commit: store unavailable"), errors.New("drop schema qbench_1 by hand")
	for _, tt := range []struct {
		run, drop error
		want      string
	}{
		{nil, nil, ""}, {lost, nil, lost.Error()}, {nil, left, left.Error()}, {lost, left, lost.Error() + "\n" + left.Error()},
	} {
		r, err, got := newRig(openWall(t, l), nil), tt.run, ""
		r.drop = func() error { return tt.drop }
		if r.close(&err); err != nil {
			got = err.Error()
		}
		if got != tt.want || tt.run != nil && !errors.Is(err, lost) {
			t.Errorf("after %v and %v: %q, want %q", tt.run, tt.drop, got, tt.want)
		}
	}
	for _, drop := range []error{nil, left} { // after an interrupt the rest of the command says it
		r, err := newRig(openWall(t, l), nil), error(context.Canceled)
		r.drop = func() error { return drop }
		r.close(&err)
		err = failed("fifo", postgres, fmt.Errorf("calibrate: %w", err))
		var f *ui.Failure
		err = (&session{console: &ui.Console{}, flags: &runFlags{}}).settle(ui.ExitMet, err)
		if !errors.As(err, &f) || f.Exit != ui.ExitInterrupted || (f.Err == nil) != (drop == nil) || drop != nil && f.Error() != drop.Error() {
			t.Errorf("interrupted, and %v: the command ends with %v", drop, err)
		}
	}
}
