package scenarios

import "go.yaml.in/yaml/v4"

// Dependency is something that handlers call, such as a payment provider's API. It is
// one for all nodes.
type Dependency struct {
	Name     string           `yaml:"name"`            // a-z 0-9 -
	Limit    *DependencyLimit `yaml:"limit,omitempty"` // nil: it takes any load
	Over     Over             `yaml:"over"`            // what becomes of calls over the limit
	Slows    Share            `yaml:"slows"`           // run time × (1 + Slows × calls in progress / Limit.Concurrency); 0%: never; else the limit is a concurrency
	Conflict *Conflict        `yaml:"conflict,omitempty"`
}

// DependencyLimit is what a dependency can take: exactly one of the two is set.
type DependencyLimit struct {
	Rate        *Rate  `yaml:"rate,omitempty"`        // calls begun; more than 0. Unused, it is saved up for a second, or for one call
	Concurrency *Count `yaml:"concurrency,omitempty"` // calls in progress; at least 1
}

// Over is what becomes of calls over the limit. Either Slow is set, or the share Fail
// of them fails as throttled after RejectsIn and the others go on as usual. Load sets
// Fail to 100% and RejectsIn to 0s where the file says nothing and Slow is not set.
type Over struct {
	Fail      *Share        `yaml:"fail,omitempty"`
	RejectsIn *Distribution `yaml:"rejects-in,omitempty"`
	Slow      *Factor       `yaml:"slow,omitempty"` // run time × Slow
}

// isDefault reports whether o is what Load sets where the file says nothing.
func (o *Over) isDefault() bool {
	return o.Slow == nil && (o.Fail == nil || o.Fail.Float() == 1) && (o.RejectsIn == nil || o.RejectsIn.IsNone())
}

// Conflict is optimistic locking of the one row that all calls of a dependency update:
// an attempt reads it (there and back), runs, and writes it (there and back); the write
// fails as conflict if another wrote since the read.
type Conflict struct {
	Network Distribution `yaml:"network"` // one way
}

// JobClass is one kind of job: when it comes, how long it runs, how it fails.
type JobClass struct {
	Class         string       `yaml:"class"`
	Arrivals      Arrivals     `yaml:"arrivals"`
	Service       Distribution `yaml:"service"`
	Priority      int16        `yaml:"priority"` // smaller is more urgent; a retry keeps it
	Tenants       Tenants      `yaml:"tenants"`
	Calls         string       `yaml:"calls,omitempty"` // the dependency that its handlers call; empty: none
	Fails         Fails        `yaml:"fails"`
	Poison        Share        `yaml:"poison"`         // of jobs whose every attempt fails
	Kills         Share        `yaml:"kills"`          // of attempts that crash their node's process
	Silences      Share        `yaml:"silences"`       // of attempts during which their node sends no heartbeat at all
	IgnoresCancel bool         `yaml:"ignores-cancel"` // the handler runs on after timeout or lease loss
	Idempotent    bool         `yaml:"idempotent"`     // an execution that finds the work done ends at once
	Delay         Duration     `yaml:"delay"`          // becomes ready this long after it is enqueued
	Patience      *Patience    `yaml:"patience,omitempty"`
	MaxRunning    Count        `yaml:"max-running"`       // most jobs of the class in flight, of all nodes; 0: no limit
	Serial        *Serial      `yaml:"serial,omitempty"`  // nil: jobs have no key
	Timeout       *Duration    `yaml:"timeout,omitempty"` // nil: the engine's; see TimeoutOf
	RetryKeys     yaml.Node    `yaml:"retry,omitempty"`   // what the class says of its own; see RetryOf
}

// Tenants are whom the jobs of a class belong to. Tenant i of Count, from 0, has a share
// of the jobs in proportion to (i+1)^-Skew. Without names, tenants of two classes are
// distinct; with names, those of one name are one tenant.
type Tenants struct {
	Count Count    `yaml:"count"` // at least 1; if there are names, their number
	Skew  Number   `yaml:"skew"`  // Zipf exponent, in [0, 10]; 0: all alike
	Names []string `yaml:"names,omitempty,flow"`
}

// Patience is a caller that does not wait for ever: After it enqueued a copy that is not
// done it gives up on it, and enqueues another, Resubmits times at most. It is answered
// if some copy is done within After of that copy's enqueuing. Nobody cancels old copies.
// With a Budget, the callers of a class have enqueued at no time more further copies than
// that share of their first ones so far; who finds it spent gives up for good.
type Patience struct {
	After     Duration `yaml:"after"`            // more than 0
	Resubmits Count    `yaml:"resubmits"`        // in [0, 255]
	Budget    *Share   `yaml:"budget,omitempty"` // nil: no bound
}

// Serial gives each job one of Keys keys, drawn uniformly; of jobs with one key only one
// is ready or in flight at a time, in the order in which they were enqueued.
type Serial struct {
	Keys Count `yaml:"keys"` // at least 1
}

// Arrivals is when jobs of a class are enqueued. Which fields count depends on Process:
//
//	poisson   Rate: exponential gaps
//	constant  Rate: equal gaps
//	gamma     Rate and CV: gamma gaps with that standard deviation ÷ mean
//	on-off    Rate while on: poisson for On, nothing for Off, and again; it starts on
//	ramp      From and To: poisson at a rate that goes from one to the other in a line
//	diurnal   Mean × (1 + Swing × sin(2π (t - Start) / Period)): poisson at that rate
//	batch     Size jobs at Start and then every Every
//	trace     File: one arrival per line, "seconds[,tenant]", in order of seconds after Start
type Arrivals struct {
	Process string        `yaml:"process"`
	Rate    Rate          `yaml:"rate,omitempty"`
	CV      *Factor       `yaml:"cv,omitempty"`
	On      *Distribution `yaml:"on,omitempty"`
	Off     *Distribution `yaml:"off,omitempty"`
	From    *Rate         `yaml:"from,omitempty"`
	To      *Rate         `yaml:"to,omitempty"`
	Mean    *Rate         `yaml:"mean,omitempty"`
	Swing   *Share        `yaml:"swing,omitempty"`
	Period  *Duration     `yaml:"period,omitempty"` // more than 0
	Size    *Count        `yaml:"size,omitempty"`   // at least 1
	Every   *Duration     `yaml:"every,omitempty"`  // more than 0
	File    string        `yaml:"file,omitempty"`   // in the scenario's folder or below it; see OpenFile
	Start   Duration      `yaml:"start"`
	Stop    *Duration     `yaml:"stop,omitempty"`      // nil: the end of the run's duration
	Only    []Count       `yaml:"only,omitempty,flow"` // of the arrivals, numbered from 0, those that come: all others stay away; none: all come
}

// Fails is how attempts fail at rest, and poisoned ones at all times.
type Fails struct {
	Rate   Share         `yaml:"rate"`
	Takes  *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
	Errors ErrorShares   `yaml:"errors"`
}
