package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
	faults "qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/policies"
)

// execution is one execution of the script: how long it runs and how it ends.
type execution struct {
	runs time.Duration
	err  engine.ErrorKind
	deaf bool // goes on when it is told to stop
}

// scripted is one job of the script.
type scripted struct {
	at   time.Duration // time of its enqueue
	job  engine.NewJob
	runs []execution // executions by delivery; later ones are like the last
}

const (
	ms    = time.Millisecond
	other = engine.FirstErrorKind
)

// schedule has every path through the life of a job. Times are primes of milliseconds or so, since
// events at one instant have no fixed order on the wall clock.
var schedule = []scripted{
	{at: 11 * ms, job: engine.NewJob{ID: 1}, runs: []execution{{runs: 37 * ms}}},
	{at: 11 * ms, job: engine.NewJob{ID: 2}, runs: []execution{{runs: 53500 * time.Microsecond, err: other}, {runs: 29 * ms}}},                              // fails once
	{at: 13 * ms, job: engine.NewJob{ID: 3, Kind: 1}, runs: []execution{{runs: 10 * time.Second}, {runs: 31 * ms}}},                                         // times out, and listens
	{at: 17 * ms, job: engine.NewJob{ID: 4, Kind: 1}, runs: []execution{{runs: 1709 * ms, deaf: true}, {runs: 41 * ms}}},                                    // times out, and does not
	{at: 19 * ms, job: engine.NewJob{ID: 5, Delay: 1103 * ms}, runs: []execution{{runs: 23 * ms}}},                                                          // is scheduled
	{at: 23 * ms, job: engine.NewJob{ID: 6, Tenant: 3, Priority: -1}, runs: []execution{{runs: 7 * ms, err: other}}},                                        // fails to the end
	{at: 29 * ms, job: engine.NewJob{ID: 7, Tenant: 4}, runs: []execution{{runs: 7 * ms, err: engine.Throttled}, {runs: 3 * ms}}},                           // costs nothing the first time
	{at: 31 * ms, job: engine.NewJob{ID: 8, Priority: 5}, runs: []execution{{runs: 5 * ms}}},                                                                // waits for a worker
	{at: 37 * ms, job: engine.NewJob{ID: 9, Priority: 5}, runs: []execution{{runs: 43 * ms, err: engine.Canceled}, {runs: 5 * ms}}},                         // hands itself back
	{at: 7127 * ms, job: engine.NewJob{ID: 10}, runs: []execution{{runs: 4001 * ms}, {runs: 61 * ms}}},                                                      // loses its lease, and listens
	{at: 7129 * ms, job: engine.NewJob{ID: 11}, runs: []execution{{runs: 4003 * ms, deaf: true}, {runs: 67 * ms}}},                                          // loses its lease, and does not
	{at: 16127 * ms, job: engine.NewJob{ID: 12, Payload: []byte("last")}, runs: []execution{{runs: 71 * ms, err: other}, {runs: 1, err: other}, {runs: 1}}}, // after it all
}

func (s *scripted) run(delivery int32) execution { return s.runs[min(int(delivery), len(s.runs))-1] }

// cutOff is when no lease is extended.
var cutOff = faults.Window{From: engine.Time(7 * time.Second), For: 2 * time.Second}

const scheduleEnds = 20 * time.Second

// scriptEngine is the engine of both worlds.
func scriptEngine() engine.Config {
	c := live.Defaults(4, &policies.Backoff{Kind: policies.Exponential, First: 211 * ms, Factor: 2, Jitter: policies.Jitter{Kind: policies.Full},
		MaxAttempts: 3, Free: []engine.ErrorKind{engine.Throttled}, FreeMax: 1})
	c.Lease = engine.LeaseConfig{TTL: 1009 * ms, Heartbeat: 307 * ms}
	c.Reaper.Every = 503 * ms
	c.Fetch.Prefetch, c.Fetch.Poll = 1, 97*ms
	c.Commit.Linger = 2 * ms
	c.Kinds = append(c.Kinds, engine.KindConfig{Retry: c.Kinds[0].Retry, Timeout: 601 * ms})
	c.Rand = keyed.Rand{Seed: 7}
	return c
}

// TestSameAsSimulation runs the schedule in a simulation and on the wall clock: every job passes
// through the same states at the same times, at the store and in the engine.
func TestSameAsSimulation(t *testing.T) {
	want := simulate(t)
	var got string
	synctest.Test(t, func(t *testing.T) { got = perform(t) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("simulated (-) and live (+) differ:\n%s", diff)
	}
}

func simulate(t *testing.T) string {
	var recorded collected
	s := sim.New(sim.Config{
		Nodes:  []engine.Config{scriptEngine()},
		Policy: func(int32) engine.Policy { return policies.FIFO{} },
		Store: func(clock func() engine.Time) sim.Store {
			return memstore.NewSingle(clock, engine.StoreOptions{LapseAfter: -1})
		},
		Network:  &sim.Links{Faults: []faults.Fault{{Window: cutOff, Ops: [engine.NumOps]bool{engine.OpExtend: true}, Error: 1}}},
		Handlers: simulated{}, Workload: &arrivals{}, Recorder: driven{&recorded}, Until: engine.Time(scheduleEnds),
	})
	s.Run()
	return recorded.lives()
}

// arrivals is the schedule as a Workload.
type arrivals struct{ next int }

func (a *arrivals) Next(j *engine.NewJob) (engine.Time, bool) {
	if a.next == len(schedule) {
		return 0, false
	}
	s := &schedule[a.next]
	a.next++
	*j = s.job
	return engine.Time(s.at), true
}

// simulated are the script's executions as Handlers.
type simulated struct{}

func (simulated) Begin(_ engine.Time, _ int32, j *engine.Job) sim.Execution {
	x := schedule[j.ID-1].run(j.Delivery)
	return sim.Execution{Runs: x.runs, Error: x.err, IgnoresCancel: x.deaf}
}

func (simulated) End(engine.Time, int32, *engine.Job, engine.ErrorKind, bool) {}

// driven passes on the events that both drivers record: the one on the wall clock records no
// enqueues and due jobs.
type driven struct{ engine.Recorder }

func (d driven) Record(e *engine.Event) {
	if e.Kind != engine.Enqueued && e.Kind != engine.Promoted {
		d.Recorder.Record(e)
	}
}

func perform(t *testing.T) string {
	begin := time.Now()
	w := newWorld(engine.StoreOptions{})
	w.fault = func(op engine.Op, _ []engine.JobID) fault {
		return fault{refuse: op == engine.OpExtend && cutOff.Has(engine.Time(time.Since(begin)))}
	}
	var recorded collected
	s := start(t, w, live.Config{Engine: scriptEngine(), StopWithin: time.Minute,
		Recorder: func(int32) engine.Recorder { return &recorded },
		Handler: func(ctx context.Context, j *engine.Job) error {
			x := schedule[j.ID-1].run(j.Delivery)
			stop := ctx.Done()
			if x.deaf {
				stop = nil
			}
			select {
			case <-stop:
				return ctx.Err()
			case <-time.After(x.runs):
			}
			if x.err == engine.NoError {
				return nil
			}
			return &live.Error{Kind: x.err}
		}})
	for i := range schedule {
		time.Sleep(schedule[i].at - time.Since(begin))
		if err := w.Enqueue(t.Context(), []engine.NewJob{schedule[i].job}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(scheduleEnds - time.Since(begin))
	if err := s.end(); err != nil {
		t.Error(err)
	}
	return recorded.lives()
}
