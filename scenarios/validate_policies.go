package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

func (c *checker) checkPolicies() {
	sc := c.sc
	if len(sc.Policies) == 0 && c.sound("policies") {
		c.errorf(c.near("policies"), "there are no policies").Help = "leave the key out for fifo alone"
		return
	}
	if len(sc.Policies) > mostPolicies {
		c.errorf(c.near("policies", mostPolicies), "%d policies are too many: at most %d", len(sc.Policies), mostPolicies)
		return
	}
	var labels []nameAt
	for i := range sc.Policies {
		p := &sc.Policies[i]
		labels = append(labels, nameAt{p.Label, c.given([]any{"policies", i, "label"}, []any{"policies", i, "kind"})})
		if bad := checkLabel(p.Label); bad != "" && c.sound("policies", i) && p.Kind != "" {
			c.errorf(labels[i].at, "bad label %s: %s", quantity.Quote(p.Label), bad)
		}
		if c.has("policies", i, "kind") && c.sound("policies", i, "kind") {
			c.checkPolicy(i, p)
		}
	}
	c.unique("policies", labels)
	if sc.Baseline != "" && len(sc.PoliciesNamed(sc.Baseline)) == 0 && c.sound("baseline") {
		c.known("policy", c.near("baseline"), sc.Baseline, c.policyNames())
	}
}

// policyNames returns the labels and kinds of the scenario's policies, with their nodes.
func (c *checker) policyNames() []nameAt {
	var names []nameAt
	for i := range c.sc.Policies {
		p := &c.sc.Policies[i]
		names = append(names, nameAt{p.Kind, c.node("policies", i, "kind")})
		if p.Kind != p.Label {
			names = append(names, nameAt{p.Label, c.node("policies", i, "label")})
		}
	}
	return names
}

// checkPolicy checks the parameters of one policy.
func (c *checker) checkPolicy(i int, p *Policy) {
	kinds := policies.Kinds()
	var kind *policies.Kind
	var names []string
	for k := range kinds {
		names = append(names, kinds[k].Name)
		if kinds[k].Name == p.Kind {
			kind = &kinds[k]
		}
	}
	if kind == nil {
		c.add(c.near("policies", i, "kind"), diagnostics.Error, unknownPolicy(p.Kind, names))
		return
	}
	p.values = map[string]policies.Value{}
	parameters := map[string]string{}
	known := []string{"kind", "label", "with"}
	for _, parameter := range kind.Params {
		parameters[parameter.Name] = parameter.Type
		known = append(known, parameter.Name)
	}
	sound := true
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		key, node := c.key("policies", i, name), p.Params[name]
		typ, found := parameters[name]
		if !found {
			c.add(key, diagnostics.Error, unknownParameter(p.Kind, name, known))
			sound = false
			continue
		}
		value, err := parseParameter(typ, &node)
		if err != nil {
			bad := c.errorf(c.near("policies", i, name), "%s: %v", name, err)
			if own := (*quantity.Error)(nil); errors.As(err, &own) {
				bad.Help = own.Help
			}
			sound = false
			continue
		}
		p.values[name] = value
	}
	// A policy with overrides is checked with them.
	seen := c.policy == i || c.policy == noPolicy && len(p.With) == 0
	if workers := int(c.sc.Engine.Workers); seen && sound && workers >= 1 && c.sound("engine", "workers") {
		if _, err := policies.NewFor(p.Kind, p.values, workers, c.sc.policyClasses()); err != nil {
			c.impossiblePolicy(i, p, err)
		}
	}
}

// parseParameter parses the value of a policy parameter: a scalar, or for some types a map from job classes.
func parseParameter(typ string, node *yaml.Node) (policies.Value, error) {
	if node.Kind == yaml.ScalarNode {
		return policies.ParseValue(typ, node.Value)
	}
	var entries []policies.Entry
	takes := node.Kind == yaml.MappingNode && policies.TakesMapping(typ)
	for i := 0; takes && i+1 < len(node.Content); i += 2 {
		takes = node.Content[i+1].Kind == yaml.ScalarNode
		entries = append(entries, policies.Entry{Class: node.Content[i].Value, Text: node.Content[i+1].Value})
	}
	if !takes {
		return policies.Value{}, quantity.Errorf("want a %s, not %s", strings.ReplaceAll(typ, "-", " "), tree.Describe(node))
	}
	return policies.ParseMapping(typ, entries)
}

// impossiblePolicy reports an error of policies.New, at the parameter that the error names.
func (c *checker) impossiblePolicy(i int, p *Policy, err error) {
	message := strings.TrimPrefix(err.Error(), "policy "+p.Kind+": ")
	at := c.near("policies", i, "kind")
	if name, _, found := strings.Cut(message, ":"); found {
		if node := c.node("policies", i, name); node != nil {
			at = node
		}
	}
	c.errorf(at, "%s", message).Note = fmt.Sprintf("of policy %s with %d workers a node", p.Kind, c.sc.Engine.Workers)
}

func unknownPolicy(kind string, names []string) *quantity.Error {
	e := unknownName("policy", kind, names)
	e.Message = "unknown policy " + quantity.Quote(kind)
	if e.Help == "" {
		e.Help = "want " + quantity.OrList(names)
	}
	return e
}

func unknownParameter(kind, name string, known []string) *quantity.Error {
	e := unknownKey(name, known)
	e.Message = fmt.Sprintf("policy %s has no parameter %s", kind, quantity.Quote(name))
	if strings.HasPrefix(e.Help, "known keys") {
		if e.Help = "it takes " + strings.Join(known[3:], ", "); len(known) == 3 {
			e.Help = "it takes none"
		}
	}
	return e
}

// checkWindow checks the storm, if any, in an objective's filter during or after.
func (c *checker) checkWindow(name string, path ...any) {
	if name == "" || !c.known("storm", c.near(path...), name, c.storms()) {
		return
	}
	if slices.ContainsFunc(c.sc.Storms, func(s Storm) bool { return s.Name == name && s.On != "" }) {
		c.errorf(c.near(path...), "storm %s begins with an event: nobody knows when it is", quantity.Quote(name))
	}
}

func (c *checker) checkObjectives() {
	for i := range c.sc.Objectives {
		o := &c.sc.Objectives[i]
		if c.has("objectives", i, "metric") && c.sound("objectives", i, "metric") {
			c.checkMetric(i, o)
		}
		c.checkWindow(o.During, "objectives", i, "during")
		c.checkWindow(o.After, "objectives", i, "after")
		if o.Class != "" {
			c.known("job class", c.near("objectives", i, "class"), o.Class, c.classes())
		}
		if o.Tenant == measure.WorstTenant {
			c.checkWorst(i, o)
		} else if o.Tenant != "" && c.sound("jobs") {
			c.checkTenantNamed(i, o)
		}
		node := c.node("objectives", i, "policies")
		for k, name := range o.Policies {
			if node != nil && len(node.Content) == len(o.Policies) && len(c.sc.PoliciesNamed(name)) == 0 {
				c.known("policy", node.Content[k], name, c.policyNames())
			}
		}
		switch {
		case c.node("objectives", i, "below") != nil && c.node("objectives", i, "above") != nil:
			c.errorf(c.key("objectives", i, "above"), "an objective is below or above something, not both").Help = "make it two objectives"
		case o.Below == nil && o.Above == nil && c.sound("objectives", i):
			c.errorf(c.near("objectives", i), "the objective has no bound").Help = "write below: or above:"
		}
	}
}

// checkWorst checks an objective on the worst tenant.
func (c *checker) checkWorst(i int, o *Objective) {
	tenants := 0
	for k := range c.sc.Jobs {
		tenants += int(c.sc.Jobs[k].Tenants.Count)
	}
	info, found := measure.Lookup(o.Metric)
	if why := info.NoWorst(tenants); found && why != "" && info.Filters.Has(measure.ByTenant) {
		c.errorf(c.near("objectives", i, "tenant"), "%s has no worst tenant: %s", o.Metric, why)
	}
}

// checkTenantNamed reports an unknown tenant in an objective.
func (c *checker) checkTenantNamed(i int, o *Objective) {
	var names []nameAt
	for k := range c.sc.Jobs {
		job := &c.sc.Jobs[k]
		for _, name := range job.Tenants.Names {
			names = append(names, nameAt{name, c.near("jobs", k, "tenants", "names")})
		}
		class, index, numbered := strings.Cut(o.Tenant, "/")
		if numbered && class == job.Class && len(job.Tenants.Names) == 0 {
			if n, err := strconv.Atoi(index); err == nil && strconv.Itoa(n) == index && c.sc.hasTenant(k, index) {
				return
			}
			c.errorf(c.near("objectives", i, "tenant"), "class %s has no tenant %s: want one of 0 to %d", class, quantity.Quote(index), job.Tenants.Count-1)
			return
		}
	}
	at := c.near("objectives", i, "tenant")
	if len(names) == 0 {
		c.errorf(at, "no tenant is named %s", quantity.Quote(o.Tenant)).Help = "tenants without names go by CLASS/INDEX, such as mail/0; the worst of all by worst"
		return
	}
	c.known("tenant", at, o.Tenant, names)
}

// metricNames returns the names of all metrics.
func metricNames() (names []string) {
	for _, m := range measure.Metrics() {
		names = append(names, m.Name)
	}
	return names
}

// checkMetric checks the parts of an objective that depend on its metric.
func (c *checker) checkMetric(i int, o *Objective) {
	info, found := measure.Lookup(o.Metric)
	if !found {
		e := unknownName("metric", o.Metric, metricNames())
		if e.Message = "unknown metric " + quantity.Quote(o.Metric); e.Help == "" {
			e.Help = "`qsim list metrics` prints them all"
		}
		c.add(c.near("objectives", i, "metric"), diagnostics.Error, e)
		return
	}
	for _, f := range []struct {
		key    string
		given  bool
		filter measure.Filters
	}{{"during", o.During != "", measure.ByDuring}, {"after", o.After != "", measure.ByAfter}, {"class", o.Class != "", measure.ByClass}, {"tenant", o.Tenant != "", measure.ByTenant}} {
		if f.given && !info.Filters.Has(f.filter) {
			c.errorf(c.key("objectives", i, f.key), "%s cannot be narrowed by %s", o.Metric, f.key)
		}
	}
	switch {
	case info.Filters.Has(measure.NeedsLimit) && o.Limit == nil && c.sound("objectives", i):
		c.errorf(c.near("objectives", i, "metric"), "%s needs a limit", o.Metric).Help = "write limit: 10s beside it"
	case !info.Filters.Has(measure.NeedsLimit) && o.Limit != nil:
		c.errorf(c.key("objectives", i, "limit"), "%s takes no limit", o.Metric)
	}
	if o.Below != nil {
		c.checkBound(o.Metric, info.Unit, o.Below, "objectives", i, "below")
	}
	if o.Above != nil {
		c.checkBound(o.Metric, info.Unit, o.Above, "objectives", i, "above")
	}
}

// checkBound reports a bound whose unit does not fit its metric.
func (c *checker) checkBound(metric, unit string, b *Bound, path ...any) {
	if !c.sound(path...) {
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
		c.errorf(c.near(path...), "%s wants %s", metric, want)
	}
}

// Entitled returns the share of claims, in [0, 1], that the policy guarantees to fresh jobs while fresh jobs and
// retries are both ready; 0: no guarantee.
func (p *Policy) Entitled() float64 { return policies.Entitled(p.Kind, p.values) }
