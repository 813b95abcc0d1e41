package validate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios/checks"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

func (c *validator) checkJobs() {
	jobs := c.sc.Jobs
	if c.Node("jobs") == nil {
		for key := 0; key < len(c.sc.Origin().Given.Content); key += 2 {
			if reference.MeansElsewhere(c.sc.Origin().Given.Content[key].Value, "jobs") {
				return // the arrivals have another key, which has been reported
			}
		}
		c.Errorf(&yaml.Node{Line: 1, Column: 1}, "there are no jobs").Help = "a scenario needs `jobs:`, a list of at least one class"
		return
	}
	if len(jobs) == 0 {
		if list := tree.Lookup(c.sc.Origin().Given, "jobs"); list == nil || c.FailedAt(list) || list.Kind != yaml.SequenceNode || len(list.Content) > 0 {
			return // the value has been reported as wrong
		}
		c.Errorf(c.Near("jobs"), "there are no jobs: want at least one class")
	}
	if len(jobs) > reference.MostClasses {
		c.Errorf(c.Near("jobs", reference.MostClasses), "%d job classes are too many: at most %d", len(jobs), reference.MostClasses)
		return
	}
	for i := range jobs {
		c.checkJob(i, &jobs[i])
	}
	c.Unique("job classes", c.Classes)
}

func (c *validator) checkJob(i int, job *spec.JobClass) {
	if c.Has("jobs", i, "class") && c.Sound("jobs", i, "class") {
		if bad := checks.BadName(job.Class); bad != "" {
			c.Errorf(c.Near("jobs", i, "class"), "bad class name %s: %s", quantity.Quote(job.Class), bad)
		}
	}
	if c.Has("jobs", i, "arrivals") {
		c.checkArrivals(i, &job.Arrivals)
	}
	if mean := job.Service.Dist().Mean(); math.IsInf(mean, 1) && c.Sound("jobs", i, "service") {
		c.Warnf(c.Near("jobs", i, "service"), "the mean service time is infinite: no number of workers keeps up")
	}
	if job.Delay > c.sc.Duration && c.Sound("jobs", i, "delay") && c.Sound("duration") {
		c.Warnf(c.Near("jobs", i, "delay"), "jobs become ready %v after they are enqueued, but the run lasts %v", job.Delay, c.sc.Duration)
	}
	if own := &job.RetryKeys; !own.IsZero() && own.Kind == yaml.MappingNode {
		c.checkClassRetry(i, own)
	}
	c.checkFurtherOf(i, job)
	c.checkEndless(i)
}

func (c *validator) checkDependencies() {
	if len(c.sc.Dependencies) > reference.MostDependencies {
		c.Errorf(c.Near("dependencies", reference.MostDependencies), "%d dependencies are too many: at most %d", len(c.sc.Dependencies), reference.MostDependencies)
		return
	}
	for i := range c.sc.Dependencies {
		c.checkDependency(i, &c.sc.Dependencies[i])
	}
	names := c.Dependencies
	c.Unique("dependencies", names)
	for _, n := range names {
		if n.Name != "" && c.sc.ClassIndex(n.Name) >= 0 {
			c.Errorf(n.At, "a dependency and a job class are both named %s", quantity.Quote(n.Name)).Help = "what a storm hits must be plain: rename one"
		}
	}
}

func (c *validator) checkDependency(i int, d *spec.Dependency) {
	if c.Has("dependencies", i, "name") && c.Sound("dependencies", i, "name") {
		if bad := checks.BadName(d.Name); bad != "" {
			c.Errorf(c.Near("dependencies", i, "name"), "bad dependency name %s: %s", quantity.Quote(d.Name), bad)
		}
	}
	if !c.Sound("dependencies", i) {
		return
	}
	limit := c.Near("dependencies", i, "limit")
	switch l := d.Limit; {
	case l == nil:
		if c.Node("dependencies", i, "over") != nil && !d.Over.IsDefault() {
			c.Warnf(c.Near("dependencies", i, "over"), "over changes nothing: %s has no limit", d.Name).Help = "write limit: {concurrency: 50}"
		}
	case l.Rate == nil && l.Concurrency == nil:
		c.Errorf(limit, "the limit is empty").Help = "write {rate: 300/s} or {concurrency: 50}"
	case l.Rate != nil && l.Concurrency != nil:
		c.Errorf(c.Key("dependencies", i, "limit", "concurrency"), "a limit is a rate or a concurrency, not both")
	case l.Rate != nil && l.Rate.Num == 0:
		c.Errorf(c.Near("dependencies", i, "limit", "rate"), "a limit of %v lets nothing through", *l.Rate).Help = "an outage storm does that for a while"
	}
	if d.Over.Slow != nil && (d.Over.Fail != nil || d.Over.RejectsIn != nil) {
		c.Errorf(c.Key("dependencies", i, "over", "slow"), "calls over the limit fail or are slow, not both")
	}
	if d.Slows.Num > 0 && (d.Limit == nil || d.Limit.Concurrency == nil) {
		c.Errorf(c.Near("dependencies", i, "slows"), "slows needs limit: {concurrency: N}: it counts calls in progress against that")
	}
	if d.Name != "" && !called(c.sc, d.Name) {
		c.Warnf(c.Near("dependencies", i, "name"), "no job class calls %s", quantity.Quote(d.Name)).Help = "write calls: " + d.Name + " beside a class"
	}
}

func called(sc *spec.Scenario, dependency string) bool {
	return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Calls == dependency })
}

// checkFurtherOf checks the rarely used keys of a class.
func (c *validator) checkFurtherOf(i int, job *spec.JobClass) {
	if job.Calls != "" {
		c.Known("dependency", c.Near("jobs", i, "calls"), job.Calls, c.Dependencies)
	}
	if job.Silences.Num > 0 && c.sc.Engine.Lease.Heartbeat == 0 && c.Sound("engine", "lease", "heartbeat") {
		c.Warnf(c.Near("jobs", i, "silences"), "silences change nothing: there are no heartbeats")
	}
	if list := tree.Lookup(c.sc.Origin().Given, "jobs"); list != nil && tree.Lookup(tree.LookupAt(list, i), "guard") != nil && tree.Lookup(tree.LookupAt(list, i), "idempotent") != nil {
		c.Errorf(c.Key("jobs", i, "idempotent"), "guard and idempotent are both given").Help = "idempotent: true says the same as guard: check; keep guard"
	}
	c.checkTenants(i, &job.Tenants)
}

func (c *validator) checkTenants(i int, t *spec.Tenants) {
	if !c.Sound("jobs", i, "tenants") {
		return
	}
	if t.Skew > 10 {
		c.Errorf(c.Near("jobs", i, "tenants", "skew"), "skew %v is out of range: want at least 0 and at most 10", float64(t.Skew))
	}
	for k, name := range t.Names {
		if bad := checks.BadName(name); bad != "" {
			c.Errorf(c.Near("jobs", i, "tenants", "names", k), "bad tenant name %s: %s", quantity.Quote(name), bad)
		}
		if name == measure.WorstTenant {
			c.Errorf(c.Near("jobs", i, "tenants", "names", k), "no tenant is named worst: objectives mean the worst of all by it")
		}
		for _, earlier := range t.Names[:min(k, mostSteps)] {
			if earlier == name {
				c.Errorf(c.Near("jobs", i, "tenants", "names", k), "tenant %s is named twice", quantity.Quote(name))
				break
			}
		}
	}
	if len(t.Names) > 0 && int(t.Count) != len(t.Names) {
		c.Errorf(c.Given([]any{"jobs", i, "tenants", "count"}, []any{"jobs", i, "tenants", "names"}), "%d tenants have %d names", t.Count, len(t.Names)).Help = "leave count out"
	}
}

func (c *validator) checkArrivals(i int, a *spec.Arrivals) {
	node := c.Node("jobs", i, "arrivals")
	if node.Kind != yaml.MappingNode {
		return
	}
	problems := reference.Processes.Check(node)
	c.AddAll(problems)
	if len(problems) > 0 || !c.Sound("jobs", i, "arrivals") {
		return
	}
	c.checkProcess(i, a)
	if !c.Sound("duration") || c.sc.Duration == 0 {
		return
	}
	if a.Process == "on-off" {
		c.checkPhases(i, a)
	}
	switch {
	case a.Start >= c.sc.Duration:
		c.Warnf(c.Near("jobs", i, "arrivals", "start"), "the class starts at %v, but arrivals end with the run at %v", a.Start, c.sc.Duration)
	case a.Stop != nil && *a.Stop <= a.Start:
		c.Errorf(c.Near("jobs", i, "arrivals", "stop"), "the class stops (%v) before it starts (%v)", *a.Stop, a.Start)
	}
}

// checkProcess checks the values of an arrival process whose keys are complete.
func (c *validator) checkProcess(i int, a *spec.Arrivals) {
	at := func(key string) []any { return []any{"jobs", i, "arrivals", key} }
	switch a.Process {
	case "gamma":
		if *a.CV > 100 {
			c.Errorf(c.Near(at("cv")...), "cv %v is out of range: want at most 100", float64(*a.CV))
		}
	case "on-off":
		for _, phase := range []struct {
			key   string
			lasts *spec.Distribution
		}{{"on", a.On}, {"off", a.Off}} {
			if phase.lasts.Dist().Mean() < 1e-6 {
				c.Errorf(c.Near(at(phase.key)...), "%s must last at least 1us on the average", phase.key)
			}
		}
	case "trace":
		if err := c.sc.CheckTrace(i, a.File); err != nil {
			e := quantity.Errorf("%v", err)
			errors.As(err, &e)
			c.Add(c.Near(at("file")...), diagnostics.Error, e)
		}
	}
}

// checkPhases reports more on and off phases than one run can have.
func (c *validator) checkPhases(i int, a *spec.Arrivals) {
	on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
	if on < 1e-6 || off < 1e-6 {
		return // the error has been reported
	}
	if times := a.Length(c.sc.Duration).Seconds() / (on + off); times > reference.MostPhases {
		c.Errorf(c.Given([]any{"jobs", i, "arrivals", "on"}, []any{"jobs", i, "arrivals", "off"}),
			"one run would go on and off %.1g times: at most %.0g", times, float64(reference.MostPhases)).Note =
			fmt.Sprintf("%s on and %s off for %v", seconds(on), seconds(off), spec.Duration(a.Length(c.sc.Duration)))
	}
}
