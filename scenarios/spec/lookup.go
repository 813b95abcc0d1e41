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

// ClassIndex returns the index in Jobs of the job class with that name, which the engine knows as its Kind; -1 if none.
func (sc *Scenario) ClassIndex(name string) int {
	return slices.IndexFunc(sc.Jobs, func(j JobClass) bool { return j.Class == name })
}

// PoliciesNamed returns the indexes in Policies of the policy with the label name, or else of all of that kind.
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

// Words splits the path of a setting, such as engine.lease.ttl, at its dots, except those in a policy's label.
func (sc *Scenario) Words(path string) []string {
	words := strings.Split(path, ".")
	if words[0] != "policies" {
		return words
	}
	labels := plain.Map(sc.Policies, func(p Policy) string { return p.Label })
	return slices.Concat(words[:1], reference.WithName(words[1:], labels))
}

// RetryOf returns the retry settings of the class with that index in Jobs: the scenario's, overlaid by its own.
func (sc *Scenario) RetryOf(class int) Retry { return sc.retry[class] }

// RetryPolicy returns the retry policy, for the engine to run, of the class with that index in Jobs; for an index below
// 0, that of classes without retry keys of their own.
func (sc *Scenario) RetryPolicy(class int) (*policies.Backoff, error) {
	if class < 0 {
		return sc.Retry.retryPolicy(sc.ErrorKind)
	}
	return sc.retry[class].retryPolicy(sc.ErrorKind)
}

// TimeoutOf returns the execution timeout of the class with that index in Jobs: its own, or else the engine's; 0: none.
func (sc *Scenario) TimeoutOf(class int) time.Duration {
	return cmp.Or(sc.Jobs[class].Timeout, &sc.Engine.Timeout).Std()
}

// ErrorKinds returns the names of error kinds, indexed by engine.ErrorKind: first the engine's own, such as
// lease-expired, then those of the scenario. All variants have the same list, which must not be changed.
func (sc *Scenario) ErrorKinds() []string { return sc.errorKinds }

// ErrorKind returns the engine's number of the error kind with that name; engine.NoError if the scenario has none such.
func (sc *Scenario) ErrorKind(name string) engine.ErrorKind {
	return engine.ErrorKind(max(0, slices.Index(sc.errorKinds, name)))
}

// ErrorNames returns the engine's own error kinds, the default one, and those that classes and storms name, each once.
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

// nameErrors stores what ErrorKinds returns, for the scenario and its variants: the kinds of all of them together.
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

// Asked returns the metrics, with filters, that Measure added to those of the objectives, for runs to compute.
func (sc *Scenario) Asked() []measure.Query { return sc.asked }

// Variant returns the scenario under policy i: with the overrides of its `with:`, or sc itself if it has none.
func (sc *Scenario) Variant(i int) *Scenario {
	if i < len(sc.variants) && sc.variants[i] != nil {
		return sc.variants[i]
	}
	return sc
}

// Longest returns the most virtual time that a run can take: the duration, during which jobs arrive, plus the drain.
func (sc *Scenario) Longest() time.Duration { return sc.Duration.Std() + sc.Drain.Std() }

// Does reports whether some storm of the scenario injects that kind of fault, such as fault.Crash, into nodes or store.
func (sc *Scenario) Does(kind fault.ControlKind) bool {
	return slices.ContainsFunc(sc.Storms, func(s Storm) bool {
		c := s.Effect().Control
		return c != nil && c.Kind == kind
	})
}

// TenantID returns the engine's number, from 1 and equal in all variants, of a tenant (owner of jobs) by its index in
// the class with that index in Jobs. Tenants of several classes are one only if they have the same name in the file.
func (sc *Scenario) TenantID(class, index int) engine.TenantID { return sc.tenantIDs[class][index] }

// TenantNames returns the names of tenants, indexed by engine.TenantID: those that the file gives, CLASS/INDEX for
// others, and "" for number 0, no tenant. The list must not be changed.
func (sc *Scenario) TenantNames() []string { return sc.tenantNames }

// Tenants returns the number of tenants, of the scenario and its variants: in several classes, the same name is one.
func (sc *Scenario) Tenants() (n int) {
	names, unnamed := map[string]bool{}, make([]Count, len(sc.Jobs))
	for _, v := range sc.all() {
		for i := range v.Jobs {
			for _, name := range v.Jobs[i].Tenants.Names {
				names[name] = true
			}
			if len(v.Jobs[i].Tenants.Names) == 0 {
				unnamed[i] = max(unnamed[i], v.Jobs[i].Tenants.Count)
			}
		}
	}
	return len(names) + int(plain.Sum(unnamed, func(n Count) int { return int(n) }))
}

// TenantIndex returns the index of a tenant among those of the class with that index in Jobs; -1: none. name is its
// name or, if the tenants have none, its index in digits, as lines of an arrival trace give it.
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

// numberTenants stores what TenantID and TenantNames return, the same for the scenario and all its variants.
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

// ClassesHit returns the indexes in Jobs of the classes that a storm affects, ascending: classes named in hits, and
// those that call a dependency named in hits; all classes if hits is empty.
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
