package scenarios

import (
	"math"
	"testing"

	"qsim/scenarios/estimate"
)

// TestFootprint compares estimates of the jobs alive at once with numbers computed by hand from arrivals and workers.
func TestFootprint(t *testing.T) {
	const head = "version: 1\nwarmup: 0s\nduration: 100s\nengine: {nodes: 2, workers: 5}\n"
	for _, tt := range []struct {
		name, text string
		jobs       float64
		running    float64
		key        string
	}{
		{"half of the workers", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 5/s}, service: 1s}\n", 5, 5, "jobs.mail.arrivals"},
		{"ten times the workers", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 100/s}, service: 1s}\n", 9010, 10, "jobs.mail.arrivals"},
		{"another class brings more", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 1/s}, service: 1s}\n- {class: sums, arrivals: {process: constant, rate: 99/s}, service: 1s}\n", 9010, 10, "jobs.sums.arrivals"},
		{"a burst", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 5/s}, service: 1s}\nstorms: [{name: flood, at: 10s, burst: {class: mail, count: 9500}}]\n", 9510, 10, "storms.flood.burst"},
		{"a burst that is worked off", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 1/s}, service: 10ms}\nstorms: [{name: flood, at: 10s, burst: {class: mail, count: 50000}}]\n", 50005, 5.01, "storms.flood.burst"},
		{"jobs that fail for ever", head + "retry: {max-attempts: unlimited, backoff: {kind: none}, jitter: none}\njobs:\n- {class: mail, arrivals: {process: constant, rate: 5/s}, service: 1s, fails: {rate: 100%}}\n", 500, 10, "jobs.mail.arrivals"},
		{"attempts that a timeout cuts off", head + "retry: {max-attempts: 1}\njobs:\n- {class: mail, arrivals: {process: constant, rate: 2/s}, service: 10s, timeout: 1s, fails: {rate: 50%}}\n", 2, 2, "jobs.mail.arrivals"},
		{"batches of jobs without work", head + "jobs:\n- {class: mail, arrivals: {process: batch, size: 3000, every: 50s}, service: 0s}\n", 3000, 0, "jobs.mail.arrivals"},
		{"no work at all", head + "jobs:\n- {class: mail, arrivals: {process: constant, rate: 5/s}, service: 0s}\n", 0, 0, "jobs.mail.arrivals"},
	} {
		sc, problems := Load("test.yaml", []byte(tt.text), nil)
		if sc == nil {
			t.Fatalf("%s: %v", tt.name, problems)
		}
		f := estimate.Of(sc)
		if math.Abs(f.Jobs-tt.jobs) > 0.001*tt.jobs || f.Key != tt.key || math.Abs(f.Bytes-(1<<20+190*tt.jobs+1200*tt.running+2*6000)) > 1000 {
			t.Errorf("%s: %.1f jobs, %.0f bytes, %s; want %v of %s", tt.name, f.Jobs, f.Bytes, f.Key, tt.jobs, tt.key)
		}
	}
}

// TestShippedScenariosAreSmall checks that every built-in scenario takes so little memory that no machine refuses it.
func TestShippedScenariosAreSmall(t *testing.T) {
	for _, b := range Builtin() {
		shown, src, err := Open(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		sc, problems := Load(shown, src, nil)
		if sc == nil {
			t.Fatalf("%s: %v", b.Name, problems)
		}
		if f := estimate.Of(sc); !(f.Bytes < 300e6) || math.IsNaN(f.Jobs) {
			t.Errorf("%s: %.0f jobs at once, %.0f bytes", b.Name, f.Jobs, f.Bytes)
		}
	}
}
