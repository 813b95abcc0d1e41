package spec

import "cmp"

// OutageStorm makes every call to a dependency fail, whatever its limit.
type OutageStorm struct {
	Dependency string `yaml:"dependency" rule:"dependency"` // name of the dependency
	Error      string `yaml:"error"`                        // error kind of the failing attempts
	// run time of a failing attempt; left out: the service time
	Takes *Distribution `yaml:"takes,omitempty"`
}

var _ = builtInStorm(60, "outage", func(t *OutageStorm, _ Duration) Effect {
	return Effect{Dependency: t.Dependency, Fails: 1, Error: t.Error, Takes: t.Takes}
})

// Fill sets the error kind of an outage that names none to unavailable.
func (t *OutageStorm) Fill() { t.Error = cmp.Or(t.Error, "unavailable") }
