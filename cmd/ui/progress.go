package ui

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress draws on standard error a bar for each of several tasks, with how much of it has finished, unless the flags
// of the command exclude bars. It may be used from several goroutines.
type Progress struct {
	console *Console
	every   time.Duration // between two pictures; 0: nothing is drawn
	what    string        // noun for what is counted
	more    func() string // returns the text behind the bars; nil: the time elapsed

	mutex     sync.Mutex
	container *mpb.Progress // container of the bars; nil: there is no bar yet
	bars      map[string]*mpb.Bar
}

// Progress returns the progress bars of a command with the flags t, redrawn at an interval. A line has a task's name,
// its bar, "3/20" with the noun what, and after a comma the text that more returns or, if it is nil, the time elapsed.
func (c *Console) Progress(t *Terminal, every time.Duration, what string, more func() string) *Progress {
	if !t.Drawn() {
		every = 0
	}
	return &Progress{console: c, every: every, what: what, more: more, bars: map[string]*mpb.Bar{}}
}

// Drawn reports whether progress bars are drawn: the command's flags may exclude them.
func (p *Progress) Drawn() bool { return p.every > 0 }

// Set records that done of most units of the task of that name have finished. A task has the same most in all calls.
func (p *Progress) Set(name string, done, most int) {
	if !p.Drawn() {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.bars[name] == nil {
		p.bars[name] = p.add(name, most)
	}
	p.bars[name].SetCurrent(int64(done))
}

func (p *Progress) add(name string, most int) *mpb.Bar {
	if p.container == nil {
		p.container = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithRefreshRate(p.every),
			mpb.WithWidth(34))
		p.console.draw(p.container)
	}
	behind := decor.Elapsed(decor.ET_STYLE_GO, decor.WCSyncSpace)
	if p.more != nil {
		behind = decor.Any(func(decor.Statistics) string { return ", " + p.more() }, decor.WCSyncWidthR)
	}
	counted := func(s decor.Statistics) string { return fmt.Sprintf("%d/%d %s", s.Current, s.Total, p.what) }
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	return p.container.New(int64(most), style, mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(counted, decor.WCSyncSpace), behind))
}

// Close ends drawing: the bars stay as they are, with an empty line below them.
func (p *Progress) Close() {
	if p.container == nil {
		return
	}
	p.console.draw(nil)
	for _, bar := range p.bars {
		bar.Abort(false) // of one that is complete it changes nothing
	}
	p.container.Wait()
	fmt.Fprintln(os.Stderr)
}
