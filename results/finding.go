package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Finding is the headline of a results table: the worst value of the baseline, the policy that improves it most, and
// the largest cost of that policy. It quotes the cells of the table as they are printed there.
type Finding struct {
	Worst string // worst value of the baseline: "Shared FIFO: p99 wait of fresh jobs in payments-down 1m59s"
	Cure  string // largest improvement: "Weighted 80/20: 186ms (−99.8%), the other two at most 209ms"; "" if there is none
	Price string // largest cost of that policy: "retries wait 2.4× longer under Weighted 80/20"; "" if there is none
	// Policy is the index of the policy that improves the baseline's worst value, -1: none.
	Policy int
}

// String returns the headline as one or two sentences, "" if the table has none.
func (f Finding) String() string {
	if f.Worst == "" {
		return ""
	}
	return plain.Joined(". ", f.Worst, plain.Joined("; ", f.Cure, f.Price)) + "."
}

// FindingOf returns the headline (Finding) of the results table t of a summary.
func FindingOf(s *Summary, t *Table) Finding {
	gets := t.In(Gets)
	if c := t.Find(t.Watched); c != nil {
		gets = []*Column{c}
	}
	switch {
	case len(t.Policies) == 0:
		return Finding{Policy: -1}
	case len(t.Policies) == 1 && len(gets) > 0:
		return onePolicy(t, gets)
	}
	view := finder{s, t, s.Baseline()}
	missed := view.missed(view.base)
	for _, find := range []func(c *Column) (f Finding, ok bool){
		func(c *Column) (f Finding, ok bool) { // first where the baseline does not reach a goal
			if c.Cells[view.base].missed() > 0 {
				return view.cure(c, missed)
			}
			return f, false
		},
		func(c *Column) (Finding, bool) { return view.cure(c, missed) },
		view.harm,
		func(c *Column) (Finding, bool) { return view.cure(c, math.MaxInt) },
	} {
		for _, c := range gets {
			if f, ok := find(c); ok {
				return f
			}
		}
	}
	return Finding{Policy: -1, Worst: view.noDifference(gets)}
}

// onePolicy returns the headline (Finding) of a table with one policy: the value of the first metric in which it misses
// an objective, or else of the first; none if no metric has a value.
func onePolicy(t *Table, gets []*Column) Finding {
	known := slices.DeleteFunc(slices.Clone(gets), func(c *Column) bool { return c.Cells[0].Value == plain.Missing })
	if len(known) == 0 {
		return Finding{Policy: -1}
	}
	worst := known[max(slices.IndexFunc(known, func(c *Column) bool { return c.Cells[0].missed() > 0 }), 0)]
	goal := worst.GoalText()
	return Finding{Policy: -1, Worst: worst.says(t.Policies[0], 0) + plain.When(goal != "", ", goal "+goal)}
}

// finder computes the headline (Finding) of a results table with several policies.
type finder struct {
	*Summary
	*Table
	base int
}

// says returns, as text, a column's value under one policy: "FIFO: p99 wait of fresh jobs 12s".
func (c *Column) says(policy string, i int) string {
	return policy + ": " + c.Label + " " + c.Cells[i].Value
}

// missed returns how many objectives a table cell misses, whether or not the miss is expected; an unclear one counts if
// its miss is expected.
func (c *TableCell) missed() int {
	return plain.Count(c.Verdicts,
		func(v *Verdict) bool { return v.Outcome == Missed || v.Outcome == Unclear && v.Expect })
}

// missed returns how many objectives one policy misses in all columns of the results table.
func (f *finder) missed(i int) int {
	return plain.Sum(f.In(Gets), func(c *Column) int { return c.Cells[i].missed() })
}

// cure returns the headline that names the policy which improves the column c most on the baseline. Only policies that
// miss up to a given number of objectives are considered; false if none of them is better than the baseline.
func (f *finder) cure(c *Column, most int) (Finding, bool) {
	var better []int
	for i := range c.Cells {
		if c.Gain(i, f.base) >= leastChange && f.missed(i) <= most {
			better = append(better, i)
		}
	}
	if better == nil {
		return Finding{}, false
	}
	best := slices.MinFunc(better, func(i, k int) int {
		return cmp.Or(f.missed(i)-f.missed(k), c.surer(i, k), cmp.Compare(c.Gain(k, f.base), c.Gain(i, f.base)))
	})
	for _, i := range better { // one that does as well, and costs less, is the one to name
		if f.missed(i) == f.missed(best) && c.Cells[i].Value == c.Cells[best].Value &&
			c.surer(i, best) == 0 && f.cheaper(i, best) {
			best = i
		}
	}
	policy, others, price := f.Table.Policies[best], f.others(c, best), f.price(c, best)
	met := !slices.ContainsFunc(c.Cells[f.base].Verdicts, func(v *Verdict) bool { return v.Outcome != Met })
	var own Column // with the goals of the baseline: other policies may have others
	for _, v := range c.Cells[f.base].Verdicts {
		own.addGoal(v)
	}
	goal := plain.When(met && own.Goals != nil, " (goal "+own.GoalText()+" met)")
	return Finding{Policy: best, Worst: c.says(f.Table.Policies[f.base], f.base) + goal,
		Cure:  policy + ": " + c.Cells[best].Value + changeIn(&c.Cells[best]) + others,
		Price: price + plain.When(price != "" && others != "", " under "+policy)}, true
}

// cheaper reports whether policy i costs notably less than policy k by some price of the table, and more by none.
func (f *finder) cheaper(i, k int) bool {
	prices := f.In(Pays)
	return slices.ContainsFunc(prices, func(c *Column) bool { return c.Gain(i, k) >= notable }) &&
		!slices.ContainsFunc(prices, func(c *Column) bool { return c.beats(k, i) })
}

// surer compares two policies for sorting: one whose difference from the baseline is undecided (mark "?") comes after
// one whose difference is not.
func (c *Column) surer(i, k int) int {
	return plain.Either(c.Cells[i].unsure(), 1, 0) - plain.Either(c.Cells[k].unsure(), 1, 0)
}

// changeIn returns, in parentheses, a cell's change from the baseline policy, with the remark "not told apart yet"
// where neither a difference nor equivalence is shown; "" if there is neither change nor remark.
func changeIn(cell *TableCell) string {
	words := cell.Change
	if cell.unsure() {
		words = strings.TrimPrefix(words+", not told apart yet", ", ")
	}
	return plain.When(words != "", " ("+words+")")
}

// others returns a clause of the headline on the policies besides the baseline and the policy that it names (cure), if
// all are better than the baseline: ", the other two at most 4.0s".
func (f *finder) others(c *Column, cure int) string {
	worst, values := -1, []string(nil)
	for i := range c.Cells {
		if i == f.base || i == cure {
			continue
		}
		if c.Gain(i, f.base) < leastChange || c.Cells[i].unsure() && !c.Cells[cure].unsure() {
			return ""
		}
		values = append(values, c.Cells[i].Value)
		if worst < 0 || c.Gain(i, f.base) < c.Gain(worst, f.base) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	most := plain.Either(c.Cells[cure].Mean > c.Cells[f.base].Mean, "at least ", "at most ")
	n, too := len(values), ""
	if values = plain.Distinct(values); len(values) == 1 {
		most, too = "", plain.When(values[0] == c.Cells[cure].Value, " too")
	}
	if n == 1 {
		return ", " + f.Table.Policies[worst] + " " + c.Cells[worst].Value + too
	}
	return fmt.Sprintf(", the other %s %s%s%s", inWords(n), most, c.Cells[worst].Value, too)
}

// inWords returns a small whole number as a word, a larger one in digits.
func inWords(n int) string {
	words := []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// notable is the ratio to the baseline from which the headline of a table mentions a cost to jobs, such as longer
// waits, rather than a cost in worker time.
const notable = 1.2

// price returns a clause of the headline on the worst cost of policy i against the baseline, in a metric other than
// that of column c: dead jobs first, then costs to jobs, then idle and wasted time of workers, whose ratios are large
// where little was wasted before. Differences that are not significant are left out.
func (f *finder) price(c *Column, i int) string {
	var worst, machine *Column
	for k := range f.Columns {
		column := &f.Columns[k]
		pays := column.Part == Pays || column.price
		unsure := column.Cells[i].unsure() && !c.Cells[i].unsure() // the price may be as sure as the cure, not less
		if column.Part == Asked && !pays || column.Query == c.Query || unsure ||
			column.Gain(i, f.base) > 1/leastChange {
			continue
		}
		if column.Metric == "dead.count" && pays {
			worst = column
			break
		}
		of := &worst
		if p := priceOf(column.Metric); p != nil && p.machine && pays {
			of = &machine
		}
		if *of == nil || column.Gain(i, f.base) < (*of).Gain(i, f.base) {
			*of = column
		}
	}
	if worst == nil || machine != nil && worst.Metric != "dead.count" && worst.Gain(i, f.base) > 1/notable {
		worst = cmp.Or(machine, worst)
	}
	if worst == nil {
		return ""
	}
	cell, base := &worst.Cells[i], &worst.Cells[f.base]
	p := priceOf(worst.Metric)
	times, multiple := strings.CutPrefix(cell.Change, "×")
	more, rise := strings.CutPrefix(cell.Change, "+")
	switch whole := p != nil && worst.Query == (measure.Query{Metric: p.metric}); {
	case whole && multiple && p.longer != "":
		return p.longer + " " + times + "× longer"
	case whole && multiple:
		return times + "× the " + p.more
	case whole && rise && p.longer != "":
		return p.longer + " " + more + " longer"
	case whole && rise:
		return more + " more " + p.more
	}
	return worst.Label + " " + cell.Value + " instead of " + base.Value
}

// harm returns a headline for a column where some policy is worse than the baseline and none better, or else false.
func (f *finder) harm(c *Column) (Finding, bool) {
	var worse []int
	none := ", none is better"
	for i := range c.Cells {
		gain := c.Gain(i, f.base)
		if gain >= leastChange {
			return Finding{}, false
		}
		if c.better*c.Cells[i].Mean > c.better*c.Cells[f.base].Mean {
			none = ", none is shown to be much better"
		}
		if gain <= 1/leastChange {
			worse = append(worse, i)
		}
	}
	if worse == nil {
		return Finding{}, false
	}
	worst := slices.MinFunc(worse, func(i, k int) int {
		return cmp.Or(c.surer(i, k), cmp.Compare(c.Gain(i, f.base), c.Gain(k, f.base)),
			cmp.Compare(c.Cells[k].Mean, c.Cells[i].Mean))
	})
	return Finding{Policy: -1, Worst: c.says(f.Table.Policies[f.base], f.base) + none,
		Cure: f.Table.Policies[worst] + ": " + c.Cells[worst].Value + changeIn(&c.Cells[worst])}, true
}

// noDifference returns the headline for a table in which no policy is known to be better or worse than the baseline.
func (f *finder) noDifference(columns []*Column) string {
	shown := func(c *Column) bool {
		return slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return cell.Shown })
	}
	in := ""
	switch {
	case f.Watched != (measure.Query{}) && len(columns) == 1:
		in = " in " + columns[0].Label
	case slices.ContainsFunc(f.Columns, func(c Column) bool { return c.Part != Gets && shown(&c) }):
		in = " in what you get"
	}
	if slices.ContainsFunc(columns, shown) {
		return fmt.Sprintf("None of the %d policies is shown to be better%s", len(f.Table.Policies), in)
	}
	return fmt.Sprintf("No difference between the %d policies is shown%s", len(f.Table.Policies), in) +
		plain.When(len(columns) > 0 && len(f.Seeds) < fewSeeds, " with "+plain.Plural(len(f.Seeds), "seed"))
}
