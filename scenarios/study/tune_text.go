package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
)

// say returns the findings of a search as sentences: the best setting, its confidence, and the values not tried.
func (p *Problem) say(a *answer, out *results.TunedPolicy) []string {
	var said []string
	add := func(format string, arguments ...any) { said = append(said, fmt.Sprintf(format, arguments...)) }
	if p.Aim.ofKey() {
		p.sayBisection(a, out, add)
	} else {
		p.sayChoice(a, add)
	}
	switch open := plain.Find(out.Checked, func(v *results.Verdict) bool { return v.Outcome != results.Met }); {
	case a.refuted:
		add("But with %d fresh seeds beside the %[1]d it was chosen by, it is no longer clear that it meets the "+
			"objectives: seeds scatter more than the first ones show. Give more with --max-seeds, or a longer scenario.",
			len(a.tried[a.best].seen))
	case open != nil:
		add("But qsim run, which pools the jobs of all seeds where tune takes the mean of the seeds' values, finds %s %s %s "+
			"with %d fresh seeds.", open.Query, open.Text, open.Outcome, len(a.tried[a.best].seen))
	case len(out.Checked) > 0:
		add("It meets them with %d fresh seeds, too.", len(a.tried[a.best].seen))
	}
	if !a.refuted && len(a.never) > 0 {
		fresh := len(a.tried[a.best].seen) // the others chose the setting, which may be by luck
		add("%s %s 0 in all %d seeds: at %s, by the %d fresh ones, no more than one seed in %.0f has more.",
			strings.Join(a.never, " and "), plain.Either(len(a.never) == 1, "was", "were"), 2*fresh, share(p.Confidence),
			fresh, oneIn(fresh, p.Confidence))
	}
	add("%d simulations; a full grid, all %d settings with as many seeds as the one that took most, takes %d.", out.Runs,
		p.plan.Size(), out.Grid)
	return said
}

// oneIn returns the highest N for which, at a confidence, at most one seed in N has what none of a number of seeds has:
// the rule of three, without its approximation.
func oneIn(seeds int, confidence float64) float64 {
	return math.Floor(1 / (1 - math.Pow(1-confidence, 1/float64(seeds))))
}

func (p *Problem) sayBisection(a *answer, out *results.TunedPolicy, add func(string, ...any)) {
	word, wanted := "smallest", "below"
	if p.Aim == Largest {
		word, wanted = "largest", "above"
	}
	ends := map[Aim]int{Smallest: 0, Largest: p.plan.Size() - 1}
	text := func(c *candidate) string { return p.values(c.setting)[0] }
	switch {
	case a.best < 0 && out.Outcome == results.Unclear:
		seeds := 0 // fewer than allowed where a metric has no value
		for _, c := range a.tried {
			if c.outcome == results.Unclear {
				seeds = max(seeds, len(c.seen))
			}
		}
		add("No value is known to meet all objectives; of some it is unclear after %d seeds.", seeds)
	case a.best < 0:
		easiest := a.tried[len(a.tried)-1]
		add("No value meets all objectives: even %s %s.", text(easiest), easiest.why)
	case a.tried[a.best].setting == ends[p.Aim]:
		add("%s=%s meets all objectives, and it is the end of the range: %s it nothing was tried.", p.Key,
			text(a.tried[a.best]), wanted)
	case !a.decided && a.monotone:
		p.sayBracket(a, word, add)
	default:
		before := a.tried[a.best-1]
		why := cmp.Or(before.why, fmt.Sprintf("is unclear after %d seeds, which counts as not met", len(before.seen)))
		add("%s=%s is the %s value that meets all objectives; %s %s.", p.Key, text(a.tried[a.best]), word, text(before), why)
	}
	p.saySure(a, word, add)
	add("Not tried: %s.", plain.Joined(", and ", p.missing(a), "what lies between the values given"))
}

// sayBracket adds the sentences for a search that cannot say whether a value beyond the best one known to meet all
// objectives meets them too.
func (p *Problem) sayBracket(a *answer, word string, add func(string, ...any)) {
	text := func(c *candidate) string { return p.values(c.setting)[0] }
	best, beyond, most := text(a.tried[a.best]), "above", "at most"
	if p.Aim == Largest {
		beyond, most = "below", "at least"
	}
	var unclear []string
	seeds := 0
	for _, c := range a.tried[:a.best] {
		switch c.outcome {
		case results.Unclear:
			unclear, seeds = append(unclear, text(c)), max(seeds, len(c.seen))
		case results.Missed:
			unclear = nil
		}
	}
	verb := plain.Either(len(unclear) == 1, "is", "are")
	add("%s=%s is the %s value known to meet all objectives; %s %s unclear after %d seeds.", p.Key, best, word,
		strings.Join(unclear, ", "), verb, seeds)
	if a.misses != nil {
		add("The %s one that does is %s %s, which %s, and %s %s.", word, beyond, text(a.misses), a.misses.why, most, best)
	}
}

// saySure adds the sentence about the confidence of a bisection's verdicts.
func (p *Problem) saySure(a *answer, word string, add func(string, ...any)) {
	judged := counted(len(a.tried), "value was", "values were")
	switch {
	case !a.monotone && backwards(a.tried):
		meet, miss, other := "Smaller", "larger", "largest"
		if p.Aim == Largest {
			meet, miss, other = "Larger", "smaller", "smallest"
		}
		add("%s values meet them and %s ones do not: --%s %s finds the %s that does. All were judged, each verdict at %s.",
			meet, miss, other, p.Key, other, share(a.level))
	case !a.monotone:
		add("Values contradict each other (one does where an easier one does not), so all of them were judged. The "+
			"verdicts, each at %s, are no longer sure to %s together.", share(a.level), share(p.Confidence))
	case a.refuted:
		add("%s judged, each verdict at %s if seeds scatter normally, which they do not seem to.", judged, share(a.level))
	case a.decided && len(a.tried) == 1:
		add("Sure to %s if seeds scatter normally: 1 value was judged, each verdict at %s.", share(p.Confidence),
			share(a.level))
	case a.decided:
		add("Sure to %s if seeds scatter normally: %s judged, each verdict at %s, and what meets the objectives at one "+
			"value is taken to meet them at all easier ones, as the neighbours do.", share(p.Confidence), judged, share(a.level))
	case a.best >= 0:
		add("Sure to %s if seeds scatter normally that it meets them (%s judged, each verdict at %s); not that it is the %s.",
			share(p.Confidence), judged, share(a.level), word)
	}
}

// backwards reports whether, of values from the one that should be hardest to the easiest, the first meet all
// objectives and all others miss some.
func backwards(tried []*candidate) bool {
	met := plain.Count(tried, func(c *candidate) bool { return c.outcome == results.Met })
	misses := func(c *candidate) bool { return c.outcome == results.Missed }
	return met > 0 && !slices.ContainsFunc(tried[:met], misses) && plain.Count(tried[met:], misses) == len(tried)-met
}

// counted returns a number followed by a noun (and verb) in singular or plural: 1 seed, 3 seeds.
func counted(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, plain.Either(n == 1, one, many))
}

func (p *Problem) sayChoice(a *answer, add func(string, ...any)) {
	k := len(a.tried)
	meeting := plain.When(len(p.settings.Objectives) > 0, " and meets the objectives")
	missed, equal, rivals := 0, []*candidate(nil), []*candidate(nil)
	for i, c := range a.tried {
		if c.outcome == results.Missed {
			missed++
		}
		switch {
		case (c.why == "" || c.why == whyUnsure) && i != a.best:
			rivals = append(rivals, c)
		case c.why == whyEqual && a.decided && a.best >= 0:
			equal = append(equal, c)
		}
	}
	near := fmt.Sprintf("%s of the %s", share(p.Indifference), p.goal())
	switch {
	case p.Aim == Margin:
		near = fmt.Sprintf("%s of the bounds", share(p.Indifference))
	case a.least == 0: // a share of 0 is 0
		info, _ := measure.Lookup(p.Query.Metric)
		near = fmt.Sprintf("%s (%s of the largest %s: the least is 0)", results.FormatValue(a.delta, info),
			share(p.Indifference), p.Query.String())
	}
	switch {
	case a.best < 0 && len(rivals) == 0:
		add("No setting meets all objectives%s.", plain.When(missed < k, " and has a value in every seed"))
	case a.best < 0:
		add("No setting is known to meet all objectives; of %d it is unclear after %d seeds.", len(rivals), p.MostSeeds)
	case !a.decided:
		add("%s is the best so far, but %s not told apart from it after %d seeds: %s.",
			p.plan.cellName(a.tried[a.best].setting), counted(len(rivals), "other is", "others are"),
			len(a.tried[a.best].seen), p.list(rivals))
	default:
		if missed > 0 { // settings that may be better, but miss objectives
			meeting = " but for " + counted(missed, "that misses", "that miss") + " objectives, and meets them"
		}
		add("%s has the %s of the %s%s.", p.plan.cellName(a.tried[a.best].setting), p.goal(),
			counted(k, "setting that was compared", "settings that were compared"), meeting)
	}
	if slices.ContainsFunc(rivals, func(c *candidate) bool { return c.why == whyUnsure }) {
		add("%s marked ≥ is only a lower bound, as runs ended too early; give a longer drain: more seeds change nothing.",
			p.Query.String())
	}
	if len(equal) > 0 {
		add("As good on average: %s.", p.list(equal))
	}
	if a.best >= 0 && a.decided && k > 1 {
		none := "none" + plain.When(missed > 0, " that meets the objectives")
		add("Sure to %s if seeds scatter normally that of the %d settings compared %s is better by more than %s (KN "+
			"and t tests, common random numbers).", share(p.Confidence), k, none, near)
	}
	add("Not tried: what lies between the values given.")
}

// list returns the values of some candidates as text, the first few by name.
func (p *Problem) list(all []*candidate) string {
	const most = 5
	shown := all[:min(len(all), most)]
	words := plain.Map(shown, func(c *candidate) string { return strings.Join(p.values(c.setting), " ") })
	if more := len(all) - len(shown); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// missing returns a phrase with the number and a list of the values that a search did not try; "" if it tried all.
func (p *Problem) missing(a *answer) string {
	var left []string
	for i := range p.plan.Size() {
		if !slices.ContainsFunc(a.tried, func(c *candidate) bool { return c.setting == i }) {
			left = append(left, p.values(i)[0])
		}
	}
	const most = 8
	n := len(left)
	switch {
	case n == 0:
		return ""
	case n > most:
		left = append(left[:most], "...")
	}
	return fmt.Sprintf("%d of %d values (%s)", n, p.plan.Size(), strings.Join(left, ", "))
}

// share returns a share of 1 as a percentage of up to four digits: 95 %.
func share(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }

// TuningTable returns the settings tried by a search: as CSV a row for each, or for people a table for each policy with
// the findings, and the command line that runs a policy with the best setting; command formats it from keys and values
// in the syntax of --set.
func TuningTable(t *results.Tuning, o text.TableOptions, command func(policy string, sets []string) string) string {
	if o.Format == text.CSV {
		header, rows := tuneTable(t, t.Policies, true)
		return text.Cells(header, rows, 1, o)
	}
	var b strings.Builder
	title := t.Scenario + "  " + plain.Joined(", with ", t.Goal, strings.Join(t.Objectives, " and "))
	b.WriteString(o.Prose(title))
	for i := range t.Policies {
		p := &t.Policies[i]
		b.WriteString("\n" + o.Prose(p.Label) + plain.When(o.Format == text.Markdown, "\n"))
		header, rows := tuneTable(t, t.Policies[i:i+1], false)
		b.WriteString(text.Cells(header, rows, len(t.Axes)+1, o) + "\n")
		for _, line := range p.Said {
			b.WriteString(o.Prose(line))
		}
		if p.Best != nil {
			// On one line and as it is, to be copied: in Markdown a block of code.
			b.WriteString(plain.When(o.Format == text.Markdown, "\n    ") + command(p.Label, setsOf(t.Axes, p.Best)) + "\n")
		}
	}
	return b.String()
}

// tuneTable returns a table with a row for each setting tried under some policies: with full for programs, with labels
// and all digits, otherwise for people.
func tuneTable(t *results.Tuning, policies []results.TunedPolicy, full bool) (header []string, rows [][]string) {
	if full {
		header = append(header, "policy")
	}
	header = append(append(header, plain.Map(t.Axes, func(a results.Axis) string { return a.Key })...), "seeds")
	if !t.Margin {
		header = append(append(header, t.Query.String(), "±"), plain.Either(full, []string{"bound"}, nil)...)
	}
	header = append(header, "margin", "±", "objectives", "")
	info, _ := measure.Lookup(t.Query.Metric)
	value := func(v float64) string { return plain.Either(full, plain.Number(v), results.FormatValue(v, info)) }
	margin := func(v float64) string {
		if text := plain.Number(v); full || text == "" {
			return text
		}
		return strings.Replace(fmt.Sprintf("%+.1f%%", 100*v), "-", "−", 1)
	}
	for i := range policies {
		p := &policies[i]
		for k := range p.Trials {
			r := &p.Trials[k]
			var row []string
			if full {
				row = append(row, p.Label)
			}
			row = append(append(row, r.Values...), strconv.Itoa(r.Seeds))
			if !t.Margin {
				row = append(row, plain.When(r.Bound != "" && !full, "≥ ")+value(r.Mean), value(r.Half))
				row = append(row, plain.Either(full, []string{r.Bound}, nil)...)
			}
			why := plain.Either(slices.Equal(r.Values, p.Best), "best", r.Why)
			half := strings.TrimPrefix(margin(r.MarginHalf), "+")
			rows = append(rows, append(row, margin(r.Margin), half, string(r.Outcome), why))
		}
	}
	return header, rows
}
