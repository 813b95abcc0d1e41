package report

import (
	"cmp"
	"fmt"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// title returns the title of a sweep chart: in how many cells each policy meets the objective on the metric, or where
// the metric is least and largest.
func (d *sweepDrawing) title() string {
	metric := d.name()
	if words := d.metWords(); words != "" {
		return words
	}
	var least, largest *results.Estimate
	var at, most string
	d.each(func(c *results.Cell, policy int, e *results.Estimate) {
		if least == nil || e.Mean < least.Mean {
			least, at = e, d.place(c, policy)
		}
		if largest == nil || e.Mean > largest.Mean {
			largest, most = e, d.place(c, policy)
		}
	})
	switch {
	case least == nil:
		return fmt.Sprintf("%s has no value in any cell", metric)
	case least.Mean == largest.Mean:
		return fmt.Sprintf("%s is %s in every cell", metric, d.spellEstimate(least))
	}
	return fmt.Sprintf("%s goes from %s with %s to %s with %s", metric, d.spellEstimate(least), at,
		d.spellEstimate(largest), most)
}

// name returns the metric with its filters (class, storm, tenant) as text.
func (d *sweepDrawing) name() string { return clean(d.Queries[d.metric].String()) }

// place returns, as text, the key values of a cell of a sweep and, if there are several policies, the policy.
func (d *sweepDrawing) place(c *results.Cell, policy int) string {
	var words []string
	if len(d.Policies) > 1 {
		words = append(words, policyName(d.Policies[policy].Label))
	}
	for axis, value := range d.Values(c.Index) {
		if len(d.Axes[axis].Values) > 1 {
			words = append(words, clean(d.ShortKeys()[axis])+" "+policyName(value))
		}
	}
	return strings.Join(words, ", ")
}

// metWords returns a sentence with the number of cells where each policy meets the metric's objectives; "" without any.
func (d *sweepDrawing) metWords() string {
	limits := plain.Map(d.limits(), func(o measure.Objective) string { return clean(o.Text) })
	counts, first := make([]string, len(d.Policies)), ""
	for policy := range d.Policies {
		outcomes := plain.Map(d.Cells, func(c results.Cell) results.Outcome { return d.outcome(&c, policy) })
		met := plain.Count(outcomes, func(o results.Outcome) bool { return o == results.Met })
		if judged := plain.Count(outcomes, func(o results.Outcome) bool { return o != "" }); judged > 0 {
			counts[policy] = fmt.Sprintf("in %d of %d", met, judged)
			first = cmp.Or(first, counts[policy])
		}
	}
	if len(limits) == 0 || first == "" {
		return ""
	}
	names := plain.Map(d.Policies, func(p measure.PolicyInfo) string { return policyName(p.Label) })
	words := plain.Either(len(names) == 1, first, byText(counts, names, "in other numbers"))
	return fmt.Sprintf("%s is shown to be %s %s cells%s", d.name(), list(limits), first, strings.TrimPrefix(words, first))
}

// outcome returns the joint verdict, in one cell and under one policy, on the objectives on the metric; "" without any.
func (d *sweepDrawing) outcome(c *results.Cell, policy int) results.Outcome {
	return c.Rows[policy].OutcomeOf(func(v *results.Verdict) bool { return v.Query == d.Queries[d.metric] })
}

func (d *sweepDrawing) subtitle() string {
	seeds := plain.Plural(len(d.Seeds), "seed")
	s := plain.Either(len(d.Seeds) < 2, plain.Capital(seeds)+": no interval",
		"Estimate over "+seeds+" with 95% confidence interval")
	return s + plain.When(d.up.info.LessIsBetter, "; less is better") +
		plain.When(d.up.info.MoreIsBetter, "; more is better") + plain.When(d.up.log, "; log scale") +
		"; along: " + plain.Shorten(clean(d.Axes[d.x].Key), 2*nameLimit) + plain.When(d.across.log, " (log scale)") +
		plain.When(d.omitted > 0, fmt.Sprintf("; %d of %d panels", len(d.panels), len(d.panels)+d.omitted)) +
		plain.When(len(d.Policies) > d.policies,
			fmt.Sprintf("; the first %d of %d policies", d.policies, len(d.Policies)))
}

func (d *sweepDrawing) footer() string {
	marks := plain.Either(d.across.words, "dot = estimate, whisker = its interval",
		"line = estimate, band = its interval")
	if len(d.Seeds) < 2 {
		marks = "dot = the one seed"
	}
	more := false
	d.each(func(_ *results.Cell, _ int, e *results.Estimate) { more = more || e.Bound != "" })
	marks += plain.When(len(d.limits()) > 0, ", dashed = objective") + plain.When(more, ", triangle = at least")
	return sourceLine(d.Scenario, d.Version, d.ConfigHash, plain.Plural(len(d.Cells), "cell"),
		plain.Plural(len(d.Seeds), "seed"), marks)
}

// alt returns the alternative text of a sweep chart without its title: the range of the metric under each policy.
func (d *sweepDrawing) alt() string {
	var words []string
	for policy := range d.Policies {
		seen := plain.ExtentOf()
		d.each(func(_ *results.Cell, of int, e *results.Estimate) {
			if of == policy {
				seen.Include(e.Mean)
			}
		})
		values := plain.Either(seen.Empty(), "no value", spell(seen.Low, d.up.info)+" to "+spell(seen.High, d.up.info))
		words = append(words, policyName(d.Policies[policy].Label)+" "+values)
	}
	return fmt.Sprintf("%s along %s: %s.", d.name(), clean(d.Axes[d.x].Key),
		strings.Join(atMost(words, panelLimit, "more policy"), ", "))
}
