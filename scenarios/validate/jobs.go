package validate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/estimate"
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
		c.Errorf(&yaml.Node{Line: 1, Column: 1}, "there are no jobs").Help =
			"a scenario needs `jobs:`, a list of at least one class"
		return
	}
	if len(jobs) == 0 {
		list := tree.Lookup(given, "jobs")
		if list == nil || c.FailedAt(list) || list.Kind != yaml.SequenceNode || len(list.Content) > 0 {
			return // the value has been reported as wrong
		}
		c.Errorf(c.Place("jobs"), "there are no jobs: want at least one class")
	}
	for i := range jobs {
		c.checkJob(i, &jobs[i], tree.LookupAt(tree.Lookup(given, "jobs"), i))
	}
}

// checkJob checks the job class with index i; given is the YAML map that its author wrote, without defaults.
func (c *validator) checkJob(i int, job *spec.JobClass, given *yaml.Node) {
	in := c.In("jobs", i)
	if in.Has("arrivals") {
		c.checkArrivals(i, &job.Arrivals)
	}
	endless := math.IsInf(estimate.Service(c.sc, i), 1)
	in.Warn(endless && in.Sound("service") && c.Sound("engine"), "service",
		"the mean service time is infinite: no number of workers keeps up")
	in.Warn(job.Delay > c.sc.Duration && in.Sound("delay") && c.Sound("duration"), "delay",
		"jobs become ready %v after they are enqueued, but the run lasts %v", job.Delay, c.sc.Duration)
	noBeats := c.sc.Engine.Lease.Heartbeat == 0 && c.Sound("engine.lease.heartbeat")
	in.Warn(job.Silences.Num > 0 && noBeats, "silences", "silences change nothing: there are no heartbeats")
	in.Fault(tree.Lookup(given, "guard") != nil && tree.Lookup(given, "idempotent") != nil, "idempotent:",
		"guard and idempotent are both given").Help = "idempotent: true says the same as guard: check; keep guard"
	retry := c.sc.RetryOf(i)
	c.checkRetry(in.In("retry"), &job.RetryKeys, &retry)
	if job.Calls != "" {
		c.Known("dependency", in.Place("calls"), job.Calls, c.Names["dependencies"])
	}
	c.checkTenants(in.In("tenants"), &job.Tenants)
	c.checkEndless(i)
}

func (c *validator) checkDependencies() {
	for i := range c.sc.Dependencies {
		if c.In("dependencies", i).Sound() {
			c.checkDependency(i, &c.sc.Dependencies[i])
		}
	}
	for _, n := range c.Names["dependencies"] {
		if n.Name != "" && c.sc.ClassIndex(n.Name) >= 0 {
			c.Errorf(n.At, "a dependency and a job class are both named %s", quantity.Quote(n.Name)).Help =
				"what a storm hits must be plain: rename one"
		}
	}
}

func (c *validator) checkDependency(i int, d *spec.Dependency) {
	limit := *cmp.Or(d.Limit, &spec.DependencyLimit{})
	in, o, rate, concurrency := c.In("dependencies", i), &d.Over, limit.Rate != nil, limit.Concurrency != nil
	in.Fault(d.Limit != nil && !rate && !concurrency, "limit", "the limit is empty").Help =
		"write {rate: 300/s} or {concurrency: 50}"
	in.Fault(rate && concurrency, "limit.concurrency:", "a limit is a rate or a concurrency, not both")
	in.Fault(rate && !concurrency && limit.Rate.Num == 0, "limit.rate", "a limit of %v lets nothing through", limit.Rate).
		Help = "an outage storm does that for a while"
	in.Fault(o.Slow != nil && (o.Fail != nil || o.RejectsIn != nil), "over.slow:",
		"calls over the limit fail or are slow, not both")
	in.Fault(d.Slows.Num > 0 && !concurrency, "slows",
		"slows needs limit: {concurrency: N}: it counts calls in progress against that")
	in.Warn(d.Limit == nil && in.Has("over") && !o.IsDefault(), "over", "over changes nothing: %s has no limit", d.Name).
		Help = "write limit: {concurrency: 50}"
	called := slices.ContainsFunc(c.sc.Jobs, func(j spec.JobClass) bool { return j.Calls == d.Name })
	in.Warn(d.Name != "" && !called && !c.Cut, "name", "no job class calls %s", quantity.Quote(d.Name)).
		Help = "write calls: " + d.Name + " beside a class"
}

func (c *validator) checkTenants(in checks.Section, t *spec.Tenants) {
	if !in.Sound() {
		return
	}
	for k, name := range t.Names {
		one := in.In("names", k)
		one.Fault(name == measure.WorstTenant, "", "no tenant is named worst: objectives mean the worst of all by it")
		twice := slices.Contains(t.Names[:min(k, mostSteps)], name)
		one.Fault(twice, "", "tenant %s is named twice", quantity.Quote(name))
	}
	names := len(t.Names)
	in.Fault(t.Skew > 10, "skew", "skew %v is out of range: want at least 0 and at most 10", float64(t.Skew))
	in.Fault(names > 0 && int(t.Count) != names, "count names", "%d tenants have %d names", t.Count, names).
		Help = "leave count out"
}

func (c *validator) checkArrivals(i int, a *spec.Arrivals) {
	in := c.In("jobs", i, "arrivals")
	node := in.Node("")
	if node.Kind != yaml.MappingNode {
		return
	}
	problems := reference.Tables().Processes.Check(node)
	c.AddAll(problems)
	if len(problems) > 0 || !in.Sound() {
		return
	}
	switch a.Process {
	case "gamma":
		in.Fault(*a.CV > 100, "cv", "cv %v is out of range: want at most 100", float64(*a.CV))
	case "on-off":
		c.checkPhases(in, a)
	case "trace":
		if err := c.sc.CheckTrace(i, a.File); err != nil {
			e := quantity.Errorf("%v", err)
			errors.As(err, &e)
			c.Add(in.Place("file"), e)
		}
	}
	whole := c.sc.Duration
	if !c.Sound("duration") || whole == 0 {
		return
	}
	in.Warn(a.Start >= whole, "start", "the class starts at %v, but arrivals end with the run at %v", a.Start, whole)
	if stop := a.Stop; stop != nil {
		in.Fault(a.Start < whole && *stop <= a.Start, "stop", "the class stops (%v) before it starts (%v)", *stop, a.Start)
	}
}

// checkPhases adds errors for on-off arrivals whose phases are too short on average, or too many for one run.
func (c *validator) checkPhases(in checks.Section, a *spec.Arrivals) {
	const least, most = 1e-6, reference.MostPhases
	on, off, length := a.On.Dist().Mean(), a.Off.Dist().Mean(), a.Length(c.sc.Duration)
	in.Fault(on < least, "on", "on must last at least 1us on the average")
	in.Fault(off < least, "off", "off must last at least 1us on the average")
	if on < least || off < least || !c.Sound("duration") || c.sc.Duration == 0 {
		return
	}
	times := length.Seconds() / (on + off)
	in.Fault(times > most, "on off", "one run would go on and off %.1g times: at most %.0g", times, float64(most)).Note =
		fmt.Sprintf("%s on and %s off for %v", plain.Duration(on), plain.Duration(off), spec.Duration(length))
}
