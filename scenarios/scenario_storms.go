package scenarios

import "time"

// Storm is a named window of trouble: exactly one of the pointers but Repeat is set.
type Storm struct {
	Name       string          `yaml:"name"`
	At         Duration        `yaml:"at"`
	For        Duration        `yaml:"for"` // 0: an instant
	Fail       *FailStorm      `yaml:"fail,omitempty"`
	Slow       *SlowStorm      `yaml:"slow,omitempty"`
	Burst      *BurstStorm     `yaml:"burst,omitempty"`
	Outage     *OutageStorm    `yaml:"outage,omitempty"`
	Limit      *LimitStorm     `yaml:"limit,omitempty"`
	Crash      *CrashStorm     `yaml:"crash,omitempty"`
	Rolling    *RollingStorm   `yaml:"rolling,omitempty"`
	Pause      *PauseStorm     `yaml:"pause,omitempty"`
	Heartbeats *HeartbeatStorm `yaml:"heartbeats,omitempty"`
	Calls      *CallStorm      `yaml:"calls,omitempty"`
	Store      *StoreStorm     `yaml:"store,omitempty"`
	Reaper     *StallStorm     `yaml:"reaper,omitempty"`
	Promoter   *StallStorm     `yaml:"promoter,omitempty"`
	Leases     *LeaseStorm     `yaml:"leases,omitempty"`
	Clock      *ClockStorm     `yaml:"clock,omitempty"`
	Redrive    *RedriveStorm   `yaml:"redrive,omitempty"`
	Repeat     *Repeat         `yaml:"repeat,omitempty"` // nil: it comes once; see Starts
}

// FailStorm makes attempts fail.
type FailStorm struct {
	Hits  []string      `yaml:"hits,flow"` // classes, and dependencies: all classes that call them; none: every class; see Classes
	Rate  Share         `yaml:"rate"`
	Error string        `yaml:"error"`
	Takes *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
}

// SlowStorm multiplies run times.
type SlowStorm struct {
	Hits   []string `yaml:"hits,flow"` // as those of FailStorm
	Factor Factor   `yaml:"factor"`
}

// BurstStorm brings more jobs: Count at once, or Factor times the rate during the window.
type BurstStorm struct {
	Class  string  `yaml:"class"`
	Count  *Count  `yaml:"count,omitempty"`
	Factor *Factor `yaml:"factor,omitempty"`
}

// OutageStorm makes every call to a dependency fail, whatever its limit.
type OutageStorm struct {
	Dependency string        `yaml:"dependency"`
	Error      string        `yaml:"error"`           // what attempts fail with
	Takes      *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; nil: the service time
}

// LimitStorm multiplies the limit of a dependency, which must have one; a concurrency
// is rounded up.
type LimitStorm struct {
	Dependency string `yaml:"dependency"`
	Factor     Factor `yaml:"factor"`
}

// CrashStorm kills processes at its start; For does not matter.
type CrashStorm struct {
	Nodes        Nodes    `yaml:"nodes"`
	RestartAfter Duration `yaml:"restart-after"`
}

// RollingStorm kills one process after the other, by index, as a deployment does: node 0
// at the start of the window, the next every Every, and round again until the window ends.
type RollingStorm struct {
	Every        Duration `yaml:"every"` // more than 0
	RestartAfter Duration `yaml:"restart-after"`
}

// PauseStorm freezes processes for the window. Then they go on as if nothing had been.
type PauseStorm struct {
	Nodes Nodes `yaml:"nodes"`
}

// HeartbeatStorm loses heartbeats on their way to the store.
type HeartbeatStorm struct {
	Lose  Share  `yaml:"lose"`
	Nodes *Nodes `yaml:"nodes,omitempty"` // nil: of all nodes
}

// CallStorm disturbs calls between nodes and store. Each share is drawn for itself.
type CallStorm struct {
	Ops         []string      `yaml:"ops,flow"`        // claim, commit, extend, recover, promote, lead, stats; none: all of them
	LoseRequest Share         `yaml:"lose-request"`    // of requests: nothing happens
	LoseReply   Share         `yaml:"lose-reply"`      // of replies: it happened, and the caller does not know
	Duplicate   Share         `yaml:"duplicate"`       // of requests: they arrive twice
	Error       Share         `yaml:"error"`           // of requests: the store refuses them
	Delay       *Distribution `yaml:"delay,omitempty"` // added to every request; nil: none
	Nodes       *Nodes        `yaml:"nodes,omitempty"` // nil: of all nodes
}

// StoreStorm disturbs the store: exactly one of the fields is set.
type StoreStorm struct {
	Stall   bool    `yaml:"stall,omitempty"`   // calls wait for the end of the window
	Slow    *Factor `yaml:"slow,omitempty"`    // what calls cost × Slow
	Error   *Share  `yaml:"error,omitempty"`   // of calls are refused
	Partial *Share  `yaml:"partial,omitempty"` // of the outcomes of every commit are refused, the others take effect
}

// StallStorm stops who is named by its key: the reaper or the promoter.
type StallStorm struct {
	Stall bool `yaml:"stall"` // true
}

// LeaseStorm loses the lease records of in-flight jobs at its start; For does not matter.
type LeaseStorm struct {
	Lose Share `yaml:"lose"`
}

// ClockStorm sets the clocks of nodes off: by Skew for the window, or by Jump from its
// start on. Exactly one of them is set. Only a node that looks at its clock notices: see
// Lease.Check.
type ClockStorm struct {
	Nodes Nodes   `yaml:"nodes"`
	Skew  *Offset `yaml:"skew,omitempty"`
	Jump  *Offset `yaml:"jump,omitempty"`
}

// RedriveStorm makes dead jobs ready again at its start; For does not matter.
type RedriveStorm struct {
	Share Share `yaml:"share"` // of the dead jobs
	Reset bool  `yaml:"reset"` // forget their attempts; otherwise the next failure is their last
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

// End returns when the last window of s is over.
func (s *Storm) End() time.Duration {
	length := s.For.Std()
	switch {
	case s.Crash != nil:
		length = max(length, s.Crash.RestartAfter.Std())
	case s.Rolling != nil:
		length += s.Rolling.RestartAfter.Std()
	}
	end := s.At.Std() + length
	if s.Repeat != nil && s.Repeat.Times > 1 {
		end += time.Duration(s.Repeat.Times-1) * s.Repeat.Every.Std()
	}
	return end
}
