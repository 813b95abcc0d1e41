package chaos

import (
	"context"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/memstore"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// facts are what the bounds of a world are computed from.
type facts struct {
	*world.Setup
	node  engine.Config
	nodes int
	heal  time.Duration // when all troubles are over, and what they leave behind; forEver: never

	jobs   int // that come
	last   time.Duration
	serial map[engine.JobID]uint32 // by job; none: it has no key
	keys   int                     // that jobs have

	mean, most      [engine.NumOps]time.Duration // of each way of a call
	perJob, enqueue time.Duration                // the longest
	congested       bool                         // calls may wait for each other, or for rows
	perRow          time.Duration
	every, first    time.Duration // between two promotions, and to the first, the longest
	attempts        int           // of a job; 0: no limit
	pause           time.Duration // between two of them, the longest
	service         time.Duration // the longest
	timeout         time.Duration
	free            bool // some failures cost no attempt, three at the most
	loses, redrives bool // leases may be lost for good, dead jobs come back
	delays, touches bool // a storm holds up calls, or does anything to them
	undisturbed     func(id engine.JobID, delivery int32) (runs time.Duration, fails bool)
}

// forEver stands for what never ends.
const forEver = 1000 * time.Hour

// longest is the longest that a draw from d can be.
func longest(d *scenarios.Distribution) time.Duration {
	if d == nil {
		return 0
	}
	return d.Dist().Duration(1 - 1.0/(1<<53))
}

func factsOf(s *world.Setup) *facts {
	sc := s.Scenario
	e := &sc.Engine
	f := &facts{Setup: s, node: s.Config.Nodes[0], nodes: len(s.Config.Nodes), serial: map[engine.JobID]uint32{}}
	if f.heal = min(time.Duration(s.Calm()), forEver); !reckons(sc) {
		f.heal = forEver
	}
	s.Jobs(func(at engine.Time, j engine.NewJob) bool {
		f.jobs++
		f.last = max(f.last, time.Duration(at.Add(j.Delay)))
		if j.Serial != 0 {
			f.serial[j.ID] = j.Serial
		}
		return true
	})
	for op, d := range [engine.NumOps]*scenarios.Distribution{engine.OpClaim: &e.Store.Claim, engine.OpCommit: &e.Store.Commit, engine.OpExtend: &e.Store.Extend,
		engine.OpRecover: &e.Store.Recover, engine.OpPromote: &e.Store.Promote, engine.OpLead: &e.Store.Extend, engine.OpStats: &e.Store.Stats} {
		if d != nil {
			f.mean[op], f.most[op] = d.Average().Std(), longest(d)
		}
	}
	f.perJob, f.enqueue = longest(&e.Store.PerJob), longest(&e.Store.Enqueue)
	f.perRow, f.congested = e.Store.Scan.Claim.Ready.Std(), e.Store.Parallel > 0 || e.Store.Scan != scenarios.Scan{}
	if e.Promoter.On() {
		f.every, f.first = longest(&e.Promoter.Every), longest(e.Promoter.First)
	}
	for i := range sc.Jobs {
		r := s.Retry(i)
		f.attempts, f.pause, f.free = r.MaxAttempts, r.Max, len(r.Free) > 0
		f.service = max(f.service, longest(&sc.Jobs[i].Service))
		f.timeout = sc.TimeoutOf(i)
		if sc.Jobs[i].Serial != nil {
			f.keys += int(sc.Jobs[i].Serial.Keys)
		}
	}
	for i := range sc.Storms {
		storm := &sc.Storms[i]
		f.loses = f.loses || storm.Leases != nil && !s.Options.Orphans
		f.redrives = f.redrives || storm.Redrive != nil
		f.touches = f.touches || storm.Calls != nil || storm.Heartbeats != nil || storm.Store != nil
		f.delays = f.delays || storm.Calls != nil || storm.Heartbeats != nil || storm.Store != nil && storm.Store.Partial == nil
	}
	calm := s.Undisturbed()
	f.undisturbed = func(id engine.JobID, delivery int32) (time.Duration, bool) {
		kind := engine.Kind(uint64(id)>>(scenarios.IndexBits+scenarios.CopyBits) - 1)
		x := calm(&engine.Job{ID: id, Kind: kind, Delivery: delivery})
		return x.Runs, x.Error != engine.NoError || f.timeout > 0 && x.Runs >= f.timeout
	}
	return f
}

// rules are what a run promises: beside what any scenario does, what holds when all is healed.
func (f *facts) rules() check.Rules {
	r := f.Rules()
	r.Calm = engine.Never
	r.Idle, r.Between, r.Recover, r.RecoverEach, r.Settled, r.Heard, r.Trip = 0, 0, 0, 0, 0, 0, 0
	if f.heal >= forEver {
		return r
	}
	r.Calm = engine.Time(f.heal)
	if f.congested {
		return r // calls may wait for long
	}
	c := &f.node.Commit
	if r.Conserving {
		r.Idle, r.Between = f.idle(), f.looking()
	}
	r.Recover = f.recovery(f.jobs)
	r.Trip, r.Way = f.trip(), f.way()
	r.Commits = c.Linger + 2*c.Timeout + 100*time.Millisecond + 2*f.trip() + f.pauses()
	r.CommitEach = 16 * f.mean[engine.OpCommit]
	r.Promote = max(f.node.Promoter.Every, f.every) + f.first + f.node.Promoter.Gap + f.Config.Restart + f.trip()
	if f.node.Promoter.Order == engine.NewestReady && f.node.Promoter.Batch < f.jobs {
		r.Promote = 0 // the oldest may wait for ever behind newer ones
	}
	r.Settled = max(1, engine.Time(f.heal+f.trip()))
	if r.Heard = r.Settled; !f.delays {
		r.Heard = 1 // never is any call held up
	}
	if !f.touches {
		r.HandBack = c.Linger + 2*c.Timeout + time.Duration(8*(f.node.Workers+f.node.Fetch.Prefetch))*f.mean[engine.OpCommit]
	}
	if r.Idle > 0 && f.keys == 0 && !f.Options.Held { // while a job is ready some worker makes headway
		r.Wait = f.bound() // see deadline
	}
	return r
}

// way is the longest that a call is on its way, there and back, and trip that with the time after which it counts as lost.
func (f *facts) way() (d time.Duration) {
	for _, most := range f.most {
		d = max(d, 2*most)
	}
	return d + f.perJob*time.Duration(f.node.Fetch.Batch+f.node.Commit.Batch)
}

func (f *facts) trip() time.Duration { return max(f.way(), f.node.CallTimeout) + f.node.CallTimeout }

func (f *facts) pauses() (d time.Duration) {
	for _, pause := range f.node.Commit.Backoff {
		d += pause
	}
	return d
}

// idle is the longest that a worker may be idle in calm while a job is ready.
func (f *facts) idle() time.Duration {
	d := max(f.node.Fetch.Poll, f.node.Fetch.ErrorPause) + f.trip()
	if f.node.Commit.Backpressure > 0 { // until what is not yet committed is
		d += f.settleOutcome() + time.Duration(8*f.jobs)*f.mean[engine.OpCommit]
	}
	return d
}

// looking is how long a worker that has ended a job looks for the next one while jobs are
// ready, on average at the most: one claim after the other brings a batch each.
func (f *facts) looking() time.Duration {
	e := &f.node
	claims := 1 + (e.Workers+e.Fetch.Batch-1)/e.Fetch.Batch
	return time.Duration(claims) * (16*f.mean[engine.OpClaim] + f.perJob*time.Duration(e.Fetch.Batch))
}

// settleOutcome is the longest from when an outcome is known to when the store has it.
func (f *facts) settleOutcome() time.Duration {
	return f.node.Commit.Linger + 4*(f.node.Commit.Timeout+f.trip()) + f.pauses()
}

// rest is the longest that a process holds anything when nothing is left to do.
func (f *facts) rest() time.Duration {
	return f.heal + f.patience() + time.Duration(8*f.jobs)*f.mean[engine.OpCommit]
}

// recovery is the longest from the end of a lease to its recovery, when nothing goes
// wrong any more, no call waits for another and no more than that many jobs are in flight.
func (f *facts) recovery(jobs int) time.Duration {
	c := &f.node.Reaper
	if c.Off {
		return 0
	}
	round := c.Every + f.trip() + c.Gap
	if c.Guard != engine.FenceDefault {
		round += f.settleOutcome()
	}
	if c.Every == 0 {
		round += f.node.Lease.TTL + c.Grace
	}
	return c.Grace + round*time.Duration(2+jobs/max(1, c.Batch)) + f.node.Leader.TTL + f.node.Leader.Renew
}

// lease is the longest from the beginning of a lease to its end; 0: it may last for ever.
func (f *facts) lease() time.Duration {
	if l := &f.node.Lease; l.TTL < forEver {
		return max(l.TTL, l.Max)
	}
	return 0
}

// tries is how many attempts a job has at most.
func (f *facts) tries() int {
	n := f.attempts
	if n <= 0 || n > 1000 {
		n = 16 // of attempts that fail only by running too long
	}
	if f.free {
		n += 3
	}
	return n
}

// abreast is how many jobs run at once when there are enough.
func (f *facts) abreast(workers int) int {
	n := f.nodes * workers
	for _, most := range append([]int{f.Options.MaxInFlight}, f.Options.MaxRunning...) {
		if most > 0 {
			n = min(n, most)
		}
	}
	return max(1, n)
}

// promotions is the time that so many jobs take to be promoted.
func (f *facts) promotions(jobs int) time.Duration {
	p := &f.node.Promoter
	if p.Every == 0 {
		return 0
	}
	return (max(p.Every, f.every) + f.first + p.Gap + f.trip()) * time.Duration(1+jobs/p.Batch)
}

// bound is how long after all is healed every job has ended whatever happened before: all
// attempts of all jobs, one after the other as far as they must be, with every pause and
// every recovery that an attempt may meet. A run goes by what is left then, see deadline.
func (f *facts) bound() time.Duration {
	e := &f.node
	each := f.service + e.Fetch.Poll + max(0, e.Fetch.ErrorPause) + e.Fetch.Cooldown + 3*f.trip() + f.settleOutcome() + f.promotions(f.jobs)
	rest := f.pause + f.Skew()
	if l := f.lease(); l > 0 {
		rest += l + f.recovery(f.jobs)
	}
	if f.congested {
		each *= 2
		rest += time.Duration(f.jobs) * 8 * f.perRow * time.Duration(f.jobs)
	}
	tries := f.tries()
	bound := each*time.Duration(tries*(1+f.jobs/f.abreast(e.Workers))) + rest*time.Duration(tries)
	if f.keys > 0 {
		bound = (each + rest) * time.Duration(tries*(1+f.jobs/f.keys))
	}
	return bound + max(0, f.last-f.heal) + rest + f.hesitates(tries*f.jobs) + 10*time.Minute
}

// patience is the longest that nothing becomes of a job, when all is healed, of which
// something will become.
func (f *facts) patience() time.Duration {
	return 2*(f.recovery(f.jobs)+2*f.settleOutcome()+3*f.trip()+f.pause+f.node.Fetch.Poll+f.node.Promoter.Every+f.every+f.Skew()+f.lease()) + time.Minute
}

// hesitates is how long a policy may let jobs wait for reasons of its own, if so many attempts fail.
func (f *facts) hesitates(fails int) time.Duration {
	switch f.Scenario.Policies[0].Kind {
	case "breaker": // a try every minute and a tenth, of which any failure brings the next, here and at another dependency
		return 66 * time.Second * time.Duration(2*fails+2)
	case "retry-budget", "aimd", "bernoulli":
		return 3 * time.Minute
	}
	return 0
}

// left is what the jobs need that have not ended when all is healed, at the most.
type left struct {
	jobs, inFlight int
	attempts       int           // of all
	fails          int           // of these
	runs           time.Duration // of all, one after the other
	chain          time.Duration // the attempts of one job, with all that lies between them; of one serial key, where jobs wait for each other
	keys           map[uint32]time.Duration
	delay          func(n int32) (shortest, longest time.Duration)
	step           time.Duration // between two attempts, beside their delay
}

// deadline is when every job has ended, at the latest, and waits how long a job may be ready for before it is claimed, where
// no worker is idle meanwhile. It is computed when all is healed, from the jobs that live then or are still to come and
// from how their attempts will go, which the seed knows.
func (f *facts) deadline(now engine.Time, store *memstore.Store) (end engine.Time, waits time.Duration) {
	l := &left{keys: make(map[uint32]time.Duration), delay: world.PromiseOfRetry(f.Retry(0)).Delay}
	var coming []engine.JobID
	f.Jobs(func(at engine.Time, j engine.NewJob) bool {
		if at > now.Add(-f.enqueue) {
			coming = append(coming, j.ID)
		}
		return true
	})
	l.jobs = len(coming)
	store.Each(func(u memstore.Unfinished) bool {
		l.jobs++
		if u.State == engine.InFlight {
			l.inFlight++
		}
		return true
	})
	e := &f.node
	l.step = e.Fetch.Poll + max(0, e.Fetch.ErrorPause) + e.Fetch.Cooldown + e.Commit.Linger + f.trip() + f.promotions(l.jobs)
	if f.congested {
		l.step *= 2
	}
	store.Each(func(u memstore.Unfinished) bool {
		f.need(l, u.Job, u.Delivery, u.Charged)
		return true
	})
	for _, id := range coming {
		f.need(l, id, 0, 0)
	}
	if f.redrives { // all that are dead may come back, and start over
		stats, err := store.Stats(context.Background(), 0)
		if err != nil {
			panic("chaos: " + err.Error())
		}
		tries := f.tries()
		l.jobs += stats.Dead
		l.attempts += stats.Dead * tries
		l.fails += stats.Dead * tries
		l.runs += time.Duration(stats.Dead*tries) * f.service
		l.chain += time.Duration(tries) * (f.service + f.pause + l.step)
	}
	return now.Add(f.drain(l)), f.drain(l) - l.chain + l.step
}

// need adds what a job needs after that many deliveries.
func (f *facts) need(l *left, id engine.JobID, delivery, charged int32) {
	most := f.tries()
	if f.attempts > 0 && f.attempts <= 1000 {
		most = max(1, most-int(charged))
	}
	chain := time.Duration(0)
	spare := 2          // attempts that come to nothing although they succeed: their lease is over, or was when all was healed
	if f.Options.Held { // a lease may end while its job waits in a process for its time, again and again
		spare = 6
	}
	for n := range most {
		runs, fails := f.undisturbed(id, delivery+int32(n)+1)
		_, delay := l.delay(delivery + int32(n) + 1)
		l.attempts++
		l.runs += runs
		chain += runs + delay + l.step
		if f.Options.Held {
			chain += l.step + f.node.Lease.TTL%forEver + f.node.Reaper.Every
		}
		if fails {
			l.fails++
		} else if spare--; spare < 0 {
			break
		}
	}
	if key := f.serial[id]; key != 0 {
		l.keys[key] += chain
		chain = l.keys[key]
	}
	l.chain = max(l.chain, chain)
}

// drain is how long all that is left takes at the most.
func (f *facts) drain(l *left) time.Duration {
	e := &f.node
	// What lies between two attempts holds a worker up only while it looks for the next one.
	each := e.Fetch.Poll + e.Fetch.Cooldown + e.Commit.Linger + f.perJob*time.Duration(e.Fetch.Batch+e.Commit.Batch) + f.perRow*time.Duration(2*l.jobs)
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		each += 2 * f.mean[op]
	}
	all := l.runs + each*time.Duration(l.attempts)
	turns := all / time.Duration(f.abreast(min(e.Workers, e.Fetch.Batch)))
	d := 2*turns + f.Skew() + 2*f.settleOutcome() + max(0, f.last-f.heal) + e.Leader.TTL + e.Leader.Renew
	d += f.hesitates(l.fails)
	if kind := f.Scenario.Policies[0].Kind; kind == "aimd" || kind == "separate" { // one retry after the other, at the least
		d += all
	}
	if f.lease() > 0 {
		// What is in flight may be nobody's any more, and so may be what a process has claimed
		// too far ahead.
		d += 2 * (f.lease() + f.recovery(l.inFlight+f.nodes*(e.Workers+e.Fetch.Prefetch)))
	}
	return d + l.chain
}
