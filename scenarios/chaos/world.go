package chaos

import (
	"errors"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios"
)

// World is a random scenario with one policy, as the text of a scenario file.
type World struct {
	Text string // text of a scenario file, in the syntax of package scenarios

	scenario *scenarios.Scenario
}

// Parse returns the World of a scenario file's text, of which the first policy and the first seed count. name is the
// file's name in error texts.
func Parse(name, text string) (*World, error) {
	sc, problems := scenarios.Load(name, []byte(text), nil)
	if sc != nil {
		return &World{Text: text, scenario: sc}, nil
	}
	return nil, errors.New(strings.TrimSpace(problems.Errors().Text(name, []byte(text))))
}

// Seed returns the seed from which all random numbers of a run of the world come.
func (w *World) Seed() uint64 { return w.scenario.Seed }

// Size returns the size of the world in words, such as "2 nodes, 3 workers, 50 jobs, 1 trouble".
func (w *World) Size() string {
	jobs := 0
	if s, err := w.setup(); err == nil {
		jobs = s.Come
	}
	troubles := plain.Count(w.scenario.Storms, func(s scenarios.Storm) bool { return s.Effect().Class == "" })
	e := &w.scenario.Engine
	return strings.Join([]string{plain.Plural(int(e.Nodes), "node"), plain.Plural(int(e.Workers), "worker"),
		plain.Plural(jobs, "job"), plain.Plural(troubles, "trouble")}, ", ")
}
