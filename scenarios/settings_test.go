package scenarios

import (
	"testing"
	"time"
)

// TestLeaseTold: results follow a lease only where the events tell how it goes on.
func TestLeaseTold(t *testing.T) {
	for _, tt := range []struct {
		name, engine, with string
		want               time.Duration
	}{
		{"plain", "lease: {ttl: 40s, heartbeat: 0s}", "", 40 * time.Second},
		{"of a policy", "lease: {ttl: 40s, heartbeat: 0s}", "engine.lease.ttl: 90s", 90 * time.Second},
		{"of a node that beats", "lease: {ttl: 40s, heartbeat: 5s, of: node}", "", 0},
		{"acked early", "ack: early", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := load(t, "name: s\nduration: 1m\nwarmup: 0s\nengine: {"+tt.engine+"}\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\npolicies: [{kind: fifo, with: {"+tt.with+"}}]\n")
			if got := sc.Settings().Policies[0].Lease; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
