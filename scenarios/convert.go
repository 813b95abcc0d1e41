package scenarios

import (
	"qsim/engine"
	"qsim/engine/sim"
)

// config is what e says of the engine of one node, but for the kinds of jobs and
// what differs between nodes.
func (e *Engine) config() engine.Config {
	c := engine.Config{
		Workers: int(e.Workers),
		Fetch: engine.FetchConfig{Batch: int(e.Fetch.Batch), Poll: e.Fetch.Poll.Std(), Prefetch: int(e.Fetch.Prefetch),
			Cooldown: e.Fetch.Cooldown.Std()},
		Commit: engine.CommitConfig{Batch: int(e.Commit.Batch), Linger: e.Commit.Linger.Std(), Calls: int(e.Commit.Calls),
			Timeout: e.Commit.Timeout.Std(), Tries: int(e.Commit.Tries), Backpressure: int(e.Commit.Backpressure)},
		Lease: engine.LeaseConfig{TTL: e.Lease.TTL.Std(), Heartbeat: e.Lease.Heartbeat.Std()},
		Reaper: engine.ReaperConfig{Every: e.Reaper.Every.Std(), Batch: int(e.Reaper.Batch), Grace: e.Reaper.Grace.Std(),
			OnStart: e.Reaper.OnStart, Nothing: e.Reaper.Counts == "nothing", Owner: e.Reaper.Owner.owner()},
		Promoter: engine.PromoterConfig{Every: e.Promoter.Every.Std(), Batch: int(e.Promoter.Batch), Owner: e.Promoter.Owner.owner()},
		Leader:   engine.LeaderConfig{TTL: e.Leader.TTL.Std(), Renew: e.Leader.Renew.Std()},

		CallTimeout: e.CallTimeout.Std(),
	}
	if e.Commit.GiveUp == "drop" {
		c.Commit.GiveUp = engine.Drop
	}
	if e.Promoter.Order == "newest" {
		c.Promoter.Order = engine.NewestReady
	}
	switch e.Lease.LateClaim {
	case "run":
		c.Lease.LateClaim = engine.RunLate
	case "ignore":
		c.Lease.LateClaim = engine.IgnoreLate
	}
	return c
}

func (o Owner) owner() engine.Owner {
	if o == "leader" {
		return engine.LeaderOnly
	}
	return engine.EveryNode
}

// storeOptions are the rules of the shared store.
func (e *Engine) storeOptions() engine.StoreOptions {
	o := engine.StoreOptions{Promoted: e.Promoter.Every > 0, LapseAfter: -1}
	if e.Reaper.Every == 0 {
		o.LapseAfter = e.Reaper.Grace.Std()
	}
	var err error
	if o.Fence, err = engine.ParseFence(string(e.Fence)); err != nil {
		panic("scenarios: " + err.Error()) // Load has checked it
	}
	if o.Place, err = engine.ParsePlace(string(e.Place)); err != nil {
		panic("scenarios: " + err.Error())
	}
	return o
}

// links are the ways to the store.
func (s *Store) links() sim.Links {
	l := sim.Links{PerJob: s.PerJob.Dist()}
	l.OneWay[engine.OpClaim] = s.Claim.Dist()
	l.OneWay[engine.OpCommit] = s.Commit.Dist()
	l.OneWay[engine.OpExtend] = s.Extend.Dist()
	l.OneWay[engine.OpRecover] = s.Recover.Dist()
	l.OneWay[engine.OpPromote] = s.Promote.Dist()
	l.OneWay[engine.OpLead] = s.Extend.Dist()
	l.OneWay[engine.OpStats] = s.Stats.Dist()
	return l
}

// mode is who is told of new ready jobs.
func (w Wake) mode() sim.WakeMode {
	switch w {
	case "all":
		return sim.WakeAll
	case "none":
		return sim.WakeNone
	}
	return sim.WakeOne
}
