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

// Finding is a table in a sentence: how the baseline fares worst, which policy cures that, and at what price. Its
// values are those of the table's cells, letter for letter.
type Finding struct {
	Worst string // "Shared FIFO: p99 wait of fresh jobs in payments-down 1m59s"
	Cure  string // "Weighted 80/20: 186ms (−99.8%), the other two at most 209ms"; "" if there is none
	Price string // "retries wait 2.4× longer"; "" if there is none
	// Policy is the index of the policy that cures, -1: there is none.
	Policy int
	// Query is the metric that the sentence is about.
	Query measure.Query
}

// String returns the finding as one or two sentences, "" if there is nothing to say.
func (f Finding) String() string {
	switch {
	case f.Worst == "":
		return ""
	case f.Cure == "":
		return f.Worst + "."
	case f.Price == "":
		return f.Worst + ". " + f.Cure + "."
	}
	return f.Worst + ". " + f.Cure + "; " + f.Price + "."
}

// FindingOf returns what t shows of s, which it was made of.
func FindingOf(s *Summary, t *Table) Finding {
	gets := t.In(Gets)
	switch {
	case len(t.Policies) == 0:
		return Finding{Policy: -1}
	case len(t.Policies) == 1 && len(gets) > 0:
		return onePolicy(t, gets)
	}
	base := slices.IndexFunc(s.Policies, func(p PolicySummary) bool { return p.Baseline })
	view := finder{s, t, max(base, 0)}
	for _, missed := range []bool{true, false} { // first where the baseline does not reach a goal
		for _, c := range gets {
			if !missed || c.Cells[view.base].missed() > 0 {
				if f, ok := view.cure(c); ok {
					return f
				}
			}
		}
	}
	for _, c := range gets {
		if f, ok := view.harm(c); ok {
			return f
		}
	}
	return Finding{Policy: -1, Worst: view.noDifference()}
}

// onePolicy says how the only policy of a table fares: by the first goal that it misses, or else by the first.
func onePolicy(t *Table, gets []*Column) Finding {
	worst := gets[0]
	if i := slices.IndexFunc(gets, func(c *Column) bool { return c.Cells[0].missed() > 0 }); i >= 0 {
		worst = gets[i]
	}
	f := Finding{Policy: -1, Query: worst.Query, Worst: worst.says(t.Policies[0], 0)}
	if goal := worst.GoalText(); goal != "" {
		f.Worst += ", goal " + goal
	}
	return f
}

// finder looks for what there is to say of a table with several policies.
type finder struct {
	*Summary
	*Table
	base int
}

// says is "mail: p99 wait of fresh jobs 12s" under the policy of that label.
func (c *Column) says(policy string, i int) string {
	return policy + ": " + c.Label + " " + c.Cells[i].Value
}

// missed counts the objectives that are missed in c, whether or not the scenario expects that.
func (c *TableCell) missed() (n int) {
	for _, v := range c.Verdicts {
		if v.Outcome == Missed {
			n++
		}
	}
	return n
}

// gain is by what factor cell i of c is better than the baseline's, below 1 if it is worse; 1 where no difference is
// known to be. It is +Inf where the worse value is 0 or the baseline has none better.
func (f *finder) gain(c *Column, i int) float64 {
	cell, base := &c.Cells[i], &c.Cells[f.base]
	less := c.Info.LessIsBetter
	if !less && !c.Info.MoreIsBetter {
		less = slices.ContainsFunc(c.Goals, func(g Goal) bool { return !strings.HasPrefix(g.Text, "≥") })
		if c.Goals == nil {
			return 1
		}
	}
	d := f.Summary.Policies[i].Against(c.Query)
	if i == f.base || math.IsNaN(cell.Mean) || math.IsNaN(base.Mean) || cell.Value == base.Value ||
		d != nil && d.P >= alpha && len(f.Seeds) >= fewSeeds {
		return 1
	}
	ratio := cell.Mean / base.Mean
	if less {
		ratio = base.Mean / cell.Mean
	}
	return ratio
}

// cure returns what there is to say of a metric in which another policy is better than the baseline.
func (f *finder) cure(c *Column) (Finding, bool) {
	best := -1
	missed := func(i int) (n int) {
		for _, column := range f.In(Gets) {
			n += column.Cells[i].missed()
		}
		return n
	}
	for i := range c.Cells {
		if gain := f.gain(c, i); gain < leastChange {
			continue
		}
		if best < 0 || missed(i) < missed(best) || missed(i) == missed(best) && f.gain(c, i) > f.gain(c, best) {
			best = i
		}
	}
	if best < 0 {
		return Finding{}, false
	}
	result := Finding{Policy: best, Query: c.Query, Worst: c.says(f.Table.Policies[f.base], f.base), Price: f.price(c, best)}
	result.Cure = f.Table.Policies[best] + ": " + c.Cells[best].Value + changeIn(&c.Cells[best]) + f.others(c, best)
	return result, true
}

// changeIn is the change of a cell in parentheses, "" if there is none to tell.
func changeIn(cell *TableCell) string {
	if cell.Change == "" {
		return ""
	}
	return " (" + cell.Change + ")"
}

// others says how the policies beside the cure and the baseline fare in c, if all of them are better than the baseline.
func (f *finder) others(c *Column, cure int) string {
	worst, n := -1, 0
	for i := range c.Cells {
		if i == f.base || i == cure {
			continue
		}
		if f.gain(c, i) < leastChange {
			return ""
		}
		if n++; worst < 0 || f.gain(c, i) < f.gain(c, worst) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	most := "at most "
	if c.Cells[cure].Mean > c.Cells[f.base].Mean {
		most = "at least "
	}
	if n == 1 {
		return ", " + f.Table.Policies[worst] + " " + c.Cells[worst].Value
	}
	return fmt.Sprintf(", the other %s %s%s", inWords(n), most, c.Cells[worst].Value)
}

// inWords writes a small number as a word.
func inWords(n int) string {
	words := []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// notable is a rise of what jobs pay that is told before what machines pay, however much that rises.
const notable = 1.2

// price says in which metric but c policy i is worst against the baseline: deaths before all else, then what jobs pay,
// then idle and wasted time of workers, of which little is many times next to nothing.
func (f *finder) price(c *Column, i int) string {
	var worst, machine *Column
	for k := range f.Columns {
		column := &f.Columns[k]
		if column.Part == Asked || column.Query == c.Query || f.gain(column, i) > 1/leastChange {
			continue
		}
		if p := priceOf(column.Metric); p != nil && p.machine && column.Part == Pays {
			if machine == nil || f.gain(column, i) < f.gain(machine, i) {
				machine = column
			}
			continue
		}
		if column.Metric == "dead.count" && column.Part == Pays {
			worst = column
			break
		}
		if worst == nil || f.gain(column, i) < f.gain(worst, i) {
			worst = column
		}
	}
	if worst == nil || machine != nil && worst.Metric != "dead.count" && f.gain(worst, i) > 1/notable {
		worst = cmp.Or(machine, worst)
	}
	if worst == nil {
		return ""
	}
	cell, base := &worst.Cells[i], &worst.Cells[f.base]
	p := priceOf(worst.Metric)
	if times, ok := strings.CutPrefix(cell.Change, "×"); ok && p != nil && worst.Query == (measure.Query{Metric: p.metric}) {
		if p.longer != "" {
			return p.longer + " " + times + "× longer"
		}
		return times + "× the " + p.more
	}
	if more, ok := strings.CutPrefix(cell.Change, "+"); ok && p != nil && worst.Query == (measure.Query{Metric: p.metric}) {
		if p.longer != "" {
			return p.longer + " " + more + " longer"
		}
		return more + " more " + p.more
	}
	return worst.Label + " " + cell.Value + " instead of " + base.Value
}

// harm returns what there is to say of a metric in which the baseline is better than another policy, and none better.
func (f *finder) harm(c *Column) (Finding, bool) {
	worst := -1
	for i := range c.Cells {
		gain := f.gain(c, i)
		if gain > 1/leastChange {
			continue
		}
		if worst < 0 || gain < f.gain(c, worst) || gain == f.gain(c, worst) && c.Cells[i].Mean > c.Cells[worst].Mean {
			worst = i
		}
	}
	if worst < 0 {
		return Finding{}, false
	}
	return Finding{Policy: -1, Query: c.Query, Worst: c.says(f.Table.Policies[f.base], f.base) + ", none is better",
		Cure: f.Table.Policies[worst] + ": " + c.Cells[worst].Value + changeIn(&c.Cells[worst])}, true
}

// noDifference says that nothing is known to differ in what the objectives are about.
func (f *finder) noDifference() string {
	if len(f.In(Gets)) == 0 || len(f.Seeds) >= fewSeeds {
		return fmt.Sprintf("No difference between the %d policies is shown", len(f.Table.Policies))
	}
	return fmt.Sprintf("No difference between the %d policies is shown with %s", len(f.Table.Policies), plain.Plural(len(f.Seeds), "seed"))
}
