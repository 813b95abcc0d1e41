package ui

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows on standard error how much of several tasks has finished, by a bar for each of them, or nothing.
type Progress struct {
	console   *Console
	every     time.Duration // between two pictures; 0: nothing is drawn
	container *mpb.Progress // container of the bars; nil: there is no bar yet
	bars      []*mpb.Bar
}

// Progress returns progress bars redrawn at an interval; none are drawn where the flags t exclude them.
func (c *Console) Progress(t *Terminal, every time.Duration) *Progress {
	if !t.Drawn() {
		every = 0
	}
	return &Progress{console: c, every: every}
}

// Drawn reports whether progress bars are drawn.
func (p *Progress) Drawn() bool { return p.every > 0 }

// Add adds a bar: its name, the bar, "3/20" with the noun what, and the text that more, if not nil, returns.
func (p *Progress) Add(name string, most int, what string, more func() string) {
	if !p.Drawn() {
		return
	}
	if p.container == nil {
		p.container = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithRefreshRate(p.every),
			mpb.WithWidth(34))
		p.console.draw(p.container)
	}
	behind := decor.Elapsed(decor.ET_STYLE_GO, decor.WCSyncSpace)
	if more != nil {
		behind = decor.Any(func(decor.Statistics) string { return more() }, decor.WCSyncSpaceR)
	}
	counted := func(s decor.Statistics) string { return fmt.Sprintf("%d/%d %s", s.Current, s.Total, what) }
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	p.bars = append(p.bars, p.container.New(int64(most), style,
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(counted, decor.WCSyncSpace), behind)))
}

// Set sets how much of the bar with that number has finished. It may be called from several goroutines.
func (p *Progress) Set(bar, done int) {
	if p.Drawn() {
		p.bars[bar].SetCurrent(int64(done))
	}
}

// Close leaves the progress bars as they are, with an empty line below them.
func (p *Progress) Close() {
	if p.container == nil {
		return
	}
	p.console.draw(nil)
	for _, bar := range p.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	p.container.Wait()
	fmt.Fprintln(os.Stderr)
}
