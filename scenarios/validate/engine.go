package validate

import (
	"fmt"

	"qsim/engine"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkEngine() {
	e := &c.sc.Engine
	if e.Nodes <= reference.MostNodes && e.Workers <= reference.MostWorkers && int(e.Nodes)*int(e.Workers) > reference.MostWorkers {
		at := c.Given([]any{"engine", "workers"}, []any{"engine", "nodes"})
		c.Errorf(at, "%d nodes of %d workers are too many: at most %d workers in all, since each takes memory", e.Nodes, e.Workers, reference.MostWorkers)
	}
	for _, p := range []struct {
		every spec.Duration
		what  string
		path  []any
	}{{e.Fetch.Poll.Average(), "polls", []any{"engine", "fetch", "poll"}}, {e.Lease.Heartbeat, "heartbeats", []any{"engine", "lease", "heartbeat"}},
		{e.Reaper.Every, "recoveries", []any{"engine", "reaper", "every"}}, {e.Promoter.Every.Average(), "promotions", []any{"engine", "promoter", "every"}},
		{e.Leader.Renew, "renewals", []any{"engine", "leader", "renew"}}} {
		if p.every <= 0 || !c.Sound(p.path...) || e.Nodes > reference.MostNodes {
			continue
		}
		if ticks := float64(c.sc.Longest()) / float64(p.every) * float64(e.Nodes); ticks > reference.MostTicks {
			c.Errorf(c.Near(p.path...), "one run would make %.1g %s: at most %.0g", ticks, p.what, float64(reference.MostTicks)).Note =
				fmt.Sprintf("every %v for %v on %d nodes", p.every, spec.Duration(c.sc.Longest()), e.Nodes)
		}
	}
}

// checkTimes reports durations of the engine that conflict, such as a heartbeat slower than the lease TTL.
func (c *validator) checkTimes() {
	e := &c.sc.Engine
	if !c.Sound("engine") {
		return
	}
	ttl := []any{"engine", "lease", "ttl"}
	heartbeat := []any{"engine", "lease", "heartbeat"}
	callTimeout := []any{"engine", "call-timeout"}
	if e.Lease.TTL > 0 && e.CallTimeout >= e.Lease.TTL {
		c.Warnf(c.Given(ttl, callTimeout), "the lease (%v) is not longer than a call may take (%v): jobs are recovered while their claim is still awaited", e.Lease.TTL, e.CallTimeout)
	}
	switch {
	case e.Lease.TTL == 0 || e.Lease.Heartbeat == 0:
	case e.Lease.Heartbeat >= e.Lease.TTL:
		c.Warnf(c.Given(heartbeat, ttl), "a heartbeat every %v cannot keep a lease of %v", e.Lease.Heartbeat, e.Lease.TTL).Help = "a third of the lease is usual; 0s turns heartbeats off"
	case e.Lease.Heartbeat+e.CallTimeout >= e.Lease.TTL:
		c.Warnf(c.Given(heartbeat, ttl, callTimeout), "one lost heartbeat may lose the lease: %v + call-timeout %v is not below %v", e.Lease.Heartbeat, e.CallTimeout, e.Lease.TTL)
	}
	if e.Commit.Timeout > 0 && e.Commit.Linger >= e.Commit.Timeout {
		c.Warnf(c.Given([]any{"engine", "commit", "linger"}, []any{"engine", "commit", "timeout"}),
			"outcomes linger (%v) as long as a commit may take (%v)", e.Commit.Linger, e.Commit.Timeout)
	}
	needsLeader := e.Reaper.Owner == "leader" || e.Promoter.Owner == "leader"
	if needsLeader && (e.Leader.Renew == 0 || e.Leader.Renew >= e.Leader.TTL) {
		c.Errorf(c.Given([]any{"engine", "leader", "renew"}, []any{"engine", "leader", "ttl"}),
			"a leader that renews every %v cannot keep its office, which lasts %v", e.Leader.Renew, e.Leader.TTL)
	}
}

// checkFurther checks the rarely used keys of the engine.
func (c *validator) checkFurther() {
	e := &c.sc.Engine
	if len(e.Commit.Backoff) > mostSteps {
		c.Errorf(c.Near("engine", "commit", "backoff"), "%d pauses are too many: at most %d", len(e.Commit.Backoff), mostSteps)
	}
	c.checkLease(&e.Lease)
	c.checkReaper(&e.Reaper)
	c.checkExpiries()
	c.checkPromoter(&e.Promoter)
	if e.Waiting.Value() && e.Promoter.On() && c.Sound("engine", "promoter") {
		c.Warnf(c.Given([]any{"engine", "waiting"}, []any{"engine", "promoter"}), "waiting jobs are held by their nodes: the promoter has nothing to promote")
	}
	if f := &e.Fetch; f.CooldownFrom.Value() && f.Cooldown == 0 && c.Sound("engine", "fetch") {
		at := c.Given([]any{"engine", "fetch", "cooldown-from"}, []any{"engine", "fetch", "cooldown"})
		c.Warnf(at, "there is no cooldown to begin").Help = "write cooldown: 100ms"
	}
	c.checkEarlyAck()
	c.checkHotLoop()
}

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

// mostSteps is the highest number of elements in a list of delays.
const mostSteps = 10_000

func (c *validator) checkLease(l *spec.Lease) {
	if !c.Sound("engine", "lease") {
		return
	}
	if l.Max > 0 && l.Max < l.TTL {
		c.Warnf(c.Given([]any{"engine", "lease", "max"}, []any{"engine", "lease", "ttl"}), "no lease lasts its ttl (%v): max is %v", l.TTL, l.Max)
	}
	if l.Of.Value() && l.Heartbeat == 0 {
		c.Warnf(c.Given([]any{"engine", "lease", "of"}, []any{"engine", "lease", "heartbeat"}), "a node's leases live while it beats, but there are no heartbeats").Help =
			"write heartbeat: 10s"
	}
}

func (c *validator) checkReaper(r *spec.Reaper) {
	if !c.Sound("engine", "reaper") {
		return
	}
	if r.Every == 0 && r.Gap > 0 {
		c.Errorf(c.Given([]any{"engine", "reaper", "gap"}, []any{"engine", "reaper", "every"}), "leases that end at the instant of their expiry leave no gap").Help =
			"a reaper that comes every: 1s reads, pauses and writes"
	}
	if r.Gap == 0 && r.Guard != "token" && c.Stated("engine", "reaper", "guard") {
		c.Warnf(c.Near("engine", "reaper", "guard"), "guard changes nothing: without a gap the reaper reads and writes at once")
	}
	if r.Max < 0 && r.Within > 0 && c.Stated("engine", "reaper", "within") {
		c.Warnf(c.Near("engine", "reaper", "within"), "within changes nothing: max is unlimited")
	}
}

func (c *validator) checkPromoter(p *spec.Promoter) {
	if !c.Sound("engine", "promoter") {
		return
	}
	every := []any{"engine", "promoter", "every"}
	if mean := p.Every.Dist().Mean(); p.On() && mean < 1e-6 {
		c.Errorf(c.Near(every...), "a promoter that comes every %s is too busy: want at least 1us on the average", seconds(mean))
	}
	if p.First != nil && !p.On() {
		c.Warnf(c.Given([]any{"engine", "promoter", "first"}, every), "there is no promoter to come first").Help = "write every: 5s"
	}
	if p.Gap > 0 && !p.On() {
		c.Warnf(c.Given([]any{"engine", "promoter", "gap"}, every), "there is no promoter to pause between two steps").Help = "write every: 5s"
	}
}

// checkHotLoop reports settings that repeat a failing call at once, without end.
func (c *validator) checkHotLoop() {
	if !c.Sound() {
		return
	}
	e := &c.sc.Engine
	backoff := e.Commit.Backoff
	for i := range c.sc.Storms {
		f := c.sc.Storms[i].Effect().Fault
		if f == nil || f.Error+f.Partial == 0 {
			continue
		}
		if f.Ops[engine.OpClaim] && e.Fetch.ErrorPause == 0 && e.Store.Claim.IsNone() {
			c.Errorf(c.Near("storms", i), "claims that fail would be repeated at one instant: the run would never end").Help =
				"let a claim take some time (engine.store.claim), or pause after an error (engine.fetch.error-pause)"
		}
		if f.Ops[engine.OpCommit] && len(backoff) > 0 && backoff[len(backoff)-1] == 0 && e.Store.Commit.IsNone() {
			c.Errorf(c.Near("storms", i), "commits that fail would be repeated at one instant: the run would never end").Help =
				"let a commit take some time (engine.store.commit), or pause between tries (engine.commit.backoff)"
		}
	}
}
