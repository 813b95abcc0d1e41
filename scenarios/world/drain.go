package world

import (
	"context"
	"reflect"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/unfinished"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
)

// left holds upper bounds on the remaining work of the jobs that have not ended when the last storm is over.
type left struct {
	jobs, inFlight int
	attempts       int           // number of attempts of all jobs
	fails          int           // number of attempts that fail
	runs           time.Duration // run time of all attempts, one after the other
	// longest time for the attempts of one job, with all pauses between them; of one serial key, if its jobs wait for
	// each other
	chain time.Duration
	keys  map[uint32]time.Duration
	delay func(least, most int32) (shortest, longest time.Duration)
	step  time.Duration // time between two attempts, besides their run time and the retry's delay
}

// Deadline returns an upper bound on the time at which every job has ended, and one on the wait of a ready job while
// all workers are busy. It is called at Heal, when the storms are over, and computes them from the jobs in the store,
// those still to come, and the outcomes of their attempts, which follow from the seed.
func (b *Bounds) Deadline(now engine.Time, store *memstore.Store) (end engine.Time, waits time.Duration) {
	l := &left{keys: make(map[uint32]time.Duration), delay: retryRules(b.Retry(0)).Delay}
	var all []unfinished.Job
	b.Jobs(func(at engine.Time, j engine.NewJob) bool {
		if at > now.Add(-b.Enqueue) {
			all = append(all, unfinished.Job{ID: j.ID})
		}
		return true
	})
	store.Each(func(u unfinished.Job) bool {
		if all = append(all, u); u.State == engine.InFlight {
			l.inFlight++
		}
		return true
	})
	l.jobs = len(all)
	e := &b.Node
	l.step = b.poll + max(0, e.Fetch.ErrorPause) + e.Fetch.Cooldown + e.Commit.Linger + b.trip() + b.promotions(l.jobs)
	if b.congested {
		l.step *= 2
	}
	for i := range all {
		b.need(l, &all[i])
	}
	if b.Scenario.Does(fault.Redrive) { // all dead jobs may come back, and start over
		dead, tries := plain.Must(store.Stats(context.Background(), 0)).Dead, b.tries()
		l.jobs += dead
		l.attempts += dead * tries
		l.fails += dead * tries
		l.runs += time.Duration(dead*tries) * b.service
		l.chain += time.Duration(tries) * (b.service + b.retry.Max + l.step)
	}
	return now.Add(b.drain(l)), b.drain(l) - l.chain + l.step
}

// Turns returns an upper bound on the time in which a process runs the given number of jobs that it holds.
func (b *Bounds) Turns(jobs int) time.Duration {
	return b.service * time.Duration((jobs+b.Node.Workers-1)/b.Node.Workers)
}

// need adds the attempts that are still possible for an unfinished job to the totals of remaining work.
func (b *Bounds) need(l *left, u *unfinished.Job) {
	most := b.tries() - b.free
	if b.limits() {
		most = max(1, most-int(u.Charged))
	}
	chain := time.Duration(0)
	spare := 2          // successful attempts without effect: their lease is over, or was at Heal
	if b.Options.Held { // a lease may end while its job waits in a process until it is due, repeatedly
		spare = 6
	}
	for n := int32(1); most > 0 && n <= mostTries; n++ {
		number := u.Delivery + n
		runs, fails := b.undisturbed(u.ID, number)
		_, delay := l.delay(1, number)
		l.attempts++
		l.runs += runs
		chain += runs + delay + l.step
		if b.Options.Held {
			chain += l.step + b.Node.Lease.TTL%ForEver + b.Node.Reaper.Every
		}
		outlasts := b.outlasts(runs)
		if outlasts {
			chain += b.recovery(b.Nodes * (b.Node.Workers + b.Node.Fetch.Prefetch))
		}
		if !outlasts || b.chargesExpiry() {
			most--
		}
		if fails || outlasts {
			l.fails++
		} else if spare--; spare < 0 {
			break
		}
	}
	if key := b.serial[u.ID]; key != 0 {
		l.keys[key] += chain
		chain = l.keys[key]
	}
	l.chain = max(l.chain, chain)
}

// mostTries is the highest number of attempts of one job that the bounds count.
const mostTries = 1000

// limits reports whether a job's attempts are limited, and to at most mostTries: the bounds ignore a higher limit.
func (b *Bounds) limits() bool { return b.retry.MaxAttempts > 0 && b.retry.MaxAttempts <= mostTries }

// chargesExpiry reports whether an attempt whose lease expires counts towards a limit on the attempts of its job.
func (b *Bounds) chargesExpiry() bool { return b.limits() && !b.Node.Reaper.Nothing }

// outlasts reports whether an attempt with the given run time may lose its lease, and so have no effect, without a
// storm: no heartbeat extends the lease in time, or heartbeats may not extend it for as long (lease.max).
func (b *Bounds) outlasts(runs time.Duration) bool {
	l := &b.Node.Lease
	lasts := l.TTL
	if b.timeout > 0 {
		runs = min(runs, b.timeout) // it fails then
	}
	switch beats := l.Heartbeat > 0 && l.Heartbeat+b.way() < l.TTL; {
	case l.AckAtStart, beats && l.Max == 0:
		return false
	case beats:
		lasts = l.Max
	}
	return lasts < ForEver && runs+2*b.way()+b.Node.Commit.Linger >= lasts
}

// uncharged returns the highest number of attempts of one job, one after the other, that may outlast their leases and
// then cost nothing: the number of attempts that a job may have beyond its limit.
func (b *Bounds) uncharged() (most int) {
	if b.chargesExpiry() || !b.outlasts(b.service) {
		return 0
	}
	b.Jobs(func(_ engine.Time, j engine.NewJob) bool {
		row := 0
		for n := range int32(mostTries) {
			if runs, _ := b.undisturbed(j.ID, n+1); !b.outlasts(runs) {
				row = -1
			}
			row++
			most = max(most, row)
		}
		return true
	})
	return most
}

// drain returns an upper bound on the time until all remaining jobs have ended.
func (b *Bounds) drain(l *left) time.Duration {
	e := &b.Node
	// The time between two attempts occupies a worker only while it claims the next job.
	each := b.poll + e.Fetch.Cooldown + e.Commit.Linger + b.perJob*time.Duration(e.Fetch.Batch+e.Commit.Batch) +
		b.perRow*time.Duration(2*l.jobs)
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		each += 2 * b.mean[op]
	}
	all := l.runs + each*time.Duration(l.attempts)
	turns := all / time.Duration(b.abreast(min(e.Workers, e.Fetch.Batch)))
	d := 2*turns + b.skew() + 2*b.settleOutcome() + max(0, b.last-b.Heal) + e.Leader.TTL + e.Leader.Renew
	d += b.hesitates(l.fails)
	if !policies.Guarantees(b.Policy()).Conserving { // at least one retry at a time
		d += all
	}
	if b.lease() > 0 {
		// What is in flight may be nobody's any more, and so may be what a process has claimed
		// too far ahead.
		d += 2 * (b.lease() + b.recovery(l.inFlight+b.Nodes*(e.Workers+e.Fetch.Prefetch)))
	}
	if b.Options.CountUnacked && b.Options.MaxInFlight > 0 { // waiting jobs count towards the limit
		d += l.chain * time.Duration(l.jobs/b.Options.MaxInFlight)
	}
	return d + l.chain
}

// Reckons reports whether Bounds can bound the times of a scenario's jobs after its storms: all classes fail and are
// retried alike, retries end, and only storms make an attempt longer than its service time or kill its process.
func Reckons(sc *scenarios.Scenario) bool {
	calls := int(sc.Engine.Nodes) * int(sc.Engine.Workers)
	for i := range sc.Dependencies {
		d, l := &sc.Dependencies[i], sc.Dependencies[i].Limit
		if d.Conflict != nil || d.Slows.Num > 0 || l != nil && (l.Concurrency == nil || int(*l.Concurrency) < calls) {
			return false
		}
	}
	retry := sc.RetryOf(0)
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		switch {
		case j.Kills.Num > 0 || j.Silences.Num > 0 || j.Patience != nil || j.Fails.Takes != nil:
			return false
		case !reflect.DeepEqual(sc.RetryOf(i), retry) || sc.TimeoutOf(i) != sc.TimeoutOf(0):
			return false
		case len(retry.Free) > 0 && (retry.FreeMax < 0 || retry.FreeMax > 3):
			return false
		case retry.MaxAttempts == 0 && (j.Poison.Num > 0 || j.Fails.Rate.Float() > 0.5):
			return false
		}
	}
	return true
}
