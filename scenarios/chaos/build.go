package chaos

import (
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/scenarios"
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
}

// setup builds what w says. w must be valid.
func (w *World) setup() (*setup, error) {
	s := &setup{world: w, options: w.Store}
	node, err := w.node()
	if err != nil {
		return nil, err
	}
	links, err := w.links()
	if err != nil {
		return nil, err
	}
	load, err := w.arrivals()
	if err != nil {
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
	s.config = sim.Config{Policy: func(int32) engine.Policy { return w.mustPolicy() }, Network: links, Handlers: s.handlers, Workload: load,
		Wake: w.Wake, Restart: w.Restart, Rand: node.Rand, Parallel: w.Links.Parallel, CountRows: w.Links.PerRow > 0, Held: w.Store.Held,
		MakesRoom: w.MakesRoom, Until: engine.Time(w.Heal + w.Bound())}
	for range w.Nodes {
		s.config.Nodes = append(s.config.Nodes, node)
	}
	for i := range w.Faults {
		s.config.Controls = append(s.config.Controls, w.Faults[i].controls(w.Nodes, uint64(i), w.Heal)...)
	}
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
		d, err := engine.Constant(0)
		if mean > 0 {
			d, err = engine.Exponential(mean.Seconds())
		}
		if err != nil {
			return nil, err
		}
		l.OneWay[op] = d
		row := w.Links.PerRow
		l.Scan[op] = sim.RowCosts{Ready: row, Waiting: row, InFlight: row, Ended: row}
	}
	var err error
	if l.PerJob, err = engine.Constant(w.Links.PerJob.Seconds()); err != nil {
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
	r := check.Rules{Store: w.Store, Node: node, Nodes: w.Nodes, Retries: []check.Retry{scenarios.PromiseOfRetry(w.retryPolicy())},
		LostWaiting: w.Engine.Promoter.Gap > 0, LostInFlight: node.Lease.TTL == engine.Forever || node.Lease.OfNode || node.Lease.AckAtStart,
		Calm: engine.Time(w.Heal)}
	conserving := scenarios.PromiseOfPolicy(&r, policy)
	if w.Load.Keys > 0 && !w.has(Redrive) { // one that comes back comes out of its order
		r.Serial = w.serialKey
	}
	for i := range w.Faults {
		f := &w.Faults[i]
		r.Resets = r.Resets || f.Kind == Redrive && f.Reset
		if f.Duplicate > 0 {
			r.ShareDen = 0 // a claim that is executed twice brings what its node did not count
		}
	}
	if w.Links.Parallel > 0 || w.Links.PerRow > 0 {
		return r // calls may wait for long
	}
	trip := w.trip()
	if conserving && node.Promoter.Every == 0 && node.Commit.Backpressure == 0 {
		r.Idle = max(node.Fetch.Poll, node.Fetch.ErrorPause) + trip
	}
	r.Recover = w.recovery()
	if r.Idle > 0 && w.Load.Keys == 0 { // while a job is ready some worker makes headway
		f := w.effort()
		_, last := w.jobs()
		r.Wait = f.each*f.turns + w.lease() + w.leftovers() + max(0, last-w.Heal)
	}
	return r
}

// trip is the longest that a call takes that is not lost, with the time after which it is.
func (w *World) trip() time.Duration {
	d := w.Engine.CallTimeout
	for _, mean := range w.Links.Delay {
		d = max(d, 2*latest*mean)
	}
	return d + w.Engine.CallTimeout + w.Links.PerJob*time.Duration(w.Engine.Fetch.Batch+w.Engine.Commit.Batch)
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
	c := &w.Engine.Reaper
	if c.Off {
		return 0
	}
	jobs, _ := w.jobs()
	round := c.Every + w.trip() + c.Gap
	if c.Guard != engine.GuardStore {
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

// Bound is how long after w is healed every job has ended, at the latest: the attempts
// that they may have left, one after the other as far as they must be, with every pause
// and every recovery that an attempt may meet.
func (w *World) Bound() time.Duration {
	f := w.effort()
	bound := f.each*f.turns + f.rest*f.attempts
	if f.chained > 0 {
		bound = (f.each + f.rest) * f.chained
	}
	_, last := w.jobs()
	return bound + max(0, last-w.Heal) + w.leftovers() + w.lease() + 10*time.Minute
}

// skew is how far clocks are off at the most.
func (w *World) skew() (d time.Duration) {
	for i := range w.Faults {
		d += max(w.Faults[i].Offset, -w.Faults[i].Offset) * time.Duration(max(1, w.Faults[i].Times))
	}
	return d
}

// leftovers is how long what began in the troubles may last beyond them.
func (w *World) leftovers() (d time.Duration) {
	for i := range w.Faults {
		d += w.Faults[i].Extra + latest*w.Faults[i].Delay
	}
	return d
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

// standstill is how long at most no execution begins and no job ends, when all is healed,
// before one does, whatever a policy waits for.
func (w *World) standstill() time.Duration {
	_, last := w.jobs()
	return 2*w.patience() + last + 10*time.Minute
}
