// Package validate finds what is wrong with a scenario whose single values are well-formed, section by section: values
// that contradict each other, names of nothing, more than one run can hold, and settings without effect.
package validate

import (
	"math"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/spec"
)

// Scenario adds the problems of sc to c. policy is the index of the policy whose overrides sc contains, or NoPolicy.
func Scenario(c *checks.Checker, sc *spec.Scenario, policy int) {
	c.Classes = namesIn(c, "jobs", "class", sc.Jobs, func(j *spec.JobClass) string { return j.Class })
	c.Storms = namesIn(c, "storms", "name", sc.Storms, func(s *spec.Storm) string { return s.Name })
	c.Dependencies = namesIn(c, "dependencies", "name", sc.Dependencies, func(d *spec.Dependency) string { return d.Name })
	v := &validator{c, sc, policy}
	v.all()
}

// namesIn returns the names of the elements of a list, which each element has under a key.
func namesIn[T any](c *checks.Checker, list, key string, all []T, name func(*T) string) (names []checks.NameAt) {
	for i := range all {
		names = append(names, checks.NameAt{Name: name(&all[i]), At: c.Near(list, i, key)})
	}
	return names
}

func (c *validator) all() {
	c.CheckKeys()
	c.checkRun()
	c.checkEngine()
	c.checkRetry(c.Node("retry"), &c.sc.Retry, "retry")
	c.checkDependencies()
	c.checkJobs()
	c.checkStorms()
	c.checkPolicies()
	c.checkObjectives()
	c.checkLoad()
	c.checkNeeds()
}

func (c *validator) checkRun() {
	sc := c.sc
	if sc.Version != 1 && c.Sound("version") {
		c.Errorf(c.Near("version"), "version %d is not known: this release reads version 1", sc.Version)
	}
	if bad := checks.BadTitle(sc.Name); bad != "" && c.Sound("name") {
		c.Errorf(c.Near("name"), "bad name %s: %s", quantity.Quote(sc.Name), bad)
	}
	if c.Sound("seed") && (sc.Seed < 1 || sc.Seed > math.MaxInt64) {
		c.Errorf(c.Near("seed"), "seed %d is out of range: want at least 1 and at most %d", sc.Seed, int64(math.MaxInt64))
	}
	if c.Sound("warmup") && c.Sound("duration") && sc.Duration > 0 && sc.Warmup >= sc.Duration {
		at := c.Given([]any{"warmup"}, []any{"duration"})
		c.Errorf(at, "the warmup (%v) lasts as long as the run (%v): nothing would be measured", sc.Warmup, sc.Duration)
	}
}
