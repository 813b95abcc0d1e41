package study

import (
	"context"
	"strings"
	"sync"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// Options are the options of Plan.Run, which simulates cells of a sweep.
type Options struct {
	// Ended, if not nil, is called with the run of every simulation, from several goroutines at once.
	Ended func(run *measure.Run)
	// Keep is called with every finished cell, in any order, from one goroutine at a time. If it fails, so does Run.
	Keep func(cell *results.Cell) error
}

// Run simulates all seeds and policies of cells, several in parallel, and passes each finished cell to o.Keep. The
// results do not depend on the number of simulations at once. When ctx is done, the simulations under way are abandoned
// and Run returns ctx.Err(); when one fails, Run ends with a *SettingError, which wraps a *world.Broken if an invariant
// broke.
func (p *Plan) Run(ctx context.Context, cells []int, o Options) error {
	s := &simulator{source: &p.Source, each: p.Simulations(), ended: o.Ended}
	var keeping sync.Mutex
	return s.all(ctx, len(cells), func(i int, simulate simulation) error {
		sets := p.Overrides(cells[i])
		settings, runs, err := simulate(&task{sets: sets})
		if err != nil {
			return err
		}
		var cell *results.Cell
		summary, err := results.Summarize(settings, runs, results.Options{Seeds: p.Sweep.Seeds})
		if err == nil {
			cell, err = p.Sweep.CellOf(cells[i], summary)
		}
		if err != nil {
			return &SettingError{sets, err}
		}
		keeping.Lock()
		defer keeping.Unlock()
		return o.Keep(cell)
	})
}

// Warnings returns the warnings of all cells, each text once, in the order of the first cell that has it.
func Warnings(s *results.Sweep) []Note {
	var notes []Note
	for i := range s.Cells {
		for _, text := range s.Cells[i].Warnings {
			text = strings.TrimSpace(text)
			note := plain.Find(notes, func(n *Note) bool { return n.Text == text })
			if note == nil {
				cell := s.Cells[i].Index
				notes = append(notes, Note{Text: text, Cell: cell, First: strings.Join(setsOf(s.Axes, s.Values(cell)), " ")})
				note = &notes[len(notes)-1]
			}
			note.Cells++
		}
	}
	return notes
}

// task is one setting of a scenario's keys to simulate, with its policies and seeds.
type task struct {
	sets   []scenarios.Override // overrides of the scenario
	policy string               // label of the policy; empty: all policies
	from   int                  // first seed, counted from the scenario's first
	seeds  int                  // number of seeds; 0: all of the scenario's
}

// simulator simulates settings of one scenario, several in parallel.
type simulator struct {
	source *Source
	each   int                // least number of simulations of a task
	ended  func(*measure.Run) // called with the run of every simulation, from several goroutines at once; may be nil
}

// simulation is a function that simulates a task: it returns settings for measuring, and a run per seed and policy.
type simulation = func(t *task) (*measure.Settings, []measure.Run, error)

// all runs the function do for each index below n, in any order and from several goroutines at once; do gets a function
// that runs simulations. The error is ctx.Err(), or of the lowest index that failed; a *SettingError as from Plan.Run.
func (s *simulator) all(ctx context.Context, n int, do func(i int, simulate simulation) error) error {
	gate := pool.NewGate(s.source.Parallel)
	// So many tasks are open that one can be simulated while another is loaded, summarized and
	// written: their simulations share the processors, and few tasks are in memory.
	open := min(cap(gate), 1+(cap(gate)+s.each-1)/s.each)
	return pool.Each(ctx, open, n, func(ctx context.Context, i int) error {
		return do(i, func(t *task) (*measure.Settings, []measure.Run, error) { return s.simulate(ctx, t, gate) })
	})
}

func (s *simulator) simulate(ctx context.Context, t *task, gate pool.Gate) (*measure.Settings, []measure.Run, error) {
	sc, err := s.source.setting(t.sets)
	if err != nil {
		return nil, nil, err
	}
	if t.policy != "" {
		if sc, err = sc.Select([]string{t.policy}); err != nil {
			return nil, nil, &SettingError{t.sets, err}
		}
	}
	if sc.Seed += uint64(t.from); t.seeds > 0 {
		sc.Seeds = scenarios.Count(t.seeds)
	}
	runs, err := world.Run(ctx, sc, world.Options{Parallel: s.source.Parallel, Gate: gate, Ended: s.ended})
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, &SettingError{t.sets, err}
	}
	settings := world.Settings(sc)
	return &settings, runs, nil
}

// The schema is made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchema$ . -rewrite
