package world

import (
	"time"

	"qsim/engine"
)

// fastConfig converts an engine configuration of a scenario for an engine that runs s times as fast. Policies and retry
// policies still see times of the scenario; see fastPolicy.
func fastConfig(s Speed, c engine.Config) engine.Config {
	for _, d := range []*time.Duration{
		&c.CallTimeout, &c.Fetch.Poll, &c.Fetch.Cooldown, &c.Fetch.ErrorPause, &c.Commit.Linger, &c.Commit.Timeout,
		&c.Lease.TTL, &c.Lease.Heartbeat, &c.Lease.Max, &c.Reaper.Every, &c.Reaper.Grace, &c.Reaper.Gap,
		&c.Promoter.Every, &c.Promoter.Gap, &c.Leader.TTL, &c.Leader.Renew,
	} {
		*d = s.Real(*d)
	}
	pauses := c.Commit.Backoff
	c.Commit.Backoff = nil
	for _, pause := range pauses {
		c.Commit.Backoff = append(c.Commit.Backoff, s.Real(pause))
	}
	for _, draw := range []*func(u float64) time.Duration{&c.Fetch.PollTick, &c.Promoter.Tick, &c.Promoter.First} {
		if usual := *draw; usual != nil {
			*draw = func(u float64) time.Duration { return s.Real(usual(u)) }
		}
	}
	kinds := c.Kinds
	c.Kinds = nil
	for _, k := range kinds {
		k.Retry, k.Timeout, k.Grain = fastRetry{k.Retry, s}, s.Real(k.Timeout), s.Real(k.Grain)
		c.Kinds = append(c.Kinds, k)
	}
	return c
}

// fastOptions converts store options of a scenario for a store whose jobs run s times as fast.
func fastOptions(s Speed, o engine.StoreOptions) engine.StoreOptions {
	o.LapseAfter, o.RecoveriesWithin = s.Real(o.LapseAfter), s.Real(o.RecoveriesWithin)
	service := o.Service
	o.Service = nil
	for _, d := range service {
		o.Service = append(o.Service, s.Real(d))
	}
	return o
}
