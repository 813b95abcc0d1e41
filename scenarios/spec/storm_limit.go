package spec

import (
	"time"

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
	if d := c.checkDependencyHit(t.Dependency, at...); d != nil && d.Limit == nil && c.Sound("dependencies") {
		c.Errorf(c.Near(at.key("dependency")...), "dependency %s has no limit to change", quantity.Quote(d.Name)).Help = "write limit: {concurrency: 50} at the dependency"
	}
}

func (t *LimitStorm) effect(time.Duration) Effect {
	return Effect{Dependency: t.Dependency, Limit: float64(t.Factor)}
}
