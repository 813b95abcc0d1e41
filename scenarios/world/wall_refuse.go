package world

import (
	"errors"
	"fmt"

	"qsim/scenarios"
)

// fitsWallClock says what of sc, as one of its policies sees it, only a simulation can do.
func fitsWallClock(sc *scenarios.Scenario, policy int, speed scenarios.Speed) error {
	var problems []error
	refuse := func(key, why string) {
		problems = append(problems, fmt.Errorf("%s: %s", key, why))
	}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		at := "jobs." + job.Class + "."
		if job.Patience != nil {
			refuse(at+"patience", "callers that resubmit are simulated only")
		}
		if job.Kills.Num > 0 {
			refuse(at+"kills", "the process that it would kill is the one that measures")
		}
		if job.Silences.Num > 0 {
			refuse(at+"silences", "the network is real: its heartbeats cannot be lost at will")
		}
	}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		if key, why := onlySimulated(s); key != "" {
			refuse("storms."+s.Name+"."+key, why)
		}
	}
	if kind := sc.Policies[policy].Kind; kind == "tenant-fair" && speed.Num != speed.Den {
		refuse("policies."+sc.Policies[policy].Label, "tenant-fair remembers minutes of the clock, which a speed does not change: run it at 1x")
	}
	if most := int(sc.Engine.Nodes) * int(sc.Engine.Workers); most > mostWallWorkers {
		refuse("engine.workers", fmt.Sprintf("%d workers of all nodes are too many for one process: at most %d", most, mostWallWorkers))
	}
	return errors.Join(problems...)
}

// mostWallWorkers is how many handlers sleep in one process at the most.
const mostWallWorkers = 20_000

// onlySimulated is the key of s that a run on the wall clock cannot follow, and why.
func onlySimulated(s *scenarios.Storm) (key, why string) {
	const (
		process = "a process of a run on the wall clock cannot be killed, frozen or set back from within"
		network = "the network is real: its faults cannot be had at will"
		store   = "the store is real: what it does cannot be had at will"
	)
	switch {
	case s.Crash != nil:
		return "crash", process
	case s.Rolling != nil:
		return "rolling", process
	case s.Pause != nil:
		return "pause", process
	case s.Clock != nil:
		return "clock", process
	case s.Heartbeats != nil:
		return "heartbeats", network
	case s.Calls != nil:
		return "calls", network
	case s.Store != nil:
		return "store", store
	case s.Reaper != nil:
		return "reaper", store
	case s.Promoter != nil:
		return "promoter", store
	case s.Leases != nil:
		return "leases", store
	case s.Redrive != nil:
		return "redrive", store
	}
	return "", ""
}
