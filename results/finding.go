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
				if f, ok := view.cure(c, view.missed(view.base)); ok {
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
	for _, c := range gets {
		if f, ok := view.cure(c, math.MaxInt); ok {
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

// missed counts the objectives that are missed in c, whether or not the scenario expects that, and those that it
// expects to be while the runs do not tell.
func (c *TableCell) missed() (n int) {
	for _, v := range c.Verdicts {
		if v.Outcome == Missed || v.Outcome == Unclear && v.Expect {
			n++
		}
	}
	return n
}

// missed counts the objectives that policy i misses.
func (f *finder) missed(i int) (n int) {
	for _, column := range f.In(Gets) {
		n += column.Cells[i].missed()
	}
	return n
}

// direction is 1 where more of c is better, -1 where less is, 0 where neither is: where the goals of a policy are a
// range, where neither the metric nor all goals say so, and in the times of the jobs that are done where deaths differ.
func (f *finder) direction(c *Column) int {
	var least, most []string // policies
	for _, g := range c.Goals {
		if strings.HasPrefix(g.Text, "≥") {
			least = append(least, g.Policies...)
		} else {
			most = append(most, g.Policies...)
		}
	}
	switch {
	case slices.ContainsFunc(least, func(policy string) bool { return slices.Contains(most, policy) }):
		return 0
	case c.ofSurvivors(f.Summary):
		return 0
	case c.Info.MoreIsBetter, !c.Info.LessIsBetter && least != nil && most == nil:
		return 1
	case c.Info.LessIsBetter, most != nil && least == nil:
		return -1
	}
	return 0
}

// ranked reports whether it is known which of cell i of c and the baseline's is less: a lower bound may in truth be
// anything above it.
func (f *finder) ranked(c *Column, i int) bool {
	lower, higher := f.Summary.Policies[i].Find(c.Query), f.Summary.Policies[f.base].Find(c.Query)
	if higher.Mean < lower.Mean {
		lower = higher
	}
	return lower.Bound == ""
}

// gain is by what factor cell i of c is better than the baseline's, below 1 if it is worse; 1 where no difference is
// known to be. It is +Inf where the worse value is 0 or the baseline has none better. Of few seeds, which show little,
// it is that of the means.
func (f *finder) gain(c *Column, i int) float64 {
	cell, base := &c.Cells[i], &c.Cells[f.base]
	direction := f.direction(c)
	if i == f.base || direction == 0 || math.IsNaN(cell.Mean) || math.IsNaN(base.Mean) || cell.Value == base.Value ||
		cell.unsure() && len(f.Seeds) >= fewSeeds || !f.ranked(c, i) {
		return 1
	}
	if direction < 0 {
		return base.Mean / cell.Mean
	}
	return cell.Mean / base.Mean
}

// unsure reports whether the table marks c as not told apart from the baseline.
func (c *TableCell) unsure() bool { return c.Mark == "?" }

// cure returns what there is to say of a metric in which another policy is better than the baseline and misses that
// many objectives at most.
func (f *finder) cure(c *Column, most int) (Finding, bool) {
	best := -1
	for i := range c.Cells {
		if f.gain(c, i) < leastChange || f.missed(i) > most {
			continue
		}
		if best < 0 || f.missed(i) < f.missed(best) || f.missed(i) == f.missed(best) && f.stronger(c, i, best) {
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

// stronger reports whether cell i of c shows more of a gain than cell k: one that is told apart before one that is not.
func (f *finder) stronger(c *Column, i, k int) bool {
	if a, b := c.Cells[i].unsure(), c.Cells[k].unsure(); a != b {
		return b
	}
	return f.gain(c, i) > f.gain(c, k)
}

// weaker reports whether cell i of c shows more of a loss than cell k, likewise.
func (f *finder) weaker(c *Column, i, k int) bool {
	if a, b := c.Cells[i].unsure(), c.Cells[k].unsure(); a != b {
		return b
	}
	a, b := f.gain(c, i), f.gain(c, k)
	return a < b || a == b && c.Cells[i].Mean > c.Cells[k].Mean
}

// changeIn is the change of a cell in parentheses, and whether that is not known yet; "" if there is none to tell.
func changeIn(cell *TableCell) string {
	words := cell.Change
	if cell.unsure() {
		words = strings.TrimPrefix(words+", not told apart yet", ", ")
	}
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}

// others says how the policies beside the cure and the baseline fare in c, if all of them are better than the baseline.
func (f *finder) others(c *Column, cure int) string {
	worst, n, values := -1, 0, []string(nil)
	for i := range c.Cells {
		if i == f.base || i == cure {
			continue
		}
		if f.gain(c, i) < leastChange || c.Cells[i].unsure() && !c.Cells[cure].unsure() {
			return ""
		}
		if value := c.Cells[i].Value; !slices.Contains(values, value) {
			values = append(values, value)
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
	too := ""
	if len(values) == 1 {
		most = ""
		if values[0] == c.Cells[cure].Value {
			too = " too"
		}
	}
	if n == 1 {
		return ", " + f.Table.Policies[worst] + " " + c.Cells[worst].Value + too
	}
	return fmt.Sprintf(", the other %s %s%s%s", inWords(n), most, c.Cells[worst].Value, too)
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
// then idle and wasted time of workers, of which little is many times next to nothing. What is not told apart is none.
func (f *finder) price(c *Column, i int) string {
	var worst, machine *Column
	for k := range f.Columns {
		column := &f.Columns[k]
		pays := column.Part == Pays || column.price
		if column.Part == Asked && !pays || column.Query == c.Query || column.Cells[i].unsure() ||
			f.gain(column, i) > 1/leastChange {
			continue
		}
		if p := priceOf(column.Metric); p != nil && p.machine && pays {
			if machine == nil || f.gain(column, i) < f.gain(machine, i) {
				machine = column
			}
			continue
		}
		if column.Metric == "dead.count" && pays {
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
	worst, none := -1, ", none is better"
	for i := range c.Cells {
		gain := f.gain(c, i)
		if gain >= leastChange {
			return Finding{}, false
		}
		if d := float64(f.direction(c)); d*c.Cells[i].Mean > d*c.Cells[f.base].Mean {
			none = ", none is shown to be much better"
		}
		if gain > 1/leastChange {
			continue
		}
		if worst < 0 || f.weaker(c, i, worst) {
			worst = i
		}
	}
	if worst < 0 {
		return Finding{}, false
	}
	return Finding{Policy: -1, Query: c.Query, Worst: c.says(f.Table.Policies[f.base], f.base) + none,
		Cure: f.Table.Policies[worst] + ": " + c.Cells[worst].Value + changeIn(&c.Cells[worst])}, true
}

// noDifference says that nothing is known to differ in what the objectives are about, or to be better for it.
func (f *finder) noDifference() string {
	for _, c := range f.In(Gets) {
		if slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return cell.Shown }) {
			return fmt.Sprintf("None of the %d policies is shown to be better", len(f.Table.Policies))
		}
	}
	if len(f.In(Gets)) == 0 || len(f.Seeds) >= fewSeeds {
		return fmt.Sprintf("No difference between the %d policies is shown", len(f.Table.Policies))
	}
	return fmt.Sprintf("No difference between the %d policies is shown with %s", len(f.Table.Policies), plain.Plural(len(f.Seeds), "seed"))
}
