package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Part is the group of a column in a results table: metrics of objectives, additional metrics, or costs of a policy.
type Part uint8

// Gets, Asked and Pays are the groups of columns: metrics of the objectives, other requested metrics, and costs.
const (
	Gets  Part = iota // metrics of the objectives
	Asked             // metrics requested in addition to the objectives'
	Pays              // costs of a policy
)

// String returns the heading that a results table has over a group of columns, such as "what you pay".
func (p Part) String() string { return [...]string{"what you get", "asked for", "what you pay"}[p] }

// Table compares the policies of a scenario: columns for the metrics of the objectives in file order, then for the
// additional metrics, then for the largest costs. The terminal and reports print it; Finding is its headline.
type Table struct {
	Policies []string // labels of the policies
	Columns  []Column // metrics, ordered by Part
	Alike    []Column // columns in which all policies are equal, printed as one line
	// Watched is the metric that the finding is about, if the table has it; zero: the worst one of the objectives.
	Watched measure.Query
}

// Column is one metric of a results table, with a cell for each policy.
type Column struct {
	measure.Query
	Info  measure.MetricInfo
	Part  Part
	Label string      // heading, such as "p99 wait of fresh jobs in payments-down"
	Goals []Goal      // distinct bounds of the objectives, in their order
	Cells []TableCell // values of the metric, by policy

	price  bool    // the metric is requested and also one of the largest costs
	better float64 // 1: more is better, -1: less is, 0: neither, or unknown
	within float64 // half-width of the equivalence band, as a share of the baseline's value
}

// Find returns the column of a metric, also if all policies are equal in it; nil if the table has none.
func (t *Table) Find(q measure.Query) *Column {
	sought := func(c *Column) bool { return c.Query == q }
	return cmp.Or(plain.Find(t.Columns, sought), plain.Find(t.Alike, sought))
}

// In returns the columns of one group (Part) of a results table: metrics of objectives, additional metrics, or costs.
func (t *Table) In(p Part) []*Column {
	return plain.Where(t.Columns, func(c *Column) bool { return c.Part == p })
}

// TableQueries returns the metrics of a scenario's results table that do not depend on the results: those of the
// objectives and additional ones; without objectives the p99 wait of each class, deaths and duplicates.
func TableQueries(s *measure.Settings) []measure.Query {
	if len(s.Objectives) > 0 {
		return plain.Distinct(objectiveQueries(s), s.Asked)
	}
	return plain.Distinct(measure.UsualWaits(s), s.Asked,
		[]measure.Query{{Metric: "dead.count"}, {Metric: "duplicates.per10k"}})
}

func objectiveQueries(s *measure.Settings) []measure.Query {
	return plain.Map(s.Objectives, func(o measure.Objective) measure.Query { return o.Query })
}

// tableQueries returns all metrics that the results table may show: in Holm's correction for multiple tests, the
// differences in these metrics are one family.
func (s *Summary) tableQueries() (queries []measure.Query) {
	if s.Settings != nil {
		queries = TableQueries(s.Settings)
	} else if queries = s.objectiveQueries(); len(queries) == 0 && len(s.Policies) > 0 {
		queries = s.usualWaits()
	}
	return plain.Distinct(queries,
		plain.Map(prices, func(p price) measure.Query { return measure.Query{Metric: p.metric} }))
}

// TableOf returns the results table of a summary. If Settings is nil, an objective without any verdict has no column.
func TableOf(s *Summary) *Table {
	t := &Table{Policies: s.labels()}
	if len(s.Policies) == 0 {
		return t
	}
	t.add(s, Gets, s.objectiveQueries())
	objectives := len(t.Columns) > 0
	if !objectives {
		t.add(s, Gets, s.usualWaits())
	}
	if s.Settings != nil {
		t.add(s, Asked, s.Settings.Asked)
	}
	t.addPrices(s, objectives)
	t.fold()
	return t
}

// objectiveQueries returns the metrics of the objectives, each once, in file order.
func (s *Summary) objectiveQueries() (queries []measure.Query) {
	if s.Settings != nil {
		queries = objectiveQueries(s.Settings)
	}
	return plain.Distinct(queries, plain.Map(s.Objectives, func(v Verdict) measure.Query { return v.Query }))
}

// usualWaits returns the p99 wait of each class, or of all jobs if there is one class or the classes are not known.
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

// add appends a column, in the given group, for each of the metrics that the table lacks and that was measured.
func (t *Table) add(s *Summary, part Part, queries []measure.Query) {
	for _, q := range queries {
		if t.Find(q) == nil && s.Policies[0].Find(q) != nil {
			column := ColumnOf(s, q)
			column.Part = part
			t.Columns = append(t.Columns, column)
		}
	}
}

// fold moves the columns in which all policies have the same value to the list Alike, which is printed as one line; at
// least one column stays. In a table of one policy it drops the costs that are 0 instead.
func (t *Table) fold() {
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

// ColumnOf returns a results table column for a metric, whether the table of the summary has it or not.
func ColumnOf(s *Summary, q measure.Query) Column {
	c := Column{Query: q, Info: s.lookup(q), Label: q.Label()}
	for i := range s.Policies {
		c.Cells = append(c.Cells, CellOf(s, i, q))
	}
	for _, v := range s.objectivesOn(q) {
		c.addGoal(v)
	}
	c.rank(s)
	return c
}

// alike reports whether all policies have the same printed value (not a lower bound) and the same verdicts in a column.
func (c *Column) alike() bool {
	for i := range c.Cells {
		a, b := &c.Cells[i], &c.Cells[0]
		if a.Value != b.Value || a.Half != b.Half || a.Marks() != b.Marks() || a.Shown || strings.HasPrefix(a.Value, "≥") {
			return false
		}
	}
	return true
}

// zero reports whether a column's value is 0 under every policy.
func (c *Column) zero() bool {
	return !slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return cell.Mean != 0 })
}

// null reports whether a column has no value under any policy, so that it cannot count as a cost.
func (c *Column) null() bool {
	return !slices.ContainsFunc(c.Cells, func(cell TableCell) bool { return !math.IsNaN(cell.Mean) })
}

// Goal is the bound that an objective sets in a column of a results table, with the policies that it is set for.
type Goal struct {
	Text     string   // the bound as text: ≤ 10s
	Policies []string // labels of the policies that have a verdict; nil: all
	Expect   bool     // the scenario expects the bound to be missed
}

// addGoal adds the bound of a verdict to the column's goals, or the verdict's policy to the goal with that bound.
func (c *Column) addGoal(v *Verdict) {
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

// GoalText returns the bounds of a column as text: "≤ 10s"; where policies differ in them, with the policies: "≥ 30/s
// (fifo), else ≥ 55/s".
func (c *Column) GoalText() string {
	goals := exactGoals(c.Goals)
	if len(goals) == 2 && goals[0].Text != goals[1].Text && len(goals[0].Policies) != len(goals[1].Policies) &&
		len(goals[0].Policies)+len(goals[1].Policies) == len(c.Cells) {
		slices.SortFunc(goals, func(a, b Goal) int { return cmp.Compare(len(a.Policies), len(b.Policies)) })
		return goals[0].Text + " (" + strings.Join(goals[0].Policies, ", ") + "), else " + goals[1].Text
	}
	var parts []string
	for _, g := range goals {
		several := slices.ContainsFunc(goals, func(other Goal) bool { return other.Text != g.Text })
		parts = append(parts, g.Text+
			plain.When(several && len(g.Policies) < len(c.Cells), " ("+strings.Join(g.Policies, ", ")+")"))
	}
	return strings.Join(plain.Distinct(parts), ", ")
}

// exactGoals joins a lower and an upper bound that are equal and set for the same policies into one goal, "= 5".
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
