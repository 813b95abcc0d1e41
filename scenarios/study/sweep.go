package study

import (
	"context"
	"strings"
	"sync"

	"qsim/results"
	"qsim/results/measure"
)

// Options are the options of Plan.Run.
type Options struct {
	// Parallel is the highest number of simulations at once; 0: one per core that Go uses.
	Parallel int
	// Progress is called after every simulation, from several goroutines at once.
	Progress func()
	// Keep is called with every finished cell, in any order, from one goroutine at a time. If it fails, so does Run.
	Keep func(cell *results.Cell) error
}

// Run simulates all seeds and policies of cells, several in parallel, and passes each finished cell to o.Keep. The
// results do not depend on Parallel. When ctx is done, the simulations under way are abandoned and Run returns
// ctx.Err(); when one fails, Run ends with a *SettingError, which wraps a *world.Broken if an invariant broke.
func (p *Plan) Run(ctx context.Context, cells []int, o Options) error {
	s := &simulator{source: &p.Source, parallel: o.Parallel, each: p.Simulations(), ended: o.Progress}
	tasks := make([]task, len(cells))
	for i, cell := range cells {
		tasks[i].sets = p.Overrides(cell)
	}
	var keeping sync.Mutex
	return s.run(ctx, tasks, func(i int, settings *measure.Settings, runs []measure.Run) error {
		summary, err := results.Summarize(settings, runs, results.Options{Seeds: p.Sweep.Seeds})
		one := p.Sweep
		one.Cells = nil
		if err == nil {
			err = one.AddCell(cells[i], summary)
		}
		if err != nil {
			return &SettingError{tasks[i].sets, err}
		}
		keeping.Lock()
		defer keeping.Unlock()
		return o.Keep(&one.Cells[0])
	})
}

// Warnings returns the warnings of all cells, each text once, in the order of the first cell that has it.
func Warnings(s *results.Sweep) []Note {
	var notes []Note
	at := map[string]int{}
	for i := range s.Cells {
		for _, text := range s.Cells[i].Warnings {
			k, found := at[text]
			if !found {
				k = len(notes)
				at[text] = k
				var sets []string
				for axis, value := range s.Values(s.Cells[i].Index) {
					sets = append(sets, s.Axes[axis].Key+"="+value)
				}
				notes = append(notes, Note{Text: strings.TrimSpace(text), First: strings.Join(sets, " "), cell: s.Cells[i].Index})
			}
			notes[k].Cells++
		}
	}
	return notes
}
