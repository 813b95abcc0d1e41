package engine_test

import (
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/policies"
)

// configure applies a word of a script's config line, such as "workers=2".
func (s *script) configure(word string) {
	key, value, _ := strings.Cut(word, "=")
	c := &s.cfg
	counts := map[string]*int{"workers": &c.Workers, "batch": &c.Fetch.Batch, "prefetch": &c.Fetch.Prefetch, "commit-batch": &c.Commit.Batch,
		"calls": &c.Commit.Calls, "tries": &c.Commit.Tries, "backpressure": &c.Commit.Backpressure, "reaper-batch": &c.Reaper.Batch,
		"promoter-batch": &c.Promoter.Batch}
	times := map[string]*time.Duration{"poll": &c.Fetch.Poll, "cooldown": &c.Fetch.Cooldown, "linger": &c.Commit.Linger, "commit-timeout": &c.Commit.Timeout,
		"ttl": &c.Lease.TTL, "heartbeat": &c.Lease.Heartbeat, "grace": &c.Reaper.Grace, "promoter": &c.Promoter.Every, "call-timeout": &c.CallTimeout,
		"timeout": &c.Kinds[0].Timeout, "error-pause": &c.Fetch.ErrorPause, "lease-max": &c.Lease.Max, "gap": &c.Reaper.Gap, "promoter-gap": &c.Promoter.Gap,
		"grain": &c.Kinds[0].Grain}
	if n := counts[key]; n != nil {
		*n = s.number(value)
		return
	}
	if d := times[key]; d != nil {
		*d = s.duration(value)
		return
	}
	if set := words[word]; set != nil {
		set(c)
		return
	}
	s.configureMore(key, value)
}

// words maps the words of scripts without a number to their effect.
var words = map[string]func(c *engine.Config){
	"eager=true":            func(c *engine.Config) { c.Commit.Eager = true },
	"give-up=drop":          func(c *engine.Config) { c.Commit.Drop = true },
	"late-claim=run":        func(c *engine.Config) { c.Lease.RunLate = true },
	"late-claim=ignore":     func(c *engine.Config) { c.Lease.IgnoreLate = true },
	"of=node":               func(c *engine.Config) { c.Lease.OfNode = true },
	"names=kept":            func(c *engine.Config) { c.Lease.Kept = true },
	"check=local":           func(c *engine.Config) { c.Lease.Local = true },
	"on-start=true":         func(c *engine.Config) { c.Reaper.OnStart = true },
	"counts=nothing":        func(c *engine.Config) { c.Reaper.Nothing = true },
	"after=ready":           func(c *engine.Config) { c.Reaper.After = engine.Redo },
	"after=dead":            func(c *engine.Config) { c.Reaper.After = engine.Bury },
	"reaper-owner=leader":   func(c *engine.Config) { c.Reaper.LeaderOnly = true },
	"promoter-owner=leader": func(c *engine.Config) { c.Promoter.LeaderOnly = true },
	"promoter-order=newest": func(c *engine.Config) { c.Promoter.Order = engine.NewestReady },
	"policy=fresh-first":    func(c *engine.Config) { c.Policy = policies.FreshFirst{} },
	"hot-loop=true":         func(c *engine.Config) { c.Fetch.ErrorPause = -1 },
	"every=drawn":           func(c *engine.Config) { c.Promoter.First, c.Promoter.Tick = uniform(10, 15), uniform(0, 10) },
	"every=0s":              func(c *engine.Config) { c.Fetch.PollTick, c.Promoter.Tick = uniform(0, 0), uniform(0, 0) },
	"poll=drawn":            func(c *engine.Config) { c.Fetch.PollTick = uniform(0.5, 1.5) },
	"on-timeout=free":       func(c *engine.Config) { c.Kinds[0].Free = true },
	"on-timeout=wait":       func(c *engine.Config) { c.Kinds[0].WaitOut = true },
	"cooldown-from=signal":  func(c *engine.Config) { c.Fetch.Debounce = true },
	"from=claim":            func(c *engine.Config) { c.Kinds[0].From = engine.Leased },
	"phase=drawn":           func(c *engine.Config) { c.InStep = false },
	"guard=token":           func(c *engine.Config) { c.Reaper.Guard = engine.FenceToken },
	"guard=state":           func(c *engine.Config) { c.Reaper.Guard = engine.FenceState },
	"guard=none":            func(c *engine.Config) { c.Reaper.Guard = engine.FenceNone },
	"free=failed,throttled": func(c *engine.Config) {
		c.Kinds[0].Retry = free{c.Kinds[0].Retry, engine.FirstErrorKind, engine.Throttled}
	},
	"free=lease-expired,any": func(c *engine.Config) {
		c.Kinds[0].Retry = free{c.Kinds[0].Retry, engine.LeaseExpired, engine.LeaseExpired}
	},
}

func (s *script) configureMore(key, value string) {
	c := &s.cfg
	switch key {
	case "reaper":
		c.Reaper.Off, c.Reaper.Every = false, s.duration(value)
	case "bury-at":
		c.Reaper.BuryAt = int32(s.number(value))
	case "stand":
		c.Reaper.Stand = engine.Place(slices.Index(stands, value))
	case "backoff":
		for d := range strings.SplitSeq(value, ",") {
			c.Commit.Backoff = append(c.Commit.Backoff, s.duration(d))
		}
	case "cap":
		c.Policy = policies.InFlightCap{Retries: s.number(value)}
	case "separate":
		c.Policy = &policies.Separate{RetryWorkers: s.number(value)}
	case "lifo-after":
		c.Policy = policies.AdaptiveLIFO{OlderThan: s.duration(value)}
	default:
		s.t.Fatalf("unknown configuration %s=%s", key, value)
	}
}

var (
	stands = []string{"usual", "head", "due", "tail", "created"}
	guards = []string{"store", "token", "state", "none"}
)

// uniform draws lengths between two numbers of seconds.
func uniform(min, max float64) func(float64) time.Duration {
	d, err := dist.Uniform(min, max)
	if err != nil {
		panic(err)
	}
	return d.Duration
}

// free is a retry policy for which two kinds of error cost no attempt.
type free struct {
	engine.RetryPolicy
	one, another engine.ErrorKind
}

func (f free) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	if e == f.one || e == f.another {
		return engine.Snooze, 2 * time.Second
	}
	return f.RetryPolicy.Next(j, e, u)
}
