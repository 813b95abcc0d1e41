package results

import (
	"testing"
	"time"

	"qsim/results/measure"
)

// settings returns the settings of a small scenario: two classes, one of them guarded by a key, one
// storm, two workers, two policies.
func settings() *measure.Settings {
	return &measure.Settings{
		Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100 * time.Second, Drain: 100 * time.Second, Warmup: 10 * time.Second,
		Bucket: 10 * time.Second, Nodes: 1, Workers: 2, Classes: []string{"mail", "sums"}, Guards: []measure.Guard{measure.NoGuard, measure.CheckGuard},
		Storms: []measure.Window{{Name: "down", From: 40 * time.Second, To: 50 * time.Second}}, Service: 100 * time.Millisecond, Rate: 20,
		Policies: []measure.PolicyInfo{{Kind: "fifo", Label: "FIFO"}, {Kind: "weighted", Label: "Weighted", Entitled: 0.5}},
	}
}

// SkipRaced is for tests from outside the package too.
func SkipRaced(t *testing.T) { skipRaced(t) }
