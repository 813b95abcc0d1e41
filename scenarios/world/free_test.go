package world

import "testing"
import "qsim/scenarios"

// A pool takes one call at a time, for a second each, and refuses the others at once. They
// come back every 400 ms: the second job is refused at 0, 0.4 and 0.8 s and gets its turn at
// 1.2 s, the third at 2.4 s after six refusals.
func TestFreeFailures(t *testing.T) {
	const text = instant + `
duration: 20s
retry: {max-attempts: 2, backoff: {kind: fixed, delay: 400ms}, jitter: none}
dependencies: [{name: pool, limit: {concurrency: 1}}]
jobs: [{class: builds, arrivals: {process: batch, size: 3, every: 1h}, service: 1s, calls: pool}]
`
	for _, tt := range []struct {
		name       string
		overrides  []scenarios.Override
		dead, most float64
	}{
		{"they cost attempts", nil, 2, 2},
		{"they are free", []scenarios.Override{{Path: "retry.free", Value: "[throttled]"}}, 0, 7},
		{"they are free, four times", []scenarios.Override{{Path: "retry.free", Value: "[throttled]"}, {Path: "retry.free-max", Value: "4"}}, 1, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := runs(t, text, append(tt.overrides, scenarios.Override{Path: "engine.workers", Value: "3"})...)
			if dead, most := mean(t, all, "dead.count"), mean(t, all, "attempts.max"); dead != tt.dead || most != tt.most {
				t.Errorf("%v dead after at most %v attempts, want %v and %v", dead, most, tt.dead, tt.most)
			}
		})
	}
}
