package check

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
)

// Rules are the guarantees of a run that the checker verifies against its events. A zero field guarantees nothing.
type Rules struct {
	Store engine.StoreOptions
	// Node is the engine configuration of every node. Policy, Recorder and Rand are ignored, and the retry policies of
	// Kinds.
	Node  engine.Config
	Nodes int
	// Retries holds the guarantees of the retry policies by job kind; kinds past the end have the last
	// one's. None: attempts and delays are not checked.
	Retries []Retry
	Serial  func(engine.JobID) uint32 // returns a job's serial key; nil: no keys, or no order guaranteed
	Keyed   bool                      // jobs may have serial keys, whatever Serial is
	Redrive Redrive
	// LostWaiting reports whether a waiting job may be left at the end because a process died while making it ready;
	// nil: none may. LostInFlight allows jobs in flight without a holder to be left, because their lease may never end.
	LostWaiting  func(engine.JobID) bool
	LostInFlight bool

	bound.Promise // what the policy guarantees; claims go by priority, or in an order, only where Priorities are known

	// Calm is the time after which no faults are injected and none makes an execution fail: the bounds below hold from
	// then on. Never: not at all.
	Calm engine.Time
	// Idle is the longest time that workers of a node may be idle while jobs are ready and it claims none. 0: not bounded.
	Idle time.Duration
	// Recover is the longest time from the end of a lease, or from Calm, to its recovery, plus RecoverEach for each reaper
	// batch needed for the highest number of leases there ever were at once.
	Recover, RecoverEach time.Duration
	Soon                 Soon
	// Wait is the longest time that a job may be ready before it is claimed, after Calm. 0: not guaranteed.
	Wait time.Duration
	// Heard is the time after which no executed call was made while calls were lost, refused or late,
	// and Trip the longest time from a call to its answer, if none of that happens; no call made before Calm takes effect
	// after it then. 0: not guaranteed.
	Heard engine.Time
	Trip  time.Duration
	// Way is the longest time of a call on its way and its answer on the way back: Trip without the timeout.
	Way time.Duration
	// Stalls reports whether faults may stop reapers before Calm.
	Stalls bool
	// Heeds reports whether handlers end at once when they are cancelled.
	Heeds bool
	// Priorities holds the priorities of jobs, by job kind, the smallest the most urgent; kinds past the end have the
	// last one's. None: no order of claims is checked but OldestReady and NewestReady, among jobs of one kind.
	Priorities []int16
	// Commits is the longest time after Calm from the end of an execution until its outcome is committed, if it is the
	// only one, plus CommitEach for each other outcome that its process has to commit. 0: not guaranteed.
	Commits, CommitEach time.Duration
	// Promote is the longest time between two promotions after Calm. 0: not guaranteed.
	Promote time.Duration
	// Between is the longest mean time that a worker takes to find its next job while jobs are ready, plus Awaits where
	// as many outcomes as Backpressure allows may have been pending. 0: not guaranteed.
	Between, Awaits time.Duration
	// HandBack is the longest time from the stop signal of a process until all jobs that it holds and
	// does not run are ready again, if none of its calls goes unanswered; see Checker.Stopped.
	HandBack time.Duration

	Only Set // invariants to check
}

// Redrive holds how the redrives of a run, which make dead jobs ready again, change a job's count of used attempts:
// some reset it to 0 (Resets), some keep it (Keeps).
type Redrive struct{ Resets, Keeps bool }

// Soon holds upper bounds, shorter than poll intervals, on reaction times such as from ready to claimed; 0: no bound.
type Soon struct {
	// Claim is the longest time from when a job becomes ready while no other is, at From or later, to the next claim of
	// any process; with AllClaim, to the next claim of each process with idle workers, from Rules.Calm plus Rules.Idle on.
	Claim    time.Duration
	From     engine.Time
	AllClaim bool
	// Recover is the longest time from the end of a lease to its recovery if reapers know when the next lease ends,
	// for leases that end at least Looked after Rules.Calm.
	Recover, Looked time.Duration
}

// Retry is the part of a retry policy that the checker verifies.
type Retry struct {
	MaxAttempts int32 // highest number of attempts; 0: no limit
	// ByFailure makes MaxAttempts count failures, not claims.
	ByFailure bool
	Never     []engine.ErrorKind // error kinds that bury at once
	Free      []engine.ErrorKind // error kinds that cost no attempt, the first FreeMax times in a job's life
	FreeMax   int32              // number of free failures; -1: no limit
	// Delay returns the shortest and the longest delay after a failure with a number in [least, most], 1 or more; nil:
	// delays are not checked.
	Delay func(least, most int32) (shortest, longest time.Duration)
}

// kind returns the nodes' configuration of a job kind.
func (r *Rules) kind(k engine.Kind) *engine.KindConfig { return ofKind(r.Node.Kinds, k) }

func (r *Rules) retry(k engine.Kind) *Retry {
	if len(r.Retries) == 0 {
		return nil
	}
	return ofKind(r.Retries, k)
}

func (r *Retry) isFree(e engine.ErrorKind) bool { return slices.Contains(r.Free, e) }

// derived holds facts computed from the Rules, such as which checks apply.
type derived struct {
	fenced    bool               // only the holder of the current token changes a job in flight: limits on attempts hold
	known     bool               // the duration of undisturbed calls is bounded
	limited   bool               // the number of jobs in flight is limited
	whole     bool               // every ready job may be claimed
	idle      bool               // workers are not idle for long while jobs are ready
	recovers  bool               // leases that have ended are recovered in time
	shares    bool               // the share num/den of claims is guaranteed to fresh jobs
	num, den  int64              // see shares
	planned   bool               // a process begins only what its policy has planned
	fills     bool               // claims use the whole capacity of their node
	explained bool               // waits are explained by busy workers
	ranked    bool               // the most urgent jobs of a class are claimed first
	aged      bool               // jobs of a kind are claimed by age
	ordered   bool               // jobs are claimed in an order of the policy's own
	byTenant  bool               // that order chooses a tenant first
	counted   bool               // ready or running jobs are counted by tenant or kind, too
	guarded   bool               // the reaper reads leases first, and takes them later under a guard
	heard     engine.Time        // time after which calls were answered in time; Never: not known
	ttl       time.Duration      // TTL of every lease
	timed     bool               // a lease ends ttl after it was granted or extended, by the store's clock
	beat      time.Duration      // longest time between two heartbeats for a lease, as the store sees it
	spare     float64            // idle time of workers in nanoseconds that needs no explanation
	batches   [engine.NumOps]int // most rows of a call; 0: no limit
	lapse     time.Duration      // time from a lease's end to its loss; Forever: lost only by recovery
	// led is the shortest time for which another node must have led if it recovered leases between two recoveries of one
	// node; 0: no leader is needed.
	led  time.Duration
	caps [engine.NumClasses]int // by class, most jobs that a process may run at once, plus one; 0: no cap
}

func (r *Rules) derive() derived {
	l, reaper := &r.Node.Lease, &r.Node.Reaper
	g := reaper.Guard
	d := derived{ttl: l.TTL, lapse: engine.Forever, guarded: g != engine.FenceDefault, known: r.Trip > 0 && r.Heard > 0}
	if d.heard = engine.Never; d.known {
		d.heard = r.Heard
	}
	d.fenced = r.Store.Fence == engine.FenceToken && (g == engine.FenceDefault || g == engine.FenceToken)
	d.timed = !l.Local && !l.OfNode && !l.AckAtStart
	if r.Store.LapseAfter >= 0 {
		d.lapse = r.Store.LapseAfter
	}
	d.beat = l.Heartbeat + r.Trip
	d.spare = float64(r.Idle+r.Between) * float64(r.Nodes*r.Node.Workers)
	d.batches = [engine.NumOps]int{engine.OpClaim: r.Node.Fetch.Batch, engine.OpCommit: r.Node.Commit.Batch,
		engine.OpRecover: reaper.Batch, engine.OpPromote: r.Node.Promoter.Batch}
	if r.Sheds > 0 {
		d.batches[engine.OpClaim] = 0 // buried jobs do not count
	}
	d.limited = r.Store.MaxInFlight > 0 || slices.ContainsFunc(r.Store.MaxRunning, func(n int) bool { return n > 0 })
	// Jobs that may not be claimed although they are ready make a class look empty.
	d.whole = !d.limited && r.Serial == nil && !r.Keyed && !r.Store.Held
	d.shares = r.Exact && d.whole
	d.num, d.den = r.Share.Fraction()
	d.planned = !l.RunLate && !r.Store.Held // leases that come late, or were held, run regardless of the policy
	if d.planned && r.Capped {
		d.caps[engine.Retry] = r.Cap + 1
	}
	if d.planned && r.Lanes {
		d.caps[engine.Fresh] = r.Node.Workers - r.Cap + 1
	}
	d.fills = r.Conserving && d.known && d.whole && r.Sheds == 0 && !l.RunLate
	d.idle = r.Idle > 0 && d.whole && r.Node.Fetch.Cooldown == 0
	d.recovers = r.Recover > 0 && d.timed && !reaper.Off && !r.LostInFlight
	d.explained = r.Between > 0 && d.idle && r.Conserving
	some := len(r.Priorities) > 0
	d.ranked = r.Ranked && d.whole && some && slices.Min(r.Priorities) < slices.Max(r.Priorities)
	d.aged = r.Ordered && d.whole && r.Order <= engine.NewestReady
	d.ordered = r.Ordered && d.whole && r.Order > engine.OldestOfAny && some
	d.byTenant = d.ordered && r.Order.ByTenant()
	d.counted = d.byTenant || d.ranked || d.limited
	if r.Trip > 0 && r.Nodes > 1 && reaper.LeaderOnly && !reaper.Off {
		d.led = r.Node.Leader.TTL * 2 / 3 // without the duration of calls
	}
	return d
}

// asRead reports whether an event is about an outcome that a two-step reaper commits for a lease that it has read.
func (d *derived) asRead(e *engine.Event) bool { return d.guarded && e.Error == engine.LeaseExpired }

// rule is one check of an invariant, applied to events of some kinds before the checker's state is updated.
type rule struct {
	invariant Invariant
	probe     Probe
	on        kinds
	when      bool // the rule is guaranteed, and something in the run may break it
	// asks complains if the event breaks the rule, and returns whether the rule applied to the event. It marks an event
	// that contradicts the checker's records as lost.
	asks func(c *Checker, s *subject) bool
}

// kinds is a set of kinds of events, for rules. It holds executed calls (Called) by their operation.
type kinds uint64

// numKinds is the number of kinds of events that a set of kinds distinguishes.
const numKinds = int(engine.NumEventKinds) + int(engine.NumOps)

// kindIndex returns the kind of an event, as sets of kinds number it: that of a call follows from its operation.
func kindIndex(k engine.EventKind, op engine.Op) int {
	if k == engine.Called {
		return int(engine.NumEventKinds) + int(op)
	}
	return int(k)
}

func (s kinds) has(kind int) bool { return s>>kind&1 != 0 }

func of(list ...engine.EventKind) (set kinds) {
	for _, k := range list {
		set |= 1 << k
	}
	return set
}

var (
	committed = of(engine.Acked, engine.Nacked, engine.Buried, engine.Returned)
	stored    = committed | of(engine.Promoted, engine.Leased, engine.LeaseTaken, engine.LeaseForgotten,
		engine.Fenced, engine.Extended, engine.ExtendRefused, engine.Redriven)
	ended   = of(engine.Finished, engine.TimedOut, engine.Aborted)
	inSlot  = ended | of(engine.Started, engine.LeaseLost)
	leased  = of(engine.Leased)
	taken   = of(engine.LeaseTaken)
	started = of(engine.Started)
	called  = ^kinds(1<<engine.NumEventKinds - 1)
	claims  = kinds(1) << kindIndex(engine.Called, engine.OpClaim)
	looks   = kinds(1) << kindIndex(engine.Called, engine.OpRecover)
)

// table returns every rule that is applied to events, in order: of several broken by one event, the first is reported.
func (r *Rules) table(d *derived) []rule {
	return slices.Concat(r.ofCalls(d), r.ofExecutions(d), r.ofLeases(d), r.ofOutcomes(d))
}

func (r *Rules) ofCalls(d *derived) []rule {
	node, reaper := &r.Node, &r.Node.Reaper
	starts := d.known && reaper.OnStart && !reaper.Off && !reaper.LeaderOnly
	return []rule{
		{Idleness, Wakes, called, d.idle && r.Soon.Claim > 0, (*Checker).claimsWhenWoken},
		{Recovery, noProbe, looks, d.led > 0, (*Checker).leaderReaps},
		{Shares, noProbe, looks, d.known, (*Checker).reapsSeldomInVain},
		{Shares, uncounted, called, true, (*Checker).keepsToBatch},
		{Recovery, uncounted, claims, d.known, (*Checker).stopsClaiming},
		{Recovery, StartUps, called, starts, (*Checker).looksAtStart},
		{Shares, noProbe, claims, d.known && d.fenced && node.Commit.Backpressure > 0, (*Checker).keepsToPressure},
		{Shares, noProbe, claims, d.known && node.Fetch.Cooldown > 0, (*Checker).keepsToCooldown},
		{Idleness, Capacity, called, d.fills, (*Checker).fillsRoom},
		{Shares, noProbe, called, d.shares, (*Checker).sharesClaims},
		{Effects, uncounted, of(engine.NodeDown), true, func(c *Checker, s *subject) bool {
			return s.n.busy == 0 || c.complain(Effects, "%d executions go on without it", s.n.busy)
		}},
		{Recovery, HandBacks, of(engine.NodeDown), r.HandBack > 0 && d.fenced && d.timed, (*Checker).handsBack},
	}
}

func (r *Rules) ofExecutions(d *derived) []rule {
	beats := d.known && r.Node.Lease.Heartbeat > 0
	return []rule{
		{Effects, noProbe, ended | started, true, (*Checker).runsKnown},
		{Leases, Heartbeats, started, beats, func(c *Checker, s *subject) bool {
			return s.j != nil && c.heldFor(s.j) > c.d.beat && !s.n.returnsLate && c.beats(s.n, s.j, s.Token, c.heldFor(s.j))
		}},
		{Shares, noProbe, started, d.caps != [engine.NumClasses]int{}, (*Checker).keepsToCap},
		{Shares, HeldBack, started | leased | of(engine.Finished), d.planned && r.Ration.Cost > 0, (*Checker).paysForRetries},
		{Shares, HeldBack, started | ended, d.planned && len(r.Brakes) > 0, (*Checker).brakes},
		{Effects, uncounted, ended, len(r.Node.Kinds) > 0 || r.Heeds, (*Checker).endsInTime},
		{Leases, Heartbeats, ended, beats, func(c *Checker, s *subject) bool {
			had := c.now.Sub(s.x.started)
			return had > c.d.beat && !s.x.over && c.beats(s.n, s.j, s.Token, had)
		}},
	}
}

func (r *Rules) ofLeases(d *derived) []rule {
	lease, promoted := &r.Node.Lease, of(engine.Promoted)
	return []rule{
		{Recovery, uncounted, of(engine.Returned, engine.Fenced, engine.GaveUp), true, (*Checker).handsOneBack},
		{Leases, uncounted, committed, d.guarded, func(c *Checker, s *subject) bool {
			if s.From != engine.InFlight && c.d.asRead(s.Event) {
				c.recovered(s) // it was in flight when it was read; mayDie counts this
			}
			return false
		}},
		{Due, noProbe, promoted, true, (*Checker).isDue},
		{Due, noProbe, promoted, r.Promote > 0 && r.Store.Promoted, (*Checker).isPromotedInTime},
		{Due, noProbe, leased, true, (*Checker).isGranted},
		{Due, uncounted, leased, r.Serial != nil, (*Checker).isFirstOfKey},
		{Shares, noProbe, leased | of(engine.Buried), r.Interval > 0, (*Checker).buriesLate},
		{Starvation, Explained, leased, d.explained, (*Checker).loadExplains},
		{Starvation, noProbe, leased, r.Wait > 0, (*Checker).waitedBriefly},
		{Due, uncounted, leased, d.aged, (*Checker).comesByAge},
		{Due, Ranks, leased, d.ranked, (*Checker).isMostUrgent},
		{Due, Orders, leased, d.ordered, (*Checker).goesFirst},
		{Shares, Turns, leased, d.byTenant && r.Order == engine.TenantRoundRobin, (*Checker).turnsRound},
		{Shares, Turns, leased, d.byTenant && r.Order == engine.TenantDeficit, (*Checker).paysByTurns},
		{Shares, Turns, leased, d.byTenant && r.Order == engine.TenantFair, (*Checker).sparesQuiet},
		{Limit, noProbe, leased, d.fenced && len(r.Retries) > 0, (*Checker).mayBeTried},
		{Due, uncounted, leased, d.limited, (*Checker).keepsToLimits},
		{Leases, uncounted, taken, true, (*Checker).isTakeable},
		{Leases, Heartbeats, taken, d.known && lease.Heartbeat > 0, (*Checker).beatsTillTaken},
		{Leases, uncounted, taken, d.known && lease.AckAtStart, (*Checker).asksForEver},
		{Atomicity, Commits, taken, d.known && r.Commits > 0, (*Checker).tellsInTime},
		{Leases, noProbe, taken, true, (*Checker).raisesToken},
		{Leases, uncounted, of(engine.LeaseForgotten), true, (*Checker).hadRecord},
		{Leases, Heartbeats, of(engine.Extended), d.known && lease.Max > 0, (*Checker).isNotProlonged},
		{Fencing, noProbe, of(engine.Extended, engine.ExtendRefused), true, (*Checker).extendsCurrent},
		{Fencing, noProbe, of(engine.LeaseLost), !lease.Local, (*Checker).hasLost},
		{Leases, noProbe, of(engine.RefusedLate), d.known, (*Checker).answersOwn},
	}
}

func (r *Rules) ofOutcomes(d *derived) []rule {
	retries, buried, requeued := len(r.Retries) > 0, of(engine.Buried), of(engine.Nacked, engine.Returned)
	return []rule{
		{Fencing, noProbe, committed, true, (*Checker).takesEffect},
		{Limit, noProbe, buried, retries && d.fenced, (*Checker).mayDie},
		{Limit, Unfenced, buried, retries && !d.fenced, (*Checker).mayDie},
		{Limit, noProbe, requeued, retries && d.fenced, (*Checker).mayGoOn},
		{Limit, Unfenced, requeued, retries && !d.fenced, (*Checker).mayGoOn},
		{Limit, uncounted, requeued, retries, (*Checker).burySuch},
		{Delays, noProbe, of(engine.Nacked), retries && d.fenced, (*Checker).delaysSo},
		{Fencing, noProbe, of(engine.Fenced), true, (*Checker).wasNotCurrent},
		{Atomicity, noProbe, of(engine.Fenced), true, (*Checker).wasNotDone},
		{Atomicity, noProbe, of(engine.GaveUp), true, (*Checker).mayGiveUp},
		{Atomicity, noProbe, of(engine.Fenced), d.guarded && d.known, (*Checker).wroteOnce},
	}
}
