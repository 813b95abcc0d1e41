package world

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios/spec"
)

// Bounds are upper bounds on the durations of jobs, calls and processes of a simulation once all storms are over. They
// are computed from the configuration, the jobs that arrive and the outcomes of their attempts, which follow from the
// seed. A checker of invariants reports a run that exceeds them.
type Bounds struct {
	*Setup
	Node    engine.Config // configuration of each node
	Nodes   int
	Heal    time.Duration // time at which all storms and their after-effects are over; ForEver: never
	Come    int           // number of jobs that arrive
	Loses   bool          // leases may be lost, and their jobs never recovered
	Enqueue time.Duration // longest delay of an enqueue

	last   time.Duration
	serial map[engine.JobID]uint32 // serial key by job; missing: the job has none
	keys   int                     // number of distinct serial keys

	mean, most      [engine.NumOps]time.Duration // by operation, mean and longest one-way delay of a call
	perJob          time.Duration                // longest additional delay for each job in a call
	congested       bool                         // calls may wait for each other, or for rows
	perRow          time.Duration
	poll            time.Duration     // longest pause before a poll
	every, first    time.Duration     // longest time between two promotions, and before the first
	retry           *policies.Backoff // retry policy of all classes, see Reckons
	service         time.Duration     // longest service time
	timeout         time.Duration     // execution timeout; 0: none
	free            int               // most attempts of a job in a row that cost nothing, see uncharged
	delays, touches bool              // a storm delays calls, or disturbs them in any way
	// undisturbed returns the run time and the outcome that an attempt has without storms.
	undisturbed func(id engine.JobID, delivery int32) (runs time.Duration, fails bool)
}

// ForEver stands for no bound: a duration at least as long counts as endless.
const ForEver = 1000 * time.Hour

// Bounds computes upper bounds on the durations of the simulation's jobs and calls once its storms are over.
func (s *Setup) Bounds() *Bounds {
	f := s.ofCalls()
	if !Reckons(s.Scenario) {
		f.Heal = ForEver
	}
	s.Jobs(func(at engine.Time, j engine.NewJob) bool {
		f.Come++
		f.last = max(f.last, time.Duration(at.Add(j.Delay)))
		if j.Serial != 0 {
			f.serial[j.ID] = j.Serial
		}
		return true
	})
	f.free = f.uncharged()
	return f
}

// ofCalls returns the Bounds that do not depend on which jobs arrive: those on calls and processes.
func (s *Setup) ofCalls() *Bounds {
	sc := s.Scenario
	e := &sc.Engine
	f := &Bounds{Setup: s, Node: s.Config.Nodes[0], Nodes: len(s.Config.Nodes), serial: map[engine.JobID]uint32{},
		Heal: min(time.Duration(lastStorm(sc)), ForEver)}
	for op, d := range delaysOf(&e.Store) {
		if d != nil {
			f.mean[op], f.most[op] = d.Average().Std(), longestDraw(d)
		}
	}
	f.perJob, f.Enqueue = longestDraw(&e.Store.PerJob), longestDraw(&e.Store.Enqueue)
	f.perRow, f.congested = e.Store.Scan.Claim.Ready.Std(), e.Store.Parallel > 0 || e.Store.Scan != spec.Scan{}
	f.poll = longestDraw(&e.Fetch.Poll)
	if e.Promoter.On() {
		f.every, f.first = longestDraw(&e.Promoter.Every), longestDraw(e.Promoter.First)
	}
	for i := range sc.Jobs { // all alike, see Reckons, or the last is as good as any
		f.retry, f.timeout = s.Retry(i), sc.TimeoutOf(i)
		f.service = max(f.service, longestDraw(&sc.Jobs[i].Service))
		if sc.Jobs[i].Serial != nil {
			f.keys += int(sc.Jobs[i].Serial.Keys)
		}
	}
	for i := range sc.Storms {
		x := sc.Storms[i].Effect()
		f.touches = f.touches || x.Fault != nil || x.Store > 0
		f.delays = f.delays || x.Fault != nil && x.Fault.Partial == 0 || x.Store > 0
	}
	held := sc.Does(fault.StallStore) || sc.Does(fault.LimitStore)
	f.touches, f.delays = f.touches || held, f.delays || held
	f.Loses = sc.Does(fault.LoseLeases) && !s.Options.Orphans
	calm := newHandlers(withoutStorms(sc), keyed.Rand{Seed: s.seed})
	f.undisturbed = func(id engine.JobID, delivery int32) (time.Duration, bool) {
		class, _ := spec.Arrival(id)
		j := &engine.Job{ID: id, Kind: engine.Kind(class), Delivery: delivery}
		x := calm.Begin(0, 0, j)
		calm.End(0, 0, j, x.Error, true)
		return x.Runs, x.Error != engine.NoError || f.timeout > 0 && x.Runs >= f.timeout
	}
	return f
}

// Rules returns the invariants that a checker verifies in the simulation: those of any scenario, and those that hold
// once the storms and their effects are over.
func (b *Bounds) Rules() check.Rules {
	r := b.world.promises(keyed.Rand{Seed: b.seed})
	if b.Heal >= ForEver {
		return r
	}
	if r.Calm = engine.Time(b.Heal); b.congested {
		return r // calls may wait for long
	}
	b.calm(&r)
	c := &b.Node.Commit
	if r.Conserving && c.Backpressure == 0 && b.Config.Wake != sim.WakeNone && !b.Config.SilentDue {
		if r.Soon.Claim = 2 * b.callTrip(engine.OpClaim, b.Node.Fetch.Batch); b.touches {
			r.Soon.From = r.Calm.Add(r.Idle)
		}
		r.Soon.AllClaim = b.Config.Wake == sim.WakeAll || b.Nodes == 1
	}
	reaper := &b.Node.Reaper
	exact := reaper.Every == 0 && reaper.Guard == engine.FenceDefault && !b.Options.Held
	if look := b.callTrip(engine.OpRecover, reaper.Batch); exact && look < b.Node.CallTimeout {
		if b.delays { // a poll may have been lost
			r.Soon.Looked = b.Node.Lease.TTL + reaper.Grace + b.Config.Restart + 2*b.trip()
		}
		r.Soon.Recover = reaper.Grace + look*time.Duration(2+b.Come/max(1, reaper.Batch))
		if reaper.LeaderOnly {
			r.Soon.Recover += b.Node.Leader.TTL + b.Node.Leader.Renew + b.trip()
		}
	}
	if r.Idle > 0 && b.keys == 0 && !b.Options.Held { // while a job is ready some worker makes progress
		r.Wait = ForEver // until Deadline bounds it
	}
	return r
}

// calm adds the invariants of calls and processes to r that hold once the storms are over, whichever jobs arrive.
func (b *Bounds) calm(r *check.Rules) {
	r.Calm, r.Trip, r.Way, r.Heard = engine.Time(b.Heal), b.trip(), b.way(), 1 // no call is ever delayed
	if b.delays {
		r.Heard = max(1, r.Calm)
	}
	if r.Conserving {
		r.Idle = b.idle()
		r.Between, r.Awaits = b.looking()
	}
	c, p := &b.Node.Commit, &b.Node.Promoter
	r.Commits = c.Linger + 2*c.Timeout + 100*time.Millisecond + 2*b.trip() + b.pauses()
	r.CommitEach = max(16*b.mean[engine.OpCommit], 2*b.mean[engine.OpCommit]+b.perJob)
	if !b.touches {
		r.HandBack = c.Linger + 2*c.Timeout + time.Duration(8*(b.Node.Workers+b.Node.Fetch.Prefetch))*b.mean[engine.OpCommit]
	}
	r.Promote = max(p.Every, b.every) + b.first + p.Gap + b.Config.Restart + b.trip()
	if p.Order == engine.NewestReady && (b.Come == 0 || p.Batch < b.Come) {
		r.Promote = 0 // the oldest waiting job may wait for ever behind newer ones
	}
	r.Recover, r.RecoverEach = b.recovery(0), b.round()
	if c := &b.Node.Reaper; c.Every == 0 && !c.Off { // see round: no answer is lost any more, at most one before counts
		next := b.Node.Lease.TTL + c.Grace
		r.Recover, r.RecoverEach = r.Recover-next*plain.Either[time.Duration](b.delays, 1, 2), r.RecoverEach-next
	}
}

// way returns an upper bound on the round trip of a store call whose answer arrives; trip, one that also holds for a
// call that is lost and times out.
func (b *Bounds) way() time.Duration {
	return 2*slices.Max(b.most[:]) + b.perJob*time.Duration(b.Node.Fetch.Batch+b.Node.Commit.Batch)
}

func (b *Bounds) trip() time.Duration { return max(b.way(), b.Node.CallTimeout) + b.Node.CallTimeout }

// callTrip returns an upper bound on the round trip of one store call, of an operation, for the given number of jobs.
func (b *Bounds) callTrip(op engine.Op, jobs int) time.Duration {
	return 2*b.most[op] + b.perJob*time.Duration(jobs) + time.Millisecond
}

func (b *Bounds) pauses() (d time.Duration) {
	for _, pause := range b.Node.Commit.Backoff {
		d += pause
	}
	return d
}

// idle returns an upper bound on the time for which a worker stays idle, after the storms, while a job is ready.
func (b *Bounds) idle() time.Duration {
	d := max(b.poll, b.Node.Fetch.ErrorPause) + b.trip()
	if b.Node.Commit.Backpressure > 0 { // until the outcomes pending, and those of running jobs, are committed
		c, held := &b.Node.Commit, 1+b.Node.Commit.Backpressure+b.Node.Workers+b.Node.Fetch.Prefetch
		if b.Come > 0 { // it is known how many jobs arrive
			held = min(held, b.Come)
		}
		d += c.Linger + 4*c.Timeout + b.pauses() + time.Duration(8*held)*b.mean[engine.OpCommit]
	}
	return d
}

// looking returns an upper bound on the mean time until a free worker gets its next job while jobs are ready: the time
// of all the claims, one after the other, that fill every worker of a node. commits is the time for which these claims
// await commits where backpressure stops claims.
func (b *Bounds) looking() (between, commits time.Duration) {
	e, c := &b.Node, &b.Node.Commit
	claims := time.Duration(1 + (e.Workers+e.Fetch.Batch-1)/e.Fetch.Batch)
	between = max(1, claims*(16*b.mean[engine.OpClaim]+b.perJob*time.Duration(e.Fetch.Batch))) // 0: no bound
	if c.Backpressure == 0 {
		return between, 0
	}
	// A claim awaits all outcomes above the limit, at most one for each job that the node holds. Besides, every worker
	// idles for at most the time in which all pending outcomes are committed, while as many executions as these ended.
	call := min(16*b.mean[engine.OpCommit], 4*b.most[engine.OpCommit]) + b.perJob*time.Duration(c.Batch)
	atOnce := c.Batch * c.Calls
	each := c.Linger + call*time.Duration(1+(e.Workers+e.Fetch.Prefetch)/atOnce)
	outcome := float64(c.Linger+call)/float64(c.Backpressure) + float64(call)/float64(atOnce)
	return between, min(claims*each, time.Duration(outcome*float64(e.Workers)))
}

// settleOutcome returns an upper bound on the time from the end of an execution until its outcome is committed.
func (b *Bounds) settleOutcome() time.Duration {
	return b.Node.Commit.Linger + 4*(b.Node.Commit.Timeout+b.trip()) + b.pauses()
}

// Rest returns how long a run must go on without work until no process holds leases or waits for answers any more.
func (b *Bounds) Rest() time.Duration {
	return b.Heal + b.Patience() + time.Duration(8*b.Come)*b.mean[engine.OpCommit]
}

// recovery returns an upper bound on the time from the expiry of a lease to the recovery of its job, with the given
// number of jobs in flight. It holds without faults, and if calls do not wait for each other.
func (b *Bounds) recovery(jobs int) time.Duration {
	c := &b.Node.Reaper
	if c.Off {
		return 0
	}
	return c.Grace + b.round()*time.Duration(2+jobs/max(1, c.Batch)) + b.Node.Leader.TTL + b.Node.Leader.Renew
}

// round returns an upper bound on the time from one call of a reaper to the next.
func (b *Bounds) round() time.Duration {
	c := &b.Node.Reaper
	round := c.Every + b.trip() + c.Gap
	if c.Guard != engine.FenceDefault {
		round += b.settleOutcome()
	}
	if c.Every == 0 { // the answer with the end of the next lease may have been lost
		round += b.Node.Lease.TTL + c.Grace
	}
	return round
}

// lease returns an upper bound on the duration of a lease that nobody extends any more, or 0 if leases never expire.
func (b *Bounds) lease() time.Duration {
	if l := &b.Node.Lease; l.TTL < ForEver {
		return max(l.TTL, l.Max)
	}
	return 0
}

// tries returns the most attempts of a job that the bounds assume: its limit, or 16 if that is above mostTries or
// missing, and those that cost nothing.
func (b *Bounds) tries() int {
	n := b.retry.MaxAttempts
	if !b.limits() {
		n = 16 // only attempts fail that exceed the execution timeout
	}
	if len(b.retry.Free) > 0 { // at most three of a job
		n += 3
	}
	return n + b.free
}

// abreast returns how many jobs run at once while enough are ready: one for each worker, unless a limit is lower.
func (b *Bounds) abreast(workers int) int {
	n := b.Nodes * workers
	for _, most := range append([]int{b.Options.MaxInFlight}, b.Options.MaxRunning...) {
		if most > 0 {
			n = min(n, most)
		}
	}
	return max(1, n)
}

// promotions returns an upper bound on the time to promote the given number of waiting (scheduled) jobs to ready.
func (b *Bounds) promotions(jobs int) time.Duration {
	p := &b.Node.Promoter
	if p.Every == 0 {
		return 0
	}
	return (max(p.Every, b.every) + b.first + p.Gap + b.trip()) * time.Duration(1+jobs/p.Batch)
}

// Patience returns an upper bound on the time without any event of a job, after the storms and while jobs are left: a
// run that is silent for longer is stuck.
func (b *Bounds) Patience() time.Duration {
	idle := b.recovery(b.Come) + 2*b.settleOutcome() + 3*b.trip() + b.retry.Max + b.poll + b.Node.Promoter.Every + b.every
	return 2*(idle+b.skew()+b.lease()) + time.Minute
}

// hesitates returns an upper bound on the time for which the policy may hold back ready jobs while workers are idle, as
// a circuit breaker does, if the given number of attempts fail: see bound.Promise.
func (b *Bounds) hesitates(fails int) time.Duration {
	if h := policies.Guarantees(b.Policy()).Hesitates; h != nil {
		return h(fails, b.Come)
	}
	return 0
}
