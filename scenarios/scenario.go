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
	Version     int      `yaml:"version"`     // of the language: 1
	Name        string   `yaml:"name"`        // of results and reports: a-z, 0-9 and -
	Description string   `yaml:"description"` // text for the report
	Duration    Duration `yaml:"duration"`    // virtual time in which jobs arrive
	Drain       Duration `yaml:"drain"`       // how much longer a run may go on to finish what is left; 0s: not at all
	Warmup      Duration `yaml:"warmup"`      // jobs enqueued before this are left out of every number
	// replications: so many seeds, each with other arrivals, run times and failures
	Seeds    Count  `yaml:"seeds"`
	Seed     uint64 `yaml:"seed"`     // the first seed, at least 1; the others follow it
	Baseline string `yaml:"baseline"` // label or kind of the policy that the others are compared with
	Engine   Engine `yaml:"engine"`   // the processes of the queue and the store they share
	Retry    Retry  `yaml:"retry"`    // what becomes of failed jobs of every class; see RetryOf

	Dependencies []Dependency `yaml:"dependencies"` // what handlers call; shared by all nodes
	Jobs         []JobClass   `yaml:"jobs"`         // classes of jobs, at least one; see ClassIndex
	Storms       []Storm      `yaml:"storms"`       // windows of trouble
	Policies     []Policy     `yaml:"policies"`     // what is claimed next: compared on the same seeds
	Objectives   []Objective  `yaml:"objectives"`   // bounds on metrics: they decide the exit code

	tree       *tree                                   // what the scenario was made from
	retry      []Retry                                 // by class
	variants   []*Scenario                             // by policy; nil: the policy overrides nothing
	custom     map[int]func(workers int) engine.Policy // by policy: see Compare
	errorKinds []string                                // by engine.ErrorKind
	tenants    tenantNumbers
	files      *folder         // what the scenario's own paths are relative to
	asked      []measure.Query // see Measure
}

// Retry is the retry policy of failed jobs: limit on attempts, backoff and jitter.
type Retry struct {
	// a system whose retry policy lies below the other keys; none: the one of the engine's preset
	Preset      string   `yaml:"preset,omitempty"`
	MaxAttempts Attempts `yaml:"max-attempts"` // executions in all, or unlimited
	// executions after the first one: another way of writing max-attempts
	MaxRetries *Limit  `yaml:"max-retries,omitempty"`
	Backoff    Backoff `yaml:"backoff"` // delay after a failure, before jitter
	// how delays are spread: none, full, equal, decorrelated, ±20%, +10%, -50%, +30s
	Jitter Jitter `yaml:"jitter"`
	// when a delay begins to run: commit, when the store learns of the failure; failure; claim, with the attempt that fails
	From DelayFrom `yaml:"from,omitempty"`
	// the time at which a retry, or a job with a delay, is due is cut to a whole multiple of this, as where a system keeps
	// whole seconds; 0s: none
	Grain Duration `yaml:"grain,omitempty"`
	Never []string `yaml:"never,flow"` // error kinds that bury at once
	// what max-attempts counts: claim, every delivery; failure, those alone that fail
	Count    RetryCount `yaml:"count"`
	Deadline Duration   `yaml:"deadline"` // give up once a job is this old; 0s: never
	// error kinds that cost no attempt; none of them is among never
	Free []string `yaml:"free,flow"`
	// how many failures of one job may be free; those above it cost an attempt
	FreeMax Limit `yaml:"free-max"`
}

// Backoff is the delay after the n-th failure, before jitter. Which fields count
// depends on Kind: exponential First*Factor^(n-1) plus Plus, at most Max; linear
// First+Step*(n-1), at most Max; fixed Delay; fibonacci First*(1 1 2 3 5 ...), at
// most Max; polynomial (n-Less)^Power seconds plus Plus, at most Max; table Delays, the last
// repeats; random Delay; none. With Scale, and more attempts in all than that, an exponential
// one takes n*Scale/max-attempts, rounded, for n.
type Backoff struct {
	Kind   string   `yaml:"kind"`             // how the delay grows with the number of failures
	First  Duration `yaml:"first,omitempty"`  // delay after the first failure
	Factor Factor   `yaml:"factor,omitempty"` // each delay is so many times the last one; left out: 2
	Step   Duration `yaml:"step,omitempty"`   // added to the delay at each failure
	Power  Count    `yaml:"power,omitempty"`  // exponent of the number of failures, in seconds
	// subtracted from the number of failures before the power is taken
	Less Count    `yaml:"less,omitempty"`
	Plus Duration `yaml:"plus,omitempty"` // added to every delay
	// with more attempts in all than this, the delays are stretched over them; 0: never
	Scale  Count         `yaml:"scale,omitempty"`
	Max    Duration      `yaml:"max,omitempty"`         // longest delay; 0s: no bound
	Delay  *Distribution `yaml:"delay,omitempty"`       // the delay: a duration for fixed, a distribution for random
	Delays []Duration    `yaml:"delays,omitempty,flow"` // delays by number of failures; the last repeats
}

// Policy is one of the policies compared.
type Policy struct {
	Kind  string `yaml:"kind"`  // which policy it is: `qsim list policies` describes them
	Label string `yaml:"label"` // its name in tables and charts, at most 40 characters; unique
	// other keys of engine, retry, dependencies, jobs and storms for this policy alone, by path; see Variant
	With   map[string]yaml.Node `yaml:"with,omitempty"`
	Params map[string]yaml.Node `yaml:",inline"` // the kind's own parameters

	values  map[string]policies.Value
	spelled map[string]yaml.Node // With as Resolved writes it
}

// Objective is a bound on a metric: exactly one of Below and Above is set.
type Objective struct {
	Metric string `yaml:"metric"`           // what is bounded: `qsim list metrics` describes them
	During string `yaml:"during,omitempty"` // only jobs enqueued in the storm of that name, or its window
	After  string `yaml:"after,omitempty"`  // only jobs enqueued after the storm of that name
	Class  string `yaml:"class,omitempty"`  // only jobs of that class
	Tenant string `yaml:"tenant,omitempty"` // only jobs of the tenant of that name; see TenantName
	// the limit of fresh.within: a share of jobs claimed in this time
	Limit *Duration `yaml:"limit,omitempty"`
	Below *Bound    `yaml:"below,omitempty"` // at most this
	Above *Bound    `yaml:"above,omitempty"` // at least this
	// labels or kinds of the policies that it is for; none: every policy
	Policies []string `yaml:"policies,omitempty,flow"`
	// missed: a scenario that shows a failure says so, and the objective is met by being missed
	Expect Expect `yaml:"expect"`

	line int
}

// Line returns the line of the scenario's file on which the objective stands, from 1; 0: it was set from elsewhere.
func (o *Objective) Line() int { return o.line }
