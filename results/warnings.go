package results

import (
	"fmt"
	"slices"

	"qsim/results/measure"
	"qsim/results/plain"
)

// fewSeeds is the number of seeds below which a t-interval is too uncertain to rely on.
const fewSeeds = 5

// warn adds the warnings of a summary. grid holds the runs by policy, then by seed; asked is the number of requested
// seeds.
func (s *Summary) warn(grid [][]*measure.Run, asked int) {
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	n := len(s.Seeds)
	if s.Partial {
		add("partial: %d of %s finished under every policy", n, plain.Plural(max(asked, n), "seed"))
	}
	switch {
	case n == 1 && slices.ContainsFunc(s.Objectives, func(v Verdict) bool { return v.Outcome != Unclear }):
		add("one seed: no intervals, no comparisons, and no verdicts but on counts that must be 0")
	case n == 1:
		add("one seed: no intervals, no verdicts and no comparisons")
	case n < fewSeeds:
		add("%d seeds are few: intervals are wide", n)
	}
	s.warnOfWarmUp(grid, add)
	for i := range s.Policies {
		s.warnOfRuns(i, grid[i], add)
		s.warnOfOverload(i, grid[i], add)
		s.warnOfGaps(&s.Policies[i], add)
	}
	s.warnOfUnclear(add)
}

// mostUnclear is the highest number of unclear objectives with a warning each; more of them share one.
const mostUnclear = 3

// warnOfUnclear warns of unclear objectives: of each if they are few, else with their number and how many seeds would
// settle them. With one seed another warning says already that there are no verdicts.
func (s *Summary) warnOfUnclear(add func(string, ...any)) {
	var unclear []*Verdict
	seeds := 0
	for i := range s.Objectives {
		if v := &s.Objectives[i]; v.Outcome == Unclear && (len(s.Seeds) > 1 || v.Reason != oneSeed) {
			unclear, seeds = append(unclear, v), max(seeds, v.Seeds)
		}
	}
	if len(unclear) > mostUnclear {
		words := ""
		if seeds > 0 {
			words = fmt.Sprintf("; run about %s seeds", plain.Grouped(fmt.Sprint(seeds)))
		}
		add("%d of %d objectives are unclear%s", len(unclear), len(s.Objectives), words)
		return
	}
	for _, v := range unclear {
		add("%s: %s %s is %s", v.Policy, v.Query, v.Limit(), v.Note())
	}
}

// Note returns the remark printed beside the sign of a verdict, "" for none.
func (v *Verdict) Note() string {
	switch {
	case v.Outcome == Unclear:
		return unclear(v.Seeds, v.Reason)
	case v.Expect && v.Outcome == Missed:
		return "as expected"
	case v.Expect:
		return "expected to be missed"
	}
	return ""
}

// unclear returns the remark beside an unclear verdict: how many seeds would decide, or the reason why none would.
func unclear(seeds int, reason string) string {
	if seeds > 0 {
		return fmt.Sprintf("unclear; run about %d seeds", seeds)
	}
	return "unclear; " + reason
}

// warnOfRuns warns of unfinished jobs, growing backlogs and the warnings of the runs of a policy.
func (s *Summary) warnOfRuns(i int, runs []*measure.Run, add func(string, ...any)) {
	label, all := s.Policies[i].Label, plain.Plural(len(runs), "seed")
	left, seeds, grew := 0.0, 0, 0
	var texts []string
	counts := make(map[string]int)
	for _, run := range runs {
		if v := run.Find(measure.Query{Metric: "unfinished.count"}); !v.Null && v.Value > 0 {
			left += v.Value
			seeds++
		}
		if growing(&run.Series, s.Settings, workersOf(s.Settings, i)) {
			grew++
		}
		for _, text := range run.Warnings {
			if counts[text] == 0 {
				texts = append(texts, text)
			}
			counts[text]++
		}
	}
	if seeds > 0 {
		add("%s: %s jobs were neither done nor dead at the end, in %d of %s; values that they make bounds are marked ≥", label, plain.Grouped(plain.Digits(left, 1)), seeds, all)
	}
	if grew > 0 {
		add("%s: the backlog was still growing when arrivals stopped, in %d of %s", label, grew, all)
	}
	for _, text := range texts {
		add("%s: %s, in %d of %s", label, text, counts[text], all)
	}
}

// warnOfGaps warns of missing values of the table, with the reason.
func (s *Summary) warnOfGaps(p *PolicySummary, add func(string, ...any)) {
	for _, q := range TableQueries(s.Settings) {
		e := p.Find(q)
		switch {
		case e == nil:
		case e.Null():
			add("%s: %s has no value: %s", p.Label, q, e.Reason)
		case e.N < len(s.Seeds):
			add("%s: %s has a value in %d of %s only", p.Label, q, e.N, plain.Plural(len(s.Seeds), "seed"))
		}
	}
}
