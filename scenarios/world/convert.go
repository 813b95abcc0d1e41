package world

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/sim"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// engineConfig returns the engine configuration of one node, without the kinds of jobs and settings specific to a node.
func engineConfig(e *scenarios.Engine) engine.Config {
	f, k := &e.Fetch, &e.Commit
	c := engine.Config{
		Workers: int(e.Workers),
		Fetch: engine.FetchConfig{Batch: int(f.Batch), Poll: max(1, f.Poll.Average().Std()), PollTick: drawOf(&f.Poll),
			IgnoreDue: f.OnDue.Value(), Prefetch: int(f.Prefetch), Cooldown: f.Cooldown.Std(),
			Debounce: f.CooldownFrom.Value(), ErrorPause: f.ErrorPause.Std()},
		Commit: engine.CommitConfig{Batch: int(k.Batch), Linger: k.Linger.Std(), Eager: k.Eager, Calls: int(k.Calls),
			Timeout: k.Timeout.Std(), Drop: k.GiveUp.Value(), Tries: int(k.Tries), Backpressure: int(k.Backpressure),
			Backoff: plain.Map(k.Backoff, scenarios.Duration.Std)},
		Lease:    leaseConfig(&e.Lease),
		Reaper:   reaperConfig(&e.Reaper),
		Promoter: promoterConfig(&e.Promoter),

		CallTimeout: e.CallTimeout.Std(), InStep: e.Phase.Value(),
	}
	c.Leader.TTL, c.Leader.Renew = e.Leader.TTL.Std(), e.Leader.Renew.Std()
	if f.ErrorPause == 0 {
		c.Fetch.ErrorPause = -1 // no pause; the engine's 0 means the poll interval
	}
	if e.Ack.Value() {
		// What was claimed is out of the store for good: only the node that has it can
		// say what became of it. In the simulation the job is in flight until then, under
		// a lease that never ends, so that those of a process that died are lost, and
		// counted as neither done nor dead. A node that holds what waits acks it when it
		// starts it: until then its lease may end, and others get the job too.
		held, ttl := e.Waiting.Value(), engine.Forever
		if held {
			ttl = c.Lease.TTL
		}
		c.Lease = engine.LeaseConfig{TTL: ttl, RunLate: c.Lease.RunLate, IgnoreLate: c.Lease.IgnoreLate, AckAtStart: held}
		c.Reaper.Off = !held
	}
	return c
}

func leaseConfig(l *spec.Lease) engine.LeaseConfig {
	c := engine.LeaseConfig{TTL: l.Lasts().Std(), Heartbeat: l.Heartbeat.Std(), Max: l.Max.Std(), Local: l.Check.Value(),
		RunLate: l.LateClaim.Value().Run, IgnoreLate: l.LateClaim.Value().Ignore}
	if l.OfNode() {
		c.OfNode, c.Kept, c.Max = true, l.Names.Value(), 0
	}
	return c
}

func reaperConfig(r *spec.Reaper) engine.ReaperConfig {
	c := engine.ReaperConfig{Every: r.Every.Std(), Batch: int(r.Batch), Grace: r.Grace.Std(), OnStart: r.OnStart,
		Nothing: r.Counts.Value(), LeaderOnly: r.Owner.Value(), Gap: r.Gap.Std(), After: r.After.Value(),
		Stand: r.Place.Value()}
	if r.Max >= 0 {
		c.BuryAt = int32(r.Max) + 1
	}
	if r.Gap > 0 { // otherwise recovery is one atomic call, without need of a guard
		c.Guard = r.Guard.Value()
	}
	return c
}

func promoterConfig(p *spec.Promoter) engine.PromoterConfig {
	c := engine.PromoterConfig{Batch: int(p.Batch), Order: p.Order.Value(), LeaderOnly: p.Owner.Value(), Gap: p.Gap.Std()}
	if p.On() {
		c.Every = max(1, p.Every.Average().Std())
		c.Tick = drawOf(&p.Every)
		if first := p.First.Drawn(); first != nil {
			c.First = first.Duration
		}
	}
	return c
}

// drawOf returns a function that draws from a distribution by a uniform number, or nil if the distribution is constant.
func drawOf(d *scenarios.Distribution) func(u float64) time.Duration {
	if drawn := d.Drawn(); !drawn.IsConstant() {
		return drawn.Duration
	}
	return nil
}

func storeOptions(sc *scenarios.Scenario) engine.StoreOptions {
	e := &sc.Engine
	o := engine.StoreOptions{Promoted: e.Promoter.On(), LapseAfter: -1, RecoveriesWithin: e.Reaper.Within.Std(),
		Orphans: e.Reaper.Finds.Value(), MaxInFlight: int(e.MaxInFlight), CountUnacked: e.InFlight.Value(),
		Held: e.Waiting.Value(), SilentDue: e.Fetch.OnDue.Value(), CountAhead: e.Store.Scan.Claim.Ahead > 0,
		Fence: e.Fence.Value(), Place: e.Place.Value(), KeepDead: sc.Does(fault.Redrive)}
	if e.Reaper.Every == 0 && (!e.Ack.Value() || e.Waiting.Value()) {
		o.LapseAfter = e.Reaper.Grace.Std()
	}
	for i := range sc.Jobs {
		o.MaxRunning = append(o.MaxRunning, int(sc.Jobs[i].MaxRunning))
		o.Service = append(o.Service, max(1, sc.Jobs[i].Service.Average().Std()))
	}
	return o
}

// delaysOf returns the distributions of the one-way delays of store calls, by operation; nil at 0, which is none.
func delaysOf(s *spec.Store) [engine.NumOps]*scenarios.Distribution {
	return [engine.NumOps]*scenarios.Distribution{
		engine.OpClaim: &s.Claim, engine.OpCommit: &s.Commit, engine.OpExtend: &s.Extend, engine.OpRecover: &s.Recover,
		engine.OpPromote: &s.Promote, engine.OpLead: &s.Extend, engine.OpStats: &s.Stats,
	}
}

// linksOf returns the one-way delays of store calls, and what each job in a call and each row that it reads add.
func linksOf(s *spec.Store) sim.Links {
	l := sim.Links{PerJob: s.PerJob.Dist()}
	for op, d := range delaysOf(s) {
		if d != nil {
			l.OneWay[op] = d.Dist()
		}
	}
	for op, c := range [engine.NumOps]spec.RowCosts{
		engine.OpClaim: s.Scan.Claim, engine.OpCommit: s.Scan.Commit, engine.OpExtend: s.Scan.Extend,
		engine.OpRecover: s.Scan.Recover, engine.OpPromote: s.Scan.Promote, engine.OpStats: s.Scan.Stats,
	} {
		l.Scan[op] = sim.RowCosts{Ready: c.Ready.Std(), Ahead: c.Ahead.Std(), Waiting: c.Waiting.Std(),
			InFlight: c.InFlight.Std(), Ended: c.Ended.Std()}
	}
	return l
}

// makesRoom reports whether the end of one job may make another claimable, as with limits on jobs in flight.
func makesRoom(sc *scenarios.Scenario) bool {
	limited := func(j scenarios.JobClass) bool { return j.MaxRunning > 0 || j.Serial != nil }
	return sc.Engine.MaxInFlight > 0 || slices.ContainsFunc(sc.Jobs, limited)
}

// wakeModes maps a scenario's setting of which idle nodes a new ready job wakes (one, all or none) to the simulator's.
var wakeModes = map[spec.Wake]sim.WakeMode{"one": sim.WakeOne, "all": sim.WakeAll, "none": sim.WakeNone}
