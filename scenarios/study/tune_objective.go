package study

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/scenarios"
)

// ParseObjective reads a bound on a metric, as a scenario has it under objectives: "fresh.wait.p99
// during payments-down below 10s". It returns YAML. Which metrics and storms there are is not
// known here.
func ParseObjective(text string) (yaml string, err error) {
	at, word := -1, ""
	for _, w := range []string{"below", "above"} {
		if i := strings.LastIndex(text, " "+w+" "); i > at {
			at, word = i, w
		}
	}
	if at < 0 {
		return "", fmt.Errorf("%s: want METRIC below BOUND or METRIC above BOUND, such as fresh.wait.p99 during STORM "+
			"below 10s", text)
	}
	q, err := measure.ParseQuery(text[:at])
	if err != nil {
		return "", err
	}
	bound := strings.TrimSpace(text[at+len(word)+2:])
	if bound == "" || strings.ContainsAny(bound, "{}[]#&*!|>'\"\\,:\n\t ") {
		return "", fmt.Errorf("%s: want a bound behind %s, such as 10s, 20%% or 5", text, word)
	}
	keys := []string{"metric: " + strconv.Quote(q.Metric)}
	for _, f := range [][2]string{{"during", q.During}, {"after", q.After}, {"class", q.Class}, {"tenant", q.Tenant}} {
		if f[1] != "" {
			keys = append(keys, f[0]+": "+strconv.Quote(f[1]))
		}
	}
	if q.Limit > 0 {
		keys = append(keys, "limit: "+scenarios.Duration(q.Limit).String())
	}
	return "{" + strings.Join(append(keys, word+": "+bound), ", ") + "}", nil
}

// Objectives is the override that gives a scenario these objectives instead of its own.
func Objectives(texts []string) (scenarios.Override, error) {
	var list []string
	var problems []error
	for _, text := range texts {
		yaml, err := ParseObjective(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--objective %w", err))
		}
		list = append(list, yaml)
	}
	return scenarios.Override{Path: "objectives", Value: "[" + strings.Join(list, ", ") + "]"}, errors.Join(problems...)
}
