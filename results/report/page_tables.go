package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// scene returns the parts of a line that describes the scenario: name, windows of its storms, and number of seeds.
func (p *page) scene() []string {
	sum := p.summary
	storms := plain.Map(sum.Settings.AllStorms(), func(s measure.Window) string {
		return shortName(s.Name) + " " + plain.Span(s.From, s.To)
	})
	seeds := plain.Plural(len(sum.Seeds), "seed")
	return slices.Concat([]string{p.Name}, atMost(storms, 3, "more storm"), []string{seeds})
}

// facts returns texts on details of the run: version, configuration, seeds, length, workers and arrival rate.
func (p *page) facts() []string {
	sum := p.summary
	seeds := "seeds " + seedRanges(sum.Seeds) + plain.When(sum.Partial, " (some are missing)")
	list := []string{"qsim " + p.Version, "config " + plain.Shorten(clean(sum.ConfigHash), 16), seeds}
	set := sum.Settings
	length := plain.Setting(set.Duration) + " of virtual time" +
		plain.When(set.Drain > 0, ", up to "+plain.Setting(set.Drain)+" more to drain") +
		plain.When(set.Warmup > 0, ", warm-up "+plain.Setting(set.Warmup))
	workers := plain.When(set.Nodes > 1, fmt.Sprintf("%d nodes × ", set.Nodes)) + plain.Plural(set.Workers, "worker")
	list = append(list, length, workers)
	if set.Rate > 0 {
		list = append(list, plain.Arrivals(set.Rate))
	}
	return list
}

// seedRanges returns ascending seeds as text: 1–20, 23.
func seedRanges(seeds []uint64) string {
	parts := plain.Runs(seeds, "–")
	if len(parts) > 12 {
		parts = append(parts[:12], "…")
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// objectiveText returns the objective of a verdict as text, such as "fresh.wait.p99 ≤ 10s, expected to be missed".
func objectiveText(v results.Verdict) string {
	return clean(v.Query.String() + " " + v.Limit() + plain.When(v.Expect, ", expected to be missed"))
}

// clean0 makes a text safe to draw, as clean does, but leaves an empty one empty.
func clean0(s string) string {
	return plain.When(s != "", clean(s))
}

// usual lists the metrics that the table of all numbers adds to those of the page's main table.
var usual = []measure.Query{{Metric: "fresh.wait.p99"}, {Metric: "sojourn.p99"}, {Metric: "backlog.retry.max"},
	{Metric: "attempts.mean"}, {Metric: "dead.count"}, {Metric: "duplicates.per10k"}}

// allNumbers returns the columns of the table of all numbers, which has a row for each policy: those of the page's main
// table, the metrics that are equal under all policies, and the usual ones.
func allNumbers(sum *results.Summary, t *results.Table) []results.Column {
	columns := slices.Concat(t.Columns, t.Alike)
	for _, q := range usual {
		if len(sum.Policies) > 0 && sum.Policies[0].Find(q) != nil && t.Find(q) == nil {
			columns = append(columns, results.ColumnOf(sum, q))
		}
	}
	return columns
}

// numbersKey returns the explanation below the table of all numbers.
func numbersKey(sum *results.Summary) string {
	words := "Means over " + plain.Plural(len(sum.Seeds), "seed") +
		", quantiles of all their jobs; ± = 95 % confidence interval"
	switch {
	case len(sum.Seeds) < 2:
		words = "One seed: there is no interval, and no difference can be shown"
	case len(sum.Policies) > 1:
		words += "; ≈ = the same within " + percent(sum.SameWithin) +
			"; ? = not told apart yet (paired t, Holm, α 0.05); bold = best of the column; ≥ = at least"
	}
	return words + "."
}

// better returns the words for a metric of which less is not better, "" for others.
func better(info measure.MetricInfo) string {
	return plain.When(!info.LessIsBetter, plain.Either(info.MoreIsBetter, "more is better", "neither is better"))
}

// alike returns the line with the metrics that are the same under all policies, "" if there are none.
func alike(t *results.Table) string {
	if len(t.Alike) == 0 {
		return ""
	}
	parts := plain.Map(t.Alike, func(c results.Column) string { return clean(c.AlikeText()) })
	return "The same under every policy: " + strings.Join(parts, " · ") + "."
}

// mostInFront is the number of policies that a page shows at first if it has more than the constant together.
const mostInFront = 4

// inFront reports, for each policy, whether a page shows it at first: all, unless they are many; then the baseline, the
// policy named in the finding, and the best and the worst by the first column of the results table.
func inFront(sum *results.Summary, t *results.Table) []bool {
	if n := len(sum.Policies); n <= together {
		return firstOf(n, n, nil)
	}
	order := []int{sum.Baseline(), results.FindingOf(sum, t).Policy}
	if len(t.Columns) > 0 {
		if ranked := t.Columns[0].Ranked(); len(ranked) > 0 {
			order = append(append(order, ranked[len(ranked)-1]), ranked...)
		}
	}
	return firstOf(len(sum.Policies), mostInFront, order)
}
