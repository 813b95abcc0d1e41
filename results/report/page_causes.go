package report

import (
	"fmt"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/text"
)

// causes are the columns of the table of duplicates, with what is said in one row of all.
var causes = []struct{ metric, title string }{
	{"duplicates.lease", "lease expired while its holder lived"},
	{"duplicates.crash", "crash after the effect"},
	{"duplicates.ack", "ack lost or late"},
	{"duplicates.timeout", "ran on after its timeout"},
	{"duplicates.other", "another cause"},
	{"duplicates.count", "in all"},
	{"duplicates.resubmits", "resubmitted by its caller"},
}

// duplicates says why executions were duplicates.
func duplicates(sum *results.Summary) finding {
	var f finding
	known, any := false, false
	most, worst := 0.0, -1
	t := plainTable{Caption: "Duplicate executions per seed, by cause", Header: []string{"policy"}}
	for _, c := range causes {
		t.Header = append(t.Header, c.title)
	}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		row := []string{shorten(clean(p.Label), nameLimit)}
		total := 0.0
		for _, c := range causes {
			e := p.Metric(c.metric)
			if e != nil && c.metric != "duplicates.count" {
				known = true
			}
			if e != nil && !e.Null() && e.Mean > 0 {
				any = true
				if c.metric == "duplicates.count" || c.metric == "duplicates.resubmits" {
					total += e.Mean
				}
			}
			cell := text.CellOf(sum, i, measure.Query{Metric: c.metric})
			row = append(row, strings.TrimSpace(cell.Value+" "+cell.Half))
		}
		if total > most {
			most, worst = total, i
		}
		t.Rows = append(t.Rows, row)
	}
	switch {
	case !known:
		f.Finding = "The causes of duplicates were not stored: an earlier version did not panelMetric them."
	case !any:
		f.Finding = "No job was executed twice with success" + under(sum) + "."
	default:
		f.Finding = fmt.Sprintf("Most duplicates: %s per seed with %s%s.", count(most), shorten(clean(sum.Policies[worst].Label), nameLimit), mainCause(&sum.Policies[worst], most))
	}
	if any {
		t.Key = "Executions that ended in success after another of the same job had. The last column counts copies that callers with patience enqueued again and that were done twice; they are not in the sum before it."
		f.Tables = []plainTable{t}
	}
	return f
}

// under names whom a finding about all policies is about.
func under(sum *results.Summary) string {
	if len(sum.Policies) == 1 {
		return " with " + shorten(clean(sum.Policies[0].Label), nameLimit)
	}
	return " under any policy"
}

// mainCause names the cause of most of so many duplicates, if there is one.
func mainCause(p *results.PolicySummary, all float64) string {
	for _, c := range causes {
		if e := p.Metric(c.metric); c.metric != "duplicates.count" && e != nil && !e.Null() && e.Mean > all/2 {
			return fmt.Sprintf(", %s of them: %s", percent(e.Mean/all), c.title)
		}
	}
	return ""
}

// command is what runs the scenario again.
func command(sum *results.Summary) string {
	if len(sum.Seeds) == 0 {
		return "qsim run scenario.yaml"
	}
	first, last := sum.Seeds[0], sum.Seeds[len(sum.Seeds)-1]
	return fmt.Sprintf("qsim run scenario.yaml --seed %d --seeds %d", first, last-first+1)
}

// fingerprints are what a run must have that is to be the same.
func fingerprints(sum *results.Summary) plainTable {
	t := plainTable{Caption: "Fingerprints: digests of every event of every seed. An equal run has equal ones, on any machine.", Header: []string{"policy", "kind", "fingerprint"}}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		t.Rows = append(t.Rows, []string{shorten(clean(p.Label), nameLimit), clean0(p.Kind), clean0(p.Fingerprint)})
	}
	return t
}
