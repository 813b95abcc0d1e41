package imports

import (
	"fmt"
	"strings"
	"testing"
)

const tried = `
name: retried
duration: 30m
drain: 2h
seeds: 1
engine: {workers: 40, store: {claim: 0s, commit: 0s}}
retry: {%s}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 2/s}
    service: 400ms
    fails: {rate: 50%%, errors: {timeout: 100%%}}
policies: [{kind: fifo}]
`

// What jobs were tried again by is found from their pauses alone: also jitter that grows by
// itself or is of one width, and the formulas of systems which are no family of backoffs. The seed is fixed.
func TestRetriesAreRecognised(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, retry string
		due         bool
		want        string
	}{
		{"decorrelated", "max-attempts: 6, backoff: {kind: exponential, first: 2s, max: 20s}, jitter: decorrelated", true,
			"max-attempts: 6, backoff: {kind: exponential, first: 2s, max: 20s}, jitter: decorrelated"},
		{"decorrelated, to the next start", "max-attempts: 6, backoff: {kind: exponential, first: 2s, max: 20s}, jitter: decorrelated", false,
			"max-attempts: 6, backoff: {kind: exponential, first: 2s, max: 20s}, jitter: decorrelated"},
		{"a width of its own", `max-attempts: 6, backoff: {kind: exponential, first: 2s, factor: 2}, jitter: "+5s"`, true,
			`max-attempts: 6, backoff: {kind: exponential, first: 2s, factor: 2}, jitter: "+5s"`},
		{"a share of each", `max-attempts: 6, backoff: {kind: exponential, first: 2s, factor: 2}, jitter: "±30%"`, true,
			`max-attempts: 6, backoff: {kind: exponential, first: 2s, factor: 2}, jitter: ±30%`},
		{"sidekiq", "preset: sidekiq, max-attempts: 6", true, "preset: sidekiq, max-attempts: 6"},
		{"asynq, which is as faktory", "preset: asynq, max-attempts: 6", true, "preset: asynq, max-attempts: 6"},
		{"oban", "preset: oban, max-attempts: 6", true, "preset: oban, max-attempts: 6"},
		{"inngest", "preset: inngest, max-attempts: 8", true, "preset: inngest, max-attempts: 8"},
		{"no system's", "max-attempts: 6, backoff: {kind: table, delays: [1s, 30s, 3s, 50s, 2s]}, jitter: full", true,
			"max-attempts: 6, backoff: {kind: table, delays: [1s, 30s, 3s, 50s, 2s]}, jitter: full"},
	} {
		if raced && tt.name != "decorrelated" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := exportOf(t, fmt.Sprintf(tried, tt.retry))
			found := read(t, "csv", x.csv(tt.due))
			if keys := strings.Join(found.Retry.Keys, ", "); keys != tt.want {
				t.Errorf("retry is %s, want %s; pauses %+v", keys, tt.want, found.Retry.Pauses)
			}
			if !found.Retry.Exact {
				t.Errorf("the pauses do not follow: %+v", found.Retry.Pauses)
			}
		})
	}
}
