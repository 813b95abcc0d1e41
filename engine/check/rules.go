package check

import (
	"slices"
	"time"

	"qsim/engine"
)

// Rules are what a run promises. The zero value of a field that bounds something means
// that nothing is promised there.
type Rules struct {
	Store engine.StoreOptions
	// Node configures the engine of every node. Policy, Recorder and Rand are not
	// looked at, and of Kinds only their timeouts.
	Node  engine.Config
	Nodes int
	// Retries are what the retry policies promise, by kind of job; kinds past the end
	// are as the last. None: attempts and delays are not checked.
	Retries []Retry
	Serial  func(engine.JobID) uint32 // the serial key of a job; nil: none has one, or nothing is promised of them
	Keyed   bool                      // jobs may have serial keys, whatever Serial says
	Sheds   bool                      // claims may bury ready jobs
	Resets  bool                      // a redriven job may start over with its attempts
	// LostWaiting says that a process may die with jobs that it was making ready, and
	// LostInFlight that a lease may never end: such jobs may be left at the end.
	LostWaiting, LostInFlight bool

	Capped   bool // RetryCap is promised
	RetryCap int  // most retries that one node runs at once
	// ShareNum / ShareDen is the share of claims, of each node, that is fresh while
	// both classes are ready.
	ShareNum, ShareDen int64

	// Calm is from when on nothing goes wrong any more and no execution fails by fault:
	// what follows is checked from then on. Never: not at all.
	Calm engine.Time
	// Idle is the longest that workers of a node may be idle while jobs are ready and
	// it claims none.
	Idle time.Duration
	// Recover is the longest from the end of a lease, or from Calm, to its recovery, and
	// RecoverEach what comes to it for each batch of the reaper that the most leases that there
	// ever were at once fill.
	Recover, RecoverEach time.Duration
	// Wait is the longest that a job may be ready for before it is claimed.
	Wait time.Duration
	// Settled is from when on every call that is executed was made in calm. 0: nothing is
	// promised of whose calls they are.
	Settled engine.Time
	// Conserving says that the policy leaves no worker idle while a job is ready.
	Conserving bool
	// Heard is from when on no call that is executed was made while calls were lost, refused
	// or late, and Trip the longest from when a call is made to when its answer has come, if
	// it is not. 0: nothing is promised of either.
	Heard engine.Time
	Trip  time.Duration
	// Way is what Trip is without the time after which a call counts as lost: the longest on
	// the way, there and back. 0: as Trip.
	Way time.Duration
	// Stalls says that reapers may be held up before Calm.
	Stalls bool
	// Heeds says that executions end at once that are told to stop.
	Heeds bool
	// Ranked says that the policy claims the most urgent jobs of a class first, which are
	// those of the smallest Priority of their kind.
	Ranked   bool
	Priority func(engine.Kind) int16
	// Order is in which the policy claims jobs of one kind by their age: OldestReady or
	// NewestReady, if Aged says that it does.
	Order engine.Order
	Aged  bool
	// Commits is the longest, in calm, from when an execution has ended to when the store
	// knows what came of it, if it is the only one; CommitEach comes to it for each other
	// that its process has to commit. 0: nothing is promised.
	Commits, CommitEach time.Duration
	// Promote is the longest from one promotion to the next in calm. 0: nothing is promised.
	Promote time.Duration
	// Between is how long a worker looks for its next job, on average at the most, while jobs
	// are ready. 0: nothing is promised.
	Between time.Duration
	// HandBack is the longest from when a process is told to stop to when all that it
	// holds and does not run is ready again, if none of its calls goes unanswered; see
	// Checker.Stopped.
	HandBack time.Duration

	Only Set // the invariants that count
}

// Retry is what a retry policy promises.
type Retry struct {
	MaxAttempts int32 // 0: no limit
	// ByFailure says that MaxAttempts counts failures, which a claim alone is not.
	ByFailure bool
	Never     []engine.ErrorKind // bury at once
	Free      []engine.ErrorKind // cost no attempt, the first FreeMax times that a job fails so
	FreeMax   int32              // -1: always
	Aged      bool               // it buries jobs for their age
	// Delay returns the shortest and the longest delay after the n-th failure, n at
	// least 1; nil: it promises none.
	Delay func(n int32) (shortest, longest time.Duration)
}

func (r *Rules) retry(k engine.Kind) *Retry {
	if len(r.Retries) == 0 {
		return nil
	}
	return &r.Retries[min(int(k), len(r.Retries)-1)]
}

func (r *Retry) isFree(e engine.ErrorKind) bool { return slices.Contains(r.Free, e) }

// derived is what Rules come to.
type derived struct {
	fenced    bool          // only who holds the current token changes a job in flight
	ttl       time.Duration // of every lease
	timed     bool          // a lease ends ttl after it was granted or extended, by the store's clock
	lapse     time.Duration // so long after that the holder has lost it; Forever: only when it is taken
	attempts  bool          // limits on attempts hold
	bounded   bool          // there are limits on what is in flight
	shares    bool
	idle      bool
	rooms     bool
	explained bool
	ranked    bool
	aged      bool
	lastTaken time.Duration // from the end of a lease to its recovery, in calm
	led       time.Duration // another node that reaped between two calls of one must have led for longer; 0: whoever likes reaps
}

func (r *Rules) derive() derived {
	l, g := &r.Node.Lease, r.Node.Reaper.Guard
	d := derived{ttl: l.TTL, lapse: engine.Forever}
	d.fenced = r.Store.Fence == engine.FenceToken && (g == engine.FenceDefault || g == engine.FenceToken)
	d.timed = !l.Local && !l.OfNode && !l.AckAtStart
	if r.Store.LapseAfter >= 0 {
		d.lapse = r.Store.LapseAfter
	}
	d.attempts = d.fenced
	d.bounded = r.Store.MaxInFlight > 0 || slices.ContainsFunc(r.Store.MaxRunning, func(n int) bool { return n > 0 })
	// Jobs that may not be claimed although they are ready make a class look empty.
	whole := !d.bounded && r.Serial == nil && !r.Keyed && !r.Store.Held
	d.shares = r.ShareDen > 0 && whole
	d.idle = r.Idle > 0 && whole && r.Node.Fetch.Cooldown == 0 && !r.LostInFlight
	d.ranked = r.Ranked && r.Priority != nil && whole
	d.aged = r.Aged && whole && r.Store.Place == engine.PlaceDue
	d.rooms = r.Conserving && r.Trip > 0 && r.Heard > 0 && whole && !r.Sheds && r.Node.Lease.LateClaim != engine.RunLate
	d.explained = r.Between > 0 && d.idle && r.Conserving
	d.lastTaken = r.Recover
	if !d.timed || r.Node.Reaper.Off || r.LostInFlight {
		d.lastTaken = 0
	}
	if r.Settled > 0 && r.Nodes > 1 && r.Node.Reaper.Owner == engine.LeaderOnly && !r.Node.Reaper.Off {
		d.led = r.Node.Leader.TTL * 2 / 3 // less what calls take
	}
	return d
}
