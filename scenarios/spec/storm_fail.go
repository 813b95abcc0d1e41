package spec

import (
	"cmp"

	"qsim/scenarios/reference"
)

// FailStorm makes attempts fail.
type FailStorm struct {
	// classes, and dependencies: all classes that call them; none: every class; see Classes
	Hits  []string      `yaml:"hits,flow"`
	Rate  Share         `yaml:"rate" rule:"fails"` // share of attempts that fail
	Error string        `yaml:"error"`             // error kind of the failing attempts
	Takes *Distribution `yaml:"takes,omitempty"`   // run time of a failing attempt; left out: the service time
}

var _ = builtInStorm(10, "fail", func(t *FailStorm, _ Duration) Effect {
	return Effect{Hits: t.Hits, Fails: t.Rate.Float(), Error: t.Error, Takes: t.Takes}
})

// Fill sets the error kind of a failure storm that names none to reference.DefaultError.
func (t *FailStorm) Fill() { t.Error = cmp.Or(t.Error, reference.DefaultError) }
