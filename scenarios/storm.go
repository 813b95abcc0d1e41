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

// Trouble is the fault of one kind of storm: its keys, the conditions on them, and its effect. Each has a file of its
// own, storm_KIND.go, and a field of Storm.
type Trouble interface {
	// check reports errors in the keys of s's fault, which lie at a path.
	check(c *checker, s *Storm, at keyPath)
	// effect returns the faults of s, without those whose keys are wrong.
	effect(s *Storm) Effect
}

// Effect holds the faults of a storm, of processes, calls, attempts, dependencies and arrivals, as plain values:
// simulations inject them, and bounds and warnings are computed from them. The zero value of a field is no fault.
type Effect struct {
	Instant   bool          // the fault happens at the start of the window, whatever its length
	Follows   bool          // the fault may be triggered by an event
	Lasts     time.Duration // time from the start until the fault is over; 0: the length of the window
	Simulated string        // reason why a run on the wall clock cannot have the fault; empty: it can

	Control *fault.Control // fault of processes or the store, without its time and node
	Fault   *fault.Fault   // fault of calls, without its time and nodes
	Nodes   *Nodes         // nodes that Control and Fault hit; nil: all of them, or the store
	Store   float64        // factor on the store's cost of calls

	Hits                []string      // classes hit, and dependencies whose callers are hit; none: all classes
	Fails, Hangs, Kills float64       // shares of the attempts hit that fail, take longer, or crash their process
	Slower              float64       // factor on run times
	Extra               time.Duration // time added to the run times of attempts that hang
	Error               string        // error kind of attempts that fail
	Takes               *Distribution // run times of attempts that fail; nil: the service time

	Dependency string  // dependency that fails, or whose limit changes
	Limit      float64 // factor on the dependency's limit

	Class string  // class with additional jobs
	Jobs  *Count  // number of additional jobs at once
	Rate  *Factor // or factor on the class's rate
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
	Every Duration `yaml:"every"` // time from one start to the next; longer than the window
	Times Count    `yaml:"times"` // number of windows, the first included; at least 1
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

// Effect returns the faults of a storm; none if it has an error.
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
