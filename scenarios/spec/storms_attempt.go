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

func (t *FailStorm) effect(Duration) Effect {
	return Effect{Hits: t.Hits, Fails: t.Rate.Float(), Error: t.Error, Takes: t.Takes}
}

// Fill sets the error kind of a storm that names none.
func (t *FailStorm) Fill() { t.Error = cmp.Or(t.Error, reference.DefaultError) }

// SlowStorm multiplies run times.
type SlowStorm struct {
	// classes, and dependencies: all classes that call them; none: every class
	Hits   []string `yaml:"hits,flow"`
	Factor Factor   `yaml:"factor" rule:"required"` // factor on run times
}

func (t *SlowStorm) effect(Duration) Effect {
	return Effect{Hits: t.Hits, Slower: float64(t.Factor)}
}

// HangStorm makes attempts take longer and ignore cancellation.
type HangStorm struct {
	// classes, and dependencies: all classes that call them; none: every class
	Hits  []string `yaml:"hits,flow"`
	Rate  Share    `yaml:"rate" rule:"hangs"`     // share of the attempts that begin in the window
	Extra Duration `yaml:"extra" rule:"positive"` // time added to their run time; more than 0s
}

func (t *HangStorm) effect(Duration) Effect {
	return Effect{Hits: t.Hits, Hangs: t.Rate.Float(), Extra: t.Extra.Std()}
}

// KillStorm makes attempts crash the process of their node.
type KillStorm struct {
	Hits []string `yaml:"hits,flow"`         // classes, and dependencies: all classes that call them; none: every class
	Rate Share    `yaml:"rate" rule:"kills"` // share of the attempts that begin in the window
}

func (t *KillStorm) effect(Duration) Effect {
	return Effect{Simulated: ofProcess, Hits: t.Hits, Kills: t.Rate.Float()}
}
