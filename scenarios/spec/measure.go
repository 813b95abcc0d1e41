package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/reference"
)

// NoWindow is the format of the error for a metric during or after a storm (%s: quoted) that an event triggers.
const NoWindow = "storm %s begins with an event: nobody knows when it is"

// Measure makes runs of the scenario compute further metrics, with filters, beside those of the objectives. The error
// names an unknown metric, storm, class or tenant, or a filter that the metric does not take.
func (sc *Scenario) Measure(queries []measure.Query) error {
	for _, q := range queries {
		if e := sc.checkQuery(q); e != nil {
			return fmt.Errorf("%s: %s%s", q, e.Message, helpOf(e))
		}
		if !slices.Contains(sc.asked, q) {
			sc.asked = append(slices.Clip(sc.asked), q)
		}
	}
	return nil
}

// checkQuery returns an error if a metric with filters cannot be computed: an unknown name, or a filter not allowed.
func (sc *Scenario) checkQuery(q measure.Query) *quantity.Error {
	info, found := measure.Lookup(q.Metric)
	if !found {
		e := reference.UnknownName("metric", q.Metric, measure.MetricNames())
		e.Help = cmp.Or(e.Help, "qsim list metrics prints them all")
		return e
	}
	var storms []string
	for i := range sc.Storms {
		if s := &sc.Storms[i]; s.On == "" {
			storms = append(storms, s.Name)
		} else if s.Name == q.During || s.Name == q.After {
			return quantity.Errorf(NoWindow, quantity.Quote(s.Name))
		}
	}
	classes := plain.Map(sc.Jobs, func(j JobClass) string { return j.Class })
	nouns := map[string]string{"during": "storm", "after": "storm", "class": "job class", "tenant": "tenant"}
	names := map[string][]string{"storm": storms, "job class": classes, "tenant": sc.TenantNames()[1:]}
	for _, part := range q.Parts() {
		noun := nouns[part.Word]
		switch value, narrows := *part.Value, info.Filters.Has(part.Filter); {
		case value == "":
		case noun == "tenant" && value == measure.WorstTenant && narrows:
			if why := info.NoWorst(len(names[noun])); why != "" {
				return quantity.Errorf("%s has no worst tenant: %s", q.Metric, why)
			}
		case !narrows:
			return quantity.Errorf("%s cannot be narrowed by %s", q.Metric, part.Word)
		case !slices.Contains(names[noun], value):
			return reference.UnknownName(noun, value, names[noun])
		}
	}
	switch needs := info.Filters.Has(measure.NeedsLimit); {
	case needs && q.Limit == 0:
		return quantity.Errorf("%s needs a limit, such as limit 10s", q.Metric)
	case !needs && q.Limit != 0:
		return quantity.Errorf("%s takes no limit", q.Metric)
	}
	return nil
}

// Files returns the sorted names of the data files (values, traces) of a scenario and its variants, for OpenFile.
func (sc *Scenario) Files() []string {
	names := slices.Sorted(maps.Keys(sc.files.dists))
	for _, seen := range sc.all() {
		for i := range seen.Jobs {
			if name := seen.Jobs[i].Arrivals.File; name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
