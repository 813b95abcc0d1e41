package text

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"qsim/results"
)

// Suite holds the cases of one scenario.
type Suite struct {
	Name  string // name of the scenario
	File  string // file of the scenario
	Cases []results.Case
	Error string // why it could not be loaded, simulated or written, its first line the message; empty: it could
}

// junitSuites is a JUnit XML report in the form of junit-10.xsd, which Jenkins, GitLab and others read:
// https://github.com/jenkinsci/xunit-plugin.
type junitSuites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []junitSuite
}

type junitSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	File     string   `xml:"file,attr,omitempty"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Cases    []junitCase
}

type junitCase struct {
	XMLName xml.Name      `xml:"testcase"`
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

// WriteJUnit writes suites as one JUnit XML report: a test case for each case, a class for each policy. An unclear case
// that does not fail is skipped. What could not be simulated is a case with an error.
func WriteJUnit(w io.Writer, suites []Suite) error {
	var all junitSuites
	for _, s := range suites {
		suite := junitSuite{Name: s.Name, File: s.File, Tests: len(s.Cases)}
		for i := range s.Cases {
			c := &s.Cases[i]
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
	out, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	}
	return err
}
