package engine

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine/keyed"
)

// Config is the configuration of an Engine. Durations are at least 0; Validate says what else must hold.
type Config struct {
	Engine  EngineID
	Workers int // handlers that run at once: at least 1

	Fetch    FetchConfig
	Commit   CommitConfig
	Lease    LeaseConfig
	Reaper   ReaperConfig
	Promoter PromoterConfig
	// Leader says how engines agree on a leader: one that has not renewed for TTL is deposed; it renews, and the
	// others try, every Renew, which is below TTL.
	Leader struct{ TTL, Renew time.Duration }

	// CallTimeout is how long a call other than a commit may go unanswered before
	// it counts as lost.
	CallTimeout time.Duration

	// Kinds configures jobs by Job.Kind; kinds past its end are as the last.
	Kinds []KindConfig

	Policy   Policy   // of this engine alone
	Recorder Recorder // what the engine perceives; nil: nobody listens
	Rand     keyed.Rand

	// InStep makes periodic timers count from the start of the process. Otherwise the first pause of each is a part of
	// its period, drawn for the process: real ones that start together do not start at one instant.
	InStep bool
}

// FetchConfig configures when an engine claims, and how many jobs at once.
type FetchConfig struct {
	Batch int           // most jobs of one claim: at least 1
	Poll  time.Duration // pause after a claim that found too little: above 0
	// PollTick, if not nil, draws each such pause in place of Poll, which is their mean; see PromoterConfig.Tick.
	PollTick func(u float64) time.Duration
	// IgnoreDue leaves jobs that fall due, or are promoted, to be found by a poll. Otherwise the engine claims when it has
	// promoted some, and when the earliest falls due, which the answer to a claim says.
	IgnoreDue bool
	Prefetch  int           // claimed jobs that may wait in the node, their leases running
	Cooldown  time.Duration // least time from one claim to the next
	// Debounce makes a wake or a poll begin a cooldown also while no worker is idle, and polls keep a pace of their own,
	// whatever is claimed between them. Otherwise only claims do, and the pause before a poll begins anew with each.
	Debounce bool
	// ErrorPause is the pause after a claim that failed. 0: Poll. Negative: none, the
	// next claim follows the answer at once, see hotLoop.
	ErrorPause time.Duration
}

// CommitConfig configures how outcomes are batched and sent to the store.
type CommitConfig struct {
	Batch        int             // most outcomes of one call: at least 1
	Linger       time.Duration   // longest wait for a batch to fill
	Calls        int             // commits under way at once: at least 1
	Timeout      time.Duration   // a commit unanswered this long is sent again: above 0
	Tries        int             // how often a batch is sent; 0: for ever
	Drop         bool            // forgets a batch after its tries: the leases expire. Otherwise it starts over, behind the other batches
	Backpressure int             // no claims while this many outcomes are uncommitted; 0: no bound
	Backoff      []time.Duration // pauses before the second try, the third...; the last repeats; none: 100 ms after an error, 0 after a time-out
}

// LeaseConfig configures the lease of a claim: its TTL (visibility timeout) and heartbeats.
type LeaseConfig struct {
	TTL       time.Duration // above 0
	Heartbeat time.Duration // each lease is extended this often, counted from its claim; 0: never
	// RunLate and IgnoreLate are what becomes of a claim's answer that comes after CallTimeout, or comes twice: its
	// jobs run where workers are idle, or it is ignored and the leases expire. Otherwise, and for what does not run,
	// the jobs are handed back, which costs no attempt.
	RunLate, IgnoreLate bool
	// Max is the longest time from a claim to the end of its lease: an extension that
	// would take it further is not asked for, and the lease lapses while its job runs
	// on. 0: no limit.
	Max time.Duration
	// OfNode makes all leases of the node live while it beats: one heartbeat extends
	// them all, whichever they are. It wants a Store that can extend a
	// node, and Heartbeat above 0.
	OfNode bool
	// Kept, with OfNode, lets a restarted node beat under its old name: it keeps the
	// leases of its former lives alive, whose jobs it has forgotten.
	Kept bool
	// Local makes the holder look at its own wall clock, see Engine.SetWallClock: it
	// takes a lease for lost, commits nothing of it and cancels its job, once that
	// clock reads a TTL more than when the lease was asked for. Then expiries are
	// absolute times by the clock of who wrote them, and who reads them has another: a
	// clock that is fast claims longer leases and recovers those of others early.
	Local bool
	// AckAtStart takes a job out of the store when its handler starts, as far as others
	// can see: its lease is then extended for ever, by a call of its own whose answer
	// does not matter. What is held, or claimed ahead, has a lease of TTL until then.
	// Heartbeat must be 0.
	AckAtStart bool
}

// ReaperConfig configures how expired leases are recovered.
type ReaperConfig struct {
	// Every is the time between two recoveries. 0: at the expiry of each lease,
	// which wants a store with StoreOptions.LapseAfter = Grace.
	Every   time.Duration
	Batch   int // most leases of one recovery: at least 1
	Grace   time.Duration
	OnStart bool // recover at once, until nothing is left
	// Nothing makes an expiry count for nothing: the job is ready again at once
	// and the retry policy is not asked. Otherwise it is a failure like any other.
	Nothing    bool
	LeaderOnly bool // only the engine that leads recovers, see Store.Lead; otherwise each on its own
	Off        bool // this engine recovers nothing

	// BuryAt buries a job whose Recoveries are at least this, whatever else is said
	// here; 0: never.
	BuryAt int32
	// After is what becomes of a job whose lease was recovered. Redo: ready at once, unless the retry policy buries
	// it, which is not asked when; Bury: dead; no verb: what the retry policy says, as of any failure.
	After Verb
	Stand Place // where a job stands when it is ready again

	// Guard, if not FenceDefault, makes a recovery of two steps: it reads which leases
	// have expired, and after Gap, whatever has happened meanwhile, it writes what
	// becomes of their jobs, if Guard lets it. With FenceToken it yields to a commit
	// and to another recovery that came in between, but overrules an extension, which
	// leaves the token as it is; with FenceState it also overrules a new claim; with
	// FenceNone it yields only to the end of the job. It wants a Store that is a
	// TwoStep. FenceDefault: one atomic call.
	Guard Fence
	Gap   time.Duration // at least 0
}

// PromoterConfig configures how waiting jobs become ready.
type PromoterConfig struct {
	// Every is the time between two promotions. 0: waiting jobs become ready by
	// themselves, which wants a store without StoreOptions.Promoted.
	Every time.Duration
	// Tick, if not nil, draws each of these times in place of Every, and First, if not nil, the time before the first
	// promotion of a process. What they return is raised to a millisecond, or to Every if that is shorter.
	Tick, First func(u float64) time.Duration
	Batch       int   // most jobs of one promotion: at least 1
	Order       Order // which of the due jobs first
	LeaderOnly  bool  // only the engine that leads promotes, see Store.Lead; otherwise each on its own
	// Gap, if above 0, makes a promotion of two steps: jobs are taken from where they
	// wait, and this much later put where they are ready. A process that dies in
	// between loses them. It wants a Store that is a TwoStep.
	Gap time.Duration
}

// KindConfig is the configuration of one job kind.
type KindConfig struct {
	Retry   RetryPolicy
	Timeout time.Duration // execution timeout; 0: none
	// WaitOut makes a timeout tell the handler to stop and no more: what it returns counts. Otherwise the attempt has
	// failed then, whatever the handler does.
	WaitOut bool
	// Free gives the worker the next job at the timeout, beside the handler that may run on. Otherwise it is busy until
	// that returns. Not with WaitOut.
	Free bool
	// From is the event with which the delay of a retry begins: 0, the commit, when the store learns of the failure;
	// Finished, the failure, though a commit that is sent again does not make up for its pauses; or Leased, the claim,
	// so that what is over by the attempt's end is over.
	From EventKind
	// Grain cuts the due time of a retry to a whole multiple of it on the engine's clock, as where a system keeps whole
	// seconds; 0: none.
	Grain time.Duration
}

// Validate returns all errors in the configuration, joined.
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
	need(c.Reaper.Every >= 0 && c.Reaper.Grace >= 0, "reaper: every %v, grace %v: neither may be negative", c.Reaper.Every, c.Reaper.Grace)
	need(c.Promoter.Every == 0 || c.Promoter.Every > 0 && c.Promoter.Batch >= 1, "promoter: every %v, batch %d: want 0, or both positive", c.Promoter.Every, c.Promoter.Batch)
	need(c.Promoter.Gap >= 0, "promoter.gap: %v is negative", c.Promoter.Gap)
	needsLeader := c.Reaper.LeaderOnly || c.Promoter.LeaderOnly
	need(!needsLeader || c.Leader.Renew > 0 && c.Leader.Renew < c.Leader.TTL, "leader: renew %v must be in (0, ttl %v)", c.Leader.Renew, c.Leader.TTL)
	need(!l.AckAtStart || l.Heartbeat == 0, "lease: acked at the start, and a heartbeat of %v", l.Heartbeat)
	need(l.Max >= 0, "lease.max: %v is negative", l.Max)
	need(!l.OfNode || l.Heartbeat > 0, "lease: of a node, and no heartbeat: it would live for ever")
	need(c.Reaper.BuryAt >= 0 && c.Reaper.Gap >= 0, "reaper: bury at %d, gap %v: neither may be negative", c.Reaper.BuryAt, c.Reaper.Gap)
	need(c.Reaper.Gap == 0 || c.Reaper.Guard != FenceDefault, "reaper: a gap of %v and no guard", c.Reaper.Gap)
	need(c.CallTimeout > 0, "call-timeout: %v is not positive", c.CallTimeout)
	need(c.Policy != nil, "policy: none")
	need(len(c.Kinds) > 0, "kinds: none")
	for i, k := range c.Kinds {
		need(k.Retry != nil, "kinds[%d]: no retry policy", i)
		need(k.Timeout >= 0, "kinds[%d]: timeout %v is negative", i, k.Timeout)
		need(k.Grain >= 0, "kinds[%d]: grain %v is negative", i, k.Grain)
		need(!k.WaitOut || !k.Free, "kinds[%d]: a timeout that waits for the handler frees no worker", i)
	}
	return errors.Join(errs...)
}

func (c *Config) kind(k Kind) *KindConfig { return &c.Kinds[min(int(k), len(c.Kinds)-1)] }
