package spec

import (
	"fmt"
	"slices"
	"strconv"

	"qsim/engine"
)

// TenantID returns the engine's number, from 1, of tenant index (from 0) of a class (an index of Jobs). Tenants of two
// classes differ, except those with the same name. The number is the same for all variants.
func (sc *Scenario) TenantID(class, index int) engine.TenantID {
	if named := sc.tenants.named[class]; named != nil {
		return named[index]
	}
	return sc.tenants.first[class] + engine.TenantID(index)
}

// TenantNames returns the names of tenants by engine.TenantID: those in the file, and CLASS/INDEX for the others. The
// caller must not change the list. Number 0 stands for no tenant.
func (sc *Scenario) TenantNames() []string { return sc.tenants.names }

// TenantNamed returns the number of the tenant with that name, or 0 if there is none.
func (sc *Scenario) TenantNamed(name string) engine.TenantID { return sc.tenants.number[name] }

// TraceTenant returns the tenant of a class (an index of Jobs) in a line of a trace: by its name if the class has
// names, else by its index from 0.
func (sc *Scenario) TraceTenant(class int, name string) (engine.TenantID, bool) {
	if !sc.HasTenant(class, name) {
		return 0, false
	}
	if sc.tenants.named[class] != nil {
		return sc.tenants.number[name], true
	}
	index, err := strconv.Atoi(name)
	return sc.TenantID(class, index), err == nil
}

// HasTenant reports whether a class has a tenant with a name or index from a trace.
func (sc *Scenario) HasTenant(class int, name string) bool {
	t := &sc.Jobs[class].Tenants
	if len(t.Names) > 0 {
		return slices.Contains(t.Names, name)
	}
	index, err := strconv.Atoi(name)
	return err == nil && index >= 0 && index < int(t.Count)
}

// numberTenants numbers the tenants of sc and its variants: a variant with more tenants than sc adds to the end.
func (sc *Scenario) numberTenants() {
	t := tenantNumbers{names: []string{""}, number: map[string]engine.TenantID{}}
	add := func(name string) engine.TenantID {
		number, there := t.number[name]
		if !there {
			number = engine.TenantID(len(t.names))
			t.names, t.number[name] = append(t.names, name), number
		}
		return number
	}
	all := []*Scenario{sc}
	for _, v := range sc.variants {
		if v != nil {
			all = append(all, v)
		}
	}
	for class := range sc.Jobs {
		t.first = append(t.first, engine.TenantID(len(t.names)))
		t.named = append(t.named, nil)
		most := 0
		for _, v := range all {
			if len(v.Jobs[class].Tenants.Names) == 0 {
				most = max(most, int(v.Jobs[class].Tenants.Count))
			}
		}
		for index := range most {
			add(fmt.Sprintf("%s/%d", sc.Jobs[class].Class, index))
		}
	}
	for _, v := range all {
		own := t
		own.named = make([][]engine.TenantID, len(v.Jobs))
		for class := range v.Jobs {
			for _, name := range v.Jobs[class].Tenants.Names {
				own.named[class] = append(own.named[class], add(name))
			}
		}
		v.tenants = own
	}
	for _, v := range all {
		v.tenants.names = t.names
	}
}

// ClassesHit returns the indexes in Jobs of the classes that a storm hits, ascending: those in hits and those that call
// a dependency in hits; all if hits is empty.
func (sc *Scenario) ClassesHit(hits []string) []int {
	var classes []int
	for i := range sc.Jobs {
		if job := &sc.Jobs[i]; len(hits) == 0 || slices.Contains(hits, job.Class) || job.Calls != "" && slices.Contains(hits, job.Calls) {
			classes = append(classes, i)
		}
	}
	return classes
}
