package spec

import (
	"slices"

	"qsim/engine/quantity"
)

// LimitStorm multiplies the limit of a dependency, which must have one; a concurrency
// is rounded up.
type LimitStorm struct {
	Dependency string `yaml:"dependency"` // name of the dependency; it must have a limit
	Factor     Factor `yaml:"factor"`     // factor on the limit; below 1: a lower limit
}

func (t *LimitStorm) check(c *stormChecker, at keyPath) {
	c.Required(at.key("factor")...)
	path := at.key("dependency")
	if !c.Required(path...) || !c.Sound(path...) || !c.Known("dependency", c.Near(path...), t.Dependency, c.Dependencies) {
		return
	}
	of := slices.IndexFunc(c.services, func(d Dependency) bool { return d.Name == t.Dependency })
	if c.services[of].Limit == nil && c.Sound("dependencies") {
		c.Errorf(c.Near(path...), "dependency %s has no limit to change", quantity.Quote(t.Dependency)).Help =
			"write limit: {concurrency: 50} at the dependency"
	}
}

func (t *LimitStorm) effect(Duration) Effect {
	return Effect{Dependency: t.Dependency, Limit: float64(t.Factor)}
}
