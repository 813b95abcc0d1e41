package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"qsim/cmd/cli"
	"qsim/results"
	"qsim/scenarios/sweep"
	"qsim/scenarios/world"
)

// compute simulates what is left of a shard and completes its file.
func (s *sweeping) compute(ctx context.Context, work *sweep.Work) error {
	if err := work.Start(); err != nil {
		return sweepError(err)
	}
	for _, path := range work.Damaged {
		s.console.Note("%s is damaged: what it held is computed again", path)
	}
	left := work.Left()
	if there := work.Size() - len(left); there > 0 {
		s.console.Note("%d of %s are there, in %s", there, cellCount(work.Size()), s.dir)
	}
	if s.flags.verbose {
		s.console.Note("%s: %s × %d simulations, config %s", s.loaded.name, cellCount(len(left)), s.plan.Simulations(), s.plan.Sweep.ConfigHash)
	}
	bar := s.newBar(work.Size()-len(left), work.Size())
	seen := results.Sweep{}
	err := s.plan.Run(ctx, left, sweep.Options{
		Parallel: s.flags.parallel,
		Progress: bar.simulated,
		Keep: func(cell *results.Cell) error {
			if err := work.Keep(cell); err != nil {
				return cli.Fail(cli.ExitIO, err)
			}
			bar.kept()
			seen.Cells = append(seen.Cells, results.Cell{Index: cell.Index, Warnings: cell.Warnings})
			return nil
		},
	})
	bar.close()
	if err != nil {
		return s.whyNotAll(err, work.Size()-len(left)+bar.cells(), work.Size())
	}
	slices.SortFunc(seen.Cells, func(a, b results.Cell) int { return a.Index - b.Index })
	tellNotes(s.console, s.plan, cellCount, " in "+s.dir, sweep.Warnings(&seen))
	if err := work.Finish(); err != nil {
		return sweepError(err)
	}
	return nil
}

// whyNotAll is how the command ends when cells are missing.
func (s *sweeping) whyNotAll(err error, finished, all int) error {
	var broken *world.Broken
	var cell *sweep.CellError
	switch {
	case errors.Is(err, context.Canceled):
		s.console.Note("interrupted: %d of %s are finished and kept; the same command goes on with the others", finished, cellCount(all))
		return cli.Fail(cli.ExitInterrupted, nil)
	case errors.As(err, &broken) && errors.As(err, &cell):
		var sets []string
		for _, o := range s.plan.Overrides(cell.Cell) {
			sets = append(sets, o.Path+"="+o.Value)
		}
		return cli.Fail(cli.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s\nto see it again: %s", s.loaded.name, err, broken.Stack, s.replay(s.loaded, broken, sets...)))
	case errors.As(err, &cell):
		return cli.UsageError("%s: %w", s.loaded.name, err)
	}
	return err
}

// sweepBar shows on standard error how far a sweep is and how long it will still take: as
// long for each simulation as those of this process took.
type sweepBar struct {
	mutex    sync.Mutex
	console  *cli.Console
	progress *progress
	lines    bool // one for each cell
	start    time.Time

	there, all     int // cells that were there at the start; of the shard
	done           int // cells, by this process
	simulations    int
	simulationsAll int
}

func (s *sweeping) newBar(there, all int) *sweepBar {
	b := &sweepBar{console: s.console, start: time.Now(), there: there, all: all, simulationsAll: (all - there) * s.plan.Simulations()}
	b.progress = &progress{}
	if s.flags.quiet || !s.flags.bars.bars(os.Stderr) {
		b.lines = s.flags.verbose
		return b
	}
	container := mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithWidth(34), mpb.WithRefreshRate(100*time.Millisecond))
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	each := int64(s.plan.Simulations())
	bar := container.New(int64(all)*each, style,
		mpb.PrependDecorators(decor.Name(s.plan.Sweep.Scenario+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.words() })))
	bar.SetCurrent(int64(there) * each)
	b.progress.container, b.progress.bars = container, []*mpb.Bar{bar}
	s.console.Draw(b.progress.container)
	return b
}

// words say how far it is.
func (b *sweepBar) words() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return fmt.Sprintf("%d of %s%s", b.there+b.done, cellCount(b.all), b.left())
}

// left is how long it will still take, once there is something to go by.
func (b *sweepBar) left() string {
	if b.simulations == 0 || b.simulations == b.simulationsAll {
		return ""
	}
	each := time.Since(b.start).Seconds() / float64(b.simulations)
	return ", " + results.FormatDuration(each*float64(b.simulationsAll-b.simulations)) + " left"
}

// simulated counts a simulation. It may be called from several goroutines.
func (b *sweepBar) simulated() {
	b.mutex.Lock()
	b.simulations++
	b.mutex.Unlock()
	if b.progress.container != nil {
		b.progress.bars[0].Increment()
	}
}

// kept counts a cell.
func (b *sweepBar) kept() {
	b.mutex.Lock()
	b.done++
	b.mutex.Unlock()
	if b.lines {
		fmt.Fprintln(b.console, b.words())
	}
}

// cells are those of this process.
func (b *sweepBar) cells() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.done
}

// close leaves the bar as it is.
func (b *sweepBar) close() {
	b.console.Draw(nil)
	b.progress.close()
}
