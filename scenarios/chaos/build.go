package chaos

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/dist"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/scenarios/world"
)

// setup is a world that is ready to run. A test may plant a bug in it: what the engines
// and the store are given, while rules stay what they should do.
type setup struct {
	world    *World
	config   sim.Config
	options  engine.StoreOptions // of the store
	rules    check.Rules
	handlers *handlers
	memory   *memstore.Store                             // once the run has started
	wrap     func(*memstore.Store) sim.Store             // what the simulation has for it; nil: the store as it is
	clock    func(func() engine.Time) func() engine.Time // of the store; nil: as it is
	still    still
	waits    func(time.Duration) // is told, when all is healed, how long a job may be ready for; nil: nobody asks
	due      engine.Time         // when every job must have ended; 0: it is not healed yet

	load   *arrivals
	links  *sim.Links
	faults []int                            // by index of a control: the fault that it comes of
	came   []int64                          // by index of a fault: how often it came as a control, and met with something
	stops  func(node int32, at engine.Time) // is told of processes that are told to stop; nil: nobody asks
}

// setup builds what w says. w must be valid.
func (w *World) setup() (*setup, error) {
	s := &setup{world: w, options: w.Store}
	node, err := w.node()
	if err != nil {
		return nil, err
	}
	if s.links, err = w.links(); err != nil {
		return nil, err
	}
	if s.load, err = w.arrivals(); err != nil {
		return nil, err
	}
	if s.handlers, err = w.handlers(); err != nil {
		return nil, err
	}
	policy, err := w.newPolicy()
	if err != nil {
		return nil, err
	}
	s.rules = w.rules(node, policy)
	s.config = sim.Config{Policy: func(int32) engine.Policy { return w.mustPolicy() }, Network: s.links, Handlers: s.handlers, Workload: s.load,
		Wake: w.Wake, Restart: w.Restart, Rand: node.Rand, Parallel: w.Links.Parallel, CountRows: w.Links.PerRow > 0, Held: w.Store.Held,
		MakesRoom: w.MakesRoom, Until: engine.Time(w.Heal + w.Bound())}
	for range w.Nodes {
		s.config.Nodes = append(s.config.Nodes, node)
	}
	s.came = make([]int64, len(w.Faults))
	for i := range w.Faults {
		controls := w.Faults[i].controls(w.Nodes, uint64(i), w.Heal)
		s.config.Controls = append(s.config.Controls, controls...)
		for range controls {
			s.faults = append(s.faults, i)
		}
	}
	s.config.Befell = s.befell
	if late := w.Links.Enqueue; late > 0 {
		s.config.EnqueueDelay = func(j *engine.NewJob) time.Duration { return late * time.Duration(j.ID%3) }
	}
	s.config.Store = func(clock func() engine.Time) sim.Store {
		if s.clock != nil {
			clock = s.clock(clock)
		}
		s.memory = memstore.NewSingle(clock, s.options)
		if s.wrap != nil {
			return s.wrap(s.memory)
		}
		return s.memory
	}
	return s, nil
}

// befell counts a trouble that made a difference.
func (s *setup) befell(control int, node int32, at engine.Time) {
	i := s.faults[control]
	s.came[i]++
	if s.world.Faults[i].Kind == Stop && s.stops != nil {
		s.stops(node, at)
	}
}

// troubles are how many of the troubles of a world made a difference, by kind: one that
// comes at intervals as often as it did, one that lies in wait for calls, for executions or
// for jobs once, if it met with any.
func (s *setup) troubles() (n [numFaultKinds]int64) {
	calls, slows := 0, 0
	met := func(counts []int64, at int) int64 {
		if at < len(counts) && counts[at] > 0 {
			return 1
		}
		return 0
	}
	for i := range s.world.Faults {
		switch f := &s.world.Faults[i]; {
		case f.Kind.isControl():
			n[f.Kind] += s.came[i]
		case f.Kind == Calls:
			n[f.Kind] += met(s.links.Met, calls)
			calls++
		case f.Kind == SlowStore:
			n[f.Kind] += met(s.links.Slowed, slows)
			slows++
		case f.Kind == Burst:
			n[f.Kind] += int64(s.load.came[f])
		default:
			n[f.Kind] += met(s.handlers.met, i)
		}
	}
	return n
}

func (w *World) mustPolicy() engine.Policy {
	p, err := w.newPolicy()
	if err != nil {
		panic("chaos: " + err.Error()) // it was made before
	}
	return p
}

func (w *World) links() (*sim.Links, error) {
	l := &sim.Links{Rand: engine.Rand{Seed: w.Seed}}
	for op, mean := range w.Links.Delay {
		d, err := dist.Constant(0)
		if mean > 0 {
			d, err = dist.Exponential(mean.Seconds())
		}
		if err != nil {
			return nil, err
		}
		l.OneWay[op] = d
		row := w.Links.PerRow
		l.Scan[op] = sim.RowCosts{Ready: row, Waiting: row, InFlight: row, Ended: row}
	}
	var err error
	if l.PerJob, err = dist.Constant(w.Links.PerJob.Seconds()); err != nil {
		return nil, err
	}
	for i := range w.Faults {
		switch f := &w.Faults[i]; f.Kind {
		case Calls:
			c, err := f.call()
			if err != nil {
				return nil, err
			}
			l.Faults = append(l.Faults, c)
		case SlowStore:
			l.Slows = append(l.Slows, sim.Slow{Window: f.window(), Factor: f.Factor})
		}
	}
	return l, nil
}

// rules are what a run of w promises.
func (w *World) rules(node engine.Config, policy engine.Policy) check.Rules {
	r := check.Rules{Store: w.Store, Node: node, Nodes: w.Nodes, Retries: []check.Retry{world.PromiseOfRetry(w.retryPolicy())},
		LostWaiting: w.Engine.Promoter.Gap > 0, LostInFlight: node.Lease.TTL == engine.Forever || node.Lease.OfNode || node.Lease.AckAtStart,
		Calm: engine.Time(w.Heal)}
	r.Conserving = world.PromiseOfPolicy(&r, policy)
	r.Heeds, r.Stalls = !w.Work.IgnoresCancel && !w.has(Hang), w.has(StallReaper)
	r.Priority = func(k engine.Kind) int16 { return w.job(engine.JobID(k), nil).Priority }
	r.Keyed = w.Load.Keys > 0
	if w.Load.Keys > 0 && !w.has(Redrive) { // one that comes back comes out of its order
		r.Serial = w.serialKey
	}
	for i := range w.Faults {
		f := &w.Faults[i]
		r.Resets = r.Resets || f.Kind == Redrive && f.Reset
		if f.Duplicate > 0 && f.Ops[engine.OpClaim] {
			r.ShareDen = 0 // a claim that is executed twice brings what its node did not count
		}
	}
	if w.Links.Parallel > 0 || w.Links.PerRow > 0 {
		return r // calls may wait for long
	}
	trip := w.trip()
	if r.Conserving {
		r.Idle = w.idle(trip)
		r.Between = w.looking()
	}
	r.Recover = w.recovery()
	r.Trip, r.Way = trip, w.way()
	r.Commits = node.Commit.Linger + 2*node.Commit.Timeout + 100*time.Millisecond + 2*trip
	for _, pause := range node.Commit.Backoff {
		r.Commits += pause
	}
	r.CommitEach = 16 * w.Links.Delay[engine.OpCommit]
	r.Promote = max(node.Promoter.Every, w.Drawn) + w.First + node.Promoter.Gap + w.Restart + trip
	r.Settled = engine.Time(w.Heal + w.leftovers() + trip)
	r.Heard = r.Settled
	if !slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.holdsUp() }) {
		r.Heard = 1 // never is any call held up
	}
	if !slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.Kind.ofCalls() }) {
		r.HandBack = node.Commit.Linger + 2*node.Commit.Timeout + time.Duration(8*(node.Workers+node.Fetch.Prefetch))*w.Links.Delay[engine.OpCommit]
	}
	if r.Idle > 0 && w.Load.Keys == 0 { // while a job is ready some worker makes headway
		r.Wait = w.Bound() // see deadline
	}
	return r
}

// trip is the longest that a call takes that is not lost, with the time after which it is.
func (w *World) trip() time.Duration {
	return max(w.way(), w.Engine.CallTimeout) + w.Engine.CallTimeout
}

// latest is how many means an exponential delay is at most: it is drawn from 53 bits, and
// 53 ln 2 is below 37.
const latest = 37

// settleOutcome is the longest from when an outcome is known to when the store has it.
func (w *World) settleOutcome() time.Duration {
	c := &w.Engine.Commit
	d := c.Linger + 4*(c.Timeout+w.trip())
	for _, pause := range c.Backoff {
		d += pause
	}
	return d
}

// recovery is the longest from the end of a lease to its recovery, when nothing goes
// wrong any more and no call waits for another.
func (w *World) recovery() time.Duration {
	jobs, _ := w.jobs()
	return w.recoveryOf(jobs)
}

// recoveryOf is the same where no more than that many jobs are in flight.
func (w *World) recoveryOf(jobs int) time.Duration {
	c := &w.Engine.Reaper
	if c.Off {
		return 0
	}
	round := c.Every + w.trip() + c.Gap
	if c.Guard != engine.FenceDefault {
		round += w.settleOutcome()
	}
	if c.Every == 0 {
		round += w.Engine.Lease.TTL + c.Grace
	}
	return c.Grace + round*time.Duration(2+jobs/max(1, c.Batch)) + w.Engine.Leader.TTL + w.Engine.Leader.Renew
}

// effort is what the jobs of a world may still need when it is healed, at the most.
type effort struct {
	each     time.Duration // from when a job may be claimed to when the store has its outcome, in the way of others
	rest     time.Duration // between two attempts, in nobody's way
	attempts time.Duration // of each job
	turns    time.Duration // attempts one after the other, of all jobs
	chained  time.Duration // the same, where jobs wait for each other with all their retries; 0: they do not
}

func (w *World) effort() effort {
	e := &w.Engine
	jobs, _ := w.jobs()
	attempts := w.Retry.Attempts
	if attempts == 0 {
		attempts = 16 // of attempts that fail only by running too long
	}
	if w.Retry.Free != engine.NoError {
		attempts += 3
	}
	each := w.Work.Cap + e.Fetch.Poll + max(0, e.Fetch.ErrorPause) + e.Fetch.Cooldown + 3*w.trip() + w.settleOutcome()
	if e.Promoter.Every > 0 {
		each += (max(e.Promoter.Every, w.Drawn) + w.First + e.Promoter.Gap + w.trip()) * time.Duration(1+jobs/e.Promoter.Batch)
	}
	rest := w.Retry.Max + w.lease() + w.skew()
	if w.Links.Parallel > 0 || w.Links.PerRow > 0 {
		each *= 2
		rest += time.Duration(jobs) * 8 * w.Links.PerRow * time.Duration(jobs)
	}
	abreast := w.Nodes * e.Workers
	for _, most := range append([]int{w.Store.MaxInFlight}, w.Store.MaxRunning...) {
		if most > 0 {
			abreast = min(abreast, most)
		}
	}
	f := effort{each: each, rest: rest, attempts: time.Duration(attempts), turns: time.Duration(attempts * (1 + jobs/max(1, abreast)))}
	if w.Load.Keys > 0 {
		f.chained = time.Duration(attempts * (1 + jobs/w.Load.Keys))
	}
	return f
}

// lease is the longest from the beginning of a lease to its recovery; 0: it may last for
// ever.
func (w *World) lease() time.Duration {
	if l := &w.Engine.Lease; l.TTL < longest {
		return max(l.TTL, l.Max) + w.recovery()
	}
	return 0
}

// Bound is how long after w is healed every job has ended whatever happened before: all
// attempts of all jobs, one after the other as far as they must be, with every pause and
// every recovery that an attempt may meet. A run goes by what is left then, see deadline.
func (w *World) Bound() time.Duration {
	f := w.effort()
	bound := f.each*f.turns + f.rest*f.attempts
	if f.chained > 0 {
		bound = (f.each + f.rest) * f.chained
	}
	_, last := w.jobs()
	return bound + max(0, last-w.Heal) + w.leftovers() + w.lease() + 10*time.Minute
}

// patience is the longest that nothing becomes of a job, when all is healed, of which
// something will become.
func (w *World) patience() time.Duration {
	d := w.recovery() + 2*w.settleOutcome() + 3*w.trip() + w.Retry.Max + w.Engine.Fetch.Poll + w.Engine.Promoter.Every + w.Drawn + w.leftovers() + w.skew()
	if w.Engine.Lease.TTL < longest {
		d += max(w.Engine.Lease.TTL, w.Engine.Lease.Max)
	}
	return 2*d + time.Minute
}
