package spec

import (
	"cmp"
	"reflect"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/checks"
)

// Storm is a named fault or burst with a window of time, which may repeat, or with an event that triggers it.
type Storm struct {
	Name string   `yaml:"name"` // name for objectives and paths: a-z, 0-9, - and _
	At   Duration `yaml:"at"`   // start of the storm; with on: delay after that event
	For  Duration `yaml:"for"`  // length of the window; 0s: an instant
	// event that the storm begins with, such as leased; left out: it begins at a known time
	On string `yaml:"on,omitempty"`
	Op string `yaml:"op,omitempty"` // for on: called, the name of the call; left out: any call
	// number of that event, counted on each named node or over all; left out: 1
	Nth Count `yaml:"nth,omitempty"`
	// an event at this time or later has no effect; 0s: no limit
	Before  Duration `yaml:"before,omitempty"`
	Trouble Trouble  `yaml:"-"`                // kind of storm, with its keys; the YAML has them at the key of the kind
	Repeat  *Repeat  `yaml:"repeat,omitempty"` // repetition of the window; see Starts. Left out: none
}

// MarshalYAML returns, for YAML, a struct with the storm's keys, in which Trouble is at the key of its kind.
func (s Storm) MarshalYAML() (any, error) {
	fields := reflect.VisibleFields(reflect.TypeFor[Storm]())
	trouble := plain.Find(fields, func(f *reflect.StructField) bool { return f.Name == "Trouble" })
	trouble.Tag = reflect.StructTag(`yaml:"` + cmp.Or(s.Kind(), "-") + `"`)
	return reflect.ValueOf(s).Convert(reflect.StructOf(fields)).Interface(), nil
}

// Repeat is the repetition of a storm's window.
type Repeat struct {
	Every Duration `yaml:"every"` // time from one start to the next; longer than the window
	Times Count    `yaml:"times"` // number of windows, the first included; at least 1
}

// Starts returns the virtual times at which the storm's windows start, in order: one, or more if it repeats.
func (s *Storm) Starts() []time.Duration {
	starts := []time.Duration{s.At.Std()}
	for len(starts) < int(s.Windows()) {
		starts = append(starts, starts[len(starts)-1]+s.Repeat.Every.Std())
	}
	return starts
}

// End returns the virtual time at which the storm's last fault is over; it has no meaning if an event triggers it.
func (s *Storm) End() time.Duration {
	starts := s.Starts()
	return starts[len(starts)-1] + cmp.Or(s.Effect().Lasts, s.For.Std())
}

// Effect returns the faults that the storm injects, without those whose keys have errors.
func (s *Storm) Effect() Effect { return s.kind().effect(s.Trouble, s.For) }

// Events lists the names, such as leased, that a storm's key `on` may have: the engine's events that happen on a node.
var Events = func() (names []string) {
	for k := engine.EventKind(1); k < engine.NumEventKinds; k++ {
		switch k {
		case engine.Enqueued, engine.Promoted, engine.Redriven, engine.LeaseForgotten:
		default:
			names = append(names, k.String())
		}
	}
	return names
}()

// CheckTrouble adds the errors and warnings in the keys of the storm's fault to the checker of in, the storm's Section:
// those of each key, and those against the engine, classes and dependencies of sc.
func (s *Storm) CheckTrouble(in checks.Section, sc *Scenario) {
	own := &stormChecker{in.In(s.Kind()), in, sc, s, 0}
	own.checkKeys(s.Trouble)
	if t, ok := s.Trouble.(interface{ check(c *stormChecker) }); ok {
		t.check(own)
	}
}

// Windows returns the number of the storm's windows of time: 1, or more if it repeats. It is a float64 for products.
func (s *Storm) Windows() float64 {
	if s.Repeat == nil {
		return 1
	}
	return float64(s.Repeat.Times)
}
