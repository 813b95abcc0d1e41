package engine

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine/keyed"
)

// Config is the configuration of an Engine. Durations are at least 0; Validate checks all other conditions.
type Config struct {
	Engine  EngineID // node, and number of its earlier lives
	Workers int      // highest number of handlers that run at once: at least 1

	Fetch    FetchConfig
	Commit   CommitConfig
	Lease    LeaseConfig
	Reaper   ReaperConfig
	Promoter PromoterConfig
	// Leader is the timing of leader election: a leader that has not renewed for TTL is deposed; every Renew,
	// which is below TTL, the leader renews and the other engines try to become leader.
	Leader struct{ TTL, Renew time.Duration }

	// CallTimeout is the time after which an unanswered call, other than a commit, counts as lost.
	CallTimeout time.Duration

	// Kinds holds the configuration of each job kind, by Job.Kind; the last entry also applies to kinds past the end.
	Kinds []KindConfig

	Policy   Policy     // the fetch policy of this engine alone
	Recorder Recorder   // receiver of the engine's events; nil: none
	Rand     keyed.Rand // source of the engine's random draws

	// InStep makes periodic timers (polls, heartbeats and so on) count from the start of the process. Otherwise the first
	// pause of each is a random part of its period, since real processes that start together do not tick together.
	InStep bool
}

// FetchConfig configures when an engine claims, and how many jobs at once.
type FetchConfig struct {
	Batch int           // most jobs of one claim: at least 1
	Poll  time.Duration // pause after a claim that found too little: above 0
	// PollTick, if not nil, draws each pause between polls, with Poll as the mean; see PromoterConfig.Tick.
	PollTick func(u float64) time.Duration
	// IgnoreDue leaves jobs that fall due, or are promoted, to be found by a poll. Otherwise the engine claims when it has
	// promoted some, and at the time of the earliest due job in the answer to a claim.
	IgnoreDue bool
	Prefetch  int           // most claimed jobs that may wait in the node for a worker while their leases run
	Cooldown  time.Duration // least time from one claim to the next
	// Debounce starts a cooldown at every wake or poll, even while no worker is idle, and makes polls keep a fixed pace,
	// whatever is claimed between them. Otherwise only claims start a cooldown, and each restarts the pause before the
	// next poll.
	Debounce bool
	// ErrorPause is the pause after a claim that failed. 0: Poll. Negative: none, the next claim
	// follows at once, see hotLoop.
	ErrorPause time.Duration
}

// CommitConfig configures how outcomes are batched and sent to the store.
type CommitConfig struct {
	Batch        int             // most outcomes of one call: at least 1
	Linger       time.Duration   // longest wait for a batch to fill
	Eager        bool            // end the linger when the last busy worker becomes free
	Calls        int             // commits under way at once: at least 1
	Timeout      time.Duration   // a commit unanswered this long is sent again: above 0
	Tries        int             // most times a batch is sent; 0: no limit
	Drop         bool            // give batches up after their tries (leases expire); otherwise tries start over
	Backpressure int             // no claims while this many outcomes are uncommitted; 0: no bound
	Backoff      []time.Duration // pauses before further tries; the last repeats; empty: 100 ms after errors
}

// LeaseConfig configures the leases of an engine's jobs: TTL (visibility timeout), heartbeats, what a loss means.
type LeaseConfig struct {
	TTL       time.Duration // lease TTL (visibility timeout): above 0
	Heartbeat time.Duration // interval between extensions of a lease, counted from its claim; 0: no extensions
	// RunLate and IgnoreLate choose what happens to jobs in a claim's answer that comes after CallTimeout, or comes
	// twice: RunLate runs them on idle workers, IgnoreLate lets their leases expire. Otherwise, and when no worker
	// is idle, the jobs are handed back, which costs no attempt.
	RunLate, IgnoreLate bool
	// Max is the longest time from a claim to the end of its lease: later extensions are not
	// requested, and the lease lapses while its job runs on. 0: no limit. Not with OfNode.
	Max time.Duration
	// OfNode makes one heartbeat extend all leases of the node, also those whose claim's answer was lost: these jobs wait
	// until the node's life ends. It requires a Store that can extend a node, and Heartbeat above 0.
	OfNode bool
	// Kept, with OfNode, keeps a node's name across restarts: a restarted node also extends the leases of its former
	// lives, whose jobs it has forgotten. They are recovered only once the node stays down.
	Kept bool
	// Local makes the holder check leases against its own wall clock, see Engine.SetWallClock: once that clock reads a TTL
	// more than when the lease was requested, the holder counts it as lost, commits no outcome and cancels the job. Only
	// jobs of an answer that came after its claim had timed out are handed back (or run) whatever that clock reads.
	// Expiries are then absolute times by the clock of the node that wrote them, read by nodes with other clocks: a fast
	// clock claims longer leases and recovers other nodes' leases early.
	Local bool
	// AckAtStart takes a job out of the store when its handler starts, as far as others can see: its
	// lease is then extended for ever, by a separate call whose answer is ignored. Buffered jobs have
	// a lease of TTL until they start. Heartbeat must be 0.
	AckAtStart bool
}

// ReaperConfig configures how expired leases are recovered.
type ReaperConfig struct {
	// Every is the time between two recoveries. 0: at the expiry of each lease, which requires a store
	// with StoreOptions.LapseAfter = Grace.
	Every   time.Duration
	Batch   int           // most leases of one recovery: at least 1
	Grace   time.Duration // time from a lease's expiry to its recovery, at least
	OnStart bool          // recover at once when the engine starts, until no expired lease is left
	// Nothing makes an expired lease cost no attempt: the job is ready again at once and the retry
	// policy is not consulted. Otherwise it is a failure like any other.
	Nothing    bool
	LeaderOnly bool // only the engine that leads recovers leases, see Store.Lead; otherwise every engine does
	Off        bool // this engine recovers no leases

	// BuryAt buries a job whose Recoveries are at least this, whatever the other fields choose; 0: no limit.
	BuryAt int32
	// After is the outcome of a job whose lease was recovered. Redo: ready at once, unless BuryAt or Nothing
	// applies; Bury: dead; no verb: as the retry policy decides, like any failure.
	After Verb
	Stand Place // position of a recovered job when it is ready again

	// Guard, if not FenceDefault, splits a recovery in two steps: the first reads the expired leases,
	// and the second, after Gap, writes the outcomes of their jobs under the fence Guard. FenceToken
	// lets a commit or another recovery in between win, but overrules an extension, which leaves the
	// token as it is; FenceState also overrules a new claim; FenceNone overrules all but the end of
	// the job. It requires a Store that is a TwoStep. FenceDefault: one atomic call.
	Guard Fence
	Gap   time.Duration // time between the two steps: at least 0
}

// PromoterConfig configures how waiting jobs (delayed or to be retried) become ready.
type PromoterConfig struct {
	// Every is the time between two promotions. 0: waiting jobs become ready by themselves, which
	// requires a store without StoreOptions.Promoted.
	Every time.Duration
	// Tick, if not nil, draws the time between two promotions in place of Every, and First, if not nil, the time
	// before the first promotion of a process. Draws are raised to a millisecond, or to Every if that is shorter.
	Tick, First func(u float64) time.Duration
	Batch       int   // most jobs of one promotion: at least 1
	Order       Order // order in which due jobs are promoted
	LeaderOnly  bool  // only the engine that leads promotes, see Store.Lead; otherwise every engine does
	// Gap, if above 0, splits a promotion in two steps: jobs are taken from the waiting ones, and after Gap inserted among
	// the ready ones. A process that dies in between loses them. It requires a Store that is a TwoStep.
	Gap time.Duration
}

// KindConfig is the configuration of one job kind: retries, execution timeout and deadline.
type KindConfig struct {
	Retry   RetryPolicy   // decides what becomes of a job after a failure
	Timeout time.Duration // execution timeout; 0: none
	// WaitOut makes an execution timeout cancel the handler's context only: the handler's result counts. Otherwise
	// the attempt has failed at the timeout, whatever the handler returns.
	WaitOut bool
	// Free frees the worker at the timeout, although the handler may run on beside the next job. Otherwise the worker
	// is busy until the handler returns. Not with WaitOut.
	Free bool
	// From is the event at which the delay of a retry begins: 0: the commit, when the store receives the failure;
	// Finished: the failure itself (pauses between resends of the commit still count on top); Leased: the claim, so
	// that the run time is part of the delay.
	From EventKind
	// Grain rounds the due time of a retry down to a whole multiple of it on the engine's clock, as in a system that
	// stores whole seconds; 0: no rounding.
	Grain time.Duration
	// Deadline buries a job whose retry would come when it is this old or older; 0: none. The age is that at the end of
	// the attempt, run time included, plus what is left of the delay then.
	Deadline time.Duration
}

// Validate returns all errors in the configuration, joined, each with the name of its field; nil if there are none.
func (c *Config) Validate() error {
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	need(c.Workers >= 1, "workers: %d is not positive", c.Workers)
	need(c.Fetch.Batch >= 1, "fetch.batch: %d is not positive", c.Fetch.Batch)
	need(c.Fetch.Poll > 0, "fetch.poll: %v is not positive", c.Fetch.Poll)
	need(c.Fetch.Prefetch >= 0, "fetch.prefetch: %d is negative", c.Fetch.Prefetch)
	need(c.Fetch.Cooldown >= 0, "fetch.cooldown: %v is negative", c.Fetch.Cooldown)
	need(c.Commit.Batch >= 1, "commit.batch: %d is not positive", c.Commit.Batch)
	need(c.Commit.Linger >= 0, "commit.linger: %v is negative", c.Commit.Linger)
	need(c.Commit.Calls >= 1, "commit.calls: %d is not positive", c.Commit.Calls)
	need(c.Commit.Timeout > 0, "commit.timeout: %v is not positive", c.Commit.Timeout)
	need(c.Commit.Tries >= 0, "commit.tries: %d is negative", c.Commit.Tries)
	need(c.Commit.Backpressure >= 0, "commit.backpressure: %d is negative", c.Commit.Backpressure)
	need(c.Lease.TTL > 0, "lease.ttl: %v is not positive", c.Lease.TTL)
	need(c.Lease.Heartbeat >= 0, "lease.heartbeat: %v is negative", c.Lease.Heartbeat)
	l := &c.Lease
	need(c.Reaper.Off || c.Reaper.Batch >= 1, "reaper.batch: %d is not positive", c.Reaper.Batch)
	r, p, leader := &c.Reaper, &c.Promoter, &c.Leader
	need(r.Every >= 0 && r.Grace >= 0, "reaper: every %v, grace %v: neither may be negative", r.Every, r.Grace)
	need(p.Every == 0 || p.Every > 0 && p.Batch >= 1,
		"promoter: every %v, batch %d: want 0, or both positive", p.Every, p.Batch)
	need(p.Gap >= 0, "promoter.gap: %v is negative", p.Gap)
	need(!r.LeaderOnly && !p.LeaderOnly || leader.Renew > 0 && leader.Renew < leader.TTL,
		"leader: renew %v must be in (0, ttl %v)", leader.Renew, leader.TTL)
	need(!l.AckAtStart || l.Heartbeat == 0, "lease: acked at the start, and a heartbeat of %v", l.Heartbeat)
	need(l.Max >= 0, "lease.max: %v is negative", l.Max)
	need(!l.OfNode || l.Heartbeat > 0, "lease: of a node, and no heartbeat: it would live for ever")
	need(r.BuryAt >= 0 && r.Gap >= 0, "reaper: bury at %d, gap %v: neither may be negative", r.BuryAt, r.Gap)
	need(r.Gap == 0 || r.Guard != FenceDefault, "reaper: a gap of %v and no guard", r.Gap)
	need(c.CallTimeout > 0, "call-timeout: %v is not positive", c.CallTimeout)
	need(c.Policy != nil, "policy: none")
	need(len(c.Kinds) > 0, "kinds: none")
	for i, k := range c.Kinds {
		need(k.Retry != nil, "kinds[%d]: no retry policy", i)
		need(k.Timeout >= 0, "kinds[%d]: timeout %v is negative", i, k.Timeout)
		need(k.Grain >= 0, "kinds[%d]: grain %v is negative", i, k.Grain)
		need(k.Deadline >= 0, "kinds[%d]: deadline %v is negative", i, k.Deadline)
		need(!k.WaitOut || !k.Free, "kinds[%d]: a timeout that waits for the handler frees no worker", i)
	}
	return errors.Join(errs...)
}

func (c *Config) kind(k Kind) *KindConfig { return &c.Kinds[min(int(k), len(c.Kinds)-1)] }
