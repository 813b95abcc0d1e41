package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"qsim/results/measure"
)

// Part is the group of a column in a Table: what one gets, or what one pays.
type Part uint8

// The parts of a table, from left to right.
const (
	Gets  Part = iota // what the objectives are about
	Asked             // what was asked for beside the objectives
	Pays              // what a policy costs
)

// String heads the columns of a part.
func (p Part) String() string { return [...]string{"what you get", "asked for", "what you pay"}[p] }

// Table compares the policies of a scenario in the terms of the scenario: the metrics of its objectives, in their
// order, then those asked for, then the largest costs. It is what the terminal, the report and their sentence show.
type Table struct {
	Policies []string // labels
	Columns  []Column // by Part
	Alike    []Column // those in which all policies are equal: they take a line, not a column
}

// Column is one metric of a Table under all policies.
type Column struct {
	measure.Query
	Info  measure.MetricInfo
	Part  Part
	Label string      // for people: "p99 wait of fresh jobs in payments-down"
	Goals []Goal      // the bounds that objectives set, each once, in their order
	Cells []TableCell // by policy
	price bool        // Asked: it is one of the largest costs too
}

// Goal is the bound of an objective.
type Goal struct {
	Text     string   // ≤ 10s
	Policies []string // labels of the policies that have a verdict; nil: all
	Expect   bool     // it is expected to be missed
}

// Find returns the column of q, also if all policies are alike in it; nil if there is none.
func (t *Table) Find(q measure.Query) *Column {
	for _, list := range [][]Column{t.Columns, t.Alike} {
		for i := range list {
			if list[i].Query == q {
				return &list[i]
			}
		}
	}
	return nil
}

// In returns the columns of a part.
func (t *Table) In(p Part) (columns []*Column) {
	for i := range t.Columns {
		if t.Columns[i].Part == p {
			columns = append(columns, &t.Columns[i])
		}
	}
	return columns
}

// price is a metric of the whole run in which a policy may pay for what it gives.
type price struct {
	metric string
	like   []string // other metrics of the same quantity: where a table has one of them, it has this price
	longer string   // what gets so much longer, "retries wait"; "": more says it
	more   string   // what there is so much more of
	least  float64  // a smaller difference is no price
	// machine marks what workers pay, not jobs.
	machine bool
}

// prices in the order of alike ones. Deaths stand first wherever there are any.
var prices = []price{
	{metric: "dead.count", like: []string{"dead.share", "deaths.count"}, more: "dead jobs"},
	{metric: "duplicates.per10k", like: []string{"duplicates.count"}, more: "duplicates", least: 0.1},
	{metric: "retry.wait.mean", like: waits("retry.wait"), longer: "retries wait", least: 0.01},
	{metric: "sojourn.mean", like: waits("sojourn"), longer: "jobs take", least: 0.01},
	{metric: "idle.ready", more: "idle worker time beside ready jobs", least: 1, machine: true},
	{metric: "wasted", more: "wasted worker time", least: 0.001, machine: true},
}

const (
	mostPrices  = 3    // columns of what policies cost, beside deaths
	leastChange = 1.05 // a smaller rise is no price
)

// waits are the metrics of a family of waits but for its mean.
func waits(family string) []string {
	return []string{family + ".p50", family + ".p90", family + ".p99", family + ".p999", family + ".max"}
}

// priceOf returns the price that metric is, nil if it is none.
func priceOf(metric string) *price {
	if i := slices.IndexFunc(prices, func(p price) bool { return p.metric == metric }); i >= 0 {
		return &prices[i]
	}
	return nil
}

// shownQueries are the metrics that the table of a scenario has whatever comes out: those of its objectives and those
// asked for; without objectives the p99 wait of each class, deaths and duplicates.
func shownQueries(s *measure.Settings) (queries []measure.Query) {
	add := func(q measure.Query) {
		if !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	for i := range s.Objectives {
		add(s.Objectives[i].Query)
	}
	if len(s.Objectives) == 0 {
		for _, q := range measure.UsualWaits(s) {
			add(q)
		}
	}
	for _, q := range s.Asked {
		add(q)
	}
	if len(s.Objectives) == 0 {
		add(measure.Query{Metric: "dead.count"})
		add(measure.Query{Metric: "duplicates.per10k"})
	}
	return queries
}

// tableQueries are all metrics that the table of a scenario may have: one family of tests.
func tableQueries(s *measure.Settings) []measure.Query { return withPrices(shownQueries(s)) }

// tableQueries are those of the scenario of s, as far as s knows it.
func (s *Summary) tableQueries() []measure.Query {
	if s.Settings != nil {
		return tableQueries(s.Settings)
	}
	queries := s.objectiveQueries()
	if len(queries) == 0 && len(s.Policies) > 0 {
		queries = s.usualWaits()
	}
	return withPrices(queries)
}

func withPrices(queries []measure.Query) []measure.Query {
	for _, p := range prices {
		if q := (measure.Query{Metric: p.metric}); !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	return queries
}

// TableQueries are the metrics that the table of a scenario has whatever comes out: what a table of many runs of it
// shows if nothing else is asked for.
func TableQueries(s *measure.Settings) []measure.Query { return shownQueries(s) }

// TableOf returns the table of a summary. It needs no Settings: without them an objective that no policy was judged
// by has no column.
func TableOf(s *Summary) *Table {
	t := &Table{}
	if len(s.Policies) == 0 {
		return t
	}
	for i := range s.Policies {
		t.Policies = append(t.Policies, s.Policies[i].Label)
	}
	for _, q := range s.objectiveQueries() {
		t.add(s, q, Gets)
	}
	objectives := len(t.Columns) > 0
	if !objectives {
		for _, q := range s.usualWaits() {
			t.add(s, q, Gets)
		}
	}
	if s.Settings != nil {
		for _, q := range s.Settings.Asked {
			t.add(s, q, Asked)
		}
	}
	t.addPrices(s, objectives)
	t.fold(s)
	return t
}

// objectiveQueries are the metrics of the objectives, each once, in file order.
func (s *Summary) objectiveQueries() (queries []measure.Query) {
	add := func(q measure.Query) {
		if !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	if s.Settings != nil {
		for i := range s.Settings.Objectives {
			add(s.Settings.Objectives[i].Query)
		}
	}
	for i := range s.Objectives {
		add(s.Objectives[i].Query)
	}
	return queries
}

// usualWaits are the p99 waits of the classes, or of all jobs if there is one class or nothing is known of classes.
func (s *Summary) usualWaits() (queries []measure.Query) {
	if s.Settings != nil {
		return measure.UsualWaits(s.Settings)
	}
	for i := range s.Policies[0].Filtered {
		q := s.Policies[0].Filtered[i].Query
		if q.Class != "" && q == (measure.Query{Metric: measure.UsualWait, Class: q.Class}) {
			queries = append(queries, q)
		}
	}
	if queries == nil {
		queries = []measure.Query{{Metric: measure.UsualWait}}
	}
	return queries
}

// add adds the column of q unless it is there or was not measured.
func (t *Table) add(s *Summary, q measure.Query, part Part) {
	if t.Find(q) != nil || s.Policies[0].Find(q) == nil {
		return
	}
	t.Columns = append(t.Columns, columnOf(s, q, part))
}

// addPrices adds what policies cost: deaths wherever there are any, then the metrics in which a policy is most worse
// than the baseline. Prices that are alike for all policies are added too: they are to be folded.
func (t *Table) addPrices(s *Summary, objectives bool) {
	type rise struct {
		price int
		ratio float64
	}
	var rises []rise
	for i, p := range prices {
		q := measure.Query{Metric: p.metric}
		if s.Policies[0].Find(q) == nil || slices.ContainsFunc(t.Columns, func(c Column) bool {
			return c.Part == Gets && c.Query == (measure.Query{Metric: c.Metric}) &&
				(c.Metric == p.metric || slices.Contains(p.like, c.Metric))
		}) {
			continue
		}
		column := columnOf(s, q, Pays)
		switch usual := p.metric == "dead.count" || p.metric == "duplicates.per10k"; {
		case column.null():
		case column.alike() || p.metric == "dead.count" || !objectives && usual:
			t.addPrice(column)
		case objectives:
			if ratio := s.rise(q, p.least); ratio >= leastChange {
				rises = append(rises, rise{i, ratio})
			}
		}
	}
	slices.SortStableFunc(rises, func(a, b rise) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, r := range rises[:min(len(rises), mostPrices)] {
		t.addPrice(columnOf(s, measure.Query{Metric: prices[r.price].metric}, Pays))
	}
}

// addPrice adds a column of what policies cost, or marks the one that was asked for.
func (t *Table) addPrice(column Column) {
	if asked := t.Find(column.Query); asked != nil {
		asked.price = true
		return
	}
	t.Columns = append(t.Columns, column)
}

// rise is the most that q is under any policy as a multiple of the baseline's value, +Inf of 0: of the differences
// of at least that size, and only where few seeds or a test speak for them.
func (s *Summary) rise(q measure.Query, least float64) (ratio float64) {
	base := s.BaselinePolicy().Find(q)
	for i := range s.Policies {
		p := &s.Policies[i]
		e, d := p.Find(q), p.Against(q)
		if p.Baseline || e == nil || base == nil || !(e.Mean-base.Mean >= least) || d != nil && d.P >= alpha && e.N >= fewSeeds {
			continue
		}
		ratio = max(ratio, e.Mean/base.Mean)
	}
	return ratio
}

// fold moves the columns in which all policies are equal to Alike, if there are several policies; one column stays.
func (t *Table) fold(s *Summary) {
	if len(t.Policies) < 2 {
		t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return c.Part == Pays && c.zero() && c.Goals == nil })
		return
	}
	var columns []Column
	for i := range t.Columns {
		if t.Columns[i].alike() {
			t.Alike = append(t.Alike, t.Columns[i])
		} else {
			columns = append(columns, t.Columns[i])
		}
	}
	if len(columns) == 0 && len(t.Alike) > 0 {
		columns, t.Alike = slices.Clone(t.Alike[:1]), t.Alike[1:]
	}
	t.Columns = columns
}

func columnOf(s *Summary, q measure.Query, part Part) Column {
	info, _ := measure.Lookup(q.Metric)
	c := Column{Query: q, Info: info, Part: part, Label: q.Label()}
	for i := range s.Policies {
		c.Cells = append(c.Cells, CellOf(s, i, q))
	}
	c.markBest(s)
	for i := range s.Objectives {
		if v := &s.Objectives[i]; v.Query == q {
			c.addGoal(v, len(s.Policies))
		}
	}
	return c
}

// addGoal adds the bound of a verdict, or the verdict's policy to those of the bound.
func (c *Column) addGoal(v *Verdict, policies int) {
	text := v.Limit()
	at := slices.IndexFunc(c.Goals, func(g Goal) bool { return g.Text == text && g.Expect == v.Expect })
	if at < 0 {
		at = len(c.Goals)
		c.Goals = append(c.Goals, Goal{Text: text, Expect: v.Expect})
	}
	if g := &c.Goals[at]; !slices.Contains(g.Policies, v.Policy) {
		g.Policies = append(g.Policies, v.Policy)
	}
}

// GoalText writes the bounds of a column: "≤ 10s"; where they are of some policies only and there are several, with
// those.
func (c *Column) GoalText() string {
	var parts []string
	goals := exactGoals(c.Goals)
	for _, g := range goals {
		text := g.Text
		if slices.ContainsFunc(goals, func(other Goal) bool { return other.Text != g.Text }) && len(g.Policies) < len(c.Cells) {
			text += " (" + strings.Join(g.Policies, ", ") + ")"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// exactGoals joins a least and a most of the same size, of the same policies: "= 5".
func exactGoals(goals []Goal) (joined []Goal) {
	size := func(g Goal) string { return strings.TrimLeft(g.Text, "≥≤ ") }
	for _, g := range goals {
		at := slices.IndexFunc(joined, func(other Goal) bool {
			return other.Text != g.Text && size(other) == size(g) && other.Expect == g.Expect &&
				slices.Equal(other.Policies, g.Policies)
		})
		if at < 0 {
			joined = append(joined, g)
		} else {
			joined[at].Text = "= " + size(g)
		}
	}
	return joined
}

// alike reports whether all policies have the same value as it is printed, and fare the same by the objectives. Lower
// bounds of the same size need not be of the same value.
func (c *Column) alike() bool {
	for i := range c.Cells {
		a, b := &c.Cells[i], &c.Cells[0]
		if a.Value != b.Value || a.Half != b.Half || a.Marks() != b.Marks() || a.Shown || strings.HasPrefix(a.Value, "≥") {
			return false
		}
	}
	return true
}

// zero reports whether the value is 0 under every policy.
func (c *Column) zero() bool {
	return !slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return cell.Mean != 0 })
}

// null reports whether there is no value under any policy.
func (c *Column) null() bool {
	return !slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return !math.IsNaN(cell.Mean) })
}
