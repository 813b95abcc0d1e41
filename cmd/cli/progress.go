package cli

import (
	"fmt"
	"sync"
	"time"

	"qsim/cmd/ui"
	"qsim/results/plain"
)

// refreshed is the interval at which progress bars are redrawn.
const refreshed = 100 * time.Millisecond

// bars shows a progress bar for each label, each up to most; what is the noun for the things counted.
func (s *session) bars(what string, most int, labels ...string) *ui.Progress {
	p := s.console.Progress(&s.flags.Terminal, refreshed)
	for _, label := range labels {
		p.Add(label, most, what, nil)
	}
	return p
}

// sweepBar shows on standard error the progress of a sweep, with an estimate of the time left from the mean time of
// this process's simulations.
type sweepBar struct {
	mutex    sync.Mutex
	console  *ui.Console
	progress *ui.Progress
	lines    bool // print a line for each cell, not a bar
	start    time.Time

	there, all  int // number of cells finished before the start, and of all cells of the shard
	done        int // number of cells finished by this process
	each        int // number of simulations of a cell
	simulations int // number of simulations by this process
}

func (s *sweeping) newBar(there, all int) *sweepBar {
	b := &sweepBar{console: s.console, start: time.Now(), there: there, all: all, each: s.plan.Simulations()}
	b.progress = s.bars("simulations", 0)
	b.lines = s.flags.Verbose && !b.progress.Drawn()
	b.progress.Add(s.plan.Sweep.Scenario, all*b.each, "simulations", b.words)
	b.progress.Set(0, there*b.each)
	return b
}

// words returns the number of finished cells and, from the first simulation on, an estimate of the time left.
func (b *sweepBar) words() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	words := fmt.Sprintf("%d of %s", b.there+b.done, cellCount(b.all))
	left := (b.all-b.there)*b.each - b.simulations
	if b.simulations == 0 || left == 0 {
		return words
	}
	each := time.Since(b.start).Seconds() / float64(b.simulations)
	return words + ", " + plain.Duration(each*float64(left)) + " left"
}

// simulated counts a finished simulation. It may be called from several goroutines.
func (b *sweepBar) simulated() {
	b.mutex.Lock()
	b.simulations++
	now := b.there*b.each + b.simulations
	b.mutex.Unlock()
	b.progress.Set(0, now)
}

func (b *sweepBar) kept() {
	b.mutex.Lock()
	b.done++
	b.mutex.Unlock()
	if b.lines {
		fmt.Fprintln(b.console, b.words())
	}
}
