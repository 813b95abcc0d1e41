package spec

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
)

// Dependency is an external service that handlers call, such as a payment provider's API. It is one for all nodes.
type Dependency struct {
	Name  string           `yaml:"name"`            // name for calls, hits and outages: a-z, 0-9, - and _
	Limit *DependencyLimit `yaml:"limit,omitempty"` // capacity; left out: unlimited
	// treatment of calls over the limit: {fail, rejects-in}, or {slow}; left out: they fail at once
	Over Over `yaml:"over"`
	// run time × (1 + slows × calls in progress ÷ limit.concurrency); 0%: never
	Slows Share `yaml:"slows"`
	// optimistic locking of the one row that all calls update: an attempt reads it, runs, and writes it; the write
	// fails as conflict if another wrote since the read
	Conflict *Conflict `yaml:"conflict,omitempty"`
}

// DependencyLimit is the capacity of a dependency: exactly one of Rate and Concurrency is set.
type DependencyLimit struct {
	// calls begun; more than 0. Unused, it is saved up for a second, or for one call
	Rate        *Rate  `yaml:"rate,omitempty"`
	Concurrency *Count `yaml:"concurrency,omitempty"` // calls in progress; at least 1
}

// Over is the treatment of calls over a dependency's limit. Either Slow is set, or the share Fail of them fails as
// throttled after RejectsIn and the others go on as usual. Load sets Fail to 100% and RejectsIn to 0s if the file
// sets neither.
type Over struct {
	// share of the calls over the limit that fail, as throttled; left out: 100%
	Fail      *Share        `yaml:"fail,omitempty"`
	RejectsIn *Distribution `yaml:"rejects-in,omitempty"` // time until such a failure; left out: 0s
	Slow      *Factor       `yaml:"slow,omitempty"`       // factor on the run time of calls over the limit
}

// IsDefault reports whether all calls over a dependency's limit fail, and at once, as if the file did not set Over.
func (o *Over) IsDefault() bool {
	return o.Slow == nil && o.Fail.Float() == 1 && o.RejectsIn.IsNone()
}

// Conflict is the optimistic locking of the row in a dependency that each call reads and then writes: see Dependency.
type Conflict struct {
	Network Distribution `yaml:"network"` // one-way delay of the read and of the write
}

// JobClass is one kind of job: its arrivals, run times and failures.
type JobClass struct {
	// its name, in objectives, storms and paths: a-z, 0-9, - and _
	Class    string       `yaml:"class"`
	Arrivals Arrivals     `yaml:"arrivals"` // arrival process of its jobs, with its parameters
	Service  Distribution `yaml:"service"`  // run time of an attempt
	Priority int16        `yaml:"priority"` // smaller is more urgent; a retry keeps it
	// owners of its jobs; tenants of two classes are distinct unless they have names
	Tenants Tenants `yaml:"tenants"`
	Calls   string  `yaml:"calls,omitempty"` // the dependency that its handlers call
	Fails   Fails   `yaml:"fails"`           // failures of attempts without storms, and of poisoned ones at all times
	Poison  Share   `yaml:"poison"`          // share of jobs whose every attempt fails
	Kills   Share   `yaml:"kills"`           // share of attempts that crash the process of their node
	// share of attempts during which their node sends no heartbeat at all
	Silences      Share `yaml:"silences"`
	IgnoresCancel bool  `yaml:"ignores-cancel"` // the handler runs on after timeout or lease loss
	// protection from applying the effect of a job twice: none; check, a key that is looked up when an execution
	// starts and set when it ends, so that two overlapping ones both apply it; atomic, effect and key in one step
	Guard Guard `yaml:"guard"`
	// true means guard: check, and false guard: none
	Idempotent *bool `yaml:"idempotent,omitempty"`
	// a fresh job that waits for longer starves, under every policy alike; left out: 10 × the mean of service, at
	// least 1s
	StarvedAfter *Duration `yaml:"starved-after,omitempty"`
	Delay        Duration  `yaml:"delay"` // delay of scheduled jobs from their enqueueing until they are ready
	// patience of callers: a caller gives up on a copy that is not done in time and enqueues another
	Patience *Patience `yaml:"patience,omitempty"`
	// most jobs of the class in flight, of all nodes; 0: no limit
	MaxRunning Count `yaml:"max-running"`
	// each job has a key; of jobs with one key only the first that was enqueued may be claimed: the others are ready, but
	// wait until it has ended
	Serial    *Serial   `yaml:"serial,omitempty"`
	Timeout   *Duration `yaml:"timeout,omitempty"` // execution timeout of this class; see TimeoutOf
	RetryKeys yaml.Node `yaml:"retry,omitempty"`   // overrides of any keys of retry, for this class alone; see RetryOf
}

// Tenants are the owners of a class's jobs (customers, accounts). Tenant i of Count, from 0, has a share of the jobs in
// proportion to (i+1)^-Skew.
type Tenants struct {
	Count Count    `yaml:"count"`                // number of tenants, at least 1; with names, the number of names
	Skew  Number   `yaml:"skew"`                 // Zipf exponent of their shares of the jobs, in [0, 10]; 0: equal shares
	Names []string `yaml:"names,omitempty,flow"` // names of the tenants: the same name in several classes is one tenant
}

// Patience is the impatience of callers: whoever finds a copy of a job not done After it was enqueued gives up on it
// and enqueues another, Resubmits times at most. A caller is answered if some copy is done within After of its
// enqueuing. Nobody cancels old copies. With a Budget, the callers of a class have at no time enqueued more further
// copies than that share of their first ones so far; a caller that finds it spent gives up for good.
type Patience struct {
	After     Duration `yaml:"after"`     // time that a caller waits for a copy; more than 0s
	Resubmits Count    `yaml:"resubmits"` // most further copies of one caller, in [0, 255]
	// most further copies of all callers, as a share of their first ones so far; left out: no bound
	Budget *Share `yaml:"budget,omitempty"`
}

// Serial makes jobs of a class run one at a time, in order, if they have the same key: see JobClass.
type Serial struct {
	Keys Count `yaml:"keys"` // number of keys, drawn uniformly; at least 1
}

// Fails describes the failures of a class's attempts: how many, after what run time, with which error kinds.
type Fails struct {
	Rate  Share         `yaml:"rate"`            // share of attempts that fail
	Takes *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; left out: the service time
	// error kinds of failing attempts, each with its share; together 100%; left out: all fail as error
	Errors ErrorShares `yaml:"errors"`
}

// starvedAfterRuns times the mean run time, but at least starvedAtLeast, is the default of JobClass.StarvedAfter.
const (
	starvedAfterRuns = 10
	starvedAtLeast   = time.Second
)

// StarvesAfter returns the wait after which a fresh job of the class counts as starving: StarvedAfter, or its default.
// It is the same under all policies, so that they can be compared.
func (j *JobClass) StarvesAfter() time.Duration {
	if j.StarvedAfter != nil {
		return j.StarvedAfter.Std()
	}
	mean := min(starvedAfterRuns*j.Service.Dist().Mean(), quantity.Longest.Seconds())
	return max(starvedAtLeast, time.Duration(mean*float64(time.Second)))
}

// Arrivals is the arrival process of a class's jobs. Process determines which of the other keys are used.
type Arrivals struct {
	Process string        `yaml:"process"`          // kind of the arrival process
	Rate    Rate          `yaml:"rate,omitempty"`   // jobs per second, minute or hour; of on-off while it is on
	CV      *Factor       `yaml:"cv,omitempty"`     // standard deviation ÷ mean of the gaps
	On      *Distribution `yaml:"on,omitempty"`     // length of an on phase; the process starts with one
	Off     *Distribution `yaml:"off,omitempty"`    // length of an off phase
	From    *Rate         `yaml:"from,omitempty"`   // rate at the start
	To      *Rate         `yaml:"to,omitempty"`     // rate at the stop
	Mean    *Rate         `yaml:"mean,omitempty"`   // rate on average
	Swing   *Share        `yaml:"swing,omitempty"`  // amplitude of the rate's wave, as a share of the mean
	Period  *Duration     `yaml:"period,omitempty"` // period of the wave; more than 0s
	Size    *Count        `yaml:"size,omitempty"`   // number of jobs that arrive at one instant; at least 1
	Every   *Duration     `yaml:"every,omitempty"`  // time from one batch to the next; more than 0s
	// lines of "seconds[,tenant]", in order: in the folder of the scenario or below it; see OpenFile
	File  string    `yaml:"file,omitempty"`
	Share *Share    `yaml:"share,omitempty"` // share of the lines that arrive, drawn at random; left out: all
	Start Duration  `yaml:"start"`           // time before which no job arrives
	Stop  *Duration `yaml:"stop,omitempty"`  // time after which no job arrives; left out: the end of the duration
	// numbers, from 0, of the arrivals that come: all others stay away; none: all come
	Only []Count `yaml:"only,omitempty,flow"`
}

// MeanRate returns the mean number of jobs of a class that arrive per second between start and stop; 0 for a trace.
func (a *Arrivals) MeanRate() float64 {
	switch {
	case a.Process == "on-off" && a.On != nil && a.Off != nil:
		on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
		if math.IsInf(on, 1) {
			return a.Rate.PerSecond()
		}
		return a.Rate.PerSecond() * on / max(on+off, 1e-9)
	case a.Process == "ramp" && a.From != nil && a.To != nil:
		return (a.From.PerSecond() + a.To.PerSecond()) / 2
	case a.Process == "diurnal" && a.Mean != nil:
		return a.Mean.PerSecond()
	case a.Process == "batch" && a.Size != nil && a.Every != nil && *a.Every > 0:
		return float64(*a.Size) / a.Every.Std().Seconds()
	}
	return a.Rate.PerSecond()
}

// End returns the virtual time from which no job of a class arrives any more, in a run with that duration.
func (a *Arrivals) End(duration Duration) Duration { return min(duration, *cmp.Or(a.Stop, &duration)) }

// Length returns the time between Start and End, in which jobs of a class may arrive, in a run with that duration.
func (a *Arrivals) Length(duration Duration) time.Duration {
	return max(0, a.End(duration).Std()-a.Start.Std())
}

// TraceLine parses a line of an arrival trace: the arrival's seconds since the class's start, a decimal of at least 0,
// and perhaps a comma and a tenant, by name or index, which is returned as text.
func TraceLine(line string) (seconds float64, tenant string, err error) {
	number, tenant, named := strings.Cut(strings.TrimSuffix(line, "\r"), ",")
	number, tenant = strings.TrimSpace(number), strings.TrimSpace(tenant)
	seconds, err = strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !quantity.IsNumber(number) || seconds < 0 || seconds > quantity.Longest.Seconds():
		return 0, "", fmt.Errorf("want seconds of at least 0, and perhaps a comma and a tenant, not %s", quantity.Quote(line))
	case named && (tenant == "" || strings.Contains(tenant, ",")):
		return 0, "", fmt.Errorf("want one tenant after the comma, not %s", quantity.Quote(tenant))
	}
	return seconds, tenant, nil
}
