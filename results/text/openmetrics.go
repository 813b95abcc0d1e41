package text

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// openUnits are the units of metrics as the names of OpenMetrics end; a count has none.
var openUnits = map[string]string{"s": "seconds", "1": "ratio", "1/s": "per_second", "job·s": "job_seconds",
	"worker·s": "worker_seconds"}

// openName returns the name of a predicted metric in OpenMetrics: fresh.wait.p99 is
// qsim_predicted_fresh_wait_p99_seconds. A count loses the endings .count and .total, which there mean something else.
func openName(m *measure.MetricInfo) (name, unit string) {
	name, unit = strings.TrimSuffix(strings.TrimSuffix(m.Name, ".count"), ".total"), openUnits[m.Unit]
	name = "qsim_predicted_" + strings.NewReplacer(".", "_", "-", "_").Replace(name)
	if unit != "" {
		name = strings.TrimSuffix(name, "_"+unit) + "_" + unit
	}
	return name, unit
}

// WriteOpenMetrics writes the metrics of a summary in the text format OpenMetrics, which Prometheus scrapes and its
// node exporter reads from a file: gauges by policy and by the filters of a metric, with the label estimate for the mean
// and the ends (low, high) of its interval. Missing values are left out.
func WriteOpenMetrics(w io.Writer, s *results.Summary) error {
	var b strings.Builder
	for _, m := range measure.Metrics() {
		if strings.HasSuffix(m.Name, "_total") {
			continue // retries.total and deaths.limit by another name
		}
		name, unit := openName(&m)
		head := fmt.Sprintf("# HELP %s %s: %s.\n# TYPE %s gauge\n", name, m.Name, m.Doc, name)
		if unit != "" {
			head += fmt.Sprintf("# UNIT %s %s\n", name, unit)
		}
		for i := range s.Policies {
			p := &s.Policies[i]
			for _, list := range [][]results.Estimate{p.Metrics, p.Filtered} {
				for j := range list {
					if e := &list[j]; e.Metric == m.Name && !e.Null() {
						b.WriteString(head)
						head = ""
						writeOpenSamples(&b, name, s.Scenario, p.Label, e)
					}
				}
			}
		}
	}
	b.WriteString("# EOF\n")
	return write(w, "metrics", b.String())
}

// openEscapes are the escapes in the value of a label.
var openEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeOpenSamples writes the mean and the interval of an estimate.
func writeOpenSamples(b *strings.Builder, name, scenario, policy string, e *results.Estimate) {
	limit := ""
	if e.Limit != 0 {
		limit = plain.Setting(e.Limit)
	}
	labels := ""
	for _, l := range []struct{ name, value string }{{"scenario", scenario}, {"policy", policy}, {"during", e.During},
		{"after", e.After}, {"class", e.Class}, {"tenant", e.Tenant}, {"limit", limit}, {"bound", e.Bound}} {
		if l.value != "" {
			labels += fmt.Sprintf(`%s="%s",`, l.name, openEscapes.Replace(l.value))
		}
	}
	for _, v := range []struct {
		of    string
		value float64
	}{{"mean", e.Mean}, {"low", e.Low}, {"high", e.High}} {
		if !math.IsNaN(v.value) {
			fmt.Fprintf(b, "%s{%sestimate=%q} %s\n", name, labels, v.of, strconv.FormatFloat(v.value, 'g', -1, 64))
		}
	}
}
