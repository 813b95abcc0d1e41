package bench

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the dashboard again")

// dashboardFile is the dashboard for Grafana, which panels and TestDashboard describe.
const dashboardFile = "../qbench/dashboard.json"

// panel is a chart of the Grafana dashboard: its title, explanation and unit, and PromQL queries, each with its legend.
type panel struct {
	title, about, unit string
	queries            [][2]string
}

// ofJob is the PromQL selector for the workers of one queue: those scraped under the chosen Prometheus jobs.
const ofJob = `job=~"$job"`

// toSpeed is the PromQL expression for the speed of workers, by which real times are converted to scenario times.
const toSpeed = "scalar(max(qsim_speed{" + ofJob + "}) or vector(1))"

func runningQuantile(q, name string) string {
	return "histogram_quantile(" + q + ", sum by (le) (rate(qsim_" + name +
		"_seconds_bucket{" + ofJob + "}[$__rate_interval]))) * " + toSpeed
}

// foretold returns the PromQL query for a metric that a simulation predicts, of all jobs unless a filter narrows it.
func foretold(name string, filter ...string) string {
	return "qsim_predicted_" + name + `{scenario="$scenario",policy="$policy",` + cmp.Or(strings.Join(filter, ","),
		`estimate="mean",during="",after="",class="",tenant=""`) + "}"
}

func waitPanel(title, about, name string) panel {
	return panel{title, about, "s", [][2]string{
		{"running p99", runningQuantile("0.99", name)}, {"running p50", runningQuantile("0.5", name)},
		{"predicted p99", foretold(name + "_p99_seconds")}, {"predicted p50", foretold(name + "_p50_seconds")},
	}}
}

func perSecondOf(name string) string {
	return "sum(rate(qsim_" + name + "{" + ofJob + "}[$__rate_interval]))"
}

// most returns the PromQL query for a gauge of the whole queue: each process reports it, and the highest value counts.
func most(name string) string { return "max(qsim_" + name + "{" + ofJob + "})" }

var panels = func() []panel {
	fresh := waitPanel("Fresh wait", "from ready to the first claim of a job", "fresh_wait")
	fresh.queries = append(fresh.queries, [2]string{"predicted p99 during {{during}}, {{estimate}}",
		foretold("fresh_wait_p99_seconds", `during!="",class="",tenant=""`)})
	return []panel{
		fresh,
		waitPanel("Retry wait", "from due to a later claim of a job", "retry_wait"),
		waitPanel("Sojourn", "from enqueued to done", "sojourn"),
		{"Throughput", "executions finished per second, and goodput: jobs done", "ops", [][2]string{
			{"running", perSecondOf("executions_total") + " / " + toSpeed},
			{"running goodput", perSecondOf("sojourn_seconds_count") + " / " + toSpeed},
			{"predicted", foretold("throughput_per_second")}, {"predicted goodput", foretold("goodput_per_second")}}},
		{"Backlog", "jobs ready, waiting and leased, of all processes", "short", [][2]string{
			{"fresh", most("backlog_fresh")}, {"retries", most("backlog_retry")}, {"waiting", most("waiting")},
			{"in flight", most("in_flight")}, {"most fresh, predicted", foretold("backlog_fresh_max")},
			{"most retries, predicted", foretold("backlog_retry_max")}}},
		{"Retries", "share of the claims that are of retries", "percentunit", [][2]string{
			{"running", perSecondOf("retries_total") + " / " + perSecondOf("claims_total")},
			{"predicted", foretold("retry_share_ratio")}}},
		{"Utilization", "share of the workers' time that is busy", "percentunit", [][2]string{
			{"running", perSecondOf("busy_seconds_total") + " / sum(qsim_workers{" + ofJob + "})"},
			{"predicted", foretold("utilization_ratio")}}},
		{"Dead jobs", "buried, of all processes", "short", [][2]string{
			{"running", most("dead")}, {"predicted", foretold("dead")}}},
		{"Failures", "executions that failed per second, by the kind of their error", "ops", [][2]string{
			{"{{error}}", `sum by (error) (rate(qsim_executions_total{error!="",` + ofJob + "}[$__rate_interval])) / " +
				toSpeed}}},
		{"Lost leases", "per second: leases that expired, and commits refused because of it", "ops", [][2]string{
			{"leases expired", perSecondOf("leases_expired_total") + " / " + toSpeed},
			{"stale commits", perSecondOf("stale_commits_total") + " / " + toSpeed}}},
		{"Store calls", "p99 of their duration, in real time", "s", [][2]string{{"{{op}}",
			"histogram_quantile(0.99, sum by (le, op) (rate(qsim_store_calls_seconds_bucket{" + ofJob +
				"}[$__rate_interval])))"}}},
		{"Store calls per second", "in real time, with errors", "ops", [][2]string{
			{"{{op}}", "sum by (op) (rate(qsim_store_calls_seconds_count{" + ofJob + "}[$__rate_interval]))"},
			{"errors of {{op}}", "sum by (op) (rate(qsim_store_errors_total{" + ofJob + "}[$__rate_interval]))"}}},
	}
}()

// variables lists the choices of a dashboard's user, each with the series that has a label of that name.
var variables = [][2]string{{"job", "qsim_workers"}, {"scenario", "qsim_predicted_claims"},
	{"policy", `qsim_predicted_claims{scenario="$scenario"}`}}

// dashboard returns the panels as the JSON that Grafana imports, two to a row.
func dashboard(t *testing.T) []byte {
	type object = map[string]any
	source := object{"type": "prometheus", "uid": "${source}"}
	variable := func(name, from string) object {
		query := "label_values(" + from + ", " + name + ")"
		return object{"name": name, "type": "query", "datasource": source, "definition": query, "refresh": 2,
			"multi": name == "job", "query": object{"query": query, "refId": name}}
	}
	var drawn []object
	for i, p := range panels {
		var targets []object
		for j, q := range p.queries {
			targets = append(targets, object{"refId": string(rune('A' + j)), "legendFormat": q[0], "expr": q[1]})
		}
		drawn = append(drawn, object{"id": i + 1, "type": "timeseries", "title": p.title, "description": p.about,
			"datasource": source, "gridPos": object{"x": i % 2 * 12, "y": i / 2 * 8, "w": 12, "h": 8}, "targets": targets,
			"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{{
				"matcher":    object{"id": "byRegexp", "options": ".*predicted.*"},
				"properties": []object{{"id": "custom.lineStyle", "value": object{"fill": "dash", "dash": []int{8, 6}}}}}}}})
	}
	choices := []object{{"name": "source", "type": "datasource", "query": "prometheus"}}
	for _, v := range variables {
		choices = append(choices, variable(v[0], v[1]))
	}
	text, err := json.MarshalIndent(object{"title": "Queue: running and predicted", "uid": "qsim-queue",
		"schemaVersion": 39, "editable": true, "refresh": "5s", "time": object{"from": "now-30m", "to": "now"},
		"panels": drawn, "templating": object{"list": choices},
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// unselected matches, in a PromQL query, the name of a metric without a selector.
var unselected = regexp.MustCompile(`\bqsim_\w+\b[^{\w]`)

// TestDashboard: the dashboard's file is that of its panels, whose queries all select one queue and one kind of time.
// TestPrometheus checks that each query has a result.
func TestDashboard(t *testing.T) {
	want := dashboard(t)
	if *rewrite {
		if err := os.WriteFile(dashboardFile, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range panels {
		for _, q := range p.queries {
			if name := unselected.FindString(q[1]); name != "" {
				t.Errorf("%s, %s: sums %s of all queues in one Prometheus", p.title, q[0], name)
			}
			if p.unit == "ops" && strings.Contains(q[1], "rate(") && !strings.HasSuffix(q[1], " / "+toSpeed) &&
				!strings.Contains(p.about, "in real time") {
				t.Errorf("%s, %s: neither in the scenario's time nor said to be in real time", p.title, q[0])
			}
		}
	}
	if got, err := os.ReadFile(dashboardFile); err != nil || string(got) != string(want) {
		t.Errorf("%s: %v: it is not what the panels say: go test ./cmd/bench -run TestDashboard -rewrite", dashboardFile, err)
	}
}
