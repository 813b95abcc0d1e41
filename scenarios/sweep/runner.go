package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// Options of Run and Check.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// Progress is told of every simulation that ends, or cell that was checked. It is called
	// from several goroutines at once.
	Progress func()
	// Keep is given every cell that is finished, in any order, from one goroutine at a time.
	// If it fails, so does Run.
	Keep func(cell *results.Cell) error
}

func (o *Options) workers() int { return pool.Width(o.Parallel) }

// CellError is why a cell could not be simulated.
type CellError struct {
	Cell int
	Name string // its values
	Err  error
}

// Error names the cell.
func (e *CellError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

// Unwrap returns why.
func (e *CellError) Unwrap() error { return e.Err }

// Run simulates cells, several at once, and gives each that is finished to o.Keep. What
// they give does not depend on Parallel. When ctx is done, the simulations under way are
// abandoned and Run returns ctx.Err(); when one fails, Run ends with a *CellError, which
// leads to a *scenarios.Broken if it was an invariant.
func (p *Plan) Run(ctx context.Context, cells []int, o Options) error {
	workers := o.workers()
	gate := pool.NewGate(workers)
	// So many that there is always one to simulate while another is loaded, summarized and
	// written: the simulations of all of them share the processors, and few are in memory.
	open := min(workers, 1+(workers+p.Simulations()-1)/p.Simulations())
	var keeping sync.Mutex
	return pool.Each(ctx, open, len(cells), func(ctx context.Context, i int) error {
		result, err := p.simulate(ctx, cells[i], gate, &o)
		if err != nil {
			return err
		}
		keeping.Lock()
		defer keeping.Unlock()
		return o.Keep(result)
	})
}

// simulate runs all seeds and policies of a cell.
func (p *Plan) simulate(ctx context.Context, cell int, gate pool.Gate, o *Options) (*results.Cell, error) {
	wrong := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &CellError{cell, p.CellName(cell), err}
	}
	sc, found, err := p.Load(cell)
	if err == nil && sc == nil {
		err = errors.New(found.Errors()[0].Message) // Check would have found it
	}
	if err != nil {
		return nil, wrong(err)
	}
	options := world.Options{Parallel: o.workers(), Gate: gate}
	if o.Progress != nil {
		options.Progress = func(_, _, _ int) { o.Progress() }
	}
	runs, err := world.Run(ctx, sc, options)
	if err != nil {
		return nil, wrong(err)
	}
	settings := world.Settings(sc)
	summary, err := results.Summarize(&settings, runs, results.Options{Seeds: p.Sweep.Seeds})
	if err != nil {
		return nil, wrong(err)
	}
	one := p.Sweep
	one.Cells = nil
	if err := one.AddCell(cell, summary); err != nil {
		return nil, wrong(err)
	}
	return &one.Cells[0], nil
}

// Check loads cells without simulating them. It returns warnings that are not those of the
// scenario with its own values, and a *Wrong if a cell cannot be simulated or, under strict,
// has a warning. A mistake in a value is found first, without loading all cells.
func (p *Plan) Check(ctx context.Context, cells []int, strict bool, o Options) ([]Note, error) {
	var notes []problem
	few := p.few()
	own := map[int]bool{}
	for _, cell := range few {
		own[cell] = true
	}
	var rest []int
	for _, cell := range cells {
		if !own[cell] {
			rest = append(rest, cell)
		}
	}
	for i, list := range [][]int{few, rest} {
		diagnostics := make([]scenarios.Diagnostics, len(list))
		err := pool.Each(ctx, o.workers(), len(list), func(_ context.Context, k int) (err error) {
			if _, diagnostics[k], err = p.Load(list[k]); err != nil {
				return &CellError{list[k], p.CellName(list[k]), err}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		found := checks{plan: p, strict: strict}
		for k, cell := range list {
			found.add(cell, diagnostics[k])
		}
		if len(found.wrong) > 0 {
			inOrder(found.wrong)
			return nil, &Wrong{p, found.wrong, i > 0}
		}
		for _, n := range found.notes {
			notes = addProblem(notes, n)
		}
	}
	inOrder(notes)
	var all []Note
	for _, n := range notes {
		all = append(all, Note{n.Message, n.count, n.cell})
	}
	return all, nil
}
