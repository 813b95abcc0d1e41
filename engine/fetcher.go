package engine

import (
	"cmp"
	"slices"
	"time"
)

// fetcher claims jobs: whenever there is capacity, it gets a plan from the policy and sends it to the store. At most
// one claim and one stats call are under way.
type fetcher struct {
	pollAt  Time // time of the next poll, unless something else triggers a claim
	beatAt  Time // time of the next poll at a fixed pace, see FetchConfig.Debounce
	polls   pulse
	onError time.Duration // pause after a claim that failed
	openAt  Time          // end of the cooldown: earliest time of the next claim
	id      uint64        // claim under way; 0: none
	lostAt  Time          // time at which the claim under way counts as lost
	again   bool          // a wake came, or may have been missed, while a claim was under way: claim once more
	// empty is, by class, whether the last claim left no ready job; of AnyClass, whether it left none of either.
	empty    [NumClasses + 1]bool
	byClass  bool        // the policy's terms have no other filter than a class, see Policy
	observes bool        // the policy observes claims and executions
	terms    []Term      // terms of the next plan
	view     View        // state of the engine, as the latest plan saw it
	observed Observation // scratch memory for the policy
	refused  LeaseKey    // last lease of the latest late answer, to recognise a copy that comes right behind it

	statsEvery time.Duration // interval between reads of the store's statistics; 0: the policy needs none
	statsPulse pulse         // timer of the reads
	statsID    uint64        // stats call under way; 0: none
	statsLost  Time          // time at which it counts as lost
	statsAt    Time          // time of the next stats call
	statsGot   Time          // time of the latest answer; Never: none yet
}

// statsLimit is the number at which a store may stop counting jobs for a policy, which does not distinguish 10,001
// ready jobs from a million.
const statsLimit = 10_001

func (f *fetcher) init(cfg *Config, now Time) {
	f.pollAt, f.beatAt, f.openAt, f.lostAt, f.statsAt, f.statsGot = now, Never, now, Never, Never, Never
	f.polls.timer, f.statsPulse.timer = polls, countsRows
	if f.onError = cmp.Or(cfg.Fetch.ErrorPause, cfg.Fetch.Poll); f.onError < 0 {
		f.onError = hotLoop
	}
	if cfg.Fetch.Debounce {
		f.beatAt = now.Add(f.pause(cfg))
	}
	f.view.Workers, f.view.rand, f.view.engine = cfg.Workers, cfg.Rand, cfg.Engine
	_, f.byClass = cfg.Policy.(interface{ ByClass() })
	_, blind := cfg.Policy.(interface{ Unobservant() })
	f.observes = !blind
	if p, ok := cfg.Policy.(StatsReader); ok {
		f.statsEvery, f.statsAt = max(p.StatsEvery(), time.Millisecond), now
	}
}

func (f *fetcher) deadline() Time { return min(f.pollAt, f.beatAt, f.lostAt, f.statsAt) }

func (f *fetcher) tick(e *Engine) {
	if e.now >= f.statsAt {
		f.statsAt = e.now.Add(f.statsPulse.pause(&e.cfg, f.statsEvery, nil))
		if f.statsID == 0 || e.now >= f.statsLost { // a count may take longer than the interval
			c := e.call(OpStats)
			c.Limit = statsLimit
			f.statsID, f.statsLost = c.ID, e.now.Add(e.cfg.CallTimeout)
			e.driver.Send(c)
		}
	}
	if e.now >= f.lostAt {
		// The store may have leased jobs that we will never hear of: they wait
		// for the reaper.
		f.id, f.lostAt = 0, Never
		e.record(Event{Kind: CallTimedOut, Op: OpClaim}, noSlot, nil)
		f.pollAt = e.now
	}
	if e.now >= f.beatAt {
		f.beatAt, f.pollAt = e.now.Add(f.pause(&e.cfg)), e.now
	}
	if e.now >= f.pollAt {
		f.onWoken(e)
	}
}

// claim sends a claim, unless there is no capacity for jobs, a pause is not over, or the last claim left no ready job
// of the classes (fresh, retry) that the plan asks for.
func (f *fetcher) claim(e *Engine) {
	room := f.room(e)
	if f.id != 0 || room <= 0 || e.stopping || e.commit.full(e) {
		if e.now >= f.pollAt {
			f.pollAt = Never // what makes room claims
		}
		return
	}
	limit := min(room, e.cfg.Fetch.Batch)
	if f.byClass && f.empty[AnyClass] || !f.plan(e, limit) {
		if f.pollAt == Never || e.now >= f.pollAt {
			f.pollAt = f.nextPoll(e)
			e.arm(f.pollAt)
		}
		return
	}
	if e.now < f.openAt {
		f.pollAt = f.openAt
		e.arm(f.pollAt)
		return
	}
	c := e.call(OpClaim)
	c.TTL, c.Limit = e.ttl(), limit
	c.Terms, f.terms = f.terms, c.Terms
	f.id, f.pollAt, f.again = c.ID, Never, false
	f.lostAt = e.now.Add(e.cfg.CallTimeout)
	f.openAt = e.now.Add(e.cfg.Fetch.Cooldown)
	e.arm(f.lostAt)
	e.driver.Send(c)
}

// room returns the number of jobs that the engine may claim now: idle workers without a job that waits, and Prefetch.
func (f *fetcher) room(e *Engine) int {
	return e.leases.idle - e.leases.waiting + e.cfg.Fetch.Prefetch
}

// plan gets the policy's plan for a claim of up to limit jobs, and reports whether such a claim may return any.
func (f *fetcher) plan(e *Engine, limit int) bool {
	v := &f.view
	v.Now, v.Idle, v.InFlight, v.Committing = e.now, limit, e.leases.inFlight, e.leases.committing
	v.StatsAge = -1
	if f.statsGot != Never {
		v.StatsAge = e.now.Sub(f.statsGot)
	}
	v.number++
	f.terms = e.cfg.Policy.Plan(v, f.terms[:0])
	return f.mayBring()
}

// mayBring reports whether the claim plan has a term for a class (fresh, retry) that the last claim did not exhaust.
func (f *fetcher) mayBring() bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.Limit > 0 && (!f.empty[t.Class] || !f.byClass && t.filtered()) {
			return true
		}
	}
	return false
}

func (t *Term) filtered() bool {
	return t.Kinds != 0 || t.Tenant != 0 || t.PerTenant != 0 || t.MaxWait > 0 && t.Shed == 0
}

func (f *fetcher) onClaimed(e *Engine, r *Call) {
	if r.ID != f.id {
		f.onLateClaim(e, r)
		return
	}
	f.id, f.lostAt = 0, Never
	if r.Err != nil {
		f.empty = [...]bool{true, true, true} // ask no more until the pause is over
		f.pollAt = e.now.Add(f.onError)
		e.arm(f.pollAt)
		return
	}
	var count [NumClasses]int
	var kinds Kinds
	expiry := r.sentAt.Add(r.TTL)
	for i := range r.Leases {
		l := &r.Leases[i]
		if l.Shed {
			continue
		}
		count[l.Class()]++
		kinds = kinds.With(l.Kind)
		e.run.take(e, l, expiry)
	}
	claimed := count[Fresh] + count[Retry]
	if f.observes {
		f.observed = Observation{Now: e.now, Claimed: count, Kinds: kinds}
		e.cfg.Policy.Observe(&f.observed)
	}
	if e.stopping {
		e.run.returnBuffered(e)
	}
	if f.again || claimed == f.view.Idle {
		clear(f.empty[:])
		f.claim(e)
		return
	}
	f.noteEmpty(count, r.Terms)
	f.pollAt = f.nextPoll(e)
	if !e.cfg.Fetch.IgnoreDue {
		f.pollAt = min(f.pollAt, e.now.Add(r.Next))
	}
	e.arm(f.pollAt)
	if claimed > 0 {
		f.claim(e) // a policy that was held back by a bound of its own may want more at once
	}
}

// nextPoll returns the time of the next poll after a claim that found fewer jobs than its plan allowed.
func (f *fetcher) nextPoll(e *Engine) Time {
	if e.cfg.Fetch.Debounce {
		return f.beatAt
	}
	return e.now.Add(f.pause(&e.cfg))
}

// pause returns the length of the next interval between polls, which may be random.
func (f *fetcher) pause(cfg *Config) time.Duration {
	return f.polls.pause(cfg, cfg.Fetch.Poll, cfg.Fetch.PollTick)
}

// hotLoop is the pause after a failed claim that is to be repeated at once: without it a simulated store that fails in
// no time would keep the clock from advancing.
const hotLoop = 100 * time.Microsecond

// noteEmpty records for each class (fresh, retry) whether the claim left no ready job, as it brought got jobs and its
// terms, sent, allowed more.
func (f *fetcher) noteEmpty(got [NumClasses]int, sent []Term) {
	var allowed [NumClasses + 1]int
	for i := range sent {
		if t := &sent[i]; f.byClass || !t.filtered() {
			allowed[t.Class] += min(t.Limit, f.view.Idle)
		}
	}
	short := got[Fresh]+got[Retry] < allowed[AnyClass]
	f.empty[Fresh], f.empty[Retry] = short || got[Fresh] < allowed[Fresh], short || got[Retry] < allowed[Retry]
	f.empty[AnyClass] = f.empty[Fresh] && f.empty[Retry]
}

// onLateClaim handles the leases in an answer that came after its claim had timed out, or came twice: their jobs are
// run, returned to the store, or left until the leases expire, as LeaseConfig says.
func (f *fetcher) onLateClaim(e *Engine, r *Call) {
	if r.Err != nil {
		return
	}
	// The answer may come again, and stays as it is. A shed job has no lease; a lease that is held came twice.
	late := slices.DeleteFunc(slices.Clone(r.Leases), func(l Lease) bool {
		return l.Shed || e.leases.holds(l.Key())
	})
	if len(late) == 0 || late[len(late)-1].Key() == f.refused {
		return
	}
	f.refused = late[len(late)-1].Key()
	e.record(Event{Kind: RefusedLate, Count: int32(len(late))}, noSlot, nil)
	if e.cfg.Lease.IgnoreLate {
		return
	}
	for i := range late {
		l := &late[i]
		if e.cfg.Lease.RunLate && e.leases.idle > 0 && !e.stopping {
			e.run.take(e, l, e.now.Add(e.ttl()))
		} else {
			e.commit.add(e, noSlot, l, Canceled, e.now)
		}
	}
}

func (f *fetcher) onStats(e *Engine, r *Call) {
	if r.ID != f.statsID {
		return
	}
	if f.statsID = 0; r.Err == nil {
		f.view.Store, f.statsGot = r.Stats, e.now
	}
}

// onWorkerFree claims for a worker that became free. After a claim that left no ready job it waits for a wake or the
// poll, unless a bound of the policy limited that claim.
func (f *fetcher) onWorkerFree(e *Engine) {
	if f.id == 0 && !f.empty[AnyClass] {
		f.claim(e)
	}
}

// mayHaveMissed forgets which classes the last claim left empty: jobs may have become ready since. If a worker is idle,
// the claim under way (sent, not answered), whose answer may be as old, is followed by another.
func (f *fetcher) mayHaveMissed(e *Engine) {
	clear(f.empty[:])
	f.again = f.again || e.leases.idle > 0
}

// onWoken claims jobs at once, or after the claim under way (sent, not answered). With FetchConfig.Debounce it begins a
// cooldown even if no worker is idle.
func (f *fetcher) onWoken(e *Engine) {
	clear(f.empty[:])
	switch {
	case f.id != 0:
		f.again, f.pollAt = true, Never
	case !e.cfg.Fetch.Debounce || f.room(e) > 0:
		f.claim(e)
	case e.now < f.openAt:
		f.pollAt = f.openAt
		e.arm(f.pollAt)
	default:
		f.openAt, f.pollAt = e.now.Add(e.cfg.Fetch.Cooldown), Never
	}
}
