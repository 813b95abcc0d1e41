package engine

import "time"

// Fence is the condition under which an outcome takes effect: the token, the state, or none.
type Fence uint8

const (
	FenceDefault Fence = iota // of an outcome: as StoreOptions.Fence says; of StoreOptions: FenceToken
	FenceToken                // the job is in flight under the same token
	FenceState                // the job is in flight, whoever holds it
	FenceNone                 // the job has not ended
)

// String returns the fence's name in the spelling of scenarios.
func (f Fence) String() string { return [...]string{"default", "token", "state", "none"}[f] }

// Or returns the fence f, or usual if f is FenceDefault.
func (f Fence) Or(usual Fence) Fence {
	if f == FenceDefault {
		return usual
	}
	return f
}

// Place is the rule for a job's ready key, its position among the ready jobs of its priority, by which OldestReady
// orders. In StoreOptions it applies to jobs that were claimed before, in an outcome to that job.
type Place uint8

const (
	PlaceDefault Place = iota // of an outcome: as StoreOptions.Place says, as if it had become due now; of StoreOptions: PlaceDue
	PlaceHead                 // before all that were not put there, by due time
	PlaceDue                  // by due time; a fresh job is due when it is enqueued or its delay is over. Of an outcome: where it stood before
	PlaceTail                 // by the time it was made ready, behind whatever was ready then
	PlaceCreated              // by enqueue time
)

// String returns the place's name in the spelling of scenarios.
func (p Place) String() string { return [...]string{"default", "head", "due", "tail", "created"}[p] }

// StoreOptions are the options of a store, common to all its engines.
type StoreOptions struct {
	Fence Fence
	Place Place
	// Promoted makes a waiting job ready only by Promote. Otherwise it is ready
	// the instant it is due.
	Promoted bool
	// LapseAfter, if not negative, takes a lease from its holder at the instant
	// its TTL ended this long ago: commits and extensions are stale from then on,
	// before Recover hands the job to a reaper. Negative: Recover takes it.
	LapseAfter time.Duration
	// RecoveriesWithin bounds what Job.Recoveries counts: it starts anew once the
	// first of those it counts is longer ago. 0: it counts all.
	RecoveriesWithin time.Duration
	// Orphans makes Recover and Expired find jobs in flight whose lease record is
	// lost, as if they had expired long ago, before all others. Otherwise nothing
	// finds them. In either case a commit that the fence lets through ends or moves
	// such a job as any other, an extension finds nothing to prolong and is refused,
	// and nextExpiry is 0 while Recover or Expired would find one.
	Orphans bool
	// MaxRunning is how many jobs of a kind may be in flight, by kind; 0, or past the
	// end: any number. Jobs that a reaper holds do not count. A claim passes the
	// others by, whatever its order.
	MaxRunning []int
	// Service is what a job costs under TenantDeficit, by kind: its declared mean
	// run time, at least 1ns. Kinds past the end are as the last; none: 1s.
	Service []time.Duration
	// KeepDead keeps buried jobs, so that they can be made ready again and their
	// IDs are recognised. Otherwise the store forgets them.
	KeepDead bool
	// MaxInFlight, if above 0, is how many jobs may be in flight in all, those that a
	// reaper holds or whose lease record is lost included: a claim brings no more.
	MaxInFlight int
	// CountUnacked makes MaxInFlight count the retries that are not in flight too, ready or waiting: a claim brings no
	// more fresh jobs then, and as many retries as it likes.
	CountUnacked bool
	// CountAhead keeps count of the ready jobs that claims pass over, for stores that
	// say how many those were.
	CountAhead bool
	// Held hands jobs out before they are due, whatever Promoted says: a waiting job is
	// Ready at once, by the due time that it has, and its lease says with a negative
	// Waited for how long the engine must hold it. It keeps its due time when it is
	// returned or redone.
	Held bool
}

// Complete returns o with FenceDefault and PlaceDefault replaced by their meanings.
func (o StoreOptions) Complete() StoreOptions {
	o.Fence = o.Fence.Or(FenceToken)
	if o.Place == PlaceDefault {
		o.Place = PlaceDue
	}
	return o
}
