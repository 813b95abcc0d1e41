package scenarios

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"qsim/engine/fault"
)

// Storm is a named fault, with its kind as one of the pointers to a Trouble. It has a window of time, which may come
// again, or begins with an event.
type Storm struct {
	Name string   `yaml:"name"` // as objectives and paths name it: a-z, 0-9, - and _
	At   Duration `yaml:"at"`   // its start; with on: how long after that event
	For  Duration `yaml:"for"`  // how long it lasts; 0s: an instant
	// the event that it begins with, such as leased; left out: it begins at a known time
	On string `yaml:"on,omitempty"`
	Op string `yaml:"op,omitempty"` // for on: called, which call; left out: any
	// which of those events, by each named node or over all; left out: 1
	Nth Count `yaml:"nth,omitempty"`
	// an event at this time or later brings nothing; 0s: whenever it is
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
	Repeat     *Repeat         `yaml:"repeat,omitempty"` // it comes again; see Starts. Left out: once
}

// Trouble is the fault of one kind of storm: its keys, the conditions on them, and its effect. Each has a file of its
// own, storm_KIND.go, and a field of Storm; no other code has to know it.
type Trouble interface {
	// check reports what is wrong with the trouble of s, whose keys lie at a path.
	check(c *checker, s *Storm, at keyPath)
	// effect returns what the trouble of s does; where keys of it are wrong, of the others.
	effect(s *Storm) Effect
}

// Effect holds the faults of a storm, of processes, calls, attempts, dependencies and arrivals, as plain values:
// simulations inject them, and bounds and warnings are computed from them. The zero value of a field is no fault.
type Effect struct {
	Instant   bool          // it comes at its start, whatever the window
	Follows   bool          // it may begin with an event
	Lasts     time.Duration // from its start until all is as before; 0: as long as the window
	Simulated string        // why a run on the wall clock cannot have it; empty: it can

	Control *fault.Control // of processes or the store: all of it but when, and on which node
	Fault   *fault.Fault   // of calls: all of it but when, and of which nodes
	Nodes   *Nodes         // that Control and Fault hit; nil: all of them, or the store
	Store   float64        // calls cost the store so many times as much

	Hits                []string      // attempts of these classes, and of those that call these dependencies; none: all
	Fails, Hangs, Kills float64       // shares of those attempts that fail, take longer, or crash their process
	Slower              float64       // run times are so many times as long
	Extra               time.Duration // by which the run times of those that hang are longer
	Error               string        // what those fail with that fail
	Takes               *Distribution // how long those run that fail; nil: the service time

	Dependency string  // that fails, or whose limit is
	Limit      float64 // so many times as high

	Class string  // of which more jobs come:
	Jobs  *Count  // so many at once
	Rate  *Factor // or at so many times the rate
}

// ofProcess and the constants below are reasons, for users, why an injected fault (a kind of storm) exists in simulations
// only, such as a frozen process.
const (
	ofProcess = "a process of a run on the wall clock cannot be killed, frozen or set back from within"
	ofNetwork = "the network is real: its faults cannot be had at will"
	ofStore   = "the store is real: what it does cannot be had at will"
)

// keyPath is a path to a key of a scenario: names of keys and indexes of lists.
type keyPath []any

// key returns the path of a key below the path p.
func (p keyPath) key(name string) keyPath { return append(p[:len(p):len(p)], name) }

// troubleFields lists the indexes of the fields of Storm that hold a Trouble, and troubles the names of their keys.
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

// Troubles returns the keys that name the kinds of storm.
func Troubles() []string { return append([]string(nil), troubles...) }

// Trouble returns the fault of a storm and its key; nil for a storm with an error.
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
	Every Duration `yaml:"every"` // from one start to the next; longer than the window
	Times Count    `yaml:"times"` // in all, the first included; at least 1
}

// Starts returns the start times of the windows of s, in order. Each lasts For.
func (s *Storm) Starts() []time.Duration {
	if s.Repeat == nil {
		return []time.Duration{s.At.Std()}
	}
	starts := make([]time.Duration, s.Repeat.Times)
	for i := range starts {
		starts[i] = s.At.Std() + time.Duration(i)*s.Repeat.Every.Std()
	}
	return starts
}

// End returns the end of the last window of s, if it begins at a known time.
func (s *Storm) End() time.Duration {
	end := s.At.Std() + cmp.Or(s.Effect().Lasts, s.For.Std())
	if s.Repeat != nil && s.Repeat.Times > 1 {
		end += time.Duration(s.Repeat.Times-1) * s.Repeat.Every.Std()
	}
	return end
}

// Effect returns the faults of a storm; none if the storm has an error.
func (s *Storm) Effect() Effect {
	if t, _ := s.Trouble(); t != nil {
		return t.effect(s)
	}
	return Effect{}
}

// Does reports whether the scenario has a storm with a control (a fault injected into the engine) of that kind.
func (sc *Scenario) Does(kind fault.ControlKind) bool {
	return slices.ContainsFunc(sc.Storms, func(s Storm) bool {
		c := s.Effect().Control
		return c != nil && c.Kind == kind
	})
}

// fill sets the defaults of the storm's fault.
func (s *Storm) fill() {
	t, _ := s.Trouble()
	if f, ok := t.(interface{ fill() }); ok {
		f.fill()
	}
}
