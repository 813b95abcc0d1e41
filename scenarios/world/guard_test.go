package world

import (
	"testing"

	"qsim/scenarios"
)

// Executions outlive their leases and overlap: all apply their effect without a guard; a key that is looked up at the
// start and set at the end only stops executions that start after it is set; an effect applied in one step with its
// key happens once. Every execution that a guard does not stop at the start runs in full.
func TestGuards(t *testing.T) {
	const text = `
duration: 1h
drain: 1h
warmup: 0s
seeds: 1
engine: {workers: 50, timeout: 10m, lease: {ttl: 10s, heartbeat: 0s}, fence: none}
retry: {max-attempts: 10, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: constant, rate: 6/m}, service: 25s, guard: none}]
`
	effects := map[string][2]float64{} // double effects, and duplicates
	for _, guard := range []string{"none", "check", "atomic"} {
		all := runs(t, text, scenarios.Override{Path: "jobs.mail.guard", Value: guard})
		effects[guard] = [2]float64{mean(t, all, "effects.double"), mean(t, all, "duplicates.count")}
	}
	if n := effects["none"]; n[0] < 300 {
		t.Errorf("without a guard %v of 360 jobs are applied twice", n[0])
	}
	if n := effects["check"]; n[0] < 300 {
		t.Errorf("a key that is set at the end keeps %v of 360 jobs from being applied twice, though their executions overlap", 360-n[0])
	}
	if n := effects["atomic"]; n[0] != 0 || n[1] < 300 {
		t.Errorf("in one step with its key the effect of %v jobs is applied twice, with %v duplicates", n[0], n[1])
	}
	// What starts when the work is done finds the key.
	late := runs(t, text, scenarios.Override{Path: "jobs.mail.guard", Value: "check"}, scenarios.Override{Path: "engine.fence", Value: "token"},
		scenarios.Override{Path: "retry.backoff", Value: "{kind: fixed, delay: 1m}"}, scenarios.Override{Path: "retry.jitter", Value: "none"})
	if n, again := mean(t, late, "effects.double"), mean(t, late, "retries.total"); n != 0 || again < 300 {
		t.Errorf("%v jobs are applied twice in %v retries that began after the first had ended", n, again)
	}
	// The short way of saying check.
	short := runs(t, text, scenarios.Override{Path: "jobs.mail.idempotent", Value: "true"})
	if n := mean(t, short, "effects.double"); n != effects["check"][0] {
		t.Errorf("idempotent: true gives %v double effects, guard: check %v", n, effects["check"][0])
	}
}
