package chaos

import (
	"context"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
	"qsim/scenarios/world"
)

// left is what the jobs need that have not ended when all is healed, at the most.
type left struct {
	jobs, inFlight int
	attempts       int           // of all
	fails          int           // of these
	runs           time.Duration // of all, one after the other
	chain          time.Duration // the attempts of one job, with all that lies between them; of one serial key, where jobs wait for each other
	keys           map[uint32]time.Duration
	longest        func(n int32) (shortest, longest time.Duration)
	step           time.Duration // between two attempts, beside their delay
}

// deadline is when every job has ended, at the latest. It is computed when all is healed,
// from the jobs that live then or are still to come and from how their attempts will go,
// which the seed knows.
func (s *setup) deadline(now engine.Time) engine.Time {
	w := s.world
	l := &left{keys: make(map[uint32]time.Duration), longest: world.PromiseOfRetry(w.retryPolicy()).Delay}
	s.memory.Each(func(u memstore.Unfinished) bool {
		l.jobs++
		if u.State == engine.InFlight {
			l.inFlight++
		}
		return true
	})
	l.jobs += s.load.left()
	l.step = w.between(l.jobs)
	s.memory.Each(func(u memstore.Unfinished) bool {
		s.need(l, u.Job, u.Delivery, u.Charged)
		return true
	})
	for _, id := range s.load.ids() {
		s.need(l, id, 0, 0)
	}
	if w.has(Redrive) { // all that are dead may come back, and start over
		for range s.dead() {
			l.jobs++
			l.attempts += w.attempts()
			l.fails += w.attempts()
			l.runs += time.Duration(w.attempts()) * w.Work.Cap
		}
		l.chain += time.Duration(w.attempts()) * (w.Work.Cap + w.Retry.Max + l.step)
	}
	drained, waits := w.drain(l)
	if s.waits != nil {
		s.waits(waits)
	}
	return now.Add(drained)
}

// need adds what a job needs after that many deliveries.
func (s *setup) need(l *left, id engine.JobID, delivery, charged int32) {
	w := s.world
	most := w.attempts()
	if w.Retry.Attempts > 0 {
		most = max(1, most-int(charged))
	}
	chain := time.Duration(0)
	spare := 2        // attempts that come to nothing although they succeed: their lease is over, or was when all was healed
	if w.Store.Held { // a lease may end while its job waits in a process for its time, again and again
		spare = 6
	}
	for n := range most {
		runs, fails := s.handlers.healed(id, delivery+int32(n)+1)
		_, delay := l.longest(delivery + int32(n) + 1)
		l.attempts++
		l.runs += runs
		chain += runs + delay + l.step
		if w.Store.Held {
			chain += l.step + w.Engine.Lease.TTL%longest + w.Engine.Reaper.Every
		}
		if fails {
			l.fails++
		} else if spare--; spare < 0 {
			break
		}
	}
	if key := w.serialKey(id); key != 0 {
		l.keys[key] += chain
		chain = l.keys[key]
	}
	l.chain = max(l.chain, chain)
}

// healed is how the execution of a delivery goes that begins when all is healed.
func (h *handlers) healed(id engine.JobID, delivery int32) (runs time.Duration, fails bool) {
	w := &h.w.Work
	j := engine.Job{ID: id, Delivery: delivery}
	runs = min(w.Cap, h.service.Duration(h.rand.Uniform(engine.ForRunTime, uint64(id), uint64(delivery), 0)))
	fails = h.happens(w.Poison, engine.ForPoison, &j, false, drawRest) || h.w.Timeout > 0 && runs >= h.w.Timeout
	return runs, fails
}

// attempts is how many a job has at most.
func (w *World) attempts() int {
	n := w.Retry.Attempts
	if n == 0 {
		n = 16 // of attempts that fail only by running too long
	}
	if w.Retry.Free != engine.NoError {
		n += 3
	}
	return n
}

// between is what may lie between two attempts of a job beside its delay, in the midst of
// that many jobs.
func (w *World) between(jobs int) time.Duration {
	e := &w.Engine
	d := e.Fetch.Poll + max(0, e.Fetch.ErrorPause) + e.Fetch.Cooldown + e.Commit.Linger + w.trip()
	if p := &e.Promoter; p.Every > 0 {
		d += (max(p.Every, w.Drawn) + w.First + p.Gap + w.trip()) * time.Duration(1+jobs/p.Batch)
	}
	if w.Links.Parallel > 0 || w.Links.PerRow > 0 {
		d *= 2
	}
	return d
}

// drain is how long all that is left takes at the most, and how long a job may be ready for
// before it is claimed, where no worker is idle meanwhile.
func (w *World) drain(l *left) (drained, waits time.Duration) {
	e := &w.Engine
	abreast := w.Nodes * min(e.Workers, e.Fetch.Batch)
	for _, most := range append([]int{w.Store.MaxInFlight}, w.Store.MaxRunning...) {
		if most > 0 {
			abreast = min(abreast, most)
		}
	}
	// What lies between two attempts holds a worker up only while it looks for the next one.
	each := e.Fetch.Poll + e.Fetch.Cooldown + e.Commit.Linger + w.Links.PerJob*time.Duration(e.Fetch.Batch+e.Commit.Batch)
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		each += 2 * w.Links.Delay[op]
	}
	each += w.Links.PerRow * time.Duration(2*l.jobs)
	turns := (l.runs + each*time.Duration(l.attempts)) / time.Duration(max(1, abreast))
	d := 2*turns + w.leftovers() + w.skew() + 2*w.settleOutcome() + w.waits(l)
	if e.Lease.TTL < longest {
		// What is in flight may be nobody's any more, and so may be what a process has claimed
		// too far ahead.
		d += 2 * (max(e.Lease.TTL, e.Lease.Max) + w.recoveryOf(l.inFlight+w.Nodes*(e.Workers+e.Fetch.Prefetch)))
	}
	_, last := w.jobs()
	d += max(0, last-w.Heal) + e.Leader.TTL + e.Leader.Renew
	return d + l.chain, d + l.step
}

// waits is how long a policy may let jobs wait for reasons of its own.
func (w *World) waits(l *left) time.Duration {
	switch w.Policy.Kind {
	case "breaker": // a try every minute and a tenth, of which any failure brings the next
		return 66 * time.Second * time.Duration(l.fails+2)
	case "retry-budget", "aimd", "bernoulli":
		return 3 * time.Minute
	}
	return 0
}

// left is how many jobs are still to come.
func (a *arrivals) left() int { return len(a.ids()) }

// ids are the jobs that are still to come.
func (a *arrivals) ids() (ids []engine.JobID) {
	add := func(id engine.JobID) {
		if a.w.comes(id) {
			ids = append(ids, id)
		}
	}
	if a.at != engine.Never {
		for i := a.index; i <= a.w.Load.Jobs; i++ {
			add(engine.JobID(i))
		}
	}
	for i := range a.bursts {
		for n := a.bursts[i].number; n < a.bursts[i].fault.Count; n++ {
			add(a.bursts[i].id + engine.JobID(n))
		}
	}
	return ids
}

// dead is how many jobs are dead.
func (s *setup) dead() int {
	stats, err := s.memory.Stats(context.Background(), 0)
	if err != nil {
		panic("chaos: " + err.Error())
	}
	return stats.Dead
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
		f := &w.Faults[i]
		d += f.Extra + latest*f.Delay
		if f.Kind == SlowStore {
			d += scaled(latest*slices.Max(w.Links.Delay[:]), f.Factor)
		}
	}
	return d
}
