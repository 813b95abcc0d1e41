package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows on standard error how many seeds each policy has finished.
type progress struct {
	container *mpb.Progress // nil: no bars
	bars      []*mpb.Bar
	labels    []string
	lines     io.Writer // nil: no lines either
}

// newProgress draws bars if bars is set, and else writes a line for each finished
// seed to lines if that is not nil.
func newProgress(labels []string, seeds int, bars bool, lines io.Writer) *progress {
	return newProgressOf("seeds", labels, seeds, bars, lines)
}

// newProgressOf is newProgress for something else than seeds.
func newProgressOf(what string, labels []string, seeds int, bars bool, lines io.Writer) *progress {
	p := &progress{labels: labels, lines: lines}
	if !bars {
		return p
	}
	p.lines = nil
	p.container = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithWidth(34), mpb.WithRefreshRate(100*time.Millisecond))
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	for _, label := range labels {
		p.bars = append(p.bars, p.container.New(int64(seeds), style,
			mpb.PrependDecorators(decor.Name(label, decor.WCSyncSpaceR)),
			mpb.AppendDecorators(
				decor.CountersNoUnit("%d/%d "+what, decor.WCSyncSpace),
				decor.Elapsed(decor.ET_STYLE_GO, decor.WCSyncSpace))))
	}
	return p
}

// finished says that so many of total seeds of a policy have finished. It may be
// called from several goroutines.
func (p *progress) finished(policy, finished, total int) {
	switch {
	case p.container != nil:
		p.bars[policy].SetCurrent(int64(finished))
	case p.lines != nil:
		fmt.Fprintf(p.lines, "%s: %d of %d seeds\n", p.labels[policy], finished, total)
	}
}

// close leaves the bars as they are, with an empty line below them.
func (p *progress) close() {
	if p.container == nil {
		return
	}
	for _, bar := range p.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	p.container.Wait()
	fmt.Fprintln(os.Stderr)
}
