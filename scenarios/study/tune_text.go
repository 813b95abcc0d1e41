package study

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
)

// WriteTuning writes the settings tried by a search: as CSV a row for each, or for people a table for each policy with
// the findings, and the command line that runs a policy with the best setting; command formats it from keys and values
// in the syntax of --set.
func WriteTuning(w io.Writer, t *results.Tuning, o text.TableOptions,
	command func(policy string, sets []string) string) error {
	if o.Format == text.CSV {
		header, rows := tuneTable(t, t.Policies, true)
		return text.WriteCells(w, header, rows, 1, o)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", t.Scenario, t.Goal)
	if len(t.Objectives) > 0 {
		fmt.Fprintf(&b, ", with %s", strings.Join(t.Objectives, " and "))
	}
	b.WriteString("\n")
	for i := range t.Policies {
		p := &t.Policies[i]
		fmt.Fprintf(&b, "\n%s\n", p.Label)
		if o.Format == text.Markdown {
			b.WriteString("\n")
		}
		header, rows := tuneTable(t, t.Policies[i:i+1], false)
		if err := text.WriteCells(&b, header, rows, len(t.Axes)+1, o); err != nil {
			return err
		}
		b.WriteString("\n")
		for _, line := range p.Said {
			fmt.Fprintf(&b, "%s\n", line)
		}
		if p.Best >= 0 {
			var sets []string
			for i, value := range p.Trials[p.Best].Values {
				sets = append(sets, t.Axes[i].Key+"="+value)
			}
			fmt.Fprintf(&b, "%s\n", command(p.Label, sets))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tuneTable returns a table with a row for each setting tried under some policies: with full for programs, with labels
// and all digits, otherwise for people.
func tuneTable(t *results.Tuning, policies []results.TunedPolicy, full bool) (header []string, rows [][]string) {
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
	header = append(header, "margin", "±", "objectives", "")
	info, _ := measure.Lookup(t.Query.Metric)
	value := func(v float64) string {
		if full {
			return plain.Number(v)
		}
		return results.FormatValue(v, info)
	}
	margin := func(v float64) string {
		if text := plain.Number(v); full || text == "" {
			return text
		}
		return fmt.Sprintf("%+.1f%%", 100*v)
	}
	for i := range policies {
		p := &policies[i]
		for k := range p.Trials {
			r := &p.Trials[k]
			var row []string
			if full {
				row = append(row, p.Label)
			}
			row = append(append(row, r.Values...), strconv.Itoa(r.Seeds))
			if !t.Margin {
				row = append(row, value(r.Mean), value(r.Half))
			}
			why := r.Why
			if k == p.Best {
				why = "best"
			}
			rows = append(rows, append(row, margin(r.Margin), strings.TrimPrefix(margin(r.Half2), "+"), string(r.Outcome), why))
		}
	}
	return header, rows
}
