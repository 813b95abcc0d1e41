package text

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// Suite holds the conditions checked for one scenario, such as objectives, for a test suite in a JUnit report.
type Suite struct {
	Name  string // name of the scenario
	File  string // file of the scenario
	Cases []results.Case
	Error string // why it could not be loaded, simulated or written, its first line the message; empty: it could
}

// junitSuites is the root of a JUnit XML report by junit-10.xsd, which Jenkins, GitLab and others read:
// https://github.com/jenkinsci/xunit-plugin.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr,omitempty"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure"`
	Error   *junitOutcome `xml:"error"`
	Skipped *junitOutcome `xml:"skipped"`
	Out     string        `xml:"system-out"`
}

type junitOutcome struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
}

// JUnit returns the text of a JUnit XML report: a suite for each scenario, a test case for each condition, with a class
// for each policy. An unclear case that does not fail is skipped; a scenario not simulated has an error.
func JUnit(suites []Suite) string {
	var all junitSuites
	for _, s := range suites {
		suite := junitSuite{Name: s.Name, File: s.File, Tests: len(s.Cases)}
		for _, c := range s.Cases {
			test := junitCase{Class: s.Name + "." + c.Policy, Name: c.Name, Out: c.Words}
			outcome := &junitOutcome{Type: string(c.Outcome), Message: c.String()}
			switch {
			case c.Failed:
				test.Failure = outcome
				suite.Failures++
			case c.Outcome == results.Unclear:
				test.Skipped = outcome
				suite.Skipped++
			}
			suite.Cases = append(suite.Cases, test)
		}
		if s.Error != "" {
			message, _, _ := strings.Cut(s.Error, "\n")
			suite.Cases = append(suite.Cases, junitCase{Class: s.Name, Name: "simulation", Out: s.Error,
				Error: &junitOutcome{Type: "error", Message: message}})
			suite.Tests, suite.Errors = suite.Tests+1, 1
		}
		all.Suites = append(all.Suites, suite)
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Errors+suite.Errors
	}
	return xml.Header + string(plain.Must(xml.MarshalIndent(all, "", "  "))) + "\n"
}

// openUnits maps the units of metrics to those that end OpenMetrics names; the unit of counts has no entry.
var openUnits = map[string]string{"s": "seconds", "1": "ratio", "1/s": "per_second", "job·s": "job_seconds",
	"worker·s": "worker_seconds"}

// openName returns the OpenMetrics name of a metric, such as qsim_predicted_fresh_wait_p99_seconds, and its unit or "".
// It drops the endings .count and .total, which mean something else there.
func openName(m *measure.MetricInfo) (name, unit string) {
	name, unit = strings.TrimSuffix(strings.TrimSuffix(m.Name, ".count"), ".total"), openUnits[m.Unit]
	name = "qsim_predicted_" + strings.NewReplacer(".", "_", "-", "_").Replace(name)
	if unit != "" {
		name = strings.TrimSuffix(name, "_"+unit) + "_" + unit
	}
	return name, unit
}

// OpenMetrics returns a summary's metrics in the text format OpenMetrics, for Prometheus or its node exporter to read:
// gauges with labels for policy and filters, and estimate for mean, low or high (of its interval). Missing values are
// omitted.
func OpenMetrics(s *results.Summary) string {
	var b strings.Builder
	for _, m := range measure.Metrics() {
		if strings.HasSuffix(m.Name, "_total") {
			continue // retries.total and deaths.limit by another name
		}
		name, unit := openName(&m)
		head := fmt.Sprintf("# HELP %s %s: %s.\n# TYPE %s gauge\n", name, m.Name, m.Doc, name)
		head += plain.When(unit != "", fmt.Sprintf("# UNIT %s %s\n", name, unit))
		for _, p := range s.Policies {
			for _, e := range slices.Concat(p.Metrics, p.Filtered) {
				if e.Metric == m.Name && !e.Null() {
					b.WriteString(head)
					head = ""
					writeOpenSamples(&b, name, s.Scenario, p.Label, &e)
				}
			}
		}
	}
	return b.String() + "# EOF\n"
}

// openEscapes escapes the value of an OpenMetrics label.
var openEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeOpenSamples writes an estimate to b as OpenMetrics lines: its mean and both ends of its interval.
func writeOpenSamples(b *strings.Builder, name, scenario, policy string, e *results.Estimate) {
	limit := plain.When(e.Limit != 0, plain.Setting(e.Limit))
	labels := ""
	for _, l := range []struct{ name, value string }{{"scenario", scenario}, {"policy", policy}, {"during", e.During},
		{"after", e.After}, {"class", e.Class}, {"tenant", e.Tenant}, {"limit", limit}, {"bound", e.Bound}} {
		labels += plain.When(l.value != "", fmt.Sprintf(`%s="%s",`, l.name, openEscapes.Replace(l.value)))
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
