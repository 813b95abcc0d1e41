package report

import (
	"fmt"
	"math"
	"strings"
)

// comparisonTitle states which policy shortens the wait of fresh jobs most against
// the baseline, and what that does to the second measure.
func (d *drawing) comparisonTitle(measures []panelMetric) string {
	m, base := &measures[0], d.baseline()
	name := func(i int) string { return d.policies[i].name }
	e, ok := m.value(base)
	switch {
	case len(d.policies) == 1:
		return d.plainTitle(measures)
	case !ok:
		return fmt.Sprintf("%s has no %s to compare with", name(base), m.short)
	case d.seeds < 2:
		return d.oneSeedTitle(m)
	}
	best, worst := -1, -1
	for i := range d.policies {
		v, ok := m.value(i)
		if i == base || !ok || !m.shown(i) {
			continue
		}
		if v.Bound == "" && v.Mean < e.Mean && m.against[i].Difference < 0 && (best < 0 || v.Mean < m.estimates[best].Mean) {
			best = i
		}
		if v.Mean > e.Mean && m.against[i].Difference > 0 && (worst < 0 || v.Mean > m.estimates[worst].Mean) {
			worst = i
		}
	}
	if best >= 0 {
		title := fmt.Sprintf("%s: %s %s than with %s", name(best), m.short, change(e.Mean, m.estimates[best].Mean, e.Bound != ""), name(base))
		return title + d.price(&measures[1], best)
	}
	if worst >= 0 {
		v := m.estimates[worst]
		if e.Bound != "" {
			return fmt.Sprintf("No policy is shown to shorten %s against %s; with %s it is longer", m.short, name(base), name(worst))
		}
		return fmt.Sprintf("No policy is shown to shorten %s against %s; with %s it is %s", m.short, name(base), name(worst), change(e.Mean, v.Mean, v.Bound != ""))
	}
	for k := range measures[1:] {
		if other := d.otherTitle(&measures[k+1]); other != "" {
			return fmt.Sprintf("%s: no difference shown; %s", sentence(m.short), other)
		}
	}
	if len(d.policies) == 2 {
		return fmt.Sprintf("%s: no difference shown between %s and %s", sentence(m.short), name(0), name(1))
	}
	return fmt.Sprintf("%s: no policy is shown to differ from %s", sentence(m.short), name(base))
}

// change words how much longer or shorter after is than before. atLeast says that
// the larger of the two is only a lower bound.
func change(before, after float64, atLeast bool) string {
	word, ratio := "longer", after/before
	if after < before {
		word, ratio = "shorter", before/after
	}
	least := ""
	if atLeast {
		least = "at least "
	}
	switch {
	case math.Min(before, after) <= 0:
		return word + " (" + seconds(after) + " instead of " + seconds(before) + ")"
	case ratio < 1.005:
		return "hardly " + word
	case ratio < 1.5:
		return least + percent(math.Abs(after-before)/before) + " " + word
	}
	return least + times(ratio) + " times " + word
}

// price says what the policy i does to a second measure, if that is known.
func (d *drawing) price(m *panelMetric, i int) string {
	before, knownBefore := m.value(d.baseline())
	after, knownAfter := m.value(i)
	switch {
	case knownAfter && after.Bound != "" && (!knownBefore || before.Bound == "" && m.shown(i)):
		return fmt.Sprintf("; %s takes at least %s", m.short, m.spell(after.Mean))
	case !knownBefore || !knownAfter || before.Bound != "" && after.Bound != "":
		return ""
	case !m.shown(i):
		return fmt.Sprintf(", no difference in %s shown", m.short)
	case before.Bound != "" && after.Mean >= before.Mean, (after.Mean-before.Mean)*m.against[i].Difference < 0:
		return ""
	}
	return fmt.Sprintf(", %s %s", m.short, change(before.Mean, after.Mean, before.Bound != ""))
}

// otherTitle gives the values of a measure in which a policy is shown to differ from
// the baseline: of the one that is farthest from it. Empty if none is.
func (d *drawing) otherTitle(m *panelMetric) string {
	base, known := m.value(d.baseline())
	farthest, distance := -1, 0.
	for i := range d.policies {
		if e, ok := m.value(i); ok && known && i != d.baseline() && m.shown(i) && math.Abs(e.Mean-base.Mean) > distance {
			farthest, distance = i, math.Abs(e.Mean-base.Mean)
		}
	}
	if farthest < 0 || m.words(farthest) == m.words(d.baseline()) {
		return ""
	}
	return fmt.Sprintf("%s %s with %s, %s with %s", m.short, m.words(farthest), d.policies[farthest].name, m.words(d.baseline()), d.policies[d.baseline()].name)
}

// plainTitle says how the only policy does.
func (d *drawing) plainTitle(measures []panelMetric) string {
	var words []string
	for i := range measures {
		if _, ok := measures[i].value(0); ok {
			words = append(words, measures[i].short+" "+measures[i].words(0))
		}
	}
	if len(words) == 0 {
		return d.policies[0].name + " has no value of " + measures[0].short
	}
	return d.policies[0].name + ": " + strings.Join(words, ", ")
}

// oneSeedTitle claims no more than what was seen.
func (d *drawing) oneSeedTitle(m *panelMetric) string {
	values := make([]float64, len(d.policies))
	for i := range values {
		values[i] = math.NaN()
		if e, ok := m.value(i); ok {
			values[i] = e.Mean
		}
	}
	best, worst := extremes(values)
	if best == worst {
		return fmt.Sprintf("One seed: %s is %s with %s", m.short, m.words(worst), d.policies[worst].name)
	}
	return fmt.Sprintf("One seed: %s is %s with %s, %s with %s", m.short, m.words(worst), d.policies[worst].name, m.words(best), d.policies[best].name)
}
