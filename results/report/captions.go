package report

import (
	"fmt"
	"slices"
	"strings"

	"qsim/results/plain"
)

// footer returns the last line of a chart: scenario, seeds, meaning of the marks, version and configuration.
func (d *drawing) footer(marks string) string {
	seeds := plain.Plural(d.seeds, "seed")
	if d.summary.Partial {
		seeds += " (some missing)"
	}
	return sourceLine(d.settings.Scenario, d.version, d.settings.ConfigHash, seeds, marks)
}

// sourceLine returns the last line of a chart: the scenario, words about the chart, the program's version and the
// configuration.
func sourceLine(scenario, version, config string, words ...string) string {
	parts := append([]string{shorten(clean(scenario), 60)}, words...)
	return strings.Join(append(parts, "qsim "+shorten(clean(version), 40), "config "+shorten(clean(config), 16)), " · ")
}

// bandMarks returns the explanation of a line with its band, for a chart's footer.
func (d *drawing) bandMarks() string {
	switch {
	case d.seeds == 0:
		return "no seed finished"
	case d.seeds == 1:
		return "line = the one seed"
	case d.seeds < 10:
		return "line = median, band = range over seeds"
	}
	return "line = median, band = 5th–95th percentile over seeds"
}

// medianMarks returns the explanation of a line without a band, for a chart's footer.
func (d *drawing) medianMarks() string {
	if d.seeds > 1 {
		return "line = median over seeds"
	}
	return d.bandMarks()
}

// shadeWords returns the part of a chart's footer about its shades and its limit lines without names.
func (d *drawing) shadeWords(limits bool) string {
	var shades []string
	switch storms := d.settings.Storms; {
	case len(storms) == 1:
		shades = append(shades, shortName(storms[0].Name)+" (red)")
	case len(storms) > 1:
		shades = append(shades, plain.Plural(len(storms), "storm")+" (red)")
	}
	if d.settings.Warmup > 0 {
		shades = append(shades, "warm-up (grey)")
	}
	words := ""
	if len(shades) > 0 {
		words = "; shaded: " + list(shades)
	}
	if drawn := d.limits(); limits && len(drawn) == 1 {
		words += "; dashed: " + d.limitLabel(drawn[0])
	} else if limits && len(drawn) > 1 {
		words += "; dashed: objectives"
	}
	return words
}

// stormWords returns the storms with their times, for the alternative text of a chart.
func (d *drawing) stormWords() string {
	storms := d.settings.Storms
	if len(storms) == 0 {
		return "There is no storm."
	}
	var words []string
	for i, s := range storms {
		if i == 3 {
			words = append(words, fmt.Sprintf("%d more", len(storms)-i))
			break
		}
		when := " from " + plain.Setting(s.From) + " to " + plain.Setting(s.To)
		if s.From == s.To {
			when = " " + plain.Span(s.From, s.To)
		}
		words = append(words, shortName(s.Name)+when)
	}
	if len(storms) > 1 {
		return "Storms: " + list(words) + "."
	}
	return "Storm: " + words[0] + "."
}

// shown returns the policies that get a panel each, at most panelLimit: those in must, the baseline, and the first
// ones.
func (d *drawing) shown(must ...int) []policy {
	if len(d.policies) <= panelLimit {
		return d.policies
	}
	var policies []policy
	for i, shown := range firstOf(len(d.policies), panelLimit, append(slices.Clone(must), d.summary.Baseline())) {
		if shown {
			policies = append(policies, d.policies[i])
		}
	}
	return policies
}

// firstOf chooses at most most of n things, the first ones of order before all others, and reports for each whether it
// is chosen. A negative number in order stands for nothing.
func firstOf(n, most int, order []int) []bool {
	chosen := make([]bool, n)
	for i := range n {
		order = append(order, i)
	}
	for _, i := range order {
		if i >= 0 && !chosen[i] && most > 0 {
			chosen[i], most = true, most-1
		}
	}
	return chosen
}

// panelWords returns a sentence on how many of the policies have a panel, "" if all have one.
func (d *drawing) panelWords() string {
	if len(d.policies) <= panelLimit {
		return ""
	}
	return fmt.Sprintf("; %d of %d policies", panelLimit, len(d.policies))
}
