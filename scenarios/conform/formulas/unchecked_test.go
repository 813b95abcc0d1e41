package formulas

import (
	"testing"

	"qsim/conform/common"
	"qsim/scenarios"
	"qsim/scenarios/checked"
)

// unchecked lists the presets that this suite cannot compare with a system, with the reason.
var unchecked = map[string]string{
	"requeue": design, "jobqueue": design, "jobqueue-conservative": design, "jobqueue-aggressive": design, "jobqueue-one-shot": design,
	"sweeper": design, "chronos": design, "chronos-linear": design, "chronos-fixed": design, "chronos-fibonacci": design, "leaseq": design,
	"oban":        "it runs on Erlang's virtual machine, for which there is no virtual clock, and its packages are not Debian's",
	"que":         "no package of Debian has it",
	"gue":         "its modules cannot be had from the module proxy",
	"solid-queue": "no package of Debian has it",
	"pgmq":        "an extension of PostgreSQL that no package of Debian has",
	"faktory":     "its server starts a Redis of its own and waits on the wall clock",
	"inngest":     "its server is one program with its state store: it waits on the wall clock",
	"hatchet":     "its engine waits on the wall clock and its retries are SQL of its own schema",

	"sqs":            "a service without a program to run: emulators are other implementations",
	"pubsub":         "a service without a program to run: emulators are other implementations",
	"pubsub-backoff": "a service without a program to run: emulators are other implementations",
}

const design = "a design, not a system: there is nothing to run"

// TestUnchecked checks that every preset is either compared or listed as unchecked.
func TestUnchecked(t *testing.T) {
	var found []checked.Comparison
	for _, p := range scenarios.Presets() {
		switch why, rules := unchecked[p.Name], len(checked.Of(&p).Rules); {
		case why != "" && rules > 0:
			t.Errorf("%s is checked, and said not to be: %s", p.Name, why)
		case why != "":
			found = append(found, checked.Comparison{Preset: p.Name, Why: why})
		case rules == 0:
			t.Errorf("%s is not checked, and nobody knows why", p.Name)
		}
	}
	if common.Rewriting() {
		common.Write(t, found...)
	}
}
