package text

import (
	"cmp"
	"fmt"
	"strings"

	"qsim/results"
	"qsim/results/plain"
)

// outcomeColor returns the colour of a verdict's sign: green for the expected outcome, yellow if unclear, faint for an
// expected miss, else red.
func outcomeColor(v *results.Verdict) string {
	switch {
	case v.Outcome == results.Unclear:
		return yellow
	case v.Expected():
		return dim
	case v.Failed(false):
		return red
	}
	return green
}

// alike returns the line that lists the columns with equal values under all policies.
func (p *page) alike() string {
	var parts []string
	for i := range p.table.Alike {
		parts = append(parts, p.table.Alike[i].AlikeText())
	}
	if parts == nil {
		return ""
	}
	return "alike for all: " + strings.Join(parts, ", ")
}

// unwanted returns the objectives that failed unexpectedly: a line for each, with all its policies.
func (p *page) unwanted() (lines []string) {
	line := map[string]int{}
	for i := range p.Objectives {
		v := &p.Objectives[i]
		if !v.Failed(false) {
			continue
		}
		what := v.Outcome.Sign() + " " + v.Query.Label() + " " + v.Limit()
		if v.Expect {
			what += ", expected to be missed"
		}
		at, there := line[what]
		if !there {
			at = len(lines)
			line[what], lines = at, append(lines, what+": ")
		} else {
			lines[at] += ", "
		}
		lines[at] += v.Policy + " " + v.Words()
	}
	return lines
}

// footnote returns the legend of the signs that the table uses.
func (p *page) footnote() string {
	half, same, bound, open, tell := false, false, false, false, 0
	for _, c := range p.table.Columns {
		for _, cell := range c.Cells {
			half = half || cell.Half != "" && c.Part != results.Pays
			same = same || cell.Mark == "≈"
			bound = bound || strings.HasPrefix(cell.Value, "≥")
			if cell.Mark == "?" {
				open, tell = true, max(tell, cell.Tell)
			}
		}
	}
	var parts []string
	if half {
		parts = append(parts, "± = 95% CI over "+plain.Plural(len(p.Seeds), "seed"))
	}
	if bound {
		parts = append(parts, "≥ = at least: the run ended before")
	}
	test := ""
	if same || open {
		test = " (paired t, Holm, α 0.05)"
	}
	if same {
		parts = append(parts, "≈ = the same within "+Percent(p.SameWithin))
	}
	if open {
		parts = append(parts, openWords(tell))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + test
}

// openWords returns the legend of the sign "?"; tell is about how many seeds would decide, 0: no number would.
func openWords(tell int) string {
	if tell == 0 {
		return "? = cannot be told"
	}
	return fmt.Sprintf("? = not told apart yet, run about %s seeds", plain.Grouped(fmt.Sprint(tell)))
}

// conclusion returns a sentence with the numbers of objectives that were missed, met although a miss was expected, or
// unclear; "" without objectives.
func conclusion(s *results.Summary) string {
	if len(s.Objectives) == 0 {
		return ""
	}
	missed, met, unclear, expected, seeds, reason := 0, 0, 0, 0, 0, ""
	for i := range s.Objectives {
		switch v := &s.Objectives[i]; {
		case v.Outcome == results.Unclear:
			unclear++
			seeds, reason = max(seeds, v.Seeds), cmp.Or(reason, v.Reason)
		case v.Failed(false) && v.Outcome == results.Missed:
			missed++
		case v.Failed(false):
			met++
		case v.Expected():
			expected++
		}
	}
	var parts []string
	if missed > 0 {
		parts = append(parts, plain.Plural(missed, "objective")+" missed")
	}
	if met > 0 {
		parts = append(parts, plain.Plural(met, "objective")+" met that should have been missed")
	}
	switch {
	case unclear > 0 && seeds > 0:
		parts = append(parts, fmt.Sprintf("%s unclear: run about %s seeds", plain.Plural(unclear, "objective"), plain.Grouped(fmt.Sprint(seeds))))
	case unclear > 0 && reason != "":
		parts = append(parts, plain.Plural(unclear, "objective")+" unclear: "+reason)
	case unclear > 0:
		parts = append(parts, plain.Plural(unclear, "objective")+" unclear")
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case expected > 0:
		return fmt.Sprintf("all objectives as expected, %d of %d missed as the scenario says", expected, len(s.Objectives))
	}
	return "all objectives met"
}
