package chaos

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/memstore"
	"qsim/engine/sim"
)

var (
	seedCount = flag.Uint64("seeds", 500, "how many seeds TestSwarm runs; with -race a tenth")
	firstSeed = flag.Uint64("first", 1, "the first of them")
)

// TestSwarm runs drawn worlds: none may fail, and many must test each invariant, event and kind of storm.
func TestSwarm(t *testing.T) {
	seeds := *seedCount
	if *long {
		seeds = max(seeds, 20_000)
	}
	result, err := Swarm(context.Background(), Options{First: *firstSeed, Seeds: max(1, seeds/slowdown)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Failures {
		t.Errorf("seed %d: %s\n%s%s", f.Drawn.Seed(), f.Report.String(), f.History, f.World.Text)
	}
	if t.Failed() || seeds/slowdown < 300 {
		return
	}
	for i := check.Conservation; i < check.NumInvariants; i++ {
		if least := int64(result.Seeds / leastHeld); result.Held[i] < least {
			t.Errorf("%v was held in %d of %d seeds, want %d", i, result.Held[i], result.Seeds, least)
		}
	}
	for p, n := range result.Parts {
		seeds := uint64(leastPart)
		switch check.Probe(p) {
		case check.HandBacks:
			seeds = leastHeld
		case check.Commits: // it takes commits that fail for as long as a lease lasts
			seeds = 5 * leastHeld
		}
		if least := int64(result.Seeds / seeds); n < least {
			t.Errorf("%v were held in %d of %d seeds, want %d", check.Probe(p), n, result.Seeds, least)
		}
	}
	if n, least := seedsWithShares(*firstSeed, result.Seeds), int(result.Seeds/leastHeld); n < least {
		t.Errorf("shares of fresh jobs were held in %d of %d seeds, want %d", n, result.Seeds, least)
	}
	for k := engine.Enqueued; k < engine.NumEventKinds; k++ {
		if result.Kinds[k] == 0 {
			t.Errorf("no %v in %d seeds", k, result.Seeds)
		}
	}
	kinds, came := result.FaultCounts()
	for i, kind := range kinds {
		if came[i] == 0 {
			t.Errorf("no %v in %d seeds", kind, result.Seeds)
		}
	}
	t.Logf("%d seeds, %d events, checks %v, in seeds %v, parts in seeds %v, troubles %v", result.Seeds, result.Events, result.Checks, result.Held, result.Parts, result.Faults)
}

// leastHeld is how often TestSwarm wants an invariant tested: in at least one of so many seeds.
const leastHeld = 50

// leastPart is leastHeld for a part of an invariant, a check.Probe.
const leastPart = 100

// seedsWithShares returns how many of the seeds draw a world in which the invariant check.Shares is tested.
func seedsWithShares(first, seeds uint64) (n int) {
	for seed := first; seed < first+seeds; seed++ {
		w := Draw(seed)
		if w.scenario.Policies[0].Kind != "weighted" {
			continue
		}
		if report := w.Run(check.Set(0).With(check.Shares), false); report.Checks[check.Shares] > 0 {
			n++
		}
	}
	return n
}

// TestBound checks that the time by which a run must end after its last storm is minutes: one of hours would find
// nothing.
func TestBound(t *testing.T) {
	var bounds, ends []time.Duration
	r := runner{}
	for seed := uint64(1); seed <= 150; seed++ {
		w := Draw(seed)
		report := r.once(w, true, nil)
		if report.deadline == 0 { // all had ended before
			continue
		}
		s, err := w.setup()
		if err != nil {
			t.Fatal(err)
		}
		bounds, ends = append(bounds, report.deadline.Sub(0)-s.Heal), append(ends, report.At.Sub(0)-s.Heal)
	}
	slices.Sort(bounds)
	slices.Sort(ends)
	if middle := bounds[len(bounds)/2]; len(bounds) < 50 || middle > 12*time.Minute {
		t.Errorf("of %d runs the half must end within %v, and did within %v", len(bounds), middle, ends[len(ends)/2])
	}
	w := with(t, base, few+"\nretry.max-attempts: 3")
	bounded := runner{only: check.Set(0).With(check.Liveness), plant: func(s *setup) {
		stuck := s.config.Policy
		s.config.Policy = func(node int32) engine.Policy { return sleepy{stuck(node)} }
	}}
	report := bounded.once(w, true, nil)
	if report.kind() != "I-18" || report.At.Sub(0) > 5*time.Minute {
		t.Errorf("a policy that sleeps for ten minutes: %s at %v", report.String(), report.At)
	}
}

// oblivious is a store in which a job is due since the beginning, of which its simulation is not told as jobs are added.
type oblivious struct {
	*memstore.Store
	added bool // the simulation asks next
}

func (o *oblivious) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	o.added = true
	return o.Store.Enqueue(ctx, jobs)
}

func (o *oblivious) NextDue() engine.Time {
	if o.added {
		o.added = false
		return engine.Never
	}
	return 0
}

// TestForgottenDue: a run ends, and breaks an invariant, although jobs are due for hours and the store has forgotten
// them.
func TestForgottenDue(t *testing.T) {
	r := runner{only: check.Set(0).With(check.Liveness), plant: func(s *setup) {
		s.config.Until = engine.Time(48 * time.Hour) // it would not end at all
		s.config.Policy = func(node int32) engine.Policy { return claimless{} }
		s.wrap = func(m *memstore.Store) sim.Store { return &oblivious{Store: m} }
	}}
	report := r.once(with(t, base, "jobs.a.delay: 10s\njobs.b.delay: 10s"), true, nil)
	if report.kind() != "I-18" || report.At > engine.Time(3*time.Hour) {
		t.Errorf("%s at %v", report.String(), report.At.Sub(0))
	}
}

// claimless is a policy that claims nothing.
type claimless struct{}

func (claimless) Plan(_ *engine.View, dst []engine.Term) []engine.Term { return dst }
func (claimless) Observe(*engine.Observation)                          {}

// sleepy is a policy that claims nothing for ten minutes.
type sleepy struct{ engine.Policy }

func (p sleepy) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now < engine.Time(10*time.Minute) {
		return dst
	}
	return p.Policy.Plan(v, dst)
}

// TestPatientPolicy: a circuit breaker that tries its dependency every two hours lets a job end hours after the outage.
func TestPatientPolicy(t *testing.T) {
	w := with(t, base, "drain: 100h\njobs.a.fails: {rate: 0%}\njobs.b.fails: {rate: 0%}\npolicies: [{kind: breaker, probe-after: 2h}]\n"+
		"storms: [{name: down, at: 1s, for: 10s, outage: {dependency: api}}]")
	if report := w.Run(0, false); report.Failed() || report.At < engine.Time(2*time.Hour) {
		t.Errorf("%s at %v", report.String(), report.At)
	}
}

// TestPatientRetries: a run lasts until its last retry, however many months that takes.
func TestPatientRetries(t *testing.T) {
	w := with(t, base, "drain: 100h\nretry: {backoff: {kind: fixed, delay: 600h}, jitter: none, max-attempts: 3}\n"+
		"engine.fetch.poll: 12h\nengine.reaper.every: 12h\njobs.a.fails: {rate: 60%}\njobs.b.fails: {rate: 60%}")
	if report := w.Run(0, false); report.Failed() || report.At < engine.Time(1200*time.Hour) {
		t.Errorf("%s at %v", report.String(), report.At)
	}
}

// TestTroublesThatMeetNothing checks that Report.Faults counts the storms that had an effect, not those drawn.
func TestTroublesThatMeetNothing(t *testing.T) {
	for storms, want := range map[string]int64{
		"{at: 1s, crash: {nodes: [0], restart-after: 200ms}, repeat: {every: 300ms, times: 3}}":              3,
		"{at: 30s, crash: {nodes: [0], restart-after: 1s}}":                                                  0, // all is over
		"{on: nacked, nth: 500, crash: {nodes: [0], restart-after: 1s}}":                                     0, // never
		"{at: 100ms, for: 200ms, pause: {nodes: [1]}}":                                                       1,
		"{at: 500ms, redrive: {share: 100%}}":                                                                0, // nobody is dead
		"{at: 0s, for: 10s, calls: {ops: [claim], lose-reply: 50%}}":                                         1,
		"{at: 0s, for: 10s, calls: {ops: [promote], lose-reply: 100%}}":                                      0, // nobody promotes
		"{at: 30s, for: 10s, calls: {ops: [claim], lose-reply: 100%}}":                                       0,
		"{at: 0s, for: 10s, store: {slow: 3}}":                                                               1,
		"{at: 0s, for: 10s, fail: {rate: 100%}}":                                                             1,
		"{at: 30s, for: 10s, fail: {rate: 100%}}":                                                            0,
		"{at: 0s, for: 10s, hang: {rate: 0%, extra: 1s}}":                                                    0,
		"{at: 0s, for: 10s, limit: {dependency: api, factor: 0.001}}":                                        1,
		"{at: 1s, burst: {class: a, count: 5}}":                                                              1,
		"{at: 1s, crash: {nodes: [0], restart-after: 5s}}, {at: 2s, crash: {nodes: [0], restart-after: 1s}}": 1, // it is down already
	} {
		named := strings.Replace(strings.Replace(storms, "{", "{name: x, ", 1), "}, {at", "}, {name: y, at", 1)
		report := with(t, base, few+"\nstorms: ["+named+"]").Run(0, false)
		got := int64(0)
		for _, n := range report.Faults {
			got += n
		}
		if report.Failed() || got != want {
			t.Errorf("%s: %d times, want %d; %s", storms, got, want, report.String())
		}
	}
}

// few are keys for with that make base a world of a few jobs, none of which fails.
const few = "jobs.a.arrivals.stop: 2s\njobs.b.arrivals.stop: 2s\njobs.a.fails.rate: 0%\njobs.b.fails.rate: 0%"

// TestSwarmIsTheSame checks that a swarm has the same result on one goroutine and on several.
func TestSwarmIsTheSame(t *testing.T) {
	var all []Result
	for _, parallel := range []int{1, 3} {
		r, err := Swarm(context.Background(), Options{First: 7, Seeds: 40, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r)
	}
	if all[0].Fingerprint != all[1].Fingerprint || all[0].Events != all[1].Events || all[0].Kinds != all[1].Kinds || all[0].Checks != all[1].Checks || all[0].Faults != all[1].Faults {
		t.Errorf("on one goroutine %+v, on three %+v", all[0], all[1])
	}
}
