package study

import (
	"math"
	"slices"

	"qsim/results"
	"qsim/results/measure"
)

// candidate is a setting of the keys with its observations and its verdict.
type candidate struct {
	setting int
	seen    []observation // observations by seed
	outcome results.Outcome
	why     string // reason why the setting was given up; empty: it was not
}

// goals returns the values of a search's goal so far, by seed.
func (c *candidate) goals() []float64 {
	v := make([]float64, len(c.seen))
	for i := range c.seen {
		v[i] = c.seen[i].Goal
	}
	return v
}

// margins returns, for each seed, the smallest distance of any objective to its bound.
func (c *candidate) margins() []float64 {
	v := make([]float64, len(c.seen))
	for i := range c.seen {
		v[i] = math.Inf(1)
		for _, s := range c.seen[i].Slacks {
			v[i] = math.Min(v[i], s)
		}
	}
	return v
}

// judge returns whether all objectives are met, each at the given confidence, and the index of the first missed one.
func (c *candidate) judge(objectives []measure.Objective, confidence float64) (outcome results.Outcome, missed int) {
	outcome = results.Met
	for k := range objectives {
		slacks, open := make([]float64, len(c.seen)), false
		for i := range c.seen {
			slacks[i] = c.seen[i].Slacks[k]
			open = open || c.seen[i].Open[k]
		}
		mean := results.MeanOf(slacks)
		half := results.HalfWidth(slacks, mean, confidence)
		switch {
		case math.IsNaN(mean) || math.IsNaN(half):
			outcome = results.Unclear
		case mean+half < 0:
			return results.Missed, k
		case open || mean-half < 0:
			outcome = results.Unclear
		}
	}
	return outcome, -1
}

// settle updates the candidate's outcome by judge, and gives it up if it misses an objective.
func (c *candidate) settle(objectives []measure.Objective, confidence float64) {
	var missed int
	if c.outcome, missed = c.judge(objectives, confidence); c.outcome == results.Missed {
		c.why = "misses " + wordsOf(&objectives[missed])
	}
}

// holds reports whether all objectives are still met when fresh seeds are added to those that chose the setting,
// which may lack a catastrophe that strikes one seed in twenty.
func (c *candidate) holds(fresh []observation, objectives []measure.Objective, confidence float64) bool {
	both := candidate{setting: c.setting, seen: slices.Concat(c.seen, fresh)}
	outcome, _ := both.judge(objectives, confidence)
	return outcome == results.Met
}

// looks returns the numbers of seeds, up to most, after which a verdict is attempted.
func looks(first, most int) []int {
	var all []int
	for n := first; n < most; n *= 2 {
		all = append(all, n)
	}
	return append(all, most)
}

// level returns the confidence needed for each of several verdicts so that all hold together with the confidence whole.
func level(whole float64, verdicts int) float64 {
	return 1 - (1-whole)/float64(max(1, verdicts))
}
