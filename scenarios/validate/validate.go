// Package validate finds mistakes in a scenario (a job queue with its load, faults and policies) whose single values
// are well-formed: values that contradict each other, unknown names, settings without effect, and too large runs.
package validate

import (
	"math"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/spec"
)

// NoPolicy is the policy index that Scenario takes for a scenario to which no policy's `with:` has been applied.
const NoPolicy = -1

// validator checks the values of one scenario against each other; its methods add errors and warnings to a Checker.
type validator struct {
	checks.Section // of the whole scenario
	sc             *spec.Scenario
	policy         int // index of the policy whose overrides are in sc; NoPolicy: none
}

// Scenario adds all errors and warnings about a scenario to c. policy: the index of the one whose `with:` is applied.
func Scenario(c *checks.Checker, sc *spec.Scenario, policy int) {
	v := &validator{c.Whole(), sc, policy}
	v.checkPolicies() // finds unknown keys
	v.CheckKeys()
	v.CheckNames()
	v.checkRun()
	v.checkEngine()
	v.checkRetry(v.In("retry"), v.Node("retry"), &sc.Retry)
	v.checkDependencies()
	v.checkJobs()
	v.checkStorms()
	v.checkObjectives()
	v.checkLoad()
	v.checkNeeds()
}

func (c *validator) checkRun() {
	sc := c.sc
	c.Fault(sc.Version != 1 && c.Sound("version"), "version",
		"version %d is not known: this release reads version 1", sc.Version)
	bad := checks.BadTitle(sc.Name)
	c.Fault(bad != "" && c.Sound("name"), "name", "bad name %s: %s", quantity.Quote(sc.Name), bad)
	c.Fault((sc.Seed < 1 || sc.Seed > math.MaxInt64) && c.Sound("seed"), "seed",
		"seed %d is out of range: want at least 1 and at most %d", sc.Seed, int64(math.MaxInt64))
	c.Fault(sc.Duration > 0 && sc.Warmup >= sc.Duration && c.Sound("warmup", "duration"), "warmup duration",
		"the warmup (%v) lasts as long as the run (%v): nothing would be measured", sc.Warmup, sc.Duration)
}
