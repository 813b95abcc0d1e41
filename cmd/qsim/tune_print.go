package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"qsim/results"
)

// printTuning prints what was tried and what was found.
func printTuning(out io.Writer, scenario string, t *results.Tuning, f format) error {
	switch f {
	case "json":
		text, err := t.MarshalJSON()
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	case "csv":
		return results.WriteCells(out, tuneHeader(t, true), tuneRows(t, nil, plainNumber, true), 1, results.CSV)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", t.Scenario, t.Goal)
	if len(t.Objectives) > 0 {
		fmt.Fprintf(&b, ", with %s", strings.Join(t.Objectives, " and "))
	}
	b.WriteString("\n")
	number := tuneNumber(t)
	for i := range t.Policies {
		p := &t.Policies[i]
		fmt.Fprintf(&b, "\n%s\n", p.Label)
		style := results.Text
		if f == "markdown" {
			style = results.Markdown
			b.WriteString("\n")
		}
		if err := results.WriteCells(&b, tuneHeader(t, false), tuneRows(t, p, number, false), len(t.Axes)+1, style); err != nil {
			return err
		}
		b.WriteString("\n")
		for _, line := range p.Said {
			fmt.Fprintf(&b, "%s\n", line)
		}
		if p.Best >= 0 {
			fmt.Fprintf(&b, "qsim run %s --policy %s%s\n", quoteArgument(scenario), quoteArgument(p.Label), setsOf(t, &p.Trials[p.Best]))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func tuneHeader(t *results.Tuning, full bool) []string {
	var header []string
	if full {
		header = append(header, "policy")
	}
	for i := range t.Axes {
		header = append(header, t.Axes[i].Key)
	}
	header = append(header, "seeds")
	if !t.Margin {
		header = append(header, t.Query.String(), "±")
	}
	return append(header, "margin", "±", "objectives", "")
}

// tuneRows has a row for each setting that was tried, of one policy or of all.
func tuneRows(t *results.Tuning, only *results.TunedPolicy, number func(float64) string, full bool) (rows [][]string) {
	margin := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		if full {
			return exactly(v)
		}
		return fmt.Sprintf("%+.1f%%", 100*v)
	}
	for i := range t.Policies {
		p := &t.Policies[i]
		if only != nil && only != p {
			continue
		}
		for k := range p.Trials {
			r := &p.Trials[k]
			var row []string
			if full {
				row = append(row, p.Label)
			}
			row = append(append(row, r.Values...), strconv.Itoa(r.Seeds))
			if !t.Margin {
				row = append(row, cell(r.Mean, number), cell(r.Half, number))
			}
			why := r.Why
			if k == p.Best {
				why = "best"
			}
			row = append(row, margin(r.Margin), strings.TrimPrefix(margin(r.Half2), "+"), string(r.Outcome), why)
			rows = append(rows, row)
		}
	}
	return rows
}

// plainNumber writes a value for programs; nothing stands for none.
func plainNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return exactly(v)
}

// tuneNumber writes values of the goal.
func tuneNumber(t *results.Tuning) func(float64) string {
	info, found := results.Lookup(t.Query.Metric)
	return func(v float64) string {
		if math.IsNaN(v) {
			return results.Missing
		}
		if !found {
			return briefly(v)
		}
		return results.FormatValue(v, info)
	}
}

// setsOf are the flags that give a run a setting.
func setsOf(t *results.Tuning, r *results.Trial) string {
	var b strings.Builder
	for i := range t.Axes {
		b.WriteString(" --set " + quoteArgument(t.Axes[i].Key+"="+r.Values[i]))
	}
	return b.String()
}

// quoteArgument writes an argument as a shell takes it.
func quoteArgument(text string) string {
	safe := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=%+,:@", r))
	}) < 0
	if safe && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
