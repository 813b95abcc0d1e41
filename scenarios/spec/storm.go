package spec

import (
	"cmp"
	"reflect"
	"strings"
	"time"

	"qsim/engine"
	"qsim/scenarios/checks"
)

// Storm is a named fault or burst with a window of time, which may repeat, or with an event that triggers it. One of
// the pointers to a Trouble is set: the kind of storm, with its keys.
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
	Before     Duration        `yaml:"before,omitempty"`
	Fail       *FailStorm      `yaml:"fail,omitempty"`
	Slow       *SlowStorm      `yaml:"slow,omitempty"`
	Hang       *HangStorm      `yaml:"hang,omitempty"`
	Kill       *KillStorm      `yaml:"kill,omitempty"`
	Burst      *BurstStorm     `yaml:"burst,omitempty"`
	Outage     *OutageStorm    `yaml:"outage,omitempty"`
	Limit      *LimitStorm     `yaml:"limit,omitempty"`
	Crash      *CrashStorm     `yaml:"crash,omitempty"`
	Rolling    *RollingStorm   `yaml:"rolling,omitempty"`
	Stop       *StopStorm      `yaml:"stop,omitempty"`
	Pause      *PauseStorm     `yaml:"pause,omitempty"`
	Heartbeats *HeartbeatStorm `yaml:"heartbeats,omitempty"`
	Calls      *CallStorm      `yaml:"calls,omitempty"`
	Store      *StoreStorm     `yaml:"store,omitempty"`
	Reaper     *ReaperStorm    `yaml:"reaper,omitempty"`
	Promoter   *PromoterStorm  `yaml:"promoter,omitempty"`
	Leases     *LeaseStorm     `yaml:"leases,omitempty"`
	Clock      *ClockStorm     `yaml:"clock,omitempty"`
	Redrive    *RedriveStorm   `yaml:"redrive,omitempty"`
	Repeat     *Repeat         `yaml:"repeat,omitempty"` // repetition of the window; see Starts. Left out: none
}

// troubleFields holds the indexes of the fields of Storm that are kinds of storm, and troubles the names of their keys.
var troubleFields, troubles = func() (fields []int, keys []string) {
	storm, trouble := reflect.TypeFor[Storm](), reflect.TypeFor[Trouble]()
	for i := range storm.NumField() {
		if f := storm.Field(i); f.Type.Implements(trouble) {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			fields, keys = append(fields, i), append(keys, key)
		}
	}
	return fields, keys
}()

// Troubles returns the keys that name the kinds of storm, such as crash and burst.
func Troubles() []string { return append([]string(nil), troubles...) }

// Trouble returns the fault of a storm and the key that names its kind; nil if the storm has none.
func (s *Storm) Trouble() (Trouble, string) {
	v := reflect.ValueOf(s).Elem()
	for k, i := range troubleFields {
		if f := v.Field(i); !f.IsNil() {
			return f.Interface().(Trouble), troubles[k]
		}
	}
	return nil, ""
}

// Repeat is the repetition of a storm's window.
type Repeat struct {
	Every Duration `yaml:"every"` // time from one start to the next; longer than the window
	Times Count    `yaml:"times"` // number of windows, the first included; at least 1
}

// Starts returns the start times of a storm's windows, in order. Each window lasts for the storm's length.
func (s *Storm) Starts() []time.Duration {
	starts := []time.Duration{s.At.Std()}
	for len(starts) < int(s.Windows()) {
		starts = append(starts, starts[len(starts)-1]+s.Repeat.Every.Std())
	}
	return starts
}

// End returns the end of a storm's last window; it means nothing for a storm that an event triggers.
func (s *Storm) End() time.Duration {
	starts := s.Starts()
	return starts[len(starts)-1] + cmp.Or(s.Effect().Lasts, s.For.Std())
}

// Effect returns the faults that a storm injects, without those whose keys are wrong.
func (s *Storm) Effect() Effect {
	if t, _ := s.Trouble(); t != nil {
		return t.effect(s.For)
	}
	return Effect{}
}

// Events lists the names of the engine's events that can trigger a storm: all that happen on a node.
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

// CheckTrouble adds to a checker the errors in the keys of the storm's fault: each against its rule, and against the
// engine and the dependencies of the scenario. in is the storm's section.
func (s *Storm) CheckTrouble(c *checks.Checker, in checks.Section, e *Engine, dependencies []Dependency) {
	t, key := s.Trouble()
	own := &stormChecker{in.In(key), in, c, e, dependencies, s}
	own.checkKeys(t)
	if t, ok := t.(checkedTrouble); ok {
		t.check(own)
	}
}

// Windows returns the number of windows of a storm.
func (s *Storm) Windows() float64 {
	if s.Repeat == nil {
		return 1
	}
	return float64(s.Repeat.Times)
}
