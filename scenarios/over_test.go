package scenarios

import "testing"

// TestOverWithoutLimit checks the warning for a dependency's treatment of calls over a limit that it does not have. The
// default treatment, which Resolved writes, gives none.
func TestOverWithoutLimit(t *testing.T) {
	for over, want := range map[string]int{
		"{}": 0, "{fail: 100%}": 0, "{fail: 100%, rejects-in: 0s}": 0, "{fail: 50%}": 1, "{rejects-in: 1ms}": 1, "{slow: 3}": 1,
	} {
		_, ds := Load("test.yaml", []byte(`
dependencies: [{name: wallet, conflict: {network: 5ms}, over: `+over+`}]
jobs: [{class: mail, arrivals: {process: constant, rate: 1/s}, service: 1s, calls: wallet}]
`), nil)
		if len(ds.Errors()) > 0 || len(ds) != want {
			t.Errorf("over: %s: %d warnings, want %d:\n%v", over, len(ds), want, ds)
		}
	}
}
