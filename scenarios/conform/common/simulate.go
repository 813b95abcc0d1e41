package common

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// simulate returns a simulated run of a case: seed is that of its arrivals, which are written to files in folder, and
// simulation that of the simulator. settings are overrides KEY=VALUE of the scenario.
func (s *System) simulate(folder string, c *Case, seed, simulation uint64, settings []string) (*Run, error) {
	r := newRun(c, seed)
	arrivals := map[string][]byte{}
	for _, j := range r.Jobs {
		arrivals[j.Class] = fmt.Appendf(arrivals[j.Class], "%.6f\n", j.At.Seconds())
	}
	for class, text := range arrivals {
		if err := os.WriteFile(filepath.Join(folder, class+".txt"), text, 0o666); err != nil {
			return nil, err
		}
	}
	text := c.scenario(s, seed)
	sets := plain.Map(slices.Concat(c.Set, settings), func(setting string) scenarios.Override {
		key, value, _ := strings.Cut(setting, "=")
		return scenarios.Override{Path: key, Value: value}
	})
	sc, problems := scenarios.Load(filepath.Join(folder, "case.yaml"), []byte(text), sets)
	if sc == nil {
		return nil, fmt.Errorf("%s: %v in\n%s", c.Name, problems.Errors(), text)
	}
	setup, err := world.Compile(sc, 0, simulation)
	if err != nil {
		return nil, err
	}
	setup.Config.Recorder = &recorder{Run: r, scenario: sc}
	sim.New(setup.Config).Run()
	return r, nil
}

// recorder writes the events of a simulation to the log of a Run, as the events of a real system are.
type recorder struct {
	*Run
	scenario *scenarios.Scenario
}

func (r *recorder) Record(e *engine.Event) {
	kind := kinds[e.Kind]
	if kind == 0 {
		return
	}
	line := Event{At: time.Duration(e.At).Seconds(), Kind: kind, Number: int(e.Delivery), Node: fmt.Sprint(e.Node),
		OK: e.Error == engine.NoError, Delay: e.Delay.Seconds()}
	if e.Job != 0 {
		line.Job = r.scenario.JobName(e.Job)
	}
	r.add(line)
	if e.Kind == engine.Enqueued && e.Delay > 0 {
		line.Kind = Delayed
		r.add(line)
	}
}

// kinds maps the simulator's kinds of events to those of a Run's log; 0: not logged.
var kinds = [engine.NumEventKinds]Kind{engine.Enqueued: Enqueued, engine.Started: Began, engine.Finished: Ended,
	engine.Nacked: Delayed, engine.Buried: Died, engine.NodeDown: Crashed}
