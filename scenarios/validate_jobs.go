package scenarios

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

// mostTenants and the constants below limit the jobs of one scenario.
const (
	mostTenants      = 100_000
	mostKeys         = 1_000_000
	mostResubmits    = 1<<CopyBits - 1
	mostDependencies = 64
	mostPhases       = 10_000_000 // pairs of on and off phases
)

func (c *checker) checkJobs() {
	jobs := c.sc.Jobs
	if c.node("jobs") == nil {
		for key := 0; key < len(c.sc.tree.given.Content); key += 2 {
			if s := synonymOf("Scenario", c.sc.tree.given.Content[key].Value); s != nil && s.key == "jobs" {
				return // the arrivals have another key, which has been reported
			}
		}
		c.errorf(&yaml.Node{Line: 1, Column: 1}, "there are no jobs").Help = "a scenario needs `jobs:`, a list of at least one class"
		return
	}
	if len(jobs) == 0 {
		if list := tree.Lookup(c.sc.tree.given, "jobs"); list == nil || c.failedAt(list) || list.Kind != yaml.SequenceNode || len(list.Content) > 0 {
			return // the value has been reported as wrong
		}
		c.errorf(c.near("jobs"), "there are no jobs: want at least one class")
	}
	if len(jobs) > mostClasses {
		c.errorf(c.near("jobs", mostClasses), "%d job classes are too many: at most %d", len(jobs), mostClasses)
		return
	}
	for i := range jobs {
		c.checkJob(i, &jobs[i])
	}
	c.unique("job classes", c.classes())
}

func (c *checker) checkJob(i int, job *JobClass) {
	if c.has("jobs", i, "class") && c.sound("jobs", i, "class") {
		if bad := checkName(job.Class); bad != "" {
			c.errorf(c.near("jobs", i, "class"), "bad class name %s: %s", quantity.Quote(job.Class), bad)
		}
	}
	if c.has("jobs", i, "arrivals") {
		c.checkArrivals(i, &job.Arrivals)
	}
	if mean := job.Service.Dist().Mean(); math.IsInf(mean, 1) && c.sound("jobs", i, "service") {
		c.warnf(c.near("jobs", i, "service"), "the mean service time is infinite: no number of workers keeps up")
	}
	if job.Delay > c.sc.Duration && c.sound("jobs", i, "delay") && c.sound("duration") {
		c.warnf(c.near("jobs", i, "delay"), "jobs become ready %v after they are enqueued, but the run lasts %v", job.Delay, c.sc.Duration)
	}
	if own := &job.RetryKeys; !own.IsZero() && own.Kind == yaml.MappingNode {
		c.checkClassRetry(i, own)
	}
	c.checkFurtherOf(i, job)
	c.checkEndless(i, job)
}

func (c *checker) checkDependencies() {
	if len(c.sc.Dependencies) > mostDependencies {
		c.errorf(c.near("dependencies", mostDependencies), "%d dependencies are too many: at most %d", len(c.sc.Dependencies), mostDependencies)
		return
	}
	for i := range c.sc.Dependencies {
		c.checkDependency(i, &c.sc.Dependencies[i])
	}
	names := c.dependencies()
	c.unique("dependencies", names)
	for _, n := range names {
		if n.name != "" && c.sc.ClassIndex(n.name) >= 0 {
			c.errorf(n.at, "a dependency and a job class are both named %s", quantity.Quote(n.name)).Help = "what a storm hits must be plain: rename one"
		}
	}
}

func (c *checker) checkDependency(i int, d *Dependency) {
	if c.has("dependencies", i, "name") && c.sound("dependencies", i, "name") {
		if bad := checkName(d.Name); bad != "" {
			c.errorf(c.near("dependencies", i, "name"), "bad dependency name %s: %s", quantity.Quote(d.Name), bad)
		}
	}
	if !c.sound("dependencies", i) {
		return
	}
	limit := c.near("dependencies", i, "limit")
	switch l := d.Limit; {
	case l == nil:
		if c.node("dependencies", i, "over") != nil && !d.Over.isDefault() {
			c.warnf(c.near("dependencies", i, "over"), "over changes nothing: %s has no limit", d.Name).Help = "write limit: {concurrency: 50}"
		}
	case l.Rate == nil && l.Concurrency == nil:
		c.errorf(limit, "the limit is empty").Help = "write {rate: 300/s} or {concurrency: 50}"
	case l.Rate != nil && l.Concurrency != nil:
		c.errorf(c.key("dependencies", i, "limit", "concurrency"), "a limit is a rate or a concurrency, not both")
	case l.Rate != nil && l.Rate.Num == 0:
		c.errorf(c.near("dependencies", i, "limit", "rate"), "a limit of %v lets nothing through", *l.Rate).Help = "an outage storm does that for a while"
	}
	if d.Over.Slow != nil && (d.Over.Fail != nil || d.Over.RejectsIn != nil) {
		c.errorf(c.key("dependencies", i, "over", "slow"), "calls over the limit fail or are slow, not both")
	}
	if d.Slows.Num > 0 && (d.Limit == nil || d.Limit.Concurrency == nil) {
		c.errorf(c.near("dependencies", i, "slows"), "slows needs limit: {concurrency: N}: it counts calls in progress against that")
	}
	if d.Name != "" && !c.sc.called(d.Name) {
		c.warnf(c.near("dependencies", i, "name"), "no job class calls %s", quantity.Quote(d.Name)).Help = "write calls: " + d.Name + " beside a class"
	}
}

func (sc *Scenario) called(dependency string) bool {
	return slices.ContainsFunc(sc.Jobs, func(j JobClass) bool { return j.Calls == dependency })
}

// checkFurtherOf checks the rarely used keys of a class.
func (c *checker) checkFurtherOf(i int, job *JobClass) {
	if job.Calls != "" {
		c.known("dependency", c.near("jobs", i, "calls"), job.Calls, c.dependencies())
	}
	if job.Silences.Num > 0 && c.sc.Engine.Lease.Heartbeat == 0 && c.sound("engine", "lease", "heartbeat") {
		c.warnf(c.near("jobs", i, "silences"), "silences change nothing: there are no heartbeats")
	}
	if list := tree.Lookup(c.sc.tree.given, "jobs"); list != nil && tree.Lookup(tree.LookupAt(list, i), "guard") != nil && tree.Lookup(tree.LookupAt(list, i), "idempotent") != nil {
		c.errorf(c.key("jobs", i, "idempotent"), "guard and idempotent are both given").Help = "idempotent: true says the same as guard: check; keep guard"
	}
	c.checkTenants(i, &job.Tenants)
}

func (c *checker) checkTenants(i int, t *Tenants) {
	if !c.sound("jobs", i, "tenants") {
		return
	}
	if t.Skew > 10 {
		c.errorf(c.near("jobs", i, "tenants", "skew"), "skew %v is out of range: want at least 0 and at most 10", float64(t.Skew))
	}
	for k, name := range t.Names {
		if bad := checkName(name); bad != "" {
			c.errorf(c.near("jobs", i, "tenants", "names", k), "bad tenant name %s: %s", quantity.Quote(name), bad)
		}
		if name == measure.WorstTenant {
			c.errorf(c.near("jobs", i, "tenants", "names", k), "no tenant is named worst: objectives mean the worst of all by it")
		}
		for _, earlier := range t.Names[:min(k, mostSteps)] {
			if earlier == name {
				c.errorf(c.near("jobs", i, "tenants", "names", k), "tenant %s is named twice", quantity.Quote(name))
				break
			}
		}
	}
	if len(t.Names) > 0 && int(t.Count) != len(t.Names) {
		c.errorf(c.given([]any{"jobs", i, "tenants", "count"}, []any{"jobs", i, "tenants", "names"}), "%d tenants have %d names", t.Count, len(t.Names)).Help = "leave count out"
	}
}

func (c *checker) checkArrivals(i int, a *Arrivals) {
	node := c.node("jobs", i, "arrivals")
	if node.Kind != yaml.MappingNode {
		return
	}
	problems := processes.check(node)
	for _, p := range problems {
		c.problems = append(c.problems, problem{p, diagnostics.Error})
	}
	if len(problems) > 0 || !c.sound("jobs", i, "arrivals") {
		return
	}
	c.checkProcess(i, a)
	if !c.sound("duration") || c.sc.Duration == 0 {
		return
	}
	if a.Process == "on-off" {
		c.checkPhases(i, a)
	}
	switch {
	case a.Start >= c.sc.Duration:
		c.warnf(c.near("jobs", i, "arrivals", "start"), "the class starts at %v, but arrivals end with the run at %v", a.Start, c.sc.Duration)
	case a.Stop != nil && *a.Stop <= a.Start:
		c.errorf(c.near("jobs", i, "arrivals", "stop"), "the class stops (%v) before it starts (%v)", *a.Stop, a.Start)
	}
}

// checkProcess checks the values of an arrival process whose keys are complete.
func (c *checker) checkProcess(i int, a *Arrivals) {
	at := func(key string) []any { return []any{"jobs", i, "arrivals", key} }
	switch a.Process {
	case "gamma":
		if *a.CV > 100 {
			c.errorf(c.near(at("cv")...), "cv %v is out of range: want at most 100", float64(*a.CV))
		}
	case "on-off":
		for _, phase := range []struct {
			key   string
			lasts *Distribution
		}{{"on", a.On}, {"off", a.Off}} {
			if phase.lasts.Dist().Mean() < 1e-6 {
				c.errorf(c.near(at(phase.key)...), "%s must last at least 1us on the average", phase.key)
			}
		}
	case "trace":
		if err := c.checkTrace(i, a.File); err != nil {
			e := quantity.Errorf("%v", err)
			errors.As(err, &e)
			c.add(c.near(at("file")...), diagnostics.Error, e)
		}
	}
}

// checkPhases reports more on and off phases than one run can have.
func (c *checker) checkPhases(i int, a *Arrivals) {
	on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
	if on < 1e-6 || off < 1e-6 {
		return // the error has been reported
	}
	if times := a.length(c.sc.Duration).Seconds() / (on + off); times > mostPhases {
		c.errorf(c.given([]any{"jobs", i, "arrivals", "on"}, []any{"jobs", i, "arrivals", "off"}),
			"one run would go on and off %.1g times: at most %.0g", times, float64(mostPhases)).Note =
			fmt.Sprintf("%s on and %s off for %v", seconds(on), seconds(off), Duration(a.length(c.sc.Duration)))
	}
}

// linesChecked is the number of lines of a trace that are checked before the run, which reads them all.
const linesChecked = 1000

// checkTrace returns an error if the first lines of a trace are not valid.
func (c *checker) checkTrace(class int, name string) error {
	file, err := c.sc.files.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostValueBytes))
	last, n := 0.0, 0
	for n < linesChecked && lines.Scan() {
		n++
		seconds, tenant, err := TraceLine(lines.Text())
		switch {
		case err != nil:
		case seconds < last:
			err = errors.New("it is earlier than the line before")
		case tenant != "" && !c.sc.hasTenant(class, tenant):
			err = fmt.Errorf("class %s has no tenant %s", c.sc.Jobs[class].Class, quantity.Quote(tenant))
		}
		if err != nil {
			return quantity.Errorf("file %s, line %d: %v", quantity.Quote(name), n, err)
		}
		last = seconds
	}
	if err := lines.Err(); err != nil {
		return quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
	}
	if n == 0 {
		return quantity.Errorf("file %s has no arrivals", quantity.Quote(name))
	}
	return nil
}

// TraceLine parses a line of a trace: seconds since the class starts, a decimal of at least 0, and optionally, after a
// comma, a tenant by its name or else its index.
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
