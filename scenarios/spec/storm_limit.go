package spec

import (
	"slices"

	"qsim/engine/quantity"
)

// LimitStorm multiplies the limit of a dependency, which must have one; a concurrency is rounded up.
type LimitStorm struct {
	Dependency string `yaml:"dependency" rule:"dependency"` // name of the dependency; it must have a limit
	Factor     Factor `yaml:"factor" rule:"required"`       // factor on the limit; below 1: a lower limit
}

func (t *LimitStorm) check(c *stormChecker) {
	endless := func(d Dependency) bool { return d.Name == t.Dependency && d.Limit == nil }
	c.Fault(slices.ContainsFunc(c.sc.Dependencies, endless) && c.Whole().Sound("dependencies"), "dependency",
		"dependency %s has no limit to change", quantity.Quote(t.Dependency)).Help =
		"write limit: {concurrency: 50} at the dependency"
}

var _ = builtInStorm(70, "limit", func(t *LimitStorm, _ Duration) Effect {
	return Effect{Dependency: t.Dependency, Limit: float64(t.Factor)}
})
