// Package spec has the content of a scenario as Go values. A scenario describes a job queue under load: job classes;
// storms, faults or bursts with a window of time, one kind a file; fetch policies, compared under the same seeds; and
// objectives, bounds on metrics. A fresh job has had no attempt yet. Decode reads a scenario from YAML over presets and
// defaults, with the files that it names, and Resolved writes it with every key. Methods compute what follows from the
// values: the retry policy of a class, the number of a tenant, the name of a job, the scenario under one policy. A
// value alone is checked where it is decoded; what several must agree on is checked by package validate.
package spec

import (
	"go.yaml.in/yaml/v4"

	"qsim/engine"
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

	tree       *Origin         // YAML nodes that the scenario was decoded from
	retry      []Retry         // retry settings by class
	variants   []*Scenario     // scenarios by policy; nil: the policy has no overrides
	errorKinds []string        // names of error kinds, by engine.ErrorKind
	files      *Folder         // folder to which paths in the scenario are relative
	asked      []measure.Query // queries added by Measure

	tenantIDs   [][]engine.TenantID // numbers of tenants in the engine, by class and index
	tenantNames []string            // names of tenants by number; number 0 is no tenant
}

// Objective is a bound on a metric, such as a quantile of waits, by which policies pass or fail: either Below or Above.
type Objective struct {
	Metric string `yaml:"metric"`           // what is bounded: `qsim list metrics` describes them
	During string `yaml:"during,omitempty"` // only jobs enqueued in the storm of that name, or its window
	After  string `yaml:"after,omitempty"`  // only jobs enqueued after the storm of that name
	Class  string `yaml:"class,omitempty"`  // only jobs of that class
	Tenant string `yaml:"tenant,omitempty"` // only jobs of the tenant of that name; see TenantNames
	// wait limit of fresh.within: a share of jobs claimed in this time
	Limit *Duration `yaml:"limit,omitempty"`
	Below *Bound    `yaml:"below,omitempty"` // the metric must be at most this
	Above *Bound    `yaml:"above,omitempty"` // the metric must be at least this
	// labels or kinds of the policies that it applies to; none: every policy
	Policies []string `yaml:"policies,omitempty,flow"`
	// missed: the scenario demonstrates a failure, and the objective is as expected if it is missed
	Expect Either[expects] `yaml:"expect"`

	node *yaml.Node
}

// Node returns the YAML node that the objective was decoded from, with its position; nil: it was added to the scenario.
func (o *Objective) Node() *yaml.Node { return o.node }

// Line returns the line of the scenario's file on which the objective stands, from 1; 0: it comes from an override.
func (o *Objective) Line() int {
	if o.node == nil {
		return 0
	}
	return max(0, o.node.Line) // that of an override is negative
}

// Query returns the objective's metric with its filters (storm, class, tenant, limit), for results to compute.
func (o *Objective) Query() measure.Query {
	q := measure.Query{Metric: o.Metric, During: o.During, After: o.After, Class: o.Class, Tenant: o.Tenant}
	if o.Limit != nil {
		q.Limit = o.Limit.Std()
	}
	return q
}
