package world

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// Wall provides a driver of a real store with one policy of a scenario under one seed, on the wall clock: the same
// arrivals, run times and failures, by the same draws, as in a simulation of that seed. Its methods take and return
// wall-clock times since the start of the run, which times the speed are scenario times. All methods except Next and
// Finish may be called from several goroutines.
type Wall struct {
	Nodes   int                 // number of engines to run
	Engine  engine.Config       // configuration of each engine, without its name, policy and recorder
	Options engine.StoreOptions // store options, without the count of rows that only a simulated claim needs
	Wake    spec.Wake           // which engines are woken when jobs become ready: one, all or none

	setup    *Setup
	speed    Speed
	workload *workload
	mutex    sync.Mutex // guards setup.handlers
}

// OnWallClock returns the Wall of a policy of sc, by its index, under a seed at a speed. The error names the keys of
// the scenario that only a simulation supports. The caller closes the Wall.
func OnWallClock(sc *scenarios.Scenario, policy int, seed uint64, speed Speed) (*Wall, error) {
	if err := fitsWallClock(sc.Variant(policy), policy, speed); err != nil {
		return nil, fmt.Errorf("policy %q: %w", sc.Policies[policy].Label, err)
	}
	s, err := Compile(sc, policy, seed)
	if err != nil {
		return nil, err
	}
	s.world.settings = settingsOf(Settings(sc), sc, policy)
	w := &Wall{Nodes: len(s.Config.Nodes), Engine: onWall(speed, s.Config.Nodes[0]), Options: onWall(speed, s.Options),
		Wake: s.Scenario.Engine.Fetch.Wake, setup: s, speed: speed, workload: s.Config.Workload.(*workload)}
	w.Options.CountAhead = false
	return w, nil
}

// Close closes the files of arrivals and returns the error in them, if any.
func (w *Wall) Close() error { return w.workload.Close() }

// Policy returns a new instance of the policy, for one engine.
func (w *Wall) Policy() engine.Policy {
	p := w.setup.Policy()
	return readsLike(&fastPolicy{Policy: p, speed: w.speed, rules: map[*engine.Rule]*engine.Rule{}}, p, w.speed)
}

// Length returns the times at which arrivals end and at which the run ends at the latest.
func (w *Wall) Length() (arrivals, all time.Duration) {
	return w.speed.Real(w.setup.Scenario.Duration.Std()), w.speed.Real(time.Duration(w.setup.Config.Until))
}

// Next returns the next job and the time to enqueue it; ok is false if there are no more.
func (w *Wall) Next() (at time.Duration, j engine.NewJob, ok bool) {
	when, ok := w.workload.Next(&j)
	if !ok {
		return 0, j, false
	}
	j.Delay = w.speed.Real(j.Delay)
	return w.speed.Real(time.Duration(when)), j, true
}

// Err returns the error in the files of arrivals, after which Next ended early.
func (w *Wall) Err() error { return w.workload.Err() }

// Attempt is the drawn run time and outcome of one execution, which hold if it is not interrupted. On the wall clock no
// execution kills its process; End decides the outcome of an undecided one.
type Attempt = sim.Execution

// Begin draws the run time and the outcome of an execution of j that begins now. The caller must call End when it ends.
func (w *Wall) Begin(now time.Duration, node int32, j *engine.Job) Attempt {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	x := w.setup.handlers.Begin(w.speed.At(engine.Time(now)), node, j)
	x.Runs = w.speed.Real(x.Runs)
	return x
}

// End records that execution a has ended: by itself or, if stopped is an error kind, by cancellation. It returns the
// error of the execution.
func (w *Wall) End(now time.Duration, node int32, j *engine.Job, a Attempt, stopped engine.ErrorKind) engine.ErrorKind {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	at, err := w.speed.At(engine.Time(now)), a.Error
	switch {
	case stopped != engine.NoError:
		err = stopped
	case a.Undecided:
		err = w.setup.handlers.Decide(at, node, j)
	}
	w.setup.handlers.End(at, node, j, err, false)
	return err
}

// Finish computes the measurements of a run that ended at end from its events, which may have any order: the same as a
// simulation has, in scenario time. It also counts the outcomes, those after the end included, when engines that are
// stopped hand back jobs.
func (w *Wall) Finish(events []engine.Event, end time.Duration) (measure.Run, Balance) {
	ordered, balance := reconcile(events, end, w.setup.Options)
	c := measure.NewCollector(&w.setup.world.settings, w.setup.world.index)
	var digest sim.Digest
	for i := range ordered {
		e := *ordered[i]
		e.At, e.Waited, e.Age = w.speed.At(e.At), w.speed.Virtual(e.Waited), w.speed.Virtual(e.Age)
		e.Delay, e.Ran = w.speed.Virtual(e.Delay), w.speed.Virtual(e.Ran)
		digest.Add(&e)
		c.Record(&e)
	}
	for i := range balance.unresolved {
		u := &balance.unresolved[i]
		u.Age, u.Waited = w.speed.Virtual(u.Age), w.speed.Virtual(u.Waited)
	}
	run := c.Finish(w.speed.At(engine.Time(end)), slices.Values(balance.unresolved))
	run.Seed, run.Fingerprint, run.Events = w.setup.seed, uint64(digest), int64(len(ordered))
	return run, balance
}

// fitsWallClock returns an error that names every key of sc, with the overrides of one policy, that only a simulation
// supports.
func fitsWallClock(sc *scenarios.Scenario, policy int, speed Speed) error {
	var problems []error
	refuse := func(key, why string) {
		problems = append(problems, fmt.Errorf("%s: %s", key, why))
	}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		at := "jobs." + job.Class + "."
		if job.Patience != nil {
			refuse(at+"patience", "callers that resubmit are simulated only")
		}
		if job.Kills.Num > 0 {
			refuse(at+"kills", "the process that it would kill is the one that measures")
		}
		if job.Silences.Num > 0 {
			refuse(at+"silences", "the network is real: its heartbeats cannot be lost at will")
		}
	}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		if why := s.Effect().Simulated; why != "" {
			refuse("storms."+s.Name+"."+s.Kind(), why)
		}
	}
	if p := &sc.Policies[policy]; p.Kind == "tenant-fair" && speed.Num != speed.Den {
		refuse("policies."+p.Label,
			"tenant-fair remembers minutes of the clock, which a speed does not change: run it at 1x")
	}
	if most := int(sc.Engine.Nodes) * int(sc.Engine.Workers); most > mostWallWorkers {
		refuse("engine.workers",
			fmt.Sprintf("%d workers of all nodes are too many for one process: at most %d", most, mostWallWorkers))
	}
	return errors.Join(problems...)
}

// mostWallWorkers is the highest number of concurrent sleeping handlers in one process.
const mostWallWorkers = 20_000
