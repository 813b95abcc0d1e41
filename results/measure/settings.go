package measure

import (
	"slices"
	"strings"
	"time"
)

// Window is a storm: a named stretch of virtual time [From, To).
type Window struct {
	Name     string
	From, To time.Duration
}

// Query names a metric and narrows it by storm, class, tenant or limit. Without these it is about the whole run.
type Query struct {
	Metric string        // a name of Metrics
	During string        // jobs enqueued in the storm of that name, or its window
	After  string        // jobs enqueued after it, or from its end on
	Class  string        // jobs of that class
	Tenant string        // jobs of that tenant, by its name in Settings.Tenants; WorstTenant: of the worst one; empty: all
	Limit  time.Duration // fresh.within: claimed within this
}

// Objective is a bound on a metric. Bounds are inclusive.
type Objective struct {
	Query
	Above  bool    // the metric must be at or above Bound; otherwise at or below
	Bound  float64 // in the metric's unit: seconds, shares of 1, counts
	Text   string  // the bound as the scenario writes it, for example "below 10s"
	Policy string  // one label or kind; empty: every policy
	Expect bool    // true: the objective is expected to be missed
	Line   int     // in the scenario's file; 0: it is not in the file
}

// Settings describes a scenario for measurements and reports.
type Settings struct {
	Scenario    string
	Description string
	ConfigHash  string // 8 hex digits: equal for equal resolved scenarios
	Duration    time.Duration
	Drain       time.Duration
	Warmup      time.Duration
	Bucket      time.Duration // of time series
	Nodes       int
	Workers     int      // per node
	Classes     []string // by engine.Kind
	Guards      []Guard  // by engine.Kind; none is NoGuard
	Burials     []Burial // by engine.Kind; none: a limit on attempts alone buries
	// StarvedAfter is, by engine.Kind, how long a fresh job may wait until it starves: the same under all policies.
	StarvedAfter []time.Duration
	ErrorKinds   []string      // by engine.ErrorKind
	Storms       []Window      // in order of From
	Service      time.Duration // mean service time of a job at rest, over classes
	Rate         float64       // fresh arrivals per second at rest, over classes
	Loads        []Load        // of each class alone, by engine.Kind
	Objectives   []Objective
	Asked        []Query // measured beside what the objectives are about
	Baseline     int     // index into Policies
	Policies     []PolicyInfo

	Tenants []string // by engine.TenantID; number 0 is no tenant
	// Patience is, by engine.Kind, after how long the caller of a job gives up on a copy of it
	// and may enqueue another; 0, or past the end: callers wait for ever. A copy follows the
	// one before it by exactly that long.
	Patience []time.Duration
	// CopyBits is how many of the low bits of a job's ID say which copy it is, from 0; the
	// others say whose.
	CopyBits uint
	Redrives bool // dead jobs may be made ready again
}

// Guard is the kind of protection against applying the effect of a job twice.
type Guard uint8

// The guards. The key that a CheckGuard looks up when an execution starts is set when one ends in success, so that two
// that overlap both apply the effect; an AtomicGuard applies it and sets the key in one step.
const (
	NoGuard Guard = iota
	CheckGuard
	AtomicGuard
)

// Load is the work that the jobs of a class bring while no storm changes it.
type Load struct {
	Rate    float64       // fresh arrivals per second
	Service time.Duration // mean
}

// Wants reports whether an objective, or an explicit request, is about the metric with that name.
func (s *Settings) Wants(metric string) bool {
	for i := range s.Objectives {
		if s.Objectives[i].Metric == metric {
			return true
		}
	}
	return slices.ContainsFunc(s.Asked, func(q Query) bool { return q.Metric == metric })
}

// Charted returns the class and the tenant whose starvation the time series have: the ones that the first objective on
// starvation is about, or else the first objective that names either; without objectives the first class, if there are
// several. Both empty: all jobs.
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

// PolicyInfo names a policy of a scenario.
type PolicyInfo struct {
	Kind  string // for example "inflight-cap"
	Label string // unique; default: the kind
	// Entitled is the share of claims that fresh jobs are promised while both
	// classes are ready; 0 for a policy that promises none.
	Entitled float64
	// Nodes and Workers are for a policy that differs in them; 0: as in Settings.
	Nodes, Workers int
	// Lease is how long a lease lasts from its claim and from each heartbeat that the events
	// tell of; 0: for ever, or the events tell of no heartbeat.
	Lease time.Duration
}
