package scenarios

import (
	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/policies"
	"qsim/results/measure"
)

// Scenario is everything one file says, with the defaults filled in. Load makes
// it; its values have been checked and need no checking again.
type Scenario struct {
	Version     int      `yaml:"version"`     // of the language: 1
	Name        string   `yaml:"name"`        // a-z 0-9 -
	Description string   `yaml:"description"` // text for the report
	Duration    Duration `yaml:"duration"`    // virtual time; arrivals stop here
	Drain       Duration `yaml:"drain"`       // how much longer a run may go on to finish what is left
	Warmup      Duration `yaml:"warmup"`      // jobs enqueued before this are left out of every number
	Seeds       Count    `yaml:"seeds"`       // replications: seeds Seed, Seed+1, ...
	Seed        uint64   `yaml:"seed"`        // the first seed, at least 1
	Baseline    string   `yaml:"baseline"`    // a label or kind of Policies
	Engine      Engine   `yaml:"engine"`
	Retry       Retry    `yaml:"retry"` // for every class; see RetryOf

	Dependencies []Dependency `yaml:"dependencies"` // what handlers call; shared by all nodes
	Jobs         []JobClass   `yaml:"jobs"`         // at least one; the index is the engine.Kind
	Storms       []Storm      `yaml:"storms"`
	Policies     []Policy     `yaml:"policies"` // compared on the same seeds
	Objectives   []Objective  `yaml:"objectives"`

	tree       *tree                                   // what the scenario was made from
	retry      []Retry                                 // by class
	variants   []*Scenario                             // by policy; nil: the policy overrides nothing
	custom     map[int]func(workers int) engine.Policy // by policy: see Compare
	errorKinds []string                                // by engine.ErrorKind
	tenants    tenantNumbers
	files      *folder         // what the scenario's own paths are relative to
	asked      []measure.Query // see Measure
}

// Retry is what becomes of a failed job.
type Retry struct {
	Preset      string     `yaml:"preset,omitempty"`      // the retry preset that lies below the other keys; empty: none, or the engine preset's
	MaxAttempts Attempts   `yaml:"max-attempts"`          // executions in all
	MaxRetries  *Limit     `yaml:"max-retries,omitempty"` // Load turns it into MaxAttempts
	Backoff     Backoff    `yaml:"backoff"`
	Jitter      Jitter     `yaml:"jitter"`
	Never       []string   `yaml:"never,flow"` // error kinds that bury at once
	Count       RetryCount `yaml:"count"`      // what MaxAttempts counts
	Deadline    Duration   `yaml:"deadline"`   // give up once a job is this old; 0: never
	Free        []string   `yaml:"free,flow"`  // error kinds that cost no attempt; none of them is in Never
	FreeMax     Limit      `yaml:"free-max"`   // how many failures of one job may be free; those above it cost an attempt
}

// Backoff is the delay after the n-th failure, before jitter. Which fields count
// depends on Kind: exponential First*Factor^(n-1) plus Plus, at most Max; linear
// First+Step*(n-1), at most Max; fixed Delay; fibonacci First*(1 1 2 3 5 ...), at
// most Max; polynomial (n-Less)^Power seconds plus Plus, at most Max; table Delays, the last
// repeats; random Delay; none. With Scale, and more attempts in all than that, an exponential
// one takes n*Scale/max-attempts, rounded, for n.
type Backoff struct {
	Kind   string        `yaml:"kind"`
	First  Duration      `yaml:"first,omitempty"`
	Factor Factor        `yaml:"factor,omitempty"` // of exponential, if it says none: 2
	Step   Duration      `yaml:"step,omitempty"`
	Power  Count         `yaml:"power,omitempty"`
	Less   Count         `yaml:"less,omitempty"`
	Plus   Duration      `yaml:"plus,omitempty"`
	Scale  Count         `yaml:"scale,omitempty"` // 0: n as it is
	Max    Duration      `yaml:"max,omitempty"`   // 0: no bound
	Delay  *Distribution `yaml:"delay,omitempty"`
	Delays []Duration    `yaml:"delays,omitempty,flow"`
}

// Policy is one of the policies compared.
type Policy struct {
	Kind   string               `yaml:"kind"`
	Label  string               `yaml:"label"`          // unique; default: the kind
	With   map[string]yaml.Node `yaml:"with,omitempty"` // overrides of other keys, by path; see Variant
	Params map[string]yaml.Node `yaml:",inline"`        // the kind's own parameters

	values  map[string]policies.Value
	spelled map[string]yaml.Node // With as Resolved writes it
}

// Objective is a bound on a metric: exactly one of Below and Above is set.
type Objective struct {
	Metric   string    `yaml:"metric"`
	During   string    `yaml:"during,omitempty"` // jobs enqueued in the storm of that name, or its window
	After    string    `yaml:"after,omitempty"`  // jobs enqueued after it
	Class    string    `yaml:"class,omitempty"`
	Tenant   string    `yaml:"tenant,omitempty"`        // its name: see TenantName
	Limit    *Duration `yaml:"limit,omitempty"`         // of fresh.within
	Below    *Bound    `yaml:"below,omitempty"`         // inclusive
	Above    *Bound    `yaml:"above,omitempty"`         // inclusive
	Policies []string  `yaml:"policies,omitempty,flow"` // labels or kinds; none: every policy
	Expect   Expect    `yaml:"expect"`
}
