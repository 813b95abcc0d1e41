package scenarios

import (
	"reflect"
	"strings"
	"time"
)

// Storm is a named fault: what goes wrong in it is one of the pointers to a Trouble. It has a window of time, which
// may come again, or begins with an event.
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

// Trouble is a kind of storm: its keys and what must be true of them. Each has a file of its own, storm_KIND.go, and a
// field of Storm. What it does to a simulation is for package world to know.
type Trouble interface {
	// check reports what is wrong with the trouble of s, whose keys lie at a path.
	check(c *checker, s *Storm, at keyPath)
}

// A Trouble may have more to say: defaults beyond the zero value, that it is one of an instant rather than of a window,
// an end other than that of its window, that it may begin with an event, and why a run on the wall clock cannot have it.
type (
	filler   interface{ fill() }
	instant  interface{ instant() bool }
	lingerer interface {
		length(window time.Duration) time.Duration
	}
	follower  interface{ follows() bool }
	simulated interface{ simulated() string }
)

// Reasons why a trouble is simulated only.
const (
	ofProcess = "a process of a run on the wall clock cannot be killed, frozen or set back from within"
	ofNetwork = "the network is real: its faults cannot be had at will"
	ofStore   = "the store is real: what it does cannot be had at will"
)

// keyPath is where keys lie in a scenario: names of keys and indexes of lists.
type keyPath []any

// key returns the path of a key below p.
func (p keyPath) key(name string) keyPath { return append(p[:len(p):len(p)], name) }

// troubleFields are the indexes of the fields of Storm that are troubles, and troubles their keys.
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

// Troubles returns the keys of all kinds of storm.
func Troubles() []string { return append([]string(nil), troubles...) }

// Trouble returns what goes wrong in s, and its key; nil in a storm that was refused.
func (s *Storm) Trouble() (Trouble, string) {
	v := reflect.ValueOf(s).Elem()
	for k, i := range troubleFields {
		if f := v.Field(i); !f.IsNil() {
			return f.Interface().(Trouble), troubles[k]
		}
	}
	return nil, ""
}

// Repeat brings a storm again.
type Repeat struct {
	Every Duration `yaml:"every"` // from one start to the next; longer than the window
	Times Count    `yaml:"times"` // in all, the first included; at least 1
}

// Starts returns when the windows of s begin, in order. Each lasts For.
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

// End returns when the last window of s is over, if it begins at a known time.
func (s *Storm) End() time.Duration {
	length := s.For.Std()
	t, _ := s.Trouble()
	if l, ok := t.(lingerer); ok {
		length = l.length(length)
	}
	end := s.At.Std() + length
	if s.Repeat != nil && s.Repeat.Times > 1 {
		end += time.Duration(s.Repeat.Times-1) * s.Repeat.Every.Std()
	}
	return end
}

func (s *Storm) fill() {
	t, _ := s.Trouble()
	if f, ok := t.(filler); ok {
		f.fill()
	}
}

// OnlySimulated returns why a run on the wall clock cannot have s; empty: it can.
func (s *Storm) OnlySimulated() string {
	t, _ := s.Trouble()
	if only, ok := t.(simulated); ok {
		return only.simulated()
	}
	return ""
}
