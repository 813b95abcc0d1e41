package report

import (
	"fmt"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/text"
)

// facts are what was run.
func (p *page) facts() []string {
	sum := p.summary
	seeds := "seeds " + seedRanges(sum.Seeds)
	if sum.Partial {
		seeds += " (some are missing)"
	}
	list := []string{"qsim " + p.Version, "config " + shorten(clean(sum.ConfigHash), 16), seeds}
	length := seconds(sum.Duration)
	if set := sum.Settings; set != nil {
		length = duration(set.Duration) + " of virtual time"
		if set.Drain > 0 {
			length += ", up to " + duration(set.Drain) + " more to drain"
		}
		if set.Warmup > 0 {
			length += ", warm-up " + duration(set.Warmup)
		}
		list = append(list, length)
		workers := plural(set.Workers, "worker")
		if set.Nodes > 1 {
			workers = fmt.Sprintf("%d nodes × %s", set.Nodes, workers)
		}
		list = append(list, workers)
		if set.Rate > 0 {
			list = append(list, count(set.Rate)+" jobs/s")
		}
		for i, s := range set.Storms {
			if i == 3 {
				list = append(list, plural(len(set.Storms)-i, "more storm"))
				break
			}
			list = append(list, fmt.Sprintf("%s %s–%s", shorten(clean(s.Name), stormLimit), duration(s.From), duration(s.To)))
		}
		return list
	}
	return append(list, length+" of virtual time")
}

// seedRanges writes ascending seeds as 1–20, 23.
func seedRanges(seeds []uint64) string {
	var parts []string
	for from := 0; from < len(seeds); {
		to := from
		for to+1 < len(seeds) && seeds[to+1] == seeds[to]+1 {
			to++
		}
		part := strconv.FormatUint(seeds[from], 10)
		if to > from {
			part += "–" + strconv.FormatUint(seeds[to], 10)
		}
		if parts = append(parts, part); len(parts) == 12 && to+1 < len(seeds) {
			parts = append(parts, "…")
			break
		}
		from = to + 1
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// card is an objective with what became of it under each policy.
type card struct {
	Kind, Sign, Text, Verdict string // Kind: met, missed, expected (to be missed) or unclear, of the worst line; good and bad as the scenario wants it
	Lines                     []verdictLine
}

type verdictLine struct{ Kind, Sign, Outcome, Policy, Value, Note string }

// cards groups the verdicts by objective.
func cards(sum *results.Summary) []card {
	type key struct {
		query  measure.Query
		text   string
		expect bool
	}
	var keys []key
	var list []card
	for i := range sum.Objectives {
		v := &sum.Objectives[i]
		k := key{v.Query, v.Text, v.Expect}
		at := 0
		for at < len(keys) && keys[at] != k {
			at++
		}
		if at == len(keys) {
			keys, list = append(keys, k), append(list, card{Text: objectiveText(v)})
		}
		note := v.Note()
		if v.Expect && v.Outcome == results.Missed {
			note = "" // the card says so
		}
		list[at].Lines = append(list[at].Lines, verdictLine{kindOf(v), v.Sign(), string(v.Outcome), shorten(clean(v.Policy), nameLimit), v.Words(), clean0(note)})
	}
	for i := range list {
		list[i].conclude(keys[i].expect)
	}
	return list
}

// objectiveText is what v is a verdict on.
func objectiveText(v *results.Verdict) string {
	text := v.Query.String() + " " + v.Limit()
	if v.Expect {
		text += ", expected to be missed"
	}
	return clean(text)
}

// clean0 is clean, but for nothing.
func clean0(s string) string {
	if s == "" {
		return ""
	}
	return clean(s)
}

// kindOf says whether a verdict is as wanted, in the words of one that is to be met, or missed as expected.
func kindOf(v *results.Verdict) string {
	switch {
	case v.Outcome == results.Unclear:
		return "unclear"
	case v.Expected():
		return "expected"
	case v.Failed(false):
		return "missed"
	}
	return "met"
}

// conclude sums up the lines.
func (c *card) conclude(expect bool) {
	counts := map[string]int{}
	for _, l := range c.Lines {
		counts[l.Outcome]++
		switch {
		case l.Kind == "missed" || c.Kind == "":
			c.Kind = l.Kind
		case l.Kind == "unclear" && c.Kind != "missed":
			c.Kind = l.Kind
		}
	}
	word, how := string(results.Met), ""
	if expect {
		word, how = string(results.Missed), ", as expected,"
	}
	c.Sign = map[string]string{"met": "✓", "missed": "✗", "expected": "✗", "unclear": "?"}[c.Kind]
	c.Verdict = fmt.Sprintf("%s%s by %d of %s", word, how, counts[word], policiesOf(len(c.Lines)))
	if n := counts["unclear"]; n > 0 {
		c.Verdict += fmt.Sprintf(", unclear for %d", n)
	}
}

func policiesOf(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

// valueTable is the table of the policies.
type valueTable struct {
	Caption, Key string
	Columns      []valueColumn
	Rows         []valueRow
}

type valueColumn struct{ Title, Better, Doc string }

type valueRow struct {
	Name     string
	Baseline bool
	Style    swatch
	Cells    []text.GridCell
}

// usual are the metrics that the table has beside those of the terminal's table and the objectives.
var usual = []measure.Query{{Metric: "sojourn.p99"}, {Metric: "backlog.retry.max"}, {Metric: "attempts.mean"}}

func policyTable(sum *results.Summary) valueTable {
	grid := text.GridOf(sum, usual...)
	t := valueTable{Caption: "What each policy does: estimate, ± half of its 95 % interval, change against the baseline; less is better where nothing else is said"}
	for _, c := range grid.Columns {
		column := valueColumn{Title: shorten(clean(c.Title), 60), Doc: clean(c.Query.String())}
		if c.Doc != "" {
			column.Doc += ": " + c.Doc
		}
		switch {
		case c.Info.MoreIsBetter:
			column.Better = "more is better"
		case !c.Info.LessIsBetter:
			column.Better = "neither is better"
		}
		t.Columns = append(t.Columns, column)
	}
	for i := range sum.Policies {
		row := valueRow{clean(sum.Policies[i].Label), sum.Policies[i].Baseline && len(sum.Policies) > 1, swatchOf(i), grid.Rows[i]}
		for k := range row.Cells {
			row.Cells[k].Reason = clean0(row.Cells[k].Reason)
			if row.Cells[k].Change == "base" {
				row.Cells[k].Change = ""
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Key = "Means over " + plural(len(sum.Seeds), "seed") + ", quantiles of all their jobs; ± = 95 % confidence interval"
	switch {
	case len(sum.Seeds) < 2:
		t.Key = "One seed: there is no interval, and no difference can be shown"
	case len(sum.Policies) > 1:
		t.Key += "; ≈ = the same within " + text.Percent(sum.SameWithin) + "; ? = not told apart yet (paired t, Holm, α 0.05); bold = best of the column; ≥ = at least"
	}
	t.Key += "."
	return t
}
