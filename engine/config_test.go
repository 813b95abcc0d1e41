package engine_test

import (
	"strings"
	"testing"
	"time"

	"qsim/engine"
)

// TestValidate breaks one rule at a time.
func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(c *engine.Config)
		want  string
	}{
		{"no workers", func(c *engine.Config) { c.Workers = 0 }, "workers: 0 is not positive"},
		{"no batch", func(c *engine.Config) { c.Fetch.Batch = 0 }, "fetch.batch: 0 is not positive"},
		{"no poll", func(c *engine.Config) { c.Fetch.Poll = 0 }, "fetch.poll: 0s is not positive"},
		{"negative prefetch", func(c *engine.Config) { c.Fetch.Prefetch = -1 }, "fetch.prefetch: -1 is negative"},
		{"negative cooldown", func(c *engine.Config) { c.Fetch.Cooldown = -1 }, "fetch.cooldown: -1ns is negative"},
		{"no commit batch", func(c *engine.Config) { c.Commit.Batch = 0 }, "commit.batch: 0 is not positive"},
		{"negative linger", func(c *engine.Config) { c.Commit.Linger = -1 }, "commit.linger: -1ns is negative"},
		{"no commit calls", func(c *engine.Config) { c.Commit.Calls = 0 }, "commit.calls: 0 is not positive"},
		{"no commit timeout", func(c *engine.Config) { c.Commit.Timeout = 0 }, "commit.timeout: 0s is not positive"},
		{"negative tries", func(c *engine.Config) { c.Commit.Tries = -1 }, "commit.tries: -1 is negative"},
		{"negative backpressure", func(c *engine.Config) { c.Commit.Backpressure = -1 }, "commit.backpressure: -1 is negative"},
		{"no ttl", func(c *engine.Config) { c.Lease.TTL = 0 }, "lease.ttl: 0s is not positive"},
		{"negative heartbeat", func(c *engine.Config) { c.Lease.Heartbeat = -1 }, "lease.heartbeat: -1ns is negative"},
		{"no reaper batch", func(c *engine.Config) { c.Reaper = engine.ReaperConfig{} }, "reaper.batch: 0 is not positive"},
		{"negative grace", func(c *engine.Config) { c.Reaper.Grace = -1 }, "reaper: every 0s, grace -1ns: neither may be negative"},
		{"no promoter batch", func(c *engine.Config) { c.Promoter = engine.PromoterConfig{Every: 1} }, "promoter: every 1ns, batch 0: want 0, or both positive"},
		{"renewed too late", func(c *engine.Config) {
			c.Promoter.LeaderOnly, c.Leader.Renew = true, c.Leader.TTL
		}, "leader: renew 10s must be in (0, ttl 10s)"},
		{"no call timeout", func(c *engine.Config) { c.CallTimeout = 0 }, "call-timeout: 0s is not positive"},
		{"no policy", func(c *engine.Config) { c.Policy = nil }, "policy: none"},
		{"no kinds", func(c *engine.Config) { c.Kinds = nil }, "kinds: none"},
		{"no retry policy", func(c *engine.Config) { c.Kinds = []engine.KindConfig{{}} }, "kinds[0]: no retry policy"},
		{"negative lease max", func(c *engine.Config) { c.Lease.Max = -1 }, "lease.max: -1ns is negative"},
		{"leases of a silent node", func(c *engine.Config) { c.Lease.OfNode = true }, "lease: of a node, and no heartbeat: it would live for ever"},
		{"negative bury at", func(c *engine.Config) { c.Reaper.BuryAt = -1 }, "reaper: bury at -1, gap 0s: neither may be negative"},
		{"gap without guard", func(c *engine.Config) { c.Reaper.Gap = 1 }, "reaper: a gap of 1ns and no guard"},
		{"negative promoter gap", func(c *engine.Config) { c.Promoter.Gap = -1 }, "promoter.gap: -1ns is negative"},
		{"negative reaper every", func(c *engine.Config) { c.Reaper.Every = -1 }, "reaper: every -1ns, grace 0s: neither may be negative"},
		{"negative reaper gap", func(c *engine.Config) {
			c.Reaper.Guard, c.Reaper.Gap = engine.FenceToken, -1
		}, "reaper: bury at 0, gap -1ns: neither may be negative"},
		{"negative promoter every", func(c *engine.Config) { c.Promoter.Every = -1 }, "promoter: every -1ns, batch 10: want 0, or both positive"},
		{"renewed never", func(c *engine.Config) {
			c.Reaper.LeaderOnly, c.Leader.Renew = true, 0
		}, "leader: renew 0s must be in (0, ttl 10s)"},
		{"acked at the start and extended", func(c *engine.Config) {
			c.Lease.AckAtStart, c.Lease.Heartbeat = true, 1
		}, "lease: acked at the start, and a heartbeat of 1ns"},
		{"negative timeout", func(c *engine.Config) { c.Kinds[0].Timeout = -1 }, "kinds[0]: timeout -1ns is negative"},
		{"negative deadline", func(c *engine.Config) { c.Kinds[0].Deadline = -1 }, "kinds[0]: deadline -1ns is negative"},
		{"negative grain", func(c *engine.Config) { c.Kinds[0].Grain = -1 }, "kinds[0]: grain -1ns is negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newScript(t).cfg
			if err := c.Validate(); err != nil {
				t.Fatalf("before: %v", err)
			}
			tt.spoil(&c)
			if err := c.Validate(); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			expectPanic(t, "engine: "+tt.want, func() { engine.New(c, &engine.Asked{}, 0) })
		})
	}
}

// TestValidateTakesTheLeast checks that the smallest possible values are valid.
func TestValidateTakesTheLeast(t *testing.T) {
	c := newScript(t).cfg
	c.Workers, c.CallTimeout = 1, 1
	c.Fetch = engine.FetchConfig{Batch: 1, Poll: 1}
	c.Commit = engine.CommitConfig{Batch: 1, Calls: 1, Timeout: 1}
	c.Lease = engine.LeaseConfig{TTL: 1, AckAtStart: true}
	c.Reaper = engine.ReaperConfig{Batch: 1, LeaderOnly: true, Guard: engine.FenceToken}
	c.Promoter = engine.PromoterConfig{Every: 1, Batch: 1}
	c.Leader.Renew, c.Leader.TTL = 1, 2
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.Lease = engine.LeaseConfig{TTL: 1, Heartbeat: 1, OfNode: true}
	c.Reaper, c.Promoter = engine.ReaperConfig{Off: true}, engine.PromoterConfig{}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateReportsEverything(t *testing.T) {
	err := (&engine.Config{}).Validate()
	for _, want := range []string{"workers", "fetch.batch", "fetch.poll", "commit.batch", "lease.ttl", "reaper.batch", "call-timeout", "policy", "kinds"} {
		if err == nil || !strings.Contains(err.Error(), want+":") {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panicked with %v, want %q", got, want)
		}
	}()
	f()
}

func TestFinishPanicsOnASlotThatRunsNothing(t *testing.T) {
	c := newScript(t).cfg
	c.Fetch.Prefetch, c.Recorder = 1, nil
	asked := &engine.Asked{}
	e := engine.New(c, asked, 0)
	e.Tick(0)
	e.Handle(1, &engine.Call{ID: 1, Op: engine.OpClaim, Reply: engine.Reply{Leases: []engine.Lease{
		{Token: 1, Job: engine.Job{ID: 7, Delivery: 1}}, {Token: 1, Job: engine.Job{ID: 8, Delivery: 1}}, {Token: 1, Job: engine.Job{ID: 9, Delivery: 1}}}}})
	expectPanic(t, "engine: no handler runs in that slot", func() { e.Finish(2, 2, engine.NoError, 1) }) // it waits for a worker
	e.Finish(2, 0, engine.NoError, 1)
	expectPanic(t, "engine: no handler runs in that slot", func() { e.Finish(3, 0, engine.NoError, 1) })
	asked.Take()
	e.Tick(engine.Time(10 * time.Millisecond))
	e.Handle(engine.Time(11*time.Millisecond), &engine.Call{ID: asked.Take()[0].ID, Op: engine.OpCommit, Reply: engine.Reply{Results: []engine.Result{{Status: engine.Applied}}}})
	expectPanic(t, "engine: slot is not held", func() { e.Finish(3, 0, engine.NoError, 1) })
}
