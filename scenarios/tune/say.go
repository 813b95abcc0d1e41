package tune

import (
	"fmt"
	"strings"

	"qsim/results"
)

// say writes what was found: the answer, how sure it is, what was not tried.
func (p *Problem) say(a *answer, out *results.TunedPolicy) []string {
	var said []string
	add := func(format string, arguments ...any) { said = append(said, fmt.Sprintf(format, arguments...)) }
	if p.Aim == Smallest || p.Aim == Largest {
		p.sayBisection(a, out, add)
	} else {
		p.sayChoice(a, out, add)
	}
	if disagreement := disagreement(out.Checked); disagreement != "" {
		add("But qsim run, which pools the jobs of all seeds, finds %s: look at it with more seeds.", disagreement)
	}
	add("%d simulations; a full grid, all %d settings with as many seeds as the one that took most, takes %d.", out.Runs, p.size(), out.Grid)
	return said
}

func (p *Problem) sayBisection(a *answer, out *results.TunedPolicy, add func(string, ...any)) {
	word, wanted := "smallest", "below"
	if p.Aim == Largest {
		word, wanted = "largest", "above"
	}
	n := p.size()
	text := func(c *candidate) string { return p.values(c.setting)[0] }
	edge := func(c *candidate) bool {
		return p.Aim == Smallest && c.setting == 0 || p.Aim == Largest && c.setting == n-1
	}
	switch {
	case a.best < 0 && out.Outcome == results.Unclear:
		add("No value is known to meet all objectives; of some it is unclear after %d seeds.", p.MostSeeds)
	case a.best < 0:
		easiest := a.tried[len(a.tried)-1]
		add("No value meets all objectives: even %s %s.", text(easiest), easiest.why)
	case edge(a.tried[a.best]):
		add("%s=%s meets all objectives, and it is the end of the range: %s it nothing was tried.", p.Key, text(a.tried[a.best]), wanted)
	default:
		best := a.tried[a.best]
		before := a.tried[a.best-1]
		why := before.why
		if why == "" {
			why = fmt.Sprintf("is unclear after %d seeds, which counts as not met", len(before.seen))
		}
		add("%s=%s is the %s value that meets all objectives; %s %s.", p.Key, text(best), word, text(before), why)
	}
	if a.monotone {
		add("Sure to %s: %d values were judged, each verdict at %s, and what meets the objectives at one value is taken to meet them at all easier ones, as the neighbours do.",
			share(p.Confidence), len(a.tried), share(a.level))
	} else {
		add("Values contradict each other (one does where an easier one does not), so all of them were judged. The verdicts, each at %s, are no longer sure to %s together.", share(a.level), share(p.Confidence))
	}
	if missing := p.missing(a); missing != "" {
		add("Not tried: %s, and what lies between the values given.", missing)
	} else {
		add("Not tried: what lies between the values given.")
	}
}

func (p *Problem) sayChoice(a *answer, out *results.TunedPolicy, add func(string, ...any)) {
	k := len(a.tried) - a.dropped
	near := fmt.Sprintf("%s of the %s", share(p.Indifference), p.goal())
	if p.Aim == Margin {
		near = fmt.Sprintf("%s of the bounds", share(p.Indifference))
	}
	switch {
	case a.best < 0 && len(a.rivals) == 0:
		add("No setting meets all objectives.")
	case a.best < 0:
		add("No setting is known to meet all objectives; of %d it is unclear after %d seeds.", len(a.rivals), p.MostSeeds)
	case !a.decided:
		add("%s is the best so far, but %d others are not told apart from it after %d seeds: %s.", p.nameOf(a.tried[a.best]), len(a.rivals), p.MostSeeds, p.list(a, a.rivals))
	default:
		add("%s has the %s of all settings that meet the objectives.", p.nameOf(a.tried[a.best]), p.goal())
	}
	if a.best >= 0 && a.decided {
		add("Sure to %s that of the %d settings compared none is better by more than %s (KN, common random numbers).", share(p.Confidence), k, near)
	}
	if a.dropped > 0 {
		add("Not compared to the end: %d settings that were in the worse half after some seeds (successive halving); nothing is promised about them.", a.dropped)
	}
	add("Not tried: what lies between the values given.")
}

func (p *Problem) nameOf(c *candidate) string { return name(p.overrides(c.setting)) }

// list names some candidates.
func (p *Problem) list(a *answer, which []int) string {
	const most = 5
	var words []string
	for i, at := range which {
		if i == most {
			words = append(words, fmt.Sprintf("%d more", len(which)-i))
			break
		}
		words = append(words, strings.Join(p.values(a.tried[at].setting), " "))
	}
	return strings.Join(words, ", ")
}

// missing lists the values that were not tried.
func (p *Problem) missing(a *answer) string {
	tried := map[int]bool{}
	for _, c := range a.tried {
		tried[c.setting] = true
	}
	var left []string
	for i := range p.size() {
		if !tried[i] {
			left = append(left, p.values(i)[0])
		}
	}
	const most = 8
	switch {
	case len(left) == 0:
		return ""
	case len(left) > most:
		return fmt.Sprintf("%d of %d values (%s, ...)", len(left), p.size(), strings.Join(left[:most], ", "))
	}
	return fmt.Sprintf("%d of %d values (%s)", len(left), p.size(), strings.Join(left, ", "))
}

// disagreement names an objective that a run of the scenario does not find met.
func disagreement(checked []results.Verdict) string {
	for i := range checked {
		if v := &checked[i]; v.Outcome != results.Met {
			return fmt.Sprintf("%s %s %s", v.Query, v.Text, v.Outcome)
		}
	}
	return ""
}

// share writes a share as a percentage of up to four digits.
func share(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }
