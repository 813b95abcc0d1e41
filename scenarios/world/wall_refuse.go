package world

import (
	"errors"
	"fmt"

	"qsim/scenarios"
)

// fitsWallClock returns an error that names every key of sc, with the overrides of one policy, that only a simulation
// supports.
func fitsWallClock(sc *scenarios.Scenario, policy int, speed Speed) error {
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
		if why := s.Effect().Simulated; why != "" {
			_, key := s.Trouble()
			refuse("storms."+s.Name+"."+key, why)
		}
	}
	if p := &sc.Policies[policy]; p.Kind == "tenant-fair" && speed.Num != speed.Den {
		refuse("policies."+p.Label,
			"tenant-fair remembers minutes of the clock, which a speed does not change: run it at 1x")
	}
	if most := int(sc.Engine.Nodes) * int(sc.Engine.Workers); most > mostWallWorkers {
		refuse("engine.workers",
			fmt.Sprintf("%d workers of all nodes are too many for one process: at most %d", most, mostWallWorkers))
	}
	return errors.Join(problems...)
}

// mostWallWorkers is the highest number of concurrent sleeping handlers in one process.
const mostWallWorkers = 20_000
