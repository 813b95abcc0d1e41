package scenarios

import (
	"math"
	"strings"

	"qsim/engine/quantity"
)

// mostNodes and the constants below limit the size of one run.
const (
	mostNodes    = 100_000
	mostWorkers  = 1_000_000 // workers of all nodes
	mostSeeds    = 10_000
	mostClasses  = 64 // a plan names classes by the bits of a word
	mostStorms   = 1000
	mostPolicies = 64            // policies of one scenario
	mostJobs     = 1_000_000_000 // jobs of one run
	mostTicks    = 1_000_000_000 // ticks of any one timer in one run
	mostBatch    = 100_000
)

// all checks the whole scenario.
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
	c.checkNeeds()
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
