package spec

import (
	"slices"

	"qsim/engine"
	"qsim/policies"
	"qsim/results/plain"
)

// Retry is the retry policy of failed jobs: limit on attempts, backoff and jitter.
type Retry struct {
	// system whose retry policy gives the values of keys left out here; left out: the retry policy of the engine's preset
	Preset      string   `yaml:"preset,omitempty"`
	MaxAttempts Attempts `yaml:"max-attempts"` // executions in all, or unlimited
	// executions after the first one: another form of max-attempts
	MaxRetries *Limit  `yaml:"max-retries,omitempty"`
	Backoff    Backoff `yaml:"backoff"` // delay after a failure, before jitter
	// spread of delays: none, full, equal, decorrelated, ±20%, +10%, -50%, +30s
	Jitter Jitter `yaml:"jitter"`
	// begin of a delay: commit, when the store receives the failure; failure; claim, with the failing attempt
	From DelayFrom `yaml:"from,omitempty"`
	// the due time of a retry, or of a job with a delay, is rounded down to a whole multiple of this, as in a system that
	// stores whole seconds; 0s: no rounding
	Grain Duration `yaml:"grain,omitempty"`
	Never []string `yaml:"never,flow"` // error kinds that bury a job at once (to the dead-letter set)
	// unit of max-attempts: claim, every delivery; failure, only deliveries that fail
	Count    RetryCount `yaml:"count"`
	Deadline Duration   `yaml:"deadline"` // age from which a job gets no further attempt; 0s: none
	// error kinds whose failures cost no attempt; no kind may also be in never
	Free []string `yaml:"free,flow"`
	// number of failures of one job that may be free; further ones cost an attempt
	FreeMax Limit `yaml:"free-max"`
}

// Backoff is the delay after the n-th failure, before jitter. Kind determines which fields are
// used: exponential First*Factor^(n-1) plus Plus, at most Max; linear First+Step*(n-1), at most
// Max; fixed Delay; fibonacci First*(1 1 2 3 5 ...), at most Max; polynomial (n-Less)^Power seconds
// plus Plus, at most Max; table Delays, the last repeats; random Delay; none. With Scale, and more
// attempts in all than that, an exponential one takes n*Scale/max-attempts, rounded, for n.
type Backoff struct {
	Kind   string   `yaml:"kind"`             // formula of the delay by the number of failures
	First  Duration `yaml:"first,omitempty"`  // delay after the first failure
	Factor Factor   `yaml:"factor,omitempty"` // ratio of each delay to the one before; left out: 2
	Step   Duration `yaml:"step,omitempty"`   // increase of the delay at each failure
	Power  Count    `yaml:"power,omitempty"`  // exponent of the number of failures, in seconds
	// number subtracted from the number of failures before the power is taken
	Less Count    `yaml:"less,omitempty"`
	Plus Duration `yaml:"plus,omitempty"` // constant added to every delay
	// number of attempts over which delays grow: with more attempts in all, the growth is stretched over them; 0: never
	Scale  Count         `yaml:"scale,omitempty"`
	Max    Duration      `yaml:"max,omitempty"`         // longest delay; 0s: no bound
	Delay  *Distribution `yaml:"delay,omitempty"`       // delay: a duration for fixed, a distribution for random
	Delays []Duration    `yaml:"delays,omitempty,flow"` // delays by number of failures; the last repeats
}

// retryPolicy returns the retry policy for the engine to run; errorKind returns the number of a named error kind.
func (r *Retry) retryPolicy(errorKind func(string) engine.ErrorKind) (*policies.Backoff, error) {
	kind, err := policies.ParseBackoffKind(r.Backoff.Kind)
	if err != nil {
		return nil, err
	}
	own := &r.Backoff
	b := &policies.Backoff{Kind: kind, First: own.First.Std(), Factor: float64(own.Factor), Step: own.Step.Std(),
		Power: int(own.Power), Less: int(own.Less), Plus: own.Plus.Std(), Delays: plain.Map(own.Delays, Duration.Std),
		Scale: int(own.Scale), Max: own.Max.Std(), Jitter: r.Jitter,
		MaxAttempts: int(r.MaxAttempts), Count: r.Count.Value(), Never: KindsOf(r.Never, errorKind),
		Free: KindsOf(r.Free, errorKind), FreeMax: int(r.FreeMax)}
	if delay := own.Delay; delay != nil && kind == policies.Fixed {
		b.First = delay.Dist().Duration(0.5)
	} else if delay != nil {
		b.Distribution = delay.Dist()
	}
	return b, b.Validate()
}

// KindsOf returns the engine's numbers of the named error kinds that errorKind knows: no attempt fails with others.
func KindsOf(names []string, errorKind func(string) engine.ErrorKind) []engine.ErrorKind {
	unknown := func(kind engine.ErrorKind) bool { return kind == engine.NoError }
	return slices.DeleteFunc(plain.Map(names, errorKind), unknown)
}

// normalize gives equal retry settings one form: max-retries becomes max-attempts, a missing factor of an exponential
// backoff 2, and the jitter of a random delay none.
func (r *Retry) normalize() {
	if r.Backoff.Kind == "exponential" && r.Backoff.Factor == 0 {
		r.Backoff.Factor = 2
	}
	if r.Backoff.Kind == "random" {
		r.Jitter = Jitter{}
	}
	if r.MaxRetries == nil {
		return
	}
	r.MaxAttempts = 0
	if *r.MaxRetries >= 0 {
		r.MaxAttempts = Attempts(*r.MaxRetries) + 1
	}
	r.MaxRetries = nil
}
