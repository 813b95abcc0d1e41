package study

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
	"qsim/scenarios/world"
)

// judgeBy chooses the objective to judge: the first that the bad policies of the incident miss, with the bound that
// its cures meet, if any.
func (r *row) judgeBy() {
	for _, expect := range []bool{true, false} {
		for _, o := range world.Settings(r.library).Objectives {
			if o.Metric == r.of.metric && o.Expect == expect && (expect || o.Query == r.objective.Query) {
				r.objective = o
				break
			}
		}
	}
	r.objective.Policy, r.objective.Expect = "", false
	if class := r.as[r.objective.Class]; class != "" {
		r.objective.Class = class
	}
	bound := r.objective.Bound
	switch info, _ := measure.Lookup(r.of.metric); {
	case info.Unit == "s" || info.Share:
	case r.of.metric == "store.calls.claim":
		bound *= float64(r.sc.Engine.Nodes) / float64(r.library.Engine.Nodes)
	default:
		bound *= r.dose
	}
	r.bound(max(bound, r.of.least))
}

func (r *row) bound(value float64) {
	if value == r.objective.Bound {
		return // keep the spelling of the incident
	}
	r.objective.Bound = value
	switch info, _ := measure.Lookup(r.of.metric); {
	case info.Unit == "s":
		r.objective.Text = "below " + plain.Setting(time.Duration(value*1e9))
	case info.Share:
		r.objective.Text = "below " + strconv.FormatFloat(min(100, 100*value), 'g', 3, 64) + "%"
	default:
		r.objective.Text = "below " + strconv.FormatFloat(math.Ceil(value), 'f', -1, 64)
	}
}

// judged returns overrides with the objective of the row.
func (r *row) judged(sets []scenarios.Override) []scenarios.Override {
	o := &r.objective
	bound := spec.Bound{Text: strings.TrimPrefix(o.Text, "below ")}
	return append(slices.Clone(sets), scenarios.Set("objectives", []spec.Objective{{Metric: o.Metric,
		During: o.During, After: o.After, Class: o.Class, Below: &bound, Expect: "met"}}))
}
