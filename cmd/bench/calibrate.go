package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// timings holds the delays measured in a real run: of store calls, of wakes of engines, of handlers that oversleep.
type timings struct {
	delays world.Delays
	jobs   int64                        // number of jobs measured
	took   [engine.NumOps]time.Duration // median duration of a call, by operation

	stalled, held, frozen float64 // shares of the time in which engines, the feeder, and the store were stalled

	coming, after [engine.NumOps]time.Duration // median durations of calls while jobs arrived, and afterwards
}

// spread holds the median and the p99 of some durations, in this order.
type spread [2]time.Duration

func spreadOf(samples []world.Sample) spread {
	lengths := plain.Map(samples, func(s world.Sample) time.Duration { return s.For })
	return spread{quantile(lengths, .5), quantile(lengths, .99)}
}

// String returns a spread, the median and the p99 of some durations, as text: 1.2ms (p99 3ms).
func (s spread) String() string {
	return seconds(s[0].Seconds()) + " (p99 " + seconds(s[1].Seconds()) + ")"
}

// overrun returns the mean time for which a worker stays busy beyond the run time of its handler.
func (t *timings) overrun() time.Duration {
	sum := plain.Sum(t.delays.Overrun, func(s world.Sample) int64 { return int64(s.For) })
	return time.Duration(sum) / time.Duration(max(1, len(t.delays.Overrun)))
}

// probe records the events of one engine and times its store calls: the call itself, the delay before it (from the
// engine's request) and after it (until the engine reads the answer). For each call, tell is called before Record.
type probe struct {
	track
	late    []world.Span // from each deadline (timer) of the engine until the engine handled it
	wakes   []wake       // wakes of the engine, in the order of time
	call    callSample   // latest call, from tell until Record
	samples [engine.NumOps][]callSample
}

// wake holds when an engine learnt that the store had announced ready jobs.
type wake struct {
	at     time.Duration
	node   int32 // number of the engine
	missed bool  // no engine had an idle worker when the store announced them
}

// callSample holds the times of one call to the store.
type callSample struct {
	start time.Duration // delay from the engine's request until the call begins
	took  time.Duration
	hop   time.Duration // delay from the answer until the engine reads it
	rows  int
	ended engine.Time
	woken bool // whether a wake caused it
}

// asked returns the time, on the run's clock, at which the engine requested the call.
func (s *callSample) asked() time.Duration { return s.began() - s.start }

// began returns the time, on the run's clock, at which the call to the store began.
func (s *callSample) began() time.Duration { return time.Duration(s.ended) - s.took }

// net returns the duration of the call without stalls of the store and without perJob for each job but the first.
func (s *callSample) net(stalls []world.Span, perJob time.Duration) time.Duration {
	took := s.took - within(stalls, s.began(), time.Duration(s.ended))
	return max(0, took-time.Duration(max(0, s.rows-1))*perJob)
}

// Record implements engine.Recorder: it stores an event and, if that is the end of a store call, the call's times.
func (p *probe) Record(e *engine.Event) {
	if e.Kind == engine.Called {
		s := p.call
		s.hop, s.rows = e.At.Sub(s.ended), int(e.Count)
		p.samples[e.Op] = append(p.samples[e.Op], s)
	}
	p.track.Record(e)
}

// tell stores the times of a store call until Record receives the engine's event of that call.
func (p *probe) tell(c *engine.Call, asked, began, ended engine.Time) {
	p.call = callSample{start: began.Sub(asked), took: ended.Sub(began), ended: ended, woken: c.Woken}
}

// calibrate measures the delays of the machine and the store in a real run with the scenario's arrivals and run times:
// first without storms and then, if there are any, in the longest one and after it, since a store is slower when jobs
// fail and while it recovers. lasts is the wall-clock time of each part; that of the storm may be shorter. No
// prediction uses the seed of this run.
func calibrate(ctx context.Context, sc *scenarios.Scenario, o playOptions, lasts time.Duration,
	stores *stores) (*timings, error) {
	o.seed += 1 << 40
	o.learns = true
	run, phases := calibration(sc, o.policy, o.speed, lasts)
	p, err := play(ctx, run, o, stores)
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	if len(p.timings.delays.Overrun) == 0 {
		return nil, ui.Fail(ui.ExitUsage, fmt.Errorf("calibrate: in %v at %v too few jobs come and end to measure "+
			"anything; raise --calibrate or the speed", lasts, o.speed))
	}
	p.timings.delays.Phases = phases
	return p.timings, nil
}

// calibration returns the scenario to run for a calibration, and the phase of sc that each part of it represents: calm,
// in the longest storm, or after it. No part is longer than lasts, on the wall clock.
func calibration(sc *scenarios.Scenario, policy int, speed world.Speed, lasts time.Duration) (*scenarios.Scenario,
	[]world.Phase) {
	part := speed.Virtual(lasts)
	phases := []world.Phase{{Measured: world.Span{For: lasts}, Steady: true}}
	storm, during := longestStorm(sc.Variant(policy))
	if storm == nil {
		return sc.Calm(policy, part), phases
	}
	storm.At, storm.For = scenarios.Duration(part), min(storm.For, scenarios.Duration(part))
	for _, next := range []world.Phase{ // the store clears up behind a storm for a while
		{From: during.From, Measured: world.Span{For: speed.Real(storm.For.Std())}},
		{From: during.From + during.For, Measured: world.Span{For: lasts / 2}},
		{From: during.From + during.For + part/2, Measured: world.Span{For: lasts / 2}, Steady: true},
	} {
		last := phases[len(phases)-1].Measured
		next.Measured.From = last.From + last.For
		phases = append(phases, next)
	}
	run := sc.Calm(policy, part+storm.For.Std()+part, *storm)
	run.Drain = scenarios.Duration(time.Second) // what comes after it is not used
	return run, phases
}

// longestStorm returns a copy, without repetitions, of the longest storm that starts at a fixed time, and the window of
// its first occurrence; nil if there is no such storm.
func longestStorm(sc *scenarios.Scenario) (longest *scenarios.Storm, during world.Span) {
	for _, s := range sc.Storms {
		if s.On == "" && s.For > 0 && (longest == nil || s.For > longest.For) {
			longest = &s
		}
	}
	if longest != nil {
		longest.Repeat = nil
		windows := world.Windows(sc)
		w := windows[slices.IndexFunc(windows, func(w measure.Window) bool { return w.Name == longest.Name })]
		during = world.Span{From: w.From, For: w.To - w.From}
	}
	return longest, during
}

// learn computes the delays for a simulation from the recorded calls of engines and of the feeder in a real run;
// arrivals is the time at which jobs ceased to come. A call's duration, less stalls of the store and the cost of jobs
// beyond the first, is split evenly into request and reply.
func learn(rec *recording, asked map[attempt]time.Duration, perJob [engine.NumOps]time.Duration, f *feeding,
	speed world.Speed, arrivals time.Duration) *timings {
	t := &timings{delays: world.Delays{Speed: speed, PerJob: perJob}}
	d, probes := &t.delays, rec.probes
	for op := range t.took {
		var coming, after []time.Duration
		for _, p := range probes {
			for _, s := range p.samples[op] {
				if time.Duration(s.ended) <= arrivals {
					coming = append(coming, s.took)
				} else {
					after = append(after, s.took)
				}
			}
		}
		t.coming[op], t.after[op] = quantile(coming, .5), quantile(after, .5)
		t.took[op] = quantile(append(coming, after...), .5)
	}
	d.Stalls.Store = storeStalls(storeCalls(probes, f.made))
	seen := visibilityOf(rec.takings(f.jobs, d.Stalls.Store, perJob[engine.OpClaim]))
	held, enqueued := f.arrivals(seen)
	d.Enqueued = enqueued
	d.Stalls.Arrivals, d.Held = heldUp(held)
	d.Stalls.Engines = plain.Map(probes, (*probe).stalls)
	d.Wake = wakes(probes, f.made, seen.after, &d.Stalls)
	for node, p := range probes {
		stalls := d.Stalls.Engines[node]
		for _, s := range p.late {
			d.Late = append(d.Late, world.Sample{At: s.From, For: s.For - within(stalls, s.From, s.From+s.For)})
		}
		d.Overrun = append(d.Overrun, p.overruns(asked, stalls)...)
		for op := range p.samples {
			for _, s := range p.samples[op] {
				net := s.net(d.Stalls.Store, perJob[op])
				d.Calls[op] = append(d.Calls[op], world.CallDelay{At: s.asked(), Request: unstalled(s.start) + net/2,
					Reply: net/2 + unstalled(s.hop)})
			}
		}
	}
	return t
}

// unstalled returns a delay between an engine and the store, or 0 if it counts as a stall: stalls are simulated apart.
func unstalled(d time.Duration) time.Duration {
	if d > stallFrom {
		return 0
	}
	return d
}

// wakes returns how long engines took to learn of new jobs: from when claims could find them (the end of their enqueue
// call plus after) until a wake, less stalls of the store and of the engine. Of the jobs since the previous wake the
// first counts; a wake without any, or a missed one, counts not at all. An enqueue call may end promptly after the wake
// for its jobs.
func wakes(probes []*probe, enqueues []world.Span, after time.Duration, stalls *world.Stalls) (all []world.Sample) {
	var woken []wake
	for _, p := range probes {
		woken = append(woken, p.wakes...)
	}
	slices.SortFunc(woken, func(a, b wake) int { return cmp.Compare(a.at, b.at) })
	found := plain.Map(enqueues, func(s world.Span) time.Duration { return max(s.From, s.From+s.For+after) })
	slices.Sort(found)
	for _, w := range woken {
		n, _ := slices.BinarySearch(found, w.at+promptly)
		if n > 0 && !w.missed {
			took := w.at - found[0] - within(stalls.Store, found[0], w.at) - within(stalls.Engines[w.node], found[0], w.at)
			all = append(all, world.Sample{At: found[0], For: max(0, took)})
		}
		found = found[n:]
	}
	return all
}

// attempt identifies one execution of a job.
type attempt struct {
	job      engine.JobID
	delivery int32
}

// overruns returns how much longer than its handler's drawn run time each execution kept its worker busy, less stalls
// of the engine; executions that were canceled, timed out or lost their lease are left out.
func (p *probe) overruns(asked map[attempt]time.Duration, stalls []world.Span) []world.Sample {
	var all []world.Sample
	for began, end := range p.executions {
		runs := asked[attempt{end.Job, end.Delivery}]
		switch end.Error {
		case engine.Canceled, engine.Timeout, engine.LeaseExpired:
			continue
		}
		if runs > 0 {
			due := time.Duration(began) + runs
			over := time.Duration(end.At) - due - within(stalls, due, time.Duration(end.At))
			all = append(all, world.Sample{At: due, For: over})
		}
	}
	return all
}

// quantile returns the quantile q, in [0, 1), of durations in any order; 0 for an empty list.
func quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// measureCosts measures by how much each further job of a claim or commit lengthens the call to an idle store, by
// operation. It acks all jobs that it enqueues.
func measureCosts(ctx context.Context, store engine.Store) (perJob [engine.NumOps]time.Duration, err error) {
	const (
		many  = 50
		times = 40
		ttl   = time.Minute
	)
	holder, seq, id := engine.NewEngineID(1<<20, 1), uint64(0), engine.JobID(1)<<40
	var claims, commits [2][]time.Duration
	for round := range times {
		for size, n := range [2]int{1, many} {
			if err := fill(ctx, store, id, n, nil); err != nil {
				return perJob, err
			}
			id += engine.JobID(n)
			began := time.Now()
			leases, _, err := store.Claim(ctx, holder,
				engine.Plan{Limit: n, Terms: []engine.Term{{Class: engine.AnyClass, Limit: n}}}, ttl, nil)
			claimed := time.Since(began)
			if err != nil {
				return perJob, storeError("claim", err)
			}
			outcomes := make([]engine.Outcome, len(leases))
			for i := range leases {
				outcomes[i] = engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Ack, Delivery: leases[i].Delivery}
			}
			seq++
			began = time.Now()
			_, err = store.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: holder, Seq: seq}, Settled: seq - 1,
				Outcomes: outcomes}, nil)
			committed := time.Since(began)
			if err != nil {
				return perJob, storeError("commit", err)
			}
			if round > 2 && len(leases) == n { // skip the first rounds, which fill caches
				claims[size], commits[size] = append(claims[size], claimed), append(commits[size], committed)
			}
		}
	}
	slope := func(of *[2][]time.Duration) time.Duration {
		return max(0, quantile(of[1], .5)-quantile(of[0], .5)) / (many - 1)
	}
	perJob[engine.OpClaim], perJob[engine.OpCommit] = slope(&claims), slope(&commits)
	perJob[engine.OpRecover], perJob[engine.OpExtend] = perJob[engine.OpClaim], perJob[engine.OpCommit]
	return perJob, nil
}
