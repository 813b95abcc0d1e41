package scenarios

import (
	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/policies"
	"qsim/results/measure"
)

// Scenario is the content of one scenario file, with the defaults filled in. Load makes it; its values have been
// checked and need no checking again.
type Scenario struct {
	Version     int      `yaml:"version"`     // version of the language: 1
	Name        string   `yaml:"name"`        // name in results and reports: a-z, 0-9 and -
	Description string   `yaml:"description"` // text for the report
	Duration    Duration `yaml:"duration"`    // virtual time during which jobs arrive
	Drain       Duration `yaml:"drain"`       // longest additional time of a run to finish the remaining jobs; 0s: none
	Warmup      Duration `yaml:"warmup"`      // jobs enqueued before this time are left out of every number
	// number of replications: each seed gives different arrivals, run times and failures
	Seeds    Count  `yaml:"seeds"`
	Seed     uint64 `yaml:"seed"`     // first seed, at least 1; the others follow it
	Baseline string `yaml:"baseline"` // label or kind of the policy with which the others are compared
	Engine   Engine `yaml:"engine"`   // processes of the queue and the store they share
	Retry    Retry  `yaml:"retry"`    // retry policy of failed jobs of every class; see RetryOf

	Dependencies []Dependency `yaml:"dependencies"` // external services that handlers call; shared by all nodes
	Jobs         []JobClass   `yaml:"jobs"`         // classes of jobs, at least one; see ClassIndex
	Storms       []Storm      `yaml:"storms"`       // faults and overloads with their windows of time
	Policies     []Policy     `yaml:"policies"`     // fetch policies to compare on the same seeds
	Objectives   []Objective  `yaml:"objectives"`   // bounds on metrics: they decide the exit code

	tree       *origin                                 // YAML nodes that the scenario was decoded from
	retry      []Retry                                 // retry settings by class
	variants   []*Scenario                             // scenarios by policy; nil: the policy has no overrides
	custom     map[int]func(workers int) engine.Policy // constructors of policies added by Compare, by index of the policy
	errorKinds []string                                // names of error kinds, by engine.ErrorKind
	tenants    tenantNumbers
	files      *folder         // folder to which paths in the scenario are relative
	asked      []measure.Query // queries added by Measure
}

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

// Policy is one of the policies compared.
type Policy struct {
	Kind  string `yaml:"kind"`  // which policy it is: `qsim list policies` describes them
	Label string `yaml:"label"` // name in tables and charts, at most 40 characters; unique
	// overrides of keys of engine, retry, dependencies, jobs and storms for this policy alone, by path; see Variant
	With   map[string]yaml.Node `yaml:"with,omitempty"`
	Params map[string]yaml.Node `yaml:",inline"` // parameters of the policy's kind

	values  map[string]policies.Value
	spelled map[string]yaml.Node // With in the form that Resolved writes
}

// Objective is a bound on a metric: exactly one of Below and Above is set.
type Objective struct {
	Metric string `yaml:"metric"`           // what is bounded: `qsim list metrics` describes them
	During string `yaml:"during,omitempty"` // only jobs enqueued in the storm of that name, or its window
	After  string `yaml:"after,omitempty"`  // only jobs enqueued after the storm of that name
	Class  string `yaml:"class,omitempty"`  // only jobs of that class
	Tenant string `yaml:"tenant,omitempty"` // only jobs of the tenant of that name; see TenantName
	// wait limit of fresh.within: a share of jobs claimed in this time
	Limit *Duration `yaml:"limit,omitempty"`
	Below *Bound    `yaml:"below,omitempty"` // the metric must be at most this
	Above *Bound    `yaml:"above,omitempty"` // the metric must be at least this
	// labels or kinds of the policies that it applies to; none: every policy
	Policies []string `yaml:"policies,omitempty,flow"`
	// missed: the scenario demonstrates a failure, and the objective is as expected if it is missed
	Expect Expect `yaml:"expect"`

	line int
}

// Line returns the line of the objective in the scenario's file, from 1; 0: it was set elsewhere.
func (o *Objective) Line() int { return o.line }
