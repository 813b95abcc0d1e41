package scenarios

import "go.yaml.in/yaml/v4"

// Dependency is an external service that handlers call, such as a payment provider's API. It is one for all nodes.
type Dependency struct {
	Name  string           `yaml:"name"`            // as calls, hits and outages name it: a-z, 0-9, - and _
	Limit *DependencyLimit `yaml:"limit,omitempty"` // what it can take; left out: any load
	// what becomes of calls over the limit: {fail, rejects-in}, or {slow}; left out: they fail at once
	Over Over `yaml:"over"`
	// run time × (1 + slows × calls in progress ÷ limit.concurrency); 0%: never
	Slows Share `yaml:"slows"`
	// optimistic locking of the one row that all calls update: an attempt reads it, runs, and writes it; the write
	// fails as conflict if another wrote since the read
	Conflict *Conflict `yaml:"conflict,omitempty"`
}

// DependencyLimit is the capacity of a dependency: exactly one of the two is set.
type DependencyLimit struct {
	// calls begun; more than 0. Unused, it is saved up for a second, or for one call
	Rate        *Rate  `yaml:"rate,omitempty"`
	Concurrency *Count `yaml:"concurrency,omitempty"` // calls in progress; at least 1
}

// Over is the treatment of calls over a dependency's limit. Either Slow is set, or the share Fail of them fails as
// throttled after RejectsIn and the others go on as usual. Load sets Fail to 100% and RejectsIn to 0s where the file
// says nothing and Slow is not set.
type Over struct {
	// share of the calls over the limit that fail, as throttled; left out: 100%
	Fail      *Share        `yaml:"fail,omitempty"`
	RejectsIn *Distribution `yaml:"rejects-in,omitempty"` // how long such a failure takes; left out: 0s
	Slow      *Factor       `yaml:"slow,omitempty"`       // calls over the limit take so many times as long
}

// isDefault reports whether o has the values that Load sets by default.
func (o *Over) isDefault() bool {
	return o.Slow == nil && (o.Fail == nil || o.Fail.Float() == 1) && (o.RejectsIn == nil || o.RejectsIn.IsNone())
}

// Conflict is optimistic locking of the one row that all calls of a dependency update:
// an attempt reads it (there and back), runs, and writes it (there and back); the write
// fails as conflict if another wrote since the read.
type Conflict struct {
	Network Distribution `yaml:"network"` // of the read and of the write, one way
}

// JobClass is one kind of job: its arrivals, run times and failures.
type JobClass struct {
	// its name, in objectives, storms and paths: a-z, 0-9, - and _
	Class    string       `yaml:"class"`
	Arrivals Arrivals     `yaml:"arrivals"` // when its jobs are enqueued: a process with its parameters
	Service  Distribution `yaml:"service"`  // run time of an attempt
	Priority int16        `yaml:"priority"` // smaller is more urgent; a retry keeps it
	// whom its jobs belong to; tenants of two classes are distinct unless they have names
	Tenants Tenants `yaml:"tenants"`
	Calls   string  `yaml:"calls,omitempty"` // the dependency that its handlers call
	Fails   Fails   `yaml:"fails"`           // how attempts fail at rest, and poisoned ones at all times
	Poison  Share   `yaml:"poison"`          // share of jobs whose every attempt fails
	Kills   Share   `yaml:"kills"`           // share of attempts that crash the process of their node
	// share of attempts during which their node sends no heartbeat at all
	Silences      Share `yaml:"silences"`
	IgnoresCancel bool  `yaml:"ignores-cancel"` // the handler runs on after timeout or lease loss
	// what keeps the effect of a job from being applied twice: none; check, a key that is looked up when an execution
	// starts and set when it ends, so that two which overlap both apply it; atomic, effect and key in one step
	Guard Guard `yaml:"guard"`
	// true says guard: check, and false guard: none
	Idempotent *bool `yaml:"idempotent,omitempty"`
	// a fresh job that waits for longer starves, under every policy alike; left out: 10 × the mean of service, at
	// least 1s
	StarvedAfter *Duration `yaml:"starved-after,omitempty"`
	Delay        Duration  `yaml:"delay"` // scheduled jobs: ready this long after they are enqueued
	// callers that do not wait for ever: one gives up on a copy that is not done in time and enqueues another
	Patience *Patience `yaml:"patience,omitempty"`
	// most jobs of the class in flight, of all nodes; 0: no limit
	MaxRunning Count `yaml:"max-running"`
	// each job has a key; of jobs with one key only one is ready or in flight at a time, in the order they were
	// enqueued
	Serial    *Serial   `yaml:"serial,omitempty"`
	Timeout   *Duration `yaml:"timeout,omitempty"` // of an execution of this class; see TimeoutOf
	RetryKeys yaml.Node `yaml:"retry,omitempty"`   // any key of retry, for this class alone; see RetryOf
}

// Tenants are the owners of a class's jobs (customers, accounts). Tenant i of Count, from 0, has a share of the jobs in
// proportion to (i+1)^-Skew. Without names, tenants of two classes are distinct; with names, those of one name are one
// tenant.
type Tenants struct {
	Count Count    `yaml:"count"`                // how many, at least 1; if there are names, their number
	Skew  Number   `yaml:"skew"`                 // Zipf exponent of their shares of the jobs, in [0, 10]; 0: all alike
	Names []string `yaml:"names,omitempty,flow"` // their names: those of one name are one tenant in all classes
}

// Patience is the impatience of callers: After it enqueued a copy of its job that is not done, a caller gives up on the
// copy and enqueues another, Resubmits times at most. It is answered if some copy is done within After of that copy's
// enqueuing. Nobody cancels old copies. With a Budget, the callers of a class have enqueued at no time more further
// copies than that share of their first ones so far; who finds it spent gives up for good.
type Patience struct {
	After     Duration `yaml:"after"`     // how long a caller waits for a copy; more than 0s
	Resubmits Count    `yaml:"resubmits"` // most further copies of one caller, in [0, 255]
	// most further copies of all callers, as a share of their first ones so far; left out: no bound
	Budget *Share `yaml:"budget,omitempty"`
}

// Serial is the ordering of jobs by key: each job has one of Keys keys, drawn uniformly; of jobs with one key only one
// is ready or in flight at a time, in the order in which they were enqueued.
type Serial struct {
	Keys Count `yaml:"keys"` // how many keys, drawn uniformly; at least 1
}

// Arrivals is the arrival process of a class's jobs. Which of the keys count depends on the process: see the table of
// processes.
type Arrivals struct {
	Process string        `yaml:"process"`          // how jobs arrive
	Rate    Rate          `yaml:"rate,omitempty"`   // jobs per second, minute or hour; of on-off while it is on
	CV      *Factor       `yaml:"cv,omitempty"`     // standard deviation ÷ mean of the gaps
	On      *Distribution `yaml:"on,omitempty"`     // how long it is on; it starts on
	Off     *Distribution `yaml:"off,omitempty"`    // how long it is off
	From    *Rate         `yaml:"from,omitempty"`   // rate at the start
	To      *Rate         `yaml:"to,omitempty"`     // rate at the stop
	Mean    *Rate         `yaml:"mean,omitempty"`   // rate on average
	Swing   *Share        `yaml:"swing,omitempty"`  // by how much of the mean the rate goes up and down
	Period  *Duration     `yaml:"period,omitempty"` // of one such wave; more than 0s
	Size    *Count        `yaml:"size,omitempty"`   // jobs that come at one instant; at least 1
	Every   *Duration     `yaml:"every,omitempty"`  // from one batch to the next; more than 0s
	// lines of "seconds[,tenant]", in order: in the folder of the scenario or below it; see OpenFile
	File  string    `yaml:"file,omitempty"`
	Share *Share    `yaml:"share,omitempty"` // of the lines, those that come, drawn; left out: all
	Start Duration  `yaml:"start"`           // before it no job comes
	Stop  *Duration `yaml:"stop,omitempty"`  // after it no job comes; left out: the end of the duration
	// of the arrivals, numbered from 0, those that come: all others stay away; none: all come
	Only []Count `yaml:"only,omitempty,flow"`
}

// Fails is how attempts of a class fail without storms, and poisoned ones at all times.
type Fails struct {
	Rate  Share         `yaml:"rate"`            // share of attempts that fail
	Takes *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; left out: the service time
	// error kinds of failing attempts, each with its share; together 100%; left out: all fail as error
	Errors ErrorShares `yaml:"errors"`
}
