package scenarios

import (
	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/measure"
)

// Fence and the types below are choices: keys whose value is one of several words, each with its meaning.
type (
	Fence        = quantity.Choice[engine.Fence, fences]            // what a commit must match
	Place        = quantity.Choice[engine.Place, places]            // where a due retry stands
	ReaperPlace  = quantity.Choice[engine.Place, reaperPlaces]      // where a recovered job stands
	LateClaim    = quantity.Choice[Late, lateClaims]                // what becomes of the answer of a claim given up on
	GiveUp       = quantity.Choice[bool, giveUps]                   // Value: outcomes are forgotten after the last try
	Owner        = quantity.Choice[bool, owners]                    // Value: only the leader does a maintenance job
	PromoteOrder = quantity.Choice[engine.Order, promoteOrders]     // which due jobs are promoted first
	After        = quantity.Choice[engine.Verb, afters]             // what a recovered job becomes
	RetryCount   = quantity.Choice[policies.CountRule, retryCounts] // what max-attempts counts
	Counts       = quantity.Choice[bool, counts]                    // Value: an expiry is no failure
	Guard        = quantity.Choice[measure.Guard, guards]           // what keeps an effect from being applied twice
	Expect       = quantity.Choice[bool, expects]                   // Value: the objective is to be missed
	Ack          = quantity.Choice[bool, acks]                      // Value: the claim is the ack
	Waiting      = quantity.Choice[bool, waitings]                  // Value: nodes hold their waiting jobs
	InFlightOf   = quantity.Choice[bool, inFlightOf]                // Value: retries count as in flight until they end
	OnDue        = quantity.Choice[bool, onDues]                    // Value: a poll finds jobs that fall due
	CooldownFrom = quantity.Choice[bool, coolsFrom]                 // Value: a cooldown begins with each signal to claim
	DelayFrom    = quantity.Choice[engine.EventKind, delaysFrom]    // when the delay of a retry begins to run
	OnTimeout    = quantity.Choice[TimedOut, onTimeouts]            // what a timeout does
	Phase        = quantity.Choice[bool, phases]                    // Value: timers begin with a drawn part of their period
	LeaseOf      = quantity.Choice[bool, leasesOf]                  // Value: leases are those of a node
	NodeNames    = quantity.Choice[bool, nodeNames]                 // Value: a process that starts again is the holder it was
	LeaseCheck   = quantity.Choice[bool, leaseChecks]               // Value: holders look at their clocks
	ReaperFinds  = quantity.Choice[bool, finds]                     // Value: jobs without a lease are found
)

// TimedOut is the effect of an execution timeout, see engine.KindConfig.
type TimedOut struct{ WaitOut, Free bool }

// Late is the treatment of jobs in the late reply to a claim that the node has given up on, see engine.LeaseConfig.
type Late struct{ Run, Ignore bool }

// fences and the variables below hold the words of Choice types.
type (
	fences        struct{}
	places        struct{}
	reaperPlaces  struct{}
	lateClaims    struct{}
	giveUps       struct{}
	owners        struct{}
	promoteOrders struct{}
	afters        struct{}
	retryCounts   struct{}
	counts        struct{}
	guards        struct{}
	expects       struct{}
	acks          struct{}
	waitings      struct{}
	phases        struct{}
	inFlightOf    struct{}
	delaysFrom    struct{}
	onDues        struct{}
	coolsFrom     struct{}
	onTimeouts    struct{}
	leasesOf      struct{}
	nodeNames     struct{}
	leaseChecks   struct{}
	finds         struct{}
)

func (fences) Words() ([]string, []engine.Fence) {
	return []string{"token", "state", "none"},
		[]engine.Fence{engine.FenceToken, engine.FenceState, engine.FenceNone}
}

func (places) Words() ([]string, []engine.Place) {
	return []string{"due", "tail", "head", "created"},
		[]engine.Place{engine.PlaceDue, engine.PlaceTail, engine.PlaceHead, engine.PlaceCreated}
}

func (reaperPlaces) Words() ([]string, []engine.Place) {
	return []string{"retry", "due", "tail", "head", "created"},
		[]engine.Place{engine.PlaceDefault, engine.PlaceDue, engine.PlaceTail, engine.PlaceHead, engine.PlaceCreated}
}

func (lateClaims) Words() ([]string, []Late) {
	return []string{"return", "run", "ignore"}, []Late{{}, {Run: true}, {Ignore: true}}
}

func (delaysFrom) Words() ([]string, []engine.EventKind) {
	return []string{"commit", "failure", "claim"}, []engine.EventKind{0, engine.Finished, engine.Leased}
}

func (onTimeouts) Words() ([]string, []TimedOut) {
	return []string{"fail", "free", "wait"}, []TimedOut{{}, {Free: true}, {WaitOut: true}}
}

func (promoteOrders) Words() ([]string, []engine.Order) {
	return []string{"oldest", "newest"},
		[]engine.Order{engine.OldestReady, engine.NewestReady}
}

func (afters) Words() ([]string, []engine.Verb) {
	return []string{"retry", "ready", "dead"},
		[]engine.Verb{0, engine.Redo, engine.Bury}
}

func (retryCounts) Words() ([]string, []policies.CountRule) {
	return []string{"claim", "failure"},
		[]policies.CountRule{policies.CountClaim, policies.CountFailure}
}

func (guards) Words() ([]string, []measure.Guard) {
	return []string{"none", "check", "atomic"}, []measure.Guard{measure.NoGuard, measure.CheckGuard, measure.AtomicGuard}
}

func (counts) Words() ([]string, []bool)      { return pair("failure", "nothing") }
func (giveUps) Words() ([]string, []bool)     { return pair("requeue", "drop") }
func (owners) Words() ([]string, []bool)      { return pair("every", "leader") }
func (expects) Words() ([]string, []bool)     { return pair("met", "missed") }
func (acks) Words() ([]string, []bool)        { return pair("late", "early") }
func (waitings) Words() ([]string, []bool)    { return pair("store", "held") }
func (inFlightOf) Words() ([]string, []bool)  { return pair("claimed", "unacked") }
func (onDues) Words() ([]string, []bool)      { return pair("wake", "poll") }
func (coolsFrom) Words() ([]string, []bool)   { return pair("claim", "signal") }
func (phases) Words() ([]string, []bool)      { return pair("together", "drawn") }
func (leasesOf) Words() ([]string, []bool)    { return pair("job", "node") }
func (nodeNames) Words() ([]string, []bool)   { return pair("new", "kept") }
func (leaseChecks) Words() ([]string, []bool) { return pair("store", "local") }
func (finds) Words() ([]string, []bool)       { return []string{"in-flight", "lease"}, []bool{true, false} }

// pair returns the words of a Choice between false and true.
func pair(no, yes string) ([]string, []bool) { return []string{no, yes}, []bool{false, true} }

// Wake is the rule for who is told at once of new ready jobs: one node (written true or one), all or none (written
// false).
type Wake string

// UnmarshalText parses true, one, all or false.
func (w *Wake) UnmarshalText(text []byte) error {
	words := []string{"true", "one", "all", "false"}
	i, err := quantity.Choose(string(text), words)
	if err == nil {
		*w = [...]Wake{"one", "one", "all", "none"}[i]
	}
	return err
}

// MarshalYAML returns the rule as a scenario spells it.
func (w Wake) MarshalYAML() (any, error) {
	switch w {
	case "one":
		return true, nil
	case "none":
		return false, nil
	}
	return string(w), nil
}
