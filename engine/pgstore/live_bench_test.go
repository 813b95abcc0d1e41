package pgstore

import (
	"fmt"
	"testing"
	"time"

	"qsim/engine/live"
	"qsim/engine/live/livetest"
	"qsim/policies"
)

// BenchmarkThroughput runs b.N jobs through an engine of 64 workers, from the enqueue in
// batches of a hundred to the last ack: jobs/s, with handlers that return at once. Every
// tenth job fails the first time and is tried again 10 ms later. The store holds about a
// backlog of 2000 ready jobs all the while, and pickup is the time from the enqueue of a
// job to the start of its first handler: at the full rate, that of a backlog ahead.
func BenchmarkThroughput(b *testing.B) {
	for _, policy := range livetest.Policies() {
		b.Run(fmt.Sprintf("policy=%s/store=postgres/workers=64", policy), func(b *testing.B) {
			s := openBench(b)
			settle(b, s)
			retry := &policies.Backoff{Kind: policies.Fixed, First: 10 * time.Millisecond, MaxAttempts: 5}
			livetest.Load{Policy: policy, Engine: live.Defaults(64, retry), Engines: 1, Enqueue: batch, Backlog: 2000, Sampled: 1, Failing: 10}.Run(b, s)
		})
	}
}
