package spec

import (
	"strings"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/measure"
)

// Fence and the types below are keys of a scenario whose value is one of several words, each of which has a meaning.
type (
	Fence        = quantity.Choice[engine.Fence, fences]            // condition for a commit to take effect
	Place        = quantity.Choice[engine.Place, places]            // position of a due retry among the ready jobs
	ReaperPlace  = quantity.Choice[engine.Place, reaperPlaces]      // position of a recovered job among the ready jobs
	LateClaim    = quantity.Choice[Late, lateClaims]                // treatment of a late answer to a claim
	PromoteOrder = quantity.Choice[engine.Order, promoteOrders]     // order in which due jobs are promoted
	After        = quantity.Choice[engine.Verb, afters]             // outcome of a recovered job
	RetryCount   = quantity.Choice[policies.CountRule, retryCounts] // events counted by max-attempts
	Guard        = quantity.Choice[measure.Guard, guards]           // protection of an effect from being applied twice
	DelayFrom    = quantity.Choice[engine.EventKind, delaysFrom]    // begin of the delay of a retry
	OnTimeout    = quantity.Choice[TimedOut, onTimeouts]            // effect of an execution timeout
)

// Either is a key of a scenario with one of two words, which mean false and true; the types below tell what true means.
type Either[W quantity.Words[bool]] = quantity.Choice[bool, W]

// TimedOut is what becomes of an attempt at its execution timeout, as the fields of engine.KindConfig with these names.
type TimedOut struct{ WaitOut, Free bool }

// Late is what a node does with jobs in a claim's reply that comes after the call has timed out: it runs them, ignores
// them until their leases expire or, without either, returns them to the queue.
type Late struct{ Run, Ignore bool }

// fences and the types below list, for one Choice each, the words that scenario files use and the Go values they mean.
type (
	fences        struct{}
	places        struct{}
	reaperPlaces  struct{}
	lateClaims    struct{}
	promoteOrders struct{}
	afters        struct{}
	retryCounts   struct{}
	guards        struct{}
	delaysFrom    struct{}
	onTimeouts    struct{}
	counts        struct{} // true: an expiry is no failure
	giveUps       struct{} // true: outcomes are dropped after the last try
	owners        struct{} // true: only the leader does a maintenance job
	expects       struct{} // true: the objective is expected to be missed
	acks          struct{} // true: the claim is the ack
	waitings      struct{} // true: nodes hold their waiting jobs
	inFlightOf    struct{} // true: retries count as in flight until they end
	onDues        struct{} // true: jobs that fall due are found by a poll
	coolsFrom     struct{} // true: a cooldown begins with each signal to claim
	phases        struct{} // true: timers begin with a whole period
	leasesOf      struct{} // true: a lease belongs to a node, not a job
	nodeNames     struct{} // true: a restarted process keeps its name as a holder
	leaseChecks   struct{} // true: holders check expiries by their own clocks
	finds         struct{} // true: jobs without a lease are found
)

func (fences) Words() ([]string, []engine.Fence) {
	return words("token state none", engine.FenceToken, engine.FenceState, engine.FenceNone)
}

func (places) Words() ([]string, []engine.Place) {
	return words("due tail head created", engine.PlaceDue, engine.PlaceTail, engine.PlaceHead, engine.PlaceCreated)
}

func (reaperPlaces) Words() ([]string, []engine.Place) {
	names, values := places{}.Words()
	return append([]string{"retry"}, names...), append([]engine.Place{engine.PlaceDefault}, values...)
}

func (delaysFrom) Words() ([]string, []engine.EventKind) {
	return words("commit failure claim", 0, engine.Finished, engine.Leased)
}

func (promoteOrders) Words() ([]string, []engine.Order) {
	return words("oldest newest", engine.OldestReady, engine.NewestReady)
}

func (retryCounts) Words() ([]string, []policies.CountRule) {
	return words("claim failure", policies.CountClaim, policies.CountFailure)
}

func (guards) Words() ([]string, []measure.Guard) {
	return words("none check atomic", measure.NoGuard, measure.CheckGuard, measure.AtomicGuard)
}

func (lateClaims) Words() ([]string, []Late) {
	return words("return run ignore", Late{}, Late{Run: true}, Late{Ignore: true})
}

func (onTimeouts) Words() ([]string, []TimedOut) {
	return words("fail free wait", TimedOut{}, TimedOut{Free: true}, TimedOut{WaitOut: true})
}

func (afters) Words() ([]string, []engine.Verb) {
	return words("retry ready dead", 0, engine.Redo, engine.Bury)
}

func (counts) Words() ([]string, []bool)      { return words("failure nothing", false, true) }
func (giveUps) Words() ([]string, []bool)     { return words("requeue drop", false, true) }
func (owners) Words() ([]string, []bool)      { return words("every leader", false, true) }
func (expects) Words() ([]string, []bool)     { return words("met missed", false, true) }
func (acks) Words() ([]string, []bool)        { return words("late early", false, true) }
func (waitings) Words() ([]string, []bool)    { return words("store held", false, true) }
func (inFlightOf) Words() ([]string, []bool)  { return words("claimed unacked", false, true) }
func (onDues) Words() ([]string, []bool)      { return words("wake poll", false, true) }
func (coolsFrom) Words() ([]string, []bool)   { return words("claim signal", false, true) }
func (phases) Words() ([]string, []bool)      { return words("drawn together", false, true) }
func (leasesOf) Words() ([]string, []bool)    { return words("job node", false, true) }
func (nodeNames) Words() ([]string, []bool)   { return words("new kept", false, true) }
func (leaseChecks) Words() ([]string, []bool) { return words("store local", false, true) }
func (finds) Words() ([]string, []bool)       { return words("in-flight lease", true, false) }

// words returns text split at its spaces, for the words of a Choice, and their values in the same order.
func words[T any](text string, values ...T) ([]string, []T) { return strings.Fields(text), values }

// Wake is which nodes with idle workers are woken when jobs become ready: one, all or none (in files true, all, false).
type Wake string

// UnmarshalText parses the words that a scenario file has for the rule: true or one, all, false.
func (w *Wake) UnmarshalText(text []byte) error {
	words := []string{"true", "one", "all", "false"}
	i, err := quantity.Choose(string(text), words)
	if err == nil {
		*w = [...]Wake{"one", "one", "all", "none"}[i]
	}
	return err
}

// MarshalYAML returns the rule as a scenario file has it: true (one node), all or false (none).
func (w Wake) MarshalYAML() (any, error) {
	switch w {
	case "one":
		return true, nil
	case "none":
		return false, nil
	}
	return string(w), nil
}

type (
	Duration     = quantity.Duration     // a duration: 1h30m
	Offset       = quantity.Offset       // a signed duration: 30s, -30s
	Count        = quantity.Count        // a whole number: 100, 100k
	Attempts     = quantity.Attempts     // a number of attempts: 4, unlimited
	Limit        = quantity.Limit        // a number with or without a limit: 0, 4, unlimited
	Factor       = quantity.Factor       // a factor above 0: 2.5
	Number       = quantity.Number       // a number: 0, 2.5
	Rate         = quantity.Rate         // events per unit of time: 120/s
	Share        = quantity.Share        // a share: 20%
	CountOrShare = quantity.CountOrShare // a number or a share: 20, 20%
	Jitter       = policies.Jitter       // a jitter: full, ±20%, +30s
)
