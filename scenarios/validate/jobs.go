package validate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

func (c *validator) checkJobs() {
	jobs, given := c.sc.Jobs, c.sc.Origin().Given
	if c.Node("jobs") == nil {
		for key := 0; key < len(given.Content); key += 2 {
			if reference.MeansElsewhere(given.Content[key].Value, "jobs") {
				return // the arrivals have another key, which has been reported
			}
		}
		c.Errorf(&yaml.Node{Line: 1, Column: 1}, "there are no jobs").Help = "a scenario needs `jobs:`, a list of at least one class"
		return
	}
	if len(jobs) == 0 {
		if list := tree.Lookup(given, "jobs"); list == nil || c.FailedAt(list) || list.Kind != yaml.SequenceNode || len(list.Content) > 0 {
			return // the value has been reported as wrong
		}
		c.Errorf(c.Near("jobs"), "there are no jobs: want at least one class")
	}
	if c.tooMany(len(jobs), reference.MostClasses, "job classes", "jobs") {
		return
	}
	for i := range jobs {
		c.checkJob(i, &jobs[i], tree.LookupAt(tree.Lookup(given, "jobs"), i))
	}
	c.Unique("job classes", c.Classes)
}

// checkJob checks the class with index i, which the author gave as the map given.
func (c *validator) checkJob(i int, job *spec.JobClass, given *yaml.Node) {
	if c.Node("jobs", i, "arrivals") != nil {
		c.checkArrivals(i, &job.Arrivals)
	}
	c.hold(warning, []conflict{
		{math.IsInf(job.Service.Dist().Mean(), 1) && c.Sound("jobs", i, "service"), "service",
			"the mean service time is infinite: no number of workers keeps up", ""},
		{job.Delay > c.sc.Duration && c.Sound("jobs", i, "delay") && c.Sound("duration"), "delay",
			text("jobs become ready %v after they are enqueued, but the run lasts %v", job.Delay, c.sc.Duration), ""},
		{job.Silences.Num > 0 && c.sc.Engine.Lease.Heartbeat == 0 && c.Sound("engine", "lease", "heartbeat"), "silences",
			"silences change nothing: there are no heartbeats", ""},
	}, "jobs", i)
	c.hold(fault, []conflict{{tree.Lookup(given, "guard") != nil && tree.Lookup(given, "idempotent") != nil, "idempotent:",
		"guard and idempotent are both given", "idempotent: true says the same as guard: check; keep guard"}}, "jobs", i)
	if own := &job.RetryKeys; !own.IsZero() && own.Kind == yaml.MappingNode {
		c.checkClassRetry(i, own)
	}
	if job.Calls != "" {
		c.Known("dependency", c.Near("jobs", i, "calls"), job.Calls, c.Dependencies)
	}
	c.checkTenants(i, &job.Tenants)
	c.checkEndless(i)
}

func (c *validator) checkDependencies() {
	if c.tooMany(len(c.sc.Dependencies), reference.MostDependencies, "dependencies", "dependencies") {
		return
	}
	for i := range c.sc.Dependencies {
		if c.Sound("dependencies", i) {
			c.checkDependency(i, &c.sc.Dependencies[i])
		}
	}
	c.Unique("dependencies", c.Dependencies)
	for _, n := range c.Dependencies {
		if n.Name != "" && c.sc.ClassIndex(n.Name) >= 0 {
			c.Errorf(n.At, "a dependency and a job class are both named %s", quantity.Quote(n.Name)).Help = "what a storm hits must be plain: rename one"
		}
	}
}

func (c *validator) checkDependency(i int, d *spec.Dependency) {
	limit := spec.DependencyLimit{}
	if d.Limit != nil {
		limit = *d.Limit
	}
	const example = "limit: {concurrency: N}"
	o, rate, concurrency := &d.Over, limit.Rate != nil, limit.Concurrency != nil
	called := slices.ContainsFunc(c.sc.Jobs, func(j spec.JobClass) bool { return j.Calls == d.Name })
	c.hold(fault, []conflict{
		{d.Limit != nil && !rate && !concurrency, "limit", "the limit is empty", "write {rate: 300/s} or {concurrency: 50}"},
		{rate && concurrency, "limit.concurrency:", "a limit is a rate or a concurrency, not both", ""},
		{rate && !concurrency && limit.Rate.Num == 0, "limit.rate", text("a limit of %v lets nothing through", limit.Rate),
			"an outage storm does that for a while"},
		{o.Slow != nil && (o.Fail != nil || o.RejectsIn != nil), "over.slow:", "calls over the limit fail or are slow, not both", ""},
		{d.Slows.Num > 0 && !concurrency, "slows", "slows needs " + example + ": it counts calls in progress against that", ""},
	}, "dependencies", i)
	c.hold(warning, []conflict{
		{d.Limit == nil && c.Node("dependencies", i, "over") != nil && !d.Over.IsDefault(), "over",
			text("over changes nothing: %s has no limit", d.Name), "write limit: {concurrency: 50}"},
		{d.Name != "" && !called, "name", "no job class calls " + quantity.Quote(d.Name), "write calls: " + d.Name + " beside a class"},
	}, "dependencies", i)
}

func (c *validator) checkTenants(i int, t *spec.Tenants) {
	if !c.Sound("jobs", i, "tenants") {
		return
	}
	for k, name := range t.Names {
		at := c.Near("jobs", i, "tenants", "names", k)
		if name == measure.WorstTenant {
			c.Errorf(at, "no tenant is named worst: objectives mean the worst of all by it")
		}
		if slices.Contains(t.Names[:min(k, mostSteps)], name) {
			c.Errorf(at, "tenant %s is named twice", quantity.Quote(name))
		}
	}
	names := len(t.Names)
	c.hold(fault, []conflict{
		{t.Skew > 10, "skew", text("skew %v is out of range: want at least 0 and at most 10", float64(t.Skew)), ""},
		{names > 0 && int(t.Count) != names, "count names", text("%d tenants have %d names", t.Count, names), "leave count out"},
	}, "jobs", i, "tenants")
}

func (c *validator) checkArrivals(i int, a *spec.Arrivals) {
	path := []any{"jobs", i, "arrivals"}
	node := c.Node(path...)
	if node.Kind != yaml.MappingNode {
		return
	}
	problems := reference.Processes.Check(node)
	c.AddAll(problems)
	if len(problems) > 0 || !c.Sound(path...) {
		return
	}
	switch a.Process {
	case "gamma":
		c.hold(fault, []conflict{{*a.CV > 100, "cv", text("cv %v is out of range: want at most 100", float64(*a.CV)), ""}}, path...)
	case "on-off":
		c.checkPhases(a, path)
	case "trace":
		if err := c.sc.CheckTrace(i, a.File); err != nil {
			e := quantity.Errorf("%v", err)
			errors.As(err, &e)
			c.Add(c.place(path, "file"), fault, e)
		}
	}
	switch {
	case !c.Sound("duration") || c.sc.Duration == 0:
	case a.Start >= c.sc.Duration:
		c.Warnf(c.place(path, "start"), "the class starts at %v, but arrivals end with the run at %v", a.Start, c.sc.Duration)
	case a.Stop != nil && *a.Stop <= a.Start:
		c.Errorf(c.place(path, "stop"), "the class stops (%v) before it starts (%v)", *a.Stop, a.Start)
	}
}

// checkPhases reports on and off phases that are too short, or more than one run can have.
func (c *validator) checkPhases(a *spec.Arrivals, path []any) {
	on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
	c.hold(fault, []conflict{
		{on < 1e-6, "on", "on must last at least 1us on the average", ""},
		{off < 1e-6, "off", "off must last at least 1us on the average", ""},
	}, path...)
	if on < 1e-6 || off < 1e-6 || !c.Sound("duration") || c.sc.Duration == 0 {
		return
	}
	if times := a.Length(c.sc.Duration).Seconds() / (on + off); times > reference.MostPhases {
		c.Errorf(c.place(path, "on off"), "one run would go on and off %.1g times: at most %.0g", times, float64(reference.MostPhases)).Note =
			fmt.Sprintf("%s on and %s off for %v", seconds(on), seconds(off), spec.Duration(a.Length(c.sc.Duration)))
	}
}
