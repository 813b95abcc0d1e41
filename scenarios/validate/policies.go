package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkPolicies() {
	sc := c.sc
	if len(sc.Policies) == 0 && c.Sound("policies") {
		c.Errorf(c.Near("policies"), "there are no policies").Help = "leave the key out for fifo alone"
		return
	}
	if c.tooMany(len(sc.Policies), reference.MostPolicies, "policies", "policies") {
		return
	}
	var labels []checks.NameAt
	for i := range sc.Policies {
		p := &sc.Policies[i]
		labels = append(labels, checks.NameAt{Name: p.Label, At: c.Given([]any{"policies", i, "label"}, []any{"policies", i, "kind"})})
		if bad := checks.BadLabel(p.Label); bad != "" && c.Sound("policies", i) && p.Kind != "" {
			c.Errorf(labels[i].At, "bad label %s: %s", quantity.Quote(p.Label), bad)
		}
		if c.Node("policies", i, "kind") != nil && c.Sound("policies", i, "kind") {
			c.checkPolicy(i, p)
		}
	}
	c.Unique("policies", labels)
	if sc.Baseline != "" && len(sc.PoliciesNamed(sc.Baseline)) == 0 && c.Sound("baseline") {
		c.Known("policy", c.Near("baseline"), sc.Baseline, c.policyNames())
	}
}

// policyNames returns the labels and kinds of the scenario's policies, with their nodes.
func (c *validator) policyNames() []checks.NameAt {
	var names []checks.NameAt
	for i := range c.sc.Policies {
		p := &c.sc.Policies[i]
		names = append(names, checks.NameAt{Name: p.Kind, At: c.Node("policies", i, "kind")})
		if p.Kind != p.Label {
			names = append(names, checks.NameAt{Name: p.Label, At: c.Node("policies", i, "label")})
		}
	}
	return names
}

func (c *validator) checkPolicy(i int, p *spec.Policy) {
	kind, err := policies.Find(p.Kind)
	if err != nil {
		var names []string
		for _, k := range policies.Kinds() {
			names = append(names, k.Name)
		}
		bad := reference.UnknownWord("policy", p.Kind, names, "want "+quantity.OrList(names))
		c.Add(c.Near("policies", i, "kind"), fault, bad)
		return
	}
	known := []string{"kind", "label", "with"}
	for _, parameter := range kind.Params {
		known = append(known, parameter.Name)
	}
	sound := true
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		at := slices.Index(known[3:], name)
		if at < 0 {
			c.Add(c.Key("policies", i, name), fault, unknownParameter(p.Kind, name, known))
			sound = false
		} else if err := p.ReadParameter(name, kind.Params[at].Type); err != nil {
			bad := c.Errorf(c.Near("policies", i, name), "%s: %v", name, err)
			if own := (*quantity.Error)(nil); errors.As(err, &own) {
				bad.Help = own.Help
			}
			sound = false
		}
	}
	// A policy with overrides is checked with them.
	seen := c.policy == i || c.policy == NoPolicy && len(p.With) == 0
	if seen && sound && c.sc.Engine.Workers >= 1 && c.Sound("engine", "workers") {
		if _, err := c.sc.PolicyMaker(i); err != nil {
			c.impossiblePolicy(i, p, err)
		}
	}
}

// impossiblePolicy reports an error of policies.New, at the parameter that the error names.
func (c *validator) impossiblePolicy(i int, p *spec.Policy, err error) {
	message := strings.TrimPrefix(err.Error(), "policy "+p.Kind+": ")
	at := c.Near("policies", i, "kind")
	if name, _, found := strings.Cut(message, ":"); found {
		if node := c.Node("policies", i, name); node != nil {
			at = node
		}
	}
	c.Errorf(at, "%s", message).Note = fmt.Sprintf("of policy %s with %d workers a node", p.Kind, c.sc.Engine.Workers)
}

func unknownParameter(kind, name string, known []string) *quantity.Error {
	e := reference.UnknownKey(name, known)
	e.Message = fmt.Sprintf("policy %s has no parameter %s", kind, quantity.Quote(name))
	if strings.HasPrefix(e.Help, "known keys") {
		if e.Help = "it takes " + strings.Join(known[3:], ", "); len(known) == 3 {
			e.Help = "it takes none"
		}
	}
	return e
}

// checkWindow checks the storm, if any, in an objective's filter during or after.
func (c *validator) checkWindow(name string, path ...any) {
	if name == "" || !c.Known("storm", c.Near(path...), name, c.Storms) {
		return
	}
	if slices.ContainsFunc(c.sc.Storms, func(s spec.Storm) bool { return s.Name == name && s.On != "" }) {
		c.Errorf(c.Near(path...), "storm %s begins with an event: nobody knows when it is", quantity.Quote(name))
	}
}

func (c *validator) checkObjectives() {
	for i := range c.sc.Objectives {
		o := &c.sc.Objectives[i]
		if c.Node("objectives", i, "metric") != nil && c.Sound("objectives", i, "metric") {
			c.checkMetric(i, o)
		}
		c.checkWindow(o.During, "objectives", i, "during")
		c.checkWindow(o.After, "objectives", i, "after")
		if o.Class != "" {
			c.Known("job class", c.Near("objectives", i, "class"), o.Class, c.Classes)
		}
		if o.Tenant == measure.WorstTenant {
			c.checkWorst(i, o)
		} else if o.Tenant != "" && c.Sound("jobs") {
			c.checkTenantNamed(i, o)
		}
		node := c.Node("objectives", i, "policies")
		for k, name := range o.Policies {
			if node != nil && len(node.Content) == len(o.Policies) && len(c.sc.PoliciesNamed(name)) == 0 {
				c.Known("policy", node.Content[k], name, c.policyNames())
			}
		}
		sound := c.Sound("objectives", i)
		c.hold(fault, []conflict{
			{c.Node("objectives", i, "below") != nil && c.Node("objectives", i, "above") != nil, "above:",
				"an objective is below or above something, not both", "make it two objectives"},
			{o.Below == nil && o.Above == nil && sound, "", "the objective has no bound", "write below: or above:"},
		}, "objectives", i)
	}
}

func (c *validator) checkWorst(i int, o *spec.Objective) {
	tenants := 0
	for k := range c.sc.Jobs {
		tenants += int(c.sc.Jobs[k].Tenants.Count)
	}
	info, found := measure.Lookup(o.Metric)
	if why := info.NoWorst(tenants); found && why != "" && info.Filters.Has(measure.ByTenant) {
		c.Errorf(c.Near("objectives", i, "tenant"), "%s has no worst tenant: %s", o.Metric, why)
	}
}

// checkTenantNamed reports an unknown tenant in an objective.
func (c *validator) checkTenantNamed(i int, o *spec.Objective) {
	var names []checks.NameAt
	for k := range c.sc.Jobs {
		job := &c.sc.Jobs[k]
		for _, name := range job.Tenants.Names {
			names = append(names, checks.NameAt{Name: name, At: c.Near("jobs", k, "tenants", "names")})
		}
		class, index, numbered := strings.Cut(o.Tenant, "/")
		if numbered && class == job.Class && len(job.Tenants.Names) == 0 {
			if n, err := strconv.Atoi(index); err == nil && strconv.Itoa(n) == index && c.sc.HasTenant(k, index) {
				return
			}
			c.Errorf(c.Near("objectives", i, "tenant"), "class %s has no tenant %s: want one of 0 to %d", class, quantity.Quote(index), job.Tenants.Count-1)
			return
		}
	}
	at := c.Near("objectives", i, "tenant")
	if len(names) == 0 {
		c.Errorf(at, "no tenant is named %s", quantity.Quote(o.Tenant)).Help = "tenants without names go by CLASS/INDEX, such as mail/0; the worst of all by worst"
		return
	}
	c.Known("tenant", at, o.Tenant, names)
}

// checkMetric checks the parts of an objective that depend on its metric.
func (c *validator) checkMetric(i int, o *spec.Objective) {
	info, found := measure.Lookup(o.Metric)
	if !found {
		bad := reference.UnknownWord("metric", o.Metric, spec.MetricNames(), "`qsim list metrics` prints them all")
		c.Add(c.Near("objectives", i, "metric"), fault, bad)
		return
	}
	has, narrowed := info.Filters.Has, o.Metric+" cannot be narrowed by "
	c.hold(fault, []conflict{
		{o.During != "" && !has(measure.ByDuring), "during:", narrowed + "during", ""},
		{o.After != "" && !has(measure.ByAfter), "after:", narrowed + "after", ""},
		{o.Class != "" && !has(measure.ByClass), "class:", narrowed + "class", ""},
		{o.Tenant != "" && !has(measure.ByTenant), "tenant:", narrowed + "tenant", ""},
		{has(measure.NeedsLimit) && o.Limit == nil && c.Sound("objectives", i), "metric",
			o.Metric + " needs a limit", "write limit: 10s beside it"},
		{!has(measure.NeedsLimit) && o.Limit != nil, "limit:", o.Metric + " takes no limit", ""},
	}, "objectives", i)
	c.checkBound(o.Metric, info.Unit, o.Below, "objectives", i, "below")
	c.checkBound(o.Metric, info.Unit, o.Above, "objectives", i, "above")
}

// checkBound reports a bound, nil for none, whose unit does not fit its metric.
func (c *validator) checkBound(metric, unit string, b *spec.Bound, path ...any) {
	if b == nil || !c.Sound(path...) {
		return
	}
	want, good := "a plain number such as 100", b.Unit == ""
	switch unit {
	case "s":
		want, good = fmt.Sprintf("a duration: write %ss or %[1]sms", b.Text), b.Unit == "s"
		if b.Unit != "" {
			want = "a duration such as 10s"
		}
	case "1":
		want, good = "a number or a share such as 5%", b.Unit == "" || b.Unit == "%"
	case "1/s":
		want, good = "a rate such as 80/s", b.Unit == "/s"
	}
	if !good {
		c.Errorf(c.Near(path...), "%s wants %s", metric, want)
	}
}

// checkNeeds warns, if the scenario has no errors, of policies without effect: they act on a feature, such as tenants,
// that the scenario lacks, and so claim as fifo; not of those that an objective expects to miss.
func (c *validator) checkNeeds() {
	if !c.Clean() {
		return
	}
	for i := range c.sc.Policies {
		p := &c.sc.Policies[i]
		kind, err := policies.Find(p.Kind)
		seen := c.policy == i || c.policy == NoPolicy && len(p.With) == 0 // the policy is checked with its overrides
		if err == nil && seen && !meets(c.sc, kind.Needs) && !expectedToFail(c.sc, p) {
			c.Warnf(c.Near("policies", i, "kind"), "%s has nothing to do: %s; it acts as fifo", p.Kind, kind.Needs.Lacks())
		}
	}
}

// meets reports whether sc has the features, such as tenants, without which a kind of policy acts as fifo.
func meets(sc *spec.Scenario, need policies.Need) bool {
	if len(sc.Jobs) == 0 { // no jobs is an error of its own
		return true
	}
	switch need {
	case policies.NeedsRetries:
		return mayRetry(sc)
	case policies.NeedsDependency:
		return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Calls != "" })
	case policies.NeedsTenants:
		return severalTenants(sc)
	case policies.NeedsPriorities:
		return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Priority != sc.Jobs[0].Priority })
	case policies.NeedsClasses:
		return len(sc.Jobs) > 1
	}
	return true
}

// expectedToFail reports whether an objective names the policy and expects a miss: its author does not rely on it.
func expectedToFail(sc *spec.Scenario, p *spec.Policy) bool {
	return slices.ContainsFunc(sc.Objectives, func(o spec.Objective) bool {
		return o.Expect == "missed" && slices.Contains(o.Policies, p.Label)
	})
}

// severalTenants reports whether jobs belong to at least two tenants. A class whose jobs come from a trace may have any
// number.
func severalTenants(sc *spec.Scenario) bool {
	names := map[string]bool{}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		if job.Tenants.Count > 1 || job.Arrivals.Process == "trace" {
			return true
		}
		for _, name := range job.Tenants.Names {
			names[name] = true
		}
		if len(job.Tenants.Names) == 0 {
			names[job.Class+"/"] = true // no name has a slash
		}
	}
	return len(names) > 1
}

// longRun is the assumed limit of a run time, as a multiple of its mean.
const longRun = 20

// mayRetry reports whether a job may be claimed more than once. Any storm but a burst may make attempts fail or leases
// expire, so that the answer is false only where that is certain.
func mayRetry(sc *spec.Scenario) bool {
	if slices.ContainsFunc(sc.Storms, func(s spec.Storm) bool { return s.Effect().Class == "" }) {
		return true
	}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		longest := longRun * job.Service.Average().Std()
		if job.Fails.Rate.Num+job.Poison.Num+job.Kills.Num+job.Silences.Num > 0 || job.Calls != "" || longest >= sc.TimeoutOf(i) ||
			sc.Engine.Lease.Heartbeat == 0 && longest >= sc.Engine.Lease.TTL.Std() {
			return true
		}
	}
	return false
}
