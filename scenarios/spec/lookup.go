package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/reference"
)

// ClassIndex returns the index in Jobs of the class of that name, which is also its engine.Kind, or -1.
func (sc *Scenario) ClassIndex(name string) int {
	return slices.IndexFunc(sc.Jobs, func(j JobClass) bool { return j.Class == name })
}

// PoliciesNamed returns the indexes of the policies with the label name, or else of all policies of that kind.
func (sc *Scenario) PoliciesNamed(name string) []int {
	var kinds []int
	for i := range sc.Policies {
		if sc.Policies[i].Label == name {
			return []int{i}
		}
		if sc.Policies[i].Kind == name {
			kinds = append(kinds, i)
		}
	}
	return kinds
}

// Words splits the path of a setting at its dots, except those in a policy's label.
func (sc *Scenario) Words(path string) []string {
	words := strings.Split(path, ".")
	if words[0] != "policies" {
		return words
	}
	labels := plain.Map(sc.Policies, func(p Policy) string { return p.Label })
	return slices.Concat(words[:1], reference.WithName(words[1:], labels))
}

// RetryOf returns the retry settings of a class: those of the scenario, overridden by the class's own.
func (sc *Scenario) RetryOf(class int) Retry { return sc.retry[class] }

// RetryPolicy returns the retry policy of a class; for a class below 0, that of the classes without retry settings.
func (sc *Scenario) RetryPolicy(class int) (*policies.Backoff, error) {
	if class < 0 {
		return sc.Retry.retryPolicy(sc.ErrorKind)
	}
	return sc.retry[class].retryPolicy(sc.ErrorKind)
}

// TimeoutOf returns the execution timeout of a class; 0 means none.
func (sc *Scenario) TimeoutOf(class int) time.Duration {
	return cmp.Or(sc.Jobs[class].Timeout, &sc.Engine.Timeout).Std()
}

// ErrorKinds returns the names of error kinds by engine.ErrorKind: the reserved ones, then those of the scenario. The
// list is the same for all variants. The caller must not change it.
func (sc *Scenario) ErrorKinds() []string { return sc.errorKinds }

// ErrorKind returns the error kind with that name, or NoError if no attempt can fail with it.
func (sc *Scenario) ErrorKind(name string) engine.ErrorKind {
	return engine.ErrorKind(max(0, slices.Index(sc.errorKinds, name)))
}

// ErrorNames returns the names of the reserved error kinds and of the scenario's own, in order of appearance.
func (sc *Scenario) ErrorNames() []string {
	names := []string(nil)
	for kind := range engine.FirstErrorKind {
		names = append(names, kind.Name())
	}
	names = append(names, reference.DefaultError)
	for i := range sc.Jobs {
		for _, e := range sc.Jobs[i].Fails.Errors {
			names = append(names, e.Kind)
		}
	}
	for i := range sc.Storms {
		names = append(names, sc.Storms[i].Effect().Error) // "" of most, which is there: the name of no error
	}
	return plain.Distinct(names)
}

// nameErrors numbers the error kinds of a scenario: a kind has the same number in all variants (one per policy).
func (sc *Scenario) nameErrors() {
	var names []string
	for _, v := range sc.all() {
		names = plain.Distinct(names, v.ErrorNames())
	}
	for _, v := range sc.all() {
		v.errorKinds = names
	}
}

// all returns the scenario and its variants, each of which is the scenario with the overrides of one policy.
func (sc *Scenario) all() []*Scenario {
	return slices.DeleteFunc(append([]*Scenario{sc}, sc.variants...), func(v *Scenario) bool { return v == nil })
}

// Asked returns the queries of metrics that Measure added to those of the objectives.
func (sc *Scenario) Asked() []measure.Query { return sc.asked }

// Variant returns the scenario with the overrides of policy i (its `with:`): the scenario itself if there are none.
func (sc *Scenario) Variant(i int) *Scenario {
	if i < len(sc.variants) && sc.variants[i] != nil {
		return sc.variants[i]
	}
	return sc
}

// Longest returns the longest virtual time of a run: duration plus drain.
func (sc *Scenario) Longest() time.Duration { return sc.Duration.Std() + sc.Drain.Std() }

// Does reports whether a storm of the scenario injects a fault of that kind into processes or the store.
func (sc *Scenario) Does(kind fault.ControlKind) bool {
	return slices.ContainsFunc(sc.Storms, func(s Storm) bool {
		c := s.Effect().Control
		return c != nil && c.Kind == kind
	})
}

// TenantID returns the engine's number, from 1, of tenant index (from 0) of a class (an index of Jobs). Tenants of two
// classes differ, except those with the same name. The number is the same for all variants.
func (sc *Scenario) TenantID(class, index int) engine.TenantID { return sc.tenantIDs[class][index] }

// TenantNames returns the names of tenants by engine.TenantID: those in the file, and CLASS/INDEX for the others. The
// caller must not change the list. Number 0 stands for no tenant.
func (sc *Scenario) TenantNames() []string { return sc.tenantNames }

// TenantIndex returns the index, from 0, of the tenant that a line of a recorded trace names among those of a class (an
// index of Jobs): name is a tenant's name if the class's tenants have names, else its index as text. -1: there is none.
func (sc *Scenario) TenantIndex(class int, name string) int {
	t := &sc.Jobs[class].Tenants
	if len(t.Names) > 0 {
		return slices.Index(t.Names, name)
	}
	if index, err := strconv.Atoi(name); err == nil && index < int(t.Count) {
		return max(-1, index)
	}
	return -1
}

// numberTenants numbers the tenants of a scenario and its variants, so that a tenant has one number in all of them.
func (sc *Scenario) numberTenants() {
	names, numbers := []string{""}, map[string]engine.TenantID{}
	number := func(name string) engine.TenantID {
		if _, there := numbers[name]; !there {
			numbers[name] = engine.TenantID(len(names))
			names = append(names, name)
		}
		return numbers[name]
	}
	all, unnamed := sc.all(), make([][]engine.TenantID, len(sc.Jobs))
	for class := range sc.Jobs {
		for _, v := range all {
			for t := &v.Jobs[class].Tenants; len(t.Names) == 0 && len(unnamed[class]) < int(t.Count); {
				name := fmt.Sprintf("%s/%d", sc.Jobs[class].Class, len(unnamed[class]))
				unnamed[class] = append(unnamed[class], number(name))
			}
		}
	}
	for _, v := range all {
		v.tenantIDs = slices.Clone(unnamed)
		for class := range v.Jobs {
			if own := v.Jobs[class].Tenants.Names; len(own) > 0 {
				v.tenantIDs[class] = plain.Map(own, number)
			}
		}
	}
	for _, v := range all {
		v.tenantNames = names
	}
}

// ClassesHit returns the indexes in Jobs of the classes that a storm hits, ascending: those in hits and those that call
// a dependency in hits; all if hits is empty.
func (sc *Scenario) ClassesHit(hits []string) []int {
	var classes []int
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		calls := job.Calls != "" && slices.Contains(hits, job.Calls)
		if calls || len(hits) == 0 || slices.Contains(hits, job.Class) {
			classes = append(classes, i)
		}
	}
	return classes
}
