package world

import "testing"

// TestDeathsHaveCauses: jobs die for the cause that their scenario gives them, and for no other.
func TestDeathsHaveCauses(t *testing.T) {
	causes := []string{"deaths.limit", "deaths.error", "deaths.deadline", "deaths.reaper", "deaths.shed"}
	const load = "duration: 10m\ndrain: 1h\nwarmup: 0s\nseeds: 1\n"
	for _, tt := range []struct{ cause, text string }{
		{"deaths.limit", `
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 1s}, deadline: 20m}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms, fails: {rate: 100%}}]
`}, {"deaths.error", `
retry: {max-attempts: 3, never: [gone]}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms, fails: {rate: 100%, errors: {gone: 100%}}}]
`}, {"deaths.deadline", `
retry: {max-attempts: unlimited, backoff: {kind: fixed, delay: 10s}, deadline: 1m}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms, fails: {rate: 100%}}]
`}, {"deaths.deadline", `
retry: {max-attempts: 30, backoff: {kind: fixed, delay: 10s}, deadline: 1m}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms, fails: {rate: 100%}}]
`}, {"deaths.deadline", `
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 10s}, free: [error], deadline: 1m}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms, fails: {rate: 100%}}]
`}, {"deaths.reaper", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, reaper: {after: dead}, timeout: 10m}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 30s}]
`}, {"deaths.reaper", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, reaper: {max: 2}, timeout: 10m}
retry: {max-attempts: unlimited, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 30s}]
`}, {"deaths.reaper", `
engine: {lease: {ttl: 10s}, reaper: {max: 2}, restart: 5s, nodes: 5}
retry: {max-attempts: 25, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s, kills: 100%}]
`}, {"deaths.reaper", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, reaper: {max: 2, within: 1h}, timeout: 10m}
retry: {max-attempts: unlimited, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 30s}]
`}, {"deaths.limit", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, reaper: {max: 2, within: 15s}, timeout: 10m}
retry: {max-attempts: 6, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 30s}]
`}, {"deaths.reaper", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, reaper: {max: 2, guard: none, gap: 100ms, every: 1s}, timeout: 10m}
retry: {max-attempts: unlimited, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 12s}]
`}, {"deaths.limit", `
engine: {lease: {ttl: 10s, heartbeat: 0s}, timeout: 10m}
retry: {max-attempts: 2, backoff: {kind: fixed, delay: 1s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 30s}]
`}, {"deaths.shed", `
engine: {workers: 1}
jobs: [{class: mail, arrivals: {process: poisson, rate: 3/s}, service: 1s}]
policies: [{kind: codel, target: 1s, interval: 2s, then: bury}]
`}} {
		all := runs(t, load+tt.text)
		deaths := mean(t, all, "deaths.count")
		if deaths < 100 {
			t.Errorf("%s: %v jobs died", tt.text, deaths)
		}
		for _, cause := range causes {
			wanted := 0.0
			if cause == tt.cause {
				wanted = deaths
			}
			if n := mean(t, all, cause); n != wanted {
				t.Errorf("%s\n%s: %v of %v", tt.text, cause, n, deaths)
			}
		}
		if n := mean(t, all, "retry_exhausted_total"); n != mean(t, all, "deaths.limit") {
			t.Errorf("%s: %v are exhausted", tt.text, n)
		}
	}
}
