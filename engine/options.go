package engine

import (
	"cmp"
	"time"
)

// Fence is the condition (fencing) under which an attempt's outcome takes effect: that the job is still in flight under
// the attempt's token, that it is in flight at all, or only that it has not ended.
type Fence uint8

const (
	FenceDefault Fence = iota // of an outcome: the fence in StoreOptions; of StoreOptions: FenceToken
	FenceToken                // effective while the job is in flight under the same token
	FenceState                // effective while the job is in flight, whoever holds it
	FenceNone                 // effective until the job has ended
)

// String returns the name of the fence, the condition for an outcome to take effect, in the spelling of scenarios.
func (f Fence) String() string { return [...]string{"default", "token", "state", "none"}[f] }

// Place is the rule for a job's ready key, its position among the ready jobs of one priority: by due time, for example.
// StoreOptions.Place is for every job that is ready again after a claim, Outcome.Stand for the job of one outcome.
type Place uint8

const (
	PlaceDefault Place = iota // of outcomes: StoreOptions.Place, as if due now; of StoreOptions: PlaceDue
	PlaceHead                 // before all jobs without PlaceHead, by due time
	PlaceDue                  // by due time: fresh jobs at enqueueing or after their delay. Of an outcome: former position
	PlaceTail                 // by the time it was made ready, behind the jobs ready then
	PlaceCreated              // by enqueue time
)

// String returns the name of the rule for a job's place among the ready jobs, in the spelling of scenarios.
func (p Place) String() string { return [...]string{"default", "head", "due", "tail", "created"}[p] }

// StoreOptions are the options of a store, common to all engines that use it.
type StoreOptions struct {
	Fence Fence // condition for a commit to take effect
	Place Place // position of a job that is ready again after a claim
	// Promoted makes a waiting job ready only by Promote. Otherwise it is ready
	// the instant it is due.
	Promoted bool
	// SilentDue keeps the store from announcing a waiting job that becomes ready, by itself or by Promote, to engines that
	// listen: a poll or another claim finds it.
	SilentDue bool
	// LapseAfter, if not negative, is the time after the end of its TTL at which a lease lapses: from
	// then on its holder's commits and extensions are stale, even before Recover hands the job to a
	// reaper. Negative: a lease lapses when Recover takes it.
	LapseAfter time.Duration
	// RecoveriesWithin is the length of the period over which Job.Recoveries counts: the count
	// restarts once its first recovery is longer ago. 0: no limit.
	RecoveriesWithin time.Duration
	// Orphans makes Recover and Expired find jobs in flight whose lease record is
	// lost, as if they had expired long ago, before all others. Otherwise nothing
	// finds them. In either case a commit that the fence lets through ends or moves
	// such a job as any other, an extension finds nothing to prolong and is refused,
	// and nextExpiry is 0 while Recover or Expired would find one.
	Orphans bool
	// MaxRunning holds, by job kind, the most jobs that may be in flight; 0, or past the end: no limit. Jobs held by a
	// reaper do not count. Claims, whatever their order, skip the kinds at their limit.
	MaxRunning []int
	// Service holds, by job kind, the declared mean run time, which is the cost of a job under
	// TenantDeficit, at least 1ns. Kinds past the end have the last entry's; empty: 1s.
	Service []time.Duration
	// KeepDead keeps buried jobs (the dead-letter set), so that they can be made ready again and their
	// IDs are recognised. Otherwise the store forgets them.
	KeepDead bool
	// MaxInFlight, if above 0, is the most jobs that may be in flight in all, including those held by
	// a reaper or without a lease record: claims stop there.
	MaxInFlight int
	// CountUnacked makes MaxInFlight also count the ready and waiting retries: it then limits claims of fresh jobs,
	// while claims of retries are not limited.
	CountUnacked bool
	// CountAhead makes a simulated store count, at each claim, the ready jobs that it passes over: see sim.Store.
	CountAhead bool
	// Held makes jobs claimable before they are due, whatever Promoted is: a waiting job is Ready at
	// once, ordered by its due time, and a negative Waited in its lease is the time for which the
	// engine must hold it. The due time survives a return or redo.
	Held bool
}

// Complete returns o with FenceDefault and PlaceDefault replaced by the defaults for which they stand.
func (o StoreOptions) Complete() StoreOptions {
	o.Fence, o.Place = cmp.Or(o.Fence, FenceToken), cmp.Or(o.Place, PlaceDue)
	return o
}
