package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"qsim/engine/quantity"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// clean makes a text of unknown origin safe to draw: one line, no control or formatting characters (which XML forbids
// or which reorder their neighbours), no invalid UTF-8, and never empty.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cmp.Or(strings.Join(strings.Fields(s), " "), "(no name)")
}

// policyName returns a policy's label for charts and sentences: safe to draw, and shortened if it is long.
func policyName(label string) string { return plain.Shorten(clean(label), nameLimit) }

// policyNames returns the names of all policies for charts and sentences.
func policyNames(sum *results.Summary) []string {
	return plain.Map(sum.Policies, func(p results.PolicySummary) string { return policyName(p.Label) })
}

// shortName returns the name of a storm, class or tenant for charts and sentences: safe to draw, and shortened if long.
func shortName(name string) string { return plain.Shorten(clean(name), stormLimit) }

// fit shortens a text, with … in its middle, until it is at most width wide in a style.
func fit(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	for limit := len([]rune(s)); limit > 1; limit-- {
		if cut := plain.Shorten(s, limit); style.Width(cut) <= width {
			return cut
		}
		if limit > 80 { // nothing that is drawn fits so many
			limit = 80
		}
	}
	return "…"
}

// wrap breaks a text between words into lines that are at most width wide in a style.
func wrap(style text.Style, s string, width vg.Length) []string {
	words := plain.Map(strings.Fields(s), func(word string) string { return fit(style, word, width) })
	return plain.Lines(words, func(line string) bool { return style.Width(line) <= width })
}

// zeroUnit matches the smaller unit of a duration, as text, if it is zero: .0 in 5.0s, 00s in 10m00s.
var zeroUnit = regexp.MustCompile(`\.0(s)$|([mhd])00[smh]$`)

// seconds returns a time as text as tables have it, but without a smaller unit that is zero: 420µs, 5.8s, 5s, 10m.
func seconds(v float64) string { return zeroUnit.ReplaceAllString(plain.Duration(v), "$1$2") }

// percent returns a share of 1 as a percentage. It rounds neither up to 100 % nor down to 0 %.
func percent(v float64) string {
	switch {
	case v <= 0:
		return "0%"
	case v < .0001:
		return "less than 0.01%"
	case v >= 1:
		return "100%"
	case v > .9999:
		return "more than 99.99%"
	case v < .99:
		return plain.Digits(v*100, 2) + "%"
	}
	return strconv.FormatFloat(math.Floor(v*1e4)/100, 'f', -1, 64) + "%"
}

// spell returns a value of a metric as text with its unit: 5.8s, 20%, 4.7k.
func spell(v float64, info measure.MetricInfo) string {
	switch {
	case info.Unit == "s":
		return seconds(v)
	case info.Share:
		return percent(v)
	}
	return plain.Amount(v)
}

// atMost cuts a list to a number of texts, and adds one that counts those left out by a noun, as "2 more storms".
func atMost(texts []string, most int, noun string) []string {
	if len(texts) <= most {
		return texts
	}
	return append(texts[:most:most], plain.Plural(len(texts)-most, noun))
}

// byText returns an enumeration of texts about policies, one for each ("": none): each text once, with its policies, as
// "7 with A, B and C and 8 with D". If there are more than three, the third is others, with the number of policies.
func byText(texts, names []string, others string) string {
	known := plain.Count(texts, func(text string) bool { return text != "" })
	distinct := slices.DeleteFunc(plain.Distinct(texts), func(text string) bool { return text == "" })
	var parts []string
	left := known
	for i, text := range distinct {
		var own []string
		for k, name := range names {
			if texts[k] == text {
				own = append(own, name)
			}
		}
		switch {
		case i == 2 && len(distinct) > 3:
			return list(append(parts, fmt.Sprintf("%s with %d policies", others, left)))
		case len(own) == len(names) && len(own) > 1:
			text += plain.Either(strings.HasPrefix(text, "no "), " under any policy", " under every policy")
		case len(own) > 3:
			text += fmt.Sprintf(" with %d of %d policies", len(own), known)
		default:
			text += " with " + list(own)
		}
		parts, left = append(parts, text), left-len(own)
	}
	return list(parts)
}

// list joins names into an enumeration: a, b and c.
func list(names []string) string { return quantity.List(names, "and") }

// footer returns the last line of a chart: scenario, seeds, meaning of the marks, version and configuration.
func (d *drawing) footer(marks string) string {
	seeds := plain.Plural(d.seeds, "seed") + plain.When(d.summary.Partial, " (some missing)")
	return sourceLine(d.settings.Scenario, d.version, d.settings.ConfigHash, seeds, marks)
}

// sourceLine returns the last line of a chart: the scenario, words about the chart, the version and the configuration.
func sourceLine(scenario, version, config string, words ...string) string {
	about := []string{"qsim " + plain.Shorten(clean(version), 40), "config " + plain.Shorten(clean(config), 16)}
	return strings.Join(slices.Concat([]string{plain.Shorten(clean(scenario), 60)}, words, about), " · ")
}

// marks returns the explanation of a chart's marks for its footer: the text for one seed, or that for several seeds.
func (d *drawing) marks(one, several string) string {
	switch d.seeds {
	case 0:
		return "no seed finished"
	case 1:
		return one
	}
	return several
}

// lineMarks returns the explanation, for a chart's footer, of a line that is the given statistic over seeds.
func (d *drawing) lineMarks(statistic string) string {
	return d.marks("line = the one seed", "line = "+statistic+" over seeds")
}

// bandMarks returns the explanation, for a chart's footer, of a line (median over seeds) and the band around it.
func (d *drawing) bandMarks() string {
	return d.lineMarks("median, band = " + plain.Either(d.seeds < 10, "range", "5th–95th percentile"))
}

// shadeWords returns the part of a subtitle that explains the shaded windows and, with limits, the dashed limit lines.
func (d *drawing) shadeWords(limits bool) string {
	shades := plain.Map(d.windowKey(), func(e entry) string {
		return shortName(e.name) + plain.Either(e.color == alpha(stormInk, 40), " (red)", " (grey)")
	})
	words := plain.When(len(shades) > 0, "; shaded: "+list(shades))
	if drawn := d.limits(); limits && len(drawn) == 1 {
		words += "; dashed: " + d.limitLabel(drawn[0])
	} else if limits && len(drawn) > 1 {
		words += "; dashed: objectives"
	}
	return words
}

// storms returns the names of the storms, each once: one may have several windows, at different times under policies.
func (d *drawing) storms() []string {
	return plain.Distinct(plain.Map(d.settings.AllStorms(), func(s measure.Window) string { return s.Name }))
}

// stormWords returns the storms with their times, for the alternative text of a chart.
func (d *drawing) stormWords() string {
	storms := d.settings.AllStorms()
	if len(storms) == 0 {
		return "There is no storm."
	}
	words := plain.Map(storms, func(s measure.Window) string {
		span := "from " + plain.Setting(s.From) + " to " + plain.Setting(s.To)
		return shortName(s.Name) + " " + plain.Either(s.From == s.To, plain.Span(s.From, s.To), span)
	})
	return plain.Either(len(storms) > 1, "Storms: ", "Storm: ") + list(atMost(words, 3, "more storm")) + "."
}

// shown returns the policies that get a panel, at most panelLimit: those in must, the baseline, then the first ones.
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

// firstOf chooses up to most of n things by index, first those in the list order, then the others, and reports for each
// whether it is chosen. Negative numbers in order are skipped.
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

// panelWords returns the end of a sentence on how many of the policies have a panel, "" if all have one.
func (d *drawing) panelWords() string {
	return plain.When(len(d.policies) > panelLimit, fmt.Sprintf("; %d of %d policies", panelLimit, len(d.policies)))
}
