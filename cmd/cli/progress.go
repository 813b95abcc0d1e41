package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"qsim/cmd/ui"
	"qsim/results/plain"
)

// progress shows on standard error how much of something has finished, such as the seeds of each policy.
type progress struct {
	console   *ui.Console
	container *mpb.Progress // nil: no bars
	bars      []*mpb.Bar
	labels    []string
	lines     io.Writer // nil: no lines either
}

// newProgress draws a bar for each label of so many of what, or else, unless bars is set, writes a line for each
// that finishes to lines if that is not nil.
func newProgress(console *ui.Console, what string, labels []string, most int, bars bool, lines io.Writer) *progress {
	p := &progress{console: console, labels: labels, lines: lines}
	if !bars {
		return p
	}
	for _, label := range labels {
		p.add(int64(most), decor.Name(label, decor.WCSyncSpaceR),
			decor.CountersNoUnit("%d/%d "+what, decor.WCSyncSpace),
			decor.Elapsed(decor.ET_STYLE_GO, decor.WCSyncSpace))
	}
	return p
}

// add draws one more bar, with its name before it and decorations behind.
func (p *progress) add(most int64, name decor.Decorator, behind ...decor.Decorator) {
	if p.container == nil {
		p.container = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithWidth(34),
			mpb.WithRefreshRate(100*time.Millisecond))
		p.console.Draw(p.container)
	}
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	p.bars = append(p.bars, p.container.New(most, style, mpb.PrependDecorators(name), mpb.AppendDecorators(behind...)))
}

// finished counts so many of all of the bar of a label. It may be
// called from several goroutines.
func (p *progress) finished(label, finished, all int) {
	switch {
	case p.container != nil:
		p.bars[label].SetCurrent(int64(finished))
	case p.lines != nil:
		fmt.Fprintf(p.lines, "%s: %d of %d seeds\n", p.labels[label], finished, all)
	}
}

// close leaves the bars as they are, with an empty line below them.
func (p *progress) close() {
	if p.container == nil {
		return
	}
	p.console.Draw(nil)
	for _, bar := range p.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	p.container.Wait()
	fmt.Fprintln(os.Stderr)
}

// sweepBar shows on standard error how far a sweep is and how long it will still take: as
// long for each simulation as those of this process took.
type sweepBar struct {
	mutex    sync.Mutex
	console  *ui.Console
	progress *progress
	lines    bool // one for each cell
	start    time.Time

	there, all     int // cells that were there at the start; of the shard
	done           int // cells, by this process
	simulations    int
	simulationsAll int
}

func (s *sweeping) newBar(there, all int) *sweepBar {
	b := &sweepBar{console: s.console, start: time.Now(), there: there, all: all,
		simulationsAll: (all - there) * s.plan.Simulations()}
	b.progress = &progress{console: s.console}
	if s.flags.quiet || !s.flags.bars.bars(os.Stderr) {
		b.lines = s.flags.verbose
		return b
	}
	each := int64(s.plan.Simulations())
	b.progress.add(int64(all)*each, decor.Name(s.plan.Sweep.Scenario+" "),
		decor.Any(func(decor.Statistics) string { return b.words() }))
	b.progress.bars[0].SetCurrent(int64(there) * each)
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
	return ", " + plain.Duration(each*float64(b.simulationsAll-b.simulations)) + " left"
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
