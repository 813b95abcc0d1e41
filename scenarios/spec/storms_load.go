package spec

import (
	"cmp"
	"slices"

	"qsim/engine/quantity"
)

// BurstStorm brings more jobs: a count at once, or a multiple of the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class" rule:"class"` // class of the additional jobs
	Count  *Count  `yaml:"count,omitempty"`    // number of jobs that arrive at once
	Factor *Factor `yaml:"factor,omitempty"`   // factor on the rate during the window
}

func (t *BurstStorm) check(c *stormChecker) {
	c.Fault(t.Count == nil && t.Factor == nil && c.Sound(), "", "the burst needs a count or a factor").Help =
		"count: 10k comes all at once; factor: 3 triples the rate during the storm"
	c.Fault(t.Count != nil && t.Factor != nil, "factor:", "a burst has a count or a factor, not both")
}

func (t *BurstStorm) effect(Duration) Effect {
	return Effect{Class: t.Class, Jobs: t.Count, Rate: t.Factor, Instant: t.Factor == nil}
}

// OutageStorm makes every call to a dependency fail, whatever its limit.
type OutageStorm struct {
	Dependency string `yaml:"dependency" rule:"dependency"` // name of the dependency
	Error      string `yaml:"error"`                        // error kind of the failing attempts
	// run time of a failing attempt; left out: the service time
	Takes *Distribution `yaml:"takes,omitempty"`
}

func (t *OutageStorm) effect(Duration) Effect {
	return Effect{Dependency: t.Dependency, Fails: 1, Error: t.Error, Takes: t.Takes}
}

// Fill sets the error kind of a storm that names none.
func (t *OutageStorm) Fill() { t.Error = cmp.Or(t.Error, "unavailable") }

// LimitStorm multiplies the limit of a dependency, which must have one; a concurrency
// is rounded up.
type LimitStorm struct {
	Dependency string `yaml:"dependency"` // name of the dependency; it must have a limit
	Factor     Factor `yaml:"factor"`     // factor on the limit; below 1: a lower limit
}

func (t *LimitStorm) check(c *stormChecker) {
	c.Required("factor")
	if !c.Required("dependency") || !c.Sound("dependency") ||
		!c.whole.Known("dependency", c.Place("dependency"), t.Dependency, c.whole.Dependencies) {
		return
	}
	of := slices.IndexFunc(c.services, func(d Dependency) bool { return d.Name == t.Dependency })
	c.Fault(c.services[of].Limit == nil && c.whole.Sound("dependencies"), "dependency",
		"dependency %s has no limit to change", quantity.Quote(t.Dependency)).Help =
		"write limit: {concurrency: 50} at the dependency"
}

func (t *LimitStorm) effect(Duration) Effect {
	return Effect{Dependency: t.Dependency, Limit: float64(t.Factor)}
}
