package text

import (
	"math"
	"regexp"
	"testing"
	"time"

	"qsim/results"
	"qsim/results/measure"
)

// TestOpenMetrics checks the text for metrics with and without an interval, narrowed, bounded and missing, under a
// label that needs escapes. TestPrometheus of cmd/bench has Prometheus read some.
func TestOpenMetrics(t *testing.T) {
	none := math.NaN()
	metric := func(q measure.Query, mean, low, high float64, bound string) results.Estimate {
		return results.Estimate{Query: q, Mean: mean, Low: low, High: high, Bound: bound}
	}
	const label = "a \"b\"\\\n"
	s := &results.Summary{Scenario: "small", Policies: []results.PolicySummary{{Label: label, Metrics: []results.Estimate{
		metric(measure.Query{Metric: "fresh.wait.p99"}, 1.5, 1, 2.25, ">="),
		metric(measure.Query{Metric: "sojourn.mean"}, none, none, none, ""),
		metric(measure.Query{Metric: "dead.count"}, 1e9, none, none, ""),
		metric(measure.Query{Metric: "retries_total"}, 2, none, none, ""),
	}, Filtered: []results.Estimate{
		metric(measure.Query{Metric: "fresh.wait.p99", During: "down", Class: "mail", Tenant: "x"}, 3, none, none, ""),
		metric(measure.Query{Metric: "fresh.within", After: "down", Limit: 10 * time.Second}, .5, none, none, ""),
	}}}}
	out := OpenMetrics(s)
	const labels = `{scenario="small",policy="a \"b\"\\\n",`
	const want = `# HELP qsim_predicted_fresh_wait_p99_seconds fresh.wait.p99: ` +
		`p99 of the time from ready to the first claim of a job, over jobs that are not shed before.
# TYPE qsim_predicted_fresh_wait_p99_seconds gauge
# UNIT qsim_predicted_fresh_wait_p99_seconds seconds
qsim_predicted_fresh_wait_p99_seconds` + labels + `bound=">=",estimate="mean"} 1.5
qsim_predicted_fresh_wait_p99_seconds` + labels + `bound=">=",estimate="low"} 1
qsim_predicted_fresh_wait_p99_seconds` + labels + `bound=">=",estimate="high"} 2.25
qsim_predicted_fresh_wait_p99_seconds` + labels + `during="down",class="mail",tenant="x",estimate="mean"} 3
# HELP qsim_predicted_fresh_within_ratio fresh.within: share of fresh jobs claimed within the limit; ` +
		`an unclaimed one counts against it once it has waited longer.
# TYPE qsim_predicted_fresh_within_ratio gauge
# UNIT qsim_predicted_fresh_within_ratio ratio
qsim_predicted_fresh_within_ratio` + labels + `after="down",limit="10s",estimate="mean"} 0.5
# HELP qsim_predicted_dead dead.count: jobs dead at the end.
# TYPE qsim_predicted_dead gauge
qsim_predicted_dead` + labels + `estimate="mean"} 1e+09
# EOF
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestOpenNames checks that every metric of a simulation has a distinct name that OpenMetrics allows for a gauge.
func TestOpenNames(t *testing.T) {
	allowed := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	reserved := regexp.MustCompile(`_(total|count|sum|bucket|created|info)$`)
	seen := map[string]string{}
	for _, m := range measure.Metrics() {
		if m.Name == "retries_total" || m.Name == "retry_exhausted_total" {
			continue // they are left out
		}
		name, _ := openName(&m)
		if other := seen[name]; other != "" {
			t.Errorf("%s and %s are both %s", m.Name, other, name)
		}
		seen[name] = m.Name
		if !allowed.MatchString(name) || reserved.MatchString(name) {
			t.Errorf("%s: %s is no name for a gauge", m.Name, name)
		}
	}
}
