package scenarios

import (
	"strings"
	"testing"

	"qsim/scenarios/diagnostics"
)

// TestPoliciesThatCannotAct checks that exactly those policies which can only act as fifo in a scenario have a warning.
func TestPoliciesThatCannotAct(t *testing.T) {
	const plain = "{class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms}"
	const failing = "{class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms, fails: {rate: 10%}}"
	const second = "\n  - {class: sums, arrivals: {process: poisson, rate: 5/s}, service: 100ms}"
	for _, tt := range []struct {
		name, policy, jobs, more, want string
	}{
		{"breaker without a dependency", "{kind: breaker}", failing, "", "breaker has nothing to do: no job class calls a dependency; it acts as fifo"},
		{"breaker", "{kind: breaker}", strings.Replace(failing, "fails", "calls: api, fails", 1), "dependencies: [{name: api}]\n", ""},
		{"one tenant", "{kind: tenant-drr}", failing, "", "tenant-drr has nothing to do: all jobs belong to one tenant; it acts as fifo"},
		{"two tenants", "{kind: tenant-drr}", strings.Replace(failing, "fails", "tenants: {count: 2}, fails", 1), "", ""},
		{"two classes are two tenants", "{kind: tenant-fair}", plain + second, "", ""},
		{"one priority", "{kind: aging}", failing + second, "", "aging has nothing to do: all job classes have one priority, and jobs stand in the order of their due times; it acts as fifo"},
		{"one priority, and retries before fresh jobs", "{kind: aging}", failing, "engine: {place: head}\n", ""},
		{"one priority, and recovered jobs before others", "{kind: aging}", failing, "engine: {reaper: {place: head}}\n", ""},
		{"one priority, and recovered jobs where they stood before", "{kind: aging}", failing, "engine: {reaper: {place: due}}\n", ""},
		{"one priority, and no retries to stand first", "{kind: aging}", plain, "engine: {place: head}\n", "aging has nothing to do"},
		{"two priorities", "{kind: aging}", failing + strings.Replace(second, "service", "priority: 3, service", 1), "", ""},
		{"one class", "{kind: queues, weights: {mail: 2}}", failing, "", "queues has nothing to do: there is one job class; it acts as fifo"},
		{"nothing fails", "{kind: inflight-cap}", plain, "", "inflight-cap has nothing to do: nothing here can fail and have another attempt, so no job is ever retried; it acts as fifo"},
		{"something fails", "{kind: inflight-cap}", failing, "", ""},
		{"shares that are not lent", "{kind: weighted, lend: false}", plain, "", ""},
		{"a coin's shares that are not lent", "{kind: bernoulli, lend: false}", plain, "", ""},
		{"shares that are lent", "{kind: bernoulli, lend: true}", plain, "", "bernoulli has nothing to do"},
		{"one attempt", "{kind: inflight-cap}", failing, "retry: {max-attempts: 1}\n", "inflight-cap has nothing to do"},
		{"one attempt, and a storm of failures", "{kind: weighted}", plain, "retry: {max-attempts: 1}\nstorms: [{name: down, at: 1m, for: 10s, fail: {hits: [mail], rate: 50%}}]\n", "weighted has nothing to do"},
		{"one attempt, and a storm of crashes", "{kind: weighted}", plain, "retry: {max-attempts: 1}\nstorms: [{name: down, at: 1m, for: 10s, crash: {nodes: 1, restart-after: 5s}}]\n", ""},
		{"one attempt, and a storm of calls", "{kind: weighted}", plain, "retry: {max-attempts: 1}\nstorms: [{name: down, at: 1m, for: 10s, calls: {ops: [claim], lose-reply: 50%}}]\n", ""},
		{"one attempt, and a storm that slows the store", "{kind: weighted}", plain, "retry: {max-attempts: 1}\nstorms: [{name: down, at: 1m, for: 10s, store: {slow: 30}}]\n", ""},
		{"one attempt, and failures that cost none", "{kind: weighted}", failing, "retry: {max-attempts: 1, free: [error]}\n", ""},
		{"one attempt, and crashes that cost none", "{kind: weighted}", failing, "retry: {max-attempts: 1}\nengine: {reaper: {counts: nothing}}\n", ""},
		{"one attempt, of one class", "{kind: weighted}", strings.Replace(failing, "fails", "retry: {max-attempts: 1}, fails", 1) + second, "", ""},
		{"one attempt, of all classes", "{kind: weighted}", strings.Replace(failing, "fails", "retry: {max-attempts: 1}, fails", 1), "", "weighted has nothing to do"},
		{"a storm", "{kind: weighted}", plain, "storms: [{name: down, at: 1m, for: 10s, fail: {hits: [mail], rate: 50%}}]\n", ""},
		{"a burst makes nothing fail", "{kind: weighted}", plain, "storms: [{name: rush, at: 1m, burst: {class: mail, count: 100}}]\n", "weighted has nothing to do: nothing here can fail"},
		{"a lease too short", "{kind: weighted}", plain, "engine: {lease: {ttl: 1500ms, heartbeat: 0s}}\n", ""},
		{"a lease that heartbeats keep", "{kind: weighted}", plain, "engine: {lease: {ttl: 1500ms, heartbeat: 500ms}}\n", "weighted has nothing to do"},
		{"a lease that heartbeats keep for a while", "{kind: weighted}", plain, "engine: {lease: {ttl: 1500ms, heartbeat: 500ms, max: 1800ms}}\n", ""},
		{"a lease of a node that beats", "{kind: weighted}", plain, "engine: {lease: {ttl: 1500ms, heartbeat: 500ms, max: 1800ms, of: node}}\n", "weighted has nothing to do"},
		{"a heartbeat that comes too late", "{kind: weighted}", plain, "engine: {lease: {ttl: 1500ms, heartbeat: 2s}}\n", ""},
		{"no execution timeout", "{kind: weighted}", plain, "engine: {timeout: 0s}\n", "weighted has nothing to do"},
		{"a timeout that a few of many jobs reach", "{kind: weighted}", strings.Replace(plain, "100ms", "{dist: lognormal, p50: 100ms, p99: 10s}", 1), "engine: {timeout: 15s}\n", ""},
		{"a lease that ends in a buffer", "{kind: weighted}", plain, "engine: {lease: {ttl: 30s, heartbeat: 0s}, fetch: {prefetch: 20}}\n", ""},
		{"claims whose answers may come too late", "{kind: weighted}", plain, "engine: {store: {claim: {dist: exponential, mean: 300ms}}}\n", ""},
		{"claims that take long for each of their jobs", "{kind: weighted}", plain, "engine: {workers: 5, call-timeout: 1s, store: {per-job: 200ms}}\n", ""},
		{"claims that take long for more jobs than there are workers", "{kind: weighted}", plain, "engine: {workers: 4, call-timeout: 1s, store: {per-job: 200ms}}\n", "weighted has nothing to do"},
		{"claims that wait for other calls", "{kind: weighted}", strings.Replace(failing, "fails", "retry: {max-attempts: 1}, fails", 1), "engine: {store: {parallel: 1}}\n", ""},
		{"claims that take long for many rows", "{kind: weighted}", plain, "engine: {store: {scan: {claim: {ahead: 1us}}}}\n", ""},
		{"a variant without failures", "{kind: weighted, with: {jobs.mail.fails.rate: 0%}}", failing, "", "weighted has nothing to do"},
		{"it is known not to help", "{kind: aging}", failing, "objectives: [{metric: goodput, above: 900/s, policies: [aging], expect: missed}]\n", ""},
		{"fifo", "{kind: fifo}", plain, "", ""},
		{"a kind that orders", "{kind: lifo}", plain, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "name: x\nduration: 5m\npolicies:\n  - " + tt.policy + "\njobs:\n  - " + tt.jobs + "\n" + tt.more
			sc, found := Load("x.yaml", []byte(text), nil)
			if sc == nil {
				t.Fatalf("it does not load: %v", found)
			}
			var got []diagnostics.Diagnostic
			for _, d := range found {
				if strings.Contains(d.Message, "nothing to do") {
					got = append(got, d)
				}
			}
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("warned: %v", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0].Message, tt.want) || got[0].Severity != diagnostics.Warning || got[0].Line != 4):
				t.Errorf("got %v, want one warning in line 4: %s", got, tt.want)
			}
		})
	}
}

// TestNoWarning checks that scenarios which nearly fulfil the condition of a warning have none.
func TestNoWarning(t *testing.T) {
	for name, engine := range map[string]string{
		"a leader that the store mostly answers late": "{reaper: {owner: leader}, leader: {ttl: 1s, renew: 300ms}, store: {extend: {dist: exponential, mean: 600ms}}}",
		"many renewals of no leader":                  "{nodes: 20000, workers: 1, fetch: {poll: 1m}, reaper: {every: 1m}, lease: {heartbeat: 0s}, leader: {renew: 10ms}}",
	} {
		sc, found := Load("x.yaml", []byte("name: x\nwarmup: 30s\nduration: 5m\npolicies: [{kind: fifo}]\njobs: [{class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms}]\nengine: "+engine), nil)
		if sc == nil || len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}
