package text

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"qsim/results"
)

// junitElement lists the allowed attributes and children of one element of a JUnit XML report, by junit-10.xsd of the
// Jenkins plugin xUnit.
type junitElement struct{ required, optional, children []string }

var junitRules = map[string]junitElement{
	"testsuites": {nil, []string{"name", "time", "tests", "failures", "errors"}, []string{"testsuite"}},
	"testsuite": {[]string{"name", "tests", "failures", "errors"},
		[]string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		[]string{"testsuite", "properties", "testcase", "system-out", "system-err"}},
	"testcase": {[]string{"name"}, []string{"time", "classname", "group"},
		[]string{"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError",
			"system-out", "system-err"}},
	"failure":    {nil, []string{"type", "message"}, nil},
	"error":      {nil, []string{"type", "message"}, nil},
	"skipped":    {nil, []string{"type", "message"}, nil},
	"system-out": {},
}

// checkJUnit returns what is wrong with a JUnit XML report: elements, attributes, counts that differ from its cases.
func checkJUnit(t *testing.T, document []byte) (problems []string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(document))
	type open struct {
		name   string
		counts map[string]int
		said   map[string]string
	}
	stack := []open{{"", nil, nil}}
	rules := func(name string) junitElement {
		if name == "" {
			return junitElement{children: []string{"testsuites"}}
		}
		return junitRules[name]
	}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return problems
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name, said := e.Name.Local, map[string]string{}
			if parent := stack[len(stack)-1].name; !slices.Contains(rules(parent).children, name) {
				problems = append(problems, name+" within "+parent)
			}
			for _, a := range e.Attr {
				said[a.Name.Local] = a.Value
				if r := rules(name); !slices.Contains(append(slices.Clone(r.required), r.optional...), a.Name.Local) {
					problems = append(problems, name+" has "+a.Name.Local)
				}
			}
			for _, needed := range rules(name).required {
				if said[needed] == "" {
					problems = append(problems, name+" has no "+needed)
				}
			}
			for _, o := range stack[1:] {
				counted := map[string]string{"testcase": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}
				o.counts[counted[name]]++
			}
			stack = append(stack, open{name, map[string]int{}, said})
		case xml.EndElement:
			last := stack[len(stack)-1]
			for _, count := range []string{"tests", "failures", "skipped", "errors"} {
				if said, there := last.said[count]; there && said != strconv.Itoa(last.counts[count]) {
					problems = append(problems, last.name+" has "+said+" "+count)
				}
			}
			stack = stack[:len(stack)-1]
		}
	}
}

func TestJUnit(t *testing.T) {
	suites := []Suite{
		{Name: "one", File: "one.yaml", Cases: []results.Case{
			{Policy: "fifo", Name: "sojourn.mean below 10s", Outcome: results.Met, Words: "1s ±0.1s"},
			{Policy: `a<b>&"c"`, Name: "sojourn.mean below 10s", Outcome: results.Missed, Failed: true, Words: "12s ±0.1s\x01"},
			{Policy: "fifo", Name: "dead.count below 1, expected to be missed", Outcome: results.Missed, Words: "7"},
			{Policy: "fifo", Name: "goodput above 5", Outcome: results.Unclear, Words: "5 ±1"},
			{Policy: "lifo", Name: "goodput above 5", Outcome: results.Unclear, Failed: true, Words: "5 ±1"}}},
		{Name: "two", File: "<stdin>"}, {Name: "three", File: "three.yaml", Error: "an invariant broke\nhistory"},
	}
	out := JUnit(suites)
	if problems := checkJUnit(t, []byte(out)); problems != nil {
		t.Errorf("%q\n%s", problems, out)
	}
	for _, want := range []string{`<testsuites tests="6" failures="2" errors="1">`,
		`<testsuite name="three" file="three.yaml" tests="1" failures="0" errors="1" skipped="0">`,
		`<error type="error" message="an invariant broke">`, "history</system-out>",
		`<testsuite name="one" file="one.yaml" tests="5" failures="2" errors="0" skipped="1">`,
		`<testcase classname="one.a&lt;b&gt;&amp;&#34;c&#34;" name="sojourn.mean below 10s">`,
		`: sojourn.mean below 10s: missed, 12s ±0.1s`,
		`<skipped type="unclear" message="fifo: goodput above 5: unclear, 5 ±1">`, `<system-out>1s ±0.1s</system-out>`} {
		if !strings.Contains(out, want) {
			t.Errorf("want %s in\n%s", want, out)
		}
	}
	for _, broken := range []struct{ old, new, want string }{
		{`tests="6" failures="2" errors="1">`, `tests="4" failures="2" errors="1">`, "testsuites has 4 tests"},
		{`tests="6" failures="2" errors="1">`, `tests="6" failures="2" errors="0">`, "testsuites has 0 errors"},
		{` errors="0" skipped`, ` skipped`, "testsuite has no errors"},
		{"<testcase ", `<testcase status="x" `, "testcase has status"},
		{"system-out>", "output>", "output within testcase"},
	} {
		text := strings.ReplaceAll(out, broken.old, broken.new)
		if problems := checkJUnit(t, []byte(text)); !slices.Contains(problems, broken.want) {
			t.Errorf("%s: got %q, want %s", broken.new, problems, broken.want)
		}
	}
}
