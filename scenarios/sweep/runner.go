package sweep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"qsim/results"
	"qsim/scenarios"
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

func (o *Options) workers() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

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
	gate := make(scenarios.Gate, workers)
	// So many that there is always one to simulate while another is loaded, summarized and
	// written: the simulations of all of them share the processors, and few are in memory.
	open := min(workers, 1+(workers+p.Simulations()-1)/p.Simulations())
	var keeping sync.Mutex
	return p.each(ctx, cells, open, func(ctx context.Context, _, cell int) error {
		result, err := p.simulate(ctx, cell, gate, &o)
		if err != nil {
			return err
		}
		keeping.Lock()
		defer keeping.Unlock()
		return o.Keep(result)
	})
}

// simulate runs all seeds and policies of a cell.
func (p *Plan) simulate(ctx context.Context, cell int, gate scenarios.Gate, o *Options) (*results.Cell, error) {
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
	options := scenarios.Options{Parallel: o.workers(), Gate: gate}
	if o.Progress != nil {
		options.Progress = func(_, _, _ int) { o.Progress() }
	}
	runs, err := scenarios.Run(ctx, sc, options)
	if err != nil {
		return nil, wrong(err)
	}
	settings := sc.Settings()
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
		err := p.each(ctx, list, o.workers(), func(_ context.Context, k, cell int) (err error) {
			if _, diagnostics[k], err = p.Load(cell); err != nil {
				return &CellError{cell, p.CellName(cell), err}
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

// each calls do for every cell and its place in the list, from so many goroutines, until one fails or ctx is done. Of
// several errors it returns that of the first cell.
func (p *Plan) each(ctx context.Context, cells []int, goroutines int, do func(ctx context.Context, k, cell int) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mutex  sync.Mutex
		next   int
		failed error
		at     int
		group  sync.WaitGroup
	)
	take := func() (k int, ok bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if next >= len(cells) || inner.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(goroutines, len(cells)) {
		group.Go(func() {
			for {
				k, ok := take()
				if !ok {
					return
				}
				if err := do(inner, k, cells[k]); err != nil {
					mutex.Lock()
					if !errors.Is(err, context.Canceled) && (failed == nil || k < at) {
						failed, at = err, k
					}
					mutex.Unlock()
					cancel()
				}
			}
		})
	}
	group.Wait()
	if failed != nil {
		return failed
	}
	return ctx.Err()
}
