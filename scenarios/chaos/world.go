package chaos

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"qsim/scenarios"
)

// World is a scenario of one policy that is to be broken, as its text.
type World struct {
	Text string // of a scenario file, as package scenarios reads it

	scenario *scenarios.Scenario
}

// Parse reads the text of a world: a scenario, of whose policies the first counts, under its first seed. name is what
// errors call it.
func Parse(name, text string) (*World, error) {
	sc, problems := scenarios.Load(name, []byte(text), nil)
	if sc != nil {
		return &World{Text: text, scenario: sc}, nil
	}
	var b strings.Builder
	if err := problems.Errors().Render(&b, name, []byte(text)); err != nil {
		return nil, err
	}
	return nil, errors.New(strings.TrimSpace(b.String()))
}

// Seed is that of every draw during the run.
func (w *World) Seed() uint64 { return w.scenario.Seed }

// Size says how large a world is, in words.
func (w *World) Size() string {
	jobs := 0
	if s, err := w.setup(); err == nil {
		jobs = s.jobs
	}
	troubles := 0
	for i := range w.scenario.Storms {
		if w.scenario.Storms[i].Burst == nil {
			troubles++
		}
	}
	e := &w.scenario.Engine
	return strings.Join([]string{plural(int(e.Nodes), "node"), plural(int(e.Workers), "worker"), plural(jobs, "job"), plural(troubles, "trouble")}, ", ")
}

// reckons reports whether it can be told how long the jobs of a scenario take when all is healed: its classes fail and
// are retried alike, for them an end is in sight, and nothing but storms makes an attempt longer than its service or
// kills its process.
func reckons(sc *scenarios.Scenario) bool {
	calls := int(sc.Engine.Nodes) * int(sc.Engine.Workers)
	for i := range sc.Dependencies {
		d, l := &sc.Dependencies[i], sc.Dependencies[i].Limit
		if d.Conflict != nil || d.Slows.Num > 0 || l != nil && (l.Concurrency == nil || int(*l.Concurrency) < calls) {
			return false
		}
	}
	retry := sc.RetryOf(0)
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		switch {
		case j.Kills.Num > 0 || j.Silences.Num > 0 || j.Patience != nil || j.Fails.Takes != nil:
			return false
		case !reflect.DeepEqual(sc.RetryOf(i), retry) || sc.TimeoutOf(i) != sc.TimeoutOf(0):
			return false
		case len(retry.Free) > 0 && (retry.FreeMax < 0 || retry.FreeMax > 3):
			return false
		case retry.MaxAttempts == 0 && (j.Poison.Num > 0 || j.Fails.Rate.Float() > 0.5):
			return false
		}
	}
	return true
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
