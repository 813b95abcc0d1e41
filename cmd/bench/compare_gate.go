package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
)

// sense is the direction in which a unit's values get better: more, less, or neither.
type sense int8

const (
	noSense sense = iota // neither direction is better
	lessIsBetter
	moreIsBetter
)

// senseOf returns the direction in which values of a benchmark unit get better: of qbench's and go test's units in the
// spelling of benchfmt, and of other rates and times by the end of the name.
func senseOf(unit string) sense {
	if known, ok := metricSenses()[unit]; ok {
		return known
	}
	switch {
	case strings.HasSuffix(unit, "/s"):
		return moreIsBetter
	case unit == "lost", unit == "duplicates", unit == "never-enqueued":
		return lessIsBetter
	case strings.HasSuffix(unit, "-sec"), strings.HasSuffix(unit, "/op"), strings.HasSuffix(unit,
		"/job"), unit == "sec", unit == "ns", unit == "B":
		return lessIsBetter
	}
	return noSense
}

// metricSenses returns the direction in which each scenario metric gets better, by its printed unit.
var metricSenses = sync.OnceValue(func() map[string]sense {
	all := map[string]sense{}
	for _, info := range measure.Metrics() {
		s := noSense
		switch {
		case info.LessIsBetter:
			s = lessIsBetter
		case info.MoreIsBetter:
			s = moreIsBetter
		}
		all[metricUnit(info)] = s
	}
	return all
})

// metricUnit returns the benchmark unit for a metric of a scenario, like fresh-wait-p99-sec.
func metricUnit(info measure.MetricInfo) string {
	name := strings.ReplaceAll(info.Name, ".", "-")
	if info.Unit == "s" {
		name += "-sec"
	}
	return name
}

// worse returns the one-sided p value for the hypothesis that a change is not worse by more than a share, most, of the
// base mean; NaN if it cannot be tested.
func (d *change) worse(most float64, paired bool) float64 {
	less, factor := false, 1+most
	if senseOf(d.unit) == moreIsBetter {
		less, factor = true, max(0, 1-most)
	}
	_, p := results.Excess(d.base, d.new, factor, less, paired)
	return p
}

// gate returns an error if a change is worse than the limit, tested as one family (Holm): if nothing got worse by more,
// one in twenty comparisons of files fails by chance, however many units they have. It fails too if more jobs were
// lost, or if no change can be tested.
func (f *compareFlags) gate(changes []change, lost []change, paired bool, notes io.Writer) error {
	for i := range lost {
		if before, after := results.MeanOf(lost[i].base), results.MeanOf(lost[i].new); after > before {
			return ui.Fail(ui.ExitMissed, fmt.Errorf("%s: %s jobs were lost on average, and %s before", lost[i].name,
				number(after), number(before)))
		}
	}
	p := make([]float64, len(changes))
	decided, undecided, counted, ungated := 0, 0, false, []string{}
	for i := range changes {
		d := &changes[i]
		p[i] = math.NaN()
		if senseOf(d.unit) == noSense {
			if !slices.Contains(ungated, d.unit) {
				ungated = append(ungated, d.unit)
			}
			continue
		}
		if d.unit == "lost" {
			counted = true
			continue // pairUp has handled it
		}
		if p[i] = d.worse(f.most.value.Float(), paired); math.IsNaN(p[i]) {
			fmt.Fprintf(notes, "qbench: %s: %s: undecided: n<2\n", d.name, d.unit)
			undecided++
			continue
		}
		decided++
	}
	if len(ungated) > 0 {
		fmt.Fprintf(notes, "qbench: neither more nor less is better, and not held against the limit: %s\n",
			strings.Join(ungated, ", "))
	}
	var beyond error
	for i, adjusted := range results.Holm(p) {
		if adjusted < .05 && beyond == nil {
			beyond = ui.Fail(ui.ExitMissed,
				fmt.Errorf("%s: %s is worse by more than %s (p %s)", changes[i].name, changes[i].unit, f.most.text,
					pText(adjusted)))
		}
	}
	if beyond == nil && decided == 0 && (undecided > 0 || !counted) {
		return ui.Fail(ui.ExitMissed, errors.New("undecided: n<2, or no unit of which it is known whether more or less is "+
			"better"))
	}
	return beyond
}

// pText returns a p value as text.
func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < .0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
