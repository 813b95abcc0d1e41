package validate

import (
	"fmt"
	"slices"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// checkEngine checks the values of the key engine: its size and durations; and warns of settings that change nothing.
func (c *validator) checkEngine() {
	e, in, most := &c.sc.Engine, c.In("engine"), reference.MostOf("engine.workers")
	nodes, workers, pauses := int(e.Nodes), int(e.Workers), len(e.Commit.Backoff)
	in.Fault(!tooLarge(e) && nodes*workers > most, "workers nodes",
		"%d nodes of %d workers are too many: at most %d workers in all, since each takes memory", nodes, workers, most)
	in.Fault(pauses > mostSteps, "commit.backoff", "%d pauses are too many: at most %d", pauses, mostSteps)
	in.Positive(e.Fetch.Poll.Average(), "fetch.poll")
	c.checkTicks(e)
	c.checkExpiries()
	c.checkEarlyAck()
	c.checkHotLoop()
	if in.Sound() {
		c.checkTimes(e)
	}
	if l := &e.Lease; in.Sound("lease") {
		in.Warn(l.Lasts() < l.TTL, "lease.max lease.ttl", "no lease lasts its ttl (%v): max is %v", l.TTL, l.Max)
		// So often that one may be lost, if calls are answered in less time than the lease lasts.
		often := min(l.TTL/3, max(l.TTL-e.CallTimeout, 0)/2).Std().Truncate(time.Millisecond)
		in.Warn(l.Of.Value() && l.Heartbeat == 0, "lease.of lease.heartbeat",
			"a node's leases live while it beats, but there are no heartbeats").Help = plain.When(often > 0,
			"write heartbeat: "+often.String())
	}
	if r := &e.Reaper; in.Sound("reaper") {
		in.Fault(r.Every == 0 && r.Gap > 0, "reaper.gap reaper.every",
			"leases that end at the instant of their expiry leave no gap").Help =
			"a reaper that comes every: 1s reads, pauses and writes"
		in.Warn(r.Gap == 0 && r.Guard != "token" && c.Stated(in.Node("reaper.guard")), "reaper.guard",
			"guard changes nothing: without a gap the reaper reads and writes at once")
		in.Warn(r.Max < 0 && r.Within > 0 && c.Stated(in.Node("reaper.within")), "reaper.within",
			"within changes nothing: max is unlimited")
	}
	if p := &e.Promoter; in.Sound("promoter") {
		const first = "write every: 5s"
		on, mean := p.On(), p.Every.Dist().Mean()
		in.Fault(on && mean < 1e-6, "promoter.every",
			"a promoter that comes every %s is too busy: want at least 1us on the average", plain.Duration(mean))
		in.Warn(p.First != nil && !on, "promoter.first promoter.every", "there is no promoter to come first").Help = first
		in.Warn(p.Gap > 0 && !on, "promoter.gap promoter.every",
			"there is no promoter to pause between two steps").Help = first
		in.Warn(on && e.Waiting.Value(), "waiting promoter",
			"waiting jobs are held by their nodes: the promoter has nothing to promote")
	}
	in.Warn(e.Fetch.CooldownFrom.Value() && e.Fetch.Cooldown == 0 && in.Sound("fetch"),
		"fetch.cooldown-from fetch.cooldown", "there is no cooldown to begin").Help = "write cooldown: 100ms"
}

// slowTicks is the number of timer events (polls, heartbeats) in one run, at 1 µs each, of which checkTicks warns.
const slowTicks = 1e8

// checkTicks adds an error for each periodic timer of the engine, such as a poll, that fires more than
// reference.MostTicks times in one run, and a warning for one that makes a run take minutes.
func (c *validator) checkTicks(e *spec.Engine) {
	in := c.In("engine")
	for _, timer := range []struct {
		every     spec.Duration
		what, key string
	}{
		{e.Fetch.Poll.Average(), "polls", "fetch.poll"},
		{e.Lease.Heartbeat, "heartbeats", "lease.heartbeat"},
		{e.Reaper.Every, "recoveries", "reaper.every"},
		{e.Promoter.Every.Average(), "promotions", "promoter.every"},
		{plain.Either(elects(e), e.Leader.Renew, 0), "renewals", "leader.renew"},
		{unanswered(&e.Store.Claim, e.CallTimeout), "claims", "call-timeout"},
		{plain.Either(len(e.Commit.Backoff) == 0, unanswered(&e.Store.Commit, e.Commit.Timeout), 0),
			"commits", "commit.timeout"},
	} {
		if timer.every <= 0 || !in.Sound(timer.key) || int(e.Nodes) > reference.MostOf("engine.nodes") {
			continue
		}
		ticks := float64(c.sc.Longest()) / float64(timer.every) * float64(e.Nodes)
		tooOften(in, timer.key, ticks, timer.what).Note =
			fmt.Sprintf("every %v for %v on %d nodes", timer.every, spec.Duration(c.sc.Longest()), e.Nodes)
		if timer.key != "lease.heartbeat" || e.Lease.OfNode() { // otherwise idle nodes have none: see checkBuffer
			c.warnTicks(timer.key, timer.every, float64(e.Nodes), timer.what)
		}
	}
}

// unanswered returns the timeout of a call, after which it is repeated at once, if twice the median and twice the mean
// cost of the call, which is that of one way, are longer; else 0. Both ways take at most the median once in four.
func unanswered(cost *spec.Distribution, timeout spec.Duration) spec.Duration {
	d := cost.Dist()
	return plain.Either(2*min(d.Mean(), d.Sample(0.5)) > timeout.Std().Seconds(), timeout, 0)
}

// warnTicks warns if timers (their number) with the period every fire so often until arrivals end that a run is slow.
func (c *validator) warnTicks(key string, every spec.Duration, timers float64, what string) {
	ticks := float64(c.sc.Duration) / float64(every) * timers // until arrivals end
	refused := float64(c.sc.Longest())/float64(every)*float64(c.sc.Engine.Nodes) > reference.MostTicks
	c.In("engine").Warn(ticks >= slowTicks && !refused, key, "one run may make %.2g %s, which may take minutes", ticks,
		what).Help = "fewer nodes, or longer pauses"
}

// elects reports whether the nodes elect a leader: they do if the reaper or the promoter runs on the leader alone.
func elects(e *spec.Engine) bool { return e.Reaper.Owner == "leader" || e.Promoter.Owner == "leader" }

// checkTimes warns of durations of the engine that conflict, such as a heartbeat interval not below the lease TTL.
func (c *validator) checkTimes(e *spec.Engine) {
	in, l, commit, call := c.In("engine"), &e.Lease, &e.Commit, e.CallTimeout
	beats := l.TTL > 0 && l.Heartbeat > 0
	in.Warn(l.TTL > 0 && call >= l.TTL, "lease.ttl call-timeout", "the lease (%v) is not longer than a call may take "+
		"(%v): jobs are recovered while their claim is still awaited", l.TTL, call)
	in.Warn(beats && l.Heartbeat >= l.TTL, "lease.heartbeat lease.ttl",
		"a heartbeat every %v cannot keep a lease of %v", l.Heartbeat, l.TTL).Help =
		"a third of the lease is usual; 0s turns heartbeats off"
	in.Warn(beats && l.Heartbeat < l.TTL && l.Heartbeat+call >= l.TTL, "lease.heartbeat lease.ttl call-timeout",
		"one lost heartbeat may lose the lease: %v + call-timeout %v is not below %v", l.Heartbeat, call, l.TTL)
	in.Warn(commit.Timeout > 0 && commit.Linger >= commit.Timeout, "commit.linger commit.timeout",
		"outcomes linger (%v) as long as a commit may take (%v)", commit.Linger, commit.Timeout)
	in.Warn(commit.Eager && commit.Linger == 0, "commit.eager commit.linger", "there is no linger to end")
	in.Fault(elects(e) && (e.Leader.Renew == 0 || e.Leader.Renew >= e.Leader.TTL), "leader.renew leader.ttl",
		"a leader that renews every %v cannot keep its office, which lasts %v", e.Leader.Renew, e.Leader.TTL)
	answered := 2 * e.Store.Extend.Dist().Sample(0) // at least: a request for leadership costs what a heartbeat does
	in.Warn(elects(e) && in.Sound("store") && answered >= e.Leader.TTL.Std().Seconds(), "leader.ttl store.extend",
		"no node leads: its office of %v is over when the store answers, after %s", e.Leader.TTL, plain.Duration(answered))
}

// mostSteps is the highest number of delays in a list of them: the pauses between commits, the table of a backoff.
const mostSteps = 10_000

// checkEarlyAck adds errors for limits on jobs in flight together with ack: early. A claim then acks its jobs, so that
// the store does not know which of them run.
func (c *validator) checkEarlyAck() {
	if !c.sc.Engine.Ack.Value() {
		return
	}
	refuse := func(set bool, key string, path ...any) {
		in := c.In(path...)
		in.Fault(set && in.Sound(key), key+":",
			"%s needs ack: late: the store does not know what runs after an early ack", key)
	}
	refuse(c.sc.Engine.MaxInFlight > 0, "max-in-flight", "engine")
	for i := range c.sc.Jobs {
		refuse(c.sc.Jobs[i].MaxRunning > 0, "max-running", "jobs", i)
		refuse(c.sc.Jobs[i].Serial != nil, "serial", "jobs", i)
	}
}

// checkHotLoop adds errors for settings that repeat failing claims or commits without a pause: a run would never end.
func (c *validator) checkHotLoop() {
	if !c.Sound() {
		return
	}
	e, atOnce := &c.sc.Engine, false
	ends := e.Commit.Tries > 0 && e.Commit.GiveUp.Value() // the outcomes are dropped
	if pauses := e.Commit.Backoff; len(pauses) > 0 && !ends {
		longest := pauses[len(pauses)-1] // of those that come again and again
		if tries := int(e.Commit.Tries); tries > 0 {
			longest = slices.Max(pauses[:min(tries, len(pauses))])
		}
		atOnce = longest == 0
	}
	for i := range c.sc.Storms {
		f := c.sc.Storms[i].Effect().Fault
		if f == nil || f.Error+f.Partial == 0 {
			continue
		}
		const endless = " that fail would be repeated at one instant: the run would never end"
		in := c.In("storms", i)
		in.Fault(f.Ops[engine.OpClaim] && e.Fetch.ErrorPause == 0 && e.Store.Claim.IsNone(), "", "claims"+endless).Help =
			"let a claim take some time (engine.store.claim), or pause after an error (engine.fetch.error-pause)"
		in.Fault(f.Ops[engine.OpCommit] && atOnce && e.Store.Commit.IsNone(), "", "commits"+endless).Help =
			"let a commit take some time (engine.store.commit), or pause between tries (engine.commit.backoff)"
	}
}
