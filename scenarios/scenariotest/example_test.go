package scenariotest_test

import (
	"testing"

	"qsim/policies"
	"qsim/scenarios/scenariotest"
)

// A test of a repository with a policy of its own, named in outage.yaml or not. On a missed objective it says, for
// example:
//
//	outage.yaml:16: polite: fresh.wait.p99 below 1m: missed, 1m12s ±4.1s
//	to see it: qsim run outage.yaml --policy polite
func ExampleRun() {
	polite := policies.Kind{Name: "polite"} // and what it does
	_ = func(t *testing.T) {
		scenariotest.Run(t, "outage.yaml", polite)
	}
}
