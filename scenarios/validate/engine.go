package validate

import (
	"fmt"

	"qsim/engine"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// checkEngine checks the size of the engine and its durations, and names settings that change nothing.
func (c *validator) checkEngine() {
	e := &c.sc.Engine
	const most = reference.MostWorkers
	nodes, workers, pauses := int(e.Nodes), int(e.Workers), len(e.Commit.Backoff)
	c.hold(fault, []conflict{
		{!tooLarge(e) && nodes*workers > most, "workers nodes",
			text("%d nodes of %d workers are too many: at most %d workers in all, since each takes memory", nodes, workers, most), ""},
		{pauses > mostSteps, "commit.backoff", text("%d pauses are too many: at most %d", pauses, mostSteps), ""},
	}, "engine")
	c.Positive(e.Fetch.Poll.Average(), "engine", "fetch", "poll")
	c.checkTicks(e)
	c.checkExpiries()
	c.checkEarlyAck()
	c.checkHotLoop()
	if c.Sound("engine") {
		c.checkTimes(e)
	}
	if c.Sound("engine", "lease") {
		l := &e.Lease
		c.hold(warning, []conflict{
			{l.Max > 0 && l.Max < l.TTL, "max ttl", text("no lease lasts its ttl (%v): max is %v", l.TTL, l.Max), ""},
			{l.Of.Value() && l.Heartbeat == 0, "of heartbeat", "a node's leases live while it beats, but there are no heartbeats",
				"write heartbeat: 10s"},
		}, "engine", "lease")
	}
	if c.Sound("engine", "reaper") {
		r, path := &e.Reaper, []any{"engine", "reaper"}
		c.hold(fault, []conflict{{r.Every == 0 && r.Gap > 0, "gap every",
			"leases that end at the instant of their expiry leave no gap", "a reaper that comes every: 1s reads, pauses and writes"}}, path...)
		c.hold(warning, []conflict{
			{r.Gap == 0 && r.Guard != "token" && c.Stated("engine", "reaper", "guard"), "guard",
				"guard changes nothing: without a gap the reaper reads and writes at once", ""},
			{r.Max < 0 && r.Within > 0 && c.Stated("engine", "reaper", "within"), "within",
				"within changes nothing: max is unlimited", ""},
		}, path...)
	}
	if c.Sound("engine", "promoter") {
		const held = "waiting jobs are held by their nodes"
		p, on, mean := &e.Promoter, e.Promoter.On(), e.Promoter.Every.Dist().Mean()
		c.hold(fault, []conflict{{on && mean < 1e-6, "promoter.every",
			text("a promoter that comes every %s is too busy: want at least 1us on the average", seconds(mean)), ""}}, "engine")
		c.hold(warning, []conflict{
			{p.First != nil && !on, "promoter.first promoter.every", "there is no promoter to come first", "write every: 5s"},
			{p.Gap > 0 && !on, "promoter.gap promoter.every", "there is no promoter to pause between two steps", "write every: 5s"},
			{on && e.Waiting.Value(), "waiting promoter", held + ": the promoter has nothing to promote", ""},
		}, "engine")
	}
	if f := &e.Fetch; c.Sound("engine", "fetch") {
		c.hold(warning, []conflict{{f.CooldownFrom.Value() && f.Cooldown == 0, "cooldown-from cooldown",
			"there is no cooldown to begin", "write cooldown: 100ms"}}, "engine", "fetch")
	}
}

// checkTicks reports timers that would tick more often than one run can.
func (c *validator) checkTicks(e *spec.Engine) {
	for _, t := range []struct {
		every            spec.Duration
		what, group, key string
	}{
		{e.Fetch.Poll.Average(), "polls", "fetch", "poll"}, {e.Lease.Heartbeat, "heartbeats", "lease", "heartbeat"},
		{e.Reaper.Every, "recoveries", "reaper", "every"}, {e.Promoter.Every.Average(), "promotions", "promoter", "every"},
		{e.Leader.Renew, "renewals", "leader", "renew"},
	} {
		if t.every <= 0 || !c.Sound("engine", t.group, t.key) || e.Nodes > reference.MostNodes {
			continue
		}
		if ticks := float64(c.sc.Longest()) / float64(t.every) * float64(e.Nodes); ticks > reference.MostTicks {
			c.Errorf(c.Near("engine", t.group, t.key), "one run would make %.1g %s: at most %.0g", ticks, t.what, float64(reference.MostTicks)).Note =
				fmt.Sprintf("every %v for %v on %d nodes", t.every, spec.Duration(c.sc.Longest()), e.Nodes)
		}
	}
}

// checkTimes reports durations of the engine that conflict, such as a heartbeat slower than the lease TTL.
func (c *validator) checkTimes(e *spec.Engine) {
	l, call := &e.Lease, e.CallTimeout
	beats := l.TTL > 0 && l.Heartbeat > 0
	c.hold(warning, []conflict{
		{l.TTL > 0 && call >= l.TTL, "lease.ttl call-timeout",
			text("the lease (%v) is not longer than a call may take (%v)", l.TTL, call) + ": jobs are recovered while their claim is still awaited", ""},
		{beats && l.Heartbeat >= l.TTL, "lease.heartbeat lease.ttl",
			text("a heartbeat every %v cannot keep a lease of %v", l.Heartbeat, l.TTL), "a third of the lease is usual; 0s turns heartbeats off"},
		{beats && l.Heartbeat < l.TTL && l.Heartbeat+call >= l.TTL, "lease.heartbeat lease.ttl call-timeout",
			text("one lost heartbeat may lose the lease: %v + call-timeout %v is not below %v", l.Heartbeat, call, l.TTL), ""},
		{e.Commit.Timeout > 0 && e.Commit.Linger >= e.Commit.Timeout, "commit.linger commit.timeout",
			text("outcomes linger (%v) as long as a commit may take (%v)", e.Commit.Linger, e.Commit.Timeout), ""},
		{e.Commit.Eager && e.Commit.Linger == 0, "commit.eager commit.linger", "there is no linger to end", ""},
	}, "engine")
	elects := e.Reaper.Owner == "leader" || e.Promoter.Owner == "leader"
	c.hold(fault, []conflict{{elects && (e.Leader.Renew == 0 || e.Leader.Renew >= e.Leader.TTL), "renew ttl",
		text("a leader that renews every %v cannot keep its office, which lasts %v", e.Leader.Renew, e.Leader.TTL), ""}}, "engine", "leader")
}

// mostSteps is the highest number of elements in a list of delays.
const mostSteps = 10_000

// checkEarlyAck reports limits on jobs in flight where the claim is the ack: the store has no record of acked jobs that
// still run.
func (c *validator) checkEarlyAck() {
	if !c.sc.Engine.Ack.Value() {
		return
	}
	refuse := func(set bool, path ...any) {
		if set && c.Sound(path...) {
			c.Errorf(c.Key(path...), "%s needs ack: late: the store does not know what runs after an early ack", path[len(path)-1])
		}
	}
	refuse(c.sc.Engine.MaxInFlight > 0, "engine", "max-in-flight")
	for i := range c.sc.Jobs {
		refuse(c.sc.Jobs[i].MaxRunning > 0, "jobs", i, "max-running")
		refuse(c.sc.Jobs[i].Serial != nil, "jobs", i, "serial")
	}
}

// checkHotLoop reports settings that repeat a failing call at once, without end.
func (c *validator) checkHotLoop() {
	if !c.Sound() {
		return
	}
	e, backoff := &c.sc.Engine, c.sc.Engine.Commit.Backoff
	for i := range c.sc.Storms {
		f := c.sc.Storms[i].Effect().Fault
		if f == nil || f.Error+f.Partial == 0 {
			continue
		}
		const endless = "that fail would be repeated at one instant: the run would never end"
		c.hold(fault, []conflict{
			{f.Ops[engine.OpClaim] && e.Fetch.ErrorPause == 0 && e.Store.Claim.IsNone(), "", "claims " + endless,
				"let a claim take some time (engine.store.claim), or pause after an error (engine.fetch.error-pause)"},
			{f.Ops[engine.OpCommit] && len(backoff) > 0 && backoff[len(backoff)-1] == 0 && e.Store.Commit.IsNone(), "", "commits " + endless,
				"let a commit take some time (engine.store.commit), or pause between tries (engine.commit.backoff)"},
		}, "storms", i)
	}
}
