package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// better reports whether less or more is better of a benchmark unit, or neither: of qbench's and go test's units in the
// spelling of benchfmt, and of other rates and times by the end of the name.
func better(unit string) (less, more bool) {
	if info, ok := scenarioUnits()[unit]; ok {
		return info.LessIsBetter, info.MoreIsBetter
	}
	switch unit {
	case "lost", "duplicates", "never-enqueued", "sec", "ns", "B":
		return true, false
	}
	less = strings.HasSuffix(unit, "-sec") || strings.HasSuffix(unit, "/op") || strings.HasSuffix(unit, "/job")
	return less, strings.HasSuffix(unit, "/s")
}

// scenarioUnits maps the printed units of the metrics of scenarios to the metrics.
var scenarioUnits = sync.OnceValue(func() map[string]measure.MetricInfo {
	all := map[string]measure.MetricInfo{}
	for _, info := range measure.Metrics() {
		all[metricUnit(info)] = info
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
	factor := 1 + most
	_, falls := better(d.unit)
	if falls {
		factor = max(0, 1-most)
	}
	_, p := results.Excess(d.base, d.new, factor, falls, paired)
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
		if less, more := better(d.unit); !less && !more {
			ungated = append(ungated, d.unit)
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
			strings.Join(plain.Distinct(ungated), ", "))
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

func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < .0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
