package results

import (
	"cmp"
	"slices"
	"strings"
)

// Goal is the bound that an objective sets in a column of a results table, with the policies that it is set for.
type Goal struct {
	Text     string   // ≤ 10s
	Policies []string // labels of the policies that have a verdict; nil: all
	Expect   bool     // the bound is expected to be missed
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
	if len(goals) == 2 && goals[0].Text != goals[1].Text && len(goals[0].Policies)+len(goals[1].Policies) == len(c.Cells) &&
		len(goals[0].Policies) != len(goals[1].Policies) {
		slices.SortFunc(goals, func(a, b Goal) int { return cmp.Compare(len(a.Policies), len(b.Policies)) })
		return goals[0].Text + " (" + strings.Join(goals[0].Policies, ", ") + "), else " + goals[1].Text
	}
	var parts []string
	for _, g := range goals {
		text := g.Text
		several := slices.ContainsFunc(goals, func(other Goal) bool { return other.Text != g.Text })
		if several && len(g.Policies) < len(c.Cells) {
			text += " (" + strings.Join(g.Policies, ", ") + ")"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// exactGoals joins a lower and an upper bound of the same size and policies into one goal, "= 5".
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
