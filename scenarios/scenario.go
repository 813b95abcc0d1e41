package scenarios

import (
	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/policies"
)

// Scenario is everything one file says, with the defaults filled in. Load makes
// it; its values have been checked and need no checking again.
type Scenario struct {
	Version     int         `yaml:"version"`     // of the language: 1
	Name        string      `yaml:"name"`        // a-z 0-9 -
	Description string      `yaml:"description"` // text for the report
	Duration    Duration    `yaml:"duration"`    // virtual time; arrivals stop here
	Drain       Duration    `yaml:"drain"`       // how much longer a run may go on to finish what is left
	Warmup      Duration    `yaml:"warmup"`      // jobs enqueued before this are left out of every number
	Seeds       Count       `yaml:"seeds"`       // replications: seeds Seed, Seed+1, ...
	Seed        uint64      `yaml:"seed"`        // the first seed, at least 1
	Baseline    string      `yaml:"baseline"`    // a label or kind of Policies
	Engine      Engine      `yaml:"engine"`
	Retry       Retry       `yaml:"retry"` // for every class; see RetryOf
	Jobs        []JobClass  `yaml:"jobs"`  // at least one; the index is the engine.Kind
	Storms      []Storm     `yaml:"storms"`
	Policies    []Policy    `yaml:"policies"` // compared on the same seeds
	Objectives  []Objective `yaml:"objectives"`

	tree       *tree                                   // what the scenario was made from
	retry      []Retry                                 // by class
	variants   []*Scenario                             // by policy; nil: the policy overrides nothing
	custom     map[int]func(workers int) engine.Policy // by policy: see Compare
	errorKinds []string                                // by engine.ErrorKind
}

// Engine is what one process of the queue does, and the store they share.
type Engine struct {
	Nodes       Count    `yaml:"nodes"`   // processes sharing one store
	Workers     Count    `yaml:"workers"` // per node
	Fetch       Fetch    `yaml:"fetch"`
	Commit      Commit   `yaml:"commit"`
	Lease       Lease    `yaml:"lease"`
	Fence       Fence    `yaml:"fence"` // what a commit must match
	Reaper      Reaper   `yaml:"reaper"`
	Promoter    Promoter `yaml:"promoter"`
	Place       Place    `yaml:"place"`        // where a due retry stands
	Timeout     Duration `yaml:"timeout"`      // of an execution; a class may have its own
	CallTimeout Duration `yaml:"call-timeout"` // of every call but a commit
	Restart     Duration `yaml:"restart"`      // how long a process that a job killed stays down
	Leader      Leader   `yaml:"leader"`       // for owner: leader
	Store       Store    `yaml:"store"`
}

// Fetch is how a node claims.
type Fetch struct {
	Batch    Count    `yaml:"batch"`    // most jobs of one claim
	Poll     Duration `yaml:"poll"`     // pause after a claim that found too little
	Wake     Wake     `yaml:"wake"`     // who is told at once of new ready jobs
	Prefetch Count    `yaml:"prefetch"` // claimed jobs that may wait in the node, leases running
	Cooldown Duration `yaml:"cooldown"` // least time from one claim of a node to its next
}

// Commit is how a node sends outcomes to the store.
type Commit struct {
	Batch        Count    `yaml:"batch"`        // most outcomes of one call
	Linger       Duration `yaml:"linger"`       // how long an outcome waits for others
	Calls        Count    `yaml:"calls"`        // most commits under way at once
	Timeout      Duration `yaml:"timeout"`      // of one call
	Tries        Count    `yaml:"tries"`        // 0: for ever
	GiveUp       GiveUp   `yaml:"give-up"`      // what becomes of outcomes after the last try
	Backpressure Count    `yaml:"backpressure"` // no claims while so many outcomes wait
}

// Lease is how long a claim is good for.
type Lease struct {
	TTL       Duration  `yaml:"ttl"`
	Heartbeat Duration  `yaml:"heartbeat"`  // 0: none
	LateClaim LateClaim `yaml:"late-claim"` // what to do with the answer of a claim given up on
}

// Reaper is who looks for expired leases.
type Reaper struct {
	Every   Duration `yaml:"every"` // 0: at the instant of expiry plus grace
	Batch   Count    `yaml:"batch"`
	Grace   Duration `yaml:"grace"`
	OnStart bool     `yaml:"on-start"` // recover until nothing is left when a process starts
	Counts  Counts   `yaml:"counts"`   // what an expiry counts as
	Owner   Owner    `yaml:"owner"`
}

// Promoter is who makes waiting jobs ready.
type Promoter struct {
	Every Duration     `yaml:"every"` // 0: there is none; a waiting job is ready the instant it is due
	Batch Count        `yaml:"batch"`
	Order PromoteOrder `yaml:"order"`
	Owner Owner        `yaml:"owner"`
}

// Leader is the election for owner: leader.
type Leader struct {
	TTL   Duration `yaml:"ttl"`
	Renew Duration `yaml:"renew"`
}

// Store is what a call to the store costs, one way, by kind of call.
type Store struct {
	Claim   Distribution `yaml:"claim"`
	Commit  Distribution `yaml:"commit"`
	Extend  Distribution `yaml:"extend"`
	Recover Distribution `yaml:"recover"`
	Promote Distribution `yaml:"promote"`
	Stats   Distribution `yaml:"stats"`
	Enqueue Distribution `yaml:"enqueue"`
	PerJob  Distribution `yaml:"per-job"` // added per job in the batch
}

// Retry is what becomes of a failed job.
type Retry struct {
	MaxAttempts Attempts   `yaml:"max-attempts"`          // executions in all
	MaxRetries  *Retries   `yaml:"max-retries,omitempty"` // Load turns it into MaxAttempts
	Backoff     Backoff    `yaml:"backoff"`
	Jitter      Jitter     `yaml:"jitter"`
	Never       []string   `yaml:"never,flow"` // error kinds that bury at once
	Count       RetryCount `yaml:"count"`      // what MaxAttempts counts
	Deadline    Duration   `yaml:"deadline"`   // give up once a job is this old; 0: never
}

// Backoff is the delay after the n-th failure, before jitter. Which fields count
// depends on Kind: exponential First*Factor^(n-1), at most Max; linear
// First+Step*(n-1), at most Max; fixed Delay; fibonacci First*(1 1 2 3 5 ...), at
// most Max; polynomial n^Power seconds plus Plus, at most Max; table Delays, the last repeats;
// random Delay; none.
type Backoff struct {
	Kind   string        `yaml:"kind"`
	First  Duration      `yaml:"first,omitempty"`
	Factor Factor        `yaml:"factor,omitempty"`
	Step   Duration      `yaml:"step,omitempty"`
	Power  Count         `yaml:"power,omitempty"`
	Plus   Duration      `yaml:"plus,omitempty"`
	Max    Duration      `yaml:"max,omitempty"` // 0: no bound
	Delay  *Distribution `yaml:"delay,omitempty"`
	Delays []Duration    `yaml:"delays,omitempty,flow"`
}

// JobClass is one kind of job: when it comes, how long it runs, how it fails.
type JobClass struct {
	Class         string       `yaml:"class"`
	Arrivals      Arrivals     `yaml:"arrivals"`
	Service       Distribution `yaml:"service"`
	Priority      int16        `yaml:"priority"` // smaller is more urgent
	Fails         Fails        `yaml:"fails"`
	Poison        Share        `yaml:"poison"` // of jobs whose every attempt fails
	Kills         Share        `yaml:"kills"`  // of attempts that crash their node's process
	IgnoresCancel bool         `yaml:"ignores-cancel"`
	Idempotent    bool         `yaml:"idempotent"`
	Delay         Duration     `yaml:"delay"`             // becomes ready this long after it is enqueued
	Timeout       *Duration    `yaml:"timeout,omitempty"` // nil: the engine's; see TimeoutOf
	RetryKeys     yaml.Node    `yaml:"retry,omitempty"`   // what the class says of its own; see RetryOf
}

// Arrivals is when jobs of a class are enqueued.
type Arrivals struct {
	Process string    `yaml:"process"` // poisson or constant
	Rate    Rate      `yaml:"rate"`
	Start   Duration  `yaml:"start"`
	Stop    *Duration `yaml:"stop,omitempty"` // nil: the end of the run's duration
}

// Fails is how attempts fail at rest, and poisoned ones at all times.
type Fails struct {
	Rate   Share         `yaml:"rate"`
	Takes  *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
	Errors ErrorShares   `yaml:"errors"`
}

// Storm is a named window of trouble: exactly one of the pointers is set.
type Storm struct {
	Name  string      `yaml:"name"`
	At    Duration    `yaml:"at"`
	For   Duration    `yaml:"for"` // 0: an instant
	Fail  *FailStorm  `yaml:"fail,omitempty"`
	Slow  *SlowStorm  `yaml:"slow,omitempty"`
	Burst *BurstStorm `yaml:"burst,omitempty"`
	Crash *CrashStorm `yaml:"crash,omitempty"`
}

// FailStorm makes attempts fail.
type FailStorm struct {
	Hits  []string      `yaml:"hits,flow"` // classes
	Rate  Share         `yaml:"rate"`
	Error string        `yaml:"error"`
	Takes *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
}

// SlowStorm multiplies run times.
type SlowStorm struct {
	Hits   []string `yaml:"hits,flow"` // classes
	Factor Factor   `yaml:"factor"`
}

// BurstStorm brings more jobs: Count at once, or Factor times the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class"`
	Count  *Count  `yaml:"count,omitempty"`
	Factor *Factor `yaml:"factor,omitempty"`
}

// CrashStorm kills processes at its start; For does not matter.
type CrashStorm struct {
	Nodes        Nodes    `yaml:"nodes"`
	RestartAfter Duration `yaml:"restart-after"`
}

// Policy is one of the policies compared.
type Policy struct {
	Kind   string               `yaml:"kind"`
	Label  string               `yaml:"label"`          // unique; default: the kind
	With   map[string]yaml.Node `yaml:"with,omitempty"` // overrides of other keys, by path; see Variant
	Params map[string]yaml.Node `yaml:",inline"`        // the kind's own parameters

	values map[string]policies.Value
}

// Objective is a bound on a metric: exactly one of Below and Above is set.
type Objective struct {
	Metric   string    `yaml:"metric"`
	During   string    `yaml:"during,omitempty"` // jobs enqueued in the storm of that name, or its window
	After    string    `yaml:"after,omitempty"`  // jobs enqueued after it
	Class    string    `yaml:"class,omitempty"`
	Limit    *Duration `yaml:"limit,omitempty"`         // of fresh.within
	Below    *Bound    `yaml:"below,omitempty"`         // inclusive
	Above    *Bound    `yaml:"above,omitempty"`         // inclusive
	Policies []string  `yaml:"policies,omitempty,flow"` // labels or kinds; none: every policy
	Expect   Expect    `yaml:"expect"`
}
