package validate

import (
	"qsim/scenarios/checks"
	"qsim/scenarios/spec"
)

// NoPolicy is the index of a policy for a scenario as it is without the overrides of any.
const NoPolicy = -1

// validator compares the values of a scenario with each other, with the run and with what the scenario names.
type validator struct {
	*checks.Checker
	sc     *spec.Scenario
	policy int // index of the policy whose overrides are in sc; noPolicy: none
}
