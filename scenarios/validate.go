package scenarios

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
)

// Limits on what one run may be asked to do.
const (
	mostNodes    = 100_000
	mostWorkers  = 1_000_000 // of all nodes
	mostSeeds    = 10_000
	mostClasses  = 64 // a plan names classes by the bits of a word
	mostStorms   = 1000
	mostPolicies = 64            // policies of one scenario
	mostJobs     = 1_000_000_000 // of one run
	mostTicks    = 1_000_000_000 // of anything periodic in one run
	mostBatch    = 100_000
)

// all checks everything.
func (c *checker) all() {
	c.checkKeys()
	c.checkRun()
	c.checkEngine()
	c.checkTimes()
	c.checkFurther()
	c.checkRetry(c.node("retry"), &c.sc.Retry, "retry")
	c.checkDependencies()
	c.checkJobs()
	c.checkStorms()
	c.checkPolicies()
	c.checkObjectives()
	c.checkLoad()
}

func (c *checker) checkRun() {
	sc := c.sc
	if sc.Version != 1 && c.sound("version") {
		c.errorf(c.near("version"), "version %d is not known: this release reads version 1", sc.Version)
	}
	if bad := checkName(sc.Name); c.sound("name") && (bad != "" || strings.Contains(sc.Name, "_")) {
		if bad == "" {
			bad = "want only a-z, 0-9 and -"
		}
		c.errorf(c.near("name"), "bad name %s: %s", quantity.Quote(sc.Name), bad)
	}
	if c.sound("seed") && (sc.Seed < 1 || sc.Seed > math.MaxInt64) {
		c.errorf(c.near("seed"), "seed %d is out of range: want at least 1 and at most %d", sc.Seed, int64(math.MaxInt64))
	}
	if c.sound("warmup") && c.sound("duration") && sc.Duration > 0 && sc.Warmup >= sc.Duration {
		at := c.given([]any{"warmup"}, []any{"duration"})
		c.errorf(at, "the warmup (%v) lasts as long as the run (%v): nothing would be measured", sc.Warmup, sc.Duration)
	}
}

func (c *checker) checkEngine() {
	e := &c.sc.Engine
	if e.Nodes <= mostNodes && e.Workers <= mostWorkers && int(e.Nodes)*int(e.Workers) > mostWorkers {
		at := c.given([]any{"engine", "workers"}, []any{"engine", "nodes"})
		c.errorf(at, "%d nodes of %d workers are too many: at most %d workers in all, since each takes memory", e.Nodes, e.Workers, mostWorkers)
	}
	for _, p := range []struct {
		every Duration
		what  string
		path  []any
	}{{e.Fetch.Poll, "polls", []any{"engine", "fetch", "poll"}}, {e.Lease.Heartbeat, "heartbeats", []any{"engine", "lease", "heartbeat"}},
		{e.Reaper.Every, "recoveries", []any{"engine", "reaper", "every"}}, {e.Promoter.Every.Average(), "promotions", []any{"engine", "promoter", "every"}},
		{e.Leader.Renew, "renewals", []any{"engine", "leader", "renew"}}} {
		if p.every <= 0 || !c.sound(p.path...) || e.Nodes > mostNodes {
			continue
		}
		if ticks := float64(c.total()) / float64(p.every) * float64(e.Nodes); ticks > mostTicks {
			c.errorf(c.near(p.path...), "one run would make %.1g %s: at most %.0g", ticks, p.what, float64(mostTicks)).Note =
				fmt.Sprintf("every %v for %v on %d nodes", p.every, Duration(c.total()), e.Nodes)
		}
	}
}

// checkTimes finds times that work against each other.
func (c *checker) checkTimes() {
	e := &c.sc.Engine
	if !c.sound("engine") {
		return
	}
	ttl := []any{"engine", "lease", "ttl"}
	heartbeat := []any{"engine", "lease", "heartbeat"}
	callTimeout := []any{"engine", "call-timeout"}
	if e.Lease.TTL > 0 && e.CallTimeout >= e.Lease.TTL {
		c.warnf(c.given(ttl, callTimeout), "the lease (%v) is not longer than a call may take (%v): jobs are recovered while their claim is still awaited", e.Lease.TTL, e.CallTimeout)
	}
	switch {
	case e.Lease.TTL == 0 || e.Lease.Heartbeat == 0:
	case e.Lease.Heartbeat >= e.Lease.TTL:
		c.warnf(c.given(heartbeat, ttl), "a heartbeat every %v cannot keep a lease of %v", e.Lease.Heartbeat, e.Lease.TTL).Help = "a third of the lease is usual; 0s turns heartbeats off"
	case e.Lease.Heartbeat+e.CallTimeout >= e.Lease.TTL:
		c.warnf(c.given(heartbeat, ttl, callTimeout), "one lost heartbeat may lose the lease: %v + call-timeout %v is not below %v", e.Lease.Heartbeat, e.CallTimeout, e.Lease.TTL)
	}
	if e.Commit.Timeout > 0 && e.Commit.Linger >= e.Commit.Timeout {
		c.warnf(c.given([]any{"engine", "commit", "linger"}, []any{"engine", "commit", "timeout"}),
			"outcomes linger (%v) as long as a commit may take (%v)", e.Commit.Linger, e.Commit.Timeout)
	}
	needsLeader := e.Reaper.Owner == "leader" || e.Promoter.Owner == "leader"
	if needsLeader && (e.Leader.Renew == 0 || e.Leader.Renew >= e.Leader.TTL) {
		c.errorf(c.given([]any{"engine", "leader", "renew"}, []any{"engine", "leader", "ttl"}),
			"a leader that renews every %v cannot keep its office, which lasts %v", e.Leader.Renew, e.Leader.TTL)
	}
}

// checkRetry checks a retry policy; node is what it was decoded from, path leads to
// what the file says of it.
func (c *checker) checkRetry(node *yaml.Node, r *Retry, path ...any) {
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	if first, second := position(node, "max-attempts"), position(node, "max-retries"); first >= 0 && second >= 0 {
		at := node.Content[max(first, second)]
		c.errorf(at, "max-attempts and max-retries are both given").Help = "max-retries: 3 says the same as max-attempts: 4; keep one"
	}
	backoff := lookup(node, "backoff")
	if backoff == nil || backoff.Kind != yaml.MappingNode || !c.soundNode(backoff) {
		return
	}
	problems := backoffs.check(backoff)
	for _, p := range problems {
		c.problems = append(c.problems, problem{p, Error})
	}
	if len(problems) > 0 || !c.soundNode(node) {
		return
	}
	b := &r.Backoff
	at := backoff
	if at.Line == 0 {
		at = c.near(path...)
	}
	switch {
	case b.Kind == "fixed" && b.Delay.Kind != "constant":
		c.errorf(lookup(backoff, "delay"), "a fixed backoff has one delay, not a distribution").Help = "kind: random draws its delay from one"
	case b.Kind == "table" && len(b.Delays) == 0:
		c.errorf(lookup(backoff, "delays"), "the table of delays is empty")
	case b.Kind == "table" && len(b.Delays) > mostSteps:
		c.errorf(lookup(backoff, "delays"), "%d delays are too many: at most %d", len(b.Delays), mostSteps)
	case b.Kind == "polynomial" && b.Power > 100:
		c.errorf(lookup(backoff, "power"), "power %d is too large: at most 100", b.Power)
	case b.Kind == "polynomial" && b.Less > 100:
		c.errorf(lookup(backoff, "less"), "less %d is too large: at most 100", b.Less)
	case b.Scale > quantity.MostAttempts:
		c.errorf(lookup(backoff, "scale"), "scale %d is too large: at most %d", b.Scale, quantity.MostAttempts)
	case b.Max > 0 && b.First > b.Max:
		c.warnf(at, "the first delay (%v) is longer than the longest (%v)", b.First, b.Max)
	}
	if jitter := lookup(c.node(path...), "jitter"); b.Kind == "random" && jitter != nil && jitter.Line != 0 && jitter.Value != "none" {
		c.warnf(jitter, "a random backoff takes no jitter: it is drawn already")
	}
	c.checkNever(lookup(node, "never"), r.Never)
	c.checkFree(node, r)
}

// checkNever warns of error kinds that nothing fails with, but only where it looks
// like a slip: the default names some for everybody.
func (c *checker) checkNever(node *yaml.Node, never []string) {
	if node == nil || node.Line == 0 || node.Kind != yaml.SequenceNode || len(node.Content) != len(never) {
		return
	}
	kinds := c.sc.errorNames()
	for i, name := range never {
		if contains(kinds, name) {
			continue
		}
		if near := closest(name, kinds); near != "" && near != defaultError {
			c.warnf(node.Content[i], "nothing fails with %s", quantity.Quote(name)).Help = fmt.Sprintf("did you mean %q?", near)
		}
	}
}

func (c *checker) checkJobs() {
	jobs := c.sc.Jobs
	if c.node("jobs") == nil {
		c.errorf(&yaml.Node{Line: 1, Column: 1}, "there are no jobs").Help = "a scenario needs `jobs:`, a list of at least one class"
		return
	}
	if len(jobs) == 0 {
		if list := lookup(c.sc.tree.given, "jobs"); list == nil || list.Kind != yaml.SequenceNode || len(list.Content) > 0 {
			return // what stands there has been found wrong
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

// checkClassRetry checks what a class says of its own, which stands upon what all say.
func (c *checker) checkClassRetry(i int, own *yaml.Node) {
	if base := c.node("retry"); base != nil && base.Kind == yaml.MappingNode {
		c.checkRetry(merged((&layers{}).class(base, own), own), &c.sc.retry[i], "jobs", i, "retry")
	}
}
