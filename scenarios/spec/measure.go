package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
)

// Measure makes runs of the scenario compute further metrics, with filters, beside those of the objectives. The error
// is the first that CheckQuery finds.
func (sc *Scenario) Measure(queries []measure.Query) error {
	for _, q := range queries {
		c := checks.New(sc.tree.Full, sc.tree.Preset, nil, nil)
		sc.CheckQuery(c.Whole(), q, q.Limit != 0)
		if len(c.Problems) > 0 {
			e := (*quantity.Error)(nil)
			errors.As(c.Problems[0].Error, &e)
			return fmt.Errorf("%s: %s%s", q, e.Message, helpOf(e))
		}
		if !slices.Contains(sc.asked, q) {
			sc.asked = append(slices.Clip(sc.asked), q)
		}
	}
	return nil
}

// CheckQuery adds errors to the checker of in, the Section of an objective, for a metric with filters that cannot be
// computed: an unknown name, or a filter that the metric does not take. limited: it has a wait limit, even of 0s.
func (sc *Scenario) CheckQuery(in checks.Section, q measure.Query, limited bool) {
	info, found := measure.Lookup(q.Metric)
	if !found && in.Sound("metric") && (q.Metric != "" || in.Has("metric")) {
		const help = "`qsim list metrics` prints them all"
		in.Add(in.Place("metric"), reference.UnknownWord("metric", q.Metric, measure.MetricNames(), help))
	}
	for _, part := range q.Parts() {
		value, narrows := *part.Value, info.Filters.Has(part.Filter)
		in.Fault(found && value != "" && !narrows, part.Word+":", "%s cannot be narrowed by %s", q.Metric, part.Word)
		switch {
		case value == "":
		case part.Word == "class":
			in.Known("job class", in.Place("class"), value, in.Names["jobs"])
		case part.Word != "tenant":
			sc.checkWindow(in, part.Word, value)
		case value == measure.WorstTenant:
			why := info.NoWorst(sc.Tenants())
			in.Fault(narrows && why != "", "tenant", "%s has no worst tenant: %s", q.Metric, why)
		case in.Whole().Sound("jobs") && !in.Cut:
			sc.checkTenant(in, value)
		}
	}
	needs := info.Filters.Has(measure.NeedsLimit)
	in.Fault(needs && !limited && in.Sound(), "metric", "%s needs a limit, such as limit 10s", q.Metric)
	in.Fault(found && !needs && limited, "limit:", "%s takes no limit", q.Metric)
}

// checkWindow adds an error if a key during or after names an unknown storm, or one without a known time.
func (sc *Scenario) checkWindow(in checks.Section, key, name string) {
	begun := func(storm string) bool {
		return slices.ContainsFunc(sc.Storms, func(s Storm) bool { return s.Name == storm && s.On != "" })
	}
	if begun(name) {
		in.Fault(true, key, "storm %s begins with an event: nobody knows when it is", quantity.Quote(name))
		return
	}
	timed := slices.DeleteFunc(slices.Clone(in.Names["storms"]), func(n checks.NameAt) bool { return begun(n.Name) })
	in.Known("storm", in.Place(key), name, timed)
}

// checkTenant adds an error if no class has a tenant of that name or, for tenants without names, of that CLASS/INDEX.
func (sc *Scenario) checkTenant(in checks.Section, name string) {
	if slices.Contains(sc.tenantNames, name) {
		return // of a variant, perhaps
	}
	var names []checks.NameAt
	at := in.Place("tenant")
	for k := range sc.Jobs {
		job := &sc.Jobs[k]
		for _, own := range job.Tenants.Names {
			names = append(names, checks.NameAt{Name: own, At: in.Whole().In("jobs", k).Place("tenants.names")})
		}
		class, index, numbered := strings.Cut(name, "/")
		if numbered && class == job.Class && len(job.Tenants.Names) == 0 {
			if n, err := strconv.Atoi(index); err == nil && strconv.Itoa(n) == index && sc.TenantIndex(k, index) >= 0 {
				return
			}
			in.Errorf(at, "class %s has no tenant %s: want one of 0 to %d", class, quantity.Quote(index), job.Tenants.Count-1)
			return
		}
	}
	if len(names) == 0 {
		in.Errorf(at, "no tenant is named %s", quantity.Quote(name)).Help =
			"tenants without names go by CLASS/INDEX, such as mail/0; the worst of all by worst"
		return
	}
	in.Known("tenant", at, name, names)
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
