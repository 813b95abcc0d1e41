package measure

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// Window is a storm: a named stretch of virtual time [From, To).
type Window struct {
	Name     string
	From, To time.Duration
}

// Query names a metric and narrows it by storm, class, tenant or limit. Without them it covers the whole run.
type Query struct {
	Metric string        // a name of Metrics
	During string        // name of a storm: jobs enqueued during it, or its window of time
	After  string        // name of a storm: jobs enqueued after it, or the time from its end on
	Class  string        // name of a class of jobs; empty: all
	Tenant string        // a tenant's name in Settings.Tenants; WorstTenant: the worst one; empty: all
	Limit  time.Duration // wait limit of fresh.within
}

// Objective is a bound on a metric. Bounds are inclusive.
type Objective struct {
	Query
	Above  bool    // the metric must be at or above Bound; otherwise at or below
	Bound  float64 // in the metric's unit: seconds, shares of 1, counts
	Text   string  // the bound as the scenario writes it, for example "below 10s"
	Policy string  // label or kind of the policies that it applies to; empty: every policy
	Expect bool    // true: the objective is expected to be missed
	Line   int     // line of the objective in the scenario's file; 0: it is not in the file
}

// Settings describes a scenario in the terms that measurements and reports need: classes, storms, policies, objectives.
type Settings struct {
	Scenario    string
	Description string
	ConfigHash  string        // hash of the resolved scenario, 8 hex digits
	Duration    time.Duration // virtual time in which jobs arrive, warm-up included
	Drain       time.Duration // longest time after it for the jobs that are left
	Warmup      time.Duration // time at the beginning that metrics leave out
	Bucket      time.Duration // width of a time series' bucket
	Nodes       int
	Workers     int                  // workers per node
	Classes     []string             // names of classes, by engine.Kind
	Guards      []Guard              // guards of classes, by engine.Kind; past the end: NoGuard
	Burials     [][]engine.ErrorKind // error kinds that bury a job of a class at once, by engine.Kind
	// StarvedAfter holds, by engine.Kind, the wait beyond which a fresh job starves: the same under all policies.
	StarvedAfter []time.Duration
	Storms       []Window      // storms in order of From
	Service      time.Duration // mean service time of a job outside storms, over classes, cut off by timeouts
	Rate         float64       // fresh arrivals per second outside storms, over classes
	Loads        []Load        // load of each class, by engine.Kind
	Objectives   []Objective
	Asked        []Query // queries measured in addition to those of the objectives
	Baseline     int     // index in Policies of the policy with which the others are compared
	Policies     []PolicyInfo

	Tenants []string // names of tenants by engine.TenantID; number 0 is no tenant
	// Patience holds, by engine.Kind, the time after which the caller of a job gives up on a copy and may enqueue another;
	// 0, or past the end: callers wait for ever. A copy follows the one before it by exactly that long.
	Patience []time.Duration
	// CopyBits is the number of low bits of a job's ID that number its copies from 0; the other bits identify the caller's
	// job.
	CopyBits uint
	Redrives bool // dead jobs may be made ready again
	Promoted bool // waiting jobs become ready by a promoter only, maybe long after they are due; not with Held
	Held     bool // jobs that wait until they are due are claimable, see engine.StoreOptions.Held: they count as ready
	// Overloads are the storms in which fresh jobs alone overload the workers, by policy, then in the scenario's order.
	Overloads []Overload `json:",omitempty"`
}

// Overload is a storm in which the first attempts of fresh jobs bring more work than the workers can do.
type Overload struct {
	Policy int
	Storm  string
	Load   float64 // that work ÷ what the workers can do, above 1
}

// Guard is the kind of protection against applying the effect of a job twice.
type Guard uint8

// NoGuard, CheckGuard and AtomicGuard are the kinds of protection. Under CheckGuard an execution looks up an
// idempotency key when it starts, and sets the key when it ends in success, so that two overlapping executions both
// apply the effect. Under AtomicGuard an execution applies the effect and sets the key in one step.
const (
	NoGuard Guard = iota
	CheckGuard
	AtomicGuard
)

// Load is the arrival rate and the service time of a class outside storms.
type Load struct {
	Rate    float64       // fresh arrivals per second
	Service time.Duration // mean service time, cut off by timeouts
}

// Wants reports whether an objective or an additional query uses the metric with that name.
func (s *Settings) Wants(metric string) bool {
	return slices.ContainsFunc(s.Objectives, func(o Objective) bool { return o.Metric == metric }) ||
		slices.ContainsFunc(s.Asked, func(q Query) bool { return q.Metric == metric })
}

// StormsOf returns the windows of the storms under policy i, which may have others than the scenario, in the same
// order.
func (s *Settings) StormsOf(i int) []Window {
	if own := s.Policies[i].Storms; own != nil {
		return own
	}
	return s.Storms
}

// AllStorms returns the windows of the storms under any policy, each once, in order of their start.
func (s *Settings) AllStorms() (all []Window) {
	for i := range s.Policies {
		all = plain.Distinct(all, s.StormsOf(i))
	}
	slices.SortStableFunc(all, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	return all
}

// Charted returns the class and the tenant whose starvation is in the time series: those of the first objective on
// starvation, or else of the first objective that names either; without objectives the first class, if there are
// several. Both are empty for all jobs.
func (s *Settings) Charted() Query {
	var charted Query
	for i := range s.Objectives {
		q := Query{Class: s.Objectives[i].Class, Tenant: s.Objectives[i].Tenant}
		if q.Tenant == WorstTenant {
			q.Tenant = ""
		}
		if strings.HasPrefix(s.Objectives[i].Metric, "starved.") {
			return q
		}
		if charted == (Query{}) {
			charted = q
		}
	}
	if len(s.Objectives) == 0 {
		return Query{Class: UsualWaits(s)[0].Class}
	}
	return charted
}

// PolicyInfo describes a policy of a scenario: its name, its guarantee, its own numbers of nodes and workers, its TTL.
type PolicyInfo struct {
	Kind  string // kind of the policy, for example "inflight-cap"
	Label string // unique name of the policy; default: its kind
	// Entitled is the share of claims guaranteed to fresh jobs while fresh jobs and retries are both ready; 0: no
	// guarantee.
	Entitled float64
	// Nodes and Workers are overrides by the policy; 0: as in Settings.
	Nodes, Workers int
	// Rate (arrivals per second) and Service (mean service time) are those under the policy; both 0: as in Settings.
	Rate    float64       `json:",omitzero"`
	Service time.Duration `json:",omitzero"`
	// Storms are the windows of the storms under the policy, in the order of Settings.Storms; nil: as there.
	Storms []Window `json:",omitempty"`
	// Lease is the lease TTL, counted from the claim and from each recorded heartbeat; 0: it is unlimited, or heartbeats
	// are not recorded.
	Lease time.Duration
}
